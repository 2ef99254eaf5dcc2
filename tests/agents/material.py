"""Networks, models and positions that the tests of agents use."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.cards import NETWORKS, Card
from agents.memory_network import NUM_TOKENS, Memory, MemoryNetwork
from agents.model import ModelAgent, save_model
from agents.network import Layer, Network
from fives_env.actions import NUM_ACTIONS
from fives_env.engine.features import NUM_FEATURES
from fives_env.games import Games

Array = npt.NDArray[Any]
ALL_RULES = [
    f"{game}:players={players}{partners}"
    for game in ("fives-and-threes", "threes-and-fives", "all-fives")
    for players, partners in ((2, ""), (3, ""), (4, ",partners=no"), (4, ",partners=yes"))
]
"""Every preset with every number of seats, partners too."""
MEMORY = 16
"""The size of a random network's memory."""


def random_network(seed: int = 0, width: int = 32, advice: bool = False) -> Network:
    """A small network with random weights."""
    rng = np.random.default_rng(seed)
    inputs = NUM_FEATURES + NUM_ACTIONS * advice

    def layer(inputs: int, outputs: int) -> Layer:
        weight = rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs)).astype(np.float32)
        return Layer(weight, rng.normal(0, 0.1, outputs).astype(np.float32))

    return Network(
        trunk=(layer(inputs, width), layer(width, width)),
        policy=(layer(width, NUM_ACTIONS),),
        value=(layer(width, 1),),
        points=rng.normal(size=1).astype(np.float32),
        advice=rng.normal(size=1).astype(np.float32) if advice else None,
    )


def random_memory_network(seed: int = 0, advice: bool = False) -> MemoryNetwork:
    """A small one with random weights, whose memory is not to be overheard."""
    rng = np.random.default_rng(seed)
    plain = random_network(seed)

    def draw(*sizes: int) -> Array:
        return rng.normal(size=sizes).astype(np.float32)

    first, *others = plain.trunk
    more = draw(MEMORY + advice * NUM_ACTIONS, 32)
    return MemoryNetwork(
        trunk=(Layer(np.concatenate([first.weight, more]), first.bias), *others),
        policy=plain.policy,
        value=plain.value,
        points=plain.points,
        advice=draw(1) if advice else None,
        memory=Memory(
            start=np.tanh(draw(MEMORY)),
            gates=draw(NUM_TOKENS, 3 * MEMORY),
            weight=draw(MEMORY, 3 * MEMORY) / 4,
            bias=draw(3 * MEMORY),
        ),
    )


def random_network_of(kind: str) -> Network:
    """A small network of this kind with random weights."""
    network = NETWORKS[kind]
    make = {Network: random_network, MemoryNetwork: random_memory_network}[network]
    return make(advice=kind == network.KINDS[1])


def random_card(rules: str, network: Network) -> Card:
    """The card of an untrained model."""
    return Card(rules=rules, network=network.shape, code={"fives_env": "0.0.test"})


def random_agent(rules: str, sample: bool = False, seed: int = 0) -> ModelAgent:
    """An untrained model that plays."""
    network = random_network(seed)
    return ModelAgent(network, random_card(rules, network), sample)


def random_model(folder: Path, rules: str, seed: int = 0, advice: bool = False) -> Path:
    """The same as files; returns the folder."""
    network = random_network(seed, advice=advice)
    save_model(folder, network, random_card(rules, network))
    return folder


def positions(rules: str, num_games: int = 24, seed: int = 5) -> tuple[Array, Array, Array]:
    """Views, masks and keys of seats to move, from the start of a match to late in it."""
    games = Games(rules, num_games)
    games.reset(seed)
    views, masks = [games.view()], [games.action_mask()]
    for steps in (2, 3, 5, 7, 11):
        games.rollout(steps, seed=seed + steps)
        goes_on = games.data["match_over"] == 0
        views.append(games.view()[goes_on])
        masks.append(games.action_mask()[goes_on])
    all_views, all_masks = np.concatenate(views), np.concatenate(masks)
    keys = np.random.default_rng(seed).integers(0, 1 << 64, len(all_views), np.uint64)
    return all_views, all_masks, keys
