"""Whose turn it is, what an action does, how rounds and matches end (C6 to C8, F6 to F13, D)."""

import numpy as np

from fives_env.actions import DRAW, PASS
from fives_env.engine.bits import lowest
from fives_env.engine.deal import deal
from fives_env.engine.keys import NEXT_MATCH, START_SCORES, below, mix
from fives_env.engine.layout import fitting, joinable, open_values, place, total_after
from fives_env.engine.scoring import (
    completes_going_out,
    event,
    is_refused,
    settle,
    side_at_target,
    side_of,
)
from fives_env.jit import jit_inline, jit_part
from fives_env.records import (
    BLOCKED,
    FORCED_DRAW,
    NO_ACTION,
    NO_DRAW,
    NO_SEAT,
    NOT_OVER,
    OPTIONAL_DRAW,
    OUT,
)
from fives_env.tiles import NO_VALUE, NUM_TILES


@jit_part
def drawable(params, public):
    """How many tiles may still be drawn (F2, T12)."""
    return 0 if params.draw == NO_DRAW else np.int64(public.boneyard) - params.reserve


@jit_part
def may_draw(params, public, hand):
    """Whether the seat to move, holding `hand`, may draw (T3, T13, A4, D12)."""
    if drawable(params, public) <= 0:
        return False
    return params.draw == OPTIONAL_DRAW or np.int64(hand) & fitting(public) == 0


@jit_part
def must_pass(params, public, hand):
    """Whether the seat to move, holding `hand`, can only knock (C7)."""
    return np.int64(hand) & fitting(public) == 0 and drawable(params, public) <= 0


@jit_part
def is_legal(params, game, action):
    """Whether the seat to move may take this action."""
    if game.match_over or action < 0 or action > PASS:
        return False
    hand = game.hands[game.seat]
    if action == DRAW:
        return may_draw(params, game, hand)
    if action == PASS:
        return must_pass(params, game, hand)
    arm = action // NUM_TILES
    return joinable(game, game.lead_tile, hand, arm) >> (action - arm * NUM_TILES) & 1 == 1


@jit_part
def write_mask(params, public, lead_tile, hand, mask):
    """Writes the legal actions of a seat to move that holds `hand`: bool [114]."""
    mask[:] = False
    for arm in range(4):
        tiles = joinable(public, lead_tile, hand, arm)
        while tiles:
            mask[arm * NUM_TILES + lowest(tiles)] = True
            tiles &= tiles - 1
    mask[DRAW] = may_draw(params, public, hand)
    mask[PASS] = must_pass(params, public, hand)


@jit_inline
def act(params, game, action):
    """Plays one legal action of the seat to move; ends and settles the round, deals no other."""
    seat = np.int64(game.seat)
    game.mover = seat
    game.action = action
    _clear_event(game)
    if action == DRAW:
        _draw(game, seat)
    elif action == PASS:
        game.absent[seat] |= open_values(game)
    else:
        arm = np.int64(np.uint64(action) // np.uint64(NUM_TILES))  # unsigned division is cheaper
        play_tile(params, game, seat, action - arm * NUM_TILES, arm)
    game.moves[game.num_moves, 0] = seat
    game.moves[game.num_moves, 1] = action
    game.num_moves += 1
    if game.match_over:
        return
    # A knock blocks no real round, which is found blocked before it; but a sampled world may be
    # one in which nobody can place, and must not go on for ever.
    if game.round_over == NOT_OVER and _is_blocked(params, game):
        game.round_over = BLOCKED
    if game.round_over != NOT_OVER:
        _finish_round(params, game)
    elif action != DRAW:
        _next_seat(params, game)


@jit_inline
def goes_on(game):
    """Whether the last action ended a round but not the match, so that the next is to be dealt."""
    return game.round_over != NOT_OVER and not game.match_over


@jit_inline
def _clear_event(game):
    game.points = 0
    game.refused = 0
    game.round_over = NOT_OVER
    for side in range(4):
        game.settlement[side] = 0


@jit_part
def _draw(game, seat):
    game.hands[seat] |= np.uint32(1) << np.uint32(game.deck[game.next_draw])
    game.hand_sizes[seat] += 1
    game.next_draw += 1
    game.boneyard -= 1
    game.absent[seat] = 0  # the new tile may hold anything


@jit_inline
def play_tile(params, game, seat, tile, arm):
    """One event: the tile is laid, its points credited or refused, the target tested (F11, F12).

    A part of `act`: that the round is blocked or settled, and whose turn it is, comes after it.
    """
    out = completes_going_out(params, game, seat)
    total = total_after(game, tile, arm)
    points = event(params, game, seat, total)
    if params.draw == FORCED_DRAW and _has_just_drawn(game):
        game.absent[seat] = open_values(game)  # neither the hand nor any tile drawn before fitted
    place(params, game, tile, arm, total)
    game.hands[seat] ^= np.uint32(1) << np.uint32(tile)
    game.hand_sizes[seat] -= 1
    if out:
        game.round_over = OUT
    if is_refused(params, game, seat, points):
        game.refused = 1
        return
    side = side_of(params, seat)
    game.points = points
    game.scores[side] += points
    if game.target_on and not params.check_at_round_end and game.scores[side] >= params.target:
        game.winner = side
        game.match_over = 1


@jit_part
def _has_just_drawn(game):
    """Whether the seat to move drew in this turn (a draw never passes the turn)."""
    return game.num_moves > 0 and game.moves[game.num_moves - 1, 1] == DRAW


@jit_part
def _is_blocked(params, game):
    """C8, F8: no hand can place and nobody can draw."""
    if drawable(params, game) > 0:
        return False
    hands = game.hands[0] | game.hands[1] | game.hands[2] | game.hands[3]
    return np.int64(hands) & fitting(game) == 0


@jit_part
def _next_seat(params, game):
    """C6, F7: clockwise to the next hand that holds tiles."""
    seat = np.int64(game.seat)
    while True:
        seat += 1
        if seat == params.num_players:
            seat = np.int64(0)
        if game.hand_sizes[seat] > 0:
            break
    game.seat = seat


@jit_part
def _finish_round(params, game):
    """Settles, tests the target (T8, D2), and ends the match where it ends (D6, D7)."""
    settle(params, game)
    if game.target_on:
        game.winner = side_at_target(params, game)
        game.match_over = game.winner >= 0
    if not game.match_over:
        if params.single_round:
            game.match_over = 1
        elif game.round + 1 >= params.max_rounds:
            game.match_over = 1
            game.truncated = 1


@jit_part
def start_round(params, game, script):
    """Deals the round after the one that ended, onto an empty table."""
    game.round += 1
    clear_table(game)
    deal(params, game, script)


@jit_part
def clear_table(game):
    """Takes all tiles off the table, and what was known of the round."""
    game.played = 0
    game.total = 0
    for arm in range(4):
        game.arms[arm] = NO_VALUE
        game.counts[arm] = 0
        game.absent[arm] = 0
    game.spinner = NO_VALUE
    game.spinner_ends = 0
    for move in range(game.num_moves):
        game.moves[move, 0] = 0
        game.moves[move, 1] = 0
    game.num_moves = 0


@jit_part
def start_match(params, game, script, start, key):
    """A new match on the stream `key`: scores, and the first round dealt."""
    game.key = key
    game.round = 0
    game.mover = NO_SEAT
    game.action = NO_ACTION
    _clear_event(game)
    game.match_over = 0
    game.truncated = 0
    game.winner = -1
    game.target_on = start.given or not params.single_round
    for side in range(4):
        game.scores[side] = start.scores[side]
        if start.drawn and side < params.num_sides:
            game.scores[side] = below(mix(key, START_SCORES + np.uint64(side)), params.target)
    clear_table(game)
    deal(params, game, script)


@jit_part
def start_next_match(params, game, script, start):
    """The match after this one on the same row."""
    start_match(params, game, script, start, mix(game.key, NEXT_MATCH))
