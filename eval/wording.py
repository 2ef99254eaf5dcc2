"""Numbers as text, with as many digits as they are worth."""

import numpy as np

from eval.stats.intervals import Interval


def elo(rating: Interval) -> str:
    """Elo points, with their interval."""
    return f"{rating.value:+.0f} {span(rating, '{:+.0f}')}"


def span(interval: Interval, form: str) -> str:
    """An interval, its ends in this form."""
    return f"[{form.format(interval.low)}, {form.format(interval.high)}]"


def share(found: Interval) -> str:
    """A share, with its interval."""
    return f"{found.value:.1%} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def rate(found: Interval, as_share: bool) -> str:
    """A rate with half its interval; "" where there is none."""
    if np.isnan(found.value):
        return ""
    half = found.high - found.value
    return (
        f"{found.value:.1%} ± {100 * half:.1f}" if as_share else f"{found.value:.2f} ± {half:.2f}"
    )


def percent(share: float) -> str:
    """A share; near 0 and 1 with a digit more."""
    return f"{share:.0%}" if 0.095 < share < 0.905 else f"{share:.1%}"


def seconds(taken: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if taken >= size:
            return f"{taken / size:.3g} {unit}"
    return f"{taken * 1e9:.3g} ns"
