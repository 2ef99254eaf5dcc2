"""Rollouts: policy improvement over sampled worlds."""

import numpy as np
import pytest

from agents.search.rollout import Rollout, _drop_behind
from eval.arena.paired import play
from eval.stats.intervals import share_interval
from eval.stats.scores import match_shares
from fives_env import BuiltIn, Games, Rules
from tests.rules.positions import from_python

DROP_BEHIND = from_python(_drop_behind)


@pytest.mark.parametrize(
    "spec", ["fives-and-threes:players=2", "threes-and-fives:players=2", "all-fives:players=2"]
)
def test_rollouts_are_better_than_the_policy_that_plays_them_out(spec: str) -> None:
    rules = Rules.from_spec(spec)
    matches = play(rules, Rollout(32, playout="greedy"), BuiltIn("greedy"), 8, np.arange(120))
    assert share_interval(match_shares(matches, rules).mean(axis=1)).low > 0.55


def test_nothing_is_inferred_before_the_first_move() -> None:
    games = Games("all-fives", 20)
    games.reset(seed=1)
    views, masks, keys = games.view(), games.action_mask(), np.arange(20, dtype=np.uint64)
    with_odds, without = Rollout(20), Rollout(20, infer="none")
    np.testing.assert_array_equal(
        with_odds.act(views, masks, keys), without.act(views, masks, keys)
    )


def test_what_is_clearly_behind_is_dropped_and_what_is_level_is_not() -> None:
    rng = np.random.default_rng(1)
    common = rng.integers(-20, 20, 64)
    noise = rng.integers(-2, 3, (3, 64))
    values = np.column_stack([common + noise[0], common + noise[1], common - 3 + noise[2]])
    alive = np.ones(3, bool)
    assert DROP_BEHIND(values, values.sum(axis=0), 64, alive) == 2
    assert alive.tolist() == [True, True, False]
    alike = np.column_stack([common, common, common])
    assert DROP_BEHIND(alike, alike.sum(axis=0), 64, np.ones(3, bool)) == 3


@pytest.mark.parametrize("wrong", [{"infer": "yes"}, {"playout": "pimc"}, {"value": "money"}])
def test_what_there_is_not_is_named(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong.values()))):
        Rollout(4, **wrong)
