"""95 % intervals over pairs.

The unit is always the pair (one stream of deals, played in all seatings), never the match: the
matches of a pair share their deals and so are not independent.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

Array = npt.NDArray[Any]
CONFIDENCE = 0.95
_NOTHING = 1e-12


class Interval(NamedTuple):
    """An estimate and the interval around it."""

    value: float
    low: float
    high: float


def share_interval(shares: Array, sizes: Array | None = None) -> Interval:
    """The mean of shares between 0 and 1, with a Wilson interval for pairs.

    Wilson's interval, with the number of pairs replaced by the effective number that their spread
    shows (Korn and Graubard 1998), and Student's quantile in place of the normal one. It stays
    within [0, 1], is empty where all pairs ended alike (a mirror match), and does not take an
    unbroken row of wins, or of losses, for certainty.

    Args:
        shares: One share a pair, [N].
        sizes: What each pair's share is a share of, [N], if that is not 1 for all: the estimate is
            then all shares over all sizes, and the spread that of the ratio (linearised).
    """
    size, num_pairs = 1.0 if sizes is None else float(np.mean(sizes)), len(shares)
    mean = float(np.mean(shares)) / size if size else 0.5
    if num_pairs < 2 or not size:
        return Interval(mean, 0.0, 1.0)
    off = shares / size - mean * (1.0 if sizes is None else sizes / size)
    if np.ptp(off) < _NOTHING and 0 < mean < 1:
        return Interval(mean, mean, mean)
    spread = float(np.var(off, ddof=1))
    of_one_match = mean * (1 - mean)
    effective = num_pairs * of_one_match / spread if of_one_match else float(num_pairs)
    quantile = _quantile(num_pairs)
    shrink = 1 + quantile**2 / effective
    middle = (mean + quantile**2 / (2 * effective)) / shrink
    half = quantile / shrink * np.sqrt(of_one_match / effective + (quantile / effective) ** 2 / 4)
    return Interval(mean, max(0.0, float(middle - half)), min(1.0, float(middle + half)))


def ratio_interval(amounts: Array, sizes: Array) -> Interval:
    """A rate, all amounts over all sizes, with Student's interval for a ratio (linearised).

    Long matches weigh as much as they are long; the mean of each pair's own rate would count
    a round of a short match for more than one of a long match.

    Args:
        amounts: Of each pair, [N]: points, say.
        sizes: Of each pair, [N], above 0: rounds, say.

    Returns:
        The rate and its interval; of one pair alone an interval without bounds.
    """
    rate, num_pairs = float(np.sum(amounts) / np.sum(sizes)), len(amounts)
    if num_pairs < 2:
        return Interval(rate, -np.inf, np.inf)
    left_over = amounts - rate * sizes
    error = np.sqrt(num_pairs / (num_pairs - 1) * np.sum(left_over**2)) / np.sum(sizes)
    half = _quantile(num_pairs) * float(error)
    return Interval(rate, rate - half, rate + half)


def _quantile(num_pairs: int) -> float:
    return float(stdtrit(num_pairs - 1, (1 + CONFIDENCE) / 2))
