"""`FivesVectorEnv`: many tables in one Gymnasium `VectorEnv`, on the batch engine itself."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from fives_env.actions import NUM_ACTIONS
from fives_env.envs.opponents import Opponents
from fives_env.envs.spaces import ActionSpace, observation_space
from fives_env.envs.tables import Tables
from fives_env.policies import Policy
from fives_env.rendering.text import render_text
from fives_env.rules import Rules

Array = npt.NDArray[Any]


class FivesVectorEnv(VectorEnv[Array, Array, Array]):
    """`num_envs` tables with a learner at each; an episode is a match (or a round, mode=round).

    Observations are features, float32 [N, F] (engine/features.py). `infos["action_mask"]` is the
    mask, int8 [N, 114]; `action_masks()` gives the same as bool. An episode that ends is followed
    in the same step by the next one (SAME_STEP): its last observation and info are in
    ``infos["final_obs"]`` and ``infos["final_info"]``. Options of `reset` hold until one
    that gives a seed or options. Every array that is returned is the caller's own.

    A step returns what the learner's side was paid since its last action, whoever's turn it was.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": ["ansi"]}

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str = "fives-and-threes",
        *,
        opponent: Policy | str | Sequence[Policy | str] | Opponents = "greedy",
        partner: Policy | str | None = None,
        seat: int | str = 0,
        reward: str = "outcome",
        start_scores: npt.ArrayLike | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Makes the tables.

        Args:
            num_envs: N.
            rules: `Rules` or their spec text.
            opponent: A policy, or ``random`` or ``greedy`` (these run in compiled code). Of a list,
                each match draws one, evenly; `Opponents` draw by themselves. Then
                ``infos["opponent"]`` is the index of who plays at each table: at all seats that
                are neither the learner's nor its partner's, and until the match is over.
            partner: The learner's partner, likewise; by default plays as the opponents do.
            seat: The learner's seat, or ``random``: drawn for each match.
            reward: ``outcome`` or ``points`` (engine/rewards.py).
            start_scores: By side, or ``random``: drawn for each match over the score plane.
            render_mode: ``ansi`` or None.

        Raises:
            ValueError: An argument is wrong; the message says what would be right.
        """
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode={render_mode!r} is not 'ansi' or None")
        self._tables = Tables(num_envs, rules, opponent, partner, seat, reward, start_scores)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.single_observation_space = observation_space()
        self.single_action_space = ActionSpace()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._masks: Array | None = None

    @property
    def rules(self) -> Rules:
        """The rules of all tables."""
        return self._tables.games.rules

    @property
    def opponents(self) -> Array:
        """Which of several opponents plays at each table: int64 [N]; zeros where there is one."""
        return self._tables.opponents.copy()

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Starts a match at every table.

        Args:
            seed: An int gives table i the seed ``seed + i``, as Gymnasium's own vector envs do; a
                sequence gives one each; None goes on with the next matches.
            options: ``rounds`` and ``scores`` as in `Games.reset`; they hold for the matches that
                follow too, until a reset that gives a seed or options.

        Raises:
            ValueError: An option is unknown or wrong, or the seed is.
        """
        if isinstance(seed, int | np.integer):
            seed = [int(seed) + index for index in range(self.num_envs)]
        self._tables.reset(None if seed is None else np.asarray(seed), options)
        observations, self._masks = self._tables.observe()
        return observations, self._info(self._masks)

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Plays one action of the learner at every table, and the others to its next turn.

        Args:
            actions: Whole numbers [N].

        Returns:
            Observations float32 [N, F], rewards float64 [N], terminations and truncations bool
            [N], infos.

        Raises:
            ValueError: As for `Games.step`; nothing has changed.
        """
        if self._masks is None:
            raise ValueError("call reset before step")
        rewards = self._tables.step(actions)
        data = self._tables.games.data
        truncated = data["truncated"] == 1
        over = data["match_over"] == 1
        final = self._restart(over) if over.any() else {}
        observations, self._masks = self._tables.observe()
        return observations, rewards, over & ~truncated, truncated, self._info(self._masks) | final

    def action_masks(self) -> Array:
        """The legal actions of the current observations: bool [N, 114]; at least one a row.

        Raises:
            ValueError: Before the first reset.
        """
        if self._masks is None:
            raise ValueError("call reset before action_masks")
        return self._masks.copy()

    def save_games(self) -> dict[str, Array]:
        """Copies of the games in progress and of who sits where, arrays by name.

        Rules, opponents and the options of `reset` are not among them.
        """
        return self._tables.save_games()

    def load_games(self, saved: Mapping[str, Array]) -> Array:
        """Goes on from what `save_games` gave in an env that was made in the same way.

        Returns:
            The observations of that moment: float32 [N, F].

        Raises:
            ValueError: Something is missing or of another shape; nothing has changed.
        """
        self._tables.load_games(saved)
        observations, self._masks = self._tables.observe()
        return observations

    def render(self) -> tuple[str, ...] | None:
        """What the learner sees at each table, as text."""
        if self.render_mode is None:
            return None
        return tuple(render_text(view) for view in self._tables.games.view(self._tables.seats))

    def _restart(self, over: Array) -> dict[str, Any]:
        """The last observations and infos of the finished episodes; then their tables go on."""
        rows = np.flatnonzero(over)
        last = np.full(self.num_envs, None, object)
        last[rows] = list(self._tables.observe(rows)[0])
        last_info = self._info(np.zeros((self.num_envs, NUM_ACTIONS), bool))
        for values in last_info.values():
            values[~over] = 0
        self._tables.restart(over)
        return {
            "final_obs": last,
            "_final_obs": over.copy(),
            "final_info": last_info,
            "_final_info": over.copy(),
        }

    def _info(self, masks: Array) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": masks.astype(np.int8), **self._tables.info()}
        present = np.ones((len(info), self.num_envs), bool)
        return info | {f"_{name}": row for name, row in zip(info, present, strict=True)}
