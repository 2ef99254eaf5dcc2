"""The stored tables: what they must be by themselves, and what whole matches say to them."""

import re
import shlex

import numpy as np
import pytest

from agents.equity.tables import FOLDER, file_name, load
from fives_env.records import make_params
from fives_env.rules import Rules
from tests.agents.equity.play import PRESETS, share_won

MATCHES = 4000


@pytest.mark.parametrize("spec", PRESETS)
def test_values_are_probabilities_of_two_sides_of_which_one_wins(spec: str) -> None:
    table = load(Rules.from_spec(spec))
    size = table.rules.target - table.low + 1
    assert table.values.shape == (2, size, size)
    assert table.values.dtype == np.float32
    assert table.values.min() == 0
    assert table.values.max() == 1
    np.testing.assert_allclose(table.values[0], 1 - table.values[1].T, atol=1e-6)
    assert (table.values[:, -1, :-1] == 1).all()  # at the target
    assert (table.values[:, :-1, -1] == 0).all()
    level = np.diagonal(table.values[1])[:-1]  # equal scores, own side leads
    assert ((level > 0.3) & (level < 0.9999)).all()


@pytest.mark.parametrize("spec", PRESETS)
def test_facts_say_how_the_table_was_made(spec: str) -> None:
    table = load(Rules.from_spec(spec))
    facts = table.facts
    assert Rules.from_spec(facts["rules"]) == table.rules == Rules.from_spec(spec)
    assert shlex.split(facts["command"]) == [
        *("python", "-m", "agents.equity", "--rules", facts["rules"], "--agent", facts["agent"]),
        *("--rounds", facts["rounds"], "--seed", facts["seed"]),
    ]
    assert float(facts["standard_error"]) < 0.004
    assert float(facts["step_error"]) < 0.002
    assert float(facts["largest_error"]) < 0.02  # the largest of thousands of estimates
    assert (FOLDER / file_name(table.rules)).stat().st_size < 1_000_000


@pytest.mark.parametrize("spec", PRESETS)
def test_whole_matches_agree(spec: str) -> None:
    rules = Rules.from_spec(spec)
    table, target = load(rules), rules.target
    near = (1, 2, 4) if rules.exact else (5, 20, 45)
    states = [
        (0, 0, True),
        (target // 2, target // 3, False),
        (target - near[1], target // 2, True),
        (target - near[0], target - near[2], False),
        (target - near[2], target - near[1], True),
    ]
    if table.low < 0:
        states += [(-40, 35, True), (table.low + 20, target - near[1], False)]
    z = []
    for seed, (own, other, leads) in enumerate(states):
        predicted = float(table.win_probability(own, other, leads))
        noise = predicted * (1 - predicted) / MATCHES + float(table.facts["largest_error"]) ** 2
        won = share_won(rules, own, other, leads, MATCHES, seed, table.facts["agent"])
        z.append((won - predicted) / noise**0.5)
    assert np.abs(z).max() < 4, list(zip(states, z, strict=True))


@pytest.mark.parametrize("spec", PRESETS[:2])
def test_F12_near_the_exact_target_a_point_more_can_be_worse(spec: str) -> None:
    rules = Rules.from_spec(spec)
    table = load(rules)
    wins = table.win_probability(np.arange(61), 50, False)
    assert wins[60] < wins[59]
    agent = table.facts["agent"]
    played = [share_won(rules, own, 50, False, 20_000, own, agent) for own in (59, 60)]
    assert played[1] < played[0]
    error = float(table.facts["standard_error"])
    assert (np.diff(wins[:40]) > -4 * error).all()  # far from it, a point more is better
    assert wins[40] > wins[0] + 0.1


@pytest.mark.parametrize("spec", PRESETS[2:])
def test_without_an_exact_target_a_point_more_is_never_worse(spec: str) -> None:
    table = load(Rules.from_spec(spec))
    falls = np.diff(table.values, axis=1).min()
    assert falls > -4 * float(table.facts["largest_error"])


def test_scores_outside_the_table_count_like_its_edge() -> None:
    table = load(Rules("all-fives"))
    low, target = table.low, table.rules.target
    asked = table.win_probability([low - 30, target + 40, 0], [0, 0, target + 5], [1, 0, 1])
    assert asked.tolist() == [table.values[1, 0, -low], 1, 0]


def test_scores_between_two_that_can_be_reached_play_like_the_lower() -> None:
    table = load(Rules("all-fives"))
    at = table.win_probability([100, 103, 104, 105], 60, True)
    assert at[0] == at[1] == at[2] < at[3]


def test_the_record_of_the_rules_finds_the_same_table() -> None:
    for spec in PRESETS:
        rules = Rules.from_spec(spec + ",mode=round,max_rounds=50")
        params = make_params(rules)
        assert load(params) is load(params[0]) is load(rules) is load(Rules.from_spec(spec))


def test_a_table_cannot_be_changed_by_those_who_share_it() -> None:
    with pytest.raises(ValueError, match="read-only"):
        load(Rules("fives-and-threes")).values[0, 0, 0] = 1


@pytest.mark.parametrize(
    "spec",
    [
        "fives-and-threes:target=62",
        "threes-and-fives:deal=6",
        "all-fives:draw=optional",
        "all-fives:players=4,partners=no",
        "threes-and-fives:max_pip=5",
    ],
)
def test_other_rules_are_refused_with_what_there_is(spec: str) -> None:
    rules = Rules.from_spec(spec)
    for asked in (rules, make_params(rules)):
        with pytest.raises(ValueError, match=re.escape(rules.spec)) as caught:
            load(asked)
        message = str(caught.value)
        assert "\n" not in message
        assert "there are: all-fives:players=2,target=250; all-fives:players=4," in message
        if rules.num_sides == 2:
            assert f"python -m agents.equity --rules {rules.spec}" in message
