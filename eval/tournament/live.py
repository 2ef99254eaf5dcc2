"""What is shown while a tournament runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

LEAST_REST = 1.0
"""Seconds between two drawings of the tables, and at least so often as long as they took ..."""
REST = 20
"""... times this: showing must not cost more than a twentieth of the time."""
BETWEEN_LINES = 30.0
"""Seconds between two lines where there is no terminal."""

Tell = Callable[[int], None]


@contextmanager
def showing(total: int, there: int, draw: Callable[[], Iterable[RenderableType]]) -> Iterator[Tell]:
    """Shows how far it is: tables and a progress bar on a terminal, a line now and then elsewhere.

    Args:
        total: Pairs of the whole tournament.
        there: Those that were there before.
        draw: The tables of what is known so far.

    Yields:
        To be called with the number of pairs after each block.
    """
    if sys.stderr.isatty():
        with _live(total, there, draw) as tell:
            yield tell
    else:
        yield _lines(total, there)


@contextmanager
def _live(total: int, there: int, draw: Callable[[], Iterable[RenderableType]]) -> Iterator[Tell]:
    progress = Progress(
        BarColumn(), MofNCompleteColumn(), TextColumn("pairs, left:"), TimeRemainingColumn()
    )
    task = progress.add_task("", total=total, completed=there)
    rest_until = 0.0
    with Live(progress, console=Console(stderr=True), transient=True) as live:

        def tell(num_pairs: int) -> None:
            nonlocal rest_until
            progress.advance(task, num_pairs)
            if (start := time.monotonic()) < rest_until:
                return
            live.update(Group(progress, *draw()))  # a small window cuts what is below
            now = time.monotonic()
            rest_until = now + max(LEAST_REST, REST * (now - start))

        yield tell


def _lines(total: int, there: int) -> Tell:
    start = last = time.monotonic()
    played = 0

    def tell(num_pairs: int) -> None:
        nonlocal last, played
        played += num_pairs
        now = time.monotonic()
        if now - last < BETWEEN_LINES:
            return
        last = now
        minutes = (total - there - played) * (now - start) / played / 60
        print(f"{there + played:,} of {total:,} pairs, {minutes:.1f} min left", file=sys.stderr)

    return tell
