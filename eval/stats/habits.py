"""How agents differ, whatever their strength: what they score, give away, knock and block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from eval.matches import Matches
from eval.stats.intervals import Interval, ratio_interval

Array = npt.NDArray[Any]
Told = Sequence[tuple[tuple[int, ...], Matches, Array]]
"""Who met, their matches, and the facts [N, M] of these (eval.tournament.replay)."""


class Habit(NamedTuple):
    """A rate of each agent, with 95 % intervals over pairs.

    Attributes:
        name: What it is.
        note: How it is counted.
        rates: One an agent; of one who did not play, NaN.
    """

    name: str
    note: str
    rates: list[Interval]

    @property
    def is_share(self) -> bool:
        """Whether it is a part of something, between 0 and 1."""
        return self.note.startswith("of ")


def _points(told: Array, num_sides: int) -> Array:
    both: Array = told["points"][..., :num_sides] + told["settled"][..., :num_sides]
    return both


def _given(told: Array, num_sides: int) -> Array:
    points = _points(told, num_sides)
    others: Array = (points.sum(axis=2, keepdims=True) - points) / (num_sides - 1)
    return others


def _own(field: str) -> Callable[[Array, int], Array]:
    return lambda told, num_sides: np.asarray(told[field][..., :num_sides])


def _of_match(field: str) -> Callable[[Array, int], Array]:
    return lambda told, num_sides: np.asarray(told[field][..., None])


_ROUND, _MATCH = _of_match("rounds"), lambda told, num_sides: np.ones((*told.shape, 1))
_KINDS: tuple[
    tuple[str, str, Callable[[Array, int], Array], Callable[[Array, int], Array]], ...
] = (
    ("points scored", "a round", _points, _ROUND),
    ("points given", "a round", _given, _ROUND),
    (
        "refused at the target",
        "a match, scores that overshot it",
        _own("refused"),
        _MATCH,
    ),
    ("went out", "of the rounds", _own("outs"), _ROUND),
    ("rounds blocked", "of the rounds", _of_match("blocked"), _ROUND),
    ("knocks", "a round", _own("knocks"), _ROUND),
    ("draws", "tiles a round", _own("draws"), _ROUND),
)


def habits(num_agents: int, told: Told) -> list[Habit]:
    """The habits of all agents; what nobody ever did is left out.

    Mirror matches are left out, as everything in them is given to oneself.

    Args:
        num_agents: Agents are numbered from 0.
        told: What was played, and what happened.
    """
    found = []
    for name, note, amount, size in _KINDS:
        rates = [_rate(_counts(agent, told, amount, size)) for agent in range(num_agents)]
        if any(rate.value for rate in rates):
            found.append(Habit(name, note, rates))
    return found


def _counts(
    agent: int, told: Told, amount: Callable[..., Array], size: Callable[..., Array]
) -> Iterator[tuple[Array, Array, Array]]:
    """Numbers, amounts and sizes of the pairs of one agent, meeting by meeting."""
    for who, matches, facts in told:
        if agent not in who or len(set(who)) < len(who):
            continue
        has = matches.sides == who.index(agent)
        num_sides = has.shape[1]
        amounts = np.sum(amount(facts, num_sides) * has, axis=(1, 2))
        yield matches.pairs, amounts, np.sum(size(facts, num_sides) * has, axis=(1, 2))


def _rate(counts: Iterator[tuple[Array, Array, Array]]) -> Interval:
    """All amounts over all sizes; pairs of one number were dealt the same and are one unit."""
    parts = list(counts)
    if not parts:
        return Interval(np.nan, np.nan, np.nan)
    pairs, amounts, sizes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    _, number = np.unique(pairs, return_inverse=True)
    return ratio_interval(np.bincount(number, amounts), np.bincount(number, sizes))
