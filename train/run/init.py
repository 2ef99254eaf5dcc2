"""A run that starts from the weights of a trained model: ``--init model:PATH``."""

import torch
from torch import nn

from agents import make_agent
from agents.model import ModelAgent
from agents.network import Layer
from fives_env.rules import Rules


def trained_model(init: str, rules: Rules) -> ModelAgent:
    """The model of this spec, which must have been trained for these seats and this game.

    Raises:
        ValueError: There is none, or it is of another game or kind.
    """
    agent = make_agent(init)
    if not isinstance(agent, ModelAgent):
        raise ValueError(f"--init {init} is no model; write model:NAME or model:PATH")
    theirs = Rules.from_spec(agent.card.rules)
    for name in ("game", "players", "num_sides"):
        if getattr(theirs, name) != getattr(rules, name):
            raise ValueError(
                f"--init {init} was trained for {theirs.spec}, which has {name}="
                f"{getattr(theirs, name)}; the run is of {rules.spec}"
            )
    if agent.network.NO_INIT:
        raise ValueError(f"--init {init} {agent.network.NO_INIT}")
    return agent


def fill(linear: nn.Module, layer: Layer, name: str) -> None:
    """Puts the weights of an agent's layer into one that is trained.

    Raises:
        ValueError: They differ in shape; the message calls the layer `name`.
    """
    assert isinstance(linear, nn.Linear)
    weight = torch.from_numpy(layer.weight.T.copy())
    if weight.shape != linear.weight.shape:
        there, here = list(layer.weight.shape), list(linear.weight.shape[::-1])
        raise ValueError(f"its {name} layer is {there}, the settings make it {here} (see hidden)")
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.copy_(torch.from_numpy(layer.bias.copy()))


def layer_of(linear: nn.Module) -> Layer:
    """A copy of a linear layer, for the agent: the inverse of `fill`."""
    assert isinstance(linear, nn.Linear)
    weight, bias = linear.weight.numpy(force=True), linear.bias.numpy(force=True)
    return Layer(weight.T.copy(), bias.copy())


def dense_layers(trunk: nn.Sequential, layers: tuple[Layer, ...]) -> None:
    """Fills all layers of a trunk.

    Raises:
        ValueError: There is another number of them, or one has another shape.
    """
    linears = [part for part in trunk if isinstance(part, nn.Linear)]
    if len(linears) != len(layers):
        raise ValueError(f"it has {len(layers)} hidden layers, the settings make {len(linears)}")
    for index, (linear, layer) in enumerate(zip(linears, layers, strict=True)):
        fill(linear, layer, f"trunk.{index}")
