"""What a training run can be told: frozen dataclasses that tyro turns into the command line."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from agents import canonical
from fives_env.rules import Rules

DEFAULT_MINUTES = 2.5
EPISODES = ("rounds", "matches")


@dataclass(frozen=True)
class Ppo:
    """Settings of MaskablePPO; the defaults are for a few minutes on two cores."""

    num_envs: int = 512
    """Tables that are played at once."""
    num_steps: int = 16
    """Decisions at each table between two updates."""
    batch_size: int = 1024
    """Decisions in one gradient step."""
    num_epochs: int = 2
    """How often each decision is learned from."""
    learning_rate: float = 2e-3
    """At the start; it falls to 0 along the run."""
    gamma: float = 1.0
    """Discount of later points."""
    gae_lambda: float = 0.95
    """How far a decision answers for what follows it."""
    clip_range: float = 0.2
    """How far one update may change the chance of an action."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the network's layers."""

    def __post_init__(self) -> None:
        """Refuses numbers out of range."""
        for name in ("num_envs", "num_steps", "batch_size", "num_epochs"):
            _at_least(name, getattr(self, name), 1)
        for name in ("learning_rate", "entropy"):
            _at_least(name, getattr(self, name), 0)
        for name in ("gamma", "gae_lambda", "clip_range"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)} is not from 0 to 1")
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden={self.hidden} must be one or more widths from 1 up")


@dataclass(frozen=True)
class Sb3:
    """Trains MaskablePPO of sb3-contrib on the native vector env against a fixed opponent."""

    rules: str
    """The game that is learned, as a rules spec: fives-and-threes, all-fives:players=4, ..."""
    out: Path
    """The run folder: new or empty. The agent is then model:OUT."""
    opponent: str = "greedy"
    """Who sits at the other seats, as an agent spec (python -m agents lists them)."""
    minutes: float | None = None
    """How long to train (2.5 if --decisions is not given either)."""
    decisions: int | None = None
    """How many decisions to train on, in whole updates; without --minutes, a run of one thread can
    be repeated exactly."""
    seed: int = 0
    """Of the first weights, the deals and the choices."""
    episodes: str = "rounds"
    """rounds: single rounds from start scores all over the score plane; matches: whole matches."""
    evaluate_every: float = 15.0
    """Seconds between evaluations, each of which saves the model too."""
    pairs: int = 200
    """Pairs of matches in an evaluation on the way."""
    final_pairs: int = 1000
    """Pairs of matches in the last one."""
    threads: int = 2
    """Threads of PyTorch."""
    ppo: Ppo = field(default_factory=Ppo)
    """Settings of MaskablePPO."""

    def __post_init__(self) -> None:
        """Refuses what cannot be run, before anything is written."""
        Rules.from_spec(self.rules)
        canonical(self.opponent)
        if self.episodes not in EPISODES:
            raise ValueError(f"episodes={self.episodes!r} is not one of {', '.join(EPISODES)}")
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise ValueError(f"minutes={self.minutes} is not a number above 0")
        if self.decisions is not None:
            _at_least("decisions", self.decisions, 1)
        if not 0 <= self.seed < 1 << 32:
            raise ValueError(f"seed={self.seed} is not a whole number from 0 to 2**32 - 1")
        for name in ("pairs", "final_pairs", "threads", "evaluate_every"):
            _at_least(name, getattr(self, name), 1)

    @property
    def seconds(self) -> float:
        """The time limit; infinite where only decisions count."""
        if self.minutes is None:
            return 60 * DEFAULT_MINUTES if self.decisions is None else math.inf
        return 60 * self.minutes


def _at_least(name: str, value: float, least: int) -> None:
    if not least <= value < math.inf:
        raise ValueError(f"{name}={value} is not a number from {least} up")
