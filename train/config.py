"""What a training run can be told: frozen dataclasses that tyro turns into the command line."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tyro

from agents import canonical
from fives_env.rules import Rules
from fives_env.salts import read_salt
from train.checkpoint import LIMITS
from train.clock import Clock

Run = TypeVar("Run", bound=Any)

DEFAULT_MINUTES = 2.5
EPISODES = ("rounds", "matches")
SELF = "self"
"""Among opponents: snapshots of the learner."""
MATCHMAKING = ("uniform", "recent", "prioritised")
ACTIONS = ("sample", "best")
MOST_NAMED, MOST_SNAPSHOTS = 24, 48
"""Opponents: a batch seats at most 126, and earlier snapshots finish their games."""


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
            at_least(name, getattr(self, name), 1)
        for name in ("learning_rate", "entropy"):
            at_least(name, getattr(self, name), 0)
        for name in ("gamma", "gae_lambda", "clip_range"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)} is not from 0 to 1")
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"hidden={self.hidden} must be one or more widths from 1 up")


@dataclass(frozen=True)
class Pool:
    """Whom the learner meets how often, and the snapshots of itself among them."""

    matchmaking: str = "uniform"
    """uniform: those named are equally likely, and so are all snapshots among themselves; recent:
    the newer a snapshot, the likelier; prioritised: those the learner loses to are likelier."""
    every: int = 200_000
    """Decisions between two snapshots."""
    size: int = 32
    """Snapshots that are met: the newest so many."""
    actions: str = "sample"
    """How a snapshot chooses: sample, as the learner does, or best."""

    def __post_init__(self) -> None:
        """Refuses what there is not."""
        one_of("matchmaking", self.matchmaking, MATCHMAKING)
        one_of("actions", self.actions, ACTIONS)
        at_least("every", self.every, 1)
        if not 1 <= self.size <= MOST_SNAPSHOTS:
            raise ValueError(f"size={self.size} is not a number from 1 to {MOST_SNAPSHOTS}")


@dataclass(frozen=True)
class Sb3:
    """Trains MaskablePPO of sb3-contrib on the native vector env against the given opponents."""

    rules: str
    """The game that is learned, as a rules spec: fives-and-threes, all-fives:players=4, ..."""
    out: Path
    """The run folder: new or empty. The agent is then model:OUT."""
    opponent: Annotated[tuple[str, ...], tyro.conf.arg(aliases=["--opponents"])] = ("greedy",)
    """Who sits at the other seats, as agent specs (python -m agents lists them), and self for
    snapshots of the learner. Of several, each episode meets one."""
    minutes: float | None = None
    """How long to train (2.5 if --decisions is not given either)."""
    decisions: int | None = None
    """How many decisions to train on, in whole updates; without --minutes, a run of one thread can
    be repeated exactly (with its --seed and, if opponents make use of randomness, its --salt)."""
    seed: int = 0
    """Of the first weights, the deals and the choices."""
    salt: int | None = None
    """Of the randomness that opponents are handed; drawn, and kept in config.json, if not given."""
    episodes: str = "rounds"
    """rounds: single rounds from start scores all over the score plane; matches: whole matches."""
    evaluate_every: float = 15.0
    """Seconds between evaluations, each of which saves the model too."""
    pairs: int = 200
    """Pairs of matches in an evaluation on the way."""
    final_pairs: int = 1000
    """Pairs of matches in the last one."""
    evaluation: str = "best"
    """How the agent chooses when it is measured: best, or sample as it does when it learns."""
    threads: int = 2
    """Threads of PyTorch."""
    init: str | None = None
    """Start from the weights of this model, as model:NAME|PATH."""
    pool: Pool = field(default_factory=Pool)
    """Whom the learner meets how often."""
    ppo: Ppo = field(default_factory=Ppo)
    """Settings of MaskablePPO."""

    def __post_init__(self) -> None:
        """Refuses what cannot be run, before anything is written."""
        Rules.from_spec(self.rules)
        canonical_opponents(self.opponent)
        one_of("episodes", self.episodes, EPISODES)
        one_of("evaluation", self.evaluation, ACTIONS)
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise ValueError(f"minutes={self.minutes} is not a number above 0")
        if self.decisions is not None:
            at_least("decisions", self.decisions, 1)
        if not 0 <= self.seed < 1 << 32:
            raise ValueError(f"seed={self.seed} is not a whole number from 0 to 2**32 - 1")
        if self.salt is not None:
            read_salt(self.salt)
        for name in ("pairs", "final_pairs", "threads", "evaluate_every"):
            at_least(name, getattr(self, name), 1)

    @property
    def seconds(self) -> float:
        """The time limit; infinite where only decisions count."""
        if self.minutes is None:
            return 60 * DEFAULT_MINUTES if self.decisions is None else math.inf
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
            at_least("learning_rate", self.learning_rate, 0)
            if self.minutes is None and self.decisions is None:
                raise ValueError("learning_rate needs a new limit: --minutes or --decisions")

    def limited(self, config: Run) -> Run:
        """The settings with the limits that were asked for."""
        asked = {name: getattr(self, name) for name in LIMITS}
        return replace(
            config, **{name: value for name, value in asked.items() if value is not None}
        )

    def extend(self, clock: Clock, before: dict[str, Any], config: Any, rate: float) -> str:
        """With other limits than before, or a rate that was asked for: how the rate goes on.

        Args:
            clock: Of the run, with the limits of now.
            before: The settings when the run was left.
            config: Those of now.
            rate: The learning rate at the start of the run.

        Returns:
            What the learning rate does, in a line; "" where it does what it did.
        """
        same = all(before[name] == getattr(config, name) for name in LIMITS)
        if clock.part >= 1 or (same and self.learning_rate is None):
            return ""
        if self.learning_rate is None:
            clock.extend(clock.annealed)
            asked = "; --learning-rate would start from another one"
        else:
            clock.extend(self.learning_rate / rate if rate else 0.0)
            asked = ""
        now = rate * clock.annealed
        return f"the learning rate goes on from {now:.3g} and falls to 0 at the new end{asked}"


@dataclass(frozen=True)
class Exploit:
    """Trains an opponent against a frozen agent, and tells what it gains, with an interval.

    That is a lower bound on how exploitable the agent is. The same command goes on with a run that
    was stopped; of one that is done it only measures what is missing.
    """

    agent: tyro.conf.Positional[str]
    """The spec of the agent that is exploited (python -m agents lists them)."""

    rules: str = "fives-and-threes"
    """What is played."""

    minutes: float = 2.5
    """The budget: how long the exploiter trains (MaskablePPO, python -m train sb3)."""

    seed: int | None = None
    """Of the training (0 if not given), and of the deals on which the gain is measured (drawn if
    not given)."""

    pairs: int = 2000
    """Pairs of matches on which the gain is measured: deals that the exploiter never saw."""

    out: Path = Path("runs/exploit")
    """The folder of the exploiter, the matches and exploit.json."""


@dataclass(frozen=True)
class Export:
    """Writes a trained model as an ONNX file, with the action mask as an input."""

    model: tyro.conf.Positional[Path]
    """The model's folder, or the run that made it."""
    out: Path
    """The file; an older one is replaced."""


def canonical_opponents(names: Sequence[str]) -> list[str]:
    """The shortest specs of these opponents; ``self`` as it is.

    Raises:
        ValueError: One is no agent's, one stands twice, or there is none or too many.
    """
    known = [SELF if name.strip() == SELF else canonical(name) for name in names]
    if not 1 <= len(known) <= MOST_NAMED:
        raise ValueError(f"{len(known)} opponents are named; give 1 to {MOST_NAMED}")
    if twice := sorted({name for name in known if known.count(name) > 1}):
        raise ValueError(f"opponent {twice[0]} is named twice")
    return known


def one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuses a word that is not known."""
    if value not in known:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(known)}")


def at_least(name: str, value: float, least: int) -> None:
    """Refuses what is below `least`, infinite or no number."""
    if not least <= value < math.inf:
        raise ValueError(f"{name}={value} is not a number from {least} up")
