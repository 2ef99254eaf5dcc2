"""The two built-in ways to choose an action, from what the seat to move may know and one key."""

import numpy as np

from fives_env.actions import DRAW, PASS
from fives_env.engine.bits import lowest, popcount
from fives_env.engine.keys import below, mix
from fives_env.engine.layout import joinable
from fives_env.engine.scoring import credited
from fives_env.engine.turns import may_draw
from fives_env.jit import jit_inline
from fives_env.tiles import NUM_TILES, PIPS

RANDOM, GREEDY = range(2)
BUILT_IN = ("random", "greedy")
"""Names of the compiled policies; the index is what compiled code knows them by."""

_PIPS = PIPS.astype(np.int64)


@jit_inline
def choose(kind, params, public, lead_tile, hand, key):
    """The action that built-in policy `kind` takes for the seat to move, which holds `hand`."""
    if kind == GREEDY:
        return choose_greedy(params, public, lead_tile, hand, key)
    return choose_random(params, public, lead_tile, hand, key)


@jit_inline
def choose_random(params, public, lead_tile, hand, key):
    """Every legal action is equally likely."""
    num_placements = 0
    for arm in range(4):
        num_placements += popcount(joinable(public, lead_tile, hand, arm))
    draws = may_draw(params, public, hand)
    if num_placements == 0:
        return DRAW if draws else PASS
    index = below(mix(key, 0), num_placements + draws)  # keys may be small numbers
    for arm in range(4):
        tiles = joinable(public, lead_tile, hand, arm)
        here = popcount(tiles)
        if index < here:
            for _ in range(index):
                tiles &= tiles - 1
            return arm * NUM_TILES + lowest(tiles)
        index -= here
    return DRAW


@jit_inline
def choose_greedy(params, public, lead_tile, hand, key):
    """Most points now; then the heavier tile; then by the key. Draws only where it must."""
    seat = np.int64(public.seat)
    best = -1
    best_tie = np.uint64(0)
    action = -1
    for arm in range(4):
        tiles = joinable(public, lead_tile, hand, arm)
        while tiles:
            tile = lowest(tiles)
            tiles &= tiles - 1
            worth = credited(params, public, seat, tile, arm) * 16 + _PIPS[tile]
            if worth >= best:
                tie = mix(key, arm * NUM_TILES + tile)
                if worth > best or tie > best_tie:
                    best = worth
                    best_tie = tie
                    action = arm * NUM_TILES + tile
    if action >= 0:
        return action
    return DRAW if may_draw(params, public, hand) else PASS
