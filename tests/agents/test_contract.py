"""What every agent of the registry must do, in every preset and with every number of seats."""

import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import AGENTS, make_agent
from fives_env.games import Games
from fives_env.play import advance
from fives_env.policies import Policy
from tests.agents.material import ALL_RULES, Array, positions, random_model

RANDOM_MODEL = "a model with random weights"
SPECS = ["random", "greedy", f"model:{RANDOM_MODEL}", f"model:{RANDOM_MODEL},sample=yes"]


def agent_for(spec: str, rules: str, folder: Path) -> Policy:
    """The agent of this spec; a model is made for these rules first."""
    if RANDOM_MODEL in spec:
        spec = spec.replace(RANDOM_MODEL, str(random_model(folder, rules)))
    return make_agent(spec)


def test_every_agent_of_the_registry_is_tried() -> None:
    assert {spec.partition(":")[0] for spec in SPECS} == set(AGENTS)


@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("spec", SPECS)
def test_plays_matches_with_legal_actions_alone(spec: str, rules: str, tmp_path: Path) -> None:
    agent = agent_for(spec, rules, tmp_path)
    games = Games(f"{rules},max_rounds=5", 16)
    games.reset(seed=3)
    advance(games, [agent], np.zeros((16, 4), np.int8))  # raises at the first illegal action
    assert (games.data["match_over"] == 1).all()


@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("spec", SPECS)
def test_a_row_acts_alone(spec: str, rules: str, tmp_path: Path) -> None:
    agent = agent_for(spec, rules, tmp_path)
    views, masks, keys = positions(rules)
    before = views.tobytes(), masks.tobytes(), keys.tobytes()
    together = agent.act(views, masks, keys)
    assert (views.tobytes(), masks.tobytes(), keys.tobytes()) == before
    assert masks[np.arange(len(masks)), together].all()
    for rows in (np.array([0]), np.array([len(views) - 1]), np.arange(0, len(views), 7)):
        assert (agent.act(views[rows], masks[rows], keys[rows]) == together[rows]).all()
    order = np.random.default_rng(0).permutation(len(views))
    assert (agent.act(views[order], masks[order], keys[order]) == together[order]).all()


def test_pickles_and_runs_in_a_spawned_process(tmp_path: Path) -> None:
    agents = [agent_for(spec, ALL_RULES[0], tmp_path) for spec in SPECS]
    arguments = positions(ALL_RULES[0])
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # one: each takes a while to start
        for agent in agents:
            here = agent.act(*arguments)
            assert (pickle.loads(pickle.dumps(agent)).act(*arguments) == here).all()
            assert (pool.apply(_act, (agent, *arguments)) == here).all()


def _act(agent: Policy, *arguments: Any) -> Array:
    return agent.act(*arguments)
