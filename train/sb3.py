"""``python -m train sb3``: MaskablePPO of sb3-contrib on the native vector env."""

import math
import sys
import time
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import CSVOutputFormat, Logger, TensorBoardOutputFormat
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from agents import canonical, make_agent
from agents.cards import Card
from agents.model import ModelAgent, save_model
from agents.network import Network
from eval.arena import play
from eval.scores import score
from fives_env.envs.vector import FivesVectorEnv
from fives_env.rules import Rules
from train.clock import Clock
from train.config import Sb3
from train.networks import Policy, export, feature_scale, policy_arguments
from train.progress import ProgressBar
from train.run_folder import RunFolder
from train.sb3_vec_env import Sb3VecEnv
from train.seeds import derive
from train.stopping import Interruption

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
MEASURED_AGAINST = ("random", "greedy")


def run(config: Sb3) -> int:
    """Trains as told and leaves a run folder with the model.

    Returns:
        The exit code: 0, or 130 after Ctrl-C; the model is saved in both cases.

    Raises:
        ValueError: The opponent, the rules or the run folder cannot be used.
    """
    envs = make_envs(config)
    envs.reset()  # an opponent that cannot play this says so before anything is written
    folder = RunFolder(config.out, config)
    torch.set_num_threads(config.threads)
    clock = Clock(config.seconds, config.decisions)
    model = make_model(config, envs, clock)
    model.set_logger(_logger(folder))
    folder.log.info("training on %s against %s", config.rules, canonical(config.opponent))
    with Interruption() as interruption, ProgressBar(clock) as bar:
        trainer = _Trainer(config, folder, clock, bar, interruption)
        model.learn(sys.maxsize, callback=trainer)
        clock.stop()
        if not interruption.asked:
            trainer.evaluate(config.final_pairs)
    trainer.save()
    folder.log.info("%s after %s", "interrupted" if interruption.asked else "done", trainer.summary)
    folder.close()
    model.logger.close()
    envs.close()
    print(f"{trainer.summary}; play it as model:{config.out}")
    return INTERRUPTED if interruption.asked else 0


def make_envs(config: Sb3) -> VecNormalize:
    """The tables that are learned at: rewards are points, scaled to about 1 by their spread.

    Observations and masks go through as they are.
    """
    rules, scores = episodes(config)
    tables = FivesVectorEnv(
        config.ppo.num_envs,
        rules,
        opponent=make_agent(config.opponent),
        seat="random",
        reward="points",
        start_scores=scores,
    )
    monitored = VecMonitor(Sb3VecEnv(tables))
    return VecNormalize(monitored, norm_obs=False, norm_reward=True, gamma=config.ppo.gamma)


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
    ppo = config.ppo
    model = MaskablePPO(
        Policy,
        envs,
        learning_rate=lambda _: ppo.learning_rate * (1 - clock.part),
        n_steps=ppo.num_steps,
        batch_size=min(ppo.batch_size, ppo.num_steps * ppo.num_envs),
        n_epochs=ppo.num_epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.entropy,
        policy_kwargs=policy_arguments(ppo.hidden, feature_scale(*episodes(config))),
        stats_window_size=10 * ppo.num_envs,
        seed=derive(config.seed, "learner") % (1 << 32),
        device="cpu",
    )
    envs.seed(derive(config.seed, "training"))  # behind the model, which seeds its env too
    return model


class _Trainer(BaseCallback):
    """What happens beside learning: the clock, evaluations, saving, the progress bar."""

    def __init__(
        self,
        config: Sb3,
        folder: RunFolder,
        clock: Clock,
        bar: ProgressBar,
        interruption: Interruption,
    ) -> None:
        super().__init__()
        self.strength: list[dict[str, Any]] = []
        self._config, self._folder, self._clock, self._bar = config, folder, clock, bar
        self._interruption = interruption
        self._rules = Rules.from_spec(config.rules)
        self._opponents = {name: make_agent(name) for name in MEASURED_AGAINST}
        self._evaluated_at = 0.0
        self._update_began = math.nan
        self._update_took = 0.0

    @property
    def summary(self) -> str:
        """The run in half a line."""
        results = [f"{row['win_rate']:.1%} against {row['opponent']}" for row in self.strength]
        counts = f"{self._clock.decisions:,} decisions in {self._clock.seconds:.0f} s"
        return ", ".join([counts, *results])

    def network(self) -> Network:
        """The network as it is now; its values are in points."""
        envs = self.training_env
        assert isinstance(envs, VecNormalize)
        scale = float(np.sqrt(envs.ret_rms.var + envs.epsilon))
        return export(self.model.policy, value_scale=scale)

    def evaluate(self, pairs: int) -> None:
        """Measures the agent, best action always, in whole matches."""
        agent = ModelAgent(self.network(), self._card())
        seed = derive(self._config.seed, "evaluation")
        self.strength = []
        for name, opponent in self._opponents.items():
            matches = play(self._rules, agent, opponent, seed, np.arange(pairs))
            result = score(matches, self._rules)
            row = {
                "decisions": self._clock.decisions,
                "seconds": round(self._clock.seconds, 1),
                "opponent": name,
                "pairs": pairs,
                "win_rate": round(result.win_rate, 4),
                "low": round(result.low, 4),
                "high": round(result.high, 4),
                "points_per_round": round(result.points_per_round, 4),
            }
            self.strength.append(row)
            self._folder.add_evaluation(row)
            self.logger.record(f"strength/win_rate_{name}", result.win_rate, exclude="csv")
            self.logger.record(f"strength/points_{name}", result.points_per_round, exclude="csv")
        self._bar.update({self.strength[-1]["opponent"]: self.strength[-1]["win_rate"]})

    def save(self) -> None:
        """Writes the model as it is now."""
        save_model(self._folder.model, self.network(), self._card())

    def _card(self) -> Card:
        return Card(
            rules=self._rules.spec,
            network=self.network().shape,
            training={
                "algorithm": "MaskablePPO",
                "decisions": self._clock.decisions,
                "seconds": round(self._clock.seconds, 1),
                "settings": {**asdict(self._config), "out": str(self._config.out)},
            },
            code=self._folder.versions,
            strength=self.strength,
        )

    def _on_training_start(self) -> None:
        """Measures and saves the untrained agent; time counts from here, all code is compiled."""
        self.evaluate(self._config.pairs)
        self.save()
        self._clock.start()

    def _on_rollout_start(self) -> None:
        """Between two updates."""
        now = time.monotonic()
        self._update_took = 0.0 if math.isnan(self._update_began) else now - self._update_began
        if self._clock.seconds - self._evaluated_at >= self._config.evaluate_every:
            self._evaluated_at = self._clock.seconds
            self.evaluate(self._config.pairs)
            self.save()
        self._update_began = time.monotonic()
        self._show()

    def _on_step(self) -> bool:
        """Stops the run in time: a rollout begins only if it can be learned from."""
        first = self.n_calls % self._config.ppo.num_steps == 1 or self._config.ppo.num_steps == 1
        if self._interruption.asked or (first and self._clock.ends_within(self._update_took / 2)):
            return False
        self._clock.decisions = self.num_timesteps
        self._bar.update()
        return True

    def _show(self) -> None:
        values = self.logger.name_to_value
        numbers = {}
        if "train/approx_kl" in values:
            numbers = {"kl": values["train/approx_kl"], "entropy": -values["train/entropy_loss"]}
        episodes = self.model.ep_info_buffer
        if episodes:
            numbers["reward"] = float(np.mean([episode["r"] for episode in episodes]))
        self._bar.update(numbers)


def _logger(folder: RunFolder) -> Logger:
    outputs = [
        CSVOutputFormat(str(folder.path / "progress.csv")),
        TensorBoardOutputFormat(str(folder.path / "tensorboard")),
    ]
    return Logger(str(folder.path), outputs)
