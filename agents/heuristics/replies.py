"""What the seat that moves next may answer, averaged over the tiles that it may hold."""

import numpy as np

from fives_env.engine.bits import lowest
from fives_env.engine.layout import fitting, joinable
from fives_env.engine.scoring import credited, side_of
from fives_env.engine.turns import drawable
from fives_env.jit import jit_part
from fives_env.tiles import NO_TILE, NUM_TILES, PIPS

from .holdings import BONEYARD

WIN = 1000.0
"""The worth of the match."""
POINTS_ALONE = np.zeros(0)
"""The empty table of progress."""
REPLY = np.dtype([("worth", "f8"), ("chance", "f8"), ("tile", "i8"), ("action", "i8")], align=True)
"""A possible reply: what it is worth to its side, and how likely it is."""
_PIPS = PIPS.astype(np.int64)


@jit_part
def worth_of(rules, game, side, points, progress):
    """What `points` bring `side`: by the table of progress (see tactic.py), and `WIN` if they win.

    With an empty table points are points, wherever the target is.
    """
    if not game.target_on or len(progress) == 0:
        return np.float64(points)
    missing = np.int64(rules.target) - game.scores[side]
    if points >= missing and not rules.check_at_round_end:
        return WIN
    return distance(missing, progress) - distance(missing - points, progress)


@jit_part
def distance(missing, progress):
    """How far the target is; from the end of the table on, point for point."""
    last = len(progress) - 1
    if missing > last:
        return progress[last] + (missing - last)
    return progress[max(missing, 0)]


@jit_part
def write_replies(rules, game, chances, progress, replies):
    """Lists the replies of the seat to move in the order in which it would choose them.

    It takes the placement worth most of those that its tiles allow, then the heavier tile. The
    chance of a reply is that the seat holds this tile and none before it; where it can draw, what
    is left of 1 falls to the fitting tiles of the boneyard.

    Args:
        rules: PARAMS.
        game: As `write_position` fills it, after a placement.
        chances: From `write_chances`.
        progress: The table of `worth_of`.
        replies: REPLY [28], filled.

    Returns:
        How many replies there are, and the chance that none is possible.
    """
    seat = np.int64(game.seat)
    count = _write_choices(rules, game, seat, chances, progress, replies)
    held = np.float64(game.hand_sizes[seat])
    left, missed = 1.0, 0.0
    for i in range(count):
        # Who lacks the tiles before this one holds each other the more likely.
        holds = chances[seat, replies[i].tile]
        replies[i].chance = left * min(1.0, holds * held / max(held - missed, 1e-9))
        left -= replies[i].chance
        missed += holds
    if left > 0 and drawable(rules, game) > 0:
        in_boneyard = 0.0
        for i in range(count):
            in_boneyard += chances[BONEYARD, replies[i].tile]
        if in_boneyard > 0:
            for i in range(count):
                replies[i].chance += left * chances[BONEYARD, replies[i].tile] / in_boneyard
            left = 0.0
    return count, left


@jit_part
def _write_choices(rules, game, seat, chances, progress, replies):
    """Each tile that the seat may hold or draw, on its best arm, the best tile first."""
    side = side_of(rules, seat)
    count = 0
    draws = drawable(rules, game) > 0
    fit = fitting(game)
    while fit:
        tile = lowest(fit)
        fit &= fit - 1
        if chances[seat, tile] == 0 and not (draws and chances[BONEYARD, tile] > 0):
            continue
        best, action = -1e9, -1
        for arm in range(4):
            if joinable(game, NO_TILE, 1 << tile, arm):
                points = credited(rules, game, seat, tile, arm)
                worth = worth_of(rules, game, side, points, progress) + _PIPS[tile] * 1e-3
                if worth > best:
                    best, action = worth, arm * NUM_TILES + tile
        at = count
        while at > 0 and replies[at - 1].worth < best:
            replies[at].tile = replies[at - 1].tile
            replies[at].worth = replies[at - 1].worth
            replies[at].action = replies[at - 1].action
            at -= 1
        replies[at].tile = tile
        replies[at].worth = best
        replies[at].action = action
        count += 1
    return count
