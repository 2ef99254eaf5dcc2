"""The AEC env as other libraries take it: flat observations, spaces as dicts, in parallel."""

import copy
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import fives_env
from fives_env.envs.registration import IDS
from fives_env.envs.render import MODES
from tests.core.material import BASIC
from tests.envs.play import assert_same
from tests.envs.test_aec import SHORT, logged, outcome, play, shown, strict, three_wrappers

__all__ = ["logged", "strict"]


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("spec", BASIC)
def test_pettingzoos_tests_pass_on_flat_observations(spec: str, logged: Any, capsys: Any) -> None:
    for make in (fives_env.env, fives_env.raw_env):
        api_test(make(rules=spec, observe="flat", render_mode="ansi"), num_cycles=100)
        seed_test(lambda make=make: make(rules=spec, observe="flat"), num_cycles=20)
    assert not logged, "an illegal move was played"
    # This one looks for masks in dicts only, so most of what it plays is illegal.
    render_test(
        lambda render_mode: fives_env.env(rules=spec, observe="flat", render_mode=render_mode)
    )
    capsys.readouterr()


@pytest.mark.parametrize("spec", SHORT)
def test_a_flat_observation_is_the_same_with_the_mask_in_info(spec: str) -> None:
    flat, usual = (fives_env.env(rules=spec, observe=how) for how in ("flat", "dict"))
    rng = np.random.default_rng(1)
    for seed, forfeits in ((1, False), (2, True)):
        for env in (flat, usual):
            env.reset(seed=seed)
        while usual.agents:
            for agent in usual.agents:
                assert_same(flat.observe(agent), usual.observe(agent)["observation"])
                assert_same(flat.infos[agent]["action_mask"], usual.observe(agent)["action_mask"])
                assert flat.observation_space(agent).contains(flat.observe(agent))
            one, two = flat.last(), usual.last()
            assert_same(one[0], two[0]["observation"])
            assert_same(one[1:4], two[1:4])
            assert_same(one[4], two[4] | {"action_mask": two[0]["action_mask"]})
            assert_same(flat.last(observe=False)[4]["action_mask"], two[0]["action_mask"])
            mask = two[0]["action_mask"]
            action = None if any(two[2:4]) else int(rng.choice(np.flatnonzero(mask)))
            if forfeits and action is not None and rng.random() < 0.1:
                action = int(mask.argmin())
            flat.step(action)
            usual.step(action)


@pytest.mark.usefixtures("logged")
@pytest.mark.parametrize("spec", SHORT)
def test_flat_env_is_flat_raw_env_under_pettingzoos_three_wrappers(spec: str) -> None:
    env, three = (make(rules=spec, observe="flat") for make in (fives_env.env, three_wrappers))
    rng = np.random.default_rng(1)
    for seed in (1, 2):
        for each in (env, three):
            each.reset(seed=seed)
        while env.agents:
            for agent in env.agents:
                assert_same(env.observe(agent), three.observe(agent))
            assert shown(env) == shown(three)
            mask = env.last()[4]["action_mask"]
            action = int(rng.choice(np.flatnonzero(mask))) if mask.any() else None
            if action is not None and seed == 2 and rng.random() < 0.1:
                action = int(mask.argmin())
            assert outcome(lambda a=action: env.step(a)) == outcome(lambda a=action: three.step(a))


def test_nothing_that_was_returned_changes_when_the_mask_is_looked_at_again() -> None:
    env = fives_env.env(observe="flat")
    env.reset(seed=1)
    kept, copies = [], []
    for _ in range(12):
        kept.append((env.last(), dict(env.infos)))
        copies.append(copy.deepcopy(kept[-1]))
        env.last()[4]["action_mask"][:] = 1
        env.observe(env.agent_selection)[:] = -1
        env.step(int(copies[-1][0][4]["action_mask"].argmax()))
    assert_same([each[0][:4] for each in kept], [each[0][:4] for each in copies])


@pytest.mark.parametrize("how", ["dict", "flat"])
@pytest.mark.parametrize("env_id", IDS)
def test_spaces_are_there_as_dicts_too_and_metadata_says_how_fast_to_show(
    env_id: str, how: str
) -> None:
    env = pettingzoo.make("aec", env_id, observe=how)
    for each in (env, env.unwrapped):
        assert list(each.observation_spaces) == list(each.action_spaces) == each.possible_agents
        for agent in each.possible_agents:
            assert each.observation_spaces[agent] is each.observation_space(agent)
            assert each.action_spaces[agent] is each.action_space(agent)
    kind = spaces.Box if how == "flat" else spaces.Dict
    assert isinstance(env.observation_space("player_0"), kind)
    assert env.metadata["render_fps"] > 0
    assert set(env.metadata["render_modes"]) == set(MODES)


@pytest.mark.parametrize("how", ["dict", "flat"])
@pytest.mark.parametrize("spec", SHORT)
def test_a_turn_based_parallel_env_plays_the_same_game(spec: str, how: str) -> None:
    """`aec_to_parallel` is for envs in which all agents move in every cycle; this is not one."""
    usual = fives_env.env(rules=spec, reward="points")
    usual.reset(seed=3)
    paid = dict.fromkeys(usual.possible_agents, 0.0)
    for agent, reward, *_ in play(usual, np.random.default_rng(4)):
        paid[agent] += reward
    env = turn_based_aec_to_parallel(fives_env.env(rules=spec, reward="points", observe=how))
    with pytest.warns(UserWarning, match="deprecated"):
        assert list(env.observation_spaces) == list(env.action_spaces) == env.possible_agents
    observations, infos = env.reset(seed=3)
    rng, got = np.random.default_rng(4), dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        masks = {
            agent: infos[agent]["action_mask"] if how == "flat" else seen["action_mask"]
            for agent, seen in observations.items()
        }
        (mover,) = (agent for agent, mask in masks.items() if mask.any())
        action = int(rng.choice(np.flatnonzero(masks[mover])))
        observations, rewards, *_, infos = env.step({mover: action})
        for agent, reward in rewards.items():
            got[agent] += reward
    assert got == pytest.approx(paid)
    with pytest.raises(AssertionError, match="is_parallelizable"):
        pettingzoo.utils.aec_to_parallel(fives_env.env(rules=spec))
