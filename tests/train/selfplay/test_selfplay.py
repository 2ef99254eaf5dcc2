"""``python -m train selfplay``: what it leaves, that it learns, goes on and can be repeated."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.tensorboard import SummaryWriter  # noqa: F401  # loaded before time counts

from agents.heuristics.tactic import advise
from agents.model import load_model
from eval.arena.paired import play
from eval.run_files import EVALUATION_COLUMNS
from eval.stats.scores import score
from fives_env.encoding import encode
from fives_env.engine.features import FEATURES
from fives_env.policies import BuiltIn
from fives_env.rules import Rules
from tests.agents.material import positions
from train.__main__ import main
from train.run.checkpoint import CHECKPOINT, read_checkpoint
from train.run.pool import Pool
from train.run.settings import Resume
from train.selfplay.config import Learner, Selfplay
from train.selfplay.trainer import SelfplayTrainer, log_softmax, run

TINY = Learner(
    num_envs=32,
    num_steps=8,
    batch_size=64,
    num_epochs=1,
    hidden=(32, 32),
    critic_hidden=(32,),
)


def tiny(out: Path, **options: Any) -> Selfplay:
    """A run of a second."""
    settings = {"rules": "fives-and-threes", "decisions": 1024, "pairs": 4, "final_pairs": 8}
    return Selfplay(**{**settings, "out": out, "salt": 1, "threads": 1, "learner": TINY, **options})


def weights(run_folder: Path) -> bytes:
    return (run_folder / "model/weights.safetensors").read_bytes()


def test_leaves_a_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert run(tiny(out, seed=3)) == 0
    said = capsys.readouterr()
    assert said.out.startswith("1,024 decisions in ")
    assert f"play it as model:{out}" in said.out
    assert json.loads((out / "config.json").read_text())["learner"]["num_envs"] == 32
    assert json.loads((out / "versions.json").read_text())["torch"] == torch.__version__
    for picture in ("strength.png", "speed.png"):
        assert (out / picture).read_bytes().startswith(b"\x89PNG")
    assert list(out.glob("tensorboard/events.*"))
    with (out / "progress.csv").open() as file:
        updates = list(csv.DictReader(file))
    assert [int(row["decisions"]) for row in updates] == [256, 512, 768, 1024]
    assert all(np.isfinite(float(value)) for row in updates for value in row.values())
    assert 0 <= float(updates[-1]["outside_network"]) <= 1
    with (out / "evaluations.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == EVALUATION_COLUMNS
    assert [(row["decisions"], row["opponent"], row["pairs"]) for row in rows] == [
        ("0", "greedy", "4"),
        ("1024", "greedy", "8"),
    ]
    assert float(rows[1]["points_low"]) < float(rows[1]["points_high"])
    card = load_model(out).card
    assert card.rules == "fives-and-threes:players=2,target=61"
    assert card.training["algorithm"] == "self-play PPO"
    assert card.training["decisions"] == 1024
    assert card.strength[0]["opponent"] == "greedy"


@pytest.mark.parametrize(
    "rules",
    [
        "fives-and-threes:players=4",
        "threes-and-fives:players=3",
        "all-fives:players=4,partners=yes",
        "threes-and-fives:draw=optional",
        "fives-and-threes:max_pip=3,deal=3",
    ],
)
def test_trains_in_every_game(rules: str, tmp_path: Path) -> None:
    assert run(tiny(tmp_path / "run", rules=rules, decisions=512)) == 0
    agent = load_model(tmp_path / "run")
    _, facts = read_checkpoint(tmp_path / "run")
    assert facts["clock"]["decisions"] == 512
    assert np.isfinite(agent.network.trunk[0].weight).all()


def test_a_game_is_a_round_or_a_whole_match(tmp_path: Path) -> None:
    later_rounds = {}
    for episodes in ("rounds", "matches"):
        state = SelfplayTrainer(tiny(tmp_path / episodes, episodes=episodes))
        state.tables.begin()
        for _ in range(6):
            state.update()
        later_rounds[episodes] = state.tables.games.data["round"].max()
    assert later_rounds["rounds"] == 0 < later_rounds["matches"]


def test_with_rounds_alone_scores_are_not_looked_at(tmp_path: Path) -> None:
    learner = replace(TINY, advice=False)
    run(tiny(tmp_path, rules="fives-and-threes:mode=round", learner=learner))
    agent = load_model(tmp_path)
    assert agent.card.rules == "fives-and-threes:players=2,target=61,mode=round"
    features = encode(positions("fives-and-threes")[0])
    others = features.copy()
    for block in ("scores", "missing", "near"):
        others[:, FEATURES[block]] = np.random.default_rng(0).random(4 if block != "near" else 64)
    np.testing.assert_array_equal(agent.network.logits(features), agent.network.logits(others))


def test_threads_change_no_game(tmp_path: Path) -> None:
    played = []
    for threads in (1, 3):
        state = SelfplayTrainer(tiny(tmp_path / str(threads), threads=threads))
        torch.set_num_threads(1)  # several round differently
        state.tables.begin()
        state.update()
        played.append((state.tables.games.data.tobytes(), state.memory.rows.tobytes()))
    assert played[0] == played[1]


def test_equal_seeds_give_equal_weights(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(tiny(tmp_path / name, seed=seed))
    assert weights(tmp_path / "a") == weights(tmp_path / "b") != weights(tmp_path / "c")


@pytest.mark.parametrize(("value", "episodes"), [("points", "rounds"), ("equity", "matches")])
def test_a_killed_run_goes_on_to_the_same_weights(
    value: str, episodes: str, tmp_path: Path
) -> None:
    """kill -9 in the middle; what is written after the last checkpoint is done over."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    run(tiny(whole, decisions=4096, checkpoint_every=0.0, value=value, episodes=episodes))
    command = f"-m train selfplay --rules fives-and-threes --threads 1 --out {killed} --pairs 4"
    command += f" --value {value} --episodes {episodes}"
    limits = "--decisions 4096 --final-pairs 8 --checkpoint-every 0"
    learner = "--learner.num-envs 32 --learner.num-steps 8 --learner.batch-size 64"
    sizes = "--learner.num-epochs 1 --learner.hidden 32 32 --learner.critic-hidden 32"
    arguments = [sys.executable, *f"{command} {limits} {learner} {sizes}".split()]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _wait_for_lines(killed / "progress.csv", 4, process)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()
    _, facts = read_checkpoint(killed)
    assert 256 <= facts["clock"]["decisions"] < 4096
    with (killed / "progress.csv").open("a") as file:
        file.write("2304,5.")  # a line that was cut
    assert run(Resume(killed)) == 0
    assert weights(killed) == weights(whole)
    ours, theirs = (read_checkpoint(folder)[0] for folder in (whole, killed))
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name], err_msg=name)
    with (killed / "progress.csv").open() as file:
        decisions = [int(row["decisions"]) for row in csv.DictReader(file)]
    assert decisions == list(range(256, 4097, 256))


def test_a_run_that_is_done_can_be_taken_further(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tiny(tmp_path))
    assert run(Resume(tmp_path)) == 0
    assert "is done" in capsys.readouterr().out
    assert main(["selfplay", "--resume", str(tmp_path), "--decisions", "1280"]) == 0
    assert "\n1,280 decisions in " in capsys.readouterr().out
    _, facts = read_checkpoint(tmp_path)
    assert facts["clock"]["decisions"] == 1280
    assert json.loads((tmp_path / "config.json").read_text())["decisions"] == 1280


def test_ctrl_c_saves_and_leaves(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = f"-m train selfplay --rules fives-and-threes --decisions 100000000 --out {out}"
    small = "--pairs 4 --threads 1 --learner.num-envs 32 --learner.num-steps 8"
    arguments = [sys.executable, *f"{command} {small} --learner.hidden 32".split()]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        _wait_for_lines(out / "progress.csv", 2, process)
        os.kill(process.pid, signal.SIGINT)
        printed, said = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "play it as model:" in printed
    assert "interrupted after" in (out / "train.log").read_text()
    _, facts = read_checkpoint(out)
    assert facts["clock"]["decisions"] == load_model(out).card.training["decisions"] > 0
    assert not facts["done"]


def test_a_league_shares_the_tables_and_survives_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {
        "opponents": ("greedy", "self"),
        "share": 0.5,
        "pool": Pool(every=512, size=2, matchmaking="prioritised"),
        "rules": "fives-and-threes:players=3",
        "checkpoint_every": 0.0,
        "decisions": 2048,
    }
    run(tiny(tmp_path / "whole", **settings))
    updates, update = 0, SelfplayTrainer.update

    def crashes(trainer: SelfplayTrainer) -> dict[str, float]:
        nonlocal updates
        updates += 1
        if updates == 5:
            raise RuntimeError("no power")
        return update(trainer)

    monkeypatch.setattr(SelfplayTrainer, "update", crashes)
    with pytest.raises(RuntimeError, match="no power"):
        run(tiny(tmp_path / "parts", **settings))
    monkeypatch.undo()
    assert run(Resume(tmp_path / "parts")) == 0
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")
    (_, ours), (_, theirs) = (read_checkpoint(tmp_path / name) for name in ("whole", "parts"))
    assert ours["league"] == theirs["league"]
    assert ours["league"]["num_snapshots"] == 5
    assert min(sum(games) for games in ours["league"]["totals"].values()) > 10


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("selfplay --rules fives-and-threes", "--out"),
        ("selfplay --rules five-and-threes --out {out}", "unknown game 'five-and-threes'"),
        ("selfplay --rules all-fives --out {out} --minutes -1", "minutes=-1.0 is not a number"),
        ("selfplay --rules all-fives --out {out} --value money", "'money' is not one of points"),
        ("selfplay --rules all-fives --out {out} --device tpu", "'tpu' is not one of auto"),
        ("selfplay --rules all-fives --out {out} --learner.credit x", "'x' is not one of side"),
        ("selfplay --rules all-fives --out {out} --episodes days", "'days' is not one of rounds"),
        ("selfplay --rules all-fives:mode=round --out {out} --value equity", "has no matches"),
        ("selfplay --rules all-fives:mode=round --out {out} --episodes matches", "has no matches"),
        ("selfplay --rules all-fives --out {full}", "is not empty"),
        ("selfplay --rules all-fives:players=3 --value equity --out {out}", "two sides"),
        ("selfplay --resume {out}", "cannot be read"),
        ("selfplay --resume {full}", "config.json"),
        ("selfplay --resume {full} --rules all-fives", "--rules"),
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


def test_damaged_and_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    run(tiny(tmp_path, decisions=256))
    path = tmp_path / CHECKPOINT
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match="is not a whole checkpoint"):
        run(Resume(tmp_path, decisions=512))
    path.write_bytes(b"\x80\x04cos\nsystem\n")  # a pickle
    with pytest.raises(ValueError, match="is not a whole checkpoint"):
        run(Resume(tmp_path, decisions=512))
    path.unlink()
    with pytest.raises(ValueError, match="there is no checkpoint"):
        run(Resume(tmp_path, decisions=512))
    path.write_bytes(content)
    settings = json.loads((tmp_path / "config.json").read_text())
    settings["learner"]["hidden"] = [16]
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match=r"learner.hidden=\[32, 32\], config.json says \[16\]"):
        run(Resume(tmp_path, decisions=512))


@pytest.mark.parametrize("advice", [True, False])
@pytest.mark.parametrize("rules", ["fives-and-threes", "all-fives:players=4,partners=yes"])
def test_the_exported_network_is_the_trained_one(rules: str, advice: bool) -> None:
    settings = tiny(Path("unused"), rules=rules, learner=replace(TINY, advice=advice))
    state = SelfplayTrainer(settings)
    network, columns = state.network, state.tables.columns
    network.points.data += 0.2
    if network.advice is not None:
        network.advice.data += 0.3
    views = positions(rules)[0]
    features = encode(views)
    if advice:
        features = np.hstack([features, advise(views)])
    exported = network.export(columns, unit=3.0)
    rows = np.zeros((len(features), columns.width), np.float32)
    rows[:, : network.live] = features[:, columns.features] * columns.scale
    with torch.no_grad():
        logits, values = network.act(torch.from_numpy(rows))
    ours = exported.logits(features)[:, columns.actions]
    # What is constant in training is left out, and a match shows other constants than a round.
    np.testing.assert_allclose(ours, logits.numpy(), atol=1e-4)
    np.testing.assert_allclose(exported.values(features), 3 * values[:, 0].numpy(), atol=1e-3)


def test_B15_chances_are_finite_whatever_the_logits() -> None:
    generator = torch.Generator().manual_seed(0)
    for size in (1e-6, 1.0, 1e2, 1e4):
        for num_legal in (1, 2, 3):
            logits = (size * torch.randn(64, 56, generator=generator)).requires_grad_()
            legal = torch.zeros(64, 56, dtype=torch.bool)
            for row in range(64):
                legal[row, torch.randperm(56, generator=generator)[:num_legal]] = True
            chances = log_softmax(logits, legal)
            assert torch.isfinite(chances).all()
            np.testing.assert_allclose(chances.exp().sum(1).detach(), 1, atol=1e-5)
            assert (chances.exp()[~legal] == 0).all()
            entropy = -(chances.exp() * chances).sum(dim=1).mean()
            (entropy + chances[legal].sum()).backward()
            assert torch.isfinite(logits.grad).all()  # type: ignore[arg-type]


def test_smoke_beats_random_after_a_fixed_number_of_decisions(tmp_path: Path) -> None:
    learner = replace(TINY, num_envs=256, num_steps=16, batch_size=512, hidden=(128,))
    run(tiny(tmp_path, decisions=30_000, learner=learner))
    rules = Rules.from_spec("fives-and-threes")
    matches = play(rules, load_model(tmp_path), BuiltIn("random"), seed=99, pairs=np.arange(200))
    assert score(matches, rules).low > 0.75


def _wait_for_lines(path: Path, lines: int, process: subprocess.Popen[Any]) -> None:
    until = time.monotonic() + 300
    while not (path.exists() and path.read_bytes().count(b"\n") >= lines):
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
