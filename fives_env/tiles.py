"""The 28 tiles of a double-six set: ids, halves, pips, names, and masks by value.

Tile ids 0..27 run in order of (low, high): [0|0] is 0, [0|1] is 1, [1|1] is 7, [6|6] is 27.
A set of tiles is a 28-bit mask in which bit ``t`` stands for tile ``t``.
"""

import re

import numpy as np

NUM_TILES = 28
NUM_VALUES = 7
NO_TILE = 28
"""Stands where there is no tile."""
NO_VALUE = 7
"""Stands where there is no value, as for an arm that does not exist."""

_HALVES = [(low, high) for low in range(NUM_VALUES) for high in range(low, NUM_VALUES)]

LOW = np.array([low for low, _ in _HALVES], dtype=np.uint8)
"""uint8 [28]: the lower half of each tile."""
HIGH = np.array([high for _, high in _HALVES], dtype=np.uint8)
"""uint8 [28]: the higher half of each tile."""
PIPS = LOW + HIGH
"""uint8 [28]: the pips of each tile."""
TILE_WITH = np.zeros((NUM_VALUES, NUM_VALUES), dtype=np.uint8)
"""uint8 [7, 7]: the tile that has these two halves, in either order."""
VALUE_MASK = np.zeros(NUM_VALUES + 1, dtype=np.uint32)
"""uint32 [8]: the tiles that have a half of this value; none for `NO_VALUE`."""
DOUBLES = np.uint32(0)
"""The doubles, as a mask."""
for _tile, (_low, _high) in enumerate(_HALVES):
    TILE_WITH[_low, _high] = TILE_WITH[_high, _low] = _tile
    VALUE_MASK[_low] |= np.uint32(1 << _tile)
    VALUE_MASK[_high] |= np.uint32(1 << _tile)
    if _low == _high:
        DOUBLES |= np.uint32(1 << _tile)

_TILE_TEXT = re.compile(r"\[?\s*([0-6])\s*[|\-:/ ]\s*([0-6])\s*\]?")


def tiles_up_to(max_pip: int) -> list[int]:
    """The ids of the tiles whose halves are both at most `max_pip`, ascending."""
    return [tile for tile, (_, high) in enumerate(_HALVES) if high <= max_pip]


def tile_name(tile: int) -> str:
    """The tile as text, lower half first: ``4|6``."""
    return f"{LOW[tile]}|{HIGH[tile]}"


def parse_tile(text: str) -> int:
    """The id of a tile written as ``4|6``, ``6|4``, ``4-6`` or ``[4|6]``.

    Raises:
        ValueError: The text is not a tile of a double-six set.
    """
    match = _TILE_TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a tile; write two halves from 0 to 6, as in 4|6")
    return int(TILE_WITH[int(match[1]), int(match[2])])


def mask_of(tiles: list[int]) -> int:
    """The mask of these tiles."""
    return sum(1 << tile for tile in set(tiles))


def tiles_in(mask: int) -> list[int]:
    """The ids in this mask, ascending."""
    return [tile for tile in range(NUM_TILES) if int(mask) >> tile & 1]
