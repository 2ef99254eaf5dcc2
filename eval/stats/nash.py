"""Who beats whom: the shares between every two agents, cycles among them, and a Nash average.

A rating is one number an agent and cannot show that rock beats scissors. The Nash average can
(Balduzzi, Tuyls, Perolat and Graepel 2018, Re-evaluating Evaluation): the mixture of agents that no
agent beats is unique once the one of greatest entropy is taken, does not change when an agent is
entered twice, and gives weight to those alone who matter.
"""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import null_space
from scipy.optimize import linprog, minimize
from scipy.sparse.csgraph import shortest_path

from eval.stats.intervals import Interval, share_interval
from eval.stats.ratings import Meetings
from eval.stats.scores import side_shares
from fives_env.rules import Rules

Array = npt.NDArray[Any]
_NOTHING = 1e-7


class Between(NamedTuple):
    """How the wins divide between every two of A agents: [i, j] is i's part of what i and j won.

    Of two sides that is the share of their matches. At a table of several sides each agent's wins
    are counted for each side that it has, so equals always divide them half and half.

    Attributes:
        share: float64 [A, A]; 1/2 on the diagonal, NaN where two have not met.
        low: The lower end of the 95 % interval over pairs, float64 [A, A].
        high: The upper end.
    """

    share: Array
    low: Array
    high: Array


class Nash(NamedTuple):
    """The Nash average of A agents.

    Attributes:
        weights: Of each in the mixture that nobody beats, adding up to 1: float64 [A].
        shares: What each wins of its matches with that mixture, at most 1/2: float64 [A].
    """

    weights: Array
    shares: Array


def between(num_agents: int, meetings: Meetings, rules: Rules) -> Between:
    """How the wins divide between every two agents, with intervals over pairs."""
    found = [np.full((num_agents, num_agents), np.nan) for _ in range(3)]
    for values in found:
        np.fill_diagonal(values, 0.5)
    for first, second, won, shared in _divided(meetings, rules):
        interval = share_interval(won, shared)
        mirrored = Interval(1 - interval.value, 1 - interval.high, 1 - interval.low)
        for values, one, other in zip(found, interval, mirrored, strict=True):
            values[first, second], values[second, first] = one, other
    return Between(*found)


def cycles(better: Array) -> list[tuple[int, ...]]:
    """The shortest cycles: for every i that is better than j, the shortest way back from j to i.

    Args:
        better: Whether i beats j, bool [A, A].

    Returns:
        Cycles of agents, each of which beats the next and the last of which beats the first; every
        cycle once, the least agent first, short ones before long ones.
    """
    steps = np.ascontiguousarray(better, dtype=float)
    distance, before = shortest_path(steps, unweighted=True, return_predecessors=True)
    found = set()
    for first, second in zip(*np.nonzero(better), strict=True):
        if first == second or not np.isfinite(distance[second, first]):
            continue
        way = [int(first)]
        while way[-1] != second:
            way.append(int(before[second, way[-1]]))
        way = way[::-1]
        least = way.index(min(way))
        found.add(tuple(way[least:] + way[:least]))
    return sorted(found, key=lambda cycle: (len(cycle), cycle))


def nash(share: Array) -> Nash:
    """The mixture of greatest entropy among those that no agent beats.

    Args:
        share: What i wins against j, [A, A]; share[i, j] + share[j, i] is 1.

    Raises:
        ValueError: Two agents have not met, or the shares of two do not add up to 1.
    """
    if not np.allclose(share + share.T, 1):
        raise ValueError("the shares of every two agents must be there and add up to 1")
    gain = share - 0.5
    corners = _corners(gain)
    inner = corners.mean(axis=0)
    weights = inner if np.ptp(corners, axis=0).max() < _NOTHING else _greatest_entropy(gain, inner)
    weights = np.where(weights < _NOTHING, 0.0, weights)
    weights /= weights.sum()
    return Nash(weights, 0.5 + gain @ weights)


def _corners(gain: Array) -> Array:
    """For each agent the unbeaten mixture with most of that agent, [A, A]; their mean is inside."""
    size = len(gain)
    fixed = {"A_ub": gain, "b_ub": np.zeros(size), "A_eq": np.ones((1, size)), "b_eq": [1.0]}
    solved = [linprog(-np.eye(size)[agent], bounds=(0, 1), **fixed) for agent in range(size)]
    if not all(one.success for one in solved):
        raise ValueError(f"no Nash average was found: {solved[0].message}")
    return np.asarray(np.clip([one.x for one in solved], 0, 1))


def _greatest_entropy(gain: Array, inner: Array) -> Array:
    """The mixture of greatest entropy, starting from one that has everybody who is in any."""
    there = inner > _NOTHING
    # Those who are in some unbeaten mixture draw with all of them, so only directions that keep
    # these equalities are left.
    kept = np.vstack([gain[np.ix_(there, there)], np.ones(there.sum())])
    ways = null_space(kept, rcond=_NOTHING)
    start, others = inner[there], gain[np.ix_(~there, there)]

    def mixed(along: Array) -> Array:
        return np.asarray(np.maximum(start + ways @ along, 1e-12))

    found = minimize(
        lambda along: float(mixed(along) @ np.log(mixed(along))),
        np.zeros(ways.shape[1]),
        jac=lambda along: ways.T @ (np.log(mixed(along)) + 1),
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda along: start + ways @ along},
            {"type": "ineq", "fun": lambda along: -others @ (start + ways @ along)},
        ],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    weights = np.zeros(len(gain))
    weights[there] = mixed(found.x)
    return weights


def _divided(meetings: Meetings, rules: Rules) -> Iterator[tuple[int, int, Array, Array]]:
    """For every two who met: their numbers, the first's wins in each pair, and both's wins."""
    parts: dict[tuple[int, int], list[Array]] = {}
    for who, matches in meetings:
        shares = side_shares(matches, rules)
        won = [_per_side(shares, matches.sides == agent) for agent in range(len(who))]
        for one, other in itertools.permutations(range(len(who)), 2):
            if who[one] < who[other]:
                rows = np.stack([matches.pairs, won[one], won[one] + won[other]])
                parts.setdefault((who[one], who[other]), []).append(rows)
    for (first, second), met in parts.items():
        pairs, own, both = np.concatenate(met, axis=1)
        _, number = np.unique(pairs, return_inverse=True)
        yield first, second, np.bincount(number, own), np.bincount(number, both)


def _per_side(shares: Array, has: Array) -> Array:
    """What an agent won in each pair for each side that it has: [N]."""
    return np.asarray(np.sum(shares * has, axis=(1, 2)) / has.sum())
