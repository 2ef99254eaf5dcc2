"""The compiled network: right numbers, and the same ones in every batch."""

import numpy as np
import pytest
import torch
from torch import nn

from agents.network import Layer, Network
from fives_env.actions import NUM_ACTIONS
from fives_env.encoding import encode
from fives_env.engine.features import FEATURES, NUM_FEATURES
from tests.agents.material import positions, random_network


def _torch_logits(network: Network, features: np.ndarray) -> np.ndarray:
    tensors = network.tensors()
    layers: list[nn.Module] = []
    for name in ("trunk.0", "trunk.1", "policy.0"):
        weight = torch.from_numpy(tensors[f"{name}.weight"])
        layer = nn.Linear(weight.shape[1], weight.shape[0])
        layer.weight.data, layer.bias.data = weight, torch.from_numpy(tensors[f"{name}.bias"])
        layers += [layer, nn.ReLU()]
    with torch.no_grad():
        logits = nn.Sequential(*layers[:-1])(torch.from_numpy(features)).numpy()
    return np.asarray(logits + network.points * features[:, FEATURES["points"]])


def test_logits_are_those_of_pytorch() -> None:
    network = random_network(width=256)
    features = encode(positions("all-fives:players=4")[0])
    expected = _torch_logits(network, features)
    np.testing.assert_allclose(network.logits(features), expected, rtol=1e-4, atol=1e-5)


def test_advice_is_seen_and_weighed() -> None:
    network = random_network(width=64, advice=True)
    inputs = np.random.default_rng(1).normal(size=(50, network.num_inputs)).astype(np.float32)
    assert network.num_inputs == NUM_FEATURES + NUM_ACTIONS
    assert network.advice is not None
    expected = _torch_logits(network, inputs) + network.advice * inputs[:, NUM_FEATURES:]
    np.testing.assert_allclose(network.logits(inputs), expected, rtol=1e-4, atol=1e-4)
    again = Network.from_tensors(network.tensors())
    assert again.shape == network.shape
    assert network.shape["kind"] == "mlp-advice"
    assert again.logits(inputs).tobytes() == network.logits(inputs).tobytes()
    tensors = network.tensors()
    del tensors["advice"]
    with pytest.raises(ValueError, match=r"trunk.0.weight takes 513 numbers, and there are 399"):
        Network.from_tensors(tensors)


def test_a_row_has_the_same_bits_in_any_batch() -> None:
    network = random_network(width=256)
    features = encode(positions("fives-and-threes")[0])
    together = network.logits(features).tobytes()
    alone = b"".join(network.logits(row[None]).tobytes() for row in features)
    chunks = (features[start : start + 17] for start in range(0, len(features), 17))
    assert alone == together == b"".join(network.logits(chunk).tobytes() for chunk in chunks)


def test_tensors_give_the_network_back() -> None:
    network = random_network()
    again = Network.from_tensors(network.tensors())
    assert again.shape == network.shape
    features = encode(positions("fives-and-threes")[0])
    assert again.logits(features).tobytes() == network.logits(features).tobytes()
    assert again.values(features).tobytes() == network.values(features).tobytes()
    assert again.values(features).shape == (len(features),)


def test_heads_without_a_trunk() -> None:
    rng = np.random.default_rng(0)
    shapes = (NUM_FEATURES, NUM_ACTIONS), (NUM_FEATURES, 1)
    policy, value = (
        Layer(rng.normal(size=shape).astype(np.float32), np.ones(shape[1], np.float32))
        for shape in shapes
    )
    points = np.zeros(1, np.float32)
    network = Network.from_tensors(Network((), (policy,), (value,), points).tensors())
    features = rng.normal(size=(4, NUM_FEATURES)).astype(np.float32)
    for ours, layer in ((network.logits(features), policy), (network.values(features), value)):
        expected = (features @ layer.weight + 1).reshape(ours.shape)
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("policy.0.bias", None, "policy.0.bias is missing"),
        ("policy.0.bias", np.zeros(3, np.float32), r"policy.0.bias are \[114, 32\] and \[3\]"),
        ("policy.0.weight", None, "policy.0.weight is missing"),
        (
            "trunk.1.weight",
            np.zeros((32, 31), np.float32),
            "takes 31 numbers, and there are 32",
        ),
        (
            "value.0.bias",
            np.full(1, np.nan, np.float32),
            "'value.0.bias' has values that are not",
        ),
        ("trunk.2.weight", np.zeros((32, 32), np.float32), "trunk.2.bias is missing"),
        ("other", np.zeros(1, np.float32), "unknown tensors"),
        ("points", None, "points is missing"),
        ("points", np.zeros(2, np.float32), r"points is \[2\], not \[1\]"),
        ("points", np.full(1, np.inf, np.float32), "'points' has values that are not finite"),
        ("advice", np.zeros(2, np.float32), r"advice is \[2\], not \[1\]"),
        (
            "trunk.0.weight",
            np.zeros((32, 9), np.float32),
            "takes 9 numbers, and there are 399",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_refused(
    name: str, change: np.ndarray | None, says: str
) -> None:
    tensors = random_network().tensors()
    if change is None:
        del tensors[name]
    else:
        tensors[name] = change
    with pytest.raises(ValueError, match=says):
        Network.from_tensors(tensors)


def test_a_head_that_is_missing_is_refused() -> None:
    tensors = {k: v for k, v in random_network().tensors().items() if not k.startswith("value")}
    with pytest.raises(ValueError, match=r"value.0.weight is missing"):
        Network.from_tensors(tensors)
