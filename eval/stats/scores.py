"""What finished matches say of agent a against b."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.matches import Matches
from eval.stats.intervals import ratio_interval, share_interval
from fives_env.rules import Rules

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Score:
    """Agent a against b, with 95 % intervals over pairs.

    Attributes:
        pairs: Streams of deals, each played in every seating.
        matches: All of them.
        even: The win rate of equals: 1/2 for two sides, 1/3 and 1/4 for three and four.
        win_rate: a's share of the matches (`match_shares`).
        low, high: Its interval.
        points_per_round: Points of a's side less the mean of the other sides', a round.
        points_low, points_high: Its interval; None where one pair was played.
        by_seat: a's share by the side that it was.
        by_place: a's share by its place in the turn order of the first round, the leader first.
        rounds_per_match: The mean.
        truncated: Matches that ended at `max_rounds`.
        distinct_deals: Different first deals.
        distinct_matches: Different courses of play.
    """

    pairs: int
    matches: int
    even: float
    win_rate: float
    low: float
    high: float
    points_per_round: float
    points_low: float | None
    points_high: float | None
    by_seat: list[float]
    by_place: list[float]
    rounds_per_match: float
    truncated: int
    distinct_deals: int
    distinct_matches: int


def score(matches: Matches, rules: Rules) -> Score:
    """The score of these matches."""
    shares = match_shares(matches, rules)
    wins = share_interval(shares.mean(axis=1))
    points = ratio_interval(leads(matches).sum(axis=1), matches.rounds.sum(axis=1))
    several = len(matches.pairs) > 1
    return Score(
        pairs=len(matches.pairs),
        matches=shares.size,
        even=1 / rules.num_sides,
        win_rate=wins.value,
        low=wins.low,
        high=wins.high,
        points_per_round=points.value,
        points_low=points.low if several else None,
        points_high=points.high if several else None,
        by_seat=[float(share) for share in shares.mean(axis=0)],
        by_place=[
            float(share) for share in np.mean(place_shares(matches, rules), axis=0).diagonal()
        ],
        rounds_per_match=float(matches.rounds.mean()),
        truncated=int(matches.truncated.sum()),
        distinct_deals=len(np.unique(matches.deals)),
        distinct_matches=len(np.unique(matches.lines)),
    )


def table_score(matches: Matches, rules: Rules) -> dict[str, Any]:
    """The score of a table of several different agents, one row an agent."""
    agents = []
    for agent in range(matches.num_agents):
        won = share_interval(agent_shares(matches, rules, agent).mean(axis=1))
        points = ratio_interval(leads(matches, agent).sum(axis=1), matches.rounds.sum(axis=1))
        several = len(matches.pairs) > 1
        agents.append(
            {
                "win_rate": won.value,
                "low": won.low,
                "high": won.high,
                "points_per_round": points.value,
                "points_low": points.low if several else None,
                "points_high": points.high if several else None,
            }
        )
    return {
        "pairs": len(matches.pairs),
        "matches": matches.winner.size,
        "even": 1 / rules.num_sides,
        "agents": agents,
        "rounds_per_match": float(matches.rounds.mean()),
        "truncated": int(matches.truncated.sum()),
        "distinct_deals": len(np.unique(matches.deals)),
        "distinct_matches": len(np.unique(matches.lines)),
    }


def side_shares(matches: Matches, rules: Rules) -> Array:
    """The share of each side in each match: float64 [N, M, D].

    1 for a win and 0 for a loss. A match without a winner is shared by all sides alike (half each,
    of two). A single round has no winner by the rules (D7); here most points win it, and those who
    tie share it.
    """
    won = matches.winner[:, :, None] == np.arange(rules.num_sides)
    shared: Array = np.full(won.shape, 1 / rules.num_sides)
    if rules.mode == "round":
        best = matches.scores == matches.scores.max(axis=2, keepdims=True)
        shared = best / best.sum(axis=2, keepdims=True)
    return np.where(matches.winner[:, :, None] < 0, shared, won)


def place_shares(matches: Matches, rules: Rules) -> Array:
    """The shares by place in the turn order of the first round: float64 [N, M, D].

    Place 0 is the side of the first leader. The seatings of a pair, which all have one leader, are
    put in such an order that `matches.sides[q, p]` is who has place p in row q.
    """
    shares, places = side_shares(matches, rules), np.arange(rules.num_sides)
    first = np.array([rules.side_of(seat) for seat in range(4)])[matches.leader[:, 0]]
    # Who has place p in row q is side `first + p` in the seating that is row q, shifted by `first`.
    shifted = np.stack([np.roll(matches.sides, place, axis=1) for place in places])
    seating = (shifted[:, :, None] == matches.sides).all(axis=3).argmax(axis=2)[first]
    side = (first[:, None] + places) % rules.num_sides
    rows = np.arange(len(shares))[:, None, None]
    by_place: Array = shares[rows, seating[:, :, None], side[:, None, :]]
    return by_place


def agent_shares(matches: Matches, rules: Rules, agent: int) -> Array:
    """The share of one agent of the meeting, over the sides that it has, in each match: [N, M]."""
    shares: Array = np.sum(side_shares(matches, rules) * (matches.sides == agent), axis=2)
    return shares


def match_shares(matches: Matches, rules: Rules) -> Array:
    """The share of agent a in each match: float64 [N, M]."""
    return agent_shares(matches, rules, 0)


def leads(matches: Matches, agent: int = 0) -> Array:
    """Points of one side of this agent less the mean of the others': float64 [N, M].

    Of an agent with several sides, the mean over them.
    """
    total, num_sides = matches.scores.sum(axis=2), matches.scores.shape[2]
    has = matches.sides == agent
    own = np.sum(matches.scores * has, axis=2) / has.sum(axis=1)
    return np.asarray((own * num_sides - total) / (num_sides - 1))
