"""A sequential test that stops a match-up as soon as it is decided, with stated error rates.

Wald's test (1945) of two hypotheses about the share that an agent wins, in the generalised form
that engine testers use: the likelihood of the pairs' shares, whatever their distribution, at each
of the two shares (Van den Bergh, Generalized Sequential Probability Ratio Hypotheses; fishtest's
pentanomial model). The unit is the pair, so luck that the seatings of a pair have in common does
not count twice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

Array = npt.NDArray[Any]
STEP = 10
"""Pairs between two looks at the results. Fixed, so that blocks and workers decide nothing."""
_LEAST = 1e-3
"""A weight for the extreme shares, as if seen: without it no bad start could be overcome."""


@dataclass(frozen=True)
class Hypotheses:
    """By how much agent a is stronger than b; below 0 where it is weaker.

    Attributes:
        low: The difference in Elo points of the first hypothesis: a is no better than this.
        high: That of the second: a is at least as good as this.
        alpha: The chance to accept the second if the first is true.
        beta: The chance to accept the first if the second is true.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Refuses what makes no test.

        Raises:
            ValueError: One of the numbers is out of range.
        """
        if not -1000 <= self.low < self.high <= 1000:
            raise ValueError(
                f"--sprt {self.low:g} {self.high:g}: give two differences in Elo points, the "
                "smaller first, as in --sprt 0 20"
            )
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < rate < 0.5:
                raise ValueError(f"--{name} {rate:g} is not a rate between 0 and 0.5")

    @property
    def if_high(self) -> str:
        """What a is, once the second hypothesis is accepted: the first is ruled out."""
        if self.low == 0:
            return "stronger"
        return f"{'stronger' if self.low > 0 else 'no worse'} than {self.low:+g} Elo"

    @property
    def if_low(self) -> str:
        """What a is, once the first hypothesis is accepted: the second is ruled out."""
        if self.high == 0:
            return "weaker"
        return f"{'not stronger' if self.high > 0 else 'weaker'} than {self.high:+g} Elo"

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which the test ends."""
        stop = np.log(self.beta / (1 - self.alpha)), np.log((1 - self.beta) / self.alpha)
        return float(stop[0]), float(stop[1])


@dataclass(frozen=True)
class Decision:
    """What the test says.

    Attributes:
        verdict: What agent a is by the hypothesis that was accepted (`Hypotheses.if_high`,
            `if_low`), or None while the test is open.
        pairs: How many pairs it took, or has seen.
        ratio: The log of the likelihood ratio, above 0 where the second hypothesis is likelier.
    """

    verdict: str | None
    pairs: int
    ratio: float


def decide(shares: Array, test: Hypotheses, even: float = 0.5) -> Decision:
    """The first point at which the pairs, in this order, decide the test.

    A pure function of the shares: how they were played, in blocks or by many workers, does not
    matter, and pairs beyond the decision change nothing.

    Args:
        shares: The mean share of agent a in each pair, in the order of the pairs' numbers, [N].
        test: The test.
        even: The share of equals: 1/2 of two sides, 1/3 and 1/4 of three and four.
    """
    low, high = test.bounds
    expected = share(test.low, even), share(test.high, even)
    values, kinds = np.unique(np.concatenate([shares, [0.0, 1.0]]), return_inverse=True)
    ratio, counts = 0.0, np.zeros(len(values))
    for seen in range(STEP, len(shares) + 1, STEP):
        counts += np.bincount(kinds[seen - STEP : seen], minlength=len(values))
        ratio = log_ratio(values, counts, *expected)
        if ratio >= high:
            return Decision(test.if_high, seen, ratio)
        if ratio <= low:
            return Decision(test.if_low, seen, ratio)
    return Decision(None, len(shares), ratio)


def share(elo: float, even: float = 0.5) -> float:
    """The share of the matches that an agent wins which is better by so many Elo points."""
    return float(1 / (1 + (1 / even - 1) * 10 ** (-elo / 400)))


def log_ratio(values: Array, counts: Array, first: float, second: float) -> float:
    """The log of the likelihood at the second mean share over that at the first.

    Each likelihood is the greatest that a distribution over the shares seen (and, barely, 0 and 1)
    has among those with that mean.

    Args:
        values: Shares, sorted, from 0 to 1.
        counts: How often each was seen.
        first: A mean share between 0 and 1.
        second: Another.
    """
    weights = counts + 0.0
    weights[[0, -1]] += _LEAST
    likelier = _tilt(values, weights, first) / _tilt(values, weights, second)
    return float(weights @ np.log(likelier))


def _tilt(values: Array, weights: Array, mean: float) -> Array:
    """What the likeliest distribution of this mean divides the observed frequencies by."""
    off = values - mean

    def excess(slope: float) -> float:
        return float(np.sum(weights * off / (1 + slope * off)))

    margin = 1e-9
    slope = brentq(excess, -1 / off[-1] + margin, -1 / off[0] - margin, xtol=1e-12)
    return np.asarray(1 + slope * off)
