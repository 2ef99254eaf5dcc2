"""The network that SB3 trains, and how it becomes that of an agent."""

import itertools
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

from agents.network import Layer, Network
from fives_env.actions import NUM_ACTIONS
from fives_env.encoding import encode
from fives_env.engine.features import FEATURES
from fives_env.games import Games
from fives_env.rules import Rules
from train.run.init import dense_layers, fill, layer_of

_SAMPLE, _MOMENTS = 512, 12
_POINTS_STEP = 10.0
"""One weight that all actions share learns from all of them, and may move this much faster."""


class Trunk(BaseFeaturesExtractor):
    """Dense layers with ReLU that the policy and the value head share.

    SB3's own `net_arch` would give each head a network of its own: twice the work.

    Attributes:
        scale: float32 [F], what features are multiplied by.
        layers: What follows.
    """

    scale: torch.Tensor

    def __init__(
        self,
        observation_space: gymnasium.Space[Any],
        hidden: tuple[int, ...],
        scale: npt.NDArray[np.float32],
    ) -> None:
        """Makes layers of these widths."""
        super().__init__(observation_space, features_dim=hidden[-1] + NUM_ACTIONS)
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise((len(scale), *hidden)):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.register_buffer("scale", torch.from_numpy(scale))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features [B, F] to hidden values and the points of all actions, [B, hidden[-1] + 114]."""
        scaled = observations * self.scale
        return torch.cat([self.layers(scaled), scaled[:, FEATURES["points"]]], dim=1)


class ActionHead(nn.Module):
    """Logits: a dense layer, and one weight, 0 at first, times what each action scores now.

    A dense network has to find out for every action by itself that scoring is good.
    """

    def __init__(self, hidden: int) -> None:
        """Takes so many hidden values."""
        super().__init__()
        self.dense = nn.Linear(hidden, NUM_ACTIONS)
        self.step = nn.Parameter(torch.zeros(1))

    @property
    def weight(self) -> torch.Tensor:
        """Of the points."""
        return self.step * _POINTS_STEP

    def forward(self, outputs: torch.Tensor) -> torch.Tensor:
        """What a `Trunk` gives to logits [B, 114]."""
        hidden, points = outputs[:, :-NUM_ACTIONS], outputs[:, -NUM_ACTIONS:]
        logits: torch.Tensor = self.dense(hidden) + self.weight * points
        return logits


class ValueHead(nn.Linear):
    """The value: a dense layer on the hidden values."""

    def forward(self, outputs: torch.Tensor) -> torch.Tensor:
        """What a `Trunk` gives to values [B, 1]."""
        return super().forward(outputs[:, :-NUM_ACTIONS])


class Policy(MaskableActorCriticPolicy):
    """SB3's masked actor-critic policy on a `Trunk` with these two heads."""

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        hidden = self.features_dim - NUM_ACTIONS
        self.action_net, self.value_net = ActionHead(hidden), ValueHead(hidden, 1)
        self.init_weights(self.action_net.dense, gain=0.01)  # as SB3 does with its own heads
        self.init_weights(self.value_net, gain=1)
        rate = {"lr": lr_schedule(1), **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **rate)


def policy_arguments(hidden: tuple[int, ...], scale: npt.NDArray[np.float32]) -> dict[str, Any]:
    """The ``policy_kwargs`` of a `Policy`."""
    return {
        "features_extractor_class": Trunk,
        "features_extractor_kwargs": {"hidden": hidden, "scale": scale},
        "net_arch": [],
    }


def feature_scale(rules: Rules, scores: str | None) -> npt.NDArray[np.float32]:
    """What brings each block to a root mean square of 1 where it is not zero: float32 [F].

    Features differ in size (a tile is 0 or 1, the points of a placement are mostly a few tenths in
    one game and several units in another), and what is small is learned slowly. A block that is
    always zero in these episodes gets 0: nothing could be learned about it, and its random first
    weights would shake the network if it showed in play all the same.

    Args:
        rules: Of the episodes.
        scores: Start scores, as for `Games.reset`.
    """
    games = Games(rules, _SAMPLE)
    games.reset(seed=0, scores=scores)
    seen = []
    for _ in range(_MOMENTS):
        games.rollout(3)
        seen.append(encode(games.view()[games.data["match_over"] == 0]))
    features = np.concatenate(seen)
    scale = np.zeros(features.shape[1], np.float32)
    for block in FEATURES.values():
        shown = features[:, block][features[:, block] != 0]
        if len(shown):
            scale[block] = 1 / np.sqrt(np.mean(np.square(shown, dtype=np.float64)))
    return scale


def export(policy: Any, value_scale: float = 1.0) -> Network:
    """A copy of the network of a `Policy`, with the scale of the features in its weights.

    Args:
        policy: The policy.
        value_scale: Points in one unit of the value head, which sees scaled rewards.
    """
    trunk, actions = policy.features_extractor, policy.action_net
    scale = trunk.scale.numpy(force=True)
    first, *others = (layer_of(part) for part in trunk.layers if isinstance(part, nn.Linear))
    value = layer_of(policy.value_net)
    return Network(
        trunk=(Layer(first.weight * scale[:, None], first.bias), *others),
        policy=(layer_of(actions.dense),),
        value=(Layer(value.weight * value_scale, value.bias * value_scale),),
        points=actions.weight.numpy(force=True) * scale[FEATURES["points"]][:1],
    )


def adopt(policy: Any, network: Network) -> None:
    """The inverse of `export`, but for the scale of values, which a new run finds for itself.

    Raises:
        ValueError: The network is of another shape, or takes advice.
    """
    if network.advice is not None:
        raise ValueError("it takes advice, which a network of this trainer does not")
    trunk, actions = policy.features_extractor, policy.action_net
    scale = trunk.scale.numpy(force=True)
    first, *others = network.trunk
    shrunk = np.divide(
        first.weight, scale[:, None], where=scale[:, None] != 0, out=first.weight * 0
    )
    dense_layers(trunk.layers, (Layer(shrunk, first.bias), *others))
    fill(actions.dense, network.policy[-1], "policy")
    fill(policy.value_net, network.value[-1], "value")
    points = scale[FEATURES["points"]][0] * _POINTS_STEP
    with torch.no_grad():
        actions.step.fill_(float(network.points[0]) / points if points else 0.0)
