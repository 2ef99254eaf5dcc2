"""The venv that the peers are installed in, and the run that measures them there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
MEASURE = HERE / "measure.py"
# Written last: a venv without it was left half made, by a killed run or a failed install.
MARKER = "installed"


class PeersError(RuntimeError):
    """The peers could not be installed or measured; the message is one line that says why."""


def run_peers(seconds: float, cpu: int | None) -> list[dict[str, Any]]:
    """Measures the peers, after installing them if they are missing.

    What it does is told on standard error, a line each.

    Args:
        seconds: The wall-clock time of each of two stretches a peer; the faster counts.
        cpu: The core to run on, where the OS allows it; None leaves the choice to `measure.py`.

    Returns:
        The rows of `measure.py`, first those with a `per_second`, then those of peers that could
        not be measured: they have an `error` (one line) and no `per_second`.

    Raises:
        PeersError: The venv cannot be made, pip fails, or `measure.py` does.
    """
    document = measure(ensure_venv(), seconds, cpu)
    return [*document["rows"], *document["errors"]]


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/fives`, or `~/.cache/fives` where that is not set."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification has relative paths ignored.
    return (base if base.is_absolute() else Path.home() / ".cache") / "fives"


def venv_folder() -> Path:
    """Where the peers' venv lies: a folder of its own for each requirements and each Python."""
    wanted = REQUIREMENTS.read_bytes() + repr(sys.version_info[:2]).encode()
    return cache_folder() / f"peers-{hashlib.sha256(wanted).hexdigest()[:12]}"


def venv_python(folder: Path) -> Path:
    """The Python of the venv in `folder`."""
    windows = sys.platform == "win32"
    return folder / ("Scripts/python.exe" if windows else "bin/python")


def is_finished(folder: Path) -> bool:
    """Whether `folder` is a venv that was installed to the end, and whose Python is still there."""
    return (folder / MARKER).is_file() and venv_python(folder).exists()


def ensure_venv() -> Path:
    """Makes the peers' venv if it is missing or half made, and returns its Python.

    Raises:
        PeersError: The folder cannot be written, or the venv cannot be made or filled.
    """
    folder = venv_folder()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_suffix(".lock")):
            if not is_finished(folder):
                _make(folder)
    except OSError as error:
        raise PeersError(f"cannot make the peers' venv in {folder}: {error}") from error
    return venv_python(folder)


def _make(folder: Path) -> None:
    if folder.exists():
        _say(f"removing {folder}, which was left half made")
        shutil.rmtree(folder)
    _say(f"making a venv for the peers in {folder}")
    _call([sys.executable, "-m", "venv", str(folder)], "making the peers' venv")
    _say(f"installing {REQUIREMENTS.name} into it (about 750 MB, a minute or two)")
    pip = [str(venv_python(folder)), "-m", "pip", "install", "--quiet", "--no-input"]
    options = ["--disable-pip-version-check", "--requirement", str(REQUIREMENTS)]
    _call(pip + options, "installing the peers with pip")
    (folder / MARKER).write_bytes(REQUIREMENTS.read_bytes())


def _call(command: list[str], doing: str) -> None:
    """Runs a command quietly; its last line that tells of an error becomes the message."""
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", env=_environment(), check=False
    )
    if done.returncode == 0:
        return
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    why = (errors or lines or ["it said nothing"])[-1]
    raise PeersError(f"{doing} failed (exit code {done.returncode}): {why}")


def measure(python: Path, seconds: float, cpu: int | None) -> dict[str, Any]:
    """Runs `measure.py` with `python`, and returns its document.

    Raises:
        PeersError: It did not start, failed, or printed something else.
    """
    command = [str(python), str(MEASURE), "--seconds", str(seconds)]
    if cpu is not None:
        command += ["--cpu", str(cpu)]
    _say("measuring the peers on one core")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, env=_environment(), check=False)
    except OSError as error:
        raise PeersError(f"cannot run {python}: {error}") from error
    if done.returncode != 0:
        raise PeersError(f"measuring the peers failed (exit code {done.returncode})")
    return parse(done.stdout)


def parse(output: bytes) -> dict[str, Any]:
    """The document of `measure.py`, with its `rows` and `errors` checked.

    Raises:
        PeersError: `output` is not such a document.
    """
    try:
        document = json.loads(output)
        good = all("per_second" in row for row in document["rows"])
        good = good and all("error" in row for row in document["errors"])
    except (ValueError, KeyError, TypeError):
        good = False
    if not good:
        raise PeersError(f"measure.py printed no rows but {output[:80]!r}")
    return dict(document)


def _environment() -> dict[str, str]:
    """Ours, less what would let packages of other Pythons into the peers' venv."""
    foreign = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return {**kept, "PYTHONNOUSERSITE": "1"}


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time makes the venv; the others wait and find it made."""
    with path.open("w") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    print(f"peers: {line}", file=sys.stderr, flush=True)
