"""Self-play with a memory: `ActorCritic` whose policy also reads the actions of the round.

The tokens of the last actions (agents/memory_network.py) are the last numbers of a row, so a row
still holds all that its decision sees: nothing is carried from one decision to the next, and rows
can be learned from in any order. The critic, which sees all hands, does without.
"""

import numpy as np
import torch
from torch import nn

from agents.memory_network import NUM_MOVES, NUM_TOKENS, Memory, MemoryNetwork
from agents.network import Layer, Network
from fives_env.actions import DRAW, NUM_ACTIONS
from fives_env.tiles import NUM_TILES
from train.run.init import layer_of
from train.selfplay.actor_critic import ActorCritic
from train.selfplay.rollout.columns import Columns

_NUM_DEEDS = NUM_TILES + 2
"""What a seat can do: lay a tile, draw, knock."""
_NO_ARM = 4
_EMBEDDING = 32


class MemoryActorCritic(ActorCritic):
    """An `ActorCritic` with a gated recurrent unit, whose last state joins the policy's features.

    An action is embedded as who did what (which tile, wherever it went) plus on which arm.
    """

    deed: torch.Tensor
    arm: torch.Tensor

    def __init__(
        self,
        columns: Columns,
        num_sides: int,
        hidden: tuple[int, ...],
        critic_hidden: tuple[int, ...],
        memory: int,
    ) -> None:
        """As `ActorCritic`; `memory` is the size of the unit's state."""
        super().__init__(columns, num_sides, hidden, critic_hidden, memory)
        self.start = nn.Parameter(torch.zeros(memory))
        self.deeds = nn.Embedding(4 * _NUM_DEEDS, _EMBEDDING)
        self.arms = nn.Embedding(_NO_ARM + 1, _EMBEDDING)
        self.inward = nn.Linear(_EMBEDDING, 3 * memory)
        self.inner = nn.Linear(memory, 3 * memory)
        deed, arm = _parts()
        self.register_buffer("deed", torch.from_numpy(deed), persistent=False)
        self.register_buffer("arm", torch.from_numpy(arm), persistent=False)

    def look(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows [B, W] to features and state [B, L + H]."""
        return torch.cat([super().look(rows), self.remember(rows[:, -NUM_MOVES:])], dim=1)

    def remember(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tokens [B, NUM_MOVES], zeros behind the last, to the state behind it [B, H].

        As torch.nn.GRU over packed sequences, in less than half the time: what each token adds is
        worked out once, and a step takes the rows that are not at their end.
        """
        lengths = (tokens > 0).sum(dim=1)
        order = lengths.argsort(descending=True, stable=True)
        inputs = tokens[order].long().T
        num_rows = (inputs > 0).sum(dim=1).tolist()
        steps = [row[:num] - 1 for row, num in zip(inputs, num_rows, strict=True) if num]
        state = self.start.expand(len(tokens), -1)
        done = []
        if steps:
            gates = nn.functional.embedding(torch.cat(steps), self._gates())
            for step in torch.split(gates, [len(row) for row in steps]):
                done.append(state[len(step) :])
                state = self._next(step, state[: len(step)])
        done.append(state)
        sorted_states = torch.cat(done[::-1])
        return torch.zeros_like(sorted_states).index_copy(0, order, sorted_states)

    def export(self, columns: Columns, unit: float) -> Network:
        """As `ActorCritic.export`, with the memory."""
        plain = super().export(columns, unit)
        first, *others = plain.trunk
        own = layer_of(self.trunk[0]).weight[self.live :]
        inner = layer_of(self.inner)
        memory = Memory(
            start=self.start.numpy(force=True).copy(),
            gates=self._gates().numpy(force=True).copy(),
            weight=inner.weight,
            bias=inner.bias,
        )
        trunk = (Layer(np.concatenate([first.weight, own]), first.bias), *others)
        return MemoryNetwork(**{**vars(plain), "trunk": trunk, "memory": memory})

    def _gates(self) -> torch.Tensor:
        """What each token adds to the gates: [NUM_TOKENS, 3 H]."""
        table = self.deeds.weight[self.deed] + self.arms.weight[self.arm]
        gates: torch.Tensor = self.inward(table)
        return gates

    def _next(self, inputs: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        """One step of the unit: gates of the inputs [B, 3 H] and states [B, H] to states."""
        width = state.shape[1]
        own = self.inner(state)
        shares = torch.sigmoid(inputs[:, : 2 * width] + own[:, : 2 * width])
        reset, update = shares.chunk(2, dim=1)
        candidate = torch.tanh(torch.addcmul(inputs[:, 2 * width :], reset, own[:, 2 * width :]))
        return torch.lerp(candidate, state, update)


def _parts() -> tuple[np.ndarray, np.ndarray]:
    """Who did what, and on which arm, of each token: int64 [NUM_TOKENS] each."""
    seat, action = np.divmod(np.arange(NUM_TOKENS), NUM_ACTIONS)
    laid = action < DRAW
    deed = np.where(laid, action % NUM_TILES, NUM_TILES + action - DRAW)
    return seat * _NUM_DEEDS + deed, np.where(laid, action // NUM_TILES, _NO_ARM)
