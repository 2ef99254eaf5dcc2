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

Array = npt.NDArray[Any]
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""Of Adam."""


def capture(model: MaskablePPO) -> tuple[dict[str, Array], dict[str, Any]]:
    """Copies of weights, optimizer, generators, games in progress and counts.

    Returns:
        Arrays by name, and what JSON can hold.
    """
    normal, monitor, tables = _envs(model)
    arrays: dict[str, Array] = {
        f"policy.{name}": values.numpy(force=True).copy()
        for name, values in _weights(model.policy).items()
    }
    for index, moments in model.policy.optimizer.state_dict()["state"].items():
        for name in _MOMENTS:
            arrays[f"adam.{index}.{name}"] = moments[name].numpy(force=True).copy()
    arrays |= {f"games.{name}": values for name, values in tables.envs.save_games().items()}
    kind, numbers, position, has_gauss, gauss = np.random.get_state()  # noqa: NPY002  # SB3's own
    arrays |= {
        "generator.torch": torch.get_rng_state().numpy().copy(),
        "generator.numpy": np.array(numbers, np.uint32),
        "episode_starts": np.array(model._last_episode_starts),
        "monitor.returns": monitor.episode_returns.copy(),
        "monitor.lengths": monitor.episode_lengths.copy(),
        "rewards.returns": normal.returns.copy(),
        "rewards.spread": np.array(
            [normal.ret_rms.mean, normal.ret_rms.var, normal.ret_rms.count], np.float64
        ),
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
        ValueError: Something is missing or of another shape.
    """
    try:
        _restore(model, arrays, facts)
    except (KeyError, RuntimeError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"the checkpoint does not fit the run's settings: {reason}") from None


def _restore(model: MaskablePPO, arrays: dict[str, Array], facts: dict[str, Any]) -> None:
    normal, monitor, tables = _envs(model)
    weights = _weights(model.policy)
    for name, place in weights.items():
        values = arrays[f"policy.{name}"]
        if values.shape != place.shape:
            raise TypeError(f"{name} is {list(values.shape)} there, {list(place.shape)} here")
        with torch.no_grad():
            place.copy_(torch.from_numpy(np.array(values)))
    optimizer = model.policy.optimizer.state_dict()
    for name, moments in _tensors(arrays, "adam.").items():
        index, _, moment = name.partition(".")
        shaped = moments.reshape(()) if moment == "step" else moments
        optimizer["state"].setdefault(int(index), {})[moment] = shaped
    model.policy.optimizer.load_state_dict(optimizer)
    games = {name[6:]: values for name, values in arrays.items() if name.startswith("games.")}
    model._last_obs = tables.envs.load_games(games)
    model._last_episode_starts = arrays["episode_starts"].astype(bool)
    model.num_timesteps, model._n_updates = int(facts["timesteps"]), int(facts["updates"])
    monitor.episode_returns = arrays["monitor.returns"].copy()
    monitor.episode_lengths = arrays["monitor.lengths"].copy()
    normal.returns = arrays["rewards.returns"].copy()
    mean, var, count = arrays["rewards.spread"]
    rms = normal.ret_rms
    rms.mean, rms.var, rms.count = np.array(mean), np.array(var), float(count)
    kind, position, has_gauss, gauss = facts["generator"]
    state = (kind, arrays["generator.numpy"], position, has_gauss, gauss)
    np.random.set_state(state)  # noqa: NPY002  # SB3 draws from it
    torch.set_rng_state(torch.from_numpy(arrays["generator.torch"].copy()))


def _weights(policy: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers, each once; SB3 knows the shared ones by three names."""
    return dict([*policy.named_parameters(), *policy.named_buffers()])


def _envs(model: MaskablePPO) -> tuple[VecNormalize, VecMonitor, Sb3VecEnv]:
    normal = model.get_env()
    assert isinstance(normal, VecNormalize)
    monitor = normal.venv
    assert isinstance(monitor, VecMonitor)
    assert isinstance(monitor.venv, Sb3VecEnv)
    return normal, monitor, monitor.venv


def _tensors(arrays: dict[str, Array], prefix: str) -> dict[str, torch.Tensor]:
    return {
        name[len(prefix) :]: torch.from_numpy(np.array(values))
        for name, values in arrays.items()
        if name.startswith(prefix)
    }
