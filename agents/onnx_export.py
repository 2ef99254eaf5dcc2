"""A model as an ONNX graph, for runtimes that know nothing of this library.

Inputs, for any number N of rows:
    features     float32 [N, F]   `fives_env.encode` of the views; for a network that takes advice
                                  what `ModelAgent.inputs` says, with the advice behind
    action_mask  bool [N, 114]    the legal actions
Outputs:
    logits       float32 [N, 114] minus infinity where an action is illegal; softmax gives chances
    action       int64 [N]        the best legal action; -1 in a row without one
    value        float32 [N]      of the position, for its viewer

The metadata of the file say what it was trained for and which features it takes. A runtime sums in
an order of its own, so of two nearly equal actions it may take the other one.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from fives_env.actions import NUM_ACTIONS
from fives_env.engine.features import FEATURES, NUM_FEATURES
from fives_env.version import __version__

from .cards import Card
from .files import replace_file
from .model import load_model
from .network import Layer, Network

OPSET, IR = 17, 8
"""Old enough for every runtime of the last years."""


def export(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Writes the model of a folder as an ONNX file, whole or not at all.

    Args:
        folder: The model's folder, or the run that made it.
        path: Of the file.

    Raises:
        ValueError: There is no such model, the package onnx is missing, or the file cannot be
            written.
    """
    agent = load_model(folder)
    content = to_onnx(agent.network, agent.card).SerializeToString()
    try:
        replace_file(Path(path), content)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None


def to_onnx(network: Network, card: Card) -> Any:
    """The graph as an ``onnx.ModelProto``, checked by onnx itself.

    Raises:
        ValueError: The package onnx is missing, or there is no graph of this kind of network.
    """
    if network.NO_ONNX:
        raise ValueError(network.NO_ONNX)
    try:
        import onnx
    except ModuleNotFoundError:
        raise ValueError("ONNX export needs onnx: pip install 'fives-env[onnx]'") from None
    from onnx import TensorProto, helper

    graph = _Graph(helper, onnx.numpy_helper)
    graph.write(network)
    floats, ints, bools = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL

    def declare(name: str, kind: int, *sizes: int) -> Any:
        return helper.make_tensor_value_info(name, kind, ["N", *sizes])

    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "fives",
            [
                declare("features", floats, network.num_inputs),
                declare("action_mask", bools, NUM_ACTIONS),
            ],
            [
                declare("logits", floats, NUM_ACTIONS),
                declare("action", ints),
                declare("value", floats),
            ],
            graph.tensors,
        ),
        producer_name="fives_env",
        producer_version=__version__,
        doc_string=__doc__ or "",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR,
    )
    helper.set_model_props(model, _metadata(card))
    onnx.checker.check_model(model, full_check=True)
    return model


def _metadata(card: Card) -> dict[str, str]:
    """What `Card.read` would check, and what the model is, as text."""
    return {
        "rules": card.rules,
        "format": str(card.format),
        "obs_version": str(card.obs_version),
        "num_features": str(card.num_features),
        "features": card.features,
        "num_actions": str(card.num_actions),
        "network": json.dumps(card.network),
        "training": json.dumps(card.training, default=str),
        "strength": json.dumps(card.strength),
    }


class _Graph:
    """Nodes and constants, as they are added."""

    def __init__(self, helper: Any, numpy_helper: Any) -> None:
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []
        self._helper, self._numpy_helper = helper, numpy_helper

    def write(self, network: Network) -> None:
        """Adds the network, from its inputs to its outputs."""
        hidden = self.dense("trunk", "features", network.trunk, last=True)
        dense = self.dense("policy", hidden, network.policy, last=False)
        logits = self.add(dense, "points", FEATURES["points"], network.points)
        if network.advice is not None:
            block = slice(NUM_FEATURES, network.num_inputs)
            logits = self.add(logits, "advice", block, network.advice)
        illegal = self.tensor("illegal", np.array([-np.inf], np.float32))
        self.node("Where", "logits", "action_mask", logits, illegal)
        self.choose()
        values = self.dense("value", hidden, network.value, last=False)
        self.node("Squeeze", "value", values, self.constant("value_axis", [1]))

    def add(self, logits: str, name: str, block: slice, weight: Any) -> str:
        """Adds a block of the inputs, one number an action, times a weight to the logits."""
        bounds = {"from": block.start, "to": block.stop, "axis": 1}
        cut = [self.constant(f"{name}_{key}", [number]) for key, number in bounds.items()]
        shown = self.node("Slice", f"{name}_shown", "features", *cut)
        bonus = self.node("Mul", f"{name}_bonus", shown, self.tensor(name, weight))
        return self.node("Add", f"with_{name}", logits, bonus)

    def node(self, kind: str, name: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node whose one output has its name; returns the name."""
        self.nodes.append(self._helper.make_node(kind, list(inputs), [name], name, **attributes))
        return name

    def tensor(self, name: str, values: Any) -> str:
        """Adds a constant; returns its name."""
        self.tensors.append(self._numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def constant(self, name: str, values: list[int]) -> str:
        """Adds whole numbers."""
        return self.tensor(name, np.array(values, np.int64))

    def dense(self, part: str, values: str, layers: tuple[Layer, ...], last: bool) -> str:
        """Adds layers with ReLU between them, and behind the last one too if told so."""
        for index, layer in enumerate(layers):
            name = f"{part}.{index}"
            weight = self.tensor(f"{name}.weight", layer.weight)
            bias = self.tensor(f"{name}.bias", layer.bias)
            values = self.node("Gemm", name, values, weight, bias)
            if last or index < len(layers) - 1:
                values = self.node("Relu", f"{name}.relu", values)
        return values

    def choose(self) -> None:
        """The first best legal action of ``logits``, or -1."""
        best = self.node("ArgMax", "best", "logits", axis=1, keepdims=0)
        legal = self.node("Cast", "legal", "action_mask", to=6)  # int32: none reduces bool
        most = self.node("ReduceMax", "most_legal", legal, axes=[1], keepdims=0)
        some = self.node("Cast", "some_legal", most, to=9)  # bool
        self.node("Where", "action", some, best, self.constant("none_legal", [-1]))
