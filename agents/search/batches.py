"""What `act` of every search agent does around its compiled loop over the rows."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .goals import NO_TABLE, POINTS

Array = npt.NDArray[Any]


def choose_in_batches(
    views: Array, keys: Array, kind: int, choose: Callable[[Any, Array, Any, Array], int]
) -> Array:
    """The actions int64 [B] of a compiled search, which is called once for each set of rules.

    Args:
        views: VIEW [B].
        keys: uint64 [B].
        kind: What the search goes for (goals.py).
        choose: Takes views, keys, (equity table, its least score) and the
            actions to fill; returns the first row that agrees with no deal, or -1.

    Raises:
        ValueError: There is no equity table for the rules of some row, or a view agrees with no
            deal.
    """
    views = np.ascontiguousarray(views)
    keys = np.ascontiguousarray(keys, np.uint64)
    actions = np.empty(len(views), np.int64)
    for rows, table in _by_rules(views, kind):
        part = views[rows]
        chosen = np.empty(len(rows), np.int64)
        row = choose(part, keys[rows], table, chosen)
        if row >= 0:
            raise ValueError(f"views[{rows[row]}] agrees with no deal of its set")
        actions[rows] = chosen
    return actions


def _by_rules(views: Array, kind: int) -> Iterator[tuple[Array, tuple[Array, int]]]:
    """Rows of `views` with the (equity table, its least score) of their rules; all for points."""
    rows = np.arange(len(views))
    if kind == POINTS and len(views):
        yield rows, (NO_TABLE, 0)
        return
    from ..equity.tables import load  # only who plays for equity needs the tables

    while len(rows):
        rules = views["rules"][rows]
        equity = load(rules[:1])
        alike = rules == rules[0]
        yield rows[alike], (equity.values, equity.low)
        rows = rows[~alike]


def at_least_one(name: str, number: object) -> int:
    """`number` if it is a whole number from 1 up.

    Raises:
        ValueError: It is not.
    """
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"{name}={number!r} is not a whole number from 1 up")
    return number
