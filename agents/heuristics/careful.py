"""`careful`: points now, less the best reply of the seat that moves next."""

from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.actions import DRAW, PASS
from fives_env.engine.bits import lowest
from fives_env.engine.keys import mix
from fives_env.engine.layout import joinable
from fives_env.engine.scoring import side_of
from fives_env.engine.turns import may_draw
from fives_env.jit import jit, jit_part
from fives_env.records import GAME, NOT_OVER
from fives_env.tiles import NUM_TILES, PIPS

from .holdings import NOTHING_TOLD, play, write_chances, write_position
from .replies import POINTS_ALONE, REPLY, write_replies

Array = npt.NDArray[Any]
_PIPS = PIPS.astype(np.int64)


class Careful:
    """Points credited now, less what the seat that moves next is expected to score in return.

    That seat takes the placement that scores most among its tiles; which tiles it holds is averaged
    over all that the view leaves open, by `write_chances`. A reply of the partner counts for the
    side. With several other sides a reply costs a share of itself, as it harms this side only
    beside the others. Then the heavier tile, then by the key; it draws only where it must.
    """

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        """As `Policy.act`; the masks are not needed."""
        views = np.ascontiguousarray(views)
        actions = np.empty(len(views), np.int64)
        games = np.empty(2, GAME)
        _choose_all(views, np.ascontiguousarray(keys, np.uint64), games, actions)
        return actions

    def __repr__(self) -> str:
        """``Careful()``."""
        return "Careful()"


@jit
def _choose_all(views, keys, games, actions):
    chances = np.empty((5, NUM_TILES))
    replies = np.empty(NUM_TILES, REPLY)
    for row in range(len(views)):
        write_position(views[row], games[0])
        actions[row] = _choose(views[row], keys[row], games, chances, replies)


@jit_part
def _choose(view, key, games, chances, replies):
    """The best placement; games [2] hold the position and the one after a placement."""
    rules, hand = view.rules, view.hand
    ready = False
    best, best_tie, action = -np.inf, np.uint64(0), -1
    for arm in range(4):
        tiles = joinable(view, view.lead_tile, hand, arm)
        while tiles:
            tile = lowest(tiles)
            tiles &= tiles - 1
            if not ready:
                write_chances(view, NOTHING_TOLD, chances)
                ready = True
            play(rules, arm * NUM_TILES + tile, games[0], games[1])
            worth = games[1].points + _PIPS[tile] * 1e-6
            worth += _expected_reply(rules, view.seat, games[1], chances, replies)
            tie = mix(key, arm * NUM_TILES + tile)
            if worth > best + 1e-9 or (worth > best - 1e-9 and tie > best_tie):
                best, best_tie, action = worth, tie, arm * NUM_TILES + tile
    if action >= 0:
        return action
    return DRAW if may_draw(rules, view, hand) else PASS


@jit_part
def _expected_reply(rules, seat, game, chances, replies):
    """What the next placement is expected to bring the side of `seat`, below 0 if another's."""
    if game.round_over != NOT_OVER or game.match_over or game.seat == seat:
        return 0.0
    count, _ = write_replies(rules, game, chances, POINTS_ALONE, replies)
    total = 0.0
    for i in range(count):
        total += replies[i].chance * replies[i].worth
    if side_of(rules, game.seat) == side_of(rules, seat):
        return total
    return -total / (np.float64(rules.num_sides) - 1)
