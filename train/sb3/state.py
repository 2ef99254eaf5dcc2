"""What a MaskablePPO run goes on from: taken between two updates, and put back.

SB3's own files are pickles; here all is tensors and JSON (checkpoint.py), and no pickle is opened.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from fives_env.envs.sb3 import Sb3VecEnv
from train.run.weights import restore_weights, weight_arrays

Array = npt.NDArray[Any]


def capture(model: MaskablePPO) -> tuple[dict[str, Array], dict[str, Any]]:
    """Weights, optimizer, generators, games in progress and counts.

    Returns:
        Arrays by name, and what JSON can hold.
    """
    normal, monitor, tables = _envs(model)
    kind, numbers, position, has_gauss, gauss = np.random.get_state()  # noqa: NPY002  # SB3's own
    rms = normal.ret_rms
    arrays = {
        **weight_arrays(model.policy, model.policy.optimizer),
        **{f"games.{name}": values for name, values in tables.envs.save_games().items()},
        "generator.torch": torch.get_rng_state().numpy(),
        "generator.numpy": np.array(numbers, np.uint32),
        "episode_starts": np.array(model._last_episode_starts),
        "monitor.returns": monitor.episode_returns,
        "monitor.lengths": monitor.episode_lengths,
        "rewards.returns": normal.returns,
        "rewards.spread": np.array([rms.mean, rms.var, rms.count], np.float64),
    }
    facts = {
        "generator": [str(kind), int(position), int(has_gauss), float(gauss)],
        "timesteps": model.num_timesteps,
        "updates": model._n_updates,
    }
    return arrays, facts


def restore(model: MaskablePPO, arrays: dict[str, Array], facts: dict[str, Any]) -> None:
    """Puts back what `capture` took, into a model that was made with the same settings.

    Raises:
        ValueError: The checkpoint is of another network.
    """
    normal, monitor, tables = _envs(model)
    restore_weights(model.policy, model.policy.optimizer, arrays)
    games = {name[6:]: values for name, values in arrays.items() if name.startswith("games.")}
    model._last_obs = tables.envs.load_games(games)
    model._last_episode_starts = arrays["episode_starts"].astype(bool)
    model.num_timesteps, model._n_updates = int(facts["timesteps"]), int(facts["updates"])
    monitor.episode_returns = arrays["monitor.returns"]
    monitor.episode_lengths = arrays["monitor.lengths"]
    normal.returns = arrays["rewards.returns"]
    mean, var, count = arrays["rewards.spread"]
    rms = normal.ret_rms
    rms.mean, rms.var, rms.count = np.array(mean), np.array(var), float(count)
    kind, position, has_gauss, gauss = facts["generator"]
    state = (kind, arrays["generator.numpy"], position, has_gauss, gauss)
    np.random.set_state(state)  # noqa: NPY002  # SB3 draws from it
    torch.set_rng_state(torch.from_numpy(arrays["generator.torch"]))


def _envs(model: MaskablePPO) -> tuple[VecNormalize, VecMonitor, Sb3VecEnv]:
    normal = model.get_env()
    assert isinstance(normal, VecNormalize)
    monitor = normal.venv
    assert isinstance(monitor, VecMonitor)
    assert isinstance(monitor.venv, Sb3VecEnv)
    return normal, monitor, monitor.venv
