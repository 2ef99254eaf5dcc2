"""A network with a memory: it also reads the actions of the round in their order.

Features say what is on the table and what a seat has shown that it lacks, but not who laid which
tile when. Here a gated recurrent unit (Cho et al. 2014) reads the actions one by one, and its last
state joins the features. As in network.py, a row has the same bits in any batch; exponentials are
taken in double precision, so that how a machine rounds them does not show.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fives_env.actions import NUM_ACTIONS
from fives_env.jit import jit, jit_part

from .network import Network

Array = npt.NDArray[Any]
NUM_MOVES = 32
"""The memory reaches so far back; one round in a hundred of All Fives is longer, none of Fives and
Threes for two."""
NUM_TOKENS = 4 * NUM_ACTIONS
"""A token is an action with the seat that made it: ``1 + seat * 114 + action``, seats clockwise
from the viewer; 0 stands where there is none."""
_NAMES = ("start", "gates", "weight", "bias")


def write_tokens(records: Array, viewers: Array, num_players: Array | int, out: Array) -> None:
    """The last actions of the round as each viewer sees them, the oldest first, then zeros.

    Args:
        records: GAME or VIEW [B]; their public fields alone are read.
        viewers: The seat that looks, [B].
        num_players: Seats, [B] or one number.
        out: float32 [B, NUM_MOVES], filled.
    """
    looking = np.ascontiguousarray(viewers, np.int64)
    players = np.ascontiguousarray(np.broadcast_to(num_players, looking.shape), np.int64)
    lengths = np.ascontiguousarray(records["num_moves"], np.int64)
    _write_tokens(records["moves"], lengths, looking, players, out)


class Memory(NamedTuple):
    """A gated recurrent unit of H numbers. Gates come in the order reset, update, candidate.

    Attributes:
        start: float32 [H], its state before the first action.
        gates: float32 [NUM_TOKENS, 3 H], what each token adds to the gates.
        weight: float32 [H, 3 H], of the state.
        bias: float32 [3 H], of the state.
    """

    start: Array
    gates: Array
    weight: Array
    bias: Array

    def states(self, tokens: Array) -> Array:
        """The state behind the last token of each row: float32 [B, H]."""
        states = np.empty((len(tokens), len(self.start)), np.float32)
        _read(tokens, *self, states)
        return states


@dataclass(frozen=True)
class MemoryNetwork(Network):
    """A `Network` that takes the state of its memory behind everything else.

    Attributes:
        memory: What reads the actions.
    """

    KINDS = ("gru-points", "gru-advice")
    NO_ONNX = "a network with a memory reads moves; ONNX export has no input for them"
    NO_INIT = "has a memory; only networks without one can be taken up"
    memory: Memory = field(kw_only=True)

    def inputs(self, views: Array) -> Array:
        """As `Network.inputs`, with the state of its memory behind."""
        return np.hstack([super().inputs(views), self.states(views)])

    def states(self, views: Array) -> Array:
        """What its memory knows in each view: float32 [B, H]."""
        tokens = np.zeros((len(views), NUM_MOVES), np.float32)
        write_tokens(views, views["viewer"], views["rules"]["num_players"], tokens)
        return self.memory.states(tokens)

    def tensors(self) -> dict[str, Array]:
        """As `Network.tensors`; ``memory.weight`` is [3 H, H]."""
        own = self.memory._replace(weight=np.ascontiguousarray(self.memory.weight.T))
        return {
            **super().tensors(),
            **{f"memory.{name}": values for name, values in own._asdict().items()},
        }

    @property
    def shape(self) -> dict[str, Any]:
        """As `Network.shape`, with the size of the memory and how far back it reaches."""
        return {**super().shape, "memory": len(self.memory.start), "moves": NUM_MOVES}

    @property
    def num_inputs(self) -> int:
        """Numbers in a row of inputs, the state of the memory included."""
        return super().num_inputs + len(self.memory.start)

    @classmethod
    def _take(cls, tensors: dict[str, Array]) -> dict[str, Any]:
        return {**super()._take(tensors), "memory": _take_memory(tensors)}


def _take_memory(tensors: dict[str, Array]) -> Memory:
    """Removes the memory from `tensors`."""
    taken = {name: tensors.pop(f"memory.{name}", None) for name in _NAMES}
    width = 0 if taken["start"] is None else taken["start"].size
    expected = {
        "start": (width,),
        "gates": (NUM_TOKENS, 3 * width),
        "weight": (3 * width, width),
        "bias": (3 * width,),
    }
    arrays = {}
    for name, shape in expected.items():
        values = taken[name]
        found = "missing" if values is None else list(values.shape)
        if values is None or width == 0 or values.shape != shape:
            raise ValueError(
                f"tensor memory.{name} is {found}; with a memory of {width} it is {list(shape)}"
            )
        arrays[name] = np.ascontiguousarray(values.T if name == "weight" else values, np.float32)
    return Memory(**arrays)


@jit
def _write_tokens(
    moves: Array, num_moves: Array, viewers: Array, num_players: Array, out: Array
) -> None:
    for row in range(len(out)):
        first = max(num_moves[row] - NUM_MOVES, 0)
        for place in range(NUM_MOVES):
            move = first + place
            if move >= num_moves[row]:
                out[row, place] = 0
                continue
            seat = (np.int64(moves[row, move, 0]) - viewers[row]) % num_players[row]
            out[row, place] = 1 + seat * NUM_ACTIONS + np.int64(moves[row, move, 1])


@jit
def _read(
    tokens: Array, start: Array, gates: Array, weight: Array, bias: Array, states: Array
) -> None:
    width = len(start)
    sums = np.empty(3 * width, np.float32)
    for row in range(len(tokens)):
        state = states[row]
        for index in range(width):
            state[index] = start[index]
        for place in range(tokens.shape[1]):
            token = np.int64(tokens[row, place]) - 1
            if token < 0:
                break
            for output in range(3 * width):
                sums[output] = bias[output]
            for index in range(width):
                factor = state[index]
                for output in range(3 * width):
                    sums[output] += factor * weight[index, output]
            for index in range(width):
                reset = _share(gates[token, index] + sums[index])
                update = _share(gates[token, width + index] + sums[width + index])
                inner = gates[token, 2 * width + index] + reset * sums[2 * width + index]
                candidate = 2 * _share(2 * inner) - 1  # tanh
                state[index] = candidate + update * (state[index] - candidate)


@jit_part
def _share(value: float) -> float:
    """The logistic function."""
    return 1 / (1 + np.exp(-np.float64(value)))  # type: ignore[no-any-return]
