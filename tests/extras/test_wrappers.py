"""Wrappers of Gymnasium and TorchRL, and RLlib's way to run a plain env, on our envs (X01, X05)."""

import inspect
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.wrappers import vector

import fives_env  # noqa: F401  # registers the ids

ID = "fives_env/FivesAndThrees-v0"
ARGUMENTS: dict[str, dict[str, Any]] = {
    "AddRenderObservation": {"render_only": True},
    "AtariPreprocessing": {},
    "DelayObservation": {"delay": 2},
    "DiscretizeObservation": {"bins": 4},
    "FilterObservation": {"filter_keys": []},
    "FrameStackObservation": {"stack_size": 2},
    "MaxAndSkipObservation": {"skip": 2},
    "RepeatAction": {"num_repeats": 1},
    "RescaleObservation": {"min_obs": np.float32(-1), "max_obs": np.float32(1)},
    "ReshapeObservation": {},
    "TimeLimit": {"max_episode_steps": 5},
    "TransformAction": {"func": lambda action: action, "action_space": None},
    "TransformObservation": {"func": lambda seen: seen, "observation_space": None},
    "TransformReward": {"func": lambda reward: 2 * reward},
    "ClipReward": {"min_reward": -1, "max_reward": 1},
    "DtypeObservation": {"dtype": np.float64},
}
NEEDS_ANOTHER_KIND = {
    "ArrayConversion": "of arrays of another library; see torch and jax",
    "NumpyToTorch": "tested below",
    "JaxToNumpy": "the env is NumPy",
    "JaxToTorch": "the env is NumPy",
    "AtariPreprocessing": "for Atari",
    "ClipAction": "for boxes of actions",
    "RescaleAction": "for boxes of actions",
    "DiscretizeAction": "for boxes of actions",
    "FilterObservation": "for dictionaries",
    "GrayscaleObservation": "for pictures",
    "ResizeObservation": "for pictures",
    "ReshapeObservation": "for a number of features that has other shapes",
    "MaxAndSkipObservation": "repeats an action, which a game of turns does not allow",
    "RepeatAction": "repeats an action, which a game of turns does not allow",
    "StickyAction": "repeats an action, which a game of turns does not allow",
    "RecordVideo": "tested in test_by_id.py",
    "HumanRendering": "tested in test_by_id.py",
    "AddWhiteNoise": "for pictures",
    "ObstructView": "for pictures",
    "VectorizeTransformAction": "makes one of the others from a wrapper for single envs",
    "VectorizeTransformObservation": "likewise",
    "VectorizeTransformReward": "likewise",
    "TimeAwareObservation": "Gymnasium asks for a TimeLimit before it; tested there",
    "DiscretizeObservation": "for boxes of a few numbers: it counts all their combinations",
}


def kinds(module: Any, base: Any) -> list[str]:
    found = {name for name, kind in vars(module).items() if inspect.isclass(kind)}
    return sorted(
        n for n in found if n not in NEEDS_ANOTHER_KIND and issubclass(getattr(module, n), base)
    )


def legal(env: Any) -> Any:
    masks = np.atleast_2d(env.unwrapped.action_masks())
    actions = masks.argmax(axis=1)
    return actions if isinstance(env.unwrapped, gymnasium.vector.VectorEnv) else int(actions[0])


@pytest.mark.parametrize("name", kinds(wrappers, gymnasium.Wrapper))
def test_every_wrapper_for_single_envs_applies(name: str) -> None:
    frames = "Render" in name
    env = gymnasium.make(ID, render_mode="rgb_array" if frames else None)
    arguments = dict(ARGUMENTS.get(name, {}))
    if "action_space" in arguments:
        arguments["action_space"] = env.action_space
    if "observation_space" in arguments:
        arguments["observation_space"] = env.observation_space
    wrapped = getattr(wrappers, name)(env, **arguments)
    for episode in range(2):
        wrapped.reset(seed=episode)
        for _ in range(300):
            _, _, terminated, truncated, _ = wrapped.step(legal(wrapped))
            if terminated or truncated:
                break
        else:
            pytest.fail("the episode does not end")
    wrapped.close()


def apply(wrap: Any, mode: str, arguments: dict[str, Any]) -> Any:
    """The wrapper, with those of the arguments that it takes, on the native vector env."""
    envs = gymnasium.make_vec(ID, num_envs=3, autoreset_mode=gymnasium.vector.AutoresetMode(mode))
    spaces = {
        "action_space": envs.action_space,
        "single_action_space": envs.single_action_space,
        "observation_space": envs.observation_space,
        "single_observation_space": envs.single_observation_space,
    }
    takes = inspect.signature(wrap).parameters
    given = {**arguments, **spaces}
    return wrap(envs, **{name: value for name, value in given.items() if name in takes})


@pytest.mark.parametrize("name", kinds(vector, gymnasium.vector.VectorWrapper))
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_every_wrapper_for_vector_envs_applies(name: str, mode: str) -> None:
    wrap: Any = getattr(vector, name)
    if mode == "SameStep" and issubclass(wrap, gymnasium.vector.VectorObservationWrapper):
        with pytest.raises(ValueError, match="NEXT_STEP or DISABLED"):  # by Gymnasium
            apply(wrap, mode, ARGUMENTS.get(name, {}))
        return
    wrapped = apply(wrap, mode, ARGUMENTS.get(name, {}))
    wrapped.reset(seed=1)
    ended = 0
    for _ in range(120):
        *_, terminated, truncated, _ = wrapped.step(legal(wrapped))
        ended += int(np.sum(terminated | truncated))
    assert ended
    wrapped.close()


def test_the_time_can_be_observed() -> None:
    limited = wrappers.TimeLimit(gymnasium.make(ID), 200)
    env = wrappers.TimeAwareObservation(limited, flatten=False)
    env.reset(seed=0)
    assert env.step(legal(env))[0]["time"] == 1


def test_numpy_to_torch() -> None:
    torch = pytest.importorskip("torch")
    env = wrappers.NumpyToTorch(gymnasium.make(ID))
    seen, _ = env.reset(seed=0)
    assert isinstance(seen, torch.Tensor)
    assert isinstance(env.step(torch.tensor(legal(env)))[1], float)
    envs = vector.NumpyToTorch(gymnasium.make_vec(ID, num_envs=3))
    envs.reset(seed=0)
    rewards = envs.step(torch.tensor(legal(envs)))[1]
    assert isinstance(rewards, torch.Tensor)


def test_torchrl_on_single_and_native_vector_env() -> None:
    pytest.importorskip("torchrl")
    from torchrl.envs import GymEnv, GymWrapper

    for env in (GymEnv(ID), GymWrapper(gymnasium.make(ID))):
        played = env.rollout(50, break_when_any_done=False)
        assert played.batch_size[-1] == 50
    envs = GymWrapper(gymnasium.make_vec(ID, num_envs=4))
    played = envs.rollout(50, break_when_any_done=False)
    assert played.batch_size == (4, 50)


def test_rllib_runs_the_plain_env(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    from ray.rllib.algorithms.ppo import PPOConfig

    config = (
        PPOConfig()
        .environment(ID)
        .env_runners(num_env_runners=0, rollout_fragment_length=64)
        .training(train_batch_size_per_learner=64, minibatch_size=32, num_epochs=1)
    )
    algorithm = config.build_algo()
    try:
        result = algorithm.train()
    finally:
        algorithm.stop()
    assert result["num_env_steps_sampled_lifetime"] >= 64
