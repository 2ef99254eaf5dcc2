"""`FivesVectorEnv`: many tables in one Gymnasium `VectorEnv`, on the batch engine itself."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from fives_env.actions import NUM_ACTIONS
from fives_env.envs.opponents import Opponents
from fives_env.envs.render import METADATA, checked_mode, close_window, render
from fives_env.envs.spaces import ActionSpace, ActionSpaces, observation_space
from fives_env.envs.tables import Tables
from fives_env.policies import Policy
from fives_env.rules import Rules

Array = npt.NDArray[Any]


class FivesVectorEnv(VectorEnv[Array, Array, Array]):
    """`num_envs` tables with a learner at each; an episode is a match (or a round, mode=round).

    Observations are features, float32 [N, F] (engine/features.py). `infos["action_mask"]` is the
    mask, int8 [N, 114]; `action_masks()` gives the same as bool, and `action_space.sample()` keeps
    to it. Options of `reset` hold until one that gives a seed or options. Every array that is
    returned is the caller's own.

    A step returns what the learner's side was paid since its last action, whoever's turn it was.

    What follows the end of an episode is Gymnasium's `AutoresetMode`. SAME_STEP: the next episode
    starts in the same step; the last observation and info are in ``infos["final_obs"]`` and
    ``infos["final_info"]``. NEXT_STEP: it starts in the next step, whose action at that table is
    not looked at and which pays nothing. DISABLED: the table waits for
    ``reset(options={"reset_mask": bool [N]})``.
    """

    metadata = {**METADATA, "autoreset_mode": AutoresetMode.SAME_STEP}

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
        illegal: str = "raise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        salt: int | None = None,
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
            illegal: ``raise`` a ValueError at an illegal action, or ``lose``: its episode ends at
                -1, and ``infos["illegal_action"]`` says which it was (-1 where there was none).
            autoreset_mode: An `AutoresetMode`, or its value as text.
            salt: Of the keys that opponents and partners are handed, from 0 to 2**128 - 1; drawn
                from the system's randomness if None. Equal seeds give equal episodes in one env; in
                two they do if the other seats are ``random``, ``greedy`` or any that do not use
                their keys, or if both envs have the same salt.
            render_mode: ``ansi`` or ``svg`` (texts), ``rgb_array`` (frames), ``human`` (the first
                table is shown after every reset and step), or None.

        Raises:
            ValueError: An argument is wrong; the message says what would be right.
        """
        self.render_mode = checked_mode(render_mode)
        self.autoreset_mode = _read_mode(autoreset_mode)
        self._resets_now = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._resets_next = self.autoreset_mode is AutoresetMode.NEXT_STEP
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._tables = Tables(
            num_envs, rules, opponent, partner, seat, reward, start_scores, illegal, salt
        )
        self.num_envs = num_envs
        self.single_observation_space = observation_space()
        self.single_action_space = ActionSpace()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._actions = ActionSpaces(num_envs)
        self.action_space = self._actions
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
        """Starts a match at every table, or at those of a ``reset_mask``.

        Args:
            seed: An int gives table i the seed ``seed + i``, as Gymnasium's own vector envs do; a
                sequence gives one each; None goes on with the next matches.
            options: ``rounds`` and ``scores`` as in `Games.reset`; they hold for the matches that
                follow too, until a reset that gives a seed or options. ``reset_mask``, bool [N]:
                only these tables; the others go on, and what is returned tells of them too.

        Raises:
            ValueError: An option is unknown or wrong, or the seed is.
        """
        if isinstance(seed, int | np.integer):
            seed = [int(seed) + index for index in range(self.num_envs)]
        seeds = None if seed is None else np.asarray(seed)
        rows, options = self._read_reset_mask(options)
        if rows.all():
            self._tables.reset(seeds, options)
        else:
            self._tables.reset_some(rows, seeds, options or {})
        observations, masks = self._look()
        return observations, self._info(masks)

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Plays one action of the learner at every table, and the others to its next turn.

        Args:
            actions: Whole numbers [N].

        Returns:
            Observations float32 [N, F], rewards float64 [N], terminations and truncations bool
            [N], infos.

        Raises:
            ValueError: An action is illegal, and is not to lose the episode, or is none at all, or
                comes after an end that nothing resets; nothing has changed.
        """
        if self._masks is None:
            raise ValueError("call reset before step")
        data, waiting, final = self._tables.games.data, None, {}
        if self._resets_next and data["match_over"].any():
            waiting = data["match_over"] == 1
        rewards = self._tables.step(actions, waiting)
        truncated = data["truncated"] == 1
        over = data["match_over"] == 1
        if waiting is not None:
            over, truncated = over & ~waiting, truncated & ~waiting
            self._tables.restart(waiting)
        if self._resets_now and over.any():
            final = self._restart(over)
        observations, masks = self._look()
        return observations, rewards, over & ~truncated, truncated, self._info(masks) | final

    def action_masks(self) -> Array:
        """The legal actions of the current observations: bool [N, 114]; none after a match.

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
        return self._look()[0]

    def render(self) -> tuple[Any, ...] | None:
        """What the learner sees at each table, as the render mode has it.

        In ``human`` mode the first table is shown, by every reset and step too, and None returned.
        """
        views = self._tables.games.view(self._tables.seats)
        if self.render_mode in (None, "human"):
            render(views[0], self.render_mode)
            return None
        return tuple(render(view, self.render_mode) for view in views)

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the window of ``human`` mode, if there is one."""
        close_window()

    def _look(self) -> tuple[Array, Array]:
        """The observations and masks of now, which are also those to sample from."""
        observations, masks = self._tables.observe()
        self._masks = self._actions.legal = masks
        if self.render_mode == "human":
            self.render()
        return observations, masks

    def _read_reset_mask(
        self, options: Mapping[str, Any] | None
    ) -> tuple[Array, Mapping[str, Any] | None]:
        """Which tables to reset, bool [N], and the other options, if there are any."""
        others = dict(options or {})
        mask = others.pop("reset_mask", None)
        if mask is None:
            return np.ones(self.num_envs, bool), None if options is None else others
        rows = np.asarray(mask)
        if rows.dtype != bool or rows.shape != (self.num_envs,) or not rows.any():
            raise ValueError(
                f"reset_mask must be bool of shape ({self.num_envs},) with at least one True, "
                f"not {mask!r}"
            )
        return rows, others or None

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
        for name, row in zip(tuple(info), present, strict=True):
            info["_" + name] = row
        return info


def _read_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        named = ", ".join(f"{known.value!r}" for known in AutoresetMode)
        raise ValueError(f"autoreset_mode={mode!r} is none of {named}") from None
