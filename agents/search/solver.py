"""Exact play for the rest of a round with all hands open: alpha-beta on one GAME record.

The side that searches maximises its value (goals.py), every other side minimises it: exact for two
sides, whose values are opposite; with more, it takes all the others to play against it ("paranoid":
Sturtevant and Korf 2000). Who maximises follows from the seat to move, never from the ply, since
knocks, draws and empty hands let a side move twice.

Moves are played by the engine on the record itself and taken back by restoring the few bytes that
they change. Positions with one legal action are played through and cost no depth. Where a line
reaches the depth limit, greedy plays the round out; so a value always is that of a finished round.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from fives_env.actions import DRAW, PASS
from fives_env.engine.belief import KNOWN
from fives_env.engine.bits import lowest
from fives_env.engine.choose import choose_greedy
from fives_env.engine.layout import joinable, lone_double
from fives_env.engine.memory import copy_bytes
from fives_env.engine.scoring import credited, side_of
from fives_env.engine.turns import act, drawable, may_draw
from fives_env.jit import jit, jit_inline, jit_part
from fives_env.records import GAME, NOT_OVER, OPTIONAL_DRAW
from fives_env.tiles import NUM_TILES, PIPS

from .goals import GOAL, set_goal, worth

_PIPS = PIPS.astype(np.int64)
_HEAD = GAME.fields["moves"][1]  # type: ignore[index]
_HANDS = GAME.fields["hands"][1]  # type: ignore[index]
_SIZE = GAME["hands"].itemsize
MAX_WIDTH = 29
"""Most actions of one position: seven tiles on each of four arms, and DRAW."""
MAX_DEPTH = 56
"""Most positions with a choice in one line: 28 placements and 24 draws, with room."""
NO_LIMIT = MAX_DEPTH
WORST = -(1 << 60)
UNBOUNDED = 1 << 60
FIRST_LIMIT = 2
"""The depth that is searched whatever the budget."""
SHORT = 15
"""Rounds with at most so many tiles to play are searched to their end at once ..."""
SHORT_BUDGET = 20_000
"""... if that takes at most so many positions; the opening of two hands of seven takes 4,000."""

FRAME = np.dtype(
    [
        ("position", "u1", (_HEAD + _SIZE,)),  # the bytes of the game that an action can change
        ("maximises", "i8"),
        ("alpha", "i8"),
        ("beta", "i8"),
        ("best", "i8"),
        ("num", "i8"),
        ("next", "i8"),
        ("moves", "i8", (MAX_WIDTH,)),  # best first; the low byte is 255 less the action
    ]
)
"""One position on the path from the root."""


class Scratch(NamedTuple):
    """What a search works in.

    Attributes:
        games: GAME [1], the world that is searched.
        goals: GOAL [1].
        frames: FRAME [MAX_DEPTH + 2], the path; the last is the root.
        known: KNOWN [1], what is known of the world.
        tables: GAME [2], in which the odds replay the round.
    """

    games: Any
    goals: Any
    frames: Any
    known: Any
    tables: Any

    @classmethod
    def new(cls) -> Self:
        """Memory for one search at a time."""
        frames, tables = np.zeros(MAX_DEPTH + 2, FRAME), np.zeros(2, GAME)
        return cls(np.zeros(1, GAME), np.zeros(1, GOAL), frames, np.zeros(1, KNOWN), tables)


@jit_inline
def save(game, frame):
    """Keeps the position of the game; `position` is the frame's first field."""
    copy_bytes(frame, 0, game, 0, _HEAD)
    copy_bytes(frame, _HEAD, game, _HANDS, _SIZE)


@jit_inline
def restore(params, game, frame):
    """Takes back everything played since `save`: `moves` is a stack, the deck stands still."""
    copy_bytes(game, 0, frame, 0, _HEAD)
    copy_bytes(game, _HANDS, frame, _HEAD, _SIZE)
    game.next_draw = np.int64(params.num_tiles) - np.int64(game.boneyard)


@jit_part
def play(params, game, action):
    """`act`, compiled once for all who call it here."""
    act(params, game, action)


@jit_part
def _same_arm_before(public, arm):
    """Whether an earlier arm shows and counts the same, so that a placement here adds nothing."""
    if arm == 1 and lone_double(public):
        return True
    for other in range(arm):
        if (
            public.arms[other] == public.arms[arm]
            and public.counts[other] == public.counts[arm]
            and (public.spinner_ends >> other & 1) == (public.spinner_ends >> arm & 1)
        ):
            return True
    return False


@jit_part
def list_moves(params, public, lead_tile, hand, frame):
    """Fills `moves` and `num`: points first, then pips, then the lowest id; mirror images once."""
    num = 0
    moves = frame.moves
    for arm in range(4):
        tiles = joinable(public, lead_tile, hand, arm)
        if tiles == 0 or (arm > 0 and _same_arm_before(public, arm)):
            continue
        while tiles:
            tile = lowest(tiles)
            tiles &= tiles - 1
            rank = credited(params, public, np.int64(public.seat), tile, arm) * 16 + _PIPS[tile]
            move = rank << 8 | 255 - (arm * NUM_TILES + tile)
            at = num
            while at > 0 and moves[at - 1] < move:
                moves[at] = moves[at - 1]
                at -= 1
            moves[at] = move
            num += 1
    if may_draw(params, public, hand):
        moves[num] = 255 - DRAW  # below every placement, whose pips or low byte are more
        num += 1
    elif num == 0:
        moves[0] = 255 - PASS
        num = 1
    frame.num = num


@jit_inline
def action_of(move):
    """The action of an entry of `moves`."""
    return 255 - (move & 255)


@jit_part
def play_out(params, game):
    """Greedy plays the round to its end; returns the number of actions."""
    number = np.int64(0)
    while game.round_over == NOT_OVER and not game.match_over:
        hand = game.hands[game.seat]
        play(params, game, choose_greedy(params, game, game.lead_tile, hand, np.uint64(number)))
        number += 1
    return number


@jit_part
def search(params, game, goal, table, frames, limit, budget):
    """The value of `game`, in which an action has just been played.

    Args:
        params: PARAMS.
        game: GAME; left in some later position.
        goal: GOAL.
        table: float32 [2, N, N], the equity table.
        frames: FRAME [MAX_DEPTH + 1], work space.
        limit: Most positions with a choice in one line; greedy plays on from there.
        budget: Most positions to visit; the value means nothing once they are spent.

    Returns:
        The value, the number of positions visited, and whether the limit cut any line.
    """
    depth = 0  # frames[depth] is for the position that is looked at
    alpha, beta = np.int64(WORST), np.int64(-WORST)
    visited = 0
    cut = False
    while True:
        frame = frames[depth]
        over = False
        while True:
            over = game.round_over != NOT_OVER or game.match_over
            if over:
                break
            visited += 1
            if visited > budget:
                return np.int64(0), visited, True
            list_moves(params, game, game.lead_tile, game.hands[game.seat], frame)
            if frame.num > 1:
                break
            play(params, game, action_of(frame.moves[0]))
        if not over and depth < limit:
            save(game, frame)
            frame.maximises = side_of(params, game.seat) == goal.side
            frame.alpha, frame.beta = alpha, beta
            frame.best = WORST if frame.maximises else -WORST
            frame.next = 1
            play(params, game, action_of(frame.moves[0]))
            depth += 1
            continue
        if not over:
            cut = True
            visited += play_out(params, game)
        value = worth(params, game, goal, table)
        while True:  # hand the value back to the positions before
            depth -= 1
            if depth < 0:
                return value, visited, cut
            frame = frames[depth]
            if frame.maximises:
                frame.best = max(frame.best, value)
                frame.alpha = max(frame.alpha, value)
            else:
                frame.best = min(frame.best, value)
                frame.beta = min(frame.beta, value)
            if frame.next < frame.num and frame.alpha < frame.beta:
                break
            value = frame.best
        restore(params, game, frame)
        play(params, game, action_of(frame.moves[frame.next]))
        frame.next += 1
        alpha, beta = frame.alpha, frame.beta
        depth += 1


@jit_part
def solve_root(params, game, goal, table, frames, root, budget, values):
    """Fills `values`, int64 [2 * MAX_WIDTH], with what each move of `root` is worth.

    A short round is searched to its end. A longer one, or one that takes too many positions for
    that, is searched deeper and deeper until no line is cut or `budget` positions are spent; the
    values are then those of the last depth that was completed for every move.

    Returns:
        The number of positions visited, and whether the values are exact.
    """
    spent = 0
    if _is_short(params, game):
        done, _, spent = _solve_to(
            params, game, goal, table, frames, root, NO_LIMIT, SHORT_BUDGET, values
        )
        if done:
            return spent, True
    limit = FIRST_LIMIT
    visited = 0
    allowed = np.int64(UNBOUNDED)
    while True:
        done, cut, here = _solve_to(params, game, goal, table, frames, root, limit, allowed, values)
        visited += here
        allowed = budget - visited
        if not cut or not done or allowed <= 0:
            return spent + visited, not cut
        limit += 1


@jit_part
def _is_short(params, game):
    """Whether the round can be searched to its end; the choice to draw makes any round long."""
    tiles = drawable(params, game)
    if tiles > 0 and params.draw == OPTIONAL_DRAW:
        return False
    for seat in range(4):
        tiles += np.int64(game.hand_sizes[seat])
    return tiles <= SHORT


@jit_part
def _solve_to(params, game, goal, table, frames, root, limit, budget, values):
    """One depth of `solve_root`: whether it was completed, whether a line was cut, positions."""
    visited = 0
    cut = False
    for index in range(root.num):
        restore(params, game, root)
        play(params, game, action_of(root.moves[index]))
        value, here, cut_here = search(params, game, goal, table, frames, limit, budget - visited)
        visited += here
        if visited > budget:
            return False, True, visited
        values[MAX_WIDTH + index] = value
        cut |= cut_here
    values[: root.num] = values[MAX_WIDTH : MAX_WIDTH + root.num]
    return True, cut, visited


@jit
def solve(params, games, kind, table, low, budget, scratch, values, exact):
    """What each action is worth in games whose hands are all seen.

    Args:
        params: PARAMS [1].
        games: GAME [B], left as they are.
        kind: POINTS or EQUITY (goals.py), for the side to move.
        table: float32 [2, N, N], the equity table.
        low: Its least score.
        budget: Positions that may be visited in one long round.
        scratch: `Scratch`.
        values: int64 [B, 114]; filled for the legal actions, of mirror images for the first alone.
        exact: bool [B]; filled: whether the budget sufficed.
    """
    goal, frames, root = scratch.goals[0], scratch.frames, scratch.frames[MAX_DEPTH + 1]
    found = np.zeros(2 * MAX_WIDTH, np.int64)
    for row in range(len(games)):
        game = games[row]
        list_moves(params[0], game, game.lead_tile, game.hands[game.seat], root)
        save(game, root)
        set_goal(goal, params[0], game, kind, low)
        _, exact[row] = solve_root(params[0], game, goal, table, frames, root, budget, found)
        restore(params[0], game, root)
        for index in range(root.num):
            values[row, action_of(root.moves[index])] = found[index]
