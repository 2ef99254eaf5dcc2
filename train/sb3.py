"""``python -m train sb3``: MaskablePPO of sb3-contrib on the native vector env."""

import sys
from dataclasses import replace

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import CSVOutputFormat, Logger, TensorBoardOutputFormat
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from eval.run_files import PROGRESS
from fives_env.envs.sb3 import Sb3VecEnv
from fives_env.envs.vector import FivesVectorEnv
from fives_env.rules import Rules
from fives_env.salts import read_salt
from train.checkpoint import read_checkpoint
from train.clock import Clock
from train.config import Resume, Sb3, canonical_opponents
from train.init import trained_model
from train.league import League
from train.networks import Policy, adopt, feature_scale, policy_arguments
from train.progress import ProgressBar
from train.run_folder import RunFolder, check_new, only_begun, tell
from train.sb3_state import restore
from train.sb3_trainer import Trainer
from train.seeds import derive
from train.settings import read_settings
from train.stopping import Interruption

POOL = "pool"
"""The folder of the pool, in that of the run."""


def run(config: Sb3) -> int:
    """Trains as told and leaves a run folder with the model.

    Returns:
        The exit code: 0, or 130 after Ctrl-C; the model is saved in both cases.

    Raises:
        ValueError: The opponent, the rules or the run folder cannot be used.
    """
    check_new(config.out)
    config = replace(config, salt=read_salt(config.salt))
    league = make_league(config)
    league.check(episodes(config)[0])  # who cannot play says so before anything is written
    clock = Clock(config.seconds, config.decisions)
    model = make_model(config, make_envs(config, league), clock)
    if config.init is not None:
        agent = trained_model(config.init, Rules.from_spec(config.rules))
        try:
            adopt(model.policy, agent.network)
        except ValueError as error:
            raise ValueError(f"--init {config.init}: {error}") from None
    with RunFolder(config.out, config) as folder:
        return _train(Trainer(config, folder, clock, league), model)


def resume(order: Resume) -> int:
    """Goes on with a run from its last checkpoint.

    Returns:
        As `run`.

    Raises:
        ValueError: There is no run or no checkpoint, or it does not fit.
    """
    config = order.limited(read_settings(Sb3, order.resume))
    if only_begun(config.out):  # killed before there was anything to go on from
        return run(config)
    arrays, facts = read_checkpoint(config.out, config)
    if not {"league", "clock", "strength", "timesteps"} <= set(facts):
        raise ValueError(f"the checkpoint in {config.out} is not that of an sb3 run")
    league = League.restore(config.out / POOL, config.opponent, config.pool, facts["league"])
    clock = Clock(config.seconds, config.decisions)
    clock.restore(facts["clock"])
    told = order.extend(clock, facts["settings"], config, config.ppo.learning_rate)
    if clock.part >= 1:
        print(f"{config.out} is done; --minutes or --decisions would take it further")
        return 0
    envs = make_envs(config, league)
    model = make_model(config, envs, clock)
    envs.reset()
    restore(model, arrays, facts)
    with RunFolder.reopen(config.out, config, clock.decisions) as folder:
        tell(folder, told)
        trainer = Trainer(config, folder, clock, league)
        trainer.strength = facts["strength"]
        return _train(trainer, model)


def _train(trainer: Trainer, model: MaskablePPO) -> int:
    """Trains to the end, or until somebody asks to stop."""
    config, folder, clock = trainer.config, trainer.folder, trainer.clock
    torch.set_num_threads(config.threads)
    model.set_logger(_logger(folder))
    opponents = " ".join(canonical_opponents(config.opponent))
    folder.log.info("training on %s against %s", config.rules, opponents)
    folder.log.info(
        "actions: learner sample, snapshots %s, evaluations %s; other opponents as they are named",
        config.pool.actions,
        config.evaluation,
    )
    new = model._last_obs is None
    with Interruption() as interruption, ProgressBar(clock) as bar:
        trainer.watch(bar, interruption, new)
        trainer.init_callback(model)
        trainer.add_snapshot()
        model.learn(sys.maxsize, callback=trainer, reset_num_timesteps=new)
        clock.stop()
        if not interruption.asked:
            trainer.evaluate(config.final_pairs)
    trainer.save()
    folder.log.info("%s after %s", "interrupted" if interruption.asked else "done", trainer.summary)
    model.logger.close()
    trainer.training_env.close()
    print(f"{trainer.summary}; play it as model:{config.out}")
    return interruption.exit_code


def make_league(config: Sb3) -> League:
    """Those whom the learner meets, without snapshots."""
    return League(config.out / POOL, config.opponent, config.pool)


def make_envs(config: Sb3, league: League) -> VecNormalize:
    """The tables that are learned at: rewards are points, scaled to about 1 by their spread.

    Observations and masks go through as they are.
    """
    rules, scores = episodes(config)
    tables = FivesVectorEnv(
        config.ppo.num_envs,
        rules,
        opponent=league,
        seat="random",
        reward="points",
        start_scores=scores,
        salt=config.salt,
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
        learning_rate=lambda _: ppo.learning_rate * clock.annealed,
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


def _logger(folder: RunFolder) -> Logger:
    """Writes progress.csv, behind the lines that are there, and for TensorBoard."""
    path = folder.path / PROGRESS
    before = path.read_text() if path.exists() else ""
    lines = CSVOutputFormat(str(path))
    lines.file.write(before)
    lines.keys = before.splitlines()[0].split(",") if before else []
    outputs = [lines, TensorBoardOutputFormat(str(folder.path / "tensorboard"))]
    return Logger(str(folder.path), outputs)
