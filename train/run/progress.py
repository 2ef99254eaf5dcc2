"""The progress bar of a run: how far, how fast, how well. Silent where nobody is watching."""

import math
import time
from collections.abc import Mapping
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from train.run.clock import Clock

_UPDATE_EVERY = 0.2
_FIELDS = {
    "reward": "[cyan]reward[/] {:+.2f}",
    "loss": "[cyan]loss[/] {:.3f}",
    "entropy": "[cyan]entropy[/] {:.2f}",
    "kl": "[cyan]KL[/] {:.3f}",
    "greedy": "[cyan]against greedy[/] {:.1%}",
    "points": "{:+.2f} a round",
}


class ProgressBar:
    """Shows a `Clock` and the latest numbers while the ``with`` block runs."""

    def __init__(self, clock: Clock, console: Console | None = None) -> None:
        """Shows nothing unless the console (standard error) is a terminal."""
        self._clock = clock
        self._numbers: dict[str, float] = {}
        self._shown_at = -math.inf
        console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("training"),
            BarColumn(bar_width=20),
            TaskProgressColumn(),
            TextColumn("{task.fields[numbers]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("training", total=1.0, numbers="")

    def update(self, numbers: Mapping[str, float] | None = None) -> None:
        """Redraws, at most a few times a second.

        Args:
            numbers: New values of what `_FIELDS` names.
        """
        self._numbers.update(numbers or {})
        if self._bar.disable or time.monotonic() - self._shown_at < _UPDATE_EVERY:
            return
        self._shown_at = time.monotonic()
        speed = self._clock.decisions / max(self._clock.seconds, 1e-9)
        parts = [f"{self._clock.decisions:,} decisions, {speed:,.0f}/s"]
        known = (name for name in _FIELDS if name in self._numbers)
        parts += [_FIELDS[name].format(self._numbers[name]) for name in known]
        self._bar.update(self._task, completed=self._clock.part, numbers="  ".join(parts))

    def __enter__(self) -> Self:
        """Shows the bar."""
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Takes it away."""
        self._bar.stop()
