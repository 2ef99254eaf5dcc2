"""``python -m train``: help, one line for bad input, Ctrl-C."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agents.model import load_model
from train.__main__ import main
from train.sb3.config import Learner, Sb3


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert "usage: python -m train COMMAND" in capsys.readouterr().out


def test_help_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["sb3", "--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    for option in ("--rules", "--opponents", "--minutes", "--seed", "--out", "--learner.num-envs"):
        assert option in shown


@pytest.mark.parametrize("command", ["train selfplay --help", "eval tournament --help", "agents"])
def test_nothing_is_said_when_nobody_reads_on(command: str) -> None:
    """As in ``python -m train selfplay --help | head``."""
    nobody_reads, written = os.pipe()
    os.close(nobody_reads)
    arguments = [sys.executable, "-m", *command.split()]
    done = subprocess.run(arguments, stdout=written, stderr=subprocess.PIPE, text=True)
    os.close(written)
    assert done.stderr == ""
    assert done.returncode in (1, 141)  # 1: rich notices first


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("sb4", "unknown command 'sb4'; there are: selfplay, sb3, exploit, export"),
        ("sb3 --rules fives-and-threes", "--out"),
        ("sb3 --out {out}", "--rules"),
        (
            "sb3 --rules five-and-threes --out {out}",
            "unknown game 'five-and-threes'; did you mean fives-and-threes?",
        ),
        ("sb3 --rules all-fives:foo=1 --out {out}", "unknown option 'foo'"),
        ("sb3 --rules all-fives --out {out} --minutes soon", "'soon'"),
        ("sb3 --rules all-fives --out {out} --minutes -1", "minutes=-1.0 is not a number above 0"),
        ("sb3 --rules all-fives --out {out} --decisions 0", "decisions=0 is not a number from 1"),
        ("sb3 --rules all-fives --out {out} --seed -1", "seed=-1 is not a whole number"),
        ("sb3 --rules all-fives --out {out} --opponents greedi", "did you mean greedy?"),
        ("sb3 --rules all-fives --out {out} --opponents model:/nowhere", "no model in '/nowhere'"),
        (
            "sb3 --rules all-fives --out {out} --opponents self greedy self",
            "opponent self is named twice",
        ),
        ("sb3 --rules all-fives --out {out} --pool.matchmaking elo", "'elo' is not one of uniform"),
        ("sb3 --resume {out}", "config.json cannot be read: No such file"),
        ("sb3 --rules all-fives --out {out} --episodes days", "'days' is not one of rounds"),
        ("sb3 --rules all-fives --out {out} --learner.gamma 2", "gamma=2.0 is not from 0 to 1"),
        ("sb3 --rules all-fives --out {out} --nonsense 1", "--nonsense"),
        ("sb3 --rules all-fives --out {full}", "is not empty"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "file").touch()
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as stop:
        main(arguments.format(out=out, full=full).split())
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert says in said
    assert not out.exists()


@pytest.mark.parametrize(
    "options",
    [{"num_envs": 0}, {"batch_size": 0}, {"learning_rate": -1}, {"hidden": ()}, {"hidden": (0,)}],
)
def test_settings_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Learner(**options)  # type: ignore[arg-type]


def test_limits() -> None:
    assert Sb3("all-fives", Path("x")).seconds == 150
    assert Sb3("all-fives", Path("x"), minutes=1).seconds == 60
    assert Sb3("all-fives", Path("x"), decisions=9).seconds == float("inf")


def test_ctrl_c_saves_and_leaves_and_a_killed_run_leaves_a_model(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = "-m train sb3 --rules fives-and-threes --decisions 100000000 --threads 1 --pairs 4"
    tiny = "--learner.num-envs 16 --learner.num-steps 16 --learner.hidden 32"
    arguments = [sys.executable, *command.split(), *tiny.split(), "--out", str(out)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        _wait_for(out / "progress.csv", process)
        shutil.copytree(out, tmp_path / "killed")  # what kill -9 would leave at this moment
        os.kill(process.pid, signal.SIGINT)
        printed, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "play it as model:" in printed
    assert "interrupted after" in (out / "train.log").read_text()
    assert load_model(out).card.training["decisions"] > 0
    assert load_model(tmp_path / "killed").card.rules == "fives-and-threes:players=2,target=61"


def _wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Until there is something in the file."""
    until = time.monotonic() + 120
    while not (path.exists() and path.stat().st_size):
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.1)
