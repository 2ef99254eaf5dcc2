"""The compiled loops: `replay` plays records of matches again; hashes of records.

``params`` is PARAMS [1], ``games`` GAME [B], ``script`` SCRIPT [R]. An action is one byte; the
actions of a match in their order say all of its course, since the deals follow from its seed.
"""

# mypy: allow-untyped-defs
# Compiled functions take records, which have no static type.

import numpy as np

from fives_env.actions import DRAW, PASS
from fives_env.engine import keys, turns
from fives_env.engine.scoring import side_of
from fives_env.jit import jit, jit_part
from fives_env.records import BLOCKED, OUT

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
