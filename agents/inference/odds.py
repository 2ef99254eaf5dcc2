"""Odds: what the moves of a round tell about the hands, tile by tile.

Whoever laid one tile did not lay another that it could have laid: a tile that would have been worth
more then is the less likely to be in that hand now. Each past turn gives each unseen tile a factor;
their product is its weight in `belief.count_ways`, where 1 stands for no information. What nobody
can hold stays impossible. Public facts alone are read.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.actions import DRAW
from fives_env.engine import belief
from fives_env.engine.belief import KNOWN
from fives_env.engine.bits import lowest, popcount
from fives_env.engine.layout import fitting, is_double, joinable, place, total_after
from fives_env.engine.memory import copy_bytes, copy_public
from fives_env.engine.scoring import credited, side_of
from fives_env.engine.turns import clear_table, play_tile
from fives_env.jit import jit, jit_part
from fives_env.records import GAME, HIGHEST_DOUBLE_LEADS
from fives_env.tiles import NO_TILE, NUM_TILES, PIPS

Array = npt.NDArray[Any]
INFERENCES = ("none", "odds")
NONE, ODDS = range(2)
TEMPERATURE = 1.0
"""How much more a tile must be worth to be e times as unlikely, in points of fives-and-threes."""
CAUTION = 0.7
"""The part of the reply that players are taken to expect, and take off what a tile is worth."""
_DOUBLE, _PIP = 0.3, 0.03
"""What laying a double, and each pip, is worth beside the points."""
UNIT = np.array([1.0, 4.0, 3.0])
"""How much a placement scores in each game, beside fives-and-threes."""
_PIPS = PIPS.astype(np.int64)
_MOVES = GAME.fields["moves"][1]  # type: ignore[index]
_MOST = np.array([17, 60, 35])
"""The most that a placement can score in each game: four arms count at most 36."""


def inference(name: str) -> int:
    """What compiled code knows the inference called `name` by.

    Raises:
        ValueError: There is no such inference.
    """
    if name not in INFERENCES:
        raise ValueError(f"infer={name!r} is not one of {', '.join(INFERENCES)}")
    return INFERENCES.index(name)


def chances(views: Array, infer: str = "odds") -> Array:
    """How likely each seat holds each tile.

    Args:
        views: VIEW [B].
        infer: ``odds``: by the view and what was played; ``none``: by the view alone, all deals
            that agree with it being as likely.

    Returns:
        float64 [B, 4, 28], by seat; the viewer's own hand is 1.

    Raises:
        ValueError: A view agrees with no deal, or there is no such inference.
    """
    views = np.ascontiguousarray(views)
    found = np.zeros((len(views), 4, NUM_TILES))
    row = _write_all(views, inference(infer), np.zeros(1, KNOWN), np.zeros(2, GAME), found)
    if row >= 0:
        raise ValueError(f"views[{row}] agrees with no deal of its set")
    return found


@jit
def _write_all(views, infer, scratch, games, found):
    """Fills float64 [B, 4, 28]; returns the first row that agrees with no deal, or -1."""
    known, others = scratch[0], np.zeros((3, NUM_TILES))
    for row in range(len(views)):
        view = views[row]
        look(view, infer, games, known)
        ways = belief.count_ways(known)
        if belief.num_ways(known, ways) == 0:
            return row
        belief.write_chances(known, ways, others)
        players = np.int64(view.rules.num_players)
        for other in range(players - 1):
            found[row, (np.int64(view.viewer) + 1 + other) % players] = others[other]
        for tile in range(NUM_TILES):
            found[row, view.viewer, tile] = view.hand >> tile & 1
    return -1


@jit_part
def look(view, infer, games, known):
    """Fills KNOWN with what the view leaves open, weighed by what was played if `infer` is ODDS.

    `games` is GAME [2], to work in.
    """
    belief.look(view, known)
    if infer == ODDS:
        weigh(view, games, known.weights)


@jit_part
def weigh(view, games, weights):
    """Multiplies the weights of the other seats' tiles by what their turns of this round tell.

    Args:
        view: VIEW.
        games: GAME [2], to work in.
        weights: float64 [3, 28], of the other seats clockwise, as in `belief.KNOWN`.
    """
    params, moves, game = view.rules, view.moves, games[0]
    _begin(view, game)
    for number in range(np.int64(view.num_moves)):
        seat, action = np.int64(moves[number, 0]), np.int64(moves[number, 1])
        chose = game.played != 0 or params.lead != HIGHEST_DOUBLE_LEADS
        if action < DRAW and seat != view.viewer and chose and view.hand_sizes[seat] > 0:
            other = (seat - np.int64(view.viewer) - 1) % np.int64(params.num_players)
            _tell(view, games, seat, action, _still_held(view, seat, number), weights[other])
        _follow(params, game, seat, action)


@jit_part
def _begin(view, game):
    """Makes `game` the empty table of the round, with the scores of then.

    Points that were refused (F12) count as scored, so that scores may come out too low.
    """
    params, moves = view.rules, view.moves
    copy_public(game, view)
    _clear(params, game)
    game.target_on = 0  # nothing is refused
    for number in range(np.int64(view.num_moves)):
        _follow(params, game, np.int64(moves[number, 0]), np.int64(moves[number, 1]))
    for side in range(np.int64(params.num_sides)):
        game.scores[side] = 2 * view.scores[side] - game.scores[side]
    game.target_on = view.target_on
    _clear(params, game)


@jit_part
def _clear(params, game):
    game.num_moves = 0
    clear_table(game)
    for seat in range(np.int64(params.num_players)):
        game.hand_sizes[seat] = params.hand_size


@jit_part
def _follow(params, game, seat, action):
    """Plays on the table, the sizes of the hands and the scores what everybody saw of an action."""
    if action == DRAW:
        game.hand_sizes[seat] += 1
    elif action < DRAW:
        play_tile(params, game, seat, action % NUM_TILES, action // NUM_TILES)


@jit_part
def _still_held(view, seat, number):
    """How likely a tile that the seat holds now was in its hand at this move already."""
    drawn = 0
    for later in range(number + 1, np.int64(view.num_moves)):
        drawn += view.moves[later, 0] == seat and view.moves[later, 1] == DRAW
    return max(0.0, 1.0 - drawn / np.float64(view.hand_sizes[seat]))


@jit_part
def _tell(view, games, seat, action, held, weights):
    """Multiplies the weights of one seat by what one placement of its tells.

    Args:
        view: VIEW.
        games: GAME [2]: the table before it, and one to work in.
        seat: Whose it was.
        action: The placement.
        held: From `_still_held`.
        weights: float64 [28], changed.
    """
    params, game = view.rules, games[0]
    sharpness = 1.0 / (TEMPERATURE * UNIT[params.game])
    laid = _worth(params, games, seat, action % NUM_TILES, action // NUM_TILES)
    tiles = belief.unseen_tiles(view) & fitting(game)
    while tiles:
        tile = lowest(tiles)
        tiles &= tiles - 1
        if weights[tile] == 0:
            continue
        best = -np.inf
        for arm in range(4):
            if joinable(game, NO_TILE, np.int64(1) << tile, arm):
                best = max(best, _worth(params, games, seat, tile, arm))
        told = 1.0 / (1.0 + np.exp((best - laid) * sharpness))
        weights[tile] *= 1.0 - held + held * told


@jit_part
def _worth(params, games, seat, tile, arm):
    """What the placement was worth: its points, habits that all players have, less the reply."""
    points = np.float64(credited(params, games[0], seat, tile, arm))
    points += UNIT[params.game] * (_DOUBLE * is_double(tile) + _PIP * _PIPS[tile])
    return points - CAUTION * _expected_reply(params, games, seat, tile, arm)


@jit_part
def _expected_reply(params, games, seat, tile, arm):
    """The best points of the seat after this one, if all tiles not on the table are as likely.

    Below 0 where it is the partner's.
    """
    after = games[1]
    copy_bytes(after, 0, games[0], 0, _MOVES)
    place(params, after, tile, arm, total_after(after, tile, arm))
    reply = (seat + 1) % np.int64(params.num_players)
    unknown = np.int64(params.set) & ~np.int64(after.played)
    number = popcount(unknown)
    if number == 0:
        return 0.0
    holds = min(1.0, after.hand_sizes[reply] / np.float64(number))
    most = _MOST[params.game]
    lacks, expected = np.ones(most + 1), 0.0  # by points: the chance that none scores so many
    tiles = unknown & fitting(after)
    while tiles:
        other = lowest(tiles)
        tiles &= tiles - 1
        best = 0
        for there in range(4):
            if joinable(after, NO_TILE, np.int64(1) << other, there):
                best = max(best, int(credited(params, after, reply, other, there)))
        lacks[best] *= 1.0 - holds
    left = 1.0
    for points in range(most, 0, -1):
        expected += points * left * (1.0 - lacks[points])
        left *= lacks[points]
    sides = np.float64(params.num_sides) - 1
    return -expected if side_of(params, reply) == side_of(params, seat) else expected / sides
