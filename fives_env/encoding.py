"""`encode`: views to feature vectors (engine/features.py documents the blocks)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.engine import loops
from fives_env.engine.features import NUM_FEATURES
from fives_env.records import VIEW


def encode(
    views: npt.NDArray[Any], out: npt.NDArray[np.float32] | None = None
) -> npt.NDArray[np.float32]:
    """The feature vectors of these views: float32 [B, F].

    Args:
        views: VIEW [B].
        out: Written to and returned, if given.

    Raises:
        ValueError: `views` is not an array of VIEW records.
    """
    if getattr(views, "dtype", None) != VIEW or views.ndim != 1:
        raise ValueError("encode takes the VIEW records [B] that Games.view returns")
    features = np.empty((len(views), NUM_FEATURES), np.float32) if out is None else out
    loops.encode(views, features)
    return features
