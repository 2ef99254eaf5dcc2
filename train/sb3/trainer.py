"""``python -m train sb3``: MaskablePPO of sb3-contrib on the native vector env."""

import logging
import math
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from agents.network import Network
from fives_env.envs.sb3 import Sb3VecEnv
from fives_env.envs.vector import FivesVectorEnv
from fives_env.rules import Rules
from train.league.league import League, league_of
from train.league.matchmaking import results
from train.run import session
from train.run.clock import Clock
from train.run.seeds import derive
from train.run.session import Facts, Trainer
from train.run.settings import Resume
from train.sb3.config import Sb3
from train.sb3.networks import Policy, adopt, export, feature_scale, policy_arguments
from train.sb3.state import capture, restore

Array = npt.NDArray[Any]
_LOGGED = {
    "loss": "loss",
    "policy": "policy_gradient_loss",
    "value": "value_loss",
    "kl": "approx_kl",
    "clipped": "clip_fraction",
    "explained": "explained_variance",
}
"""Columns of progress.csv, and what SB3 calls them."""


def run(options: Sb3 | Resume) -> int:
    """Trains as told, or goes on with a run; as `train.run.session.run`."""
    return session.run(Sb3Trainer, Sb3, options)


class Sb3Trainer(Trainer):
    """MaskablePPO as a run knows it."""

    measured_against = ("random", "greedy")
    algorithm = "MaskablePPO"
    config: Sb3
    league: League

    def __init__(self, config: Sb3, pool: Facts | None = None) -> None:
        """A new one; `pool` is the state of the league, if the run goes on.

        Raises:
            ValueError: The rules or the opponents cannot be used.
        """
        self.config, self.rules = config, Rules.from_spec(config.rules)
        self.clock = Clock(config.seconds, config.decisions)
        self.league = league_of(config, pool)  # type: ignore[assignment]  # there is one
        self.league.check(episodes(config)[0])  # who cannot play says so before anything is written
        self.envs = make_envs(config, self.league)
        self.model = make_model(config, self.envs, self.clock)
        self._booking = Booking(config, self.league)

    def __exit__(self, *error: object) -> None:
        """Closes the tables."""
        self.envs.close()

    def begin(self, log: logging.Logger, new: bool) -> None:
        """Deals the first games, if there are none."""
        torch.set_num_threads(self.config.threads)
        self.model.learn(0, reset_num_timesteps=False)

    def update(self) -> dict[str, float]:
        """One rollout, and what is learned from it."""
        model, learner = self.model, self.config.learner
        decisions = learner.num_envs * learner.num_steps
        never = sys.maxsize  # else SB3 clears what it logs before anybody reads it
        model.learn(decisions, self._booking, log_interval=never, reset_num_timesteps=False)
        self.clock.decisions = model.num_timesteps
        values = model.logger.name_to_value
        ended = model.ep_info_buffer or [{"r": math.nan, "l": math.nan}]
        return {
            **{column: float(values[f"train/{name}"]) for column, name in _LOGGED.items()},
            "entropy": -float(values["train/entropy_loss"]),
            "reward": float(np.mean([episode["r"] for episode in ended])),
            "length": float(np.mean([episode["l"] for episode in ended])),
        }

    def agent(self) -> Network:
        """Its values are in points."""
        scale = float(np.sqrt(self.envs.ret_rms.var + self.envs.epsilon))
        return export(self.model.policy, value_scale=scale)

    def adopt(self, network: Network) -> None:
        """Takes up all weights."""
        adopt(self.model.policy, network)

    def in_play(self) -> Array:
        """Whom each table meets; nobody yet in a run that has not begun."""
        if not self.clock.decisions:
            return np.zeros(0)
        tables = self.envs.unwrapped
        assert isinstance(tables, Sb3VecEnv)
        return tables.envs.opponents

    def capture(self) -> tuple[dict[str, Array], Facts]:
        """What a run goes on from."""
        return capture(self.model)

    def restore(self, arrays: dict[str, Array], facts: Facts) -> None:
        """Puts it back."""
        self.envs.reset()
        restore(self.model, arrays, facts)


class Booking(BaseCallback):
    """Books the episodes that have just ended to the opponents that they met."""

    def __init__(self, config: Sb3, league: League) -> None:
        super().__init__()
        self._league, self._rounds = league, config.episodes == "rounds"
        self._partners = Rules.from_spec(config.rules).partners

    def _on_step(self) -> bool:
        tables = self.training_env.unwrapped
        assert isinstance(tables, Sb3VecEnv)
        infos = tables.infos
        if "final_info" in infos:
            over, final = np.flatnonzero(infos["_final_info"]), infos["final_info"]
            sides = final["seat"][over] % 2 if self._partners else final["seat"][over]
            margins = None
            if self._rounds:
                margins = np.array([self.locals["infos"][row]["episode"]["r"] for row in over])
            ended = results(final["winner"][over], sides, margins)
            self._league.book(final["opponent"][over], ended)
        return True


def make_envs(config: Sb3, league: League) -> VecNormalize:
    """The tables that are learned at: rewards are points, scaled to about 1 by their spread.

    Observations and masks go through as they are.
    """
    rules, scores = episodes(config)
    tables = FivesVectorEnv(
        config.learner.num_envs,
        rules,
        opponent=league,
        seat="random",
        reward="points",
        start_scores=scores,
        salt=config.salt,
    )
    monitored = VecMonitor(Sb3VecEnv(tables))
    return VecNormalize(monitored, norm_obs=False, norm_reward=True, gamma=config.learner.gamma)


def episodes(config: Sb3) -> tuple[Rules, str | None]:
    """The rules of a training episode, and where its scores start."""
    rules = Rules.from_spec(config.rules)
    if config.episodes == "matches":
        return rules, None
    return replace(rules, mode="round"), "random"


def make_model(config: Sb3, envs: VecNormalize, clock: Clock) -> MaskablePPO:
    """A new MaskablePPO whose first weights, deals and choices follow from the seed.

    Its learning rate falls with the clock.
    """
    learner = config.learner
    model = MaskablePPO(
        Policy,
        envs,
        learning_rate=lambda _: learner.learning_rate * clock.annealed,
        n_steps=learner.num_steps,
        batch_size=min(learner.batch_size, learner.num_steps * learner.num_envs),
        n_epochs=learner.num_epochs,
        gamma=learner.gamma,
        gae_lambda=learner.gae_lambda,
        clip_range=learner.clip_range,
        ent_coef=learner.ent_coef,
        policy_kwargs=policy_arguments(learner.hidden, feature_scale(*episodes(config))),
        stats_window_size=10 * learner.num_envs,
        seed=derive(config.seed, "learner") % (1 << 32),
        device="cpu",
    )
    model.set_logger(Logger(None, []))  # the run writes down what it logs
    envs.seed(derive(config.seed, "training"))  # behind the model, which seeds its env too
    return model
