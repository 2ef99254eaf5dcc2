"""The `Policy` protocol, the two policies that are compiled into the library, and all by spec."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fives_env import lab
from fives_env.engine import choose, loops

Array = npt.NDArray[Any]


class Policy(Protocol):
    """Anything that chooses actions from views.

    A policy never sees a game. It must not change its arguments, and a row's action may depend on
    that row alone (its view, mask and key), never on its neighbours or on the size of the batch.
    """

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        """Chooses one action a row.

        Args:
            views: VIEW [B], each of a seat to move.
            masks: bool [B, 114], the legal actions; at least one a row.
            keys: uint64 [B], each row's own randomness, from which nothing else follows.

        Returns:
            Whole numbers [B].
        """
        ...


class BuiltIn:
    """``random`` or ``greedy`` as compiled code.

    `random` takes every legal action with the same probability. `greedy` takes the placement that
    scores most now, then the heavier tile, then by the row's key; it draws only where it must.

    Attributes:
        name: ``random`` or ``greedy``.
        kind: What compiled code knows it by; envs run it inside their own loop.
    """

    def __init__(self, name: str) -> None:
        """Looks the policy up.

        Raises:
            ValueError: There is no built-in policy of this name.
        """
        if name not in choose.BUILT_IN:
            raise ValueError(
                f"{name!r} is not a built-in policy; there are: {', '.join(choose.BUILT_IN)}"
            )
        self.name = name
        self.kind = choose.BUILT_IN.index(name)

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        """As `Policy.act`; the masks are not needed."""
        actions = np.empty(len(views), np.int64)
        loops.choose_actions(self.kind, views, np.ascontiguousarray(keys, np.uint64), actions)
        return actions

    def __repr__(self) -> str:
        """``BuiltIn('greedy')``."""
        return f"BuiltIn({self.name!r})"


def as_policy(policy: "Policy | str") -> Policy:
    """`policy` itself, or the agent of this spec, as in ``greedy`` or ``pimc:16``.

    Raises:
        ValueError: It is neither; one line says what there is.
    """
    if isinstance(policy, str):
        return BuiltIn(policy) if policy in choose.BUILT_IN else lab.make_agent(policy)
    if isinstance(policy, type) or not callable(getattr(policy, "act", None)):
        raise ValueError(
            f"{policy!r} is not a policy: it needs act(views, masks, keys), or give the spec of an "
            "agent, as in 'greedy' or 'pimc:16'"
        )
    return policy
