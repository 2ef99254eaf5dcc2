"""`sample`: full games that agree with what a seat knows (engine/belief.py says how)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.engine import loops
from fives_env.engine.belief import KNOWN
from fives_env.records import GAME, VIEW
from fives_env.scripts import whole_numbers

Array = npt.NDArray[Any]


def sample(views: Array, keys: npt.ArrayLike, worlds: int) -> Array:
    """Draws full games that agree with each view, uniformly over the deals that do.

    A deal agrees if every hand has its public size, no seat holds a tile the viewer sees elsewhere,
    and no seat holds a value it is publicly known to lack (`absent`). The order of the boneyard is
    uniform too. Nothing but the view is read.

    Args:
        views: VIEW [B].
        keys: uint64 [B], one stream a row; equal keys give equal worlds.
        worlds: How many games a view, W.

    Returns:
        GAME [B, W]; from the viewer's seat each looks exactly like the view.

    Raises:
        ValueError: An argument is not of this form, or a view agrees with no deal.
    """
    if getattr(views, "dtype", None) != VIEW or views.ndim != 1:
        raise ValueError("views must be the VIEW records [B] that Games.view returns")
    views = np.ascontiguousarray(views)
    row_keys = whole_numbers("keys", keys)
    if row_keys.shape != views.shape:
        raise ValueError(
            f"keys have shape {row_keys.shape}; give one for each of {len(views)} views"
        )
    if isinstance(worlds, bool) or not isinstance(worlds, int | np.integer) or worlds < 1:
        raise ValueError(f"worlds={worlds!r} is not a whole number from 1 up")
    games: Array = np.zeros((len(views), int(worlds)), GAME)
    row = loops.sample_worlds(views, row_keys, np.empty(1, KNOWN), games)
    if row >= 0:
        raise ValueError(f"views[{row}] agrees with no deal of its set")
    return games
