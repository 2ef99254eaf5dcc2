# mypy: allow-untyped-defs
# (compiled functions take records, which have no static type)
"""The whole tree of a small game, walked by the engine: every deal, every draw, every action.

Node 0 is the deal, a chance node over all hands and leaders, all equally likely. A draw is a chance
node over the tiles that may come. What a seat knows is the chain of all its views so far. Each view
holds all actions of the round, so nothing is forgotten, neither what was dealt nor what was drawn.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from fives_env.actions import DRAW, NUM_ACTIONS
from fives_env.engine import turns
from fives_env.engine.chance import draw
from fives_env.engine.keys import mix
from fives_env.engine.memory import copy_bytes, copy_game, word_at
from fives_env.engine.view import write_view
from fives_env.jit import jit, jit_part
from fives_env.records import GAME, VIEW

NODE = np.dtype(
    [
        ("parent", "i8"),
        ("key", "u8"),  # of a decision: a hash of all that the seat to move has seen
        ("value", "f8"),  # of an end: the points of seat 0 less those of seat 1
        ("children", "i4"),
        ("action", "i2"),  # the action that leads here; -1 behind chance
        ("depth", "i2"),  # edges from node 0
        ("player", "i1"),  # the seat to move, CHANCE or END
        ("index", "i1"),  # the how-manieth child it is of a decision; 0 behind chance
        ("_", "u1", (6,)),
    ],
    align=True,
)
"""A node of the tree; nodes are kept in the order of a walk in depth first."""
CHANCE, END = -1, -2
_VIEW_BYTES = VIEW.itemsize

FRAME = np.dtype(
    [
        ("node", "i8"),
        ("player", "i8"),
        ("cursor", "i8"),  # the next action, or tile of the boneyard, to try
        ("born", "i8"),  # children so far
        ("seen", "u8", (2,)),  # a hash of what each seat has seen
    ],
    align=True,
)
"""A node on the way from the deal to where the walk is."""
MAX_DEPTH = 128
"""Levels of a walk: two for each draw, one for each other action; a small set has far fewer."""


class Scratch(NamedTuple):
    """What a walk works in, by level but for the view.

    Attributes:
        stack: GAME [MAX_DEPTH].
        frames: FRAME [MAX_DEPTH].
        masks: bool [MAX_DEPTH, 114].
        seen: VIEW [1].
    """

    stack: Any
    frames: Any
    masks: Any
    seen: Any

    @classmethod
    def new(cls) -> Self:
        """Memory for one walk at a time."""
        return cls(
            np.zeros(MAX_DEPTH, GAME),
            np.zeros(MAX_DEPTH, FRAME),
            np.zeros((MAX_DEPTH, NUM_ACTIONS), np.bool_),
            np.zeros(1, VIEW),
        )


@jit
def walk(params, deals, nodes, wanted, views, most, scratch):
    """Walks the tree of every deal.

    Args:
        params: PARAMS [1].
        deals: GAME [D], each dealt and not begun.
        nodes: NODE [N], filled in; with none given, nodes are only counted.
        wanted: int64 [N], for each node the row of `views` for its view, or -1; or none.
        views: VIEW [M], filled in.
        most: Past so many nodes the walk ends.
        scratch: `Scratch`.

    Returns:
        The number of nodes, or more than `most`.
    """
    stack, frames, masks, view = scratch.stack, scratch.frames, scratch.masks, scratch.seen[0]
    if len(nodes):
        nodes[0].parent = -1
        nodes[0].player = CHANCE
        nodes[0].children = len(deals)
    count = 1
    for row in range(len(deals)):
        copy_game(stack[0], deals[row])
        frames[0].seen[0] = 0
        frames[0].seen[1] = 0
        level, parent, index, action = 0, np.int64(0), np.int64(0), np.int64(-1)
        while level >= 0:
            game, frame = stack[level], frames[level]
            _enter(frame, game, count, action == DRAW)
            if frame.player >= 0:
                seat = frame.player
                write_view(params[0], game, seat, view)
                for at in range(0, _VIEW_BYTES, 8):
                    frame.seen[seat] = mix(frame.seen[seat], word_at(view, at))
                turns.write_mask(params[0], game, game.lead_tile, game.hands[seat], masks[level])
                if count < len(wanted) and wanted[count] >= 0:
                    copy_bytes(views[wanted[count]], 0, view, 0, _VIEW_BYTES)
            if count >= most:
                return count + 1
            if len(nodes):
                _write(nodes[count], frame, game, parent, index, action, level)
            count += 1
            while level >= 0:  # up to the nearest node that has another child
                frame = frames[level]
                choice = _next_choice(params[0], stack[level], frame, masks[level])
                if choice >= 0:
                    break
                if len(nodes):
                    nodes[frame.node].children = frame.born
                level -= 1
            if level < 0:
                break
            parent, index, action = frame.node, frame.born, choice
            frame.born += 1
            level += 1
            copy_game(stack[level], stack[level - 1])
            frames[level].seen[0] = frame.seen[0]
            frames[level].seen[1] = frame.seen[1]
            if frame.player == CHANCE:
                draw(params[0], stack[level], choice)
                index, action = np.int64(0), np.int64(-1)
            elif action != DRAW:  # a draw is carried out by chance
                turns.act(params[0], stack[level], action)
    return count


@jit_part
def _enter(frame, game, number, draws):
    frame.node = number
    frame.cursor = 0
    frame.born = 0
    if draws:
        frame.player = CHANCE
    else:
        frame.player = END if game.match_over else np.int64(game.seat)


@jit_part
def _write(node, frame, game, parent, index, action, level):
    node.parent = parent
    node.index = index
    node.action = action
    node.depth = level + 1
    node.player = frame.player
    if frame.player >= 0:
        node.key = frame.seen[frame.player]
    if frame.player == END:
        node.value = np.int64(game.scores[0]) - np.int64(game.scores[1])


@jit_part
def _next_choice(params, game, frame, mask):
    """The next action, or the next tile behind `next_draw`, that was not tried; -1 for none."""
    choice = frame.cursor
    if frame.player == CHANCE:
        end = np.int64(params.num_tiles) - np.int64(game.next_draw)
    elif frame.player == END:
        end = np.int64(0)
    else:
        end = np.int64(NUM_ACTIONS)
        while choice < end and not mask[choice]:
            choice += 1
    frame.cursor = choice + 1
    return choice if choice < end else np.int64(-1)


@jit
def write_masks(params, views, masks):
    """The legal actions of whoever looks, who is to move: bool [B, 114]."""
    for row in range(len(views)):
        view = views[row]
        turns.write_mask(params[0], view, view.lead_tile, view.hand, masks[row])


@jit
def view_keys(views, seed, keys):
    """A key for each view that follows from `seed` and the view alone: uint64 [B]."""
    for row in range(len(views)):
        key = np.uint64(seed)
        for at in range(0, _VIEW_BYTES, 8):
            key = mix(key, word_at(views[row], at))
        keys[row] = key
