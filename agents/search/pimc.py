"""`Pimc`: perfect-information Monte Carlo (Ginsberg 2001; Long et al. 2010).

Draws worlds that agree with the view (engine/belief.py), solves each with all hands open for every
legal action, and takes the action with the best mean.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.engine import belief
from fives_env.engine.keys import mix
from fives_env.jit import jit

from ..inference import odds
from .batches import at_least_one, choose_in_batches
from .goals import POINTS, set_goal, value_kind
from .solver import (
    MAX_DEPTH,
    MAX_WIDTH,
    Scratch,
    action_of,
    list_moves,
    save,
    solve_root,
)

Array = npt.NDArray[Any]
BUDGET = 2_000
"""Positions that may be visited in one world whose round is too long to be searched to its end."""


@jit
def choose_actions(views, keys, equity, actions, worlds, budget, kind, infer, scratch):
    """Fills `actions`, int64 [B]; returns the first row that agrees with no deal, or -1.

    Args:
        views: VIEW [B].
        keys: uint64 [B].
        equity: The equity table, float32 [2, N, N], and its least score.
        actions: Filled.
        worlds: How many worlds a row.
        budget: Positions that may be visited in one world whose round is long.
        kind: POINTS or EQUITY.
        infer: `odds.NONE` or `odds.ODDS`.
        scratch: `Scratch`.
    """
    game, goal, frames = scratch.games[0], scratch.goals[0], scratch.frames
    root = frames[MAX_DEPTH + 1]
    known = scratch.known[0]
    values = np.zeros(2 * MAX_WIDTH, np.int64)
    sums = np.zeros(MAX_WIDTH, np.int64)
    for row in range(len(views)):
        view = views[row]
        params = view.rules
        list_moves(params, view, view.lead_tile, view.hand, root)
        actions[row] = action_of(root.moves[0])
        if root.num == 1:
            continue
        odds.look(view, infer, scratch.tables, known)
        ways = belief.count_ways(known)
        if belief.num_ways(known, ways) == 0:
            return row
        set_goal(goal, params, view, kind, equity[1])
        sums[:] = 0
        for world in range(worlds):
            key = mix(keys[row], world)
            yard = belief.draw_hands(known, ways, key)
            belief.write_world(view, known, yard, key, game)
            save(game, root)
            solve_root(params, game, goal, equity[0], frames, root, budget, values)
            for index in range(root.num):
                sums[index] += values[index]
        best = 0
        for index in range(1, root.num):
            if sums[index] > sums[best]:  # else the one listed first: points, pips, lowest id
                best = index
        actions[row] = action_of(root.moves[best])
    return -1


class Pimc:
    """Perfect-information Monte Carlo on exact play with open hands.

    With two sides each world is solved exactly while it fits the node budget, and to the depth
    that fits it otherwise; with more sides, the others are taken to play against this one.

    Attributes:
        worlds: Worlds drawn for each decision; cost is linear in it.
        value: ``points``: of the round; ``equity``: the chance to win the match (two sides).
        infer: ``none``: all deals that agree with the view are as likely; ``odds``: what was played
            in the round makes tiles more or less likely.
    """

    def __init__(self, worlds: int, value: str = "points", infer: str = "none") -> None:
        """Checks the arguments.

        Raises:
            ValueError: The number of worlds, or there is no such value or inference.
        """
        self.worlds = at_least_one("worlds", worlds)
        self.value = value
        self._kind = value_kind(value)
        self.infer = infer
        self._infer = odds.inference(infer)

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        """As `Policy.act`; the masks are not needed.

        Raises:
            ValueError: With ``value=equity``: there is no table for these rules.
        """
        scratch = Scratch.new()

        def choose(views: Any, keys: Array, equity: Any, actions: Array) -> Any:
            return choose_actions(
                views, keys, equity, actions, self.worlds, BUDGET, self._kind, self._infer, scratch
            )

        return choose_in_batches(views, keys, self._kind, choose)

    def __repr__(self) -> str:
        """``Pimc(64)``."""
        value = "" if self._kind == POINTS else f", value={self.value!r}"
        infer = "" if self.infer == "none" else f", infer={self.infer!r}"
        return f"Pimc({self.worlds}{value}{infer})"
