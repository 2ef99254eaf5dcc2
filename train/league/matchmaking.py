"""Who meets whom in training: opponents with their results, how likely each is, where it sits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.play import LEARNER
from fives_env.rules import Rules

Array = npt.NDArray[Any]
_PRIOR = 20.0
"""Games of which half are lost, that an opponent's loss rate begins with."""
_FADE = 1000.0
"""Games after which earlier ones count half for the loss rate: the learner changes."""


@dataclass
class Opponent:
    """An opponent and the learner's results against it.

    Attributes:
        name: A spec, or the folder of a snapshot.
        group: What named it: the spec, or ``self``.
        number: Of a snapshot, from 0; -1 of others.
        wins: The learner's.
        draws: Nobody's.
        losses: The learner's.
        faded_games: Games since, the earlier ones counting less.
        faded_losses: Losses among these, draws counting half.
    """

    name: str
    group: str
    number: int = -1
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faded_games: float = 0.0
    faded_losses: float = 0.0

    @property
    def loss_rate(self) -> float:
        """The learner's chance to lose against it, as far as is known."""
        return (self.faded_losses + _PRIOR / 2) / (self.faded_games + _PRIOR)

    def book(self, wins: int, draws: int, losses: int) -> None:
        """Adds results."""
        self.wins += wins
        self.draws += draws
        self.losses += losses
        self.faded_games += wins + draws + losses
        self.faded_losses += losses + draws / 2
        if self.faded_games > _FADE:
            self.faded_losses *= _FADE / 2 / self.faded_games
            self.faded_games = _FADE / 2


def weights(matchmaking: str, groups: Array, ages: Array, loss_rates: Array) -> Array:
    """How likely each opponent is.

    ``uniform`` and ``recent`` give every group the same share. ``prioritised`` gives a group, and
    an opponent in it, a share as the square of the loss rate (AlphaStar's f_hard, Vinyals et al.
    2019).

    Args:
        matchmaking: One of config.MATCHMAKING.
        groups: Whole numbers from 0 [E]: who was named together (all snapshots are one group).
        ages: How many of the group are newer [E].
        loss_rates: The learner's chance to lose against each [E].

    Returns:
        float64 [E], summing to 1.
    """
    ones = np.ones(len(groups))
    each = {"uniform": ones, "recent": 1 / (1.0 + ages), "prioritised": loss_rates**2}[matchmaking]
    sums = np.bincount(groups, each)
    shares = sums / np.bincount(groups) if matchmaking == "prioritised" else np.ones(len(sums))
    chances: Array = each / sums[groups] * (shares / shares.sum())[groups]
    return chances


def seat(rules: Rules, slots: Array, sides: Array) -> Array:
    """A seating for `fives_env.play.advance`: the learner at all seats of one side.

    Args:
        rules: Of the games.
        slots: The opponent of each game [N].
        sides: The learner's side in each game [N].

    Returns:
        int8 [N, 4]: the slot, or `LEARNER`.
    """
    side_of = np.array([rules.side_of(each) for each in range(4)])
    seating = np.where(side_of == np.asarray(sides)[:, None], LEARNER, np.asarray(slots)[:, None])
    return seating.astype(np.int8)


def results(winners: Array, sides: Array, margins: Array | None = None) -> Array:
    """What finished games were for the learner: int8 [N], 1 won, 0 drawn, -1 lost.

    Args:
        winners: The winning side, or -1 [N].
        sides: The learner's side [N].
        margins: Decides where nobody won, as in single rounds (D7): the learner's gain less the
            mean of the others' [N]. Without it such a game is drawn.
    """
    ahead = np.zeros(len(winners)) if margins is None else np.sign(margins)
    won = np.where(np.asarray(winners) == sides, 1, -1)
    return np.where(np.asarray(winners) < 0, ahead, won).astype(np.int8)
