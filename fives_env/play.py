"""The one loop that asks policies: `advance`. Tournaments, envs and equity tables are played by it.

Training has a loop of its own (train), which passes over turns that leave no choice.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.actions import NUM_ACTIONS
from fives_env.engine import loops
from fives_env.engine.loops import NO_ROOM
from fives_env.engine.rewards import POINTS
from fives_env.games import Games
from fives_env.policies import BuiltIn, Policy
from fives_env.records import VIEW

Array = npt.NDArray[Any]
LEARNER = -1
"""In a seating: nobody's seat; the loop stops there and leaves the turn to the caller."""
_ROOM = 512
"""Actions a match at first; a record grows where it takes more."""


class Record:
    """Every action that `advance` plays.

    Attributes:
        moves: uint8 [B, R], the actions of each game; what lies behind them means nothing.
        lengths: int64 [B], how many there are.
    """

    def __init__(self, num_games: int = 0) -> None:
        """Of so many games; of none, nothing is recorded."""
        self.moves = np.empty((num_games, _ROOM if num_games else 0), np.uint8)
        self.lengths = np.zeros(num_games, np.int64)

    def grow(self) -> None:
        """Makes room for as many again."""
        self.moves = np.hstack([self.moves, np.empty_like(self.moves)])

    def lines(self) -> Array:
        """The actions of each game: bytes, object [B]."""
        lines = np.empty(len(self.moves), object)
        rows = zip(self.moves, self.lengths, strict=True)
        lines[:] = [row[:length].tobytes() for row, length in rows]
        return lines


def advance(
    games: Games,
    policies: Sequence[Policy],
    seating: Array,
    rewards: Array | None = None,
    reward: int = POINTS,
    actions: Array | None = None,
    record: Record | None = None,
    matches: Array | None = None,
    order: np.random.Generator | None = None,
) -> None:
    """Plays every game on until it is over or a seat of the caller's is to move.

    Each policy is asked about the sub-batch of games in which it is to move, with keys that follow
    from the salt of the games, the match and the place in it. What built-in policies do follows
    from the seed of the deals alone.

    Args:
        games: Stepped in place.
        policies: The policies that sit at the tables.
        seating: int8 [B, 4], for each seat an index into `policies`, or `LEARNER`.
        rewards: float64 [B, 4], to which every seat's rewards are added.
        reward: The kind of reward (engine/rewards.py).
        actions: int64 [B], of the caller's seats, which are played first: legal (`Games.check`), or
            -1 for none.
        record: To which all actions are written.
        matches: uint64 [B], by which the keys tell the matches apart; their streams, if not given.
        order: Draws in which order a policy sees its games; as they lie, if not given.

    Raises:
        ValueError: A policy returned something other than one legal action a row; the games in
            which the others acted stay as they are.
    """
    paid = np.zeros((0, 4)) if rewards is None else rewards
    kinds = [policy.kind if isinstance(policy, BuiltIn) else -1 for policy in policies]
    kinds_or_none = np.array([*kinds, -1])
    seated = np.ascontiguousarray(seating, np.int8)
    moves = Record() if record is None else record
    waiting = np.empty(len(games), np.int64)
    played = np.full(len(games), -1, np.int64) if actions is None else actions
    while loops.play_on(
        games.params, games.data, games.script, played, kinds_or_none, seated, reward, paid,
        moves.moves, moves.lengths, waiting,
    ):  # fmt: skip
        played = np.full(len(games), -1, np.int64)
        if (waiting == NO_ROOM).any():
            moves.grow()
        for index in np.unique(waiting[waiting >= 0]):
            rows = np.flatnonzero(waiting == index)
            rows = rows if order is None else order.permutation(rows)
            played[rows] = ask(policies[index], games, rows, matches)


def ask(
    policy: Policy, games: Games, rows: Array | None = None, matches: Array | None = None
) -> Array:
    """One action of `policy` in each game, or in those at `rows`, int64 [N]: int64 [N].

    Raises:
        ValueError: It did not return a legal action for each; the message names the policy.
    """
    asked = np.arange(len(games)) if rows is None else rows
    by_salt = type(policy) is not BuiltIn
    answer = policy.act(*handed(games, asked, matches, by_salt))
    usual = isinstance(answer, np.ndarray) and answer.dtype == np.int64
    usual = usual and answer.shape == asked.shape
    if usual and loops.all_legal(games.params, games.data, asked, answer):
        return answer
    views, masks, _ = handed(games, asked)  # those before may have been written to
    return checked(policy, answer, views, masks)


def handed(
    games: Games, rows: Array, matches: Array | None = None, by_salt: bool = True
) -> tuple[Array, Array, Array]:
    """Views, masks and keys of the seats to move in these rows, in their order.

    Args:
        games: The games.
        rows: int64 [N].
        matches: As for `advance`.
        by_salt: As for `turn_keys`.
    """
    views, keys = np.zeros(len(rows), VIEW), np.empty(len(rows), np.uint64)
    masks = np.empty((len(rows), NUM_ACTIONS), np.bool_)
    known = np.ascontiguousarray(games.data["key"]) if matches is None else matches
    loops.show(games.params, games.data, rows, known, games.salt, by_salt, views, masks, keys)
    return views, masks, keys


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
