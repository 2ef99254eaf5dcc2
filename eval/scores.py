"""What finished matches say of agent a against b."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.arena import Matches
from eval.intervals import ratio_interval, share_interval
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
        rounds_per_match=float(matches.rounds.mean()),
        truncated=int(matches.truncated.sum()),
        distinct_deals=len(np.unique(matches.deals)),
        distinct_matches=len(np.unique(matches.lines)),
    )


def match_shares(matches: Matches, rules: Rules) -> Array:
    """The share of agent a in each match: float64 [N, M].

    1 for a win and 0 for a loss. A match without a winner is shared by all sides alike (half each,
    of two). A single round has no winner by the rules (D7); here most points win it, and those who
    tie share it.
    """
    own = np.arange(matches.scores.shape[1])
    if rules.mode == "round":
        best = matches.scores == matches.scores.max(axis=2, keepdims=True)
        by_points: Array = (best / best.sum(axis=2, keepdims=True))[:, own, own]
        return np.where(matches.winner < 0, by_points, matches.winner == own)
    return np.where(matches.winner < 0, 1 / rules.num_sides, matches.winner == own)


def leads(matches: Matches) -> Array:
    """Points of a's side less the mean of the others': float64 [N, M]."""
    side = np.arange(matches.scores.shape[1])
    own = matches.scores[:, side, side]
    others: Array = (matches.scores.sum(axis=2) - own) / (matches.scores.shape[2] - 1)
    return own - others
