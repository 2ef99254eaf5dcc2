"""The SB3 adapter: equal to the vector env it drives, and to SB3's own way of many single envs."""

import numpy as np
import pytest
from gymnasium.wrappers import NormalizeObservation
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecEnv,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
)

from fives_env.actions import NUM_ACTIONS
from fives_env.envs.sb3 import Sb3VecEnv
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from tests.agents.material import Array

ENDS_BOTH_WAYS = "fives-and-threes:target=20,max_rounds=2"
"""Matches of which some reach the target and some are truncated."""


def choose(masks: Array, rng: np.random.Generator) -> Array:
    """A random legal action a row."""
    return np.asarray((rng.random(masks.shape) * masks).argmax(axis=1))


@pytest.mark.parametrize("num_envs", [1, 2, 5])
def test_steps_like_the_vector_env(num_envs: int) -> None:
    """Observations, rewards, ends, masks and last observations, over many episodes (B42)."""
    native = FivesVectorEnv(num_envs, ENDS_BOTH_WAYS, reward="points")
    adapter = Sb3VecEnv(FivesVectorEnv(num_envs, ENDS_BOTH_WAYS, reward="points"))
    adapter.seed(7)
    assert (adapter.reset() == native.reset(seed=7)[0]).all()
    rng, ends = np.random.default_rng(0), {"terminated": 0, "truncated": 0}
    for _ in range(400):
        actions = choose(get_action_masks(adapter), rng)
        expected, rewards, terminated, truncated, reported = native.step(actions)
        observations, paid, dones, infos = adapter.step(actions)
        assert (observations == expected).all()
        assert (paid == rewards).all()
        assert paid.dtype == np.float32
        assert (dones == (terminated | truncated)).all()
        assert (get_action_masks(adapter) == native.action_masks()).all()
        for row, info in enumerate(infos):
            if not dones[row]:
                assert info == {}
                continue
            ends["truncated" if truncated[row] else "terminated"] += 1
            assert (info["terminal_observation"] == reported["final_obs"][row]).all()
            assert info["TimeLimit.truncated"] is bool(truncated[row])
            assert reported["final_info"]["winner"][row] == -1 or not truncated[row]
    assert min(ends.values()) > 5


def test_R2_equal_to_a_dummy_vec_env_of_single_envs() -> None:
    """The same seed, deals, rewards, masks and infos, through automatic resets."""
    adapter = Sb3VecEnv(FivesVectorEnv(3, ENDS_BOTH_WAYS, seat=1))
    dummy = DummyVecEnv([lambda: FivesEnv(ENDS_BOTH_WAYS, seat=1)] * 3)
    envs: tuple[VecEnv, VecEnv] = (adapter, dummy)
    for env in envs:
        env.seed(11)
    first, second = (env.reset() for env in envs)
    assert np.array_equal(first, second)
    rng = np.random.default_rng(1)
    for _ in range(300):
        masks = get_action_masks(adapter)
        assert (masks == get_action_masks(dummy)).all()
        actions = choose(masks, rng)
        left, right = (env.step(actions) for env in envs)
        for ours, theirs in zip(left[:3], right[:3], strict=True):
            assert np.array_equal(ours, theirs)
        for ours, theirs, done in zip(left[3], right[3], left[2], strict=True):
            if done:
                assert np.array_equal(ours["terminal_observation"], theirs["terminal_observation"])
                assert ours["TimeLimit.truncated"] == theirs["TimeLimit.truncated"]


def test_masks_are_one_array_and_rows_by_index() -> None:
    adapter = Sb3VecEnv(FivesVectorEnv(5, "all-fives:players=4"))
    adapter.seed(0)
    adapter.reset()
    assert is_masking_supported(adapter)
    masks = get_action_masks(adapter)
    assert masks.shape == (5, NUM_ACTIONS)
    assert masks.dtype == np.bool_
    assert masks.any(axis=1).all()
    assert (adapter.env_method("action_masks", indices=[3, 1]) == masks[[3, 1]]).all()
    assert (adapter.env_method("action_masks", indices=2) == masks[[2]]).all()
    assert (adapter.infos["action_mask"] == masks).all()
    with pytest.raises(AttributeError, match="answers 'action_masks' only, not 'close'"):
        adapter.env_method("close")


def test_seeds_and_options_hold_for_one_reset() -> None:
    adapter = Sb3VecEnv(FivesVectorEnv(4, "fives-and-threes"))
    adapter.seed(3)
    adapter.set_options({"scores": [60, 12]})
    first = adapter.reset()
    assert (adapter.infos["scores"][:, 0] == 60).all()  # the opponent may have led, and scored
    second = adapter.reset()
    assert (adapter.infos["scores"][:, 0] == 0).all()
    assert not np.array_equal(first, second)
    adapter.seed(3)
    adapter.set_options({"scores": [60, 12]})
    assert np.array_equal(adapter.reset(), first)
    adapter.set_options([{"scores": [60, 12]}, {}, {}, {}])
    with pytest.raises(ValueError, match="give set_options one dict"):
        adapter.reset()


def test_attributes_belong_to_all_envs() -> None:
    adapter = Sb3VecEnv(FivesVectorEnv(3, "fives-and-threes", render_mode="ansi"))
    assert adapter.get_attr("render_mode") == ["ansi"] * 3
    assert adapter.get_attr("num_envs", indices=[0, 2]) == [3, 3]
    assert not adapter.has_attr("nothing_of_this_name")
    assert adapter.env_is_wrapped(VecMonitor) == [False] * 3
    adapter.set_attr("note", "x")
    assert adapter.get_attr("note", indices=1) == ["x"]
    with pytest.raises(ValueError, match="can be set for all envs only"):
        adapter.set_attr("note", "y", indices=1)


def test_B19_normalising_and_stacking_leave_the_mask_alone() -> None:
    adapter = Sb3VecEnv(FivesVectorEnv(4, "threes-and-fives", reward="points"))
    stacked = VecFrameStack(VecNormalize(VecMonitor(adapter)), n_stack=3)
    stacked.seed(5)
    stacked.reset()
    rng = np.random.default_rng(3)
    for _ in range(100):
        masks = get_action_masks(stacked)
        assert masks.dtype == np.bool_
        assert (masks == adapter.envs.action_masks()).all()
        observations = stacked.step(choose(masks, rng))[0]
    assert observations.shape == (4, 3 * adapter.observation_space.shape[0])
    single = NormalizeObservation(FivesEnv("threes-and-fives"))
    single.reset(seed=5)
    assert (get_action_masks(single) == single.unwrapped.action_masks()).all()


def test_single_env_passes_the_check_of_sb3() -> None:
    check_env(FivesEnv("fives-and-threes"), skip_render_check=False)
