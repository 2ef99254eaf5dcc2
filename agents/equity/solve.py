"""The probability to win a match, as the fixed point of one round."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
CLOSE_ENOUGH = 1e-9
"""The iteration stops where no probability moves by more."""


def fixed_point(chances: Callable[[Array], Array], size: int) -> Array:
    """What `chances`, one round on, leaves as it is: float64 [size].

    A round may score nothing and lead back to where it began, so this is iterated, from even
    chances. Where no measured round leads to a win at last, they stay even.
    """
    values = np.full(size, 0.5)
    while True:
        after = chances(values)
        if np.max(np.abs(after - values)) < CLOSE_ENOUGH:
            return np.clip(after, 0, 1)
        values = after
