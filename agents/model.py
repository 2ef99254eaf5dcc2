"""A learned agent, and the folder that it lives in: weights.safetensors and card.json.

Neither file can hold code. Nothing else is ever opened, no pickle above all.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from fives_env.jit import jit
from fives_env.records import make_params
from fives_env.rules import PRESETS, Rules

from .cards import NETWORKS, Card
from .files import replace_file, shown
from .network import Network
from .tensors import read_tensors

Array = npt.NDArray[Any]
WEIGHTS, CARD = "weights.safetensors", "card.json"
_MUST_AGREE = ("game", "num_players", "num_sides", "set")


class ModelAgent:
    """Plays a network: its best legal action, or one drawn by its probabilities and the row's key.

    It plays every variant of the game, and with the number of seats, that it was trained for.

    Attributes:
        network: The network.
        card: What is known of it.
        sample: Whether it draws its actions.
    """

    def __init__(self, network: Network, card: Card, sample: bool = False) -> None:
        """Takes a network that fits its card (`load_model` checks that of files)."""
        self.network = network
        self.card = card
        self.sample = sample
        self._trained_for = make_params(Rules.from_spec(card.rules))[0]

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        """As `Policy.act`.

        Raises:
            ValueError: The views are of another game or number of seats, or a row has no legal
                action; the message names what does not fit.
        """
        self._refuse_other_games(views)
        legal = np.ascontiguousarray(masks, np.bool_)
        _refuse_empty(views, legal)
        logits = self.network.logits(self.inputs(views))
        actions = np.empty(len(views), np.int64)
        _choose(logits, legal, np.ascontiguousarray(keys, np.uint64), self.sample, actions)
        return actions

    def inputs(self, views: Array) -> Array:
        """As `Network.inputs`."""
        return self.network.inputs(views)

    def __repr__(self) -> str:
        """Names the rules and the way of choosing."""
        return f"ModelAgent({self.card.rules}, {'sample' if self.sample else 'arg-max'})"

    def _refuse_other_games(self, views: Array) -> None:
        for name in _MUST_AGREE:
            other = views["rules"][name] != self._trained_for[name]
            if other.any():
                rules = views["rules"][int(np.argmax(other))]
                raise ValueError(
                    f"the model was trained for {_describe(self._trained_for)} "
                    f"({self.card.rules}) and is asked to play {_describe(rules)}"
                )


def load_model(folder: str | os.PathLike[str], sample: bool = False) -> ModelAgent:
    """Opens a model.

    Args:
        folder: The model's folder, or the run folder that holds it as ``model/``.
        sample: Whether it draws its actions instead of taking the best.

    Raises:
        ValueError: One line that says what is missing or does not fit.
    """
    where = _model_folder(Path(folder))
    card = Card.read(where / CARD)
    path = where / WEIGHTS
    tensors, _ = read_tensors(path)
    try:
        network = NETWORKS[card.network["kind"]].from_tensors(tensors)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if network.shape != {name: card.network.get(name) for name in network.shape}:
        there, said = shown(network.shape), shown(card.network)
        raise ValueError(f"{path} holds the network {there}, its card says {said}")
    return ModelAgent(network, card, sample)


def save_model(folder: str | os.PathLike[str], network: Network, card: Card) -> None:
    """Writes a model, whole or not at all; an older one in the folder is replaced.

    Each file is replaced atomically. Within one run only numbers that inform change in the card, so
    whatever moment a run is killed at, the two files that lie there fit each other.
    """
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    replace_file(where / WEIGHTS, save(network.tensors()))
    replace_file(where / CARD, card.to_json().encode())


def _model_folder(folder: Path) -> Path:
    for where in (folder, folder / "model"):
        if (where / CARD).is_file():
            return where
    if not folder.is_dir():
        raise ValueError(f"there is no model in {str(folder)!r}: it is not a folder")
    raise ValueError(
        f"there is no model in {str(folder)!r}: it needs {WEIGHTS} and {CARD} "
        "(python -m train writes them)"
    )


def _refuse_empty(views: Array, masks: Array) -> None:
    empty = ~masks.any(axis=1)
    if empty.any():
        row = int(np.argmax(empty))
        view = views[row]
        state = "its match is over" if view["match_over"] else "its match goes on"
        raise ValueError(
            f"row {row} has no legal action: seat {view['viewer']} looks in round {view['round']} "
            f"after {view['num_moves']} moves, seat {view['seat']} is to move, {state}"
        )


def _describe(params: Any) -> str:
    """PARAMS as the words that tell games apart."""
    title = list(PRESETS.values())[int(params["game"])].title
    partners = " in partners" if params["num_sides"] < params["num_players"] else ""
    tiles = int(params["num_tiles"])
    small = "" if tiles == 28 else f" on {tiles} tiles"
    return f"{title} with {params['num_players']} players{partners}{small}"


@jit
def _choose(logits: Array, masks: Array, keys: Array, sample: bool, actions: Array) -> None:
    """The first best legal action, or one by the inverse distribution function at the key."""
    chances = np.empty(logits.shape[1], np.float64)
    for row in range(len(logits)):
        best = -1
        for action in range(logits.shape[1]):
            if masks[row, action] and (best < 0 or logits[row, action] > logits[row, best]):
                best = action
        actions[row] = best
        if not sample:
            continue
        total = 0.0
        for action in range(logits.shape[1]):
            if masks[row, action]:
                total += np.exp(np.float64(logits[row, action]) - np.float64(logits[row, best]))
            chances[action] = total
        # 53 bits of the key: a number in [0, 1).
        threshold = total * np.float64(keys[row] >> np.uint64(11)) / 9007199254740992.0
        for action in range(logits.shape[1]):
            if masks[row, action] and chances[action] > threshold:
                actions[row] = action
                break
