"""Where the unseen tiles may be, and the position after a placement, as far as a view tells."""

import numpy as np

from fives_env.engine.belief import possible_tiles, unseen_tiles
from fives_env.engine.bits import lowest, popcount
from fives_env.engine.memory import copy_bytes, copy_game, copy_public
from fives_env.engine.turns import act, play_tile
from fives_env.jit import jit_part
from fives_env.records import GAME, PUBLIC_BYTES
from fives_env.tiles import NUM_TILES

BONEYARD = 4
"""The row of the undealt tiles in `chances`, behind those of the seats."""
NOTHING_TOLD = np.zeros((0, 28))
_FITS = 10
"""Rounds of fitting: the sums are then right to about 1 in 100."""
_MOVES = GAME.fields["moves"][1]  # type: ignore[index]
_DECK = GAME.fields["deck"][1]  # type: ignore[index]
"""The bytes of a game at which the moves begin and the deck does; the hands lie before it."""


@jit_part
def write_chances(view, told, chances):
    """Fills float64 [5, 28]: how likely each seat, and last the boneyard, holds each unseen tile.

    Each hand has its public size and holds no value its seat is known to lack. Of two seats this is
    exact; of more, the rows and columns of a table are fitted in turn to their sums (Deming and
    Stephan 1940). The viewer's own row stays 0. `told`, float64 [3, 28], are the weights of the
    other seats clockwise by what was played (inference/odds.py); [0, 28]: nothing is told.
    """
    chances[:] = 0
    players = np.int64(view.rules.num_players)
    unseen = unseen_tiles(view)
    for seat in range(players):
        if seat != view.viewer and view.hand_sizes[seat] > 0:
            tiles = possible_tiles(view, seat)
            share = view.hand_sizes[seat] / max(1, popcount(tiles))
            _fill(chances[seat], tiles, share)
    if len(told):
        for other in range(players - 1):
            chances[(np.int64(view.viewer) + 1 + other) % players] *= told[other]
    elif players == 2:
        left = unseen
        while left:
            tile = lowest(left)
            left &= left - 1
            chances[BONEYARD, tile] = 1 - chances[0, tile] - chances[1, tile]
        return
    _fill(chances[BONEYARD], unseen, view.boneyard / max(1, popcount(unseen)))
    for _ in range(_FITS):
        _fit(view, unseen, chances)


@jit_part
def _fill(row, tiles, share):
    while tiles:
        row[lowest(tiles)] = share
        tiles &= tiles - 1


@jit_part
def _fit(view, unseen, chances):
    """One round: every hand gets its size, then every tile is in one place."""
    for row in range(5):
        size = np.int64(view.boneyard) if row == BONEYARD else np.int64(view.hand_sizes[row])
        total = chances[row].sum()
        if total > 0:
            chances[row] *= size / total
    while unseen:
        tile = lowest(unseen)
        unseen &= unseen - 1
        total = 0.0
        for row in range(5):
            total += chances[row, tile]
        if total > 0:
            for row in range(5):
                chances[row, tile] /= total


@jit_part
def write_position(view, game):
    """Fills `game` with what the view tells, each other hand with all tiles that it may hold.

    Whatever the engine says of it is then what certainly holds: it is blocked if nobody can
    possibly place. What a round settles is not known, and must not be read.
    """
    copy_public(game, view)
    game.key = 0
    game.next_draw = 0
    game.lead_tile = view.lead_tile
    for seat in range(4):
        game.hands[seat] = 0
        if seat == view.viewer:
            game.hands[seat] = view.hand
        elif seat < view.rules.num_players and view.hand_sizes[seat] > 0:
            game.hands[seat] = possible_tiles(view, seat)


@jit_part
def play(rules, action, before, game):
    """Makes `game` the position `before` after this action."""
    copy_game(game, before)
    act(rules, game, action)


@jit_part
def play_tile_of(rules, seat, action, before, game):
    """Makes `game` the position `before` after a placement of `seat`, for less than `play`.

    The layout, hands and scores are right, and whether the tile went out or won; the moves are not
    copied, and neither the turn nor a blocked round is looked at.
    """
    copy_bytes(game, 0, before, 0, _MOVES)
    copy_bytes(game, PUBLIC_BYTES, before, PUBLIC_BYTES, _DECK - PUBLIC_BYTES)
    arm = action // NUM_TILES
    play_tile(rules, game, seat, action - arm * NUM_TILES, arm)
