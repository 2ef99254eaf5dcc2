"""`Rollout`: each legal action, then fast policies play all hands to the end of the round.

Policy improvement by simulation (Tesauro and Galperin 1996) over sampled worlds. All actions meet
the same worlds, drawn from what the view leaves open (engine/belief.py) and, if asked for, from
what the moves of the round tell of the hands (inference/odds.py). Nobody in a world sees the other
hands: the policies look at views. So this does not share the fault of open-hand solving, which
plans as if what is hidden were known (Long et al. 2010). Actions that are clearly behind the best
are dropped on the way.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from fives_env.engine import belief
from fives_env.engine.choose import choose_greedy
from fives_env.engine.keys import mix
from fives_env.engine.view import write_view
from fives_env.jit import jit, jit_part
from fives_env.records import GAME, NOT_OVER, VIEW
from fives_env.tiles import NUM_TILES

from ..heuristics.replies import REPLY
from ..heuristics.tactic import ALL_ON, choose_tactic
from ..inference import odds
from .batches import at_least_one, choose_in_batches
from .goals import set_goal, value_kind, worth
from .solver import MAX_DEPTH, MAX_WIDTH, Scratch, action_of, list_moves, play, restore, save

Array = npt.NDArray[Any]
PLAYOUTS = ("greedy", "tactic")
GREEDY, TACTIC = range(2)
_BLOCK = 16
"""Worlds between two looks at which actions are behind."""
_BEHIND = 3.0
"""An action is dropped that is behind the best by so many standard errors of the difference."""
_PLAYOUT = 64
"""Numbers of a world's stream below this one draw its deal."""


class Playout(NamedTuple):
    """What playing a round out works in.

    Attributes:
        seen: VIEW [1], of the seat to move.
        games: GAME [3], of `tactic`.
        chances: float64 [5, 28], likewise.
        replies: REPLY [28], likewise.
        told: float64 [0, 28]: it infers nothing.
    """

    seen: Any
    games: Any
    chances: Any
    replies: Any
    told: Any

    @classmethod
    def new(cls) -> Self:
        """Memory for one playout at a time."""
        chances, replies = np.zeros((5, NUM_TILES)), np.zeros(NUM_TILES, REPLY)
        return cls(np.zeros(1, VIEW), np.zeros(3, GAME), chances, replies, np.zeros((0, NUM_TILES)))


@jit_part
def play_out(params, game, policy, key, work):
    """Plays the round to its end; each seat sees what it may see."""
    number = 0
    view = work.seen[0]
    while game.round_over == NOT_OVER and not game.match_over:
        seat = np.int64(game.seat)
        own = mix(key, _PLAYOUT + number)
        if policy == TACTIC:
            write_view(params, game, seat, view)
            action = choose_tactic(
                ALL_ON, view, own, work.told, work.games, work.chances, work.replies
            )
        else:
            action = choose_greedy(params, game, game.lead_tile, game.hands[seat], own)
        play(params, game, action)
        number += 1


@jit_part
def _drop_behind(values, sums, num_worlds, alive):
    """Drops the actions that are clearly behind the best; returns how many are left."""
    best = -1
    for index in range(len(alive)):
        if alive[index] and (best < 0 or sums[index] > sums[best]):
            best = index
    left = 0
    for index in range(len(alive)):
        if not alive[index]:
            continue
        squares = 0.0
        for world in range(num_worlds):
            squares += np.float64(values[world, best] - values[world, index]) ** 2
        gap = np.float64(sums[best] - sums[index]) / num_worlds
        spread = max(squares / num_worlds - gap * gap, 0.0)
        alive[index] = gap <= _BEHIND * np.sqrt(spread / num_worlds) or index == best
        left += alive[index]
    return left


@jit
def choose_actions(views, keys, equity, actions, kind, infer, policy, values, scratch, work):
    """Fills `actions`, int64 [B]; returns the first row that agrees with no deal, or -1.

    Args:
        views: VIEW [B].
        keys: uint64 [B].
        equity: The equity table, float32 [2, N, N], and its least score.
        actions: Filled.
        kind: POINTS or EQUITY.
        infer: `odds.NONE` or `odds.ODDS`.
        policy: Who plays rounds out, GREEDY or TACTIC.
        values: int64 [W, MAX_WIDTH], of each action in each world; worked in, as are the next.
        scratch: `Scratch`.
        work: `Playout`.
    """
    game, goal, root = scratch.games[0], scratch.goals[0], scratch.frames[MAX_DEPTH + 1]
    known = scratch.known[0]
    alive, sums = np.zeros(MAX_WIDTH, np.bool_), np.zeros(MAX_WIDTH, np.int64)
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
        alive[:] = False
        alive[: root.num] = True
        sums[:] = 0
        for world in range(len(values)):
            key = mix(keys[row], world)
            yard = belief.draw_hands(known, ways, key)
            belief.write_world(view, known, yard, key, game)
            game.round_over = NOT_OVER  # until the first action it is that of the round before
            save(game, root)
            for index in range(root.num):
                if alive[index]:
                    restore(params, game, root)
                    play(params, game, action_of(root.moves[index]))
                    play_out(params, game, policy, key, work)
                    values[world, index] = worth(params, game, goal, equity[0])
                    sums[index] += values[world, index]
            done = world + 1
            if done % _BLOCK == 0 and _drop_behind(values, sums, done, alive[: root.num]) == 1:
                break
        best = -1
        for index in range(root.num):
            # Of equal ones the first listed: by points, pips, lowest id.
            if alive[index] and (best < 0 or sums[index] > sums[best]):
                best = index
        actions[row] = action_of(root.moves[best])
    return -1


class Rollout:
    """Each legal action, then fast policies to the end of the round; the best mean over worlds.

    Attributes:
        worlds: Most worlds drawn for a decision.
        infer: ``none``: all deals that agree with the view are as likely; ``odds``: what was played
            in the round makes tiles more or less likely.
        playout: Who plays rounds out: ``greedy`` or ``tactic``.
        value: ``points``: of the round; ``equity``: the chance to win the match (two sides).
    """

    def __init__(
        self, worlds: int, infer: str = "odds", playout: str = "tactic", value: str = "points"
    ) -> None:
        """Checks the arguments.

        Raises:
            ValueError: The number of worlds, or there is no such inference, playout or value.
        """
        self.worlds = at_least_one("worlds", worlds)
        self._infer = odds.inference(infer)
        if playout not in PLAYOUTS:
            raise ValueError(f"playout={playout!r} is not one of {', '.join(PLAYOUTS)}")
        self.infer, self.playout, self.value = infer, playout, value
        self._kind = value_kind(value)

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        """As `Policy.act`; the masks are not needed.

        Raises:
            ValueError: With ``value=equity``: there is no table for these rules.
        """
        values = np.zeros((self.worlds, MAX_WIDTH), np.int64)
        scratch, work = Scratch.new(), Playout.new()
        policy = PLAYOUTS.index(self.playout)

        def choose(views: Any, keys: Array, equity: Any, actions: Array) -> Any:
            return choose_actions(
                views, keys, equity, actions, self._kind, self._infer, policy, values, scratch, work
            )

        return choose_in_batches(views, keys, self._kind, choose)

    def __repr__(self) -> str:
        """``Rollout(64)``."""
        usual = {"infer": "odds", "playout": "tactic", "value": "points"}
        given = {name: getattr(self, name) for name in usual}
        options = [f", {name}={given[name]!r}" for name in usual if given[name] != usual[name]]
        return f"Rollout({self.worlds}{''.join(options)})"
