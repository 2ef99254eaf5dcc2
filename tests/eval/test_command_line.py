"""``python -m eval``: from the shell, and what it says to bad input."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eval.__main__ import main

ROOT = Path(__file__).parents[2]
TOURNAMENT = ("tournament", "--agents", "greedy", "random", "--pairs", "3", "--out", "OUT")


def test_from_the_shell(tmp_path: Path) -> None:
    arguments = [*TOURNAMENT[:-1], str(tmp_path / "t"), "--rules", "all-fives:players=4"]
    command = [sys.executable, "-m", "eval", *arguments, "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert "greedy" in done.stdout
    assert "3 pairs played, 0 were there already" in done.stdout
    assert re.sub("fives_env: compiling.*", "", done.stderr).strip() == ""
    summary = json.loads((tmp_path / "t" / "summary.json").read_text())
    row = {"a", "b", "rules", "pairs", "win_rate", "low", "high", "points_per_round"}
    assert set(summary["pairings"][0]) >= row
    assert set(summary["ratings"][0]) == {"agent", "rating", "low", "high"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: Expected one of {tournament, replay, audit, export, "),
        (("play",), "play"),
        (("tournament",), "--agents"),
        ((*TOURNAMENT, "--games", "7"), "--games"),
        ((*TOURNAMENT, "--pairs", "many"), "invalid literal for int() with base 10: 'many'"),
        ((*TOURNAMENT, "--pairs", "0"), "--pairs 0 is not a whole number from 1 up"),
        ((*TOURNAMENT, "--block", "-3"), "--block -3 is not"),
        ((*TOURNAMENT, "--seed", "-1"), "--seed -1 is not a whole number from 0 to 2**63 - 1"),
        ((*TOURNAMENT, "--rules", "chess"), "unknown game 'chess'"),
        ((*TOURNAMENT, "--rules", "all-fives:players=5"), "players=5 is not"),
        ((*TOURNAMENT, "--agents", "greedy"), "--agents has 1; give two or more"),
        ((*TOURNAMENT, "--agents", "greedy", "gredy"), "did you mean greedy?"),
        ((*TOURNAMENT, "--agents", "greedy", "model:/nowhere"), "/nowhere"),
        ((*TOURNAMENT, "--anchor", "model:x"), "--anchor model:x does not play"),
        ((*TOURNAMENT, "--schedule", "swiss"), "swiss is not one of round-robin, gauntlet, tables"),
        ((*TOURNAMENT, "--workers", "0"), "--workers 0 is not a whole number from 1 up"),
        ((*TOURNAMENT, "--sprt", "9", "2"), "--sprt 9 2: give two differences in Elo points"),
        (("replay", "--results", "OUT"), "is not there; give the --out folder of a tournament"),
        (("export", "--results", "OUT", "--out", "x.txt"), "must end in .csv or .parquet"),
        ((*TOURNAMENT[:-1], "FILE"), "cannot be used"),
        (("benchmark", "--seconds", "0"), "--seconds 0 must be more than 0"),
        (("benchmark", "--json", "OUT"), "is a folder"),
        (("report", "--demo", "/nowhere"), "--demo /nowhere is not a folder"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    (tmp_path / "file").touch()
    places = {"OUT": str(tmp_path), "FILE": str(tmp_path / "file")}
    with pytest.raises(SystemExit) as stop:
        main([places.get(argument, argument) for argument in arguments])
    said = capsys.readouterr()
    assert stop.value.code == 2
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert message in said.err


def test_bad_input_is_one_line_in_ascii_too() -> None:
    command = [sys.executable, "-m", "eval", "tournament"]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=ascii_only)
    assert done.returncode == 2
    assert done.stderr.startswith("error: Missing from python -m eval tournament: --agents ")
    assert "--" * 4 not in done.stderr


@pytest.mark.parametrize("command", ["tournament", "replay", "export", "benchmark", "report"])
def test_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"python -m eval {command}" in capsys.readouterr().out


def test_interruption_is_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eval.arena.paired.play_meeting", interrupted)
    with pytest.raises(SystemExit) as stop:
        main([*TOURNAMENT[:-1], str(tmp_path)])
    assert stop.value.code == 130
    assert "the same command goes on" in capsys.readouterr().err
