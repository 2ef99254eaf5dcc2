"""Models as files: safe to open, refused where they do not fit, the same again in a new process."""

import json
import pickle
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from agents import make_agent
from agents.cards import layout_hash
from agents.model import CARD, WEIGHTS, ModelAgent, load_model, save_model
from agents.network import Network
from fives_env.engine import features
from fives_env.games import Games
from tests.agents.material import (
    ALL_RULES,
    positions,
    random_agent,
    random_card,
    random_model,
    random_network,
)


class Canary:
    """A pickle of this makes a folder where it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.mkdir, (self.path,)


@pytest.mark.parametrize("file", [WEIGHTS, CARD])
@pytest.mark.parametrize("kind", ["pickle", "torch"])
def test_B54_a_pickle_is_refused_and_not_opened(file: str, kind: str, tmp_path: Path) -> None:
    folder, sign = random_model(tmp_path / "model", ALL_RULES[0]), tmp_path / "opened"
    if kind == "pickle":
        (folder / file).write_bytes(pickle.dumps(Canary(sign)))
    else:
        torch.save({"policy.0.weight": Canary(sign)}, folder / file)
    with pytest.raises(ValueError, match=r"not a safetensors file|not UTF-8 text") as caught:
        make_agent(f"model:{folder}")
    assert "\n" not in str(caught.value)
    assert not sign.exists()


def test_B54_other_model_files_are_not_looked_at(tmp_path: Path) -> None:
    for name in ("model.zip", "model.pt", "weights.pkl"):
        (tmp_path / name).write_bytes(pickle.dumps(Canary(tmp_path / "opened")))
    with pytest.raises(ValueError, match=r"it needs weights.safetensors and card.json"):
        load_model(tmp_path)
    with pytest.raises(ValueError, match="it is not a folder"):
        load_model(tmp_path / "model.zip")
    assert not (tmp_path / "opened").exists()


def test_B53_a_model_is_json_and_plain_numbers(tmp_path: Path) -> None:
    """So that no version of Python or NumPy matters: here the standard library alone reads it."""
    folder = random_model(tmp_path / "model", ALL_RULES[0])
    assert sorted(path.name for path in folder.iterdir()) == [CARD, WEIGHTS]
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    assert card["rules"] == ALL_RULES[0]
    content = (folder / WEIGHTS).read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header, numbers = json.loads(content[8 : 8 + size]), content[8 + size :]
    tensors = load_model(folder).network.tensors()
    assert set(header) - {"__metadata__"} == set(tensors)
    for name, values in tensors.items():
        assert header[name]["dtype"] == "F32"
        assert header[name]["shape"] == list(values.shape)
        start, end = header[name]["data_offsets"]
        stored = struct.unpack(f"<{values.size}f", numbers[start:end])
        assert stored == tuple(values.ravel().tolist())


@pytest.mark.parametrize(
    ("name", "value", "here"),
    [
        ("format", 99, "1"),
        ("obs_version", 99, str(features.OBS_VERSION)),
        ("num_features", 99, str(features.NUM_FEATURES)),
        ("features", "another layout", layout_hash()),
        ("num_actions", 99, "114"),
    ],
)
def test_B55_another_version_is_refused_and_both_are_named(
    name: str, value: Any, here: str, tmp_path: Path
) -> None:
    folder = random_model(tmp_path, ALL_RULES[0])
    _change_card(folder, **{name: value})
    with pytest.raises(ValueError, match=f"{value}.* there .*fives_env 0.0.test.*{here}.* here"):
        load_model(folder)
    _change_card(folder, **{name: None})
    with pytest.raises(ValueError, match="does not fit this version"):
        load_model(folder)


def test_B55_the_layout_hash_sees_names_sizes_order_and_meaning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second, *rest = features.BLOCKS
    hashes = {layout_hash()}
    for changed in (
        (second, first, *rest),
        (first._replace(name="hands"), second, *rest),
        (first._replace(size=27), second, *rest),
        (first._replace(meaning="the partner's tiles"), second, *rest),
    ):
        monkeypatch.setattr("agents.cards.BLOCKS", changed)
        hashes.add(layout_hash())
    assert len(hashes) == 5


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rules": "no-such-game"}, "rules: unknown game 'no-such-game'"),
        ({"rules": None}, "rules: a rules spec is text"),
        ({"network": {"kind": "gru"}}, f"'gru'.*this version knows kind '{Network.KINDS[0]}'"),
        ({"network": None}, "network is None, not an object"),
        (
            {"network": {"kind": Network.KINDS[0], "activation": "tanh"}},
            "'tanh'; this version knows 'relu'",
        ),
        ({"network": {"kind": Network.KINDS[0], "activation": "relu"}}, "its card says"),
    ],
)
def test_a_card_that_does_not_fit_its_weights_is_refused(
    change: dict[str, Any], says: str, tmp_path: Path
) -> None:
    folder = random_model(tmp_path, ALL_RULES[0])
    _change_card(folder, **change)
    with pytest.raises(ValueError, match=says) as caught:
        load_model(folder)
    assert "\n" not in str(caught.value)


def test_files_that_are_missing_broken_or_of_another_shape(tmp_path: Path) -> None:
    folder = random_model(tmp_path, ALL_RULES[0])
    tensors = random_network().tensors()
    tensors["policy.0.weight"] = tensors["policy.0.weight"][:50]
    tensors["policy.0.bias"] = tensors["policy.0.bias"][:50]
    save_file(tensors, folder / WEIGHTS)
    with pytest.raises(ValueError, match=r"policy.0.bias .* gives 50 numbers, not 114"):
        load_model(folder)
    whole = (random_model(tmp_path, ALL_RULES[0]) / WEIGHTS).read_bytes()
    for broken in (b"", b"\0", whole[: len(whole) // 2]):
        (folder / WEIGHTS).write_bytes(broken)
        with pytest.raises(ValueError, match="is not a safetensors file"):
            load_model(folder)
    (folder / WEIGHTS).unlink()
    with pytest.raises(ValueError, match=r"weights.safetensors cannot be read"):
        load_model(folder)
    (folder / CARD).write_text("[]")
    with pytest.raises(ValueError, match=r"card.json is damaged or .*: it is \[\], not an"):
        load_model(folder)


@pytest.mark.parametrize(
    ("trained", "played", "says"),
    [
        ("all-fives", "fives-and-threes", "All Fives with 2 players .*Fives and Threes with 2"),
        ("all-fives:players=4", "all-fives", "4 players in partners .*with 2 players"),
        ("all-fives:players=4", "all-fives:players=4,partners=no", "partners .* with 4 players"),
        ("all-fives", "all-fives:max_pip=5", "2 players .* on 21 tiles"),
    ],
)
def test_B55_a_model_refuses_another_game(trained: str, played: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        random_agent(trained).act(*positions(played))


def test_a_model_plays_variants_of_its_game() -> None:
    agent = random_agent("threes-and-fives")
    for variant in ("mode=round", "target=100", "draw=optional", "reserve=yes", "deal=5"):
        views, masks, keys = positions(f"threes-and-fives:{variant}")
        assert masks[np.arange(len(masks)), agent.act(views, masks, keys)].all()


def test_B13_a_row_without_a_legal_action_is_named() -> None:
    agent = random_agent("fives-and-threes")
    views, masks, keys = positions("fives-and-threes")
    masks[3] = False
    with pytest.raises(ValueError, match=r"row 3 .* seat \d looks in round 0 .* match goes on"):
        agent.act(views, masks, keys)
    games = Games("fives-and-threes:max_rounds=1", 4)
    games.reset(seed=0)
    while (games.data["match_over"] == 0).any():
        mask = games.action_mask()
        games.step(np.where(mask.any(axis=1), mask.argmax(axis=1), -1))
    with pytest.raises(ValueError, match="its match is over"):
        agent.act(games.view(), games.action_mask(), keys[:4])


def test_sampling_follows_the_probabilities() -> None:
    agent = random_agent("fives-and-threes", sample=True)
    views, masks, _ = positions("fives-and-threes")
    row = int(np.argmax(masks.sum(axis=1)))
    num = 20_000
    keys = np.random.default_rng(1).integers(0, 1 << 64, num, np.uint64)
    actions = agent.act(np.repeat(views[[row]], num), np.repeat(masks[[row]], num, axis=0), keys)
    from fives_env.encoding import encode

    logits = agent.network.logits(encode(views[[row]]))[0].astype(np.float64)
    chances = np.where(masks[row], np.exp(logits - logits[masks[row]].max()), 0)
    chances /= chances.sum()
    shares = np.bincount(actions, minlength=len(chances)) / num
    assert np.abs(shares - chances).max() < 5 * np.sqrt(0.25 / num)
    best = random_agent("fives-and-threes").act(views[[row]], masks[[row]], keys[:1])
    assert best[0] == np.argmax(chances)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("num_legal", [1, 2, 3])
def test_B15_sampling_is_legal_at_any_size_of_logits(size: float, num_legal: int) -> None:
    agent = random_agent("fives-and-threes", sample=True)
    layer = agent.network.policy[0]
    layer.weight[:] *= np.float32(size)
    layer.bias[:] *= np.float32(size)
    views, masks, keys = positions("fives-and-threes")
    masks[:] = False
    rng = np.random.default_rng(2)
    for row in range(len(masks)):
        masks[row, rng.choice(masks.shape[1], num_legal, replace=False)] = True
    keys[:2] = 0, (1 << 64) - 1
    assert masks[np.arange(len(masks)), agent.act(views, masks, keys)].all()


def test_saving_replaces_a_model_and_leaves_nothing_else(tmp_path: Path) -> None:
    folder = random_model(tmp_path, ALL_RULES[0], seed=1)
    network = random_network(2)
    save_model(folder, network, random_card(ALL_RULES[0], network))
    assert sorted(path.name for path in folder.iterdir()) == [CARD, WEIGHTS]
    loaded = load_model(folder)
    assert (loaded.network.trunk[0].weight == network.trunk[0].weight).all()


def test_B17_a_loaded_model_plays_legally_in_a_new_process(tmp_path: Path) -> None:
    """500 rounds in every preset and number of seats, best action and sampling."""
    for index, rules in enumerate(ALL_RULES):
        random_model(tmp_path / str(index), rules)
    views, masks, keys = positions(ALL_RULES[0])
    here = random_agent(ALL_RULES[0], sample=True).act(views, masks, keys)
    done = subprocess.run(
        [sys.executable, "-m", "tests.agents.play_models", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    there = json.loads(done.stdout)
    assert there["matches"] == 500 * len(ALL_RULES) * 2
    assert there["actions"] == here.tolist()


def test_its_text_names_the_rules() -> None:
    assert repr(random_agent("all-fives")) == "ModelAgent(all-fives, arg-max)"
    assert isinstance(random_agent("all-fives"), ModelAgent)


def _change_card(folder: Path, **changes: Any) -> None:
    card = json.loads((folder / CARD).read_text()) | changes
    (folder / CARD).write_text(json.dumps(card))
