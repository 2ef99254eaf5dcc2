"""`tactic`: a stack of named rules, each of which can be switched off.

Every rule says what a placement is worth in points, the sum decides, and `RULES` gives the weights:
a win is worth more than all others together can be, then blocking the opponent's, and so on down to
habits worth tenths of a point. With every rule off it plays the most points, as greedy does.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fives_env.actions import DRAW, NUM_ACTIONS, PASS
from fives_env.engine.bits import lowest, popcount
from fives_env.engine.keys import mix
from fives_env.engine.layout import fitting, is_double, joinable, open_values
from fives_env.engine.scoring import credited, side_of
from fives_env.engine.turns import may_draw
from fives_env.jit import jit, jit_part
from fives_env.records import FIVES_AND_THREES, GAME, NOT_OVER
from fives_env.tiles import NO_TILE, NUM_TILES, PIPS

from ..inference.odds import weigh
from .holdings import NOTHING_TOLD, play, play_tile_of, write_chances, write_position
from .replies import REPLY, WIN, distance, worth_of, write_replies

Array = npt.NDArray[Any]


class Rule(NamedTuple):
    """One rule of the stack.

    Attributes:
        weight: What its term counts.
        meaning: The term.
    """

    weight: float
    meaning: str


RULES = {
    "win": Rule(1, "win the match if this placement can, and see own wins ahead"),
    "block-win": Rule(10, "the chance that the next seat can win the match"),
    "aim": Rule(1, "with an exact target, count how near a score brings it, not the points"),
    "opening": Rule(1, "leading: the best reply expected of the next seat"),
    "reply": Rule(1, "later: the best reply expected of the next seat"),
    "follow-up": Rule(0.9, "the best own placement on what that reply leaves"),
    "majority": Rule(0.3, "the share of the own tiles left that fit an open end"),
    "doubles": Rule(0.2, "a double is gone"),
    "absent": Rule(0.3, "open values that other sides are known to lack, less those of partners"),
}
"""The rules by name; LOG.md says what each was found to be worth."""
_WIN, _BLOCK_WIN, _AIM, _OPENING, _REPLY, _FOLLOW_UP, _MAJORITY, _DOUBLES, _ABSENT = range(9)

_PIPS = PIPS.astype(np.int64)
_UNIT = np.array([1.0, 4.0, 2.0])
"""How much a placement scores in each game, beside fives-and-threes; weights are in its points."""
_CROWDED = 0.55
"""What is left of a follow-up where more than one other seat places in between."""
_LIKELY = 0.02
"""Replies less likely than this are not followed up."""
_NEXT_WIN = 30.0
"""A follow-up that wins the match, in points."""
_PLAIN = np.zeros(1)
_WORST = -10.0
"""The least that `advise` says, in points of fives-and-threes."""
_EXACT = np.array([0, 4.9, 4.8, 6.4, 7.1, 8.6, 9.3, 10.6, 11.3, 12.5, 13.4, 14.4, 15.4, 16.4])
"""How far a seat is from an exact target that is 0, 1, ... 13 points away, in points.

The turns that it takes on average to meet it, when each turn offers the scores that turns of
`careful` against itself offered (two players, 200,000 turns) and the best are taken; a turn is as
many points as it brings far from the target (1.58).
"""


class Tactic:
    """The placement with the greatest sum of the rules; then the heavier tile, then by the key.

    Other hands are averaged over all that the view leaves open (holdings.py). It draws only where
    it must.

    Attributes:
        off: Names of the rules that are switched off.
        infer: Whether what was played in the round tells which tiles the others hold
            (inference/odds.py).
    """

    def __init__(self, off: Iterable[str] = (), infer: bool = False) -> None:
        """Switches the rules of these names off, and inference on.

        Raises:
            ValueError: There is no such rule.
        """
        self.off = tuple(name for name in RULES if name in set(off))
        for name in off:
            if name not in RULES:
                raise ValueError(f"no rule {name!r}; there are: {', '.join(RULES)}")
        self.infer = infer
        self._weights = np.array(
            [0.0 if name in self.off else rule.weight for name, rule in RULES.items()]
        )

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        """As `Policy.act`; the masks are not needed."""
        views = np.ascontiguousarray(views)
        row_keys = np.ascontiguousarray(keys, np.uint64)
        actions = np.empty(len(views), np.int64)
        games = np.empty(3, GAME)
        told = np.ones((3, NUM_TILES)) if self.infer else NOTHING_TOLD
        _choose_all(self._weights, views, row_keys, told, games, actions)
        return actions

    def __repr__(self) -> str:
        """Names the rules that are off."""
        off = [f"off={'+'.join(self.off)}"] if self.off else []
        return f"Tactic({', '.join(off + ['infer=True'] * self.infer)})"


def advise(views: Array) -> Array:
    """What the whole stack says of each placement, as numbers for a network: float32 [B, 114].

    The worth of the placement less that of the best one, in points of fives-and-threes: 0 for the
    best, from there down to -10; 0 for all that is no placement, and where there is no choice.

    Args:
        views: VIEW [B], each of a seat to move.
    """
    views = np.ascontiguousarray(views)
    advice = np.zeros((len(views), NUM_ACTIONS), np.float32)
    games = np.empty(3, GAME)
    _advise_all(ALL_ON, views, games, advice)
    return advice


ALL_ON = np.array([rule.weight for rule in RULES.values()])


@jit
def _advise_all(weights, views, games, advice):
    chances = np.empty((5, NUM_TILES))
    replies = np.empty(NUM_TILES, REPLY)
    for row in range(len(views)):
        view = views[row]
        num_placements = 0
        for arm in range(4):
            num_placements += popcount(joinable(view, view.lead_tile, view.hand, arm))
        if num_placements > 1 and not view.match_over:
            write_position(view, games[0])
            write_chances(view, NOTHING_TOLD, chances)
            _advise(weights, view, games, chances, replies, advice[row])


@jit_part
def _advise(weights, view, games, chances, replies, advice):
    """Fills the advice of one row, as `advise` says."""
    progress = _EXACT if view.rules.game == FIVES_AND_THREES else _PLAIN
    best = -np.inf
    for arm in range(4):
        tiles = joinable(view, view.lead_tile, view.hand, arm)
        while tiles:
            tile = lowest(tiles)
            tiles &= tiles - 1
            action = arm * NUM_TILES + tile
            play(view.rules, action, games[0], games[1])
            advice[action] = _weigh(weights, view, tile, games, chances, replies, progress)
            best = max(best, advice[action])
    for arm in range(4):
        tiles = joinable(view, view.lead_tile, view.hand, arm)
        while tiles:
            action = arm * NUM_TILES + lowest(tiles)
            tiles &= tiles - 1
            advice[action] = max((advice[action] - best) / _UNIT[view.rules.game], _WORST)


@jit
def _choose_all(weights, views, keys, told, games, actions):
    chances = np.empty((5, NUM_TILES))
    replies = np.empty(NUM_TILES, REPLY)
    for row in range(len(views)):
        actions[row] = choose_tactic(weights, views[row], keys[row], told, games, chances, replies)


@jit_part
def choose_tactic(weights, view, key, told, games, chances, replies):
    """The action of `Tactic` on one view.

    Args:
        weights: float64 [9], of the rules.
        view: VIEW.
        key: uint64.
        told: float64 [3, 28], to work in, if it infers from what was played; else [0, 28].
        games: GAME [3], to work in, as are the next.
        chances: float64 [5, 28].
        replies: REPLY [28].
    """
    num_placements, only = 0, 0
    for arm in range(4):
        tiles = joinable(view, view.lead_tile, view.hand, arm)
        num_placements += popcount(tiles)
        only = arm * NUM_TILES + lowest(tiles) if tiles else only
    if num_placements == 0:
        return DRAW if may_draw(view.rules, view, view.hand) else PASS
    if num_placements == 1:
        return only
    if len(told):
        told[:] = 1.0
        weigh(view, games, told)
    write_position(view, games[0])
    write_chances(view, told, chances)
    return _choose(weights, view, key, games, chances, replies)


@jit_part
def _choose(weights, view, key, games, chances, replies):
    """The best placement; games [3]: the position, that after a placement, that after a reply."""
    exact = view.rules.game == FIVES_AND_THREES
    progress = _EXACT if exact and weights[_AIM] > 0 else _PLAIN
    best, best_tie, action = -np.inf, np.uint64(0), -1
    for arm in range(4):
        tiles = joinable(view, view.lead_tile, view.hand, arm)
        while tiles:
            tile = lowest(tiles)
            tiles &= tiles - 1
            play(view.rules, arm * NUM_TILES + tile, games[0], games[1])
            worth = _PIPS[tile] * 1e-6 + _weigh(
                weights, view, tile, games, chances, replies, progress
            )
            tie = mix(key, arm * NUM_TILES + tile)
            if worth > best + 1e-9 or (worth > best - 1e-9 and tie > best_tie):
                best, best_tie, action = worth, tie, arm * NUM_TILES + tile
    return action


@jit_part
def _weigh(weights, view, tile, games, chances, replies, progress):
    """The sum of the rules for the placement of `tile` that games[1] has just seen."""
    rules, game, seat = view.rules, games[1], np.int64(view.viewer)
    unit = _UNIT[rules.game]
    worth = worth_of(rules, view, side_of(rules, seat), game.points, progress)
    if worth >= WIN / 2:
        worth = WIN if weights[_WIN] > 0 else np.float64(game.points)
    worth += weights[_DOUBLES] * unit * is_double(tile)
    if game.match_over or game.round_over != NOT_OVER:
        return worth
    left = np.int64(game.hands[seat])
    share = popcount(left & fitting(game)) / max(1, popcount(left))
    worth += weights[_MAJORITY] * unit * share
    worth += weights[_ABSENT] * unit * _known_to_lack(rules, game, seat)
    if game.seat == seat:
        return worth
    return worth + _look_ahead(weights, view, games, chances, replies, progress)


@jit_part
def _known_to_lack(rules, game, seat):
    """How many open values the other sides' seats are known to lack, less those of the partner."""
    values = open_values(game)
    total = 0
    for other in range(np.int64(rules.num_players)):
        if other != seat and game.hand_sizes[other] > 0:
            lacking = popcount(values & np.int64(game.absent[other]))
            total += -lacking if side_of(rules, other) == side_of(rules, seat) else lacking
    return total


@jit_part
def _look_ahead(weights, view, games, chances, replies, progress):
    """The rules that look at the next seat's replies: block-win, opening, reply, follow-up."""
    rules, game, seat = view.rules, games[1], np.int64(view.viewer)
    count, none = write_replies(rules, game, chances, progress, replies)
    next_side = side_of(rules, game.seat)
    missing = np.int64(rules.target) - game.scores[next_side]
    follows = weights[_FOLLOW_UP] > 0
    reply, win, follow_up, followed = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        chance, value = replies[i].chance, replies[i].worth
        if value >= WIN / 2:
            win += chance
            reply += chance * distance(missing, progress)
        else:
            reply += chance * value
        if follows and chance > _LIKELY:
            action = replies[i].action
            play_tile_of(rules, game.seat, action, game, games[2])
            followed += chance
            follow_up += chance * _best_next(weights, rules, games[2], seat, progress)
    if follows and none > _LIKELY:
        followed += none
        follow_up += none * _best_next(weights, rules, game, seat, progress)
    others = -1 / (np.float64(rules.num_sides) - 1)
    sign = 1.0 if next_side == side_of(rules, seat) else others
    weight = weights[_OPENING] if view.played == 0 else weights[_REPLY]
    worth = sign * (weight * reply + weights[_BLOCK_WIN] * _UNIT[rules.game] * win)
    if followed > 0:
        near = 1.0 if rules.num_players == 2 else _CROWDED
        worth += weights[_FOLLOW_UP] * near * follow_up / followed
    return worth


@jit_part
def _best_next(weights, rules, game, seat, progress):
    """The most that `seat` could make of its next placement if it were to move in `game`."""
    if game.round_over != NOT_OVER or game.match_over:
        return 0.0
    best, side = 0.0, side_of(rules, seat)
    for arm in range(4):
        tiles = joinable(game, NO_TILE, game.hands[seat], arm)
        while tiles:
            tile = lowest(tiles)
            tiles &= tiles - 1
            points = credited(rules, game, seat, tile, arm)
            worth = worth_of(rules, game, side, points, progress)
            if worth >= WIN / 2:
                worth = _NEXT_WIN * _UNIT[rules.game] if weights[_WIN] > 0 else points
            best = max(best, worth)
    return best
