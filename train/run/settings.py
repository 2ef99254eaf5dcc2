"""What a run can be told, whichever trainer it is of: tyro turns it into the command line."""

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from fives_env.rules import Rules
from fives_env.salts import read_salt
from train.run.checkpoint import LIMITS
from train.run.checks import are_widths, at_least, from_0_to_1, one_of
from train.run.clock import Clock
from train.run.pool import ACTIONS, Pool, canonical_opponents

EPISODES = ("rounds", "matches")
Run = TypeVar("Run", bound="Settings")


@dataclass(frozen=True)
class Ppo:
    """Settings of PPO, by the names that they have in Stable-Baselines3."""

    num_envs: int = 1024
    """Games that are played at once."""
    num_steps: int = 16
    """Decisions in each game between two updates."""
    batch_size: int = 1024
    """Decisions in one gradient step."""
    num_epochs: int = 1
    """How often each decision is learned from."""
    learning_rate: float = 1.5e-3
    """At the start; it falls to 0 along the run."""
    gae_lambda: float = 0.95
    """How far a decision answers for what follows it."""
    clip_range: float = 0.2
    """How far one update may change the chance of an action."""
    ent_coef: float = 0.01
    """Weight of the entropy bonus."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the policy's layers."""

    def __post_init__(self) -> None:
        """Refuses numbers out of range."""
        at_least(self, 1, "num_envs", "num_steps", "batch_size", "num_epochs")
        at_least(self, 0, "learning_rate", "ent_coef")
        from_0_to_1(self, "gae_lambda", "clip_range")
        are_widths(self, "hidden")


@dataclass(frozen=True)
class Settings:
    """What all trainers can be told; each adds its own, and its defaults."""

    default_minutes: ClassVar[float] = 15.0

    rules: str
    """The game that is learned, as a rules spec: fives-and-threes, all-fives:players=4, ...
    With mode=round selfplay learns for points alone, and does not look at scores."""
    out: Path
    """The run folder: new or empty. The agent is then model:OUT."""
    minutes: float | None = None
    """How long to train (selfplay 15, sb3 2.5, if --decisions is not given either)."""
    decisions: int | None = None
    """How many decisions to train on, in whole updates; without --minutes, a run of one thread can
    be repeated exactly (with its --seed and, if opponents make use of randomness, its --salt)."""
    seed: int = 0
    """Of the first weights, the deals and the choices."""
    salt: int | None = None
    """Of the randomness that opponents are handed; drawn, and kept in config.json, if not given."""
    opponents: tuple[str, ...] = ()
    """Who else plays, as agent specs (python -m agents lists them), and self for snapshots of the
    learner."""
    episodes: str = "rounds"
    """rounds: single rounds from start scores all over the score plane; matches: whole matches."""
    evaluate_every: float = 60.0
    """Seconds between evaluations."""
    checkpoint_every: float = 30.0
    """Seconds between checkpoints, with each of which the model is saved; 0: after every update."""
    pairs: int = 200
    """Pairs of matches in an evaluation on the way."""
    final_pairs: int = 2000
    """Pairs of matches in the last one."""
    evaluation: str = "best"
    """How the agent chooses when it is measured: best, or sample as it does when it learns."""
    threads: int = 2
    """Threads of PyTorch; in selfplay as many play the games."""
    init: str | None = None
    """Start from the weights of this model, as model:NAME|PATH; a critic's are new."""
    pool: Pool = field(default_factory=Pool)
    """Which of the opponents is met how often."""
    learner: Ppo = field(default_factory=Ppo)
    """Settings of the learner."""

    def __post_init__(self) -> None:
        """Refuses what cannot be run, before anything is written."""
        Rules.from_spec(self.rules)
        if self.opponents:
            canonical_opponents(self.opponents)
        one_of(self, "episodes", EPISODES)
        one_of(self, "evaluation", ACTIONS)
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise ValueError(f"minutes={self.minutes} is not a number above 0")
        if self.decisions is not None:
            at_least(self, 1, "decisions")
        if not 0 <= self.seed < 1 << 32:
            raise ValueError(f"seed={self.seed} is not a whole number from 0 to 2**32 - 1")
        if self.salt is not None:
            read_salt(self.salt)
        at_least(self, 1, "pairs", "final_pairs", "threads", "evaluate_every")
        at_least(self, 0, "checkpoint_every")

    @property
    def seconds(self) -> float:
        """The time limit; infinite where only decisions count."""
        if self.minutes is None:
            return 60 * self.default_minutes if self.decisions is None else math.inf
        return 60 * self.minutes


@dataclass(frozen=True)
class Resume:
    """Goes on with a run that was stopped or killed, as if it had not been."""

    resume: Path
    """The run folder; all settings are taken from its config.json."""
    minutes: float | None = None
    """A new time limit, counted from the start of the run."""
    decisions: int | None = None
    """A new limit of decisions, counted from the start of the run."""
    learning_rate: float | None = None
    """With a new limit: the learning rate from here on, which falls to 0 at the new end. Without,
    it falls from where it stood when the run was left."""

    def __post_init__(self) -> None:
        """Refuses a rate that no limit comes with."""
        if self.learning_rate is not None:
            at_least(self, 0, "learning_rate")
            if self.minutes is None and self.decisions is None:
                raise ValueError("learning_rate needs a new limit: --minutes or --decisions")

    def limited(self, config: Run) -> Run:
        """The settings with the limits that were asked for."""
        asked = {name: getattr(self, name) for name in LIMITS}
        return replace(
            config, **{name: value for name, value in asked.items() if value is not None}
        )

    def extend(self, clock: Clock, before: dict[str, Any], config: Settings) -> str:
        """With other limits than before, or a rate that was asked for: how the rate goes on.

        Args:
            clock: Of the run, with the limits of now.
            before: The settings when the run was left.
            config: Those of now.

        Returns:
            What the learning rate does, in a line; "" where it does what it did.
        """
        same = all(before[name] == getattr(config, name) for name in LIMITS)
        if clock.part >= 1 or (same and self.learning_rate is None):
            return ""
        rate = config.learner.learning_rate
        if self.learning_rate is None:
            clock.extend(clock.annealed)
            asked = "; --learning-rate would start from another one"
        else:
            clock.extend(self.learning_rate / rate if rate else 0.0)
            asked = ""
        now = rate * clock.annealed
        return f"the learning rate goes on from {now:.3g} and falls to 0 at the new end{asked}"
