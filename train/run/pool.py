"""Whom a learner meets, as it is told: named agents, and snapshots of itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents import canonical
from train.run.checks import at_least, one_of

SELF = "self"
"""Among opponents: snapshots of the learner."""
MATCHMAKING = ("uniform", "recent", "prioritised")
ACTIONS = ("sample", "best")
MOST_NAMED, MOST_SNAPSHOTS = 24, 48
"""Opponents: a batch seats at most 126, and earlier snapshots finish their games."""


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
        one_of(self, "matchmaking", MATCHMAKING)
        one_of(self, "actions", ACTIONS)
        at_least(self, 1, "every")
        if not 1 <= self.size <= MOST_SNAPSHOTS:
            raise ValueError(f"size={self.size} is not a number from 1 to {MOST_SNAPSHOTS}")


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
