"""`Ismcts`: single-observer information set Monte Carlo tree search.

After Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (2012). One tree for
the seat that searches: a node is what it knows after the actions on the path, so the tile that
another seat draws is no part of it, and the tile that it draws itself is. Every iteration samples
one world (engine/belief.py), goes down the tree by the actions that are legal in it, adds a node,
and plays the round out. At each node the side to move maximises its own value; an action counts as
available whenever it was legal, and UCB1 uses that count in place of the visits of the parent.

Where a side knows every tile of a two-sided game, nothing is left to sample: the round is solved,
if that is possible (solver.py).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.actions import DRAW, NUM_ACTIONS
from fives_env.engine import belief
from fives_env.engine.choose import BUILT_IN, choose
from fives_env.engine.keys import mix
from fives_env.engine.scoring import side_of
from fives_env.engine.turns import drawable
from fives_env.jit import jit, jit_part
from fives_env.records import MAX_MOVES, NOT_OVER

from ..inference import odds
from .batches import at_least_one, choose_in_batches
from .goals import CERTAIN, POINTS, set_goal, value_kind, worth
from .solver import (
    MAX_DEPTH,
    MAX_WIDTH,
    Scratch,
    action_of,
    list_moves,
    play,
    save,
    solve_root,
)

Array = npt.NDArray[Any]
EXPLORATION = 1.0
"""UCB's constant, in standard deviations of the values seen at the root."""
LEAST_SPREAD = (1.0, 0.01 * CERTAIN)
"""For POINTS and EQUITY: a deviation of 0, once all values agree, would end all exploration."""
MAX_PATH = 2 * MAX_MOVES
NONE = -1

NODE = np.dtype(
    [
        ("label", "i8"),  # the action that leads here; NUM_ACTIONS + tile: the searcher drew it
        ("side", "i8"),  # who took it
        ("first", "i8"),  # child, or NONE
        ("next", "i8"),  # child of the same parent, or NONE
        ("visits", "i8"),
        ("available", "i8"),  # how often it was legal where its parent was visited
        ("total", "i8"),  # of the values for `side`
    ]
)
"""One node, and the statistics of the action that leads to it."""


@jit_part
def _child(nodes, node, label):
    child = nodes[node].first
    while child != NONE and nodes[child].label != label:
        child = nodes[child].next
    return child


@jit_part
def _add(nodes, at, parent, label, side):
    """Writes node `at` as a child of `parent`."""
    node = nodes[at]
    node.label, node.side = label, side
    node.first = NONE
    node.next = nodes[parent].first
    node.visits = node.available = node.total = 0
    nodes[parent].first = at


@jit_part
def _select(nodes, node, frame, exploration):
    """The entry of `moves` to try: the first that has no child yet, else the best by UCB1."""
    best = 0
    best_bound = -np.inf
    untried = NONE
    for index in range(frame.num):
        child = _child(nodes, node, action_of(frame.moves[index]))
        if child == NONE:
            untried = index if untried == NONE else untried
            continue
        known = nodes[child]
        known.available += 1
        bound = known.total / known.visits + exploration * np.sqrt(
            np.log(known.available) / known.visits
        )
        if bound > best_bound:
            best_bound = bound
            best = index
    return best if untried == NONE else untried


@jit_part
def _descend(params, game, viewer, nodes, size, path, frame, exploration):
    """Goes down the tree and adds what is new; returns (nodes on the path, size of the tree)."""
    node = 0
    length = 0
    new = False
    while not new and game.round_over == NOT_OVER and not game.match_over:
        seat = np.int64(game.seat)
        list_moves(params, game, game.lead_tile, game.hands[seat], frame)
        action = action_of(frame.moves[_select(nodes, node, frame, exploration)])
        play(params, game, action)
        label = action
        while True:
            child = _child(nodes, node, label)
            if child == NONE:
                child = size
                size += 1
                new = True
                _add(nodes, child, node, label, side_of(params, seat))
                nodes[child].available = 1
            node = child
            path[length] = node
            length += 1
            if label != DRAW or seat != viewer:
                break
            label = NUM_ACTIONS + np.int64(game.deck[game.next_draw - 1])
    return length, size


@jit_part
def _iterate(params, game, viewer, goal, table, nodes, size, path, frame, exploration, kind, key):
    """One iteration on the world in `game`; returns the searcher's value and the tree's size."""
    game.round_over = NOT_OVER  # until the first action it is that of the round before
    length, size = _descend(params, game, viewer, nodes, size, path, frame, exploration)
    number = np.int64(0)
    while game.round_over == NOT_OVER and not game.match_over:
        hand = game.hands[game.seat]
        action = choose(kind, params, game, game.lead_tile, hand, mix(key, 64 + number))
        play(params, game, action)
        number += 1
    own = goal.side
    for side in range(np.int64(params.num_sides)):
        goal.side = side
        value = worth(params, game, goal, table)
        for step in range(length):
            node = nodes[path[step]]
            if node.side == side:
                node.visits += 1
                node.total += value
    goal.side = own
    return worth(params, game, goal, table), size


@jit_part
def _most_visited(nodes, root):
    """The entry of `moves` that was tried most, then with the best mean, then listed first."""
    best = 0
    most = np.int64(-1)
    best_total = np.int64(0)
    for index in range(root.num):
        child = _child(nodes, 0, action_of(root.moves[index]))
        if child == NONE:
            continue
        node = nodes[child]
        if node.visits > most or (node.visits == most and node.total > best_total):
            best = index
            most = node.visits
            best_total = node.total
    return best


@jit_part
def _one_world(params, view, ways):
    """Whether all tiles are known: one way to deal the hands, and no order of draws to guess."""
    tiles = drawable(params, view)
    return ways == 1 and (tiles <= 0 or (tiles == 1 and view.boneyard == 1))


@jit_part
def _solved(params, game, goal, table, frames, root, values):
    """The entry of `moves` that exact play takes in `game`, or NONE if that takes too long."""
    save(game, root)
    _, exact = solve_root(params, game, goal, table, frames, root, 0, values)
    if not exact:
        return NONE
    best = 0
    for index in range(1, root.num):
        if values[index] > values[best]:
            best = index
    return best


@jit
def choose_actions(
    views, keys, equity, actions, iterations, playout, kind, infer, constant, scratch, nodes
):
    """Fills `actions`, int64 [B]; returns the first row that agrees with no deal, or -1.

    Args:
        views: VIEW [B].
        keys: uint64 [B].
        equity: The equity table, float32 [2, N, N], and its least score.
        actions: Filled.
        iterations: How many a row.
        playout: The built-in policy that plays rounds out.
        kind: POINTS or EQUITY.
        infer: `odds.NONE` or `odds.ODDS`.
        constant: Of UCB, in standard deviations.
        scratch: `Scratch`.
        nodes: NODE [2 * iterations + 1].
    """
    game, goal, frames = scratch.games[0], scratch.goals[0], scratch.frames
    root, frame = frames[MAX_DEPTH + 1], frames[0]
    known = scratch.known[0]
    path = np.zeros(MAX_PATH, np.int64)
    values = np.zeros(2 * MAX_WIDTH, np.int64)
    for row in range(len(views)):
        view = views[row]
        params = view.rules
        list_moves(params, view, view.lead_tile, view.hand, root)
        actions[row] = action_of(root.moves[0])
        if root.num == 1:
            continue
        belief.look(view, known)
        ways = belief.count_ways(known)
        num_ways = belief.num_ways(known, ways)
        if num_ways == 0:
            return row
        set_goal(goal, params, view, kind, equity[1])
        if params.num_sides == 2 and _one_world(params, view, num_ways):
            yard = belief.draw_hands(known, ways, keys[row])
            belief.write_world(view, known, yard, keys[row], game)
            best = _solved(params, game, goal, equity[0], frames, root, values)
            if best != NONE:
                actions[row] = action_of(root.moves[best])
                continue
        if infer == odds.ODDS:
            odds.weigh(view, scratch.tables, known.weights)
            ways = belief.count_ways(known)
        nodes[0].first = NONE
        size = np.int64(1)
        mean, squares = 0.0, 0.0  # of the values so far (Welford)
        for number in range(iterations):
            key = mix(keys[row], number)
            yard = belief.draw_hands(known, ways, key)
            belief.write_world(view, known, yard, key, game)
            spread = max(np.sqrt(squares / max(number, 1)), LEAST_SPREAD[kind])
            value, size = _iterate(
                params,
                game,
                view.viewer,
                goal,
                equity[0],
                nodes,
                size,
                path,
                frame,
                constant * spread,
                playout,
                key,
            )
            change = value - mean
            mean += change / (number + 1)
            squares += change * (value - mean)
        actions[row] = action_of(root.moves[_most_visited(nodes, root)])
    return -1


class Ismcts:
    """Single-observer information set Monte Carlo tree search.

    Attributes:
        iterations: Worlds drawn for each decision, one an iteration.
        value: ``points``: of the round; ``equity``: the chance to win the match (two sides).
        playout: Who plays rounds out below the tree: ``greedy`` or ``random``.
        infer: ``none``: all deals that agree with the view are as likely; ``odds``: what was played
            in the round makes tiles more or less likely.
    """

    def __init__(
        self, iterations: int, value: str = "points", playout: str = "greedy", infer: str = "none"
    ) -> None:
        """Checks the arguments.

        Raises:
            ValueError: The number of iterations, or there is no such value, playout or inference.
        """
        self.iterations = at_least_one("iterations", iterations)
        self.value = value
        self._kind = value_kind(value)
        self.infer = infer
        self._infer = odds.inference(infer)
        if playout not in BUILT_IN:
            raise ValueError(f"playout={playout!r} is not one of {', '.join(BUILT_IN)}")
        self.playout = playout

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        """As `Policy.act`; the masks are not needed.

        Raises:
            ValueError: With ``value=equity``: there is no table for these rules.
        """
        scratch, nodes = Scratch.new(), np.zeros(2 * self.iterations + 1, NODE)
        playout = BUILT_IN.index(self.playout)

        def choose(views: Any, keys: Array, equity: Any, actions: Array) -> Any:
            return choose_actions(
                views,
                keys,
                equity,
                actions,
                self.iterations,
                playout,
                self._kind,
                self._infer,
                EXPLORATION,
                scratch,
                nodes,
            )

        return choose_in_batches(views, keys, self._kind, choose)

    def __repr__(self) -> str:
        """``Ismcts(1000)``."""
        value = "" if self._kind == POINTS else f", value={self.value!r}"
        playout = "" if self.playout == "greedy" else f", playout={self.playout!r}"
        infer = "" if self.infer == "none" else f", infer={self.infer!r}"
        return f"Ismcts({self.iterations}{value}{playout}{infer})"
