"""The one loop that asks policies for actions: `advance`. Tournaments and envs both run it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.engine import loops
from fives_env.engine.rewards import POINTS
from fives_env.games import Games
from fives_env.policies import BuiltIn, Policy

Array = npt.NDArray[Any]
LEARNER = -1
"""In a seating: nobody's seat; the loop stops there and leaves the turn to the caller."""


def advance(
    games: Games,
    policies: Sequence[Policy],
    seating: Array,
    rewards: Array | None = None,
    reward: int = POINTS,
    played: Array | None = None,
) -> None:
    """Plays every game on until it is over or a seat of the caller's is to move.

    Each policy is called on the sub-batch of games in which it is to move, with keys that follow
    from the salt of the games, the match and the place in it. What built-in policies do follows
    from the seed of the deals alone.

    Args:
        games: Stepped in place.
        policies: The policies that sit at the tables.
        seating: int8 [B, 4], for each seat an index into `policies`, or `LEARNER`.
        rewards: float64 [B, 4], to which every seat's rewards are added.
        reward: The kind of reward (engine/rewards.py).
        played: bool [B], the games in which the caller has just acted; that is paid first.

    Raises:
        ValueError: A policy returned something other than one legal action a row; the games in
            which the others acted stay as they are.
    """
    paid = np.zeros((len(games), 4)) if rewards is None else rewards
    kinds = np.array(
        [policy.kind if isinstance(policy, BuiltIn) else -1 for policy in policies] + [-1]
    )
    seated = np.ascontiguousarray(seating, np.int8)
    waiting = np.empty(len(games), np.int64)
    unpaid = np.zeros(len(games), bool) if played is None else played
    while loops.play_built_in(
        games.params, games.data, games.script, unpaid, kinds, seated, paid, reward, waiting
    ):
        actions = np.full(len(games), -1, np.int64)
        for index in np.unique(waiting[waiting >= 0]):
            rows = np.flatnonzero(waiting == index)
            actions[rows] = ask(policies[index], games[rows])
        games.step(actions)
        unpaid = actions >= 0


def ask(policy: Policy, games: Games) -> Array:
    """One action of `policy` in each game: int64 [B].

    Raises:
        ValueError: It did not return a legal action for each; the message names the policy.
    """
    views, masks = games.view(), games.action_mask()
    keys = turn_keys(games, by_salt=type(policy) is not BuiltIn)
    return checked(policy, policy.act(views, masks, keys), views, masks)


def checked(policy: Policy, answer: Any, views: Array, masks: Array) -> Array:
    """What a policy answered, if it is one legal action a row: int64 [B].

    Raises:
        ValueError: It is not; the message names the policy.
    """
    try:
        actions = np.asarray(answer)
    except ValueError:  # rows of different lengths
        actions = np.asarray(None)
    if actions.shape != (len(views),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"{policy!r} returned {actions.dtype} of shape {actions.shape}; it must return "
            f"whole numbers of shape ({len(views)},)"
        )
    in_range = np.clip(actions, 0, masks.shape[1] - 1)
    legal = masks[np.arange(len(views)), in_range] & (actions == in_range)
    if not legal.all():
        row = int(np.argmin(legal))
        raise ValueError(
            f"{policy!r} chose action {actions[row]} for seat {views['seat'][row]}, which is "
            f"illegal; legal: {np.flatnonzero(masks[row]).tolist()}"
        )
    return actions.astype(np.int64)


def turn_keys(games: Games, by_salt: bool = True) -> Array:
    """The randomness of the policy that acts next in each game: uint64 [B].

    Args:
        games: The games.
        by_salt: Whether it follows from the salt of the games, and nothing from it; else from the
            match's own stream, for built-in policies alone.
    """
    keys = np.empty(len(games), np.uint64)
    loops.turn_keys(games.data, games.salt, by_salt, keys)
    return keys
