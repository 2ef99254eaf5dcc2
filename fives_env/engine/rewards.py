"""What each seat is paid for the last action, whoever made it.

``outcome``: at the end of a match the winner's seats get +1, and the others share -1 (two sides -1,
three -1/2 each, four -1/3 each); 0 if it was truncated. ``points``: at each event a seat gets its
side's gain less the mean gain of the other sides; the points of a placement and the settlement of a
round are gains.
"""

import numpy as np

from fives_env.engine.scoring import side_of
from fives_env.jit import jit_part

OUTCOME, POINTS = range(2)
REWARDS = ("outcome", "points")
"""The names; the index is what compiled code knows them by."""


@jit_part
def add_rewards(params, game, kind, rewards):
    """Adds every seat's part in the last action to `rewards`: float64 [4]."""
    others = np.int64(params.num_sides) - 1
    if kind == OUTCOME:
        if game.match_over and game.winner >= 0:
            for seat in range(np.int64(params.num_players)):
                won = side_of(params, seat) == game.winner
                rewards[seat] += 1.0 if won else -1.0 / others
        return
    total = np.int64(game.points)
    for side in range(others + 1):
        total += game.settlement[side]
    for seat in range(np.int64(params.num_players)):
        side = side_of(params, seat)
        gain = np.int64(game.settlement[side])
        if side == side_of(params, game.mover):
            gain += game.points
        rewards[seat] += gain - (total - gain) / others


def reward_kind(reward: str) -> int:
    """What compiled code knows the reward called `reward` by.

    Raises:
        ValueError: There is no such reward.
    """
    if reward not in REWARDS:
        raise ValueError(f"reward={reward!r} is not one of {', '.join(REWARDS)}")
    return REWARDS.index(reward)
