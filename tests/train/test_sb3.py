"""``python -m train sb3``: what it leaves, that it learns, and that seeds keep parts apart."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.model import load_model
from eval.arena import play
from eval.scores import score
from fives_env.encoding import encode
from fives_env.engine.features import FEATURES
from fives_env.policies import BuiltIn
from fives_env.rules import Rules
from tests.agents.material import Array, positions, random_model
from train.clock import Clock
from train.config import Ppo, Sb3
from train.networks import export
from train.run_folder import COLUMNS
from train.sb3 import make_envs, make_model, run
from train.seeds import derive

TINY = Ppo(num_envs=16, num_steps=16, batch_size=128, num_epochs=1, hidden=(32, 32))


def tiny(out: Path, **options: Any) -> Sb3:
    """A run of a second."""
    settings = {"rules": "fives-and-threes", "decisions": 512, "pairs": 4, "final_pairs": 8}
    return Sb3(**{**settings, "out": out, "threads": 1, "ppo": TINY, **options})


def test_leaves_a_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert run(tiny(out, seed=3)) == 0
    said = capsys.readouterr()
    assert "decisions" not in said.err  # nobody watches: no progress bar
    assert said.out.startswith("512 decisions in ")
    assert f"play it as model:{out}" in said.out
    assert json.loads((out / "config.json").read_text())["ppo"]["num_envs"] == 16
    versions = json.loads((out / "versions.json").read_text())
    assert versions["torch"] == torch.__version__
    assert versions["commit"]
    assert list(out.glob("tensorboard/events.*"))
    with (out / "progress.csv").open() as file:
        updates = list(csv.DictReader(file))
    assert float(updates[-1]["train/approx_kl"]) >= 0
    with (out / "evaluations.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
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
    second = tiny(tmp_path / "second", rules=rules, opponent=opponent, episodes="matches")
    assert run(second) == 0
    assert load_model(tmp_path / "second").card.training["settings"]["opponent"] == opponent


def test_equal_seeds_give_equal_weights(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(tiny(tmp_path / name, seed=seed))
    weights = [(tmp_path / name / "model/weights.safetensors").read_bytes() for name in "abc"]
    assert weights[0] == weights[1] != weights[2]


def test_the_exported_network_is_the_trained_one() -> None:
    model = make_model(tiny(Path("unused")), make_envs(tiny(Path("unused"))), Clock(1, None))
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
        network = export(make_model(config, make_envs(config), Clock(1, None)).policy)
        assert (network.trunk[0].weight[FEATURES["rounds_left"]] == 0).all() == silent


def test_B10_tables_play_different_deals_and_never_those_of_evaluations() -> None:
    config = replace(tiny(Path("unused")), seed=3, ppo=replace(TINY, num_envs=8))
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
        run(tiny(tmp_path / "run", opponent=f"model:{tmp_path / 'model'}"))
    assert not (tmp_path / "run").exists()


def test_smoke_beats_random_after_a_fixed_number_of_decisions(tmp_path: Path) -> None:
    """Fixed decisions, not time: the same result on a busy machine."""
    ppo = Ppo(num_envs=256, num_steps=16, batch_size=512, hidden=(128,))
    settings = Sb3(
        "fives-and-threes", tmp_path, decisions=20_000, threads=1, ppo=ppo, pairs=10, final_pairs=10
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
    """Plays at random and keeps the hands that it sees full."""

    def __init__(self) -> None:
        self.hands: set[tuple[int, int]] = set()

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        full = views[views["num_moves"] < 2]
        self.hands |= set(zip(full["hand"].tolist(), full["played"].tolist(), strict=True))
        return BuiltIn("random").act(views, masks, keys)


def _first_hands(config: Sb3, seed: int | None = None) -> list[tuple[int, int]]:
    config = config if seed is None else replace(config, seed=seed)
    envs = make_envs(config)
    make_model(config, envs, Clock(1, None))
    observations = envs.reset()
    assert isinstance(observations, np.ndarray)
    powers = 1 << np.arange(28)
    hands, played = (
        (observations[:, FEATURES[k]] @ powers).astype(int) for k in ("hand", "played")
    )
    return list(zip(hands.tolist(), played.tolist(), strict=True))
