"""What happens beside learning in a MaskablePPO run: measuring, saving, the pool, the bar."""

import copy
import math
import time
from dataclasses import asdict
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

from agents import make_agent
from agents.cards import Card
from agents.model import ModelAgent, save_model
from agents.network import Network
from fives_env.envs.sb3 import Sb3VecEnv
from fives_env.rules import Rules
from train.checkpoint import write_checkpoint
from train.clock import Clock
from train.config import Sb3
from train.evaluation import measure
from train.league import League
from train.matchmaking import results
from train.networks import export
from train.progress import ProgressBar
from train.run_folder import RunFolder
from train.sb3_state import capture
from train.seeds import derive
from train.stopping import Interruption

MEASURED_AGAINST = ("random", "greedy")


class Trainer(BaseCallback):
    """What happens beside learning: clock, league, evaluations, saving, progress bar."""

    def __init__(self, config: Sb3, folder: RunFolder, clock: Clock, league: League) -> None:
        super().__init__()
        self.config, self.folder, self.clock = config, folder, clock
        self.strength: list[dict[str, Any]] = []
        self._league = league
        self._rules = Rules.from_spec(config.rules)
        self._opponents = {name: make_agent(name) for name in MEASURED_AGAINST}
        self._evaluated_at = clock.seconds
        self._update_began = math.nan
        self._update_took = 0.0

    def watch(self, bar: ProgressBar, interruption: Interruption, new: bool) -> None:
        """Shows how far it is, and stops when somebody asks for it; a new run is measured first."""
        self._bar, self._interruption, self._new = bar, interruption, new

    @property
    def summary(self) -> str:
        """The run in half a line."""
        results = [f"{row['win_rate']:.1%} against {row['opponent']}" for row in self.strength]
        counts = f"{self.clock.decisions:,} decisions in {self.clock.seconds:.0f} s"
        return ", ".join([counts, *results])

    def network(self) -> Network:
        """The network as it is now; its values are in points."""
        envs = self.training_env
        assert isinstance(envs, VecNormalize)
        scale = float(np.sqrt(envs.ret_rms.var + envs.epsilon))
        return export(self.model.policy, value_scale=scale)

    def evaluate(self, pairs: int) -> None:
        """Measures the agent in whole matches."""
        agent = ModelAgent(self.network(), self._card(), self.config.evaluation == "sample")
        seed = derive(self.config.seed, "evaluation")
        self.strength = []
        for name, opponent in self._opponents.items():
            row = {
                "decisions": self.clock.decisions,
                "seconds": round(self.clock.seconds, 1),
                "opponent": name,
                **measure(self._rules, agent, opponent, seed, pairs, self.config.salt),
            }
            self.strength.append(row)
            self.folder.add_evaluation(row)
            for what in ("win_rate", "points_per_round"):
                self.logger.record(f"strength/{what}_{name}", row[what], exclude="csv")
        self.folder.log.info("met: %s", self._league.summary)
        self._bar.update({self.strength[-1]["opponent"]: self.strength[-1]["win_rate"]})

    def save(self) -> None:
        """Writes the model, and what the run goes on from: its state between two updates."""
        save_model(self.folder.model, self.network(), self._card())
        write_checkpoint(self.folder.path, *self._state, self.config)
        self._league.save()  # behind the checkpoint, which may name a snapshot that this removes

    def add_snapshot(self) -> None:
        """Adds the agent as it is now to the pool, where one is due."""
        due = self._league.num_snapshots * self.config.pool.every
        if self._league.takes_snapshots and self.clock.decisions >= due:
            seated = self._tables.envs.opponents if self.clock.decisions else np.zeros(0)
            if name := self._league.add(self.network(), self._card(), seated):
                self.folder.log.info("added %s at %s", name, f"{self.clock.decisions:,}")

    @property
    def _tables(self) -> Sb3VecEnv:
        tables = self.training_env.unwrapped
        assert isinstance(tables, Sb3VecEnv)
        return tables

    def _card(self) -> Card:
        return Card(
            rules=self._rules.spec,
            network=self.network().shape,
            training={
                "algorithm": "MaskablePPO",
                "decisions": self.clock.decisions,
                "seconds": round(self.clock.seconds, 1),
                "settings": {**asdict(self.config), "out": str(self.config.out)},
            },
            code=self.folder.versions,
            strength=self.strength,
        )

    def _on_training_start(self) -> None:
        """Measures and saves the untrained agent; time counts from here, all code is compiled."""
        self._keep_state()
        if self._new:
            self.evaluate(self.config.pairs)
            self.save()
        self.clock.start()

    def _on_rollout_start(self) -> None:
        """Between two updates."""
        now = time.monotonic()
        self._update_took = 0.0 if math.isnan(self._update_began) else now - self._update_began
        self.add_snapshot()
        if self.clock.part < 1:  # else nothing more is learned
            self.clock.anneal()
        self._keep_state()
        if self.clock.seconds - self._evaluated_at >= self.config.evaluate_every:
            self._evaluated_at = self.clock.seconds
            self.evaluate(self.config.pairs)
            self.save()
        self._update_began = time.monotonic()
        self._show()

    def _keep_state(self) -> None:
        """A rollout that is cut short is played again by who goes on."""
        assert isinstance(self.model, MaskablePPO)
        arrays, facts = capture(self.model)
        league = copy.deepcopy(self._league.state())
        facts |= {"clock": self.clock.state(), "strength": self.strength, "league": league}
        self._state = arrays, facts

    def _on_rollout_end(self) -> None:
        """Behind a rollout, before its update."""
        self.logger.record("decisions", self.num_timesteps, exclude="tensorboard")

    def _on_step(self) -> bool:
        """Stops the run in time: a rollout begins only if it can be learned from."""
        first = self.n_calls % self.config.ppo.num_steps == 1 or self.config.ppo.num_steps == 1
        if self._interruption.asked or (first and self.clock.ends_within(self._update_took / 2)):
            return False
        self.clock.decisions = self.num_timesteps
        self._book()
        self._bar.update()
        return True

    def _book(self) -> None:
        """Books the episodes that have just ended to the opponents that they met."""
        infos = self._tables.infos
        if "final_info" not in infos:
            return
        over, final = np.flatnonzero(infos["_final_info"]), infos["final_info"]
        sides = final["seat"][over] % 2 if self._rules.partners else final["seat"][over]
        margins = None
        if self.config.episodes == "rounds":
            margins = np.array([self.locals["infos"][row]["episode"]["r"] for row in over])
        ended = results(final["winner"][over], sides, margins)
        self._league.book(final["opponent"][over], ended)

    def _show(self) -> None:
        values = self.logger.name_to_value
        numbers = {}
        if "train/approx_kl" in values:
            numbers = {"kl": values["train/approx_kl"], "entropy": -values["train/entropy_loss"]}
        episodes = self.model.ep_info_buffer
        if episodes:
            numbers["reward"] = float(np.mean([episode["r"] for episode in episodes]))
        self._bar.update(numbers)
