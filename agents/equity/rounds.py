"""Single rounds played from given scores, and what they lead to: wins, and the next scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, vstack

from fives_env.engine import turns
from fives_env.games import Games
from fives_env.jit import jit
from fives_env.play import advance
from fives_env.policies import Policy
from fives_env.rules import Rules

Array = npt.NDArray[Any]
BATCH = 65_536
"""About so many rounds are played at once."""
LEADER = [{"leader": 0}]
"""The script of a round that seat 0 leads."""


@dataclass(frozen=True)
class Plane:
    """The scores that both sides may stand at: `levels` of them, `step` apart, from `low` up.

    The next one above is the target. A pair of scores is numbered ``own * levels + other``.
    """

    low: int
    step: int
    levels: int

    @property
    def num_pairs(self) -> int:
        """How many pairs of scores there are."""
        return self.levels**2

    def scores(self, pairs: Array) -> Array:
        """The scores of numbered pairs: int64 [B, 2], the leader's first."""
        levels = np.stack(np.divmod(pairs, self.levels), axis=1)
        found: Array = self.low + self.step * levels
        return found

    def pairs(self, own: Array, other: Array) -> Array:
        """The numbers of pairs of scores below the target; too low ones count as the lowest."""
        rows, columns = (
            np.clip((score.astype(np.int64) - self.low) // self.step, 0, self.levels - 1)
            for score in (own, other)
        )
        numbers: Array = rows * self.levels + columns
        return numbers


@dataclass(frozen=True)
class Transitions:
    """What rounds lead to, as weights of the leader's chances: ``W = won + move @ W``.

    W is the probability that the side which leads wins the match, by numbered pair. Where the other
    side leads next, its chance counts negative, and `won` has the one that it is taken from.

    Attributes:
        won: float64 [pairs].
        move: float64 [pairs, pairs].
    """

    won: Array
    move: csr_array

    def chances(self, leader_wins: Array) -> Array:
        """One round on from `leader_wins` [pairs]."""
        after: Array = self.won + self.move @ leader_wins
        return after

    def spread(self, leader_wins: Array) -> Array:
        """The standard deviation of the leader's chances after one round: float64 [pairs]."""
        squares = leader_wins**2
        same, other = self.move.maximum(0), -self.move.minimum(0)
        mean_square = self.won + same @ squares + other @ (squares - 2 * leader_wins)
        found: Array = np.sqrt(np.maximum(mean_square - self.chances(leader_wins) ** 2, 0))
        return found


def measure(
    rules: Rules,
    plane: Plane,
    policy: Policy,
    rounds: Array,
    deals: Array,
    done: Callable[[int], None],
) -> Transitions:
    """Plays rounds from every pair of scores, the same deals from each.

    So luck is nearly the same at neighbouring scores, and what a point more is worth, the
    difference, is known much better than the values themselves.

    Args:
        rules: With ``mode=round``; of two sides.
        plane: The scores.
        policy: Sits in every seat.
        rounds: int64 [pairs], how many from each pair; at least one.
        deals: uint64, the seed of each round from a pair; as many as the most rounds.
        done: Called with the number of rounds after each batch.
    """
    batch_of = np.cumsum(rounds) // BATCH
    won, moves = [], []
    for batch in np.unique(batch_of):
        chosen = np.flatnonzero(batch_of == batch)
        starts = np.repeat(np.arange(len(chosen)), rounds[chosen])
        games = Games(rules, num_games=len(starts))
        seeds = np.concatenate([deals[:number] for number in rounds[chosen]])
        games.reset(seed=seeds, rounds=LEADER, scores=plane.scores(chosen[starts]))
        advance(games, [policy], np.zeros((len(games), 4), np.int8))
        part = _weigh(games, plane, starts, len(chosen))
        won.append(part.won / rounds[chosen])
        moves.append(part.move / rounds[chosen, None])
        done(len(starts))
    return Transitions(np.concatenate(won), vstack(moves, format="csr"))


def _weigh(games: Games, plane: Plane, starts: Array, num_starts: int) -> Transitions:
    """Counts what finished rounds, which side 0 led from `starts` [B], lead to."""
    winner = games.data["winner"]
    scores = games.data["scores"]
    other_leads = next_leader(games) & 1
    own = np.where(other_leads, scores[:, 1], scores[:, 0])
    other = np.where(other_leads, scores[:, 0], scores[:, 1])
    goes_on = winner < 0
    good = np.where(goes_on, other_leads, winner == 0)
    sign = 1.0 - 2.0 * other_leads[goes_on]
    cells = (starts[goes_on], plane.pairs(own, other)[goes_on])
    return Transitions(
        np.bincount(starts, good, num_starts),
        coo_array((sign, cells), (num_starts, plane.num_pairs)).tocsr(),
    )


def next_leader(games: Games) -> Array:
    """The seat that leads the round after these finished ones, which is dealt: int64 [B]."""
    _deal_next(games.params, games.data, games.script)
    leaders: Array = games.data["leader"].astype(np.int64)
    return leaders


@jit
def _deal_next(params: Array, games: Array, script: Array) -> None:
    for row in range(len(games)):
        turns.start_round(params[0], games[row], script)
