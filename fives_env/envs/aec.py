"""`raw_env` and `env`: the games as PettingZoo agent-environment-cycle envs."""

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger, spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from fives_env.actions import NUM_ACTIONS
from fives_env.engine import loops
from fives_env.engine.rewards import reward_kind
from fives_env.envs.render import METADATA, MODES, checked_mode, close_window, render
from fives_env.envs.spaces import ActionSpace, observation_space, one_action
from fives_env.envs.tables import look, read_options
from fives_env.games import Games
from fives_env.rules import Rules

Array = npt.NDArray[Any]
Observation = dict[str, Array] | Array
OBSERVE = ("dict", "flat")
_FIRST = np.zeros(1, np.int64)


class raw_env(AECEnv[str, Observation, Any]):  # noqa: N801 (PettingZoo's name)
    """One game; an episode is a match, or a round where the rules say ``mode=round``.

    Agents are ``player_0`` .. ``player_3``. An observation is ``{"observation": float32 [F],
    "action_mask": int8 [114]}``; with ``observe="flat"`` it is the features alone, and the mask is
    in ``infos[agent]["action_mask"]``. The mask of an agent that is not to move is all zeros. After
    the last action all agents are terminated (or truncated, D6) at once, and each takes one
    ``step(None)``. A seat whose hand is empty while the round goes on (F7) is skipped, and stays.
    """

    metadata = {**METADATA, "name": "fives_v0", "is_parallelizable": False}

    def __init__(
        self,
        rules: Rules | str = "fives-and-threes",
        *,
        reward: str = "outcome",
        observe: str = "dict",
        render_mode: str | None = None,
    ) -> None:
        """Makes the game.

        Args:
            rules: `Rules` or their spec text.
            reward: ``outcome`` or ``points`` (engine/rewards.py).
            observe: ``dict`` or ``flat``: where the mask is.
            render_mode: `render` returns text (``ansi``), SVG (``svg``) or a frame (``rgb_array``);
                ``human``: the game is shown after every reset and step, and by `render`; or None.

        Raises:
            ValueError: An argument is wrong; the message says what would be right.
        """
        super().__init__()
        if observe not in OBSERVE:
            raise ValueError(f"observe={observe!r} is not 'dict' or 'flat'")
        self.render_mode = checked_mode(render_mode)
        self.games = Games(rules)
        self._flat = observe == "flat"
        self._reward = reward_kind(reward)
        self._paid = np.zeros((1, 4))
        self._seeded = False
        self.possible_agents = [f"player_{seat}" for seat in range(self.games.rules.players)]
        self._seats = np.arange(4, dtype=np.uint8).reshape(4, 1)
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self.action_spaces = {agent: ActionSpace() for agent in self.possible_agents}
        self.observation_spaces = {agent: self._space() for agent in self.possible_agents}

    def _space(self) -> spaces.Space[Any]:
        if self._flat:
            return observation_space()
        mask = spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
        return spaces.Dict({"observation": observation_space(), "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of `agent`: the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:  # type: ignore[override]
        """The space of `agent`: the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a match.

        Args:
            seed: Fixes all deals from here on; None goes on with the next match (the first time,
                from fresh entropy).
            options: ``rounds`` and ``scores`` as in `Games.reset`; they hold until a reset that
                gives a seed or options.

        Raises:
            ValueError: An option is unknown or wrong, or the seed is.
        """
        # PettingZoo's api_test resets every env with {"options": 1}; any other stranger is refused.
        script = read_options({k: v for k, v in (options or {}).items() if k != "options"})
        if seed is not None or not self._seeded:
            self.games.reset(None if seed is None else np.array([seed]), **script)
            self._seeded = True
        else:
            if options is not None:
                self.games.script_matches(**script)
            self.games.restart([True])
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._publish()

    def step(self, action: Any) -> None:
        """Plays one action of the agent to move; None for an agent that is finished.

        Raises:
            ValueError: As for `Games.step`; nothing has changed.
        """
        if not self.agents:
            raise ValueError("nobody is to move: call reset before step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.games.step(one_action(action), every=True)
        loops.pay(self.games.params, self.games.data, self._paid, self._reward)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(zip(self.agents, self._paid[0].tolist(), strict=False))
        self._paid[:] = 0
        self._accumulate_rewards()
        self._publish()

    def forfeit(self) -> None:
        """Ends the game as PettingZoo does on an illegal action: -1 for the agent to move."""
        agent = self.agent_selection
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = dict.fromkeys(self.agents, 0.0) | {agent: -1.0}
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        self._deads_step_first()
        self._mask_infos()

    def observe(self, agent: str) -> Observation:
        """What `agent` sees now."""
        features, mask = self._look(agent)
        if not self._flat:
            return {"observation": features, "action_mask": mask}
        if agent in self.infos:
            self.infos[agent] = self.infos[agent] | {"action_mask": mask}
        return features

    def render(self) -> Any:
        """What the agent to move sees, as the render mode has it."""
        if self.render_mode is None:
            logger.warn(f"render() does nothing without render_mode, one of {', '.join(MODES)}")
            return None
        view = self.games.view(self._seat_of[self.agent_selection])[0]
        return render(view, self.render_mode)

    def close(self) -> None:
        """Closes the window of ``human`` mode, if there is one."""
        close_window()

    def _look(self, agent: str) -> tuple[Array, Array]:
        """Features, and the mask: int8 [114]; empty unless `agent` is to move in a game that is on.

        The records alone do not tell: after a forfeit they hold the offender's turn, while the
        agents take their last steps in another order.
        """
        features, masks = look(self.games, self._seats[self._seat_of[agent]], _FIRST)
        mask = masks[0].view(np.int8)
        over = self.terminations.get(agent, True) or self.truncations.get(agent, True)
        if over or agent != self.agent_selection:
            mask[:] = 0
        return features[0], mask

    def _publish(self) -> None:
        """Says whose turn it is, who is finished, and the public facts."""
        seat, over, truncated, game_round, leader, winner, *scores = loops.facts(self.games.data)
        self.agent_selection = self.possible_agents[seat]
        facts = {
            "round": game_round,
            "leader": leader,
            "scores": tuple(scores[: self.games.rules.num_sides]),
            "winner": winner,
        }
        self.infos = {agent: facts.copy() for agent in self.agents}
        if over:
            ended = self.truncations if truncated else self.terminations
            ended.update(dict.fromkeys(self.agents, True))
            self._deads_step_first()
        self._mask_infos()
        if self.render_mode == "human":
            self.render()

    def _mask_infos(self) -> None:
        """With flat observations the masks are in the infos."""
        if self._flat:
            for agent, info in self.infos.items():
                info["action_mask"] = self._look(agent)[1]


class _Usual(wrappers.OrderEnforcingWrapper[str, Observation, Any]):
    """What PettingZoo's three usual wrappers do, in one layer.

    OrderEnforcing, AssertOutOfBounds and TerminateIllegal on top of each other take twice as long
    as the game itself; a test holds this one to the three.
    """

    env: raw_env

    def __str__(self) -> str:
        """The game's name, as under PettingZoo's wrappers."""
        return str(self.env)

    def last(self, observe: bool = True) -> Any:
        """As `AECEnv.last`."""
        if not self._has_reset:
            return super().last(observe)  # says that reset comes first
        return self.env.last(observe)

    def step(self, action: Any) -> None:
        """As `raw_env.step`; but an illegal action ends the game, and its agent gets -1.

        Raises:
            AssertionError: The action is not in the action space.
        """
        game = self.env
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not game.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = game.agent_selection
        finished = game.terminations[agent] or game.truncations[agent]
        assert (finished and action is None) or game.action_space(agent).contains(action), (
            "action is not in action space"
        )
        if finished:
            game.step(action)
            return
        try:
            game.step(action)
        except ValueError:  # the action is illegal, and nothing has changed
            EnvLogger.warn_on_illegal_move()
            game.forfeit()


def env(**kwargs: Any) -> AECEnv[str, Observation, Any]:
    """`raw_env` under PettingZoo's usual checks: an illegal action ends the game, at -1.

    Args:
        **kwargs: As for `raw_env`.
    """
    return _Usual(raw_env(**kwargs))
