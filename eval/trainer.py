"""``python -m train`` in a process of its own: what measures imports nothing of what trains."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
STOPPED = 130
"""Exit code of a run that was told to stop."""


def train(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    """Runs ``python -m train`` with these arguments, and says nothing of its own.

    Args:
        arguments: What stands behind ``train``; paths are relative to where this process is.
        environment: Variables beside those of this process.

    Raises:
        ValueError: It failed; the message has its last line.
        KeyboardInterrupt: It was stopped.
    """
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-m", "train", *arguments],
        env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode == STOPPED:
        raise KeyboardInterrupt
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise ValueError(f"training failed with exit code {done.returncode}: {lines[-1]}")
