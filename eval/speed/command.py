"""``python -m eval benchmark``: how fast everything is on this machine, and the peers beside it."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.files import refuse_unwritable, replace_file
from agents.terminal import say
from eval import provenance, terminal
from eval.commands import Benchmark
from eval.speed import compare, plots, timing
from eval.speed.long_run import long_runs
from eval.speed.peers.venv import PeersError, run_peers
from eval.speed.ratios import ratios
from eval.speed.workloads.agents import agent_workloads
from eval.speed.workloads.library import FIVES_AND_THREES, all_workloads
from eval.speed.workloads.training import training_rows
from eval.style import png

THREADS = tuple(number for number in (2, 4, 8) if number <= (os.cpu_count() or 1))


def run(options: Benchmark) -> None:
    """Measures, writes the file and the plots, prints the tables.

    Raises:
        ValueError: An option is wrong.
        OSError: The file cannot be written.
    """
    _check(options)
    old = compare.read(options.compare) if options.compare else None
    for path in (options.json, *_pictures(options)):
        refuse_unwritable(path, "--json")
    document = measure(options)
    if old:
        document["comparison"] = {
            "with": str(options.compare),
            "machine": old.get("machine", {}),
            "rows": compare.compare(old, document["rows"]),
        }
    try:
        _print(document)
    finally:  # whether anybody reads it or not
        pictures = dict(_draw(document, options))
        replace_file(options.json, (json.dumps(document, indent=1) + "\n").encode())
        for path, picture in pictures.items():
            replace_file(path, picture)
    say(f"rows are in {options.json}, plots in {', '.join(map(str, pictures))}")


def measure(options: Benchmark) -> dict[str, Any]:
    """The document: machine, rows, ratios, and what could not be measured."""
    start = time.perf_counter()
    rows, errors, long = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    with terminal.telling("measuring", "measuring {}") as tell:
        agents, failed = agent_workloads(options.agents)
        errors += failed
        rows += timing.measure([*all_workloads(THREADS), *agents], options.seconds, tell)
        if options.training:
            tell("training")
            _sort(training_rows(FIVES_AND_THREES, options.training), rows, errors)
        if options.long_run:
            tell("a long run")
            long = long_runs(FIVES_AND_THREES)
    if options.peers:
        _sort(_peers(max(1.0, options.seconds)), rows, errors)
    return {
        "machine": provenance.facts(),
        "took_seconds": time.perf_counter() - start,
        "rows": rows,
        "errors": errors,
        "long_runs": long,
        "ratios": [
            {**asdict(ratio), "wanted": ratio.wanted, "met": ratio.met} for ratio in ratios(rows)
        ],
    }


def _check(options: Benchmark) -> None:
    if not 0 < options.seconds < math.inf:
        raise ValueError(f"--seconds {options.seconds:g} must be more than 0")
    if not 0 <= options.training < math.inf:
        raise ValueError(f"--training {options.training:g} must be a number of seconds, or 0")


def _sort(
    found: list[dict[str, Any]], rows: list[dict[str, Any]], errors: list[dict[str, Any]]
) -> None:
    for row in found:
        (errors if "error" in row else rows).append(row)


def _peers(seconds: float) -> list[dict[str, Any]]:
    try:
        return run_peers(seconds, provenance.LAST_CORE)
    except PeersError as error:
        raise ValueError(str(error)) from error


def _pictures(options: Benchmark) -> list[Path]:
    """The pictures that may be drawn, beside the file."""
    return [options.json.with_suffix(end) for end in (".png", ".agents.png", ".comparison.png")]


def _draw(document: dict[str, Any], options: Benchmark) -> Iterator[tuple[Path, bytes]]:
    """What there is to draw."""
    speed, agents, comparison = _pictures(options)
    yield speed, png(plots.speed, document["rows"])
    if rows := [row for row in document["rows"] if "agent" in row]:
        yield agents, png(plots.decisions, rows)
    if rows := document.get("comparison", {}).get("rows"):
        yield comparison, png(plots.comparison, rows)


def _print(document: dict[str, Any]) -> None:
    terminal.print_benchmark(document)
    for row in document["long_runs"]:
        _say_long_run(row)
    if "comparison" in document:
        compare.print_comparison(document["comparison"]["rows"])


def _say_long_run(row: dict[str, Any]) -> None:
    grown = row["grown_bytes"]
    memory = "unknown" if grown is None else f"{grown / 1e6:+.1f} MB"
    share = row["last_per_second"] / row["first_per_second"]
    say(f"{row['times']:,} times {row['what']}: last tenth at {share:.1%} of the first, {memory}")
