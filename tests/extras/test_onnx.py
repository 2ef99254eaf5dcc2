"""The ONNX graph is the network: against our compiled code, and against torch."""

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnxruntime = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

import torch  # noqa: E402
from torch import nn  # noqa: E402

from agents.cards import layout_hash  # noqa: E402
from agents.model import WEIGHTS, load_model  # noqa: E402
from agents.network import Network  # noqa: E402
from agents.onnx_export import export, to_onnx  # noqa: E402
from fives_env.encoding import encode  # noqa: E402
from fives_env.engine.features import FEATURES, NUM_FEATURES, OBS_VERSION  # noqa: E402
from tests.agents.material import (  # noqa: E402
    ALL_RULES,
    Array,
    positions,
    random_card,
    random_model,
    random_network,
)
from tests.agents.test_model import Canary  # noqa: E402
from train.__main__ import main  # noqa: E402

NEAR = 1e-3
"""Runtimes sum in other orders; logits here are of a size of 10."""


def session(path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(graph: Any, features: Array, masks: Array) -> tuple[Array, Array, Array]:
    return tuple(
        graph.run(["logits", "action", "value"], {"features": features, "action_mask": masks})
    )


@pytest.mark.parametrize("advice", [False, True])
@pytest.mark.parametrize("rules", ALL_RULES)
def test_equals_our_compiled_network(rules: str, advice: bool, tmp_path: Path) -> None:
    export(random_model(tmp_path / "model", rules, advice=advice), tmp_path / "model.onnx")
    graph, agent = session(tmp_path / "model.onnx"), load_model(tmp_path / "model")
    views, masks, keys = positions(rules)
    features = agent.inputs(views)
    assert features.shape[1] == agent.network.num_inputs
    logits, actions, values = run(graph, features, masks)
    assert (logits.dtype, actions.dtype, values.dtype) == (np.float32, np.int64, np.float32)
    ours = agent.network.logits(features)
    np.testing.assert_allclose(logits[masks], ours[masks], atol=NEAR)
    assert (logits[~masks] == -np.inf).all()
    np.testing.assert_allclose(values, agent.network.values(features), atol=NEAR)
    ranked = np.sort(np.where(masks, ours, -np.inf), axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 2 * NEAR
    assert clear.mean() > 0.9
    assert (actions[clear] == agent.act(views, masks, keys)[clear]).all()
    assert masks[np.arange(len(masks)), actions].all()


def in_torch(network: Network, features: Array) -> tuple[Array, Array]:
    """The same network in torch, from its named tensors."""
    tensors = {name: torch.from_numpy(values) for name, values in network.tensors().items()}

    def dense(part: str, values: torch.Tensor, last: bool) -> torch.Tensor:
        index = 0
        while f"{part}.{index}.weight" in tensors:
            weight, bias = tensors[f"{part}.{index}.weight"], tensors[f"{part}.{index}.bias"]
            values = nn.functional.linear(values, weight, bias)
            index += 1
            if last or f"{part}.{index}.weight" in tensors:
                values = torch.relu(values)
        return values

    given = torch.from_numpy(features)
    hidden = dense("trunk", given, True)
    logits = dense("policy", hidden, False) + tensors["points"] * given[:, FEATURES["points"]]
    return logits.numpy(), dense("value", hidden, False).numpy()[:, 0]


@pytest.mark.parametrize("num_rows", [1, 2, 7, 64, 1000])
def test_equals_torch_at_any_batch_size(num_rows: int, tmp_path: Path) -> None:
    network = random_network(3)
    path = tmp_path / "model.onnx"
    path.write_bytes(to_onnx(network, random_card(ALL_RULES[0], network)).SerializeToString())
    views, masks, _ = positions(ALL_RULES[0], num_games=250)
    features = encode(views)[:num_rows]
    logits, _, values = run(session(path), features, masks[:num_rows])
    expected, expected_values = in_torch(network, features)
    assert logits.shape == (num_rows, 114)
    np.testing.assert_allclose(
        np.where(masks[:num_rows], logits, 0), np.where(masks[:num_rows], expected, 0), atol=NEAR
    )
    np.testing.assert_allclose(values, expected_values, atol=NEAR)


def test_masked_actions_are_never_chosen_and_an_empty_mask_gives_none(tmp_path: Path) -> None:
    network = random_network(1)
    for layer in network.policy:
        layer.weight[:] *= 1e4
    path = tmp_path / "model.onnx"
    path.write_bytes(to_onnx(network, random_card(ALL_RULES[0], network)).SerializeToString())
    rng = np.random.default_rng(0)
    features = rng.random((3000, NUM_FEATURES), np.float32)
    masks = np.zeros((3000, 114), bool)
    for row, number in enumerate(rng.integers(0, 4, 3000)):
        masks[row, rng.choice(114, number, replace=False)] = True
    _, actions, _ = run(session(path), features, masks)
    some = masks.any(axis=1)
    assert masks[some, actions[some]].all()
    assert (actions[~some] == -1).all()
    assert 500 < (~some).sum() < 1000


def test_B55_the_file_says_what_it_is_for(tmp_path: Path) -> None:
    export(random_model(tmp_path / "model", "all-fives:players=4"), tmp_path / "model.onnx")
    found = session(tmp_path / "model.onnx").get_modelmeta().custom_metadata_map
    assert found["rules"] == "all-fives:players=4"
    assert found["obs_version"] == str(OBS_VERSION)
    assert found["features"] == layout_hash()
    assert (found["num_features"], found["num_actions"]) == (str(NUM_FEATURES), "114")
    model = onnx.load(tmp_path / "model.onnx")
    assert {imported.domain for imported in model.opset_import} == {""}, "standard operators alone"
    assert not any(tensor.external_data for tensor in model.graph.initializer)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random_model(tmp_path / "run" / "model", ALL_RULES[0])
    out = tmp_path / "model.onnx"
    assert main(["export", str(tmp_path / "run"), "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    session(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", "run"]


@pytest.mark.parametrize("case", ["no model", "no folder", "pickle", "no package"])
def test_B54_what_cannot_be_exported_is_one_line_and_writes_nothing(
    case: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = random_model(tmp_path / "model", ALL_RULES[0])
    out, says = tmp_path / "model.onnx", {"no model": "no model in", "pickle": "not a safetensors"}
    if case == "no model":
        folder = tmp_path / "nothing"
    elif case == "no folder":
        out, says[case] = tmp_path / "nowhere" / "model.onnx", "cannot be written: No such file"
    elif case == "pickle":
        (folder / WEIGHTS).write_bytes(pickle.dumps(Canary(tmp_path / "opened")))
    else:
        monkeypatch.setitem(sys.modules, "onnx", None)
        says[case] = "pip install 'fives-env[onnx]'"
    with pytest.raises(SystemExit) as stop:
        main(["export", str(folder), "--out", str(out)])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert says[case] in said
    assert said.count("\n") == 1
    assert not out.exists()
    assert not (tmp_path / "opened").exists()
