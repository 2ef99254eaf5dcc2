"""Rounds of games in which scores only rise and nothing is refused: one round serves all scores.

Such a round (Threes and Fives) goes the same way from whatever scores it starts, as long as the
agent does not look at them, until somebody reaches the target. So each is played once, without a
target, and then taken from every pair of scores: who reaches the target first, or which scores
come next. A million rounds thus say as much about every pair as a million from each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.signal import fftconvolve

from fives_env.games import Games
from fives_env.play import ask
from fives_env.policies import Policy
from fives_env.rules import Rules

from .rounds import LEADER, next_leader

Array = npt.NDArray[Any]
BATCH = 4_096
"""Rounds that are played at once; each step looks at all of them, so they should fit the cache."""


@dataclass(frozen=True)
class Gains:
    """What rounds give, as weights of the leader's chances; T is the target.

    Attributes:
        won: float64 [T, T], the chance that the leader reaches the target in this round, before the
            other side does, by both scores.
        same: float64 [T, T], the chance of gaining so many points, the leader's first, and the same
            side leads next; gains from T up are left out, since they end the match.
        other: float64 [T, T], likewise, and the other side leads next.
    """

    won: Array
    same: Array
    other: Array

    def chances(self, leader_wins: Array) -> Array:
        """One round on from `leader_wins` [T * T]."""
        wins = leader_wins.reshape(self.won.shape)
        after = self.won + _ahead(wins, self.same) + _ahead(1 - wins.T, self.other)
        return after.ravel()


def measure(rules: Rules, policy: Policy, deals: Array, done: Callable[[int], None]) -> Gains:
    """Plays one round of each deal.

    Args:
        rules: With ``mode=round``; of two sides.
        policy: Sits in every seat.
        deals: uint64, the seed of each round.
        done: Called with the number of rounds after each batch.
    """
    target = rules.target
    edges = np.zeros((target + 2, target + 2))
    after = np.zeros((2, target, target))
    for first in range(0, len(deals), BATCH):
        seeds = deals[first : first + BATCH]
        games = Games(rules, num_games=len(seeds))
        games.reset(seed=seeds, rounds=LEADER)
        total = _play(games, policy, edges)
        other_leads = next_leader(games) & 1
        short = (total < target).all(axis=1)
        np.add.at(after, (other_leads[short], total[short, 0], total[short, 1]), 1)
        done(len(games))
    reached = edges.cumsum(axis=0).cumsum(axis=1)[1:-1, 1:-1]  # by what each needs, from 1 up
    return Gains(*(part / len(deals) for part in (reached[::-1, ::-1], *after)))


def _play(games: Games, policy: Policy, edges: Array) -> Array:
    """Plays the rounds to their ends; the points of both sides, int64 [B, 2]."""
    total = np.zeros((len(games), 2), np.int64)
    while True:
        playing = np.flatnonzero(games.data["match_over"] == 0)
        if not len(playing):
            return total
        actions = np.full(len(games), -1, np.int64)
        actions[playing] = ask(policy, games, playing)
        games.step(actions)
        points = np.zeros((len(playing), 2), np.int64)
        mover, earned = (games.data[name][playing] for name in ("mover", "points"))
        points[np.arange(len(playing)), mover & 1] = earned
        for gained in (points, games.data["settlement"][playing, :2]):  # in this order (T6, T7)
            _mark(edges, total[playing], gained)
            total[playing] += gained


def _mark(edges: Array, before: Array, gained: Array) -> None:
    """Adds to `edges` [T + 2, T + 2] where the leader is the first to reach the target.

    Going from c to d points while the other side has o, it reaches any target more than c and at
    most d points away, and is the first if the other's is more than o away. That rectangle is
    marked by its corners; sums along both axes fill it.
    """
    rows = gained[:, 0] > 0
    far = len(edges) - 2  # more points than any target is away
    c, o = np.minimum(before[rows], far).T + 1
    d = np.minimum(before[rows, 0] + gained[rows, 0], far) + 1
    np.add.at(edges, (c, o), 1)
    np.add.at(edges, (d, o), -1)


def _ahead(values: Array, gains: Array) -> Array:
    """For every pair of scores, the mean of `values` by the gains; beyond the table they are 0."""
    size = len(values)
    found: Array = fftconvolve(values, gains[::-1, ::-1])[size - 1 :, size - 1 :]
    return found
