"""How speed is measured on a machine that others use too: in turns, and the best of several."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval import provenance

TURNS = 5
"""How often each workload is measured, all others in between."""

Parts = dict[str, float]
Piece = tuple[int, Parts]
"""One piece of work: the units done, and the seconds that each part of it took."""


@dataclass(frozen=True)
class Workload:
    """Something whose speed is measured.

    Attributes:
        what: Its name.
        rules: Spec of the rules.
        batch: Games at once.
        unit: What is counted.
        counts: What one unit is, and what is in its time.
        play: Does one piece of work.
        threads: Threads that it uses.
        apart: Parts whose time is told but not counted.
        agent: The spec of the agent whose decisions these are.
    """

    what: str
    rules: str
    batch: int
    unit: str
    counts: str
    play: Callable[[], Piece]
    threads: int = 1
    apart: tuple[str, ...] = ()
    agent: str | None = None


@dataclass
class _Best:
    """The fastest turn of a workload so far."""

    units: int = 0
    seconds: float = 1.0
    parts: Parts = field(default_factory=dict)


def timed(work: Callable[[], int]) -> Callable[[], Piece]:
    """A piece of work in one part, from a function that returns the units done."""

    def play() -> Piece:
        start = time.perf_counter()
        units = work()
        return units, {"all": time.perf_counter() - start}

    return play


def measure(
    workloads: Sequence[Workload], seconds: float, tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Measures all workloads in turns; those of one thread on one core.

    Args:
        workloads: What to measure.
        seconds: The time of each, over all its turns.
        tell: Called with the name of what is measured next.

    Returns:
        One row a workload, of its fastest turn: ``per_second``, and ``parts_ns``, the nanoseconds a
        unit by part, where there are several.
    """
    best = [_Best() for _ in workloads]
    try:
        for turn in range(TURNS):
            for workload, so_far in zip(workloads, best, strict=True):
                tell(f"{workload.what}, batch {workload.batch:,}")
                provenance.pin(provenance.LAST_CORE if workload.threads == 1 else None)
                if turn == 0:
                    workload.play()  # compiles, and fills the caches
                _turn(workload, seconds / TURNS, so_far)
    finally:
        provenance.pin(None)
    return [_row(workload, found) for workload, found in zip(workloads, best, strict=True)]


def _turn(workload: Workload, seconds: float, best: _Best) -> None:
    units, parts = 0, dict[str, float]()
    end = time.perf_counter() + seconds
    while not units or time.perf_counter() < end:
        done, took = workload.play()
        units += done
        for name, spent in took.items():
            parts[name] = parts.get(name, 0.0) + spent
    counted = sum(spent for name, spent in parts.items() if name not in workload.apart)
    if units / counted > best.units / best.seconds:
        best.units, best.seconds, best.parts = units, counted, parts


def _row(workload: Workload, best: _Best) -> dict[str, Any]:
    row: dict[str, Any] = {
        "what": workload.what,
        "rules": workload.rules,
        "batch": workload.batch,
        "threads": workload.threads,
        "per_second": best.units / best.seconds,
        "unit": workload.unit,
        "counts": workload.counts,
    }
    if workload.agent is not None:
        row["agent"] = workload.agent
    if len(best.parts) > 1:
        row["parts_ns"] = {name: 1e9 * spent / best.units for name, spent in best.parts.items()}
        row["apart"] = list(workload.apart)
    return row


def find(rows: Iterable[dict[str, Any]], **wanted: Any) -> dict[str, Any] | None:
    """The first row that has these values and a speed; None if there is none."""
    for row in rows:
        if "per_second" in row and all(row.get(name) == value for name, value in wanted.items()):
            return row
    return None
