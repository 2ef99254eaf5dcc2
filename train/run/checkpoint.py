"""The checkpoint of a run: one safetensors file with everything that decides how it goes on.

Tensors are weights, optimizer moments, generators and games in progress (records as bytes); the
rest is JSON text in the file's metadata: what the trainer needs, the run's settings, and what its
numbers mean to the code that wrote them. The file is replaced atomically, so that at any moment one
whole checkpoint lies there. Neither part can hold code.
"""

import hashlib
import json
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.cards import layout_hash
from agents.files import replace_file, shown
from fives_env.actions import NUM_ACTIONS
from fives_env.engine.features import OBS_VERSION
from fives_env.records import GAME

Array = npt.NDArray[Any]
CHECKPOINT = "checkpoint.safetensors"
FORMAT = 3
"""Rises when checkpoints change in a way that older code cannot read."""

LIMITS = ("minutes", "decisions")
"""Settings that say how far a run goes."""
_ABOUT = {
    *LIMITS,
    *("out", "threads", "device", "ray", "workers"),
    *("evaluate_every", "checkpoint_every", "pairs", "final_pairs"),
}
"""Settings that may change while a run goes on: they are about it, not about what it learns."""


def write_checkpoint(
    folder: Path, tensors: dict[str, Array], facts: dict[str, Any], config: Any
) -> None:
    """Writes a checkpoint in place of the last one.

    Args:
        folder: Of the run.
        tensors: By name.
        facts: What the trainer needs beside them; what JSON can hold.
        config: The run's settings, a dataclass.
    """
    own = {"format": FORMAT, "meaning": meaning(), "settings": settings_of(config)}
    text = json.dumps({**own, "made_by": metadata.version("fives-env"), **facts})
    whole = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
    replace_file(folder / CHECKPOINT, save(whole, {"facts": text}))


def meaning() -> dict[str, Any]:
    """What the numbers in a checkpoint mean to this version, by what it is called."""
    return {
        "OBS_VERSION": OBS_VERSION,
        "feature layout": layout_hash(),
        "number of actions": NUM_ACTIONS,
        "record of a game": hashlib.sha256(repr(GAME.descr).encode()).hexdigest()[:16],
    }


def settings_of(config: Any) -> dict[str, Any]:
    """A dataclass of settings as JSON has it."""
    settings: dict[str, Any] = json.loads(json.dumps(asdict(config), default=str))
    return settings


def read_checkpoint(folder: Path, config: Any = None) -> tuple[dict[str, Array], dict[str, Any]]:
    """The tensors and facts that were written last.

    Args:
        folder: Of the run.
        config: The settings with which it is to go on, which must be those that it had, but for
            those that do not decide what is learned; None to read it whatever they are.

    Raises:
        ValueError: There is no checkpoint; it is damaged, of another version, in which the same
            numbers mean something else, or of other settings.
    """
    path = folder / CHECKPOINT
    if not path.is_file():
        raise ValueError(f"there is no checkpoint in {str(folder)!r}: it needs {CHECKPOINT}")
    try:
        with safe_open(path, "numpy") as file:
            facts = json.loads((file.metadata() or {})["facts"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError):
        raise ValueError(f"{path} is not a whole checkpoint") from None
    if facts.get("format") != FORMAT:
        raise ValueError(f"{path} has format {facts.get('format')}; this version reads {FORMAT}")
    for name, here in meaning().items():
        if (there := facts.get("meaning", {}).get(name)) != here:
            raise ValueError(
                f"{path} does not fit this version: {name} is {shown(there)} there (made by "
                f"fives_env {facts.get('made_by', '?')}) and {here!r} here; go on with that "
                "version, or train anew"
            )
    if config is not None:
        _refuse_other_settings(path, facts["settings"], settings_of(config))
    return tensors, facts


def _refuse_other_settings(path: Path, there: dict[str, Any], here: dict[str, Any]) -> None:
    before, now = _flat(there), _flat(here)
    for name in sorted(before.keys() | now.keys()):
        if name.split(".")[0] not in _ABOUT and before.get(name) != now.get(name):
            raise ValueError(
                f"{path} was written with {name}={shown(before.get(name))}, config.json says "
                f"{shown(now.get(name))}; --init model:RUN starts another run from its weights"
            )


def _flat(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The settings by names like ``learner.clip_range``."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
