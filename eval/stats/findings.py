"""Everything that a report says of a tournament, as a pure function of its stored results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.matches import Matches
from eval.stats import nash, ratings, seats
from eval.stats.habits import Habit, habits
from eval.stats.intervals import Interval
from eval.stats.nash import Between, Nash
from eval.stats.ratings import Meetings
from eval.stats.seats import Seats
from fives_env.rules import Rules

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Findings:
    """What a tournament found. Agents are in the order of their ratings, the best first.

    Attributes:
        rules: What was played.
        names: Of the agents (A).
        anchor: The agent whose rating is 0.
        num_pairs: Pairs of all meetings together.
        num_matches: Matches of all meetings together.
        ratings: Elo, one an agent.
        ahead: How far each but the last is ahead of the next, in Elo.
        places: What each place in the first round's turn order is worth, in Elo.
        between: How the wins divide between every two agents.
        nash: The Nash average; None where some have not met.
        cycles: Agents each of whom beats the next, shown by intervals that leave out 1/2.
        open_cycles: Cycles that the shares show, but the intervals do not.
        seats: What each seat and place won.
        habits: How the agents differ.
        margins: At the end of each match, an agent's points less the most that another side has.
        lengths: Rounds of each match of an agent.
        truncated: Matches that ended at `max_rounds`.
        distinct_deals: Different first deals.
    """

    rules: Rules
    names: list[str]
    anchor: str
    num_pairs: int
    num_matches: int
    ratings: list[Interval]
    ahead: list[Interval]
    places: list[Interval]
    between: Between
    nash: Nash | None
    cycles: list[tuple[int, ...]]
    open_cycles: list[tuple[int, ...]]
    seats: Seats
    habits: list[Habit]
    margins: list[Array]
    lengths: list[Array]
    truncated: int
    distinct_deals: int


def find(
    names: Sequence[str], meetings: Meetings, facts: Sequence[Array], rules: Rules, anchor: str
) -> Findings:
    """What these matches say.

    Args:
        names: Of the agents.
        meetings: Who met, by number, and their matches; at least one.
        facts: What happened in the matches of each meeting, [N, M] (eval.tournament.replay).
        rules: What was played.
        anchor: The name of the agent whose rating is 0.
    """
    rated = ratings.rate(len(names), meetings, rules, names.index(anchor))
    order = _order([rating.value for rating in rated.agents])
    place = np.argsort(order)
    met = [(tuple(int(place[agent]) for agent in who), matches) for who, matches in meetings]
    told = [(who, matches, one) for (who, matches), one in zip(met, facts, strict=True)]
    between = nash.between(len(names), met, rules)
    shown = nash.cycles(between.low > 0.5)
    return Findings(
        rules=rules,
        names=[names[agent] for agent in order],
        anchor=anchor,
        num_pairs=sum(len(matches.pairs) for _, matches in met),
        num_matches=sum(matches.winner.size for _, matches in met),
        ratings=[rated.agents[agent] for agent in order],
        ahead=ratings.intervals(-np.diff(rated.samples[:, order], axis=1)),
        places=rated.places,
        between=between,
        nash=None if np.isnan(between.share).any() else nash.nash(between.share),
        cycles=shown,
        open_cycles=[each for each in nash.cycles(between.share > 0.5) if each not in shown],
        seats=seats.seats(met, rules),
        habits=habits(len(names), told),
        margins=[_of_agent(agent, met, _margins) for agent in range(len(names))],
        lengths=[_of_agent(agent, met, _lengths) for agent in range(len(names))],
        truncated=sum(int(matches.truncated.sum()) for _, matches in met),
        distinct_deals=len(np.unique(np.concatenate([m.deals.ravel() for _, m in met]))),
    )


def _order(values: list[float]) -> list[int]:
    """The best first, those without a rating last."""
    worst_last = [-np.inf if np.isnan(value) else value for value in values]
    return sorted(range(len(values)), key=lambda agent: -worst_last[agent])


def _of_agent(agent: int, meetings: Meetings, values: Callable[[Matches], Array]) -> Array:
    """A value [N, M, D] of each match and side that the agent had, mirror matches left out."""
    found = [
        values(matches)[:, matches.sides == who.index(agent)].ravel()
        for who, matches in meetings
        if agent in who and len(set(who)) == len(who)
    ]
    return np.concatenate(found) if found else np.zeros(0)


def _margins(matches: Matches) -> Array:
    scores = matches.scores
    ranked = np.sort(scores, axis=2)
    best, second = ranked[..., -1:], ranked[..., -2:-1]
    return np.asarray(np.where(scores == best, scores - second, scores - best))


def _lengths(matches: Matches) -> Array:
    return np.broadcast_to(matches.rounds[:, :, None], matches.scores.shape)
