"""Runs that come back, or say why not: X20 to X23, for both trainers."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from agents.locks import LOCK, hold
from agents.model import load_model
from eval.commands import Tournament
from eval.tournament.command import run as tournament
from tests.agents.material import positions
from train.__main__ import main
from train.run.checkpoint import CHECKPOINT, read_checkpoint
from train.run.clock import Clock
from train.run.settings import Resume
from train.sb3.config import Learner, Sb3

RULES = "fives-and-threes"
COMMON = f"--rules {RULES} --pairs 2 --final-pairs 2 --threads 1"
SMALL = {
    "selfplay": f"{COMMON} --learner.num-envs 32 --learner.num-steps 8 --learner.hidden 32 "
    "--learner.critic-hidden 16 --learner.batch-size 128",
    "sb3": f"{COMMON} --learner.num-envs 16 --learner.num-steps 16 --learner.batch-size 128 "
    "--learner.hidden 32",
}
BOTH = pytest.mark.parametrize("trainer", SMALL)


def train(trainer: str, out: Path, options: str = "--decisions 512") -> int:
    return main([trainer, *SMALL[trainer].split(), *options.split(), "--out", str(out)])


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which `python -m train` refuses these arguments."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    return said


def change_checkpoint(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Writes the checkpoint again with other facts, as another version would have."""
    path = run / CHECKPOINT
    with safe_open(path, "numpy") as file:
        facts = json.loads(file.metadata()["facts"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(facts)
    save_file(tensors, path, {"facts": json.dumps(facts)})


def start(trainer: str, out: Path, ready: str) -> subprocess.Popen[bytes]:
    """A long run in a process of its own, once `ready` is in its folder."""
    arguments = [*SMALL[trainer].split(), "--minutes", "30", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "train", trainer, *arguments], stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 120
    while not (out / ready).exists():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    return process


@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [("OBS_VERSION", 99), ("feature layout", "0"), ("record of a game", "0"), ("rules", None)],
)
def test_X20_another_meaning_is_refused(
    trainer: str, name: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(trainer, tmp_path / "run")
    part, expected = ("settings", "all-fives") if name == "rules" else ("meaning", value)
    change_checkpoint(tmp_path / "run", lambda facts: facts[part].update({name: expected}))
    before = sorted((tmp_path / "run").rglob("*"))
    said = refusal(capsys, trainer, "--resume", str(tmp_path / "run"), "--decisions", "1024")
    assert name in said
    assert "config.json says" in said if name == "rules" else "does not fit this version" in said
    assert sorted((tmp_path / "run").rglob("*")) == before


@BOTH
def test_X20_settings_that_are_strange_missing_or_wrong_are_named(
    trainer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(trainer, tmp_path)
    path = tmp_path / "config.json"
    text = path.read_text()
    for change, says in (
        (lambda own: own["pool"].update(elo=1), "setting pool.'elo' is not known"),
        (lambda own: own.pop("pairs"), "setting pairs is missing"),
        (lambda own: own.update(pairs="many"), "setting pairs is 'many'"),
        (lambda own: own.update(pairs=True), "setting pairs is True"),
        (lambda own: own.update(pool=3), "setting pool is 3, not an object"),
    ):
        own = json.loads(text)
        change(own)
        path.write_text(json.dumps(own))
        assert says in refusal(capsys, trainer, "--resume", str(tmp_path))


@BOTH
def test_X21_the_learning_rate_of_a_run_that_is_extended_does_not_jump(
    trainer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(trainer, tmp_path, "--decisions 2048")
    resume = [trainer, "--resume", str(tmp_path), "--decisions", "4096"]
    assert main(resume) == 0
    assert "the learning rate goes on from" in capsys.readouterr().out
    rates = learning_rates(tmp_path)
    assert len(rates) > 12
    assert (np.diff(rates) < 1e-9).all()
    assert rates[8] == pytest.approx(rates[7], rel=0.2)
    assert rates[-1] < rates[8] / 3
    assert main([*resume[:3], "--decisions", "6144", "--learning-rate", "1e-3"]) == 0
    assert 1e-3 in [pytest.approx(rate) for rate in learning_rates(tmp_path)[len(rates) :]]


def learning_rates(run: Path) -> list[float]:
    with (run / "progress.csv").open() as file:
        return [float(row["learning_rate"]) for row in csv.DictReader(file)]


def test_X21_the_clock_falls_evenly_and_goes_on_after_any_change_of_limits() -> None:
    clock = Clock(float("inf"), 100)
    clock.decisions = 80
    assert clock.anneal() == pytest.approx(0.2)
    longer = Clock(float("inf"), 200)
    longer.restore(clock.state())
    longer.extend(longer.annealed)
    assert longer.anneal() == pytest.approx(0.2)
    longer.decisions = 140
    assert longer.anneal() == pytest.approx(0.1)
    again = Clock(float("inf"), 200)
    again.restore(longer.state())
    assert again.anneal() == longer.anneal()
    longer.decisions = 200
    assert longer.anneal() == 0


@BOTH
@pytest.mark.parametrize("way", ["--resume", "the same command"])
def test_X22_a_run_that_was_killed_before_its_first_checkpoint_goes_on(
    trainer: str, way: str, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    process = start(trainer, out, "config.json")
    process.kill()
    process.wait()
    assert not (out / CHECKPOINT).exists()
    if way == "--resume":
        assert main([trainer, "--resume", str(out), "--minutes", "0.01"]) == 0
    else:
        assert train(trainer, out) == 0
    assert read_checkpoint(out)[1]["clock"]["decisions"] > 0
    assert load_model(out).card.training["decisions"] > 0


@BOTH
def test_a_run_that_ended_by_its_time_is_done(
    trainer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(trainer, tmp_path, "--minutes 0.02")
    before = (tmp_path / CHECKPOINT).read_bytes()
    capsys.readouterr()
    assert main([trainer, "--resume", str(tmp_path)]) == 0
    assert "is done" in capsys.readouterr().out
    assert (tmp_path / CHECKPOINT).read_bytes() == before


@BOTH
def test_X22_a_run_that_has_learned_is_not_begun_again(
    trainer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(trainer, tmp_path)
    (tmp_path / CHECKPOINT).unlink()
    model = (tmp_path / "model" / "weights.safetensors").read_bytes()
    again = [trainer, *SMALL[trainer].split(), "--decisions", "512", "--out", str(tmp_path)]
    assert "is not empty" in refusal(capsys, *again)
    assert "there is no checkpoint" in refusal(capsys, trainer, "--resume", str(tmp_path))
    assert (tmp_path / "model" / "weights.safetensors").read_bytes() == model


@BOTH
def test_X23_a_folder_in_use_is_refused_and_a_stale_lock_is_not(
    trainer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = start(trainer, tmp_path / "run", CHECKPOINT)
    try:
        said = refusal(capsys, trainer, "--resume", str(tmp_path / "run"))
        assert f"is being written to by process {process.pid} on " in said
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (tmp_path / "run" / LOCK).exists()
    copied = shutil.copytree(tmp_path / "run", tmp_path / "copied")
    for run in (tmp_path / "run", copied):
        assert main([trainer, "--resume", str(run), "--decisions", "1", "--minutes", "0.001"]) == 0


def test_X23_an_exploiter_and_a_tournament_have_one_writer_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with hold(tmp_path):
        said = refusal(capsys, "exploit", "greedy", "--out", str(tmp_path / "x"), "--pairs", "1")
        assert "--pairs 1 is not" in said
        assert f"process {os.getpid()} on " in refusal(
            capsys, "exploit", "greedy", "--out", str(tmp_path)
        )
        options = Tournament(agents=("greedy", "random"), pairs=2, seed=0, out=tmp_path)
        with pytest.raises(ValueError, match=f"is being written to by process {os.getpid()} on "):
            tournament(options)
    assert not (tmp_path / LOCK).exists()
    tournament(options)


def test_X29_a_folder_that_cannot_be_is_found_out_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for trainer in SMALL:
        out = str(tmp_path / "file" / "run")
        said = refusal(capsys, trainer, *SMALL[trainer].split(), "--out", out)
        assert "cannot be a run folder" in said
    assert "cannot be a run folder" in refusal(capsys, "exploit", "greedy", "--out", out)


@BOTH
def test_a_run_starts_from_a_model(
    trainer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of equal choices at first, whatever else the settings say; the file's model stays."""
    train(trainer, tmp_path / "first", "--decisions 1024")
    first = load_model(tmp_path / "first")
    model = f"model:{tmp_path / 'first'}"
    assert (
        train(
            trainer, tmp_path / "next", f"--decisions 256 --init {model} --learner.learning-rate 0"
        )
        == 0
    )
    views, _, _ = positions(RULES)
    following = load_model(tmp_path / "next")
    np.testing.assert_allclose(
        following.network.logits(following.inputs(views)),
        first.network.logits(first.inputs(views)),
        atol=1e-4,
    )
    arguments = [trainer, *SMALL[trainer].split(), "--out", str(tmp_path / "none"), "--init"]
    assert "is no model" in refusal(capsys, *arguments, "greedy")
    assert "which has players=4" in refusal(capsys, *arguments, "model:fives-and-threes-4-partners")
    changed = " ".join(arguments).replace("--learner.hidden 32", "--learner.hidden 16").split()
    assert "its trunk.0 layer is" in refusal(capsys, *changed, model)
    assert not (tmp_path / "none").exists()


def test_X21_a_rate_that_is_asked_for_counts_where_the_limits_stay_too(tmp_path: Path) -> None:
    config = Sb3(RULES, tmp_path, decisions=100, learner=Learner(learning_rate=2e-3))
    clock = Clock(float("inf"), 100)
    clock.decisions = 50
    said = Resume(tmp_path, decisions=100, learning_rate=1e-3).extend(
        clock, {"minutes": None, "decisions": 100}, config
    )
    assert "goes on from 0.001 " in said
    assert clock.anneal() == pytest.approx(0.5)
