"""Ratings on the Elo scale, from the winners of tables of two to four sides.

The chance that a side wins is in proportion to the exponential of its agent's strength (Bradley
and Terry 1952 for two sides, Plackett and Luce for the winner among several), times what its place
in the turn order is worth: the advantage of the first lead is estimated with the strengths and not
ignored. Ratings are a pure function of stored results; the order of agents and of games does not
matter.

The fit is of greatest likelihood, by Newton's method, for all resamples at once. `choix` has the
same models and the same numbers (a test holds the two together), but knows neither fractions of a
win nor the turn order, and takes 1.2 ms for each of a thousand resamples of a round robin.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from eval.matches import Matches
from eval.stats.intervals import CONFIDENCE, Interval
from eval.stats.scores import place_shares
from fives_env.rules import Rules

Array = npt.NDArray[Any]
Meetings = Sequence[tuple[tuple[int, ...], Matches]]
"""Who met, numbered from 0, and their matches; two, or as many as there are sides."""

ELO = 400 / np.log(10)
"""Elo points of one unit of log-odds."""

NUM_RESAMPLES = 1000
_LEAST_VIRTUAL = 0.1
_BIGGEST_STEP = 2.0
_SMALLEST_STEP = 1e-8
"""Steps become their own squares, so what is left after one of this size is nothing."""
_SMALLEST_RESAMPLED = 1e-3
_MOST_STEPS = 100


class Ratings(NamedTuple):
    """What a fit found, in Elo points, each with its bootstrap interval.

    Attributes:
        agents: One rating an agent; NaN for one whom no chain of results ties to the anchor.
        places: What each place in the turn order of the first round is worth, of D sides D: the
            leader's first; their mean is 0.
        samples: Ratings of the agents [R, A] as found, and then of each resample: for intervals of
            differences, which two agents share the doubt about the anchor in.
    """

    agents: list[Interval]
    places: list[Interval]
    samples: Array


def rate_results(
    names: Sequence[str], meetings: Meetings, rules: Rules, anchor: int
) -> list[Interval]:
    """The ratings of these agents, as in `rate`."""
    return rate(len(names), meetings, rules, anchor).agents


def rate(num_agents: int, meetings: Meetings, rules: Rules, anchor: int) -> Ratings:
    """Ratings with bootstrap intervals over pairs.

    Each meeting is given one virtual pair, shared as equals would, so that an unbroken row of wins
    has a finite rating. Resamples draw whole pairs, the same ones for all meetings (they were dealt
    the same tiles), and the virtual pair like any other.

    Args:
        num_agents: Agents are numbered from 0.
        meetings: Who met whom, and what came of it. They may have different pairs.
        rules: What was played.
        anchor: The agent whose rating is 0.
    """
    num_sides = rules.num_sides
    tied = _tied(num_agents, [who for who, _ in meetings], anchor)
    used = [(who, matches) for who, matches in meetings if who[0] in tied]
    found = np.zeros((NUM_RESAMPLES + 1, num_agents + num_sides))
    found[:, sorted(set(range(num_agents)) - tied)] = np.nan
    if used:
        design = np.concatenate([_design(num_agents, who, one.sides) for who, one in used])
        free = [agent for agent in sorted(tied) if agent != anchor]
        free += range(num_agents, num_agents + num_sides - 1)
        wins = _samples([(matches.pairs, place_shares(matches, rules)) for _, matches in used])
        found[:, free] = ELO * fit(design[:, :, free], wins)
        found[:, num_agents:] -= found[:, num_agents:].mean(axis=1, keepdims=True)
    agents, places = found[:, :num_agents], found[:, num_agents:]
    return Ratings(intervals(agents), intervals(places), agents)


def intervals(samples: Array) -> list[Interval]:
    """Values as found, the first row, between quantiles of their resamples, the others: [R, A]."""
    tail = (1 - CONFIDENCE) / 2
    bounds = np.quantile(samples[1:], [tail, 1 - tail], axis=0)
    return [Interval(*map(float, row)) for row in np.stack([samples[0], *bounds], axis=1)]


def fit(design: Array, wins: Array) -> Array:
    """Strengths of greatest likelihood for each of R samples: float64 [R, F].

    Args:
        design: What each side (D) of each table (T) takes of each strength: float64 [T, D, F].
        wins: Of each side of each table, [R, T, D]; fractions count as they are. The first sample
            is solved to the last digit, and the others, resamples of it, from there.
    """
    first = _newton(design, wins[:1], np.zeros((1, design.shape[2])), _SMALLEST_STEP)
    if len(wins) == 1:
        return first
    start = np.repeat(first, len(wins) - 1, axis=0)
    rest = _newton(design, wins[1:], start, _SMALLEST_RESAMPLED)
    return np.concatenate([first, rest])


def _newton(design: Array, wins: Array, start: Array, smallest: float) -> Array:
    num_tables, num_sides, num_free = design.shape
    flat = design.reshape(num_tables * num_sides, num_free)
    products = (flat[:, :, None] * flat[:, None, :]).reshape(len(flat), num_free**2)
    games = wins.sum(axis=2, keepdims=True)
    free = start
    for _ in range(_MOST_STEPS):
        odds = np.exp(free @ flat.T).reshape(wins.shape)
        chance = odds / odds.sum(axis=2, keepdims=True)
        expected = (games * chance).reshape(len(wins), -1)
        slope = (wins.reshape(expected.shape) - expected) @ flat
        mean = np.matmul(chance.transpose(1, 0, 2), design).transpose(1, 0, 2)
        bend = (expected @ products).reshape(-1, num_free, num_free)
        bend -= np.matmul((games * mean).transpose(0, 2, 1), mean)
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        free = free + np.clip(step, -_BIGGEST_STEP, _BIGGEST_STEP)
        if np.max(np.abs(step), initial=0) < smallest:
            break
    return free


def _samples(played: Sequence[tuple[Array, Array]]) -> Array:
    """Wins [R, T, D], the virtual pair included: as they were, and then resampled.

    Args:
        played: Numbers [N] and shares [N, M, D] of the pairs of each meeting.
    """
    numbers = np.unique(np.concatenate([pairs for pairs, _ in played]))
    tables = []
    for pairs, shares in played:
        of_all = np.zeros((len(numbers), *shares.shape[1:]))
        of_all[np.searchsorted(numbers, pairs)] = shares
        tables.append(of_all)
    every = np.concatenate(tables, axis=1)
    counts = _draws(len(numbers))
    virtual = np.maximum(counts[:, -1], _LEAST_VIRTUAL) / every.shape[2]
    wins = counts[:, :-1] @ every.reshape(len(numbers), -1)
    return np.asarray(wins.reshape(-1, *every.shape[1:]) + virtual[:, None, None])


def _draws(num_pairs: int) -> Array:
    """How often each pair counts, the virtual one last: float64 [R, N + 1], the first row ones."""
    rng = np.random.default_rng(0)
    counts = np.ones((NUM_RESAMPLES + 1, num_pairs + 1))
    for row in counts[1:]:
        drawn = rng.integers(num_pairs + 1, size=num_pairs + 1)
        row[:] = np.bincount(drawn, minlength=num_pairs + 1)
    return counts


def _design(num_agents: int, who: Sequence[int], seated: Array) -> Array:
    """A one for the agent of each side, and one for its place: float64 [M, D, A + D]."""
    num_sides = seated.shape[1]
    agents = np.eye(num_agents)[np.array(who)[seated]]
    turn = np.broadcast_to(np.eye(num_sides), (len(seated), num_sides, num_sides))
    return np.concatenate([agents, turn], axis=2)


def _tied(num_agents: int, met: Sequence[Sequence[int]], anchor: int) -> set[int]:
    """The agents whom a chain of meetings ties to the anchor."""
    edges = [(who[0], other) for who in met for other in who]
    rows, columns = np.array(edges, int).reshape(-1, 2).T
    shape = (num_agents, num_agents)
    _, parts = connected_components(coo_array((np.ones(len(edges)), (rows, columns)), shape))
    return set(np.flatnonzero(parts == parts[anchor]).tolist())
