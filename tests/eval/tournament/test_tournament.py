"""Tournaments: resumed ones equal those that were never stopped, and summary.json says it all."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.arena import contenders
from eval.arena import paired as arena
from eval.arena.contenders import Contender, enter, enter_as
from eval.arena.schedule import make_schedule
from eval.commands import Replay, Tournament
from eval.stats.scores import match_shares
from eval.tournament import command as tournament
from eval.tournament import live
from eval.tournament.command import run
from eval.tournament.replay import run as replay
from eval.tournament.replay import stored
from eval.tournament.results import open_results, read_results
from eval.tournament.store import Store, StoreError
from fives_env.policies import BuiltIn
from tests.agents.material import random_model

AGENTS = ("greedy", "random")


def summary(options: Tournament) -> dict[str, Any]:
    """What the tournament wrote."""
    content: dict[str, Any] = json.loads((options.out / "summary.json").read_text())
    return content


def num_rows(options: Tournament) -> int:
    """Matches in the store."""
    database = sqlite3.connect(options.out / "results.sqlite")
    if not database.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()[0]:
        return 0  # it is just being made
    return int(database.execute("SELECT COUNT(*) FROM matches").fetchone()[0])


def rows(options: Tournament) -> list[Any]:
    """Everything in the store."""
    with open_results(options.out) as store:
        return list(stored(store))


@pytest.fixture
def entering(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Agents that may be entered beside those of the registry; to be filled by the test."""
    agents: dict[str, Any] = {}

    def entering(spec: str) -> Contender:
        return Contender(spec, spec, agents[spec]) if spec in agents else enter(spec)

    monkeypatch.setattr(tournament, "enter", entering)
    return agents


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The pairs that are played, as they are played."""
    pairs: list[int] = []
    play = arena.play_meeting

    def counting(rules: Any, agents: Any, seed: int, numbers: Any, *rest: Any) -> Any:
        pairs.extend(numbers.tolist())
        return play(rules, agents, seed, numbers, *rest)

    monkeypatch.setattr(arena, "play_meeting", counting)
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


def test_a_stopped_tournament_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: list[int]
) -> None:
    agents = ("greedy", "random", "greedy")
    whole = Tournament(agents=agents, pairs=50, seed=0, out=tmp_path / "whole", block=10)
    run(whole)
    assert len(counted) == 100
    counted.clear()
    stopped = Tournament(agents=agents, pairs=50, seed=0, out=tmp_path / "stopped", block=10)
    play_out, calls = arena.play_out, iter(range(100))

    def stopping(*arguments: Any) -> Any:
        if next(calls) == 11:  # in the eighth block; one of a mirror is one seating
            raise KeyboardInterrupt
        return play_out(*arguments)

    monkeypatch.setattr(arena, "play_out", stopping)
    with pytest.raises(KeyboardInterrupt):
        run(stopped)
    monkeypatch.setattr(arena, "play_out", play_out)
    assert num_rows(stopped) == 4 * 20 + 3 * 10  # a mirror match is stored once
    counted.clear()
    run(stopped)
    assert len(counted) == 30
    assert summary(stopped) == summary(whole)
    assert rows(stopped) == rows(whole)
    counted.clear()
    run(stopped)
    assert counted == []
    assert summary(stopped) == summary(whole)


def test_kill_9_and_the_same_command_again(tmp_path: Path) -> None:
    whole = Tournament(agents=AGENTS, pairs=600, seed=0, out=tmp_path / "whole")
    run(whole)
    killed = Tournament(agents=AGENTS, pairs=600, seed=0, out=tmp_path / "killed", block=2)
    command = [sys.executable, "-m", "eval", "tournament", "--agents", *AGENTS]
    command += ["--pairs", "600", "--seed", "0", "--block", "2", "--out", str(killed.out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while not (killed.out / "results.sqlite").is_file() or num_rows(killed) < 10:
            time.sleep(0.001)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    there = num_rows(killed) // 2
    assert 0 < there < 600
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{600 - there:,} pairs played, {there:,} were there already" in again.stdout
    assert summary(killed) == summary(whole)
    assert rows(killed) == rows(whole)


def test_more_pairs_play_only_what_is_missing(tmp_path: Path, counted: list[int]) -> None:
    run(Tournament(agents=AGENTS, pairs=30, seed=0, out=tmp_path))
    counted.clear()
    run(Tournament(agents=AGENTS, pairs=45, seed=0, out=tmp_path, block=4))
    assert counted == list(range(30, 45))
    counted.clear()
    few = Tournament(agents=AGENTS, pairs=30, seed=0, out=tmp_path)
    run(few)
    assert counted == []
    assert summary(few)["pairings"][0]["pairs"] == 30


def test_order_of_agents_mirrors_the_result_and_plays_nothing(
    tmp_path: Path, counted: list[int]
) -> None:
    options = Tournament(agents=AGENTS, pairs=40, seed=0, out=tmp_path)
    run(options)
    before = summary(options)
    counted.clear()
    run(Tournament(agents=AGENTS[::-1], pairs=40, seed=0, out=tmp_path))
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
    options = Tournament(agents=AGENTS, rules=rules, pairs=20, seed=0, out=tmp_path)
    run(options)
    assert summary(options)["pairings"][0]["matches"] == 60
    assert summary(options)["pairings"][0]["win_rate"] > 0.6
    run(Tournament(agents=AGENTS[::-1], rules=rules, pairs=20, seed=0, out=tmp_path))
    assert len(counted) == 40
    assert summary(options)["pairings"][0]["win_rate"] < 0.2


def test_mirror_match(tmp_path: Path) -> None:
    options = Tournament(agents=("greedy", "greedy"), pairs=25, seed=0, out=tmp_path)
    run(options)
    (row,) = summary(options)["pairings"]
    assert (row["win_rate"], row["low"], row["high"]) == (0.5, 0.5, 0.5)
    assert row["points_per_round"] == 0
    assert (row["matches"], row["distinct_matches"]) == (50, 25)
    assert num_rows(options) == 25
    assert summary(options)["ratings"] == [{"agent": "greedy", "rating": 0, "low": 0, "high": 0}]


def test_one_pair_is_enough_to_run(tmp_path: Path) -> None:
    options = Tournament(agents=AGENTS, pairs=1, seed=0, out=tmp_path)
    run(options)
    (row,) = summary(options)["pairings"]
    assert (row["low"], row["high"], row["points_low"]) == (0, 1, None)


def test_everybody_meets_everybody_once() -> None:
    met = make_schedule("round-robin", list("abcab"), 2)
    assert sorted("".join(sorted(pair)) for pair in met) == ["aa", "ab", "ac", "bb", "bc"]


def test_in_a_gauntlet_the_first_meets_the_others() -> None:
    assert make_schedule("gauntlet", list("cabcb"), 2) == [("c", "a"), ("c", "b"), ("c", "c")]


def test_tables_seat_every_set_of_agents_once() -> None:
    met = make_schedule("tables", list("abcbd"), 3)
    assert met == [tuple("abc"), tuple("abd"), tuple("acd"), tuple("bcd")]
    assert make_schedule("tables", list("ba"), 2) == [("b", "a")]
    with pytest.raises(ValueError, match=r"needs 3 different agents.*has 2"):
        make_schedule("tables", list("abb"), 3)


def test_gauntlet_and_a_third_agent_play_only_what_is_missing(
    tmp_path: Path, counted: list[int]
) -> None:
    run(Tournament(agents=AGENTS, pairs=10, seed=0, out=tmp_path, schedule="gauntlet"))
    run(Tournament(agents=("greedy", "random", "greedy"), pairs=10, seed=0, out=tmp_path))
    assert len(counted) == 20


def test_tables_of_different_agents(tmp_path: Path, entering: dict[str, Any]) -> None:
    entering |= {"other": BuiltIn("random"), "third": BuiltIn("random")}
    options = Tournament(
        agents=("random", "greedy", "other", "third"),
        rules="threes-and-fives:players=3",
        schedule="tables",
        pairs=30,
        seed=0,
        out=tmp_path,
    )
    run(options)
    content = summary(options)
    assert content["pairings"] == []
    assert len(content["tables"]) == 4
    for table in content["tables"]:
        assert table["matches"] == 30 * 6
        assert sum(one["win_rate"] for one in table["agents"]) == pytest.approx(1)
    assert content["ratings"][0]["agent"] == "greedy"
    assert content["ratings"][0]["low"] > 0
    assert num_rows(options) == 4 * 30 * 6
    mixed = read_results(tmp_path)
    assert [len(result.agents) for result in mixed.meetings] == [3] * 4


def test_results_are_read_back(tmp_path: Path) -> None:
    options = Tournament(agents=("greedy", "random", "greedy"), pairs=20, seed=0, out=tmp_path)
    run(options)
    found = read_results(tmp_path)
    assert (found.names, found.anchor, found.seed) == (["greedy", "random"], "random", 0)
    assert [result.agents for result in found.meetings] == [(0, 1), (0, 0)]
    row = found.summary["pairings"][0]
    won = match_shares(found.meetings[0].matches, found.rules)
    assert won.mean() == pytest.approx(row["win_rate"])


def test_results_that_are_not_there_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"summary\.json cannot be read"):
        read_results(tmp_path)
    options = Tournament(agents=AGENTS, pairs=5, seed=0, out=tmp_path)
    run(options)
    (tmp_path / "summary.json").write_text('{"pairings": []}')
    with pytest.raises(ValueError, match=r"summary\.json is damaged or of .* rules is missing"):
        read_results(tmp_path)
    run(options)
    (tmp_path / "results.sqlite").unlink()
    with pytest.raises(ValueError, match=r"results\.sqlite is not there"):
        read_results(tmp_path)


def test_a_test_ends_a_meeting_early_and_always_at_the_same_pair(tmp_path: Path) -> None:
    """Whatever the blocks, and however much was there before."""
    contents = []
    for block, folder in ((500, "one"), (7, "two"), (60, "two")):
        options = Tournament(
            agents=AGENTS, pairs=400, sprt=(0, 50), block=block, seed=0, out=tmp_path / folder
        )
        run(options)
        contents.append(summary(options))
    assert contents[0] == contents[1] == contents[2]
    (row,) = contents[0]["pairings"]
    assert row["sprt"]["verdict"] == "stronger"
    assert row["pairs"] == row["sprt"]["pairs"] < 100
    assert num_rows(options) < 2 * 100  # the second folder's


@pytest.mark.parametrize(("low", "high"), [(-1000, -700), (0, 50), (-50, 0)])
def test_X25_the_verdict_names_the_hypothesis(tmp_path: Path, low: float, high: float) -> None:
    """And of two agents the other way round it says the same."""
    says = {}
    for agents in (["greedy", "random"], ["random", "greedy"]):
        options = Tournament(agents=agents, pairs=400, sprt=(low, high), seed=0, out=tmp_path)
        run(options)
        says[agents[0]] = summary(options)["pairings"][0]["sprt"]["verdict"]
    above = {-1000: "no worse than -1000 Elo", 0: "stronger", -50: "no worse than -50 Elo"}
    below = {-700: "weaker than -700 Elo", 50: "not stronger than +50 Elo", 0: "weaker"}
    assert says["greedy"] == above[low]
    assert says["random"] == (above[low] if low == -1000 else below[high])


def test_X26_what_is_decided_stops_whatever_the_block(tmp_path: Path) -> None:
    options = Tournament(
        agents=AGENTS, pairs=2000, sprt=(0, 20), block=1000, workers=2, seed=0, out=tmp_path
    )
    run(options)
    (row,) = summary(options)["pairings"]
    assert row["sprt"]["verdict"]
    assert num_rows(options) / 2 <= row["pairs"] + 50


def test_X51_names_and_order_of_entry_change_nothing_at_tables(tmp_path: Path) -> None:
    """Of agents that make use of randomness, too."""
    for number, name in enumerate("abz"):
        random_model(tmp_path / name, "all-fives:players=3", seed=number % 2)
    found = []
    for models in ("ab", "zb", "bz"):  # z is a under another name
        agents = [f"model:{tmp_path / name},sample=yes" for name in models] + ["greedy", "random"]
        options = Tournament(
            agents=agents,
            rules="all-fives:players=3",
            pairs=20,
            schedule="tables",
            seed=0,
            salt=1,
            out=tmp_path / models,
        )
        run(options)
        text = json.dumps(summary(options)["ratings"]).replace(str(tmp_path / "z"), "A")
        ratings = json.loads(text.replace(str(tmp_path / "a"), "A"))
        found.append({row["agent"]: round(row["rating"] + row["low"], 6) for row in ratings})
    assert found[0] == found[1] == found[2]


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
    with pytest.raises(ValueError, match="model:x has changed"):
        enter_as("model:x", before.identity)


class Broken:
    def act(self, views: Any, masks: Any, keys: Any) -> Any:
        raise RuntimeError("out of\nideas")


class Cheat:
    def act(self, views: Any, masks: Any, keys: Any) -> Any:
        return np.full(len(views), 113)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Broken(), "greedy against bad: RuntimeError: out of ideas"),
        (Cheat(), "greedy against bad: <.*Cheat.* chose action 113 for seat .* which is illegal"),
    ],
)
def test_failing_agent_is_named_and_the_others_go_on(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    entering: dict[str, Any],
    agent: Any,
    message: str,
) -> None:
    entering["bad"] = agent
    options = Tournament(
        agents=("greedy", "bad", "random"), pairs=10, seed=0, out=tmp_path, block=4
    )
    with pytest.raises(SystemExit) as stop:
        run(options)
    assert stop.value.code == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert len(errors) == 2
    assert re.search(message, errors[0])
    content = summary(options)
    assert [row["agents"] for row in content["failed"]] == [["greedy", "bad"], ["bad", "random"]]
    assert [(row["a"], row["b"]) for row in content["pairings"]] == [AGENTS]
    assert content["pairings"][0]["pairs"] == 10
    assert [row["agent"] for row in content["ratings"]] == ["greedy", "random"]
    assert num_rows(options) == 20
    entering["bad"] = BuiltIn("random")  # mended: the same command now plays what is missing
    run(options)
    assert num_rows(options) == 60
    assert summary(options)["failed"] == []


def test_an_agent_that_fails_in_mid_tournament_keeps_what_it_played(
    tmp_path: Path, entering: dict[str, Any]
) -> None:
    class Tired(BuiltIn):
        left = 150

        def act(self, views: Any, masks: Any, keys: Any) -> Any:
            Tired.left -= 1
            if Tired.left < 0:
                raise RuntimeError("tired")
            return super().act(views, masks, keys)

    tired = Tired("greedy")
    tired.kind = -1  # to be asked
    entering["tired"] = tired
    options = Tournament(agents=("tired", "random"), pairs=10, seed=0, out=tmp_path, block=1)
    with pytest.raises(SystemExit):
        run(options)
    kept = num_rows(options)
    assert 0 < kept < 20
    assert summary(options)["pairings"] == []


def test_missing_model_is_said_before_anything_is_played(tmp_path: Path) -> None:
    options = Tournament(agents=("greedy", f"model:{tmp_path}/none"), seed=0, out=tmp_path / "out")
    with pytest.raises(ValueError, match="none"):
        run(options)
    assert not options.out.exists()


def test_a_full_disk_is_one_line_and_keeps_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Tournament(agents=AGENTS, pairs=3000, seed=0, out=tmp_path)
    prepare = Store._prepare

    def small(self: Store, *origin: Any) -> None:
        prepare(self, *origin)
        self._database.execute("PRAGMA max_page_count = 60")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "_prepare", small)
        with pytest.raises(StoreError, match="full"):
            run(options)
    there = num_rows(options)
    assert there > 0
    assert there % 1000 == 0  # whole blocks
    run(options)
    assert num_rows(options) == 6000


def test_a_summary_that_cannot_be_written_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    options = Tournament(agents=AGENTS, pairs=5, seed=0, out=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("agents.files.os.fsync", full)
        with pytest.raises(OSError, match=r"No space left on device: .*summary\.json"):
            run(options)
    assert [path.name for path in tmp_path.iterdir()] == ["results.sqlite"]
    run(options)
    assert len(summary(options)["pairings"]) == 1


def test_the_terminal_shows_ratings_and_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    run(Tournament(agents=AGENTS, pairs=40, seed=0, out=tmp_path, block=10))
    shown = capsys.readouterr().err
    assert "40/40" in shown or "10/40" in shown
    assert "Elo ratings, random = 0" in shown


def test_without_a_terminal_there_is_a_line_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(live, "BETWEEN_LINES", 0.0)
    run(Tournament(agents=AGENTS, pairs=4, seed=0, out=tmp_path, block=2))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("2 of 4 pairs, ")
    assert len(lines) == 2


def test_X40_seed_and_salt_are_drawn_once_and_kept(tmp_path: Path, counted: list[int]) -> None:
    for folder in ("a", "b"):
        run(Tournament(agents=AGENTS, pairs=4, out=tmp_path / folder))
    counted.clear()
    run(Tournament(agents=AGENTS, pairs=6, out=tmp_path / "a"))
    assert counted == [4, 5]
    content = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert content["pairings"][0]["pairs"] == 6
    with open_results(tmp_path / "a") as one, open_results(tmp_path / "b") as two:
        assert one.seed == content["seed"] != two.seed
        assert min(one.seed, two.seed) > 1 << 40
        assert one.salt != two.salt
        with pytest.raises(StoreError, match=rf"of another --salt \({one.salt}\)"):
            run(Tournament(agents=AGENTS, pairs=6, salt=one.salt ^ 1, out=tmp_path / "a"))


def test_seed_and_salt_repeat_a_tournament(tmp_path: Path) -> None:
    """With another salt, who uses its keys plays otherwise; the deals stay."""
    for salt, folder in ((5, "a"), (5, "b"), (6, "c"), (None, "d")):
        agents = ("pimc:1", "greedy")
        run(Tournament(agents=agents, pairs=6, seed=1, salt=salt, out=tmp_path / folder))
    a, b, c, d = ([m.row for m in rows(Tournament(AGENTS, out=tmp_path / f))] for f in "abcd")
    assert a == b
    for other in (c, d):
        assert [row["line"] for row in other] != [row["line"] for row in a]
        assert [row["deal"] for row in other] == [row["deal"] for row in a]


def test_X40_results_without_a_salt_are_read_and_not_added_to(tmp_path: Path) -> None:
    """As a file of the version before."""
    options = Tournament(agents=AGENTS, pairs=4, seed=0, out=tmp_path)
    run(options)
    before = rows(options)
    database = sqlite3.connect(tmp_path / "results.sqlite")
    database.executescript("DROP TABLE origin; PRAGMA user_version = 2;")
    database.close()
    run(Tournament(agents=AGENTS, pairs=4, out=tmp_path))  # nothing is missing
    assert rows(options) == before
    replay(Replay(results=tmp_path))
    with pytest.raises(StoreError, match=r"without a salt .* can be read and replayed, not added"):
        run(Tournament(agents=AGENTS, pairs=5, out=tmp_path))
    assert rows(options) == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("DELETE FROM origin", "origin: 0 rows, not one"),
        ("INSERT INTO origin VALUES (1, '1')", "origin: 2 rows, not one"),
        ("UPDATE origin SET seed = 'x'", "origin: seed is 'x', not a whole number"),
        ("UPDATE origin SET salt = '-1'", "origin: salt is '-1', not a whole number"),
        ("UPDATE origin SET salt = '9' || salt || '0'", "origin: salt is .*, not a whole number"),
    ],
)
def test_an_origin_that_nobody_of_ours_wrote_is_refused(
    tmp_path: Path, change: str, says: str
) -> None:
    run(Tournament(agents=AGENTS, pairs=1, out=tmp_path))
    database = sqlite3.connect(tmp_path / "results.sqlite")
    database.execute(change)
    database.commit()
    database.close()
    with pytest.raises(StoreError, match=says):
        open_results(tmp_path)
