"""The network of a learned agent: a multilayer perceptron with a policy and a value head.

It runs as compiled code over one row after the other instead of in a linear-algebra library. Such a
library rounds differently for different batch sizes, so that two nearly equal actions may swap;
here every output is summed in one fixed order, and a row has the same bits in any batch and on any
machine. Features are mostly zeros, which are skipped, so nothing is lost on a CPU.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from fives_env.actions import NUM_ACTIONS
from fives_env.encoding import encode
from fives_env.engine.features import FEATURES, NUM_FEATURES
from fives_env.jit import jit

from .files import shown
from .heuristics.tactic import advise

Array = npt.NDArray[Any]
PARTS = ("trunk", "policy", "value")
ACTIVATION = "relu"


class Layer(NamedTuple):
    """One dense layer.

    Attributes:
        weight: float32 [inputs, outputs].
        bias: float32 [outputs].
    """

    weight: Array
    bias: Array


@dataclass(frozen=True)
class Network:
    """Layers with ReLU between them, none behind the last one of a head.

    Attributes:
        KINDS: What cards call it, without advice and with it.
        NO_ONNX: Why it cannot become an ONNX graph; empty where it can.
        NO_INIT: Why no run can start from its weights; empty where one can.
        trunk: What both heads share; may be empty.
        policy: Behind the trunk, ending in one logit an action.
        value: Behind the trunk, ending in one number.
        points: float32 [1], the weight of what an action scores now in its own logit.
        advice: float32 [1], the weight of what is advised of an action in its own logit; None for
            a network that takes no advice. One that does sees it behind the features.
    """

    KINDS: ClassVar = ("mlp-points", "mlp-advice")
    NO_ONNX: ClassVar = ""
    NO_INIT: ClassVar = ""
    trunk: tuple[Layer, ...]
    policy: tuple[Layer, ...]
    value: tuple[Layer, ...]
    points: Array
    advice: Array | None = None

    @classmethod
    def from_tensors(cls, tensors: dict[str, Array]) -> Self:
        """Builds it from named tensors (see `tensors`), checking that they fit together.

        Raises:
            ValueError: A tensor is missing, unknown, of a wrong shape or not finite.
        """
        _refuse_infinite(tensors)
        left = dict(tensors)
        network = cls(**cls._take(left))
        if left:
            raise ValueError(f"unknown tensors {shown(sorted(left))}")
        network._check_widths()
        return network

    def tensors(self) -> dict[str, Array]:
        """Named tensors in the layout of torch.nn.Linear: ``policy.0.weight`` [outputs, inputs]."""
        named: dict[str, Array] = {"points": self.points}
        if self.advice is not None:
            named["advice"] = self.advice
        for part in PARTS:
            for index, layer in enumerate(getattr(self, part)):
                named[f"{part}.{index}.weight"] = np.ascontiguousarray(layer.weight.T)
                named[f"{part}.{index}.bias"] = layer.bias
        return named

    @property
    def shape(self) -> dict[str, Any]:
        """What the card of a model says about it: the widths of the layers of each part."""
        widths = {part: [len(layer.bias) for layer in getattr(self, part)] for part in PARTS}
        kind = self.KINDS[self.advice is not None]
        return {"kind": kind, "activation": ACTIVATION, **widths}

    @property
    def num_inputs(self) -> int:
        """Numbers in a row of inputs: the features, and behind them the advice if it takes any."""
        return NUM_FEATURES + (0 if self.advice is None else NUM_ACTIONS)

    def inputs(self, views: Array) -> Array:
        """What it sees of each view: float32 [B, num_inputs]."""
        features = encode(views)
        return features if self.advice is None else np.hstack([features, advise(views)])

    def logits(self, inputs: Array) -> Array:
        """One logit an action: float32 [B, actions], for inputs float32 [B, num_inputs]."""
        logits = _run(self.trunk + self.policy, inputs)
        logits += self.points * inputs[:, FEATURES["points"]]
        if self.advice is not None:
            logits += self.advice * inputs[:, NUM_FEATURES : NUM_FEATURES + NUM_ACTIONS]
        return logits

    def values(self, inputs: Array) -> Array:
        """The value of each position for its viewer: float32 [B]."""
        return _run(self.trunk + self.value, inputs)[:, 0]

    @classmethod
    def _take(cls, tensors: dict[str, Array]) -> dict[str, Any]:
        """Removes what the network is made of from `tensors`."""
        parts = {part: _take_layers(part, tensors) for part in PARTS}
        points, advice = _take_weight("points", tensors), _take_weight("advice", tensors)
        if points is None:
            raise ValueError("tensor points is missing")
        return {**parts, "points": points, "advice": advice}

    def _check_widths(self) -> None:
        for head in ("policy", "value"):
            if not getattr(self, head):
                raise ValueError(f"tensor {head}.0.weight is missing")
            width, name = self.num_inputs, ""
            for part in ("trunk", head):
                for index, layer in enumerate(getattr(self, part)):
                    name = f"{part}.{index}"
                    if len(layer.weight) != width:
                        raise ValueError(
                            f"tensor {name}.weight takes {len(layer.weight)} numbers, and there "
                            f"are {width}"
                        )
                    width = len(layer.bias)
            if width != (expected := NUM_ACTIONS if head == "policy" else 1):
                raise ValueError(
                    f"tensor {name}.bias is the last of the {head} head and gives {width} numbers, "
                    f"not {expected}"
                )


def _refuse_infinite(tensors: dict[str, Array]) -> None:
    for name, values in tensors.items():
        if not np.isfinite(values).all():
            raise ValueError(f"tensor {shown(name)} has values that are not finite")


def _take_layers(part: str, tensors: dict[str, Array]) -> tuple[Layer, ...]:
    """Removes the layers of one part from `tensors`."""
    layers: list[Layer] = []
    while any(f"{part}.{len(layers)}.{kind}" in tensors for kind in ("weight", "bias")):
        name = f"{part}.{len(layers)}"
        for kind in ("weight", "bias"):
            if f"{name}.{kind}" not in tensors:
                raise ValueError(f"tensor {name}.{kind} is missing")
        weight, bias = tensors.pop(f"{name}.weight"), tensors.pop(f"{name}.bias")
        if weight.ndim != 2 or bias.shape != weight.shape[:1]:
            shapes = f"{list(weight.shape)} and {list(bias.shape)}"
            raise ValueError(
                f"tensors {name}.weight and {name}.bias are {shapes}, not [outputs, inputs] and "
                "[outputs]"
            )
        columns = np.ascontiguousarray(weight.T, np.float32)
        layers.append(Layer(columns, np.ascontiguousarray(bias, np.float32)))
    return tuple(layers)


def _take_weight(name: str, tensors: dict[str, Array]) -> Array | None:
    """Removes a single weight from `tensors`, if it is there."""
    weight = tensors.pop(name, None)
    if weight is None:
        return None
    if weight.shape != (1,):
        raise ValueError(f"tensor {name} is {list(weight.shape)}, not [1]")
    return np.asarray(weight, np.float32)


def _run(layers: tuple[Layer, ...], features: Array) -> Array:
    values: Array = np.ascontiguousarray(features, np.float32)
    for index, (weight, bias) in enumerate(layers):
        outputs = np.empty((len(values), len(bias)), np.float32)
        _dense(values, weight, bias, index < len(layers) - 1, outputs)
        values = outputs
    return values


@jit
def _dense(inputs: Array, weight: Array, bias: Array, relu: bool, outputs: Array) -> None:
    for row in range(len(inputs)):
        sums = outputs[row]
        sums[:] = bias
        for index in range(len(weight)):
            factor = inputs[row, index]
            if factor != 0:
                for output in range(len(bias)):
                    sums[output] += factor * weight[index, output]
        if relu:
            for output in range(len(bias)):
                sums[output] = max(sums[output], np.float32(0))
