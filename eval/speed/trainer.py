"""``python -m train`` in a process of its own: what measures imports nothing of what trains."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.command_line import INTERRUPTED, TERMINATED

ROOT = Path(__file__).parents[2]
_PR_SET_PDEATHSIG = 1
"""Of Linux's prctl: the signal that a process is sent when its parent ends, in whatever way."""


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
    process = subprocess.Popen(
        [sys.executable, "-m", "train", *arguments],
        env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # it hears of Ctrl-C from here alone, and once
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )
    try:
        _, said = process.communicate()
    except KeyboardInterrupt:
        process.terminate()
        process.communicate()  # it saves, and ends; a second Ctrl-C ends it at once
        raise
    finally:
        process.kill()
    if process.returncode in (INTERRUPTED, TERMINATED):
        raise KeyboardInterrupt
    if process.returncode:
        lines = said.strip().splitlines() or ["it said nothing"]
        raise ValueError(f"training failed with exit code {process.returncode}: {lines[-1]}")


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
