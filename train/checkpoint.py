"""The checkpoint of a run: one safetensors file with everything that decides how it goes on.

Tensors are weights, optimizer moments, generators and games in progress (records as bytes); the
rest is JSON text in the file's metadata. The file is replaced atomically, so that at any moment one
whole checkpoint lies there. Neither part can hold code.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.files import replace_file

Array = npt.NDArray[Any]
CHECKPOINT = "checkpoint.safetensors"
FORMAT = 1
"""Rises when checkpoints change in a way that older code cannot read."""


def write_checkpoint(folder: Path, tensors: dict[str, Array], facts: dict[str, Any]) -> None:
    """Writes tensors and facts (what JSON can hold) in place of the last checkpoint."""
    text = json.dumps({"format": FORMAT, **facts})
    whole = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
    replace_file(folder / CHECKPOINT, save(whole, {"facts": text}))


def read_checkpoint(folder: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """The tensors and facts that were written last.

    Raises:
        ValueError: There is no checkpoint, or it is damaged or of another version.
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
    return tensors, facts
