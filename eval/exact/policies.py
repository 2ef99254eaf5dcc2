"""What an agent does in each position, as probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.model import ModelAgent
from eval.exact import tree
from eval.exact.game import SmallGame
from fives_env.engine.choose import RANDOM
from fives_env.policies import BuiltIn, Policy

Array = npt.NDArray[Any]
_ROWS = 4096
"""Views that an agent is asked about at once."""


def tabulate(game: SmallGame, agent: Policy, keys: int, seed: int) -> Array:
    """The policy of an agent on a small game: float64 [A].

    Args:
        game: The game.
        agent: Asked in every information set that leaves it a choice.
        keys: How many keys to ask it with (see `probabilities`).
        seed: Of the keys.

    Raises:
        ValueError: The agent failed, or chose an illegal action.
    """
    policy = np.ones(len(game.actions))
    info = game.info_of_action
    row_of_info = np.full(len(game.seats), -1)
    row_of_info[game.choices] = np.arange(len(game.choices))
    rows = row_of_info[info]  # of the views; ascending, since information sets are in order
    masks = game.masks()
    for start in range(0, len(game.views), _ROWS):
        part = slice(start, start + _ROWS)
        chances = probabilities(agent, game.views[part], masks[part], keys, seed)
        here = np.flatnonzero((rows >= start) & (rows < start + _ROWS))
        policy[here] = chances[rows[here] - start, game.actions[here]]
    return policy


def is_exact(agent: Policy) -> bool:
    """Whether `probabilities` knows an agent's probabilities without asking it key by key."""
    return isinstance(agent, ModelAgent) or (isinstance(agent, BuiltIn) and agent.kind == RANDOM)


def probabilities(agent: Policy, views: Array, masks: Array, keys: int, seed: int) -> Array:
    """The probability of each action: float64 [B, 114].

    They are exact for `random` and for models. Any other agent is asked with several keys, and each
    action has the share of keys at which it was chosen; that is exact for an agent that does not
    use its key.

    Args:
        agent: The agent.
        views: VIEW [B], of seats to move.
        masks: bool [B, 114], the legal actions.
        keys: How many keys.
        seed: Of the keys; a row's keys follow from it and the view.

    Raises:
        ValueError: The agent chose an illegal action, or failed.
    """
    if isinstance(agent, BuiltIn) and agent.kind == RANDOM:
        even: Array = masks / masks.sum(axis=1, keepdims=True)
        return even
    if isinstance(agent, ModelAgent) and agent.sample:
        return _softmax(agent.network.logits(agent.inputs(views)), masks)
    chances = np.zeros(masks.shape)
    rows, numbers = np.arange(len(views)), np.empty(len(views), np.uint64)
    times = 1 if isinstance(agent, ModelAgent) else keys
    for number in range(times):
        tree.view_keys(views, seed + number, numbers)
        actions = np.asarray(agent.act(views, masks, numbers))
        if actions.shape != rows.shape or not masks[rows, actions].all():
            raise ValueError(f"{agent!r} chose an illegal action")
        chances[rows, actions] += 1.0
    return chances / times


def _softmax(logits: Array, masks: Array) -> Array:
    open_ = np.where(masks, logits.astype(np.float64), -np.inf)
    weights: Array = np.exp(open_ - open_.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
