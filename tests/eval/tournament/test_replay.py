"""Replaying: every stored match comes out as it is stored, and a tampered one does not."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from eval.arena.loops import FACTS
from eval.arena.paired import pair_seeds, play
from eval.commands import Replay, Tournament
from eval.matches import Matches
from eval.tournament.command import run as run_tournament
from eval.tournament.replay import facts, facts_of, run
from fives_env.games import Games
from fives_env.match_record import MatchRecord
from fives_env.policies import BuiltIn
from fives_env.records import BLOCKED, OUT
from fives_env.rules import Rules

SPECS = (
    "fives-and-threes",
    "fives-and-threes:players=4",
    "threes-and-fives:players=3,draw=optional",
    "all-fives:players=4,partners=no",
    "all-fives:mode=round",
    "threes-and-fives:max_rounds=2",
)


def tournament(folder: Path, rules: str = SPECS[0], pairs: int = 6) -> Path:
    """A small tournament."""
    agents = ("greedy", "random", "greedy")
    run_tournament(Tournament(agents=agents, rules=rules, pairs=pairs, seed=0, out=folder))
    return folder


def tamper(folder: Path, change: str) -> None:
    """Changes the match of pair 2 of greedy against random."""
    with sqlite3.connect(folder / "results.sqlite") as database:
        who = "SELECT lineup FROM lineups WHERE agent_0 = 'greedy' AND agent_1 = 'random'"
        done = database.execute(f"UPDATE matches SET {change} WHERE pair = 2 AND lineup = ({who})")
        assert done.rowcount == 1


@pytest.mark.parametrize("rules", SPECS)
def test_every_stored_match_replays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rules: str
) -> None:
    tournament(tmp_path, rules)
    capsys.readouterr()
    run(Replay(results=tmp_path))
    number = 6 * (Rules.from_spec(rules).num_sides + 1)  # all seatings, and the mirror once
    assert capsys.readouterr().out.startswith(f"{number:,} matches replayed from ")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("score_1 = score_1 + 1", "another score_1"),
        ("rounds = rounds - 1, winner = 1 - winner", "another rounds, winner"),
        ("line = line + 1", "another line"),
        ("deal = 5", "another deal"),
        ("leader = 1 - leader", "another leader"),
        ("truncated = 1", "another truncated"),
        (
            "moves = CAST(substr(moves, 1, length(moves) - 1) AS BLOB)",
            "the actions end before the match",
        ),
        ("moves = CAST(moves || x'71' AS BLOB)", "there are actions after the end"),
        ("moves = CAST(x'70' || substr(moves, 2) AS BLOB)", "an action is illegal"),
        ("moves = CAST(x'ff' || substr(moves, 2) AS BLOB)", "an action is illegal"),
        ("deals_seed = deals_seed + 1", "an action is illegal"),
    ],
)
def test_what_does_not_replay_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, fault: str
) -> None:
    tournament(tmp_path)
    tamper(tmp_path, change)
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        run(Replay(results=tmp_path))
    assert stop.value.code == 1
    line, end = capsys.readouterr().out.splitlines()
    assert line.startswith("match 8 (greedy against random, pair 2): ")
    assert fault in line
    assert end.endswith(" 1 differ")


def test_a_match_is_printed_as_a_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tournament(tmp_path, "fives-and-threes:players=4")
    capsys.readouterr()
    run(Replay(results=tmp_path, match=8))
    record = MatchRecord.from_text(capsys.readouterr().out)
    assert record.seats == ("greedy", "random", "greedy", "random")
    found = play(record.rules, BuiltIn("greedy"), BuiltIn("random"), 0, np.array([2]))
    assert record.seed == pair_seeds(0, np.array([2]))[0]
    assert bytes(record.actions) == found.moves[0, 0]
    assert record.replay().data["winner"][0] == found.winner[0, 0]
    for number in (-1, 18):
        with pytest.raises(ValueError, match=f"--match {number}: there are matches 0 to 17"):
            run(Replay(results=tmp_path, match=number))


def test_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"results\.sqlite is not there; give the --out folder"):
        run(Replay(results=tmp_path))


@pytest.mark.parametrize("spec", SPECS)
def test_facts_are_what_the_games_say(spec: str) -> None:
    """Counted once more in Python, action by action."""
    rules = Rules.from_spec(spec)
    matches = play(rules, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(3))
    found = facts_of(rules, 3, matches)
    assert found.shape == matches.winner.shape
    for pair, seating in np.ndindex(found.shape):
        counted = count(rules, matches, pair, seating)
        for name in FACTS.names or ():
            assert found[name][pair, seating].tolist() == counted[name].tolist(), name
    sides = slice(0, rules.num_sides)
    gained = found["points"] + found["settled"]
    assert (gained[:, :, sides] == matches.scores).all()
    assert (found["rounds"] == matches.rounds).all()


def count(rules: Rules, matches: Matches, pair: int, seating: int) -> np.void:
    """The facts of one match."""
    games = Games(rules)
    games.reset(seed=pair_seeds(3, matches.pairs[[pair]]))
    counted = np.zeros(1, FACTS)[0]
    game = games.data[0]
    for action in matches.moves[pair, seating]:
        side = rules.side_of(int(game["seat"]))
        games.step([action])
        kind = {112: "draws", 113: "knocks"}.get(action, "placements")
        counted[kind][side] += 1
        counted["moves"] += 1
        counted["points"][side] += game["points"]
        counted["refused"][side] += game["refused"]
        counted["settled"] += game["settlement"]
        counted["outs"][side] += game["round_over"] == OUT
        counted["blocked"] += game["round_over"] == BLOCKED
        counted["rounds"] = matches.rounds[pair, seating]
    return counted


def test_facts_of_a_match_that_is_none() -> None:
    rules = Rules.from_spec(SPECS[0])
    found = play(rules, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(1))
    seeds = np.repeat(pair_seeds(3, np.arange(1)), 2)
    with pytest.raises(ValueError, match="match 1 cannot be replayed: an action is illegal"):
        facts(rules, seeds, [found.moves[0, 0], b"\x70"])
