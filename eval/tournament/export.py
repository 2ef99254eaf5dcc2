"""``python -m eval export``: every stored match as a row of a CSV or Parquet file."""

from __future__ import annotations

import csv
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from agents.files import refuse_unwritable
from agents.terminal import say
from eval.commands import Export
from eval.tournament.replay import MOST_LINES, Stored, stored
from eval.tournament.results import open_results

CSV, PARQUET = ".csv", ".parquet"
BATCH = 10_000
"""Rows that are written at once."""

_TEXTS = ("rules", "agent_0", "agent_1", "agent_2", "agent_3", "moves")
COLUMNS = (
    *("match", "rules", "seed", "pair", "deals_seed"),
    *("agent_0", "agent_1", "agent_2", "agent_3", "leader"),
    *("score_0", "score_1", "score_2", "score_3", "rounds", "winner", "truncated"),
    *("deal", "line", "num_moves", "moves"),
)
"""Agents and scores are by side; moves are the actions in hexadecimal, two digits each."""

Rows = Iterable[tuple[Any, ...]]


def run(options: Export) -> None:
    """Writes the file.

    Raises:
        ValueError: There are no results, or --out names no format.
        OSError: The file cannot be written.
        SystemExit: With 1, once the others are written, if a row is not one of a match.
    """
    write = _writer(options.out)
    refuse_unwritable(options.out, "--out")
    with open_results(options.results) as store:
        half = options.out.with_name(f"{options.out.name}.{os.getpid()}")
        try:
            number = write(half, (_row(match) for match in stored(store)))
            half.replace(options.out)
        finally:
            half.unlink(missing_ok=True)
    say(f"{number:,} matches are in {options.out}")
    for fault in store.faults[:MOST_LINES]:
        say(f"error: {fault}", error=True)
    if store.faults:
        say(f"error: {len(store.faults):,} rows are left out", error=True)
        raise SystemExit(1)


def _writer(path: Path) -> Callable[[Path, Iterator[tuple[Any, ...]]], int]:
    if path.is_dir():
        raise ValueError(f"--out {path} is a folder; give the name of a file")
    if path.suffix == CSV:
        return _write_csv
    if path.suffix != PARQUET:
        raise ValueError(f"--out {path} must end in {CSV} or {PARQUET}")
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ValueError(
            f"--out {path}: Parquet needs pyarrow: pip install --group parquet; {CSV} needs nothing"
        ) from None
    return _write_parquet


def _row(match: Stored) -> tuple[Any, ...]:
    agents = dict(itertools.zip_longest(range(4), match.meeting.agents))
    values = {
        **match.row,
        "match": match.number,
        "rules": match.meeting.rules,
        "seed": match.meeting.seed,
        "deals_seed": match.row["deals_seed"] % 2**64,
        **{f"agent_{side}": agent for side, agent in agents.items()},
        "num_moves": len(match.row["moves"]),
        "moves": match.row["moves"].hex(),
    }
    return tuple(values[name] for name in COLUMNS)


def _write_csv(path: Path, rows: Iterator[tuple[Any, ...]]) -> int:
    number = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for number, row in enumerate(rows, 1):  # noqa: B007
            writer.writerow(row)
    return number


def _write_parquet(path: Path, rows: Iterator[tuple[Any, ...]]) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {name: pa.string() if name in _TEXTS else pa.int64() for name in COLUMNS}
    kinds["deals_seed"] = pa.uint64()
    schema = pa.schema(list(kinds.items()))
    number = 0
    with parquet.ParquetWriter(path, schema) as writer:
        while batch := list(itertools.islice(rows, BATCH)):
            columns = dict(zip(COLUMNS, map(list, zip(*batch, strict=True)), strict=True))
            writer.write_table(pa.table(columns, schema=schema))
            number += len(batch)
    return number
