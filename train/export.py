"""``python -m train export``: a trained model as an ONNX file."""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from agents.terminal import say


@dataclass(frozen=True)
class Export:
    """Writes a trained model as an ONNX file, with the action mask as an input."""

    model: Positional[Path]
    """The model's folder, or the run that made it."""
    out: Path
    """The file; an older one is replaced."""


def run(options: Export) -> int:
    """Writes the file; returns the exit code."""
    from agents.onnx_export import export  # needs onnx, which `--help` does without

    export(options.model, options.out)
    say(f"{options.model} is in {options.out}")
    return 0
