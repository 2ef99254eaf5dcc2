"""ISMCTS where little or nothing is hidden (X50)."""

import json
from pathlib import Path

import numpy as np
import pytest

from agents.search.goals import NO_TABLE, POINTS
from agents.search.ismcts import Ismcts
from agents.search.solver import Scratch, solve
from eval.commands import Exact
from eval.exact.command import run
from fives_env import Games

UNSEEN = -(1 << 62)
NOTHING_HIDDEN = [  # all tiles are dealt, so each of two players knows the other's
    "fives-and-threes:max_pip=3,deal=5",
    "threes-and-fives:max_pip=3,deal=5,spinner=none",
    "all-fives:max_pip=3,deal=5",
    "threes-and-fives:max_pip=2,deal=3,target=9",
]


@pytest.mark.parametrize("rules", NOTHING_HIDDEN)
def test_X50_plays_exactly_where_nothing_is_hidden(rules: str) -> None:
    games = Games(rules, 40)
    games.reset(seed=3)
    decisions = 0
    for move in range(8):
        views, masks = games.view(), games.action_mask()
        values = np.full((len(games), masks.shape[1]), UNSEEN, np.int64)
        exact = np.zeros(len(games), bool)
        scratch = Scratch.new()
        solve(games.params, games.data, POINTS, NO_TABLE, 0, 0, scratch, values, exact)
        actions = Ismcts(1).act(views, masks, np.arange(len(games), dtype=np.uint64))
        choice = (games.data["match_over"] == 0) & (masks.sum(axis=1) > 1) & exact
        chosen = values[np.arange(len(games)), actions]
        np.testing.assert_array_equal(chosen[choice], values.max(axis=1)[choice])
        decisions += choice.sum()
        games.rollout(1, seed=move)
    assert decisions > 60


def test_X50_more_iterations_are_better_where_something_is_hidden(tmp_path: Path) -> None:
    options = Exact(
        agents=("ismcts:30", "ismcts:3000"),
        rules="fives-and-threes:max_pip=2,deal=2,mode=round",
        keys=8,
        json=tmp_path / "exact.json",
    )
    run(options)
    rows = json.loads(options.json.read_text())["agents"]
    found = {row["agent"]: row["exploitability"] for row in rows}
    assert found["ismcts:3000"] < found["ismcts:30"]
