"""Tiles on the table: which fit where, what the ends count, where a placement leads (C2 to C5, S).

A mask of tiles is an int64 in compiled code, so that no unsigned arithmetic surprises.
"""

import numpy as np

from fives_env.engine.bits import lowest
from fives_env.jit import jit_inline, jit_part
from fives_env.tiles import DOUBLES, HIGH, LOW, NO_TILE, NO_VALUE, PIPS, VALUE_MASK

_LOW = LOW.astype(np.int64)
_HIGH = HIGH.astype(np.int64)
_PIPS = PIPS.astype(np.int64)
FITS = VALUE_MASK.astype(np.int64)
_DOUBLES = int(DOUBLES)


@jit_part
def pips(mask):
    """The pips of all tiles in the mask."""
    x = np.int64(mask)
    total = np.int64(0)
    while x:
        total += _PIPS[lowest(x)]
        x = x & (x - 1)
    return total


@jit_part
def fitting(public):
    """The tiles that fit an open end; before the lead, all of them."""
    if public.played == 0:
        return np.int64(0xFFFFFFF)
    arms = public.arms
    return FITS[arms[0]] | FITS[arms[1]] | FITS[arms[2]] | FITS[arms[3]]


@jit_part
def open_values(public):
    """The values of the open ends, as a 7-bit mask."""
    values = np.int64(0)
    for arm in range(4):
        values |= 1 << np.int64(public.arms[arm])
    return values & 0x7F


@jit_part
def joinable(public, lead_tile, hand, arm):
    """The tiles of `hand` that may go to `arm` (C2); the lead uses arm 0, T11 fixes its tile."""
    if public.played == 0:
        if arm > 0:
            return np.int64(0)
        return np.int64(hand) if lead_tile == NO_TILE else np.int64(1) << np.int64(lead_tile)
    return np.int64(hand) & FITS[public.arms[arm]]


@jit_part
def is_double(tile):
    """1 for a double, 0 for any other tile."""
    return _DOUBLES >> tile & 1


@jit_part
def lone_double(public):
    """Whether the layout is a single double, which counts for both arms at once (C4)."""
    played = np.int64(public.played)
    return played & (played - 1) == 0 and played & _DOUBLES != 0


@jit_part
def outer_half(public, tile, arm):
    """The half that `tile` shows outward once it is joined to `arm`."""
    return _PIPS[tile] - np.int64(public.arms[arm])


@jit_part
def total_after(public, tile, arm):
    """The end total once `tile` is joined to `arm` (C3 to C5, S4, S5)."""
    if public.played == 0:
        return _PIPS[tile]
    outer = outer_half(public, tile, arm)
    count = outer << is_double(tile)
    if lone_double(public):
        return public.total + count
    return public.total - np.int64(public.counts[arm]) + count


@jit_inline
def place(params, game, tile, arm, total):
    """Joins `tile` to `arm`, which makes the end total `total`; the hand is not touched."""
    double = is_double(tile)
    if game.played == 0:
        game.arms[0] = _LOW[tile]
        game.arms[1] = _HIGH[tile]
        game.counts[0] = _PIPS[tile] if double else _LOW[tile]
        game.counts[1] = 0 if double else _HIGH[tile]
        ends = 3
    else:
        if lone_double(game):
            game.counts[1 - arm] = 2 * game.arms[arm]
        outer = outer_half(game, tile, arm)
        game.arms[arm] = outer
        game.counts[arm] = outer << double
        ends = 1 << arm
        _leave_spinner(game, arm)
    if double and params.spinner and game.spinner == NO_VALUE:
        game.spinner = _LOW[tile]
        game.spinner_ends = ends
    game.total = total
    game.played |= np.uint32(1) << np.uint32(tile)


@jit_part
def _leave_spinner(game, arm):
    """Arm `arm` no longer ends in the spinner; both sides joined open its other two ends (S3)."""
    if game.spinner_ends >> arm & 1:
        game.spinner_ends &= ~(1 << arm)
        if game.spinner_ends == 0:
            game.arms[2] = game.spinner
            game.arms[3] = game.spinner
