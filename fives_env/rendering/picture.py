"""What a seat sees as shapes, which `svg` writes as text and `frames` paints.

Nothing is drawn that is not in the view. Colours are Okabe and Ito's, which colour-blind people can
tell apart, on a ground of their own, so that the page around may be light or dark.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fives_env.rendering.line import Line, Placed, lay_out
from fives_env.rendering.words import heading, last, seat_name, side_names, turn
from fives_env.tiles import HIGH, LOW, NO_VALUE, tiles_in

WIDTH, HEIGHT = 960, 640
"""Of every picture, whatever it shows."""

FELT, TILE, PIP, EDGE, INK, SOFT, MARK = (
    "#1f4d3f",
    "#f7f3e8",
    "#1d1d1f",
    "#8d8672",
    "#ffffff",
    "#b9d3c7",
    "#e69f00",
)
_TABLE = (24.0, 128.0, 936.0, 480.0)
"""Left, upper, right and lower edge of where the line lies."""
_LARGEST, _HAND = 34.0, 40.0
"""Half a tile in pixels: on the table at most, and in the hand."""
_SPOTS = {
    0: (),
    1: ((0.0, 0.0),),
    2: ((-0.25, -0.25), (0.25, 0.25)),
    3: ((-0.25, -0.25), (0.0, 0.0), (0.25, 0.25)),
    4: ((-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25)),
    5: ((-0.25, -0.25), (0.25, -0.25), (0.0, 0.0), (-0.25, 0.25), (0.25, 0.25)),
    6: tuple((x, y) for x in (-0.25, 0.25) for y in (-0.27, 0.0, 0.27)),
}
"""Where the pips of a half lie on an upright tile, in halves from its middle."""


class Box(NamedTuple):
    """A rectangle with round corners; of no line if `edge` is None."""

    x: float
    y: float
    wide: float
    high: float
    radius: float
    fill: str
    edge: str | None = None


class Dot(NamedTuple):
    """A disc."""

    x: float
    y: float
    radius: float
    fill: str


class Words(NamedTuple):
    """A line of text; x is its start, middle or end, y its middle."""

    x: float
    y: float
    size: float
    text: str
    fill: str
    anchor: str = "start"


Shape = Box | Dot | Words


def draw(view: np.void) -> Iterator[Shape]:
    """The shapes of a picture of `WIDTH` by `HEIGHT`, those in front last.

    Args:
        view: One VIEW record.
    """
    yield Box(0, 0, WIDTH, HEIGHT, 0, FELT)
    yield Words(24, 28, 24, heading(view), INK)
    yield from _scores(view)
    yield from _hidden(view)
    yield from _table(view)
    yield Words(24, 506, 17, last(view), SOFT)
    yield from _hand(view)
    yield Words(WIDTH - 24, 612, 20, turn(view), MARK, "end")


def _scores(view: np.void) -> Iterator[Shape]:
    """A bar for each side, full at the target."""
    names = side_names(view)
    each = (WIDTH - 48) / len(names)
    target = max(1, int(view["rules"]["target"]))
    for side, name in enumerate(names):
        x, score = 24 + side * each, int(view["scores"][side])
        yield Words(x, 58, 17, f"{name}: {score}", INK)
        if view["target_on"]:
            full = min(1.0, max(0.0, score / target))
            yield Box(x, 72, each - 24, 8, 4, "#17392f")
            yield Box(x, 72, max(8.0, full * (each - 24)), 8, 4, MARK)


def _hidden(view: np.void) -> Iterator[Shape]:
    """The others' hands and the boneyard, face down."""
    viewer, players = int(view["viewer"]), int(view["rules"]["num_players"])
    seats = [(viewer + step) % players for step in range(1, players)]
    piles = [(seat_name(view, seat), int(view["hand_sizes"][seat])) for seat in seats]
    piles.append(("boneyard", int(view["boneyard"])))
    each = (WIDTH - 48) / len(piles)
    for place, (name, count) in enumerate(piles):
        x = 24 + place * each
        yield Words(x, 104, 15, f"{name}: {count}", SOFT)
        step = min(11.0, (each - 130) / max(1, count))
        for tile in range(count):
            yield Box(x + 112 + tile * step, 94, 9, 20, 2, "#355e8d", "#b9d3c7")


def _table(view: np.void) -> Iterator[Shape]:
    line = lay_out(view)
    left, upper, right, lower = _TABLE
    if not line.tiles:
        yield Words(
            (left + right) / 2, (upper + lower) / 2, 20, "nothing is laid yet", SOFT, "middle"
        )
        return
    scale, x0, y0 = _fit(line)
    newest = line.tiles[-1]
    for placed in line.tiles:
        edge = MARK if placed is newest else EDGE
        yield from _tile(placed, x0 + placed.x * scale, y0 + placed.y * scale, scale, edge)
    for arm, (x, y) in enumerate(line.ends):
        if view["arms"][arm] != NO_VALUE:
            x, y = x0 + x * scale, y0 + y * scale
            counts = int(view["counts"][arm])
            yield Dot(x, y, 0.42 * scale, MARK if counts else "#17392f")
            yield Words(x, y, 0.5 * scale, str(counts), PIP if counts else SOFT, "middle")
    yield Words(right, lower - 6, 20, f"ends: {view['total']}", INK, "end")


def _fit(line: Line) -> tuple[float, float, float]:
    """Pixels of half a tile, and where the opening tile's middle is, so that all is inside."""
    boxes = np.array([placed.box for placed in line.tiles])
    ends = np.array(line.ends)
    low = np.minimum(boxes[:, :2].min(axis=0), ends.min(axis=0) - 0.5)
    high = np.maximum(boxes[:, 2:].max(axis=0), ends.max(axis=0) + 0.5)
    room = np.array([_TABLE[2] - _TABLE[0], _TABLE[3] - _TABLE[1]])
    scale = min(_LARGEST, float((room / (high - low)).min()))
    middle = np.array([_TABLE[0] + _TABLE[2], _TABLE[1] + _TABLE[3]]) / 2
    x0, y0 = (middle - scale * (low + high) / 2).tolist()
    return scale, x0, y0


def _hand(view: np.void) -> Iterator[Shape]:
    tiles = tiles_in(view["hand"])
    scale = min(_HAND, 700 / max(1, 1.2 * len(tiles)))
    yield Words(24, 530, 15, f"{seat_name(view, int(view['viewer']))}: {len(tiles)}", SOFT)
    for place, tile in enumerate(tiles):
        halves = int(LOW[tile]), int(HIGH[tile])
        x = 24 + (0.5 + 1.2 * place) * scale
        yield from _tile(Placed(tile, 0, 0, halves, True), x, 546 + scale, scale, EDGE)


def _tile(placed: Placed, x: float, y: float, scale: float, edge: str) -> Iterator[Shape]:
    """A tile face up, its middle at (x, y)."""
    wide, high = (1, 2) if placed.upright else (2, 1)
    inset = 0.03 * scale
    yield Box(
        x - wide * scale / 2 + inset,
        y - high * scale / 2 + inset,
        wide * scale - 2 * inset,
        high * scale - 2 * inset,
        0.14 * scale,
        TILE,
        edge,
    )
    across, thick = 0.7 * scale, max(1.0, 0.05 * scale)
    if placed.upright:
        yield Box(x - across / 2, y - thick / 2, across, thick, 0, EDGE)
    else:
        yield Box(x - thick / 2, y - across / 2, thick, across, 0, EDGE)
    for half, value in zip((-0.5, 0.5), placed.halves, strict=True):
        for spot_x, spot_y in _SPOTS[value]:
            along, aside = half + spot_y, spot_x
            dx, dy = (aside, along) if placed.upright else (along, aside)
            yield Dot(x + dx * scale, y + dy * scale, 0.09 * scale, PIP)
