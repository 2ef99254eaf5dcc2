"""Odds: what the moves of a round tell about the hands, tile by tile.

Whoever laid one tile did not lay another that it could have laid: a tile that would have been worth
more then is the less likely to be in that hand now. Each past turn gives each unseen tile a factor;
their product is its weight in `belief.count_ways`, where 1 stands for no information. What nobody
can hold stays impossible. Public facts alone are read.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.actions import DRAW, PASS
from fives_env.engine.belief import (
    KNOWN,
    count_ways,
    look,
    num_ways,
    unseen_tiles,
    write_chances,
)
from fives_env.engine.bits import lowest, popcount
from fives_env.engine.layout import fitting, is_double, joinable, place, total_after
from fives_env.engine.memory import copy_bytes, copy_public
from fives_env.engine.scoring import credited, event, side_of
from fives_env.engine.turns import clear_table
from fives_env.jit import jit, jit_part
from fives_env.records import GAME, HIGHEST_DOUBLE_LEADS
from fives_env.tiles import NO_TILE, NUM_TILES, PIPS

Array = npt.NDArray[Any]
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
_MOST = 36


def chances(views: Array, temperature: float = TEMPERATURE) -> Array:
    """How likely each seat holds each tile, by what the view tells and what was played.

    Args:
        views: VIEW [B].
        temperature: Infinite for what the view alone tells: all deals that agree are as likely.

    Returns:
        float64 [B, 4, 28], by seat; the viewer's own hand is 1.

    Raises:
        ValueError: A view agrees with no deal.
    """
    views = np.ascontiguousarray(views)
    found = np.zeros((len(views), 4, NUM_TILES))
    row = _write_all(views, temperature, np.zeros(1, KNOWN), np.zeros(2, GAME), found)
    if row >= 0:
        raise ValueError(f"views[{row}] agrees with no deal of its set")
    return found


@jit
def _write_all(views, temperature, scratch, games, found):
    """Fills float64 [B, 4, 28]; returns the first row that agrees with no deal, or -1."""
    known, others = scratch[0], np.zeros((3, NUM_TILES))
    for row in range(len(views)):
        view = views[row]
        look(view, known)
        weigh(view, temperature, CAUTION, games, known.weights)
        ways = count_ways(known)
        if num_ways(known, ways) == 0:
            return row
        write_chances(known, ways, others)
        players = np.int64(view.rules.num_players)
        for other in range(players - 1):
            found[row, (np.int64(view.viewer) + 1 + other) % players] = others[other]
        for tile in range(NUM_TILES):
            found[row, view.viewer, tile] = view.hand >> tile & 1
    return -1


@jit_part
def weigh(view, temperature, caution, games, weights):
    """Multiplies the weights of the other seats' tiles by what their turns of this round tell.

    Args:
        view: VIEW.
        temperature: In points of fives-and-threes; infinite: nothing is told.
        caution: How much of the expected reply the players take off.
        games: GAME [2], to work in.
        weights: float64 [3, 28], of the other seats clockwise, as in `belief.KNOWN`.
    """
    if temperature == np.inf:
        return
    params, moves, game = view.rules, view.moves, games[0]
    _begin(view, game)
    for number in range(np.int64(view.num_moves)):
        seat, action = np.int64(moves[number, 0]), np.int64(moves[number, 1])
        if action == DRAW:
            game.hand_sizes[seat] += 1
            continue
        if action == PASS:
            continue
        tile, arm = action % NUM_TILES, action // NUM_TILES
        chose = game.played != 0 or params.lead != HIGHEST_DOUBLE_LEADS
        if seat != view.viewer and chose and view.hand_sizes[seat] > 0:
            other = (seat - np.int64(view.viewer) - 1) % np.int64(params.num_players)
            held, doubt = _still_held(view, seat, number), (temperature, caution)
            _tell(view, games, (seat, tile, arm), held, doubt, weights[other])
        game.scores[side_of(params, seat)] += credited(params, game, seat, tile, arm)
        _lay(params, game, seat, tile, arm, total_after(game, tile, arm))


@jit_part
def _begin(view, game):
    """Makes `game` the empty table of the round, with the scores of then.

    Points that were refused (F12) count as scored, so that scores may come out too low.
    """
    params, moves = view.rules, view.moves
    copy_public(game, view)
    _lay_nothing(params, game)
    for number in range(np.int64(view.num_moves)):
        seat, action = np.int64(moves[number, 0]), np.int64(moves[number, 1])
        if action == DRAW:
            game.hand_sizes[seat] += 1
        elif action != PASS:
            tile, arm = action % NUM_TILES, action // NUM_TILES
            total = total_after(game, tile, arm)
            game.scores[side_of(params, seat)] -= event(params, game, seat, total)
            _lay(params, game, seat, tile, arm, total)
    _lay_nothing(params, game)


@jit_part
def _lay_nothing(params, game):
    game.num_moves = 0
    clear_table(game)
    for seat in range(np.int64(params.num_players)):
        game.hand_sizes[seat] = params.hand_size


@jit_part
def _lay(params, game, seat, tile, arm, total):
    place(params, game, tile, arm, total)
    game.hand_sizes[seat] -= 1


@jit_part
def _still_held(view, seat, number):
    """How likely a tile that the seat holds now was in its hand at this move already."""
    drawn = 0
    for later in range(number + 1, np.int64(view.num_moves)):
        drawn += view.moves[later, 0] == seat and view.moves[later, 1] == DRAW
    return max(0.0, 1.0 - drawn / np.float64(view.hand_sizes[seat]))


@jit_part
def _tell(view, games, laid, held, doubt, weights):
    """Multiplies the weights of one seat, float64 [28], by what one placement of its tells.

    Args:
        view: VIEW.
        games: GAME [2]: the table before it, and one to work in.
        laid: Seat, tile and arm.
        held: From `_still_held`.
        doubt: Temperature and caution.
        weights: Changed.
    """
    params, game = view.rules, games[0]
    seat, tile, arm = laid
    temperature, caution = doubt
    sharpness = 1.0 / (temperature * UNIT[params.game])
    worth = _worth(params, games, seat, tile, arm, caution)
    tiles = unseen_tiles(view) & fitting(game)
    while tiles:
        other = lowest(tiles)
        tiles &= tiles - 1
        if weights[other] == 0:
            continue
        best = -np.inf
        for there in range(4):
            if joinable(game, NO_TILE, np.int64(1) << other, there):
                best = max(best, _worth(params, games, seat, other, there, caution))
        told = 1.0 / (1.0 + np.exp((best - worth) * sharpness))
        weights[other] *= 1.0 - held + held * told


@jit_part
def _worth(params, games, seat, tile, arm, caution):
    """What the placement was worth: its points, habits that all players have, less the reply."""
    points = np.float64(credited(params, games[0], seat, tile, arm))
    points += UNIT[params.game] * (_DOUBLE * is_double(tile) + _PIP * _PIPS[tile])
    if caution == 0:
        return points
    return points - caution * _expected_reply(params, games, seat, tile, arm)


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
    lacks, expected = np.ones(_MOST), 0.0
    tiles = unknown & fitting(after)
    while tiles:
        other = lowest(tiles)
        tiles &= tiles - 1
        best = 0
        for there in range(4):
            if joinable(after, NO_TILE, np.int64(1) << other, there):
                best = max(best, int(credited(params, after, reply, other, there)))
        lacks[min(best, _MOST - 1)] *= 1.0 - holds
    left = 1.0
    for points in range(_MOST - 1, 0, -1):
        expected += points * left * (1.0 - lacks[points])
        left *= lacks[points]
    sides = np.float64(params.num_sides) - 1
    return -expected if side_of(params, reply) == side_of(params, seat) else expected / sides
