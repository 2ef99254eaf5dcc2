"""Self-play on Ray: what comes of it is the same, and workers that are killed change nothing."""

import csv
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.model import ModelAgent, load_model
from eval.arena import paired as arena
from fives_env.policies import BuiltIn
from fives_env.rules import Rules
from tests.agents.material import random_card
from train.__main__ import main
from train.run.checkpoint import read_checkpoint
from train.run.evaluation import measure
from train.run.pool import Pool
from train.run.settings import Resume
from train.selfplay import workers_ray
from train.selfplay.config import Learner, Selfplay
from train.selfplay.trainer import SelfplayTrainer, run
from train.selfplay.workers import HERE, cluster_of
from train.selfplay.workers_ray import RayWorkers

pytest.importorskip("ray")
RULES = Rules.from_spec("fives-and-threes")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster for two workers."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    yield cluster.address
    cluster.shutdown()


def settings(out: Path, **options: Any) -> Selfplay:
    learner = Learner(
        num_envs=128,
        num_steps=16,
        batch_size=512,
        num_epochs=2,
        hidden=(64,),
        critic_hidden=(32,),
    )
    few = {
        "rules": "fives-and-threes",
        "decisions": 24_000,
        "pairs": 4,
        "final_pairs": 8,
        "salt": 1,
    }
    return Selfplay(**{**few, "out": out, "threads": 1, "learner": learner, **options})


class Unlucky(RayWorkers):
    """Loses its last worker, before or in the midst of the third rollout."""

    delay = 0.0
    rollouts = 0

    def collect(self, *rollout: Any) -> float:
        self.rollouts += 1
        if self.rollouts == 3:
            threading.Timer(self.delay, self._ray.kill, (self.actors[-1],)).start()
        return super().collect(*rollout)


class Interrupted(Unlucky):
    """And two rollouts later somebody presses Ctrl-C."""

    def collect(self, *rollout: Any) -> float:
        took = super().collect(*rollout)
        if self.rollouts == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return took


def test_one_worker_that_is_killed_and_a_resume_are_the_same_to_the_bit(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = {
        "decisions": 14_000,
        "opponents": ("greedy", "self"),
        "share": 0.1,
        "pool": Pool(every=4096, size=2, matchmaking="prioritised"),
        "rules": "fives-and-threes:players=3",
    }
    run(settings(tmp_path / "here", **league))
    with monkeypatch.context() as patch:
        patch.setattr(workers_ray, "RayWorkers", Interrupted)
        assert run(settings(tmp_path / "ray", ray=address, workers=1, **league)) == 130
    assert run(Resume(tmp_path / "ray")) == 0
    assert "worker 0 was lost" in (tmp_path / "ray/train.log").read_text()
    (ours, facts), (theirs, same) = map(read_checkpoint, (tmp_path / "here", tmp_path / "ray"))
    assert same["clock"]["decisions"] == facts["clock"]["decisions"] == 14_336
    assert facts["league"] == same["league"]
    assert min(sum(results) for results in facts["league"]["totals"].values()) > 10
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name], err_msg=name)


def test_two_workers_train_as_well_although_one_is_killed(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(settings(tmp_path / "here"))
    monkeypatch.setattr(workers_ray, "RayWorkers", Unlucky)
    monkeypatch.setattr(Unlucky, "delay", 0.03)
    assert run(settings(tmp_path / "ray", ray=address, workers=2)) == 0
    assert "worker 1 was lost" in (tmp_path / "ray/train.log").read_text()
    strengths, entropies = [], []
    for name in ("here", "ray"):
        assert read_checkpoint(tmp_path / name)[1]["clock"]["decisions"] == 24_576
        agent = load_model(tmp_path / name)
        strengths.append(measure(RULES, agent, BuiltIn("random"), seed=9, pairs=500, salt=1))
        with (tmp_path / name / "progress.csv").open() as file:
            entropies.append([float(row["entropy"]) for row in csv.DictReader(file)])
    here, ray = strengths
    assert here["low"] > 0.5
    assert max(here["low"], ray["low"]) < min(here["high"], ray["high"])
    np.testing.assert_allclose(*entropies, rtol=0.05)


def test_two_workers_play_the_deals_of_one(tmp_path: Path, address: str) -> None:
    config = settings(tmp_path / "unused", ray=address)
    ours, theirs = SelfplayTrainer(config), SelfplayTrainer(config)
    here, there = ours.memory, theirs.memory
    network = ours.agent()
    agent = ModelAgent(network, random_card(RULES.spec, network))
    with cluster_of(config) as ray:
        workers = RayWorkers(ray, 2, logging.getLogger())
        for state in (ours, theirs):
            state.tables.begin()
        for _ in range(2):
            HERE.collect(ours.tables, ours.network, here)
            assert workers.collect(theirs.tables, theirs.network, there) > 0
            # Other batch sizes are rounded otherwise, which can turn a choice.
            same = (here.chosen == there.chosen).all(axis=0)
            assert same.mean() > 0.9
            np.testing.assert_array_equal(here.rows[:, same], there.rows[:, same])
            np.testing.assert_array_equal(here.rewards[:, same], there.rewards[:, same])
            np.testing.assert_allclose(
                here.log_chances[:, same], there.log_chances[:, same], atol=1e-5
            )
        pairs = np.arange(5)
        matches = workers.play(RULES, agent, BuiltIn("greedy"), 3, pairs, 1)
        expected = arena.play(RULES, agent, BuiltIn("greedy"), 3, pairs, 1)
        for name, values in vars(expected).items():
            np.testing.assert_array_equal(values, getattr(matches, name), err_msg=name)
        three = Rules.from_spec("fives-and-threes:players=3")
        with pytest.raises(ValueError, match="is asked to play") as refusal:
            workers.play(three, agent, BuiltIn("greedy"), 3, pairs, 1)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--ray 127.0.0.1:1", "--ray 127.0.0.1:1: there is no such cluster"),
        ("--ray local --workers 0", "workers=0 is not a number from 1 up"),
        ("--ray local --workers 2000", "workers=2000 is more than the number of games, 1024"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    options: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    with pytest.raises(SystemExit):
        main(f"selfplay --rules fives-and-threes --out {out} {options}".split())
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_without_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SystemExit):
        main(f"selfplay --rules fives-and-threes --ray local --out {tmp_path / 'run'}".split())
    said = capsys.readouterr().err
    assert said.startswith("error: --ray needs Ray; run: pip install --group ray")
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()
