"""An older benchmark beside a new one."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval import tables

Rows = Sequence[Mapping[str, Any]]
_KEY = ("what", "rules", "batch", "threads")


def read(path: Path) -> dict[str, Any]:
    """The document of an older benchmark.

    Raises:
        ValueError: It is none.
        OSError: The file cannot be read.
    """
    try:
        document = json.loads(path.read_bytes())
        good = all(float(row["per_second"]) > 0 and _key(row) for row in document["rows"])
    except (ValueError, KeyError, TypeError):
        good = False
    if not good:
        raise ValueError(f"--compare {path} is not a file that python -m eval benchmark wrote")
    return dict(document)


def compare(old: Mapping[str, Any], rows: Rows) -> list[dict[str, Any]]:
    """The rows that both have: ``old`` and ``new`` a second, and ``ratio``, new over old."""
    before = {_key(row): float(row["per_second"]) for row in old["rows"]}
    return [
        {
            **{name: row[name] for name in _KEY},
            "unit": row["unit"],
            "old": before[_key(row)],
            "new": row["per_second"],
            "ratio": row["per_second"] / before[_key(row)],
        }
        for row in rows
        if _key(row) in before
    ]


def print_comparison(found: Rows) -> None:
    """Prints the rows, and their median ratio."""
    if not found:
        print("no row of the older benchmark is in this one")
        return
    tables.print_table(
        "New speed over old",
        ("what", "rules"),
        ("batch", "threads", "old", "new", "new / old"),
        [
            (
                row["what"],
                row["rules"],
                f"{row['batch']:,}",
                str(row["threads"]),
                f"{row['old']:,.0f}",
                f"{row['new']:,.0f}",
                f"{row['ratio']:.2f}",
            )
            for row in found
        ],
    )
    print(f"median of {len(found)} ratios: {statistics.median(row['ratio'] for row in found):.2f}")


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)
