"""What a searched line is worth to the side that searches: points, or the chance to win the match.

Values are whole numbers and belong to a side, the `side` of the GOAL; nothing here knows whose turn
it is. ``points`` are those of engine/rewards.py, times the number of other sides: the side's gain
since the root, less the mean gain of the others, and `WIN` points for a match won. ``equity`` is
the probability to win the match, in billionths, with the points as a tie-break.
"""

import numpy as np

from fives_env.engine.deal import next_leader
from fives_env.engine.scoring import side_of
from fives_env.jit import jit_inline, jit_part

VALUES = ("points", "equity")
POINTS, EQUITY = range(2)
WIN = 10
"""Points that winning the match is worth beside those that were scored, and losing it costs."""
CERTAIN = 1_000_000_000
"""The equity of a match that is won."""

GOAL = np.dtype(
    [
        ("kind", "i8"),
        ("side", "i8"),  # whose value it is
        ("low", "i8"),  # the least score in the equity table
        ("scores", "i8", (4,)),  # at the root, by side
    ]
)
NO_TABLE = np.zeros((2, 1, 1), np.float32)
NO_TABLE.flags.writeable = False  # like the tables, so that nothing is compiled twice


@jit_part
def set_goal(goal, params, public, kind, low):
    """The goal of the seat to move in `public`."""
    goal.kind = kind
    goal.side = side_of(params, public.seat)
    goal.low = low
    for side in range(4):
        goal.scores[side] = public.scores[side]


@jit_inline
def worth(params, game, goal, table):
    """What `game`, whose round or match has just ended, is worth: int64."""
    others = np.int64(params.num_sides) - 1
    points = np.int64(0)
    for side in range(others + 1):
        gain = np.int64(game.scores[side]) - goal.scores[side]
        points += gain * others if side == goal.side else -gain
    if goal.kind == EQUITY:
        return _equity(params, game, goal, table) + points
    if game.match_over and game.winner >= 0:
        points += WIN * others if game.winner == goal.side else -WIN
    return points


@jit_part
def _equity(params, game, goal, table):
    """The chance that the side wins the match, in billionths; two sides."""
    if game.match_over:
        if game.winner < 0:
            return CERTAIN // 2
        return CERTAIN if game.winner == goal.side else 0
    last = table.shape[1] - 1
    own = min(max(game.scores[goal.side] - goal.low, 0), last)
    other = min(max(game.scores[1 - goal.side] - goal.low, 0), last)
    leader = next_leader(params, game)
    if leader >= 0:
        leads = np.int64(side_of(params, leader) == goal.side)
        chance = np.float64(table[leads, own, other])
    else:
        chance = (np.float64(table[0, own, other]) + np.float64(table[1, own, other])) / 2
    return np.int64(chance * CERTAIN)


def value_kind(value: str) -> int:
    """What compiled code knows the value called `value` by.

    Raises:
        ValueError: There is no such value.
    """
    if value not in VALUES:
        raise ValueError(f"value={value!r} is not one of {', '.join(VALUES)}")
    return VALUES.index(value)
