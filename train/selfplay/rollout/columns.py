"""Which features can vary and which actions can be a choice under given rules.

A rule set uses a part of the feature vector and of the actions: in two-player Fives and Threes
there are no third and fourth arm, no draws and no seats 2 and 3. Training sees the live part alone,
at about half the cost; the exported network has its full size, with zeros elsewhere.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.heuristics.tactic import advise
from fives_env.actions import DRAW, NUM_ACTIONS, NUM_ARMS
from fives_env.encoding import encode
from fives_env.engine.features import FEATURES, NEAR, NUM_FEATURES
from fives_env.games import Games
from fives_env.rules import Rules
from fives_env.tiles import NUM_TILES, tiles_up_to

Array = npt.NDArray[Any]
_SAMPLE, _MOMENTS = 1024, 16


@dataclass(frozen=True)
class Columns:
    """The live part of features and actions.

    Attributes:
        features: int64 [L], indices into the feature vector and, behind it, the advice.
        scale: float32 [L], what they are multiplied by.
        actions: int64 [N], ids of the actions that can be one choice of several.
        points: int64 [N], where among the live features an action's points lie; -1: nowhere.
        advice: The same for what `tactic` advises of it; None where no advice is taken.
        hidden: How many numbers describe the other hands, for the critic.
        moves: How many tokens of actions follow, for a memory.
    """

    features: Array
    scale: Array
    actions: Array
    points: Array
    advice: Array | None
    hidden: int
    moves: int = 0

    @property
    def width(self) -> int:
        """Numbers in a row: the live features, the other hands, the tokens."""
        return len(self.features) + self.hidden + self.moves


def columns_of(rules: Rules, advice: bool, moves: int = 0) -> Columns:
    """The live columns under `rules`.

    Args:
        rules: The rules; with ``mode=round`` there is no target, and scores decide nothing.
        advice: Whether the network is shown what `tactic` advises.
        moves: How many tokens of actions a row ends with.

    Each block is scaled to a root mean square of 1 where it is not zero: what is small would be
    learned slowly.
    """
    live = _can_vary(rules)
    actions = _choices(rules)
    live[NUM_FEATURES + actions[actions < DRAW]] = advice
    features = np.flatnonzero(live)
    place = {int(feature): index for index, feature in enumerate(features)}

    def places(first: int) -> Array:
        return np.array([place.get(first + int(action), -1) for action in actions])

    return Columns(
        features=features,
        scale=_spread(rules, advice)[features],
        actions=actions,
        points=places(FEATURES["points"].start),
        advice=places(NUM_FEATURES) if advice else None,
        hidden=(rules.players - 1) * NUM_TILES,
        moves=moves,
    )


def _choices(rules: Rules) -> Array:
    """A knock is never a choice, and a draw only where it is optional."""
    arms = NUM_ARMS if rules.spinner != "none" else 2
    tiles = tiles_up_to(rules.max_pip)
    placements = [arm * NUM_TILES + tile for arm in range(arms) for tile in tiles]
    return np.array(placements + [DRAW] * (rules.draw == "optional"), np.int64)


def _can_vary(rules: Rules) -> Array:
    """Whether a feature can: bool [F + 114]; not where a feature says what another one does."""
    live = np.zeros(NUM_FEATURES + NUM_ACTIONS, bool)
    arms = NUM_ARMS if rules.spinner != "none" else 2
    tiles = list(tiles_up_to(rules.max_pip))
    values = [*range(rules.max_pip + 1), 7]
    for name in ("hand", "played", "unseen", "placeable"):
        live[FEATURES[name].start + np.array(tiles)] = True
    for arm in range(arms):
        live[FEATURES["arms"].start + 8 * arm + np.array(values)] = True
        live[FEATURES["points"].start + NUM_TILES * arm + np.array(tiles)] = True
    live[FEATURES["counts"].start + np.arange(arms)] = True
    live[FEATURES["total"]] = True
    if rules.spinner != "none":
        live[FEATURES["spinner"].start + np.array(values)] = True
        live[FEATURES["spinner_ends"]] = True
    live[FEATURES["hand_sizes"].start + np.arange(rules.players)] = True
    live[FEATURES["leader"].start + np.arange(rules.players)] = True
    if rules.draw != "none":
        live[FEATURES["boneyard"]] = True
    if rules.mode == "match":
        live[FEATURES["missing"].start + np.arange(rules.num_sides)] = True  # as "scores" says
        live[FEATURES["near"].start + np.arange(NEAR * rules.num_sides)] = True
    for seat in range(rules.players):
        live[FEATURES["absent"].start + 7 * seat + np.arange(rules.max_pip + 1)] = True
    return live


def _spread(rules: Rules, advice: bool) -> Array:
    """What brings each block to a root mean square of 1 where it is not zero: float32 [F + 114]."""
    games = Games(rules, _SAMPLE)
    games.reset(seed=0, scores="random" if rules.mode == "match" else None)
    seen = []
    for _ in range(_MOMENTS):
        games.rollout(3)
        views = games.view()[games.data["match_over"] == 0]
        seen.append(np.hstack([encode(views), advise(views)] if advice else [encode(views)]))
    features = np.concatenate(seen)
    scale = np.ones(NUM_FEATURES + NUM_ACTIONS, np.float32)
    for block in (*FEATURES.values(), slice(NUM_FEATURES, features.shape[1])):
        shown = features[:, block][features[:, block] != 0]
        if len(shown):
            scale[block] = 1 / np.sqrt(np.mean(np.square(shown, dtype=np.float64)))
    return scale
