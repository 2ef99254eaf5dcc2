"""What an event is worth (F5, T4, A6, F9, F11, F12), and the end of a round (T7, A8)."""

import numpy as np

from fives_env.engine.layout import pips, total_after
from fives_env.jit import jit_part
from fives_env.records import ALL_FIVES, FIVES_AND_THREES, THREES_AND_FIVES

MAX_TOTAL = 48  # four arms that end in doubles; no layout reaches it


def _points_table() -> np.ndarray:
    table = np.zeros((3, MAX_TOTAL + 1), np.int64)
    for total in range(1, MAX_TOTAL + 1):
        threes = total % 3 == 0
        fives = total % 5 == 0
        table[FIVES_AND_THREES, total] = total // 3 * threes + total // 5 * fives
        table[THREES_AND_FIVES, total] = total * threes + total * fives
        table[ALL_FIVES, total] = total * fives
    return table


POINTS = _points_table()
"""int64 [3, 49]: points by game and end total (F5, T4, A6)."""


@jit_part
def side_of(params, seat):
    """The side that `seat` plays for (C9)."""
    return np.int64(seat) & 1 if params.partners else np.int64(seat)


@jit_part
def partner_still_holds(params, public, seat):
    """Whether the round goes on without `seat`, since its partner holds tiles (F7)."""
    return (
        params.game == FIVES_AND_THREES
        and params.partners
        and public.hand_sizes[(seat + 2) % 4] > 0
    )


@jit_part
def completes_going_out(params, public, seat):
    """Whether the next placement of `seat` ends the round by going out (F6, F7, T6, A7)."""
    return public.hand_sizes[seat] == 1 and not partner_still_holds(params, public, seat)


@jit_part
def event(params, public, seat, total):
    """The points of a placement by `seat` that makes this end total, before any refusal (F11)."""
    points = POINTS[params.game, total]
    if params.game == FIVES_AND_THREES and completes_going_out(params, public, seat):
        points += 1
    return points


@jit_part
def is_refused(params, public, seat, points):
    """Whether an event of `points` would take the side of `seat` past an exact target (F12)."""
    return (
        params.game == FIVES_AND_THREES
        and public.target_on
        and public.scores[side_of(params, seat)] + points > params.target
    )


@jit_part
def credited(params, public, seat, tile, arm):
    """The points that a placement by `seat` would score now."""
    points = event(params, public, seat, total_after(public, tile, arm))
    return 0 if is_refused(params, public, seat, points) else points


@jit_part
def settle(params, game):
    """Writes the settlement of a round that is over, and books it (F10, T7, A8, D3, D17)."""
    if params.game == ALL_FIVES:
        for seat in range(np.int64(params.num_players)):
            game.settlement[side_of(params, seat)] -= (pips(game.hands[seat]) + 2) // 5 * 5
    elif params.game == THREES_AND_FIVES:
        side = _lightest_side(params, game)
        for seat in range(np.int64(params.num_players)):
            if side >= 0 and side_of(params, seat) != side:
                game.settlement[side] += pips(game.hands[seat])
    for side in range(np.int64(params.num_sides)):
        game.scores[side] += game.settlement[side]


@jit_part
def _lightest_side(params, game):
    """The side of the seat with the fewest pips, an empty hand first; -1 for a tie across sides."""
    fewest = 1000
    side = -1
    for seat in range(np.int64(params.num_players)):
        held = pips(game.hands[seat])
        if game.hand_sizes[seat] == 0:
            held = -1  # [0|0] in hand is 0 pips too, but it has not gone out
        if held < fewest:
            fewest = held
            side = side_of(params, seat)
        elif held == fewest and side != side_of(params, seat):
            side = -1
    return side


@jit_part
def side_at_target(params, game):
    """The one side with the highest score at or over the target; -1 if none or a tie (D2)."""
    best = np.int64(params.target) - 1
    side = -1
    for candidate in range(np.int64(params.num_sides)):
        if game.scores[candidate] > best:
            best = game.scores[candidate]
            side = candidate
        elif game.scores[candidate] == best:
            side = -1
    return side
