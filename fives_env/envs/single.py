"""`FivesEnv`: one table as a Gymnasium `Env` for a single learner."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from fives_env.engine import loops
from fives_env.envs.opponents import Opponents
from fives_env.envs.render import METADATA, checked_mode, close_window, render
from fives_env.envs.spaces import ActionSpace, observation_space, one_action
from fives_env.envs.tables import Tables
from fives_env.policies import Policy
from fives_env.rules import Rules

Array = npt.NDArray[Any]
_SEATS = np.arange(4)


class FivesEnv(gymnasium.Env[Array, int]):
    """One table with the learner at it; an episode is a match (or a round, mode=round).

    Observations are features, float32 [F] (engine/features.py). ``info["action_mask"]`` is the
    mask, int8 [114], as `Discrete.sample` takes it; `action_masks()` gives the same as bool, as
    sb3-contrib takes it. A step returns what the learner's side was paid since its last action,
    whoever's turn it was. Arguments as for `FivesVectorEnv`.

    With ``illegal="lose"`` an illegal action ends the episode at -1, and ``info["illegal_action"]``
    says which it was (-1 where there was none). The registered ids take that, since the tools that
    make envs by id play unmasked actions; the class raises, since in a program of one's own an
    illegal action is a mistake.
    """

    metadata = {**METADATA}

    def __init__(
        self,
        rules: Rules | str = "fives-and-threes",
        *,
        opponent: Policy | str | Sequence[Policy | str] | Opponents = "greedy",
        partner: Policy | str | None = None,
        seat: int | str = 0,
        reward: str = "outcome",
        start_scores: npt.ArrayLike | str | None = None,
        illegal: str = "raise",
        salt: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Makes the table.

        Raises:
            ValueError: An argument is wrong; the message says what would be right.
        """
        self.render_mode = checked_mode(render_mode)
        self._tables = Tables(
            1, rules, opponent, partner, seat, reward, start_scores, illegal, salt
        )
        self.observation_space = observation_space()
        self._actions = ActionSpace()
        self.action_space = self._actions  # type: ignore[assignment]
        self._mask: Array | None = None

    @property
    def rules(self) -> Rules:
        """The rules of the table."""
        return self._tables.games.rules

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Starts a match and plays to the learner's first turn.

        Args:
            seed: Fixes all deals from here on; None goes on with the next match.
            options: ``rounds`` and ``scores`` as in `Games.reset`; they hold until a reset that
                gives a seed or options, so also when a wrapper resets by itself.

        Raises:
            ValueError: An option is unknown or wrong, or the seed is.
        """
        super().reset(seed=seed)
        self._tables.reset(None if seed is None else np.array([seed]), options)
        return self._observe()

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Plays one action of the learner, and the others to its next turn.

        Raises:
            ValueError: The action is illegal, and is not to lose the episode, or is none at all, or
                comes after its end; nothing has changed.
        """
        if self._mask is None:
            raise ValueError("call reset before step")
        reward = float(self._tables.step(one_action(action))[0])
        game = self._tables.games.data[0]
        truncated = bool(game["truncated"])
        observation, info = self._observe()
        return observation, reward, bool(game["match_over"]) and not truncated, truncated, info

    def action_masks(self) -> Array:
        """The legal actions: bool [114]; none once the match is over.

        Raises:
            ValueError: Before the first reset.
        """
        if self._mask is None:
            raise ValueError("call reset before action_masks")
        return self._mask.copy()

    def render(self) -> Any:
        """What the learner sees, in the render mode: text, SVG, a frame uint8 [H, W, 3], or None.

        In ``human`` mode every reset and step shows it by itself.
        """
        return render(self._tables.games.view(self._tables.seats)[0], self.render_mode)

    def close(self) -> None:
        """Closes the window of ``human`` mode, if there is one."""
        close_window()

    def _observe(self) -> tuple[Array, dict[str, Any]]:
        observations, masks = self._tables.observe()
        self._mask = self._actions.legal = masks[0]
        facts = np.array(loops.facts(self._tables.games.data))  # NumPy's scalars, as others expect
        info = {
            "action_mask": masks[0].astype(np.int8),
            "seat": _SEATS[self._tables.seats[0]],
            "round": facts[3],
            "leader": facts[4],
            "scores": facts[6 : 6 + self.rules.num_sides],
            "winner": facts[5],
        }
        for name, values in self._tables.extra_info().items():
            info[name] = values[0]
        if self.render_mode == "human":
            self.render()
        return observations[0], info
