"""Making a table: the two ways to measure rounds, the fixed point, the command."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.equity import gains, rounds
from agents.equity.__main__ import main
from agents.equity.solve import fixed_point
from agents.equity.tables import file_name, load
from fives_env.games import Games
from fives_env.play import advance
from fives_env.policies import BuiltIn
from fives_env.rules import Rules
from tests.agents.equity.play import share_won

ROOT = Path(__file__).parents[3]
SMALL = "fives-and-threes:target=6"


@pytest.mark.parametrize(
    ("same", "other", "wins"),
    [
        (0.5, 0.0, 0.6),  # W = 0.3 + 0.5 W
        (0.0, 0.5, 0.8 / 1.5),  # W = 0.3 + 0.5 (1 - W)
        (0.0, 0.0, 0.3),
    ],
)
def test_the_fixed_point_of_a_round_that_leads_back(same: float, other: float, wins: float) -> None:
    found = fixed_point(lambda values: 0.3 + same * values + other * (1 - values), 1)
    assert found == pytest.approx([wins], abs=1e-8)


def test_both_ways_to_measure_agree() -> None:
    """From every pair of scores for itself, or each round for all of them: the same deals."""
    rules = Rules("threes-and-fives", target=40, mode="round")
    plane, greedy, deals = rounds.Plane(0, 1, 40), BuiltIn("greedy"), np.arange(60, dtype=np.uint64)
    each = rounds.measure(rules, plane, greedy, np.full(1600, 60), deals, lambda _: None)
    shared = gains.measure(rules, greedy, deals, lambda _: None)
    wins = [fixed_point(one.chances, 1600) for one in (each, shared)]
    np.testing.assert_allclose(wins[0], wins[1], atol=1e-7)
    assert wins[0].max() - wins[0].min() > 0.9


@pytest.mark.parametrize(("own", "other"), [(0, 0), (50, 20), (30, 71), (79, 79), (10, 60)])
def test_a_round_for_all_scores_is_the_round_from_these(own: int, other: int) -> None:
    rules = Rules("threes-and-fives", target=80, mode="round")
    deals = np.arange(3000, dtype=np.uint64)
    measured = gains.measure(rules, BuiltIn("greedy"), deals, lambda _: None)
    games = Games(rules, 3000)
    games.reset(seed=deals, scores=[own, other], rounds=[{"leader": 0}])
    advance(games, [BuiltIn("greedy")], np.zeros((3000, 4), np.int8))
    winner = games.data["winner"]
    assert measured.won[own, other] == pytest.approx(np.mean(winner == 0), abs=1e-12)
    goes_on = measured.same[: 80 - own, : 80 - other] + measured.other[: 80 - own, : 80 - other]
    assert goes_on.sum() == pytest.approx(np.mean(winner < 0), abs=1e-12)
    gained = games.data["scores"][winner < 0, :2].astype(int) - [own, other]
    expected = np.zeros_like(goes_on)
    np.add.at(expected, tuple(gained.T), 1 / 3000)
    np.testing.assert_allclose(goes_on, expected, atol=1e-12)


def test_the_seed_decides(tmp_path: Path) -> None:
    for seed, folder in ((1, "a"), (1, "b"), (2, "c")):
        arguments = ["--rules", SMALL, "--rounds", "2000", "--seed", str(seed)]
        main([*arguments, "--out", str(tmp_path / folder)])
    name = file_name(Rules.from_spec(SMALL))
    a, b, c = ((tmp_path / folder / name).read_bytes() for folder in "abc")
    assert a == b != c


def test_from_the_shell(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agents.equity", "--rules", SMALL, "--rounds", "10000"]
    command += ["--agent", "random", "--seed", "4", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert "the leader of the first round wins" in done.stdout
    assert done.stdout.count("\n") == 1
    table = load(Rules.from_spec(SMALL), tmp_path)
    assert table.facts["agent"] == "random"
    assert table.facts["command"].endswith("--agent random --rounds 10000 --seed 4")


def test_small_targets_agree_with_whole_matches(tmp_path: Path) -> None:
    for spec, number in ((SMALL, "200000"), ("threes-and-fives:target=40", "20000")):
        rules = Rules.from_spec(spec)
        main(["--rules", spec, "--rounds", number, "--out", str(tmp_path)])
        predicted = load(replace(rules, mode="round"), tmp_path).win_probability(1, 2, True)
        assert share_won(rules, 1, 2, True, 20_000, 5) == pytest.approx(float(predicted), abs=0.03)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rules", "chess"), "unknown game 'chess'"),
        (("--rules", "all-fives:players=3"), "tables are for two sides; all-fives:players=3"),
        (("--rules", "threes-and-fives:lead=highest-double"), "lead=highest-double: nobody knows"),
        (("--rules", "all-fives:target_check=round-end"), "target_check=round-end: scores may"),
        (("--agent", "gredy"), "did you mean greedy?"),
        (("--rounds", "many"), "invalid literal for int() with base 10: 'many'"),
        (("--rounds", "29767"), "--rounds 29767 is too few for fives-and-threes:players=2,"),
        (("--rounds", "-1"), "give 29768 or more"),
        (("--seed", "-1"), "--seed -1 is not a whole number from 0 to 2**63 - 1"),
        (("--games", "7"), "--games"),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    said = capsys.readouterr()
    assert stop.value.code == 2
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert message in said.err
