"""What a MaskablePPO run can be told."""

from dataclasses import dataclass, field
from typing import ClassVar

from train.run.checks import from_0_to_1
from train.run.pool import canonical_opponents
from train.run.settings import Ppo, Settings


@dataclass(frozen=True)
class Learner(Ppo):
    """Settings of MaskablePPO; the defaults are for a few minutes on two cores."""

    num_envs: int = 512
    """Games that are played at once."""
    num_epochs: int = 2
    """How often each decision is learned from."""
    learning_rate: float = 2e-3
    """At the start; it falls to 0 along the run."""
    gamma: float = 1.0
    """Discount of later points."""

    def __post_init__(self) -> None:
        """Refuses numbers out of range."""
        super().__post_init__()
        from_0_to_1(self, "gamma")


@dataclass(frozen=True)
class Sb3(Settings):
    """Trains MaskablePPO of sb3-contrib on the native vector env against the given opponents.

    A run that was stopped or killed goes on with: python -m train sb3 --resume RUN
    """

    default_minutes: ClassVar[float] = 2.5

    opponents: tuple[str, ...] = ("greedy",)
    """Who sits at the other seats, as agent specs (python -m agents lists them), and self for
    snapshots of the learner. Of several, each episode meets one."""
    evaluate_every: float = 15.0
    """Seconds between evaluations."""
    checkpoint_every: float = 15.0
    """Seconds between checkpoints, with each of which the model is saved; 0: after every update."""
    final_pairs: int = 1000
    """Pairs of matches in the last evaluation."""
    learner: Learner = field(default_factory=Learner)
    """Settings of MaskablePPO."""

    def __post_init__(self) -> None:
        """Refuses what cannot be run, before anything is written."""
        super().__post_init__()
        canonical_opponents(self.opponents)  # there has to be one
