"""Tournaments: resumed ones equal those that were never stopped, and summary.json says it all."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval import arena, contenders, tournament
from eval.commands import Tournament
from eval.contenders import Contender, enter, pairings
from eval.tournament import run
from fives_env.play import advance
from fives_env.policies import BuiltIn

AGENTS = ("greedy", "random")


def summary(options: Tournament) -> dict[str, Any]:
    """What the tournament wrote."""
    content: dict[str, Any] = json.loads((options.out / "summary.json").read_text())
    return content


def num_rows(options: Tournament) -> int:
    """Matches in the store."""
    database = sqlite3.connect(options.out / "results.sqlite")
    return int(database.execute("SELECT COUNT(*) FROM matches").fetchone()[0])


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The pairs that are played, as they are played."""
    pairs: list[int] = []
    play = arena.play

    def counting(*arguments: Any) -> Any:
        pairs.extend(arguments[-1].tolist())
        return play(*arguments)

    monkeypatch.setattr(arena, "play", counting)
    return pairs


def test_summary_says_what_the_design_says(tmp_path: Path) -> None:
    options = Tournament(agents=AGENTS, pairs=60, seed=4, out=tmp_path)
    run(options)
    content = summary(options)
    (row,) = content["pairings"]
    assert (row["a"], row["b"]) == AGENTS
    assert row["rules"] == "fives-and-threes:players=2,target=61"
    assert (row["pairs"], row["matches"], row["distinct_deals"]) == (60, 120, 60)
    assert 0.5 < row["low"] < row["win_rate"] < row["high"] <= 1
    assert 0 < row["points_low"] < row["points_per_round"] < row["points_high"]
    assert [each["agent"] for each in content["ratings"]] == ["greedy", "random"]
    best, anchor = content["ratings"]
    assert 0 < best["low"] < best["rating"] < best["high"]
    assert (anchor["rating"], anchor["low"], anchor["high"]) == (0, 0, 0)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
def test_a_stopped_tournament_goes_on_where_it_stopped(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    counted: list[int],
    failure: type[BaseException],
) -> None:
    agents = ("greedy", "random", "greedy")
    whole = Tournament(agents=agents, pairs=50, out=tmp_path / "whole", block=10)
    run(whole)
    assert len(counted) == 100
    counted.clear()
    stopped = Tournament(agents=agents, pairs=50, out=tmp_path / "stopped", block=10)
    calls = iter(range(100))

    def failing(*arguments: Any) -> None:
        if next(calls) == 7:
            raise failure
        advance(*arguments)

    monkeypatch.setattr("eval.arena.advance", failing)
    with pytest.raises((KeyboardInterrupt, ValueError)):
        run(stopped)
    monkeypatch.setattr("eval.arena.advance", advance)
    assert num_rows(stopped) == 2 * 70
    counted.clear()
    run(stopped)
    assert len(counted) == 30
    assert num_rows(stopped) == 2 * 100
    assert summary(stopped) == summary(whole)
    counted.clear()
    run(stopped)
    assert counted == []
    assert summary(stopped) == summary(whole)


def test_more_pairs_play_only_what_is_missing(tmp_path: Path, counted: list[int]) -> None:
    run(Tournament(agents=AGENTS, pairs=30, out=tmp_path))
    counted.clear()
    run(Tournament(agents=AGENTS, pairs=45, out=tmp_path, block=4))
    assert counted == list(range(30, 45))
    counted.clear()
    few = Tournament(agents=AGENTS, pairs=30, out=tmp_path)
    run(few)
    assert counted == []
    assert summary(few)["pairings"][0]["pairs"] == 30


def test_order_of_agents_mirrors_the_result_and_plays_nothing(
    tmp_path: Path, counted: list[int]
) -> None:
    options = Tournament(agents=AGENTS, pairs=40, out=tmp_path)
    run(options)
    before = summary(options)
    counted.clear()
    run(Tournament(agents=AGENTS[::-1], pairs=40, out=tmp_path))
    after = summary(options)
    assert counted == []
    (ours,), (theirs,) = before["pairings"], after["pairings"]
    assert (theirs["a"], theirs["b"]) == AGENTS[::-1]
    assert theirs["win_rate"] == pytest.approx(1 - ours["win_rate"])
    assert theirs["low"] == pytest.approx(1 - ours["high"])
    assert theirs["points_per_round"] == pytest.approx(-ours["points_per_round"])
    rated = [[row["agent"], pytest.approx(row["rating"])] for row in before["ratings"]]
    assert [[row["agent"], row["rating"]] for row in after["ratings"]] == rated


def test_three_sides_keep_a_against_b_and_b_against_a_apart(
    tmp_path: Path, counted: list[int]
) -> None:
    rules = "threes-and-fives:players=3"
    options = Tournament(agents=AGENTS, rules=rules, pairs=20, out=tmp_path)
    run(options)
    assert summary(options)["pairings"][0]["matches"] == 60
    assert summary(options)["pairings"][0]["win_rate"] > 0.6
    run(Tournament(agents=AGENTS[::-1], rules=rules, pairs=20, out=tmp_path))
    assert len(counted) == 40
    assert summary(options)["pairings"][0]["win_rate"] < 0.2


def test_mirror_match(tmp_path: Path) -> None:
    options = Tournament(agents=("greedy", "greedy"), pairs=25, out=tmp_path)
    run(options)
    (row,) = summary(options)["pairings"]
    assert (row["win_rate"], row["low"], row["high"]) == (0.5, 0.5, 0.5)
    assert row["points_per_round"] == 0
    assert (row["matches"], row["distinct_matches"]) == (50, 25)
    assert num_rows(options) == 50
    assert summary(options)["ratings"] == [{"agent": "greedy", "rating": 0, "low": 0, "high": 0}]


def test_one_pair_is_enough_to_run(tmp_path: Path) -> None:
    options = Tournament(agents=AGENTS, pairs=1, out=tmp_path)
    run(options)
    (row,) = summary(options)["pairings"]
    assert (row["low"], row["high"], row["points_low"]) == (0, 1, None)


def test_everybody_meets_everybody_once() -> None:
    entered = [Contender(name, name, BuiltIn("random")) for name in "abcab"]
    met = [a.name + b.name for a, b in pairings(entered)]
    assert sorted("".join(sorted(pair)) for pair in met) == ["aa", "ab", "ac", "bb", "bc"]


def test_a_model_is_known_by_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    class Network:
        weights = np.zeros(3, np.float32)

        def tensors(self) -> dict[str, Any]:
            return {"layer": self.weights}

    class Model(BuiltIn):
        network = Network()

    monkeypatch.setattr(contenders, "make_agent", lambda spec: Model("greedy"))
    monkeypatch.setattr(contenders, "canonical", lambda spec: spec)
    before = enter("model:x")
    assert before.name == "model:x"
    assert before.identity == enter("model:x").identity
    Network.weights = np.ones(3, np.float32)
    assert before.identity != enter("model:x").identity


def test_failing_agent_is_named_and_finished_matches_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def act(self, views: Any, masks: Any, keys: Any) -> Any:
            raise RuntimeError("out of ideas")

    def entering(spec: str) -> Contender:
        return Contender("broken", "broken", Broken()) if spec == "broken" else enter(spec)

    monkeypatch.setattr(tournament, "enter", entering)
    options = Tournament(agents=("greedy", "random", "broken"), pairs=10, out=tmp_path)
    with pytest.raises(ValueError, match="greedy against broken: RuntimeError: out of ideas"):
        run(options)
    assert num_rows(options) == 20
