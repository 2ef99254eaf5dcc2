"""Where every tile of a layout lies: geometry alone, before anything is drawn."""

from typing import NamedTuple

import numpy as np

from fives_env.actions import DRAW
from fives_env.tiles import HIGH, LOW, NUM_TILES

_OUTWARD = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Which way the arms 0 to 3 grow: x to the right, y down."""


class Placed(NamedTuple):
    """A tile on the table; the unit is half a tile, and the opening tile's middle is at (0, 0).

    Attributes:
        tile: Its id.
        x: Of its middle.
        y: Likewise.
        halves: The value on the left (or the upper) half and that on the other.
        upright: Whether its halves lie one above the other.
    """

    tile: int
    x: float
    y: float
    halves: tuple[int, int]
    upright: bool

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Its left, upper, right and lower edge."""
        wide, high = (0.5, 1.0) if self.upright else (1.0, 0.5)
        return self.x - wide, self.y - high, self.x + wide, self.y + high


class Line(NamedTuple):
    """A layout.

    Attributes:
        tiles: In the order in which they were laid.
        ends: Where each of the four arms ends, (x, y), a little beyond its last tile.
    """

    tiles: list[Placed]
    ends: list[tuple[float, float]]


def lay_out(view: np.void) -> Line:
    """The tiles of the round's layout: arms 0 and 1 to the sides, the spinner's others up and down.

    Doubles lie across their arm, so no two tiles can meet: the tile beside the spinner keeps the
    next double of the line away from the arms that cross it.

    Args:
        view: One VIEW record.
    """
    tiles: list[Placed] = []
    reach = [(0.0, 0.0)] * 4
    inner = [0, 0, int(view["spinner"]), int(view["spinner"])]
    for _, action in view["moves"][: view["num_moves"]].tolist():
        if action >= DRAW:
            continue
        arm, tile = divmod(action, NUM_TILES)
        low, high = int(LOW[tile]), int(HIGH[tile])
        if not tiles:
            inner[:2] = low, high
            tiles.append(Placed(tile, 0.0, 0.0, (low, high), low == high))
            half = 0.5 if low == high else 1.0
            reach[:2] = (-half, 0.0), (half, 0.0)
        else:
            outer = low + high - inner[arm]
            placed = _beside(reach[arm], arm, tile, inner[arm], outer)
            tiles.append(placed)
            inner[arm] = outer
            step_x, step_y = _OUTWARD[arm]
            long = 0.5 if low == high else 1.0
            reach[arm] = placed.x + step_x * long, placed.y + step_y * long
        if low == high == view["spinner"] and arm < 2:
            middle = tiles[-1]
            reach[2:] = (middle.x, middle.y - 1), (middle.x, middle.y + 1)
    ends = [(x + 0.6 * dx, y + 0.6 * dy) for (x, y), (dx, dy) in zip(reach, _OUTWARD, strict=True)]
    return Line(tiles, ends)


def _beside(end: tuple[float, float], arm: int, tile: int, inner: int, outer: int) -> Placed:
    """The tile joined to this end of an arm."""
    step_x, step_y = _OUTWARD[arm]
    along = 0.5 if inner == outer else 1.0
    halves = (inner, outer) if step_x + step_y > 0 else (outer, inner)
    x, y = end[0] + step_x * along, end[1] + step_y * along
    return Placed(tile, x, y, halves, (step_y != 0) != (inner == outer))
