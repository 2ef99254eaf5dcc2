"""What every search agent must hold, and that searching pays."""

import pickle
import time

import numpy as np
import pytest

import agents.equity.tables as tables
from agents.equity.tables import EquityTable
from agents.search.ismcts import Ismcts
from agents.search.pimc import Pimc
from agents.search.rollout import Rollout
from eval.arena.paired import play
from fives_env import BuiltIn, Games, Rules
from fives_env.belief import sample
from tests.agents.material import ALL_RULES, positions

VARIANTS = [
    *ALL_RULES,
    "threes-and-fives:draw=optional",
    "all-fives:draw=optional,reserve=yes,deal=5",
    "threes-and-fives:players=3,spinner=none,lead=highest-double",
    "all-fives:players=4,target_check=round-end",
    "fives-and-threes:mode=round",
]
AGENTS = [
    Pimc(3),
    Ismcts(40),
    Ismcts(40, playout="random"),
    Rollout(17),
    Rollout(33, infer="none", playout="greedy"),
]


@pytest.mark.parametrize("rules", VARIANTS)
@pytest.mark.parametrize("agent", AGENTS, ids=repr)
def test_actions_are_legal_and_a_function_of_the_row(rules, agent):
    views, masks, keys = positions(rules, num_games=8)
    before = views.copy()
    actions = agent.act(views, masks, keys)
    assert actions.shape == (len(views),)
    assert masks[np.arange(len(views)), actions].all()
    assert np.array_equal(views, before)
    order = np.random.default_rng(1).permutation(len(views))[:9]
    np.testing.assert_array_equal(
        agent.act(views[order], masks[order], keys[order]), actions[order]
    )
    np.testing.assert_array_equal(agent.act(views[:1], masks[:1], keys[:1]), actions[:1])
    again = pickle.loads(pickle.dumps(agent))
    np.testing.assert_array_equal(again.act(views, masks, keys), actions)
    assert repr(again) == repr(agent)


@pytest.mark.parametrize("agent", AGENTS, ids=repr)
def test_hidden_tiles_do_not_matter(agent):
    """In other games that look alike from the seat, the action is the same."""
    views, masks, keys = positions("all-fives", num_games=8)
    worlds = sample(views, keys, 3).reshape(-1)
    games = Games("all-fives", len(worlds))
    games.data = worlds
    alike = games.view(np.repeat(views["viewer"], 3))
    assert np.array_equal(alike, np.repeat(views, 3))
    actions = agent.act(alike, np.repeat(masks, 3, axis=0), np.repeat(keys, 3))
    np.testing.assert_array_equal(actions, np.repeat(agent.act(views, masks, keys), 3))


def test_no_rows_no_actions():
    views, masks, keys = positions("all-fives", num_games=1)
    for agent in (*AGENTS, Pimc(2, value="equity")):
        assert agent.act(views[:0], masks[:0], keys[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Pimc(0), "worlds=0"),
        (lambda: Pimc(True), "worlds=True"),
        (lambda: Pimc(4, value="fame"), "points, equity"),
        (lambda: Ismcts(-3), "iterations=-3"),
        (lambda: Ismcts(4, value="fame"), "points, equity"),
        (lambda: Ismcts(4, playout="careful"), "random, greedy"),
    ],
)
def test_bad_arguments_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("agent", [Pimc(2, "equity"), Ismcts(4, "equity")], ids=repr)
def test_equity_without_a_table_says_so(agent):
    views, masks, keys = positions("fives-and-threes:players=3", num_games=2)
    with pytest.raises(ValueError, match="two sides"):
        agent.act(views, masks, keys)


@pytest.mark.parametrize("agent", [Pimc(4, "equity"), Ismcts(60, "equity")], ids=repr)
def test_equity_wants_what_the_table_says(agent, monkeypatch):
    """Where the table makes points worthless, and losing them precious, greed is avoided."""
    rules = Rules.preset("fives-and-threes")
    views, masks, keys = positions(rules.spec, num_games=24)
    early = (views["scores"].max(axis=1) < 30) & (masks.sum(axis=1) > 1)
    views, masks, keys = views[early], masks[early], keys[early]

    def acting(sign):
        own, other = np.meshgrid(np.arange(62), np.arange(62), indexing="ij")
        values = np.float32(0.5 + sign * (own - other) / 400)
        values = np.stack([values, values])
        values.flags.writeable = False
        table = EquityTable(rules, 0, values, {})
        monkeypatch.setattr(tables, "load", lambda rules: table)
        return agent.act(views, masks, keys)

    wants, shuns = acting(1), acting(-1)
    like_points = type(agent)(*(4,) if isinstance(agent, Pimc) else (60,)).act(views, masks, keys)
    assert np.mean(wants == like_points) > 0.8
    assert np.mean(wants == shuns) < 0.5


@pytest.mark.parametrize("kind", [Pimc, Ismcts])
def test_cost_grows_linearly(kind):
    views, masks, keys = positions("fives-and-threes", num_games=6)

    def seconds(agent):
        best = np.inf
        for _ in range(3):
            start = time.thread_time()
            agent.act(views, masks, keys)
            best = min(best, time.thread_time() - start)
        return best

    few, many = (8, 64) if kind is Pimc else (100, 800)
    seconds(kind(1))
    assert 3 < seconds(kind(many)) / seconds(kind(few)) < 20


@pytest.mark.parametrize("agent", [Pimc(8), Ismcts(200)], ids=repr)
def test_beats_greedy(agent):
    rules = Rules.preset("fives-and-threes")
    matches = play(rules, agent, BuiltIn("greedy"), 1, np.arange(100), salt=1)
    assert np.mean(matches.winner == np.arange(2)) > 0.52
