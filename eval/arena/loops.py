"""The compiled loops: `play_on` plays and records matches, `replay` plays records again.

``params`` is PARAMS [1], ``games`` GAME [B], ``script`` SCRIPT [R]. An action is one byte; the
actions of a match in their order say all of its course, since the deals follow from its seed.
"""

# mypy: allow-untyped-defs
# Compiled functions take records, which have no static type.

import numpy as np

from fives_env.actions import DRAW, PASS
from fives_env.engine import choose, keys, turns
from fives_env.engine.scoring import side_of
from fives_env.engine.view import write_view
from fives_env.jit import jit, jit_inline, jit_part
from fives_env.records import BLOCKED, OUT

OVER, NO_ROOM = -1, -2
"""In `waiting`, instead of the seat to ask: the match is over; the record has no room left."""

FACTS = np.dtype(
    [
        ("moves", "i4"),
        ("rounds", "i4"),
        ("blocked", "i4"),
        ("points", "i4", (4,)),
        ("settled", "i4", (4,)),
        ("refused", "i4", (4,)),
        ("placements", "i4", (4,)),
        ("draws", "i4", (4,)),
        ("knocks", "i4", (4,)),
        ("outs", "i4", (4,)),
    ],
    align=True,
)
"""What is counted of one match; the fields of four are by side."""

PLAYED, ILLEGAL, UNFINISHED, LEFT_OVER = range(4)
"""What `replay` says of a record: it fits, or what is wrong with it."""


@jit
def mix_all(key, indices, numbers):
    """Fills `numbers`, uint64 [N], with those of the stream `key` at `indices`."""
    for row in range(len(indices)):
        numbers[row] = keys.mix(key, indices[row])


@jit
def hash_rows(content, ends, hashes):
    """Fills `hashes`, uint64 [B]: row r is the bytes from ``ends[r - 1]`` to before ``ends[r]``."""
    at = np.int64(0)
    for row in range(len(ends)):
        number = np.uint64(ends[row] - at)
        while at < ends[row]:
            number = keys.mix(number, content[at])
            at += 1
        hashes[row] = number


@jit_inline
def _record_and_act(params, game, script, action, record, length):
    record[length] = action
    turns.act(params, game, action)
    if turns.goes_on(game):
        turns.start_round(params, game, script)


@jit
def play_on(params, games, script, kinds, actions, records, lengths, waiting):
    """Plays `actions` (-1: none), then lets built-in policies play on, and records it all.

    `kinds` says for each seat which built-in policy plays it, or -1 where Python asks. `waiting`
    becomes the seat to ask in each row, or OVER, or NO_ROOM. Returns how many are not over.
    """
    room = records.shape[1]
    going = 0
    for row in range(len(games)):
        game = games[row]
        record = records[row]
        length = np.int64(lengths[row])
        waiting[row] = OVER
        if actions[row] >= 0:
            _record_and_act(params[0], game, script, actions[row], record, length)
            length += 1
        while not game.match_over:
            if length == room:
                waiting[row] = NO_ROOM
                break
            kind = kinds[game.seat]
            if kind < 0:
                waiting[row] = game.seat
                break
            hand = game.hands[game.seat]
            action = choose.choose(kind, params[0], game, game.lead_tile, hand, keys.turn_key(game))
            _record_and_act(params[0], game, script, action, record, length)
            length += 1
        lengths[row] = length
        going += waiting[row] != OVER
    return going


@jit
def show(params, games, rows, matches, salt, views, masks, row_keys):
    """What the seats to move in `rows` may know, may do, and have as keys, side by side.

    `matches`, uint64 [B], are the numbers that keys know matches by, under the `salt`, uint64 [2].
    """
    for out in range(len(rows)):
        row = rows[out]
        game = games[row]
        write_view(params[0], game, game.seat, views[out])
        turns.write_mask(params[0], game, game.lead_tile, game.hands[game.seat], masks[out])
        row_keys[out] = keys.policy_key(salt, matches[row], game)


@jit
def all_legal(params, games, rows, actions):
    """Whether each action (int64 [N]) is legal in the game of its row (int64 [N])."""
    legal = True
    for at in range(len(rows)):
        legal = legal and turns.is_legal(params[0], games[rows[at]], actions[at])
    return legal


@jit
def replay(params, games, script, moves, ends, facts, faults):
    """Plays recorded matches from their start and counts; no illegal action is ever played.

    Row r has the actions from ``ends[r - 1]`` to before ``ends[r]``. `faults` becomes PLAYED,
    or what is wrong with the row's record; the row then stands where the fault is.
    """
    start = np.int64(0)
    for row in range(len(games)):
        end = np.int64(ends[row])
        faults[row] = _replay(params[0], games[row], script, moves, start, end, facts[row])
        start = end


@jit_part
def _replay(params, game, script, moves, start, end, facts):
    for at in range(start, end):
        action = np.int64(moves[at])
        if game.match_over:
            return LEFT_OVER
        if not turns.is_legal(params, game, action):
            return ILLEGAL
        turns.act(params, game, action)
        _count(params, game, facts)
        if turns.goes_on(game):
            turns.start_round(params, game, script)
    return PLAYED if game.match_over else UNFINISHED


@jit_part
def _count(params, game, facts):
    side = side_of(params, game.mover)
    facts.moves += 1
    if game.action == DRAW:
        facts.draws[side] += 1
    elif game.action == PASS:
        facts.knocks[side] += 1
    else:
        facts.placements[side] += 1
    facts.points[side] += game.points
    facts.refused[side] += game.refused
    for each in range(4):
        facts.settled[each] += game.settlement[each]
    if game.round_over == OUT:
        facts.outs[side] += 1
    elif game.round_over == BLOCKED:
        facts.blocked += 1
    facts.rounds = game.round + 1
