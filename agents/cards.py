"""The card of a model: what card.json says, and whether it fits this version of the library."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from fives_env.actions import NUM_ACTIONS
from fives_env.engine.features import BLOCKS, NUM_FEATURES, OBS_VERSION
from fives_env.rules import Rules

from .files import read_json, shown
from .memory_network import MemoryNetwork
from .network import ACTIVATION, Network

NETWORKS = {kind: network for network in (Network, MemoryNetwork) for kind in network.KINDS}
"""The kinds of network that a card may name: a new one is a subclass of `Network`, named here."""
FORMAT = 1
"""Rises when the files of a model change in a way that older code cannot read."""
_SHAPE = {
    "rules": Rules.from_spec,
    "network": dict,
    "training?": dict,
    "code?": dict,
    "strength?": [dict],
}


def layout_hash() -> str:
    """A hash of the feature layout: names, sizes, order, bounds and meaning of all blocks."""
    text = json.dumps([list(block) for block in BLOCKS])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Card:
    """What is known of a model.

    Attributes:
        rules: Spec of the rules that it was trained for.
        network: Sizes and activation (`Network.shape`).
        training: How it was made: algorithm, settings, decisions, seconds.
        code: Versions of what made it.
        strength: Measured results, one dict an opponent.
        format: `FORMAT` of the files.
        obs_version: `OBS_VERSION` of the features.
        num_features: Their number.
        features: `layout_hash` of the features.
        num_actions: The number of actions.
    """

    rules: str
    network: dict[str, Any]
    training: dict[str, Any] = field(default_factory=dict)
    code: dict[str, str] = field(default_factory=dict)
    strength: list[dict[str, Any]] = field(default_factory=list)
    format: int = FORMAT
    obs_version: int = OBS_VERSION
    num_features: int = NUM_FEATURES
    features: str = field(default_factory=layout_hash)
    num_actions: int = NUM_ACTIONS

    def to_json(self) -> str:
        """The text of card.json."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads card.json and checks it against this version of the library.

        Raises:
            ValueError: It cannot be read, or does not fit; the message names both sides.
        """
        fields = read_json(path, _SHAPE)
        _check(path, fields)
        known = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        return cls(**known)


def _check(path: Path, card: dict[str, Any]) -> None:
    """Refuses a card that another version wrote."""
    here = {
        "format": (FORMAT, "model format"),
        "obs_version": (OBS_VERSION, "OBS_VERSION"),
        "num_features": (NUM_FEATURES, "number of features"),
        "features": (layout_hash(), "feature layout"),
        "num_actions": (NUM_ACTIONS, "number of actions"),
    }
    made = str(card.get("code", {}).get("fives_env", "?"))[:40]
    for name, (expected, title) in here.items():
        if card.get(name) != expected:
            raise ValueError(
                f"{path} does not fit this version: {title} is {shown(card.get(name))} there (made "
                f"by fives_env {made}) and {expected!r} here; train it anew"
            )
    network = card["network"]
    if network.get("kind") not in tuple(NETWORKS):  # it may be a list
        known = " or ".join(map(repr, NETWORKS))
        raise ValueError(f"{path}: network is {shown(network)}; this version knows kind {known}")
    if network.get("activation") != ACTIVATION:
        given = shown(network.get("activation"))
        raise ValueError(f"{path}: activation {given}; this version knows {ACTIVATION!r}")
