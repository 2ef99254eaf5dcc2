"""The network with a memory: it reads the moves of the round, and keeps the rules of all agents."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from torch import nn

from agents.cards import Card
from agents.memory_network import NUM_MOVES, NUM_TOKENS, MemoryNetwork, write_tokens
from agents.model import CARD, WEIGHTS, ModelAgent, load_model, save_model
from agents.network import Network
from agents.onnx_export import to_onnx
from fives_env.actions import DRAW, NUM_ACTIONS
from fives_env.encoding import encode
from fives_env.engine.features import NUM_FEATURES
from fives_env.games import Games
from fives_env.records import GAME
from tests.agents.material import (
    MEMORY,
    Array,
    positions,
    random_card,
    random_memory_network,
    random_network,
)
from tests.core.material import played_on, restart, shuffle_hidden


def inputs_of(network: MemoryNetwork, views: Array) -> Array:
    return ModelAgent(network, random_card("all-fives", network)).inputs(views)


def tokens_of(views: Array) -> Array:
    out = np.full((len(views), NUM_MOVES), 7, np.float32)
    write_tokens(views, views["viewer"], views["rules"]["num_players"], out)
    return out


@pytest.mark.parametrize("rules", ["fives-and-threes", "all-fives:players=4"])
def test_tokens_are_the_moves_as_the_viewer_sees_them(rules: str) -> None:
    games = Games(rules, 32)
    games.reset(seed=1)
    players = games.rules.players
    for _ in range(6):
        games.rollout(3, seed=4)
        for seat in range(players):
            found = tokens_of(games.view(seat))
            for game, row in zip(games.data, found, strict=True):
                moves = game["moves"][: game["num_moves"]][-NUM_MOVES:].astype(int)
                expected = [1 + (who - seat) % players * NUM_ACTIONS + act for who, act in moves]
                assert row.tolist() == expected + [0] * (NUM_MOVES - len(expected))
    assert (games.data["num_moves"] > 3).any()


def test_the_last_moves_of_a_long_round_are_kept() -> None:
    games = np.zeros(1, GAME)
    games["num_moves"] = NUM_MOVES + 8
    games["moves"][0, : NUM_MOVES + 8, 1] = np.arange(NUM_MOVES + 8)
    out = np.zeros((1, NUM_MOVES), np.float32)
    write_tokens(games, games["seat"], 2, out)
    assert out[0].tolist() == [1 + action for action in range(8, NUM_MOVES + 8)]


def test_the_state_is_that_of_a_pytorch_gru() -> None:
    memory = random_memory_network().memory
    unit = nn.GRU(NUM_TOKENS, MEMORY)
    unit.weight_ih_l0.data = torch.from_numpy(memory.gates.T.copy())
    unit.weight_hh_l0.data = torch.from_numpy(memory.weight.T.copy())
    unit.bias_ih_l0.data.zero_()
    unit.bias_hh_l0.data = torch.from_numpy(memory.bias)
    rng = np.random.default_rng(3)
    for length in (0, 1, 2, 11, NUM_MOVES):
        tokens = np.zeros((5, NUM_MOVES), np.float32)
        tokens[:, :length] = rng.integers(1, NUM_TOKENS + 1, (5, length))
        state = torch.from_numpy(memory.start).repeat(1, 5, 1)
        if length:
            inputs = nn.functional.one_hot(torch.from_numpy(tokens[:, :length].T.astype(int)) - 1)
            padded = torch.zeros(length, 5, NUM_TOKENS)
            padded[:, :, : inputs.shape[2]] = inputs
            with torch.no_grad():
                state = unit(padded, state)[1]
        np.testing.assert_allclose(memory.states(tokens), state[0].numpy(), atol=1e-5)


def test_order_matters_and_padding_does_not() -> None:
    memory = random_memory_network().memory
    rng = np.random.default_rng(5)
    tokens = np.zeros((20, NUM_MOVES), np.float32)
    tokens[:, :6] = [rng.permutation(NUM_TOKENS)[:6] + 1 for _ in range(20)]
    states = memory.states(tokens)
    assert memory.states(tokens[:, :6].copy()).tobytes() == states.tobytes()
    swapped = tokens.copy()
    swapped[:, [2, 3]] = tokens[:, [3, 2]]
    assert (np.abs(memory.states(swapped) - states).max(axis=1) > 1e-4).all()


def test_other_moves_before_the_same_position_give_other_logits() -> None:
    network = random_memory_network()
    views = positions("fives-and-threes")[0]
    views = views[views["num_moves"] >= 3]
    other = views.copy()
    other["moves"][:, [0, 1]] = views["moves"][:, [1, 0]]
    ours, theirs = inputs_of(network, views), inputs_of(network, other)
    assert (ours[:, :NUM_FEATURES] == encode(views)).all()
    assert (ours[:, :NUM_FEATURES] == theirs[:, :NUM_FEATURES]).all()
    assert (np.abs(network.logits(ours) - network.logits(theirs)).max(axis=1) > 1e-4).all()
    assert (network.values(ours) != network.values(theirs)).mean() > 0.9


def test_a_row_has_the_same_bits_in_any_batch() -> None:
    network = random_memory_network()
    views = positions("all-fives:players=4")[0]

    def bits(some: Array) -> bytes:
        return network.logits(inputs_of(network, some)).tobytes()

    alone = b"".join(bits(views[[row]]) for row in range(len(views)))
    chunks = (views[start : start + 17] for start in range(0, len(views), 17))
    assert alone == bits(views) == b"".join(bits(chunk) for chunk in chunks)


def test_hidden_tiles_do_not_change_what_it_sees() -> None:
    network, after = random_memory_network(), set()
    for games, rng in played_on("all-fives:players=3", 4, 60):
        restart(games)
        paired = shuffle_hidden(games, games.data["seat"].astype(np.int64), rng)
        one, two = (inputs_of(network, g.view()).tobytes() for g in (games, paired))
        assert one == two
        after.update(games.data["action"][games.data["num_moves"] > 0].tolist())
    assert DRAW in after


@pytest.mark.parametrize("advice", [False, True])
def test_travels_as_files_and_as_a_pickle(advice: bool, tmp_path: Path) -> None:
    rules, network = "all-fives", random_memory_network(advice=advice)
    agent = ModelAgent(network, random_card(rules, network))
    save_model(tmp_path, agent.network, agent.card)
    card = json.loads((tmp_path / CARD).read_text())
    assert card["network"]["kind"] == MemoryNetwork.KINDS[advice]
    assert (card["network"]["memory"], card["network"]["moves"]) == (MEMORY, NUM_MOVES)
    arguments = positions(rules)
    here = agent.act(*arguments)
    for other in (load_model(tmp_path), pickle.loads(pickle.dumps(agent))):
        assert isinstance(other.network, MemoryNetwork)
        views = arguments[0]
        ours, theirs = (a.network.logits(a.inputs(views)) for a in (agent, other))
        assert ours.tobytes() == theirs.tobytes()
        assert (other.act(*arguments) == here).all()


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("memory.start", None, "memory.start is missing"),
        ("memory.bias", None, "memory.bias is missing"),
        ("memory.start", np.zeros(0, np.float32), "memory.start is .0.; with a memory of 0"),
        ("memory.weight", np.zeros((48, 15), np.float32), r"\[48, 15\]; .* it is \[48, 16\]"),
        ("memory.gates", np.zeros((9, 48), np.float32), r"\[9, 48\]; .* it is \[456, 48\]"),
        ("memory.bias", np.full(48, np.nan, np.float32), "not finite"),
        ("memory.other", np.zeros(1, np.float32), "unknown tensors"),
        ("trunk.0.weight", np.zeros((32, NUM_FEATURES), np.float32), "takes 399 .* there are 415"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(name: str, change: Array | None, says: str) -> None:
    tensors = random_memory_network().tensors()
    if change is None:
        del tensors[name]
    else:
        tensors[name] = change
    with pytest.raises(ValueError, match=says):
        MemoryNetwork.from_tensors(tensors)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": Network.KINDS[0]}, "unknown tensors .*memory"),
        ({"kind": "lstm-points"}, f"knows .*'{Network.KINDS[0]}'.*'{MemoryNetwork.KINDS[0]}'"),
        ({"kind": ["gru-points"]}, "this version knows"),
        ({"kind": MemoryNetwork.KINDS[1]}, "its card says"),
        ({"memory": 8}, "its card says"),
        ({"moves": 16}, "its card says"),
    ],
)
def test_a_card_of_another_kind_is_refused(
    change: dict[str, Any], says: str, tmp_path: Path
) -> None:
    network = random_memory_network()
    card = random_card("all-fives", network)
    wrong = Card(card.rules, {**card.network, **change})
    save_model(tmp_path, network, wrong)
    with pytest.raises(ValueError, match=says) as caught:
        load_model(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_card_of_a_memory_without_one_is_refused(tmp_path: Path) -> None:
    network = random_memory_network()
    save_model(tmp_path, network, random_card("all-fives", network))
    save_file(random_network().tensors(), tmp_path / WEIGHTS)
    with pytest.raises(ValueError, match=r"memory\.start is missing"):
        load_model(tmp_path)


def test_onnx_export_says_that_it_cannot() -> None:
    network = random_memory_network()
    with pytest.raises(ValueError, match="with a memory reads moves"):
        to_onnx(network, random_card("all-fives", network))
