"""A small game as a tree with its information sets, and what policies are worth on it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.exact import response, tree
from fives_env.actions import NUM_ACTIONS
from fives_env.engine import chance
from fives_env.records import GAME, SCRIPT, START, VIEW, make_params
from fives_env.rules import Rules
from fives_env.tiles import tiles_up_to

Array = npt.NDArray[Any]
MAX_DEALS = 200_000
MAX_NODES = 20_000_000
"""About 2 GB of memory."""


@dataclass(frozen=True)
class SmallGame:
    """A game of two players and one round, small enough to be walked: N nodes, I information sets.

    A policy is a float64 [A]: the probability of each action of each information set.

    Attributes:
        rules: Its rules.
        nodes: NODE [N].
        by_depth: int64 [N], the nodes by depth.
        depths: int64 [D + 1], where each depth begins in `by_depth`.
        info: int64 [N], the information set of each decision; -1 for other nodes.
        offsets: int64 [I + 1], where the actions of each information set begin.
        actions: int16 [A], all those actions.
        seats: int8 [I], who decides.
        choices: int64 [M], the information sets with more than one action.
        views: VIEW [M], what the seat to move sees in each of them.
    """

    rules: Rules
    nodes: Array
    by_depth: Array
    depths: Array
    info: Array
    offsets: Array
    actions: Array
    seats: Array
    choices: Array
    views: Array

    @property
    def info_of_action(self) -> Array:
        """The information set of each action: int64 [A]."""
        return np.repeat(np.arange(len(self.seats)), np.diff(self.offsets))

    def masks(self) -> Array:
        """The legal actions behind each of the `views`: bool [M, 114]."""
        masks = np.zeros((len(self.views), NUM_ACTIONS), np.bool_)
        tree.write_masks(make_params(self.rules), self.views, masks)
        return masks

    def uniform(self) -> Array:
        """The policy that takes every action with the same probability."""
        return 1.0 / np.diff(self.offsets)[self.info_of_action]

    def value(self, first: Array, second: Array) -> float:
        """What seat 0 with policy `first` makes of seat 1 with `second`: points a round."""
        both = np.where(self.seats[self.info_of_action] == 0, first, second)
        return float(response.expected(self.nodes, self.info, self.offsets, both))

    def versus(self, policy: Array, other: Array) -> float:
        """What a policy makes of another, as the mean over both seatings: points a round."""
        return (self.value(policy, other) - self.value(other, policy)) / 2

    def best_response(self, policy: Array, seat: int) -> tuple[float, Array]:
        """What the best response of `seat` makes of the other seat's policy: points a round.

        The policy that comes second is the best response for `seat`, and `policy` elsewhere.
        """
        tree_, sets = (self.nodes, self.by_depth, self.depths), (self.info, self.offsets)
        best = np.empty(len(self.seats), np.int64)
        value = response.best_response(*tree_, *sets, policy, seat, best)
        mine = np.flatnonzero(self.seats == seat)
        answer = np.where(self.seats[self.info_of_action] == seat, 0.0, policy)
        answer[self.offsets[mine] + best[mine]] = 1.0
        return float(value), answer

    def exploitability(self, policy: Array) -> float:
        """What a best response makes of a policy, the mean over both seatings: points a round.

        It is half of NashConv. The seats are alike, since the lead is by lot; so an equilibrium is
        worth 0 to both, and has an exploitability of 0.
        """
        return sum(self.best_response(policy, seat)[0] for seat in range(2)) / 2


def build(rules: Rules) -> SmallGame:
    """Walks the whole tree.

    Raises:
        ValueError: The game is of another kind, or too large.
    """
    deals, params = _deals(rules), make_params(rules)
    count = _walk(params, deals)
    if count > MAX_NODES:
        raise ValueError(
            f"{rules.spec} has more than {MAX_NODES:,} positions; "
            "deal fewer tiles, or from a smaller set (max_pip)"
        )
    nodes = np.zeros(count, tree.NODE)
    _walk(params, deals, nodes)
    decisions = np.flatnonzero(nodes["player"] >= 0)
    _, first, number = np.unique(nodes["key"][decisions], return_index=True, return_inverse=True)
    info = np.full(count, -1, np.int64)
    info[decisions] = number
    first = decisions[first]
    sizes = nodes["children"][first].astype(np.int64)
    assert (sizes[number] == nodes["children"][decisions]).all()
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    choices = np.flatnonzero(sizes > 1)
    wanted = np.full(count, -1, np.int64)
    wanted[first[choices]] = np.arange(len(choices))
    views = np.zeros(len(choices), VIEW)
    _walk(params, deals, wanted=wanted, views=views)
    return SmallGame(
        rules,
        nodes,
        by_depth=np.argsort(nodes["depth"], kind="stable"),
        depths=np.concatenate([[0], np.cumsum(np.bincount(nodes["depth"]))]),
        info=info,
        offsets=offsets,
        actions=_actions(nodes, info, offsets),
        seats=nodes["player"][first],
        choices=choices,
        views=views,
    )


def _actions(nodes: Array, info: Array, offsets: Array) -> Array:
    actions = np.zeros(offsets[-1], np.int16)
    above = nodes["parent"][1:]
    chosen = info[above] >= 0
    children = nodes[1:][chosen]
    actions[offsets[info[above[chosen]]] + children["index"]] = children["action"]
    return actions


def _deals(rules: Rules) -> Array:
    """Every deal of hands, with every leader: GAME [D]."""
    if rules.players != 2 or rules.mode != "round":
        raise ValueError(
            f"{rules.spec} is not solved exactly: it takes two players and one round "
            "(players=2,mode=round)"
        )
    tiles = tiles_up_to(rules.max_pip)
    each = rules.deal
    hands = math.comb(len(tiles), each) * math.comb(len(tiles) - each, each)
    if 2 * hands > MAX_DEALS:
        raise ValueError(
            f"{rules.spec} has {2 * hands:,} deals and the most is {MAX_DEALS:,}; "
            "deal fewer tiles, or from a smaller set (max_pip)"
        )
    decks = np.repeat(np.array(list(_decks(tiles, each)), np.uint8), 2, axis=0)
    leaders = np.tile(np.arange(2, dtype=np.int8), hands)
    games = np.zeros(len(decks), GAME)
    script, start = np.zeros(1, SCRIPT), np.zeros(1, START)
    chance.start_deals(make_params(rules), games, decks, leaders, script, start)
    return games


def _decks(tiles: list[int], each: int) -> Iterator[list[int]]:
    for first in itertools.combinations(tiles, each):
        left = [tile for tile in tiles if tile not in first]
        for second in itertools.combinations(left, each):
            yield [*first, *second, *(tile for tile in left if tile not in second)]


def _walk(
    params: Array,
    deals: Array,
    nodes: Array | None = None,
    wanted: Array | None = None,
    views: Array | None = None,
) -> int:
    views = np.zeros(1, VIEW) if views is None or not len(views) else views
    return int(
        tree.walk(
            params,
            deals,
            np.zeros(0, tree.NODE) if nodes is None else nodes,
            np.zeros(0, np.int64) if wanted is None else wanted,
            views,
            MAX_NODES,
            tree.Scratch.new(),
        )
    )
