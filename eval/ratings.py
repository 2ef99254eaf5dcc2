"""Bradley-Terry ratings on the Elo scale, from the shares that pairings ended with.

An agent's strength is one number; the log-odds that a beats one b are the difference of theirs.
Where a faces several b at one table, the winner is one among all present (Plackett-Luce), so their
number comes off the log-odds. Ratings are a pure function of the shares: the order of agents and
of games does not matter.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.intervals import CONFIDENCE, Interval

Array = npt.NDArray[Any]
ELO = 400 / np.log(10)
"""Elo points of one unit of log-odds."""

NUM_RESAMPLES = 1000
_LEAST_VIRTUAL = 0.1
_BIGGEST_STEP = 2.0
_SMALLEST_STEP = 1e-9
_MOST_STEPS = 100


def rate(
    num_agents: int,
    pairings: Sequence[tuple[int, int]],
    shares: Array,
    anchor: int,
    num_others: int = 1,
) -> list[Interval]:
    """Ratings with bootstrap intervals over pairs.

    Each pairing is given one virtual pair, shared as equals would, so that an unbroken row of wins
    has a finite rating. Resamples draw whole pairs, the same ones for all pairings (they were dealt
    the same tiles), and the virtual pair like any other.

    Args:
        num_agents: Agents are numbered from 0.
        pairings: Who met whom (P of them). A mirror match tells nothing and counts for nothing.
        shares: The first agent's share, [N, P].
        anchor: The agent whose rating is 0.
        num_others: How many of the second agent sat (in partnerships) against one of the first.

    Returns:
        One rating an agent.
    """
    met = [column for column, (a, b) in enumerate(pairings) if a != b]
    design = _design(num_agents, [pairings[column] for column in met], anchor)
    games, wins = _samples(shares[:, met], 1 / (1 + num_others))
    free = ELO * fit(design, wins, games, num_others)
    tail = (1 - CONFIDENCE) / 2
    bounds = np.quantile(free[1:], [tail, 1 - tail], axis=0)
    columns = (np.insert(values, anchor, 0.0) for values in (free[0], *bounds))
    return [Interval(*map(float, row)) for row in zip(*columns, strict=True)]


def fit(design: Array, wins: Array, games: Array, num_others: int) -> Array:
    """Strengths of greatest likelihood for each of R samples, by Newton's method: float64 [R, A].

    Args:
        design: What each meeting (P) takes of each strength (A): 1 for the first agent, -1 for the
            second, float64 [P, A]; the anchor, whose strength is 0, has no column.
        wins: Of the first agent, [R, P]; more than 0 and less than `games`.
        games: Of each meeting, [R].
        num_others: As for `rate`.
    """
    free = np.zeros((len(wins), design.shape[1]))
    for _ in range(_MOST_STEPS):
        chance = 1 / (1 + num_others * np.exp(-free @ design.T))
        slope = (wins - games[:, None] * chance) @ design
        weight = games[:, None] * chance * (1 - chance)
        bend = np.matmul(design.T * weight[:, None, :], design)
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        free += np.clip(step, -_BIGGEST_STEP, _BIGGEST_STEP)
        if np.max(np.abs(step), initial=0) < _SMALLEST_STEP:
            break
    return free


def _samples(shares: Array, even: float) -> tuple[Array, Array]:
    """Games [R] and wins [R, P], the virtual pair included: as they were, and then resampled."""
    num_pairs = len(shares)
    rng = np.random.default_rng(0)
    counts: Array = np.ones(num_pairs + 1)
    games, wins = [], []
    for _ in range(NUM_RESAMPLES + 1):
        virtual = max(float(counts[-1]), _LEAST_VIRTUAL)
        games.append(counts[:-1].sum() + virtual)
        wins.append(counts[:-1] @ shares + virtual * even)
        drawn = rng.integers(num_pairs + 1, size=num_pairs + 1)
        counts = np.bincount(drawn, minlength=num_pairs + 1)
    return np.array(games), np.array(wins)


def _design(num_agents: int, meetings: Sequence[tuple[int, int]], anchor: int) -> Array:
    design = np.zeros((len(meetings), num_agents))
    for row, (first, second) in zip(design, meetings, strict=True):
        row[first], row[second] = 1, -1
    return np.delete(design, anchor, axis=1)
