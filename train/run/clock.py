"""How far a run is, by time and by decisions, whichever is nearer to its end."""

import math
import time
from typing import Any


class Clock:
    """Counts a run's seconds and decisions.

    Attributes:
        decisions: Made so far; whoever trains counts them up.
        annealed: What `anneal` said last; 1 at first.
    """

    def __init__(self, max_seconds: float, max_decisions: int | None) -> None:
        """Stands at 0 until `start`; an infinite or absent limit does not count."""
        self.max_seconds = max_seconds
        self.max_decisions = math.inf if max_decisions is None else max_decisions
        self.decisions = 0
        self.annealed = 1.0
        self._fall = (0.0, 1.0)
        self._before = 0.0
        self._started: float | None = None
        self._stopped: float | None = None

    def start(self) -> None:
        """Begins to count seconds, on top of those that were set."""
        self._started = time.monotonic()

    def state(self) -> dict[str, Any]:
        """Where it stands, for `restore`."""
        return {
            "decisions": self.decisions,
            "seconds": self.seconds,
            "annealed": self.annealed,
            "fall": list(self._fall),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Stands where `state` said, those of a run that goes on, until `start`."""
        self.decisions, self._before = int(state["decisions"]), float(state["seconds"])
        self.annealed = float(state["annealed"])
        self._fall = (float(state["fall"][0]), float(state["fall"][1]))

    def anneal(self) -> float:
        """What is left of the learning rate now: it falls evenly, from 1 at the start to 0."""
        part, left = self._fall
        self.annealed = left * (1 - self.part) / (1 - part) if part < 1 else 0.0
        return self.annealed

    def extend(self, left: float) -> None:
        """With other limits than before: what is left of the rate falls from `left` now to 0."""
        self._fall = (self.part, left)
        self.annealed = left

    def stop(self) -> None:
        """Counts no further."""
        self._stopped = time.monotonic()

    @property
    def seconds(self) -> float:
        """From the start to now, or to when it was stopped."""
        if self._started is None:
            return self._before
        return self._before + (self._stopped or time.monotonic()) - self._started

    @property
    def part(self) -> float:
        """From 0 at the start to 1 at the end.

        Without a time limit this is a function of the decisions alone.
        """
        by_time = 0.0 if math.isinf(self.max_seconds) else self.seconds / self.max_seconds
        return min(1.0, max(by_time, self.decisions / self.max_decisions))

    def ends_within(self, seconds: float) -> bool:
        """Whether the run is at its end, or will be before so much more time has passed."""
        return self.part >= 1 or self.seconds + seconds > self.max_seconds
