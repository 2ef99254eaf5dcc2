"""What every agent of the registry must do, in every preset and with every number of seats."""

import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import AGENTS, make_agent
from agents.cards import NETWORKS
from agents.model import save_model
from agents.registry import specs
from fives_env.actions import DRAW, PASS
from fives_env.games import Games
from fives_env.play import advance
from fives_env.policies import Policy
from tests.agents.material import ALL_RULES, Array, positions, random_card, random_network_of
from tests.core.material import played_on, restart, shuffle_hidden

VARIANTS = [
    "threes-and-fives:players=2,draw=optional,reserve=2",
    "all-fives:players=3,lead=highest-double,reserve=1,target=60",
    "fives-and-threes:players=4,mode=round",
]
FEW = 4
"""Games at once, since some agents think."""


def tried() -> list[str]:
    """What the registry says, and a model of each kind of network, made by `agent_for`."""
    models = [f"model:{kind}{sample}" for kind in NETWORKS for sample in ("", ",sample=yes")]
    return [*specs("tried"), *models]


def cases(all_rules: list[str]) -> list[tuple[str, str]]:
    """Every agent in all of these rules that it plays."""
    return [(spec, rules) for spec in tried() for rules in all_rules if plays(spec, rules)]


def plays(spec: str, rules: str) -> bool:
    """Match equity is for two sides alone, in the games that have a table."""
    two_sides = "=2" in rules or "=yes" in rules
    return "value=equity" not in spec or (two_sides and rules not in VARIANTS)


def agent_for(spec: str, rules: str, folder: Path) -> Policy:
    """The agent of this spec; a model is made for these rules first."""
    for kind in NETWORKS:
        if spec.startswith(f"model:{kind}"):
            network = random_network_of(kind)
            save_model(folder / kind, network, random_card(rules, network))
            spec = spec.replace(kind, str(folder / kind))
    return make_agent(spec)


def test_every_agent_of_the_registry_is_tried() -> None:
    assert {spec.partition(",")[0].partition(":")[0] for spec in tried()} == set(AGENTS)


@pytest.mark.parametrize(("spec", "rules"), cases(ALL_RULES + VARIANTS))
def test_B50_plays_matches_with_legal_actions_as_one_or_as_four(
    spec: str, rules: str, tmp_path: Path
) -> None:
    """One instance on all seats plays as one on each does: nothing stays between calls."""
    agents = [agent_for(spec, rules, tmp_path) for _ in range(4)]
    short = rules if "mode=round" in rules else f"{rules},max_rounds=2"
    games = Games(short, FEW)
    games.reset(seed=3)
    apart = games.clone()
    advance(games, agents[:1], np.zeros((FEW, 4), np.int8))  # raises at the first illegal action
    assert (games.data["match_over"] == 1).all()
    advance(apart, agents, np.tile(np.arange(4, dtype=np.int8), (FEW, 1)))
    assert games.data.tobytes() == apart.data.tobytes()


@pytest.mark.parametrize(("spec", "rules"), cases(ALL_RULES))
def test_a_row_acts_alone(spec: str, rules: str, tmp_path: Path) -> None:
    agent = agent_for(spec, rules, tmp_path)
    views, masks, keys = positions(rules, FEW)
    before = views.tobytes(), masks.tobytes(), keys.tobytes()
    together = agent.act(views, masks, keys)
    assert (views.tobytes(), masks.tobytes(), keys.tobytes()) == before
    assert masks[np.arange(len(masks)), together].all()
    assert (agent.act(views, masks, keys) == together).all()
    for rows in (np.array([0]), np.array([len(views) - 1]), np.arange(0, len(views), 7)):
        assert (agent.act(views[rows], masks[rows], keys[rows]) == together[rows]).all()
    assert (agent.act(views[::5], masks[::5], keys[::5]) == together[::5]).all()  # not contiguous
    order = np.random.default_rng(0).permutation(len(views))
    assert (agent.act(views[order], masks[order], keys[order]) == together[order]).all()


@pytest.mark.parametrize("spec", tried())
def test_hidden_tiles_do_not_change_what_it_does(spec: str, tmp_path: Path) -> None:
    """Other hands, the boneyard, its order and the stream are dealt anew; the views stay."""
    after = set[int]()
    for rules in [rules for name, rules in cases(ALL_RULES + VARIANTS) if name == spec]:
        after |= _asked_of_two(agent_for(spec, rules, tmp_path), rules)
    assert {DRAW, PASS} <= after


def _asked_of_two(agent: Policy, rules: str) -> set[int]:
    """Asks about games that differ in what is hidden alone; the actions after which that was."""
    moved, after = 0, set[int]()
    for number, (games, rng) in enumerate(played_on(rules, FEW, 20)):
        restart(games)
        if number % 2:
            continue
        paired = shuffle_hidden(games, games.data["seat"].astype(np.int64), rng)
        moved += int((games.data["hands"] != paired.data["hands"]).any(axis=1).sum())
        keys = rng.integers(0, 1 << 64, FEW, np.uint64)
        one, two = (agent.act(g.view(), g.action_mask(), keys) for g in (games, paired))
        assert (one == two).all()
        after |= set(games.data["action"][games.data["num_moves"] > 0].tolist())
    assert moved > 0
    return after


def test_pickles_and_runs_in_a_spawned_process(tmp_path: Path) -> None:
    agents = [agent_for(spec, ALL_RULES[0], tmp_path) for spec in tried()]
    arguments = positions(ALL_RULES[0], FEW)
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # one: each takes a while to start
        for agent in agents:
            here = agent.act(*arguments)
            assert (pickle.loads(pickle.dumps(agent)).act(*arguments) == here).all()
            assert (pool.apply(_act, (agent, *arguments)) == here).all()


def _act(agent: Policy, *arguments: Any) -> Array:
    return agent.act(*arguments)
