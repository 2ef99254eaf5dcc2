"""One feature vector for all three games and two to four seats, relative to the seat that looks.

Seats come clockwise from the viewer (0 is the viewer), sides from the viewer's own. `BLOCKS` names
the parts in order, `FEATURES` gives their slices, `LOW` and `HIGH` the bounds that really hold. The
vector holds all that decides what is legal and what it scores: a test rebuilds the action mask and
the end total from it alone.
"""

from typing import NamedTuple

import numpy as np

from fives_env.engine.bits import lowest
from fives_env.engine.layout import joinable
from fives_env.engine.scoring import MAX_TOTAL, POINTS, credited, side_of
from fives_env.engine.turns import drawable
from fives_env.jit import jit_part
from fives_env.records import NO_DRAW
from fives_env.rules import MAX_TARGET
from fives_env.tiles import NUM_TILES

OBS_VERSION = 1
"""Rises with every change of a block's meaning, size or place."""

NEAR = 16
"""Distances to the target from 1 to this have a feature each."""
_MAX_SCORE = 1 << 15
_MAX_POINTS = int(POINTS.max()) + 1


class Block(NamedTuple):
    """A named part of the vector.

    Attributes:
        name: The key in `FEATURES`.
        size: How many features.
        low: The least value that can occur.
        high: The greatest.
        meaning: What they say; ``x/n`` means that x is divided by n.
    """

    name: str
    size: int
    low: float
    high: float
    meaning: str


BLOCKS = (
    Block("hand", 28, 0, 1, "the viewer's tiles"),
    Block("played", 28, 0, 1, "tiles on the table"),
    Block("unseen", 28, 0, 1, "tiles of the set in neither: in other hands or the boneyard"),
    Block("placeable", 28, 0, 1, "the viewer's tiles that fit an open end (T11: that may lead)"),
    Block("arms", 32, 0, 1, "per arm its open value one-hot, 8th: no such arm"),
    Block("counts", 4, 0, 1, "per arm what it adds to the end total, /12"),
    Block("total", 1, 0, 1, f"the end total, /{MAX_TOTAL}"),
    Block("spinner", 8, 0, 1, "the spinner's value one-hot, 8th: none yet"),
    Block("spinner_ends", 2, 0, 1, "whether the spinner still ends arm 0, arm 1"),
    Block("hand_sizes", 4, 0, 1, "per seat the tiles in hand, /28"),
    Block("boneyard", 2, 0, 1, "undrawn tiles, and those that may be drawn, /28"),
    Block("scores", 4, -_MAX_SCORE / 100, _MAX_SCORE / 100, "per side the score, /100"),
    Block(
        "missing",
        4,
        -_MAX_SCORE / 100,
        (_MAX_SCORE + MAX_TARGET) / 100,
        "per side the target less the score, /100; 0 where the target is off",
    ),
    Block("near", 4 * NEAR, 0, 1, f"per side what is missing, one-hot from 1 to {NEAR}"),
    Block("absent", 28, 0, 1, "per seat the 7 values it is publicly known not to hold"),
    Block("leader", 4, 0, 1, "the seat that leads this round, one-hot"),
    Block("to_move", 4, 0, 1, "the seat to move, one-hot; zeros once the match is over"),
    Block("points", 114, 0, _MAX_POINTS / 10, "per action what it would score now, /10"),
    Block("game", 3, 0, 1, "which game, one-hot"),
    Block("players", 3, 0, 1, "two, three or four seats, one-hot"),
    Block("partners", 1, 0, 1, "whether seats 0+2 play against 1+3"),
    Block("draw", 3, 0, 1, "no drawing, forced, optional, one-hot"),
    Block("target_on", 1, 0, 1, "whether the target counts"),
    Block("rounds_left", 1, 0, 1, "the share of max_rounds still to play; 0 in a single round"),
)


def _slices() -> dict[str, slice]:
    ends = np.cumsum([block.size for block in BLOCKS]).tolist()
    return {
        block.name: slice(end - block.size, end) for block, end in zip(BLOCKS, ends, strict=True)
    }


FEATURES = _slices()
"""The slice of each block."""
NUM_FEATURES = sum(block.size for block in BLOCKS)
LOW = np.concatenate([np.full(block.size, block.low, np.float32) for block in BLOCKS])
"""float32 [F]: the least value of each feature."""
HIGH = np.concatenate([np.full(block.size, block.high, np.float32) for block in BLOCKS])
"""float32 [F]: the greatest value of each feature."""

_HAND, _PLAYED, _UNSEEN, _PLACEABLE, _ARMS, _COUNTS, _TOTAL = (
    FEATURES[name].start
    for name in ("hand", "played", "unseen", "placeable", "arms", "counts", "total")
)
_SPINNER, _SPINNER_ENDS, _HAND_SIZES, _BONEYARD, _SCORES, _MISSING, _NEAR = (
    FEATURES[name].start
    for name in ("spinner", "spinner_ends", "hand_sizes", "boneyard", "scores", "missing", "near")
)
_ABSENT, _LEADER, _TO_MOVE, _POINTS, _GAME, _PLAYERS, _PARTNERS, _DRAW, _TARGET_ON, _ROUNDS_LEFT = (
    FEATURES[name].start
    for name in (
        "absent",
        "leader",
        "to_move",
        "points",
        "game",
        "players",
        "partners",
        "draw",
        "target_on",
        "rounds_left",
    )
)


@jit_part
def write_features(view, out):
    """Writes the features of one view: float32 [F]."""
    out[:] = 0
    hand = np.int64(view.hand)
    _write_tiles(hand, _HAND, out)
    _write_tiles(np.int64(view.played), _PLAYED, out)
    _write_tiles(np.int64(view.rules.set) & ~(hand | np.int64(view.played)), _UNSEEN, out)
    _write_layout(view, out)
    _write_seats(view, out)
    _write_sides(view, out)
    _write_rules(view, out)
    if not view.match_over:
        _write_placements(view, hand, out)


@jit_part
def _write_tiles(tiles, first, out):
    while tiles:
        out[first + lowest(tiles)] = 1
        tiles &= tiles - 1


@jit_part
def _write_layout(view, out):
    for arm in range(4):
        out[_ARMS + 8 * arm + view.arms[arm]] = 1
        out[_COUNTS + arm] = view.counts[arm] / 12
    out[_TOTAL] = view.total / MAX_TOTAL
    out[_SPINNER + view.spinner] = 1
    out[_SPINNER_ENDS] = view.spinner_ends & 1
    out[_SPINNER_ENDS + 1] = view.spinner_ends >> 1


@jit_part
def _write_seats(view, out):
    players = np.int64(view.rules.num_players)
    viewer = np.int64(view.viewer)
    for offset in range(players):
        seat = (viewer + offset) % players
        out[_HAND_SIZES + offset] = view.hand_sizes[seat] / 28
        out[_LEADER + offset] = seat == view.leader
        out[_TO_MOVE + offset] = seat == view.seat and not view.match_over
        for value in range(7):
            out[_ABSENT + 7 * offset + value] = view.absent[seat] >> value & 1
    out[_BONEYARD] = view.boneyard / 28
    if view.rules.draw != NO_DRAW:
        out[_BONEYARD + 1] = drawable(view.rules, view) / 28


@jit_part
def _write_sides(view, out):
    sides = np.int64(view.rules.num_sides)
    own = side_of(view.rules, np.int64(view.viewer))
    for offset in range(sides):
        score = np.int64(view.scores[(own + offset) % sides])
        out[_SCORES + offset] = score / 100
        if view.target_on:
            missing = view.rules.target - score
            out[_MISSING + offset] = missing / 100
            if 1 <= missing <= NEAR:
                out[_NEAR + NEAR * offset + missing - 1] = 1


@jit_part
def _write_placements(view, hand, out):
    for arm in range(4):
        tiles = joinable(view, view.lead_tile, hand, arm)
        while tiles:
            tile = lowest(tiles)
            tiles &= tiles - 1
            out[_PLACEABLE + tile] = 1
            points = credited(view.rules, view, np.int64(view.viewer), tile, arm)
            out[_POINTS + NUM_TILES * arm + tile] = points / 10


@jit_part
def _write_rules(view, out):
    rules = view.rules
    out[_GAME + rules.game] = 1
    out[_PLAYERS + rules.num_players - 2] = 1
    out[_PARTNERS] = rules.partners
    out[_DRAW + rules.draw] = 1
    out[_TARGET_ON] = view.target_on
    if not rules.single_round:
        out[_ROUNDS_LEFT] = 1 - view.round / rules.max_rounds
