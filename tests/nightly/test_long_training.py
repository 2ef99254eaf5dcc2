"""B15: 300,000 decisions of each trainer in every preset, without NaN and with validation on."""

import csv
import math
from pathlib import Path

import pytest
import torch

from agents.model import load_model
from fives_env.rules import PRESETS
from train.sb3 import trainer as sb3
from train.sb3.config import Sb3
from train.selfplay import trainer as selfplay
from train.selfplay.config import Selfplay

RULES = [f"{name}:players={players}" for name in PRESETS for players in (2, 4)]
DECISIONS = 300_000


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("trainer", ["selfplay", "sb3"])
def test_B15_a_long_run_stays_finite(trainer: str, rules: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert torch.distributions.Distribution._validate_args, "validation is switched off"
    settings = {"decisions": DECISIONS, "threads": 1, "pairs": 10, "final_pairs": 200}
    if trainer == "sb3":
        assert sb3.run(Sb3(rules, out, **settings)) == 0
    else:
        assert selfplay.run(Selfplay(rules, out, **settings)) == 0
    assert load_model(out).card.training["decisions"] >= DECISIONS  # and all weights are finite
    with (out / "progress.csv").open() as file:
        updates = list(csv.DictReader(file))
    numbers = [float(value) for row in updates for value in row.values() if value]
    assert len(updates) > 10
    assert all(map(math.isfinite, numbers))
    with (out / "evaluations.csv").open() as file:
        strength = [row for row in csv.DictReader(file) if row["opponent"] == "greedy"]
    first, last = float(strength[0]["points_high"]), float(strength[-1]["points_low"])
    assert last > first, "it has learned nothing"
