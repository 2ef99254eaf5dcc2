"""``python -m eval benchmark``: how fast everything is on this machine, and the peers beside it."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from rich.console import Console

from eval import machine, plots, tables, timing
from eval.commands import Benchmark
from eval.peers.venv import PeersError, run_peers
from eval.ratios import ratios
from eval.workloads import all_workloads

THREADS = tuple(number for number in (2, 4, 8) if number <= (os.cpu_count() or 1))


def run(options: Benchmark) -> None:
    """Measures, writes the file and the plot, prints the tables.

    Raises:
        ValueError: An option is wrong.
        OSError: The file cannot be written.
    """
    if not 0 < options.seconds < math.inf:
        raise ValueError(f"--seconds {options.seconds:g} must be more than 0")
    if options.json.is_dir():
        raise ValueError(f"--json {options.json} is a folder; give the name of a file")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    document = measure(options.seconds, options.peers)
    options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    plots.save_speed(document["rows"], options.json.with_suffix(".png"))
    tables.print_benchmark(document)
    print(f"rows are in {options.json}, the plot in {options.json.with_suffix('.png')}")


def measure(seconds: float, peers: bool) -> dict[str, Any]:
    """The document: machine, rows, ratios, and the peers that could not be measured."""
    start = time.perf_counter()
    with _telling() as tell:
        rows = timing.measure(list(all_workloads(THREADS)), seconds, tell)
    errors: list[dict[str, Any]] = []
    if peers:
        others = _peers(max(1.0, seconds))
        errors = [row for row in others if "error" in row]
        rows += [row for row in others if "error" not in row]
    return {
        "machine": machine.facts(),
        "took_seconds": time.perf_counter() - start,
        "rows": rows,
        "errors": errors,
        "ratios": [
            {**asdict(ratio), "wanted": ratio.wanted, "met": ratio.met} for ratio in ratios(rows)
        ],
    }


def _peers(seconds: float) -> list[dict[str, Any]]:
    try:
        return run_peers(seconds, machine.LAST_CORE)
    except PeersError as error:
        raise ValueError(str(error)) from error


@contextmanager
def _telling() -> Iterator[Any]:
    """Says on a terminal what is being measured; silence elsewhere."""
    console = Console(stderr=True)
    if not sys.stderr.isatty():
        yield lambda what: None
        return
    with console.status("measuring") as status:
        yield lambda what: status.update(f"measuring {what}")
