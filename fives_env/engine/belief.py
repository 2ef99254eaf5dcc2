"""Deals that agree with a view (determinizations): each equally likely, or by weights.

A deal gives every unseen tile a place: another seat's hand or the boneyard. It agrees if the hands
have their sizes and no seat holds a value it is known to lack. The number of ways to place the
tiles from the i-th on, given how much room each hand has left, follows backwards from the last
tile; walking forwards in proportion to it draws a deal uniformly, with nothing to reject.
"""

import numpy as np

from fives_env.engine.bits import lowest, popcount
from fives_env.engine.deal import LEAD_RANK, lay_out
from fives_env.engine.keys import below, mix
from fives_env.engine.layout import FITS
from fives_env.engine.memory import copy_public
from fives_env.jit import jit_part
from fives_env.records import HIGHEST_DOUBLE_LEADS
from fives_env.tiles import NO_TILE

KNOWN = np.dtype(
    [
        ("unseen", "i8"),  # mask of the tiles that are neither on the table nor in the own hand
        ("room", "i8", (3,)),  # tiles in the other hands, clockwise
        ("weights", "f8", (3, 28)),  # how likely each of them holds a tile, beside the boneyard
        ("hands", "i8", (3,)),  # masks: the deal that was drawn last
    ]
)
"""What a view leaves open, and a deal that agrees with it."""


@jit_part
def unseen_tiles(view):
    """The tiles of the set that the viewer sees neither on the table nor in its hand."""
    return np.int64(view.rules.set) & ~(np.int64(view.hand) | np.int64(view.played))


@jit_part
def possible_tiles(view, seat):
    """The unseen tiles that `seat` may hold."""
    tiles = unseen_tiles(view)
    for value in range(7):
        if view.absent[seat] >> value & 1:
            tiles &= ~FITS[value]
    return tiles


@jit_part
def look(view, known):
    """Fills `known` with what the view leaves open: every deal that agrees is equally likely."""
    players = np.int64(view.rules.num_players)
    known.unseen = unseen_tiles(view)
    known.weights[:] = 0.0
    for other in range(3):
        known.room[other] = 0
        if other + 1 < players:
            seat = (view.viewer + other + 1) % players
            known.room[other] = view.hand_sizes[seat]
            tiles = possible_tiles(view, seat)
            while tiles:
                known.weights[other, lowest(tiles)] = 1.0
                tiles &= tiles - 1


@jit_part
def count_ways(known):
    """float64 [n + 1, room + 1 of each other seat]: ways to place the i-th unseen tile and on.

    A way counts as the product of the weights of its tiles; 1 in the boneyard.
    """
    room, weights = known.room, known.weights
    n = popcount(known.unseen)
    ways = np.zeros((n + 1, room[0] + 1, room[1] + 1, room[2] + 1))
    ways[n, 0, 0, 0] = 1
    left = np.int64(known.unseen)
    tiles = np.empty(n, np.int64)
    for i in range(n):
        tiles[i] = lowest(left)
        left &= left - 1
    for i in range(n - 1, -1, -1):
        in_a, in_b, in_c = weights[0, tiles[i]], weights[1, tiles[i]], weights[2, tiles[i]]
        for a in range(room[0] + 1):
            for b in range(room[1] + 1):
                for c in range(room[2] + 1):
                    total = ways[i + 1, a, b, c] if a + b + c < n - i else 0.0
                    if a and in_a > 0:
                        total += in_a * ways[i + 1, a - 1, b, c]
                    if b and in_b > 0:
                        total += in_b * ways[i + 1, a, b - 1, c]
                    if c and in_c > 0:
                        total += in_c * ways[i + 1, a, b, c - 1]
                    ways[i, a, b, c] = total
    return ways


@jit_part
def num_ways(known, ways):
    """The sum over all deals; 0 where none agrees."""
    return ways[0, known.room[0], known.room[1], known.room[2]]


@jit_part
def write_chances(known, ways, chances):
    """Fills float64 [3, 28]: how likely each other seat, clockwise, holds each tile.

    The sum over all deals in which it does, over the sum of all: ways to come to a tile, times ways
    to go on from there.
    """
    size_a, size_b, size_c = known.room[0] + 1, known.room[1] + 1, known.room[2] + 1
    weights, total = known.weights, num_ways(known, ways)
    before, after = np.zeros((size_a, size_b, size_c)), np.zeros((size_a, size_b, size_c))
    before[size_a - 1, size_b - 1, size_c - 1] = 1.0 / total
    chances[:] = 0.0
    unseen, i = np.int64(known.unseen), 0
    while unseen:
        tile = lowest(unseen)
        unseen &= unseen - 1
        i += 1
        after[:] = before
        for a in range(size_a):
            for b in range(size_b):
                for c in range(size_c):
                    if a:
                        come = before[a, b, c] * weights[0, tile]
                        chances[0, tile] += come * ways[i, a - 1, b, c]
                        after[a - 1, b, c] += come
                    if b:
                        come = before[a, b, c] * weights[1, tile]
                        chances[1, tile] += come * ways[i, a, b - 1, c]
                        after[a, b - 1, c] += come
                    if c:
                        come = before[a, b, c] * weights[2, tile]
                        chances[2, tile] += come * ways[i, a, b, c - 1]
                        after[a, b, c - 1] += come
        before[:] = after


@jit_part
def draw_hands(known, ways, key):
    """Fills the hands with one deal; returns the tiles left for the boneyard."""
    a, b, c = known.room[0], known.room[1], known.room[2]
    hands, weights = known.hands, known.weights
    hands[:] = 0
    boneyard, unseen = np.int64(0), np.int64(known.unseen)
    for i in range(popcount(unseen)):
        tile = lowest(unseen)
        bit = unseen & -unseen
        unseen ^= bit
        at = (mix(key, i) >> np.uint64(11)) * 2.0**-53 * ways[i, a, b, c]
        if a and weights[0, tile] > 0:
            at -= weights[0, tile] * ways[i + 1, a - 1, b, c]
            if at < 0:
                hands[0] |= bit
                a -= 1
                continue
        if b and weights[1, tile] > 0:
            at -= weights[1, tile] * ways[i + 1, a, b - 1, c]
            if at < 0:
                hands[1] |= bit
                b -= 1
                continue
        if c and weights[2, tile] > 0:
            at -= weights[2, tile] * ways[i + 1, a, b, c - 1]
            if at < 0:
                hands[2] |= bit
                c -= 1
                continue
        boneyard |= bit
    return boneyard


@jit_part
def write_world(view, known, boneyard, key, game):
    """Fills `game` with the deal that was drawn; its boneyard lies in random order."""
    copy_public(game, view)
    players = np.int64(view.rules.num_players)
    game.hands[:] = 0
    game.hands[view.viewer] = view.hand
    for other in range(players - 1):
        game.hands[(view.viewer + other + 1) % players] = known.hands[other]
    game.key = key
    game.next_draw = np.int64(view.rules.num_tiles) - view.boneyard
    game.deck[:] = 0
    lay_out(np.int64(view.rules.set) & ~boneyard, game.deck, 0)
    lay_out(boneyard, game.deck, np.int64(game.next_draw))
    _shuffle_from(game.deck, np.int64(game.next_draw), np.int64(view.rules.num_tiles), mix(key, 28))
    game.lead_tile = view.lead_tile
    others_lead = view.played == 0 and view.lead_tile == NO_TILE
    if view.rules.lead == HIGHEST_DOUBLE_LEADS and others_lead:
        game.lead_tile = _tile_to_lead(np.int64(game.hands[view.leader]))


@jit_part
def _shuffle_from(deck, first, end, key):
    for position in range(first, end - 1):
        other = position + below(mix(key, position), end - position)
        tile = deck[position]
        deck[position] = deck[other]
        deck[other] = tile


@jit_part
def _tile_to_lead(hand):
    best = np.int64(NO_TILE)
    while hand:
        tile = lowest(hand)
        hand &= hand - 1
        if best == NO_TILE or LEAD_RANK[tile] > LEAD_RANK[best]:
            best = tile
    return best
