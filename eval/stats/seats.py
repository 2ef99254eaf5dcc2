"""What a seat and the first lead are worth, whoever plays.

Every agent of a meeting takes every seat of the same deals, so the strength of agents cancels, and
what is left between seats is the luck of these deals, and between places in the turn order what
the place is worth. The unit is the pair: all meetings with the same number were dealt the same
tiles.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from eval.stats.intervals import Interval, share_interval
from eval.stats.ratings import Meetings
from eval.stats.scores import place_shares, side_shares
from fives_env.rules import Rules

Array = npt.NDArray[Any]


class Seats(NamedTuple):
    """Shares of the matches, with 95 % intervals over pairs.

    Attributes:
        by_side: Of each side; a fair deal gives each the same.
        by_place: Of each place in the turn order of the first round, the leader's first.
    """

    by_side: list[Interval]
    by_place: list[Interval]


def seats(meetings: Meetings, rules: Rules) -> Seats:
    """What each side and each place in the turn order won, over all these meetings."""
    by_side = [side_shares(matches, rules) for _, matches in meetings]
    by_place = [place_shares(matches, rules) for _, matches in meetings]
    pairs = np.concatenate([matches.pairs for _, matches in meetings])
    return Seats(_intervals(pairs, by_side), _intervals(pairs, by_place))


def _intervals(pairs: Array, shares: list[Array]) -> list[Interval]:
    """The mean of each column of shares [N, M, D] over meetings, their pairs taken together."""
    means = np.concatenate([one.mean(axis=1) for one in shares])
    _, number = np.unique(pairs, return_inverse=True)
    met = np.bincount(number)
    return [share_interval(np.bincount(number, column), met) for column in means.T]
