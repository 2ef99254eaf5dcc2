"""Illegal actions in the Gymnasium envs: they raise, or they lose the episode."""

import logging
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from fives_env.envs.registration import IDS
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from tests.envs.play import NAMES, SETTINGS, Array, assert_same, choose, single, vector

ALL_FIVES = list(IDS)[2]


def illegal(masks: Array, rng: np.random.Generator) -> Array:
    """A random action of the space a row that is not legal."""
    return choose(~masks.astype(bool), rng)


def mixed(masks: Array, rng: np.random.Generator) -> Array:
    """Legal in most rows, illegal in some."""
    return np.where(rng.random(len(masks)) < 0.9, choose(masks, rng), illegal(masks, rng))


@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_X03_an_illegal_action_ends_the_episode_at_minus_one_and_info_names_it(
    setting: Any,
) -> None:
    env, rng = single(setting, illegal="lose"), np.random.default_rng(0)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        before = env.unwrapped._tables.games.data.copy()
        assert info["illegal_action"] == -1
        action = illegal(env.action_masks()[None], rng)[0]
        observation, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated) == (-1.0, True, False)
        assert info["illegal_action"] == action
        assert info["winner"] == -1
        assert not info["action_mask"].any()
        assert not env.action_masks().any()
        assert env.observation_space.contains(observation)
        after = env.unwrapped._tables.games.data.copy()
        after["match_over"] = 0
        assert after.tobytes() == before.tobytes(), "the action was played"
        with pytest.raises(ValueError, match="reset first"):
            env.step(action)
        _, info = env.reset()
        assert info["illegal_action"] == -1
        assert info["action_mask"].any()


def test_X03_what_follows_a_lost_episode_is_what_follows_any_other() -> None:
    """The next match is that of the row's stream, scripted as before."""
    envs = [FivesEnv("all-fives", illegal="lose", reward="points") for _ in range(2)]
    for env in envs:
        env.reset(seed=3, options={"scores": [10, 20]})
    envs[0].step(illegal(envs[0].action_masks()[None], np.random.default_rng(1))[0])
    assert_same(envs[0].reset(), envs[1].reset())


@pytest.mark.parametrize("wrong", [-1, 114, 2**40, 7.5, None, "draw", True, [1, 2]], ids=str)
@pytest.mark.parametrize("how", ["raise", "lose"])
def test_what_is_no_action_at_all_is_refused_and_changes_nothing(how: str, wrong: Any) -> None:
    env = FivesEnv("all-fives", illegal=how)
    env.reset(seed=1)
    before = env._tables.games.data.tobytes()
    with pytest.raises(ValueError, match=r"action|whole"):
        env.step(wrong)
    assert env._tables.games.data.tobytes() == before
    assert not env.step(int(env.action_masks().argmax()))[2]


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
@pytest.mark.parametrize("how", ["raise", "lose"])
def test_what_is_no_action_at_all_is_refused_at_any_table_of_many(how: str, mode: Any) -> None:
    """Beside tables that play, that lose and that wait."""
    env = FivesVectorEnv(6, "all-fives:mode=round", illegal=how, autoreset_mode=mode)
    env.reset(seed=1)
    env.action_space.seed(1)
    over = np.zeros(6, bool)
    while not over.any():
        *_, terminations, truncations, _ = env.step(env.action_space.sample())
        over = terminations | truncations
    row = int(np.flatnonzero(~over)[-1])
    before = env._tables.games.data.tobytes()
    for wrong in (-1, -2, 114, 2**40):
        for others in (env.action_space.sample(), np.full(6, 111)):
            actions = others.copy()
            actions[row] = wrong
            with pytest.raises(ValueError, match="action"):
                env.step(actions)
            assert env._tables.games.data.tobytes() == before


@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_X03_tables_that_lose_leave_the_others_alone(setting: Any) -> None:
    """Beside a batch in which the same tables play on; what differs is only their rows."""
    env, twin = vector(8, setting, illegal="lose"), vector(8, setting, illegal="lose")
    rng, rows = np.random.default_rng(1), np.arange(8)
    assert_same(env.reset(seed=1), twin.reset(seed=1))
    legal = choose(env.action_masks(), rng)
    loses = rows % 3 == 0
    actions = np.where(loses, illegal(env.action_masks(), rng), legal)
    one, two = env.step(actions), twin.step(legal)
    for a, b in zip(one[:4], two[:4], strict=True):
        assert_same(a[~loses], b[~loses])
    assert (one[1][loses] == -1).all()
    assert one[2][loses].all()
    assert not one[3][loses].any()
    final = one[4]["final_info"]
    assert_same(final["illegal_action"][loses], actions[loses])
    assert not final["action_mask"].any()
    assert (one[4]["illegal_action"] == -1).all(), "that of the episode that has begun"


def test_X03_the_notice_comes_once_and_the_program_goes_on(caplog: Any) -> None:
    from fives_env.envs.tables import _say_once

    _say_once.cache_clear()
    env = gymnasium.make_vec(ALL_FIVES, num_envs=50)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    with caplog.at_level(logging.WARNING, "fives_env"):
        for _ in range(5):
            env.step(rng.integers(0, 114, 50))
    assert len(caplog.records) == 1
    assert "action_mask" in caplog.text


def test_X03_ids_lose_and_classes_raise() -> None:
    """As the README says; and either can be told otherwise."""
    rng = np.random.default_rng(1)
    for env_id in IDS:
        env, vec = gymnasium.make(env_id), gymnasium.make_vec(env_id, num_envs=2)
        env.reset(seed=1)
        vec.reset(seed=1)
        masks = env.unwrapped.action_masks()[None]
        assert env.step(illegal(masks, rng)[0])[1] == -1
        assert (vec.step(illegal(vec.unwrapped.action_masks(), rng))[1] == -1).all()
        strict = gymnasium.make(env_id, illegal="raise")
        strict.reset(seed=1)
        with pytest.raises(ValueError, match="is illegal"):
            strict.step(illegal(masks, rng)[0])


@pytest.mark.parametrize("num_envs", [None, 3])
def test_X53_the_error_says_where_masks_go(num_envs: int | None) -> None:
    env: Any = FivesEnv() if num_envs is None else FivesVectorEnv(num_envs)
    env.reset(seed=1)
    masks = np.atleast_2d(env.action_masks())
    wrong = illegal(masks, np.random.default_rng(1))
    with pytest.raises(ValueError, match=r"is illegal; legal: .*MaskableEvalCallback") as raised:
        env.step(wrong[0] if num_envs is None else wrong)
    for word in ("action_masks=", "sb3-contrib", "evaluate_policy", "info['action_mask']"):
        assert word in str(raised.value)


def test_X53_sb3s_plain_evaluation_of_a_masked_model_meets_that_error() -> None:
    maskable = pytest.importorskip("sb3_contrib").MaskablePPO
    from sb3_contrib.common.maskable.evaluation import evaluate_policy as masked
    from stable_baselines3.common.evaluation import evaluate_policy as plain

    env = FivesEnv("all-fives:mode=round", opponent="random")
    model = maskable("MlpPolicy", env, n_steps=16, seed=1)
    with pytest.raises(ValueError, match="MaskableEvalCallback"):
        plain(model, env, n_eval_episodes=5, deterministic=False, warn=False)
    masked(model, env, n_eval_episodes=3, warn=False)
