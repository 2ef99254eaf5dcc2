"""An older benchmark beside a new one."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.files import conform, positive, read_json, shown, whole
from eval import terminal
from fives_env.rules import Rules

Rows = Sequence[Mapping[str, Any]]


def _spent(parts: Any) -> None:
    """The shape of nanoseconds by part, of which some time was spent."""
    conform(parts, dict, "parts")
    for name, spent in parts.items():
        conform(spent, positive, shown(name))


_KEY = ("what", "rules", "batch", "threads")
_SHAPE = {
    "rows": [
        {
            "what": str,
            "rules": str,
            "batch": whole(1, 1 << 53),
            "threads": whole(1, 1 << 53),
            "per_second": positive,
            "unit": str,
            "agent?": str,
            "parts_ns?": _spent,
            "apart?": [str],
        }
    ],
    "ratios?": [
        {"what": str, "met": (bool, type(None)), "value": (float, type(None)), "wanted": str}
    ],
    "machine?": dict,
}
"""What is read of the file of a benchmark."""


def read(path: Path) -> dict[str, Any]:
    """The document of a benchmark.

    Raises:
        ValueError: It cannot be read, or is none.
    """
    document: dict[str, Any] = read_json(path, _SHAPE)
    for number, row in enumerate(document["rows"]):
        if "agent" in row:  # one of ours, as those of peers have other rules
            conform(row["rules"], Rules.from_spec, f"{path} is damaged: rows[{number}].rules")
    return document


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
    terminal.print_table(
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
