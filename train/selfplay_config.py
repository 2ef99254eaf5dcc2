"""What a self-play run can be told: frozen dataclasses that tyro turns into the command line."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from fives_env.rules import Rules
from fives_env.salts import read_salt
from train.config import EPISODES, Pool, at_least, canonical_opponents, one_of

DEFAULT_MINUTES = 15.0
DEVICES = ("auto", "cpu", "cuda")
VALUES = ("points", "equity")
CREDITS = ("side", "seat")


@dataclass(frozen=True)
class Learner:
    """Settings of the learner; the defaults are for a quarter of an hour on two cores."""

    num_games: int = 1024
    """Games that are played at once."""
    num_steps: int = 16
    """Decisions in each game between two updates."""
    batch_size: int = 1024
    """Decisions in one gradient step."""
    num_epochs: int = 1
    """How often each decision is learned from."""
    learning_rate: float = 1.5e-3
    """At the start; it falls to 0 along the run."""
    credit: str = "side"
    """Whose decisions share a return: side, all (their values count with their sign); seat, those
    of one seat."""
    decay: float = 0.95
    """How far a decision answers for what follows it: the lambda of GAE."""
    clip: float = 0.2
    """How far one update may change the chance of an action."""
    entropy: float = 0.01
    """Weight of the entropy bonus at the start; it falls to 0 along the run."""
    advice: bool = True
    """Show the network what the rules of thumb of the agent tactic say of each action."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the policy's layers."""
    critic_hidden: tuple[int, ...] = (128, 128)
    """Widths of the critic's layers."""
    memory: int = 0
    """Size of a recurrent memory in which the policy reads the actions of the round; 0: none."""

    def __post_init__(self) -> None:
        """Refuses numbers out of range."""
        for name in ("num_games", "num_steps", "batch_size", "num_epochs"):
            at_least(name, getattr(self, name), 1)
        for name in ("learning_rate", "entropy", "memory"):
            at_least(name, getattr(self, name), 0)
        for name in ("decay", "clip"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)} is not from 0 to 1")
        one_of("credit", self.credit, CREDITS)
        for name in ("hidden", "critic_hidden"):
            widths = getattr(self, name)
            if not widths or min(widths) < 1:
                raise ValueError(f"{name}={widths} must be one or more widths from 1 up")


@dataclass(frozen=True)
class Selfplay:
    """Trains one network that plays all seats of many games (PPO with a critic that sees all).

    A run that was stopped or killed goes on with: python -m train selfplay --resume RUN
    """

    rules: str
    """The game that is learned, as a rules spec: fives-and-threes, all-fives:players=4, ...
    With mode=round points alone count, and the agent does not look at scores."""
    out: Path
    """The run folder: new or empty. The agent is then model:OUT."""
    minutes: float | None = None
    """How long to train (15 if --decisions is not given either)."""
    decisions: int | None = None
    """How many decisions to train on, in whole updates; without --minutes, a run of one thread can
    be repeated exactly (with its --seed and, if opponents make use of randomness, its --salt)."""
    seed: int = 0
    """Of the first weights, the deals and the choices."""
    salt: int | None = None
    """Of the randomness that opponents are handed; drawn, and kept in config.json, if not given."""
    value: str = "points"
    """What rewards are: points, or equity, the chance to win the match (two sides, rules that have
    a table: python -m agents.equity lists them)."""
    episodes: str = "rounds"
    """rounds: single rounds from start scores all over the score plane; matches: whole matches,
    whose rounds start from the scores that play brings. Credit ends with the round in both."""
    evaluate_every: float = 60.0
    """Seconds between evaluations against greedy."""
    pairs: int = 200
    """Pairs of matches in an evaluation on the way."""
    final_pairs: int = 2000
    """Pairs of matches in the last one."""
    checkpoint_every: float = 30.0
    """Seconds between checkpoints; 0 writes one after every update."""
    threads: int = 2
    """Threads of PyTorch, and as many that play the games."""
    device: str = "auto"
    """Of the network: cpu, cuda, or auto for cuda where there is one."""
    ray: str | None = None
    """Play on a Ray cluster: its address, or local for one that is started here. Learning stays
    here."""
    workers: int = 2
    """With --ray: how many processes play, each its part of the games."""
    opponents: tuple[str, ...] = ()
    """Who else sits at some of the tables, as agent specs (python -m agents lists them), and self
    for earlier snapshots of the learner. Nobody: the learner plays all seats of all games."""
    share: float = 0.25
    """The part of the games in which they sit, where there are any."""
    init: str | None = None
    """Start from the weights of this model, as model:NAME|PATH; the critic's are new."""
    pool: Pool = field(default_factory=Pool)
    """Which of them is met how often."""
    learner: Learner = field(default_factory=Learner)
    """Settings of the learner."""

    def __post_init__(self) -> None:
        """Refuses what cannot be run, before anything is written."""
        Rules.from_spec(self.rules)
        one_of("device", self.device, DEVICES)
        one_of("value", self.value, VALUES)
        one_of("episodes", self.episodes, EPISODES)
        if Rules.from_spec(self.rules).mode == "round" and (
            self.episodes == "matches" or self.value == "equity"
        ):
            raise ValueError("mode=round has no matches: --episodes rounds and --value points fit")
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise ValueError(f"minutes={self.minutes} is not a number above 0")
        if self.decisions is not None:
            at_least("decisions", self.decisions, 1)
        if not 0 <= self.seed < 1 << 32:
            raise ValueError(f"seed={self.seed} is not a whole number from 0 to 2**32 - 1")
        if self.salt is not None:
            read_salt(self.salt)
        for name in ("pairs", "final_pairs", "threads", "workers", "evaluate_every"):
            at_least(name, getattr(self, name), 1)
        at_least("checkpoint_every", self.checkpoint_every, 0)
        if self.ray is not None and self.workers > (most := self.learner.num_games):
            raise ValueError(f"workers={self.workers} is more than the number of games, {most}")
        if self.opponents:
            canonical_opponents(self.opponents)
        if not 0 < self.share <= 1:
            raise ValueError(f"share={self.share} is not a number above 0 and up to 1")

    @property
    def seconds(self) -> float:
        """The time limit; infinite where only decisions count."""
        if self.minutes is None:
            return 60 * DEFAULT_MINUTES if self.decisions is None else math.inf
        return 60 * self.minutes
