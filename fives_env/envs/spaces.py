"""The spaces of the envs, and actions as people hand them over."""

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from fives_env.actions import NUM_ACTIONS
from fives_env.engine.features import HIGH, LOW

Array = npt.NDArray[Any]


class ActionSpace(spaces.Discrete):
    """``Discrete(114)`` whose `sample` keeps to legal actions.

    `Discrete.sample` answers a mask that allows nothing with action 0, which is an illegal move
    played unnoticed; this one refuses it.

    Attributes:
        legal: bool [114]; what `sample` draws from without a mask, while it allows anything. The
            single env keeps it up to date, so that a loop over ``action_space.sample()`` plays.
    """

    legal: Array | None = None

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        """Makes the space of the 114 actions (actions.py)."""
        super().__init__(NUM_ACTIONS, seed)

    def sample(self, mask: Array | None = None, probability: Array | None = None) -> np.int64:
        """Samples an action, evenly among those that `mask` allows.

        Args:
            mask: int8 (or bool) [114], 1 where the action is legal; None: `legal`, if there is one.
            probability: float64 [114], as for `Discrete.sample`.

        Raises:
            ValueError: The mask has another form, or allows nothing.
        """
        if mask is None and self.legal is not None and self.legal.any():
            mask = self.legal
        if mask is None or probability is not None:
            return super().sample(mask, probability)
        if getattr(mask, "shape", None) != (NUM_ACTIONS,) or mask.dtype.char not in "b?":
            raise ValueError(
                f"a mask is an int8 or bool array of shape ({NUM_ACTIONS},), not {mask!r}"
            )
        legal = mask.nonzero()[0]
        if not len(legal):
            raise ValueError(
                "the mask allows no action: it is that of an agent that is not to move, or of a "
                "finished one"
            )
        action: np.int64 = legal[self.np_random.integers(len(legal))]
        return action

    def contains(self, x: Any) -> bool:
        """Whether `x` is the number of an action."""
        if type(x) is int or isinstance(x, np.int64):  # the usual cases, without the general checks
            return bool(0 <= x < NUM_ACTIONS)
        return super().contains(x) and not isinstance(x, bool)


class ActionSpaces(spaces.MultiDiscrete):
    """One action for each of N tables, whose `sample` keeps to legal ones.

    Attributes:
        legal: bool [N, 114]; as for `ActionSpace`. A row that allows nothing is that of a table
            which waits for its reset; there any action will do.
    """

    legal: Array | None = None

    def __init__(self, num_envs: int, seed: int | np.random.Generator | None = None) -> None:
        """Makes the space: `MultiDiscrete`, int64 [N]."""
        super().__init__(np.full(num_envs, NUM_ACTIONS), seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Array:
        """Samples an action a table, evenly among those that `mask` allows.

        Args:
            mask: int8 (or bool) [N, 114], as in ``infos["action_mask"]``; or a tuple of N masks, as
                for `MultiDiscrete.sample`; None: `legal`, if there is one.
            probability: As for `MultiDiscrete.sample`.

        Returns:
            int64 [N].

        Raises:
            ValueError: The mask has another form, or allows nothing at a table.
        """
        masks = self.legal if mask is None else mask
        if masks is None or probability is not None:
            return super().sample(mask, probability)
        given = np.asarray(masks)
        shape = (*self.nvec.shape, NUM_ACTIONS)
        if given.shape != shape or given.dtype.char not in "b?":
            raise ValueError(f"masks are an int8 or bool array of shape {shape}, not {mask!r}")
        counts = np.count_nonzero(given, axis=1)
        if mask is not None and not counts.all():
            raise ValueError(f"the mask of table {counts.argmin()} allows no action")
        if not counts.all():
            given = given | (counts == 0)[:, None]
            counts = np.count_nonzero(given, axis=1)
        first = np.cumsum(counts) - counts
        actions: Array = np.nonzero(given)[1][first + self.np_random.integers(counts)]
        return actions


def observation_space() -> spaces.Box:
    """The features of one view, with the bounds that hold."""
    return spaces.Box(LOW, HIGH, dtype=np.float32)


def one_action(action: Any) -> Array:
    """A single action, however it came (7, np.int64(7), np.array([7])), for `Games.step`."""
    given = np.asarray(action)
    return given.reshape(1) if given.size == 1 else given
