"""The network of self-play: a policy that sees a view, and a critic that sees all hands.

The critic serves training alone: what the other hands hold explains most of the luck of a round, so
less of it is taken for good or bad play. The policy never sees more than a view.
"""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from agents.network import Layer, Network
from fives_env.actions import NUM_ACTIONS
from fives_env.engine.features import NUM_FEATURES
from train.run.init import dense_layers, fill, layer_of
from train.selfplay.rollout.columns import Columns

Array = npt.NDArray[Any]
_POINTS_STEP = 10.0
"""One weight that all actions share learns from all of them, and may move this much faster."""


class ActorCritic(nn.Module):
    """Two multilayer perceptrons with ReLU; the policy's has a value head too, for the agent.

    Attributes:
        live: How many numbers of a row are features; the other hands follow.
        judged: How many numbers of a row the critic takes.
        scoring: Where in a row the points of the first actions lie, one behind the other; the
            actions behind them (a draw) score nothing.
        advising: The same for what is advised of them; None where nothing is.
    """

    def __init__(
        self,
        columns: Columns,
        num_sides: int,
        hidden: tuple[int, ...],
        critic_hidden: tuple[int, ...],
        remembered: int = 0,
    ) -> None:
        """Makes new weights from torch's generator.

        Args:
            columns: What a row holds.
            num_sides: How many values there are.
            hidden: Widths of the policy's layers.
            critic_hidden: Widths of the critic's.
            remembered: How many numbers `look` puts behind the features.
        """
        super().__init__()
        self.live, self.judged = len(columns.features), columns.width - columns.moves
        actions = len(columns.actions)
        self.trunk = _dense((self.live + remembered, *hidden))
        self.policy = _linear(hidden[-1], actions, 0.01)
        self.points = nn.Parameter(torch.zeros(1))
        self.advice = None if columns.advice is None else nn.Parameter(torch.zeros(1))
        self.value = _linear(hidden[-1], num_sides, 1)
        self.critic = nn.Sequential(
            *_dense((self.judged, *critic_hidden)), _linear(critic_hidden[-1], num_sides, 1)
        )
        self.scoring = _span(columns.points)
        self.advising = None if columns.advice is None else _span(columns.advice)

    def act(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows [B, W] to logits [B, N] and values [B, S]; the other hands are not looked at."""
        hidden = self.trunk(self.look(rows))
        logits = self.policy(hidden)
        bonus = self.points * _POINTS_STEP * rows[:, self.scoring]
        if self.advice is not None:
            bonus = bonus + self.advice * _POINTS_STEP * rows[:, self.advising]
        bonus = nn.functional.pad(bonus, (0, logits.shape[1] - bonus.shape[1]))
        return logits + bonus, _balanced(self.value(hidden))

    def look(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows [B, W] to what the policy's layers take: the features [B, L]."""
        return rows[:, : self.live]

    def judge(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows [B, W] to the critic's values [B, S], by side from the one that decides."""
        return _balanced(self.critic(rows[:, : self.judged]))

    def export(self, columns: Columns, unit: float) -> Network:
        """A copy of the policy and its value head at full size, for the agent; values x `unit`."""
        layers = [layer_of(part) for part in self.trunk if isinstance(part, nn.Linear)]
        inputs = NUM_FEATURES + (0 if columns.advice is None else NUM_ACTIONS)
        weight = np.zeros((inputs, layers[0].weight.shape[1]), np.float32)
        weight[columns.features] = layers[0].weight[: self.live] * columns.scale[:, None]
        head = layer_of(self.policy)
        policy = np.zeros((len(head.weight), NUM_ACTIONS), np.float32)
        policy[:, columns.actions] = head.weight
        bias = np.zeros(NUM_ACTIONS, np.float32)
        bias[columns.actions] = head.bias
        value = layer_of(self.value)
        own = np.full(value.bias.shape, -1 / len(value.bias), np.float32)
        own[0] += 1
        advice = None
        if self.advice is not None and columns.advice is not None:
            advice = _bonus(self.advice, columns.scale[columns.advice[0]])
        return Network(
            trunk=(Layer(weight, layers[0].bias), *layers[1:]),
            policy=(Layer(policy, bias),),
            value=(Layer(value.weight @ own[:, None] * unit, (value.bias @ own)[None] * unit),),
            points=_bonus(self.points, columns.scale[columns.points[0]]),
            advice=advice,
        )

    def adopt(self, network: Network, columns: Columns, unit: float) -> None:
        """The inverse of `export`: takes up the policy and the value head of an agent.

        Raises:
            ValueError: The network is of another shape, or takes advice and this one does not.
        """
        if (network.advice is None) != (self.advice is None):
            takes = "takes none" if network.advice is None else "takes advice"
            raise ValueError(f"it {takes}; --learner.{'no-' * (network.advice is None)}advice fits")
        first, *others = network.trunk
        weight = first.weight[columns.features] / columns.scale[:, None]
        dense_layers(self.trunk, (Layer(weight, first.bias), *others))
        head, value = network.policy[-1], network.value[-1]
        actions = columns.actions
        fill(self.policy, Layer(head.weight[:, actions], head.bias[actions]), "policy")
        # The agent's value is that of its own side: the others' are taken to share what it loses.
        sides = np.full(len(self.value.bias), -1 / max(len(self.value.bias) - 1, 1), np.float32)
        sides[0] = 1
        own = Layer(value.weight * sides / unit, value.bias * sides / unit)
        fill(self.value, own, "value")
        with torch.no_grad():
            _set_bonus(self.points, network.points, columns.scale[columns.points[0]])
            if self.advice is not None and columns.advice is not None:
                assert network.advice is not None
                _set_bonus(self.advice, network.advice, columns.scale[columns.advice[0]])


def _set_bonus(weight: nn.Parameter, bonus: Array, scale: float) -> None:
    """The inverse of `_bonus`."""
    weight.fill_(float(bonus[0]) / (_POINTS_STEP * float(scale)))


def _span(places: Array) -> slice:
    """Columns one behind the other, from where the first action's lies; -1 is none."""
    found = places[places >= 0]
    return slice(*(found[[0, -1]] + [0, 1])) if len(found) else slice(0, 0)


def _bonus(weight: torch.Tensor, scale: float) -> Array:
    """A shared weight as the agent has it, on columns that are not scaled: float32 [1]."""
    return np.array([float(weight.detach()) * _POINTS_STEP * scale], np.float32)


def _balanced(values: torch.Tensor) -> torch.Tensor:
    """Values of all sides, which sum to 0."""
    return values - values.mean(dim=1, keepdim=True)


def _dense(widths: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(widths):
        layers += [_linear(inputs, outputs, 2**0.5), nn.ReLU()]
    return nn.Sequential(*layers)


def _linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear
