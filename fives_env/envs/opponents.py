"""Who sits at the seats that are not the learner's: one policy, or several that take turns.

Of several, each match draws one by its own random stream, and it stays until that match is over:
what is drawn depends neither on the other tables nor on when they end. `Mixture` draws by the seed
of the deals alone; other `Opponents` are handed keys that lead nowhere, as policies are.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fives_env.engine import keys as streams
from fives_env.games import Games
from fives_env.jit import jit
from fives_env.policies import Policy, as_policy

Array = npt.NDArray[Any]
MOST = 126
"""Policies at the tables of one batch: a seating has one byte for each seat."""
_OPPONENT = np.uint64(1 << 44)
"""Beside the other uses of a match's stream (engine/keys.py)."""


@runtime_checkable
class Opponents(Protocol):
    """Policies of which each match draws one.

    The list may grow between two steps. What stands at an index may change only while no game in
    play has drawn that index.
    """

    @property
    def policies(self) -> Sequence[Policy]:
        """All of them, at most `MOST`."""
        ...

    def draw(self, keys: Array) -> Array:
        """The opponent of each of these matches.

        Args:
            keys: uint64 [N], each match's own randomness (`opponent_keys`).

        Returns:
            Indices into `policies`, int64 [N].
        """
        ...


class Mixture:
    """Policies that are equally likely.

    Attributes:
        policies: These.
    """

    def __init__(self, policies: Sequence[Policy | str]) -> None:
        """Takes policies, or names of built-in ones.

        Raises:
            ValueError: There is none, one is none, or they are too many.
        """
        if not 1 <= len(policies) <= MOST:
            raise ValueError(f"opponent: {len(policies)} policies; give 1 to {MOST}")
        self.policies = [as_policy(policy) for policy in policies]

    def draw(self, keys: Array) -> Array:
        """As `Opponents.draw`."""
        high = keys >> np.uint64(32)
        return (high * np.uint64(len(self.policies)) >> np.uint64(32)).astype(np.int64)


def as_opponents(opponent: Policy | str | Sequence[Policy | str] | Opponents) -> Opponents:
    """One policy as a mixture of one, a list as a mixture; what draws by itself is left alone.

    Raises:
        ValueError: It is none of these.
    """
    if isinstance(opponent, Opponents) and not isinstance(opponent, type):
        return opponent
    if isinstance(opponent, list | tuple):
        return Mixture(opponent)
    return Mixture([opponent])  # type: ignore[list-item]  # as_policy refuses all else


def draw_opponents(opponents: Opponents, games: Games, rows: Array) -> Array:
    """Who plays each of these matches: indices into ``opponents.policies``, int64 [N].

    Args:
        opponents: Of whom one is drawn.
        games: The games.
        rows: Indices [N].

    Raises:
        ValueError: The opponents drew something other than one index a match.
    """
    keys = opponent_keys(games, rows, by_salt=type(opponents) is not Mixture)
    drawn = np.asarray(opponents.draw(keys))
    most = min(len(opponents.policies), MOST)
    if drawn.shape != rows.shape or drawn.dtype.kind not in "iu":
        raise ValueError(f"{opponents!r} drew {drawn!r}; it must give {len(rows)} whole numbers")
    if len(drawn) and not 0 <= drawn.min() <= drawn.max() < most:
        raise ValueError(f"{opponents!r} drew opponents {drawn!r}; there are 0 to {most - 1}")
    return drawn.astype(np.int64)


def opponent_keys(games: Games, rows: Array, by_salt: bool = True) -> Array:
    """The randomness by which each of these matches draws its opponent.

    Args:
        games: The games.
        rows: Indices [N].
        by_salt: Whether it follows from the salt of the games, and nothing from it; else from the
            match's own stream, for our own eyes only.

    Returns:
        uint64 [N].
    """
    keys = np.empty(len(rows), np.uint64)
    _opponent_keys(games.data, rows, games.salt, by_salt, keys)
    return keys


@jit
def _opponent_keys(games: Array, rows: Array, salt: Array, by_salt: bool, keys: Array) -> None:
    for out in range(len(rows)):
        match = games[rows[out]].key
        if by_salt:
            keys[out] = streams.sip_hash(salt, match, _OPPONENT)
        else:
            keys[out] = streams.mix(match, _OPPONENT)
