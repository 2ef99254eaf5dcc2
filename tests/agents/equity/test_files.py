"""Tables as files: safe to open, and refused in one line where they do not fit."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from agents.equity.tables import file_name, load, save_table
from fives_env.rules import Rules

RULES = Rules("fives-and-threes", target=4)
VALUES = np.linspace(0.2, 0.8, 16, dtype=np.float32).reshape(4, 4)
FACTS = {"rules": RULES.spec, "agent": "greedy", "rounds": "80", "seed": "3", "command": "x"}
WHOLE = {**FACTS, "format": 1, "low": 0, "step": 1}


class Canary:
    """A pickle of this makes a folder where it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.path,)


def test_round_trip(tmp_path: Path) -> None:
    path = save_table(RULES, 0, 1, VALUES, FACTS, tmp_path)
    table = load(RULES, tmp_path)
    assert (table.values[1, :4, :4] == VALUES).all()
    assert table.facts["seed"] == "3"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    save_table(RULES, 0, 1, VALUES / 2, FACTS, tmp_path)  # an older one is replaced
    assert load(RULES, tmp_path).values[1, 0, 0] == VALUES[0, 0] / 2


def test_steps_and_low_scores(tmp_path: Path) -> None:
    rules = Rules("all-fives", target=10)
    save_table(rules, -10, 5, VALUES, {**FACTS, "rules": rules.spec}, tmp_path)
    table = load(rules, tmp_path)
    assert table.low == -10
    assert table.values.shape == (2, 21, 21)
    assert table.win_probability(-6, 9, True) == VALUES[0, 3]
    assert table.win_probability(-5, -99, False) == 1 - VALUES[0, 1]


@pytest.mark.parametrize(
    ("tensors", "changes", "message"),
    [
        ({"leader_wins": VALUES}, {"format": 2}, "is not an equity table of format 1"),
        ({"policy.0.weight": VALUES}, {}, "holds tensors .'policy.0.weight'., not just"),
        (
            {"leader_wins": VALUES, "code": VALUES},
            {},
            "holds tensors .'code', ",
        ),
        ({"leader_wins": VALUES}, {"rules": "all-fives:players=2,target=250"}, "is for .all-fives"),
        (
            {"leader_wins": VALUES[:3]},
            {},
            r"shape \[3, 4\], which does not reach from 0 in steps of 1",
        ),
        ({"leader_wins": VALUES[0]}, {}, r"shape \[4\], which does not reach"),
        ({"leader_wins": VALUES}, {"low": 7}, "scores from low=7 in steps"),
        ({"leader_wins": VALUES}, {"low": None}, "scores from low=None in steps of step=1"),
        ({"leader_wins": VALUES}, {"step": 0}, "in steps of step=0, not whole numbers"),
        ({"leader_wins": VALUES}, {"step": "1"}, "in steps of step='1'"),
        ({"leader_wins": VALUES * 2}, {}, "values that are no probabilities"),
        ({"leader_wins": VALUES * np.nan}, {}, "values that are no probabilities"),
        ({"leader_wins": VALUES.astype(np.int8)}, {}, "tensor 'leader_wins' as I8, not F32"),
    ],
)
def test_a_foreign_file_is_refused(
    tmp_path: Path, tensors: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    arrays = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
    card = json.dumps({**WHOLE, **changes})
    save_file(arrays, tmp_path / file_name(RULES), {"equity": card})
    refused(tmp_path, message)


@pytest.mark.parametrize("metadata", [None, {"equity": "[1]"}, {"equity": "{"}, {"format": "pt"}])
def test_a_file_without_a_card_is_refused(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    save_file({"leader_wins": VALUES}, tmp_path / file_name(RULES), metadata)
    refused(tmp_path, "is not an equity table of format 1; make it with: python -m agents.equity")


@pytest.mark.parametrize("cut", [0, 7, 100, -1])
def test_a_damaged_file_is_refused(tmp_path: Path, cut: int) -> None:
    path = save_table(RULES, 0, 1, VALUES, FACTS, tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    refused(tmp_path, "is not a safetensors file.*; make it with")


def test_a_pickle_is_refused_and_not_opened(tmp_path: Path) -> None:
    (tmp_path / file_name(RULES)).write_bytes(pickle.dumps(Canary(tmp_path / "opened")))
    refused(tmp_path, "is not a safetensors file.*; make it with")
    assert not (tmp_path / "opened").exists()


def test_a_missing_file_is_named_with_its_remedy(tmp_path: Path) -> None:
    refused(tmp_path, "there is no equity table for .*; there are: none; make it with: python -m")


def refused(folder: Path, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        load(RULES, folder)
    assert "\n" not in str(caught.value)
