"""The models in agents/models: small, and better than greedy at what they were trained for."""

from pathlib import Path

import numpy as np
import pytest

from agents import make_agent
from agents.model import load_model
from eval.arena.paired import play
from eval.stats.scores import score
from fives_env.policies import BuiltIn
from fives_env.rules import Rules

FOLDER = Path(__file__).parents[2] / "agents/models"
MODELS = sorted(card.parent.name for card in FOLDER.glob("*/card.json"))


def test_the_promised_models_are_there() -> None:
    assert MODELS == [
        "all-fives-2",
        "fives-and-threes-2",
        "fives-and-threes-4-partners",
        "threes-and-fives-2",
    ]


@pytest.mark.parametrize("name", MODELS)
def test_is_small_and_says_how_it_was_made(name: str) -> None:
    files = {path.name: path.stat().st_size for path in (FOLDER / name).iterdir()}
    assert set(files) == {"card.json", "weights.safetensors"}
    assert sum(files.values()) < 2_000_000
    card = load_model(FOLDER / name).card
    assert card.training["decisions"] > 1_000_000
    assert card.training["settings"]["rules"]
    assert card.strength[0]["opponent"] == "greedy"
    assert card.strength[0]["low"] > 0.5


@pytest.mark.parametrize("name", MODELS)
def test_beats_greedy(name: str) -> None:
    agent = make_agent(f"model:{FOLDER / name}")
    rules = Rules.from_spec(load_model(FOLDER / name).card.rules)
    result = score(play(rules, agent, BuiltIn("greedy"), 12, np.arange(300)), rules)
    assert result.low > 0.5
    assert result.points_per_round > 0
