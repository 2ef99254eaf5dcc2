"""Dealing a round: a pure function of the match's key and the round (C1, F1, T1, A1; who leads)."""

import numpy as np

from fives_env.engine.bits import lowest
from fives_env.engine.keys import below, mix
from fives_env.jit import jit_part
from fives_env.records import HIGHEST_DOUBLE_LEADS, LEAD_ROTATES, NO_DRAW, OUT, WINNER_LEADS
from fives_env.tiles import HIGH, LOW, NO_TILE, NUM_TILES, PIPS

# T11, D4: doubles first, the higher the earlier; then by pips, then by the higher half.
LEAD_RANK = np.where(LOW == HIGH, 1000 + PIPS.astype(np.int64), PIPS * np.int64(8) + HIGH)


@jit_part
def lay_out(tiles, deck, position):
    """Writes the tiles of a mask into `deck` from `position` on, ascending."""
    while tiles:
        deck[position] = lowest(tiles)
        tiles &= tiles - 1
        position += 1


@jit_part
def shuffle(params, deck, key):
    """Fills `deck` with the set in the order of `key`.

    Only the order of tiles that can come into play is drawn: without drawing (F2) the tail of the
    deck stays sorted as the draws before left it.
    """
    num_tiles = np.int64(params.num_tiles)
    if num_tiles == NUM_TILES:
        for tile in range(NUM_TILES):
            deck[tile] = tile
    else:
        lay_out(np.int64(params.set), deck, 0)
    last = num_tiles - 1
    if params.draw == NO_DRAW:
        last = min(last, np.int64(params.num_players) * np.int64(params.hand_size))
    number = np.uint64(0)
    for position in range(last):
        if position & 1 == 0:
            number = mix(key, 1 + (position >> 1))
        else:
            number = number << np.uint64(32)
        other = position + below(number, num_tiles - position)
        tile = deck[position]
        deck[position] = deck[other]
        deck[other] = tile


@jit_part
def deal(params, game, script):
    """Deals round `game.round` and says who leads it; the layout is untouched."""
    key = mix(game.key, game.round)
    scripted = game.round < len(script)
    if scripted and script[game.round].has_deck:
        for position in range(params.num_tiles):
            game.deck[position] = script[game.round].deck[position]
    else:
        shuffle(params, game.deck, key)
    hand_size = np.int64(params.hand_size)
    for seat in range(np.int64(params.num_players)):
        hand = np.uint32(0)
        for position in range(seat * hand_size, (seat + 1) * hand_size):
            hand |= np.uint32(1) << np.uint32(game.deck[position])
        game.hands[seat] = hand
        game.hand_sizes[seat] = hand_size
    game.next_draw = params.num_players * hand_size
    game.boneyard = params.num_tiles - game.next_draw
    lot = below(mix(key, 0), params.num_players)
    if scripted and script[game.round].leader >= 0:
        lot = np.int64(script[game.round].leader)
    _choose_leader(params, game, lot)


@jit_part
def next_leader(params, game):
    """Who leads the round after this one, as far as it is known yet; -1: by lot (F3, D1, A3)."""
    if params.lead == LEAD_ROTATES:
        return (np.int64(game.leader) + 1) % np.int64(params.num_players)
    if params.lead == WINNER_LEADS and game.round_over == OUT:
        return np.int64(game.mover)
    return np.int64(-1)


@jit_part
def _choose_leader(params, game, lot):
    """Who leads: by lot, in rotation, the last winner, or the highest double (F3, T2, T11, A3)."""
    leader = lot
    game.lead_tile = NO_TILE
    if params.lead == HIGHEST_DOUBLE_LEADS:
        best = np.int64(-1)
        for position in range(params.num_players * params.hand_size):
            tile = game.deck[position]
            if LEAD_RANK[tile] > best:
                best = LEAD_RANK[tile]
                game.lead_tile = tile
                leader = position // np.int64(params.hand_size)
    elif game.round > 0 and next_leader(params, game) >= 0:
        leader = next_leader(params, game)
    game.leader = leader
    game.seat = leader
