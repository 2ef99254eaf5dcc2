"""Ctrl-C during a run: finish what is in hand, save, leave."""

import signal
from types import FrameType
from typing import Any, Self


class Interruption:
    """Notes the first Ctrl-C (or SIGTERM) in its ``with`` block; a second one is not held back.

    Attributes:
        asked: Whether somebody asked the run to stop.
        exit_code: 130 after Ctrl-C and 143 after SIGTERM, as shells have it; else 0.
    """

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self.asked = False
        self.exit_code = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        """Takes the signals over."""
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        """Gives them back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self.exit_code = 128 + number
