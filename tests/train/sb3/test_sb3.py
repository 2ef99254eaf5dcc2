"""``python -m train sb3``: what it leaves, that it learns, and that seeds keep parts apart."""

import csv
import json
import pickle
import re
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import VecNormalize

from agents.model import load_model
from eval.arena.paired import play
from eval.run_files import EVALUATION_COLUMNS
from eval.stats.scores import score
from fives_env.encoding import encode
from fives_env.engine.features import FEATURES
from fives_env.policies import BuiltIn
from fives_env.rules import Rules
from tests.agents.material import Array, positions, random_model
from tests.agents.test_model import Canary
from train.league.league import League, league_of
from train.run.clock import Clock
from train.run.pool import Pool
from train.run.seeds import derive
from train.run.settings import Resume
from train.sb3.config import Learner, Sb3
from train.sb3.networks import export
from train.sb3.trainer import make_envs, make_model, run

TINY = Learner(num_envs=16, num_steps=16, batch_size=128, num_epochs=1, hidden=(32, 32))


def tiny(out: Path, **options: Any) -> Sb3:
    """A run of a second."""
    settings = {"rules": "fives-and-threes", "decisions": 512, "pairs": 4, "final_pairs": 8}
    return Sb3(**{**settings, "out": out, "salt": 1, "threads": 1, "learner": TINY, **options})


def new_envs(config: Sb3) -> VecNormalize:
    return make_envs(config, league_of(config))


def test_leaves_a_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert run(tiny(out, seed=3)) == 0
    said = capsys.readouterr()
    assert "decisions" not in said.err  # nobody watches: no progress bar
    assert said.out.startswith("512 decisions in ")
    assert f"play it as model:{out}" in said.out
    assert json.loads((out / "config.json").read_text())["learner"]["num_envs"] == 16
    versions = json.loads((out / "versions.json").read_text())
    assert versions["torch"] == torch.__version__
    assert versions["commit"]
    assert list(out.glob("tensorboard/events.*"))
    with (out / "progress.csv").open() as file:
        updates = list(csv.DictReader(file))
    assert float(updates[-1]["kl"]) >= 0
    with (out / "evaluations.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == EVALUATION_COLUMNS
    assert [(row["decisions"], row["opponent"], row["pairs"]) for row in rows] == [
        ("0", "random", "4"),
        ("0", "greedy", "4"),
        ("512", "random", "8"),
        ("512", "greedy", "8"),
    ]
    log = (out / "train.log").read_text()
    assert "training on fives-and-threes against greedy" in log
    assert "done after 512 decisions" in log
    card = load_model(out).card
    assert card.rules == "fives-and-threes:players=2,target=61"
    assert card.training["decisions"] == 512
    assert card.training["settings"]["seed"] == 3
    assert card.strength[1]["opponent"] == "greedy"


@pytest.mark.parametrize(
    "rules", ["threes-and-fives:players=3", "all-fives:players=4", "fives-and-threes:players=4"]
)
def test_runs_in_other_games_and_against_a_model(rules: str, tmp_path: Path) -> None:
    assert run(tiny(tmp_path / "first", rules=rules)) == 0
    opponent = f"model:{tmp_path / 'first'},sample=yes"
    second = tiny(tmp_path / "second", rules=rules, opponents=(opponent,), episodes="matches")
    assert run(second) == 0
    assert load_model(tmp_path / "second").card.training["settings"]["opponents"] == [opponent]


def test_equal_seeds_give_equal_weights(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(tiny(tmp_path / name, seed=seed))
    weights = [(tmp_path / name / "model/weights.safetensors").read_bytes() for name in "abc"]
    assert weights[0] == weights[1] != weights[2]


@pytest.mark.parametrize(
    ("rules", "episodes"),
    [
        ("fives-and-threes", "rounds"),
        ("all-fives:players=3,max_rounds=2", "matches"),
        ("threes-and-fives:players=4", "rounds"),
    ],
)
def test_R8_learns_from_a_mixture_with_snapshots_of_itself(
    rules: str, episodes: str, tmp_path: Path
) -> None:
    pool = Pool(every=256, size=2, matchmaking="prioritised", actions="best")
    given = {"rules": rules, "episodes": episodes, "opponents": ("greedy", "self"), "pool": pool}
    for name in "ab":
        run(tiny(tmp_path / name, decisions=1024, seed=1, **given))
    out = tmp_path / "a"
    left = json.loads((out / "pool" / "pool.json").read_text())
    assert left["num_snapshots"] == 5
    assert {name: sum(total) > 0 for name, total in left["totals"].items()} == {
        "greedy": True,
        "self": True,
    }
    snapshots = sorted((out / "pool").glob("snapshot-*"))
    assert snapshots[-1].name == "snapshot-000004"
    weights = [(path / "weights.safetensors").read_bytes() for path in snapshots]
    assert len(set(weights)) == len(weights) >= 2
    last, learner = load_model(snapshots[-1]).network, load_model(out).network
    assert all((a.weight == b.weight).all() for a, b in zip(last.trunk, learner.trunk, strict=True))
    for file in ("model/weights.safetensors", "pool/pool.json"):
        assert (out / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_B47_the_config_and_the_log_name_how_each_role_chooses(tmp_path: Path) -> None:
    run(
        tiny(tmp_path, evaluation="sample", opponents=("self", "random"), pool=Pool(actions="best"))
    )
    settings = json.loads((tmp_path / "config.json").read_text())
    assert settings["evaluation"] == "sample"
    assert settings["pool"]["actions"] == "best"
    log = (tmp_path / "train.log").read_text()
    assert "learner sample, snapshots best, evaluations sample" in log
    assert "against self random" in log
    assert re.search(r"met: self \d+ games, .* won; random \d+ games", log)


def test_R8_every_episode_is_booked_once(tmp_path: Path) -> None:
    """As many as SB3's own monitor has seen end."""
    config = tiny(tmp_path, opponents=("greedy", "random"), decisions=2048)
    seen = []
    book = League.book
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(League, "book", lambda *given: (seen.append(len(given[1])), book(*given)))
        run(config)
    state = json.loads((tmp_path / "pool" / "pool.json").read_text())
    assert sum(map(sum, state["totals"].values())) == sum(seen)
    with (tmp_path / "progress.csv").open() as file:
        length = float(list(csv.DictReader(file))[-1]["length"])
    assert sum(seen) == pytest.approx(2048 / length, rel=0.2)


def test_B53_B54_a_run_leaves_no_pickle_and_opens_none(tmp_path: Path) -> None:
    run(tiny(tmp_path / "run", opponents=("self",)))
    kinds = {".json", ".csv", ".log", ".png", ".safetensors"}
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    others = [path.name for path in files if path.suffix not in kinds]
    assert all(name.startswith("events.out.tfevents") for name in others)
    for path in files:
        assert path.read_bytes()[:2] not in (b"PK", b"\x80\x02", b"\x80\x04", b"\x80\x05")
    model = random_model(tmp_path / "model", "fives-and-threes")
    (model / "weights.safetensors").write_bytes(pickle.dumps(Canary(tmp_path / "opened")))
    with pytest.raises(ValueError, match="is not a safetensors file; no other kind is opened"):
        run(tiny(tmp_path / "second", opponents=("greedy", f"model:{model}")))
    assert not (tmp_path / "opened").exists()
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize("end", ["killed at once", "Ctrl-C"])
def test_B51_a_run_that_goes_on_gives_the_very_same_weights(end: str, tmp_path: Path) -> None:
    """Weights, optimizer, schedule, counts, generators, games in progress and the pool."""
    pool = Pool(every=256, size=2, matchmaking="prioritised")
    config = tiny(tmp_path / "whole", decisions=1280, opponents=("self", "random"), pool=pool)
    assert run(config) == 0
    parted, calls, book = replace(config, out=tmp_path / "parted"), [], League.book

    def stop(*given: Any) -> None:
        book(*given)
        calls.append(given)
        if len(calls) == 40 and end == "Ctrl-C":
            signal.raise_signal(signal.SIGINT)
        elif len(calls) == 40:
            raise MemoryError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(League, "book", stop)
        if end == "Ctrl-C":
            assert run(parted) == 130
        else:
            with pytest.raises(MemoryError):
                run(parted)
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002
    assert run(Resume(parted.out)) == 0
    for file in ("model/weights.safetensors", "pool/pool.json"):
        assert (parted.out / file).read_bytes() == (config.out / file).read_bytes()
    counts = []
    for out in (config.out, parted.out):
        with (out / "progress.csv").open() as file:
            counts.append([float(row["decisions"]) for row in csv.DictReader(file)])
        with (out / "evaluations.csv").open() as file:
            counts[-1] += [float(row["decisions"]) for row in csv.DictReader(file)]
    assert counts[0] == counts[1]
    assert (
        f"going on after {0 if end != 'Ctrl-C' else 768}" in (parted.out / "train.log").read_text()
    )
    assert run(Resume(parted.out)) == 0, "done: nothing happens"
    assert run(Resume(parted.out, decisions=1536)) == 0
    assert load_model(parted.out).card.training["decisions"] == 1536


def test_B54_a_checkpoint_that_is_none_is_refused_and_not_opened(tmp_path: Path) -> None:
    run(tiny(tmp_path / "run", decisions=256))
    path = tmp_path / "run" / "checkpoint.safetensors"
    whole = path.read_bytes()
    for content in (pickle.dumps(Canary(tmp_path / "opened")), whole[:500], b""):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a whole checkpoint"):
            run(Resume(tmp_path / "run", decisions=512))
    assert not (tmp_path / "opened").exists()
    path.write_bytes(whole)
    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    settings["learner"]["hidden"] = [16]
    (tmp_path / "run" / "config.json").write_text(json.dumps(settings))
    with pytest.raises(
        ValueError, match=r"learner.hidden=\[32, 32\], config.json says \[16\]"
    ) as caught:
        run(Resume(tmp_path / "run", decisions=512))
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"config.json cannot be read: No such file"):
        run(Resume(tmp_path / "nothing"))


def test_the_exported_network_is_the_trained_one() -> None:
    model = make_model(tiny(Path("unused")), new_envs(tiny(Path("unused"))), Clock(1, None))
    model.policy.action_net.step.data += 0.2
    features = encode(positions("fives-and-threes")[0])
    network = export(model.policy, value_scale=3.0)
    with torch.no_grad():
        observations = torch.from_numpy(features)
        logits = model.policy.get_distribution(observations).distribution.logits.numpy()
        values = model.policy.predict_values(observations).numpy()[:, 0]
    ours = network.logits(features)
    ours -= np.log(np.exp(ours).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(ours, logits, atol=1e-4)
    np.testing.assert_allclose(network.values(features), 3 * values, atol=1e-3)


def test_what_never_shows_in_training_counts_for_nothing() -> None:
    for episodes, silent in (("rounds", True), ("matches", False)):
        config = tiny(Path("unused"), episodes=episodes)
        network = export(make_model(config, new_envs(config), Clock(1, None)).policy)
        assert (network.trunk[0].weight[FEATURES["rounds_left"]] == 0).all() == silent


def test_B10_tables_play_different_deals_and_never_those_of_evaluations() -> None:
    config = replace(tiny(Path("unused")), seed=3, learner=replace(TINY, num_envs=8))
    hands, again, other = _first_hands(config), _first_hands(config), _first_hands(config, seed=4)
    assert len(set(hands)) == 8
    assert hands == again
    assert not set(hands) & set(other)
    measured = _RecordsHands()
    play(Rules.from_spec(config.rules), measured, measured, derive(3, "evaluation"), np.arange(200))
    assert len(measured.hands) > 300
    assert not measured.hands & set(hands)
    assert derive(3, "training") != derive(3, "evaluation") != derive(4, "evaluation")


def test_refuses_a_folder_with_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("mine")
    with pytest.raises(ValueError, match="is not empty; a run needs a new or an empty folder"):
        run(tiny(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["note"]
    with pytest.raises(ValueError, match="cannot be a run folder"):
        run(tiny(tmp_path / "note" / "run"))


def test_refuses_an_opponent_of_another_game_before_anything_is_written(tmp_path: Path) -> None:
    random_model(tmp_path / "model", "all-fives")
    with pytest.raises(
        ValueError, match=r"trained for All Fives .* asked to play Fives and Threes"
    ):
        run(tiny(tmp_path / "run", opponents=(f"model:{tmp_path / 'model'}",)))
    assert not (tmp_path / "run").exists()


def test_smoke_beats_random_after_a_fixed_number_of_decisions(tmp_path: Path) -> None:
    """Fixed decisions, not time: the same result on a busy machine."""
    learner = Learner(num_envs=256, num_steps=16, batch_size=512, hidden=(128,))
    settings = Sb3(
        "fives-and-threes",
        tmp_path,
        decisions=20_000,
        threads=1,
        learner=learner,
        pairs=10,
        final_pairs=10,
    )
    run(settings)
    matches = play(
        Rules.from_spec("fives-and-threes"),
        load_model(tmp_path),
        BuiltIn("random"),
        seed=99,
        pairs=np.arange(300),
    )
    assert score(matches, Rules.from_spec("fives-and-threes")).low > 0.75


class _RecordsHands:
    """Plays at random and keeps the hands that it sees full, with those of all its copies."""

    hands: ClassVar[set[tuple[int, int]]] = set()

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        full = views[views["num_moves"] < 2]
        self.hands.update(zip(full["hand"].tolist(), full["played"].tolist(), strict=True))
        return BuiltIn("random").act(views, masks, keys)


def _first_hands(config: Sb3, seed: int | None = None) -> list[tuple[int, int]]:
    config = config if seed is None else replace(config, seed=seed)
    envs = new_envs(config)
    make_model(config, envs, Clock(1, None))
    observations = envs.reset()
    assert isinstance(observations, np.ndarray)
    powers = 1 << np.arange(28)
    hands, played = (
        (observations[:, FEATURES[k]] @ powers).astype(int) for k in ("hand", "played")
    )
    return list(zip(hands.tolist(), played.tolist(), strict=True))
