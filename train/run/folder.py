"""The folder of a run: what was asked, what made it, its log, its evaluations and its model.

- lock: who writes to it, as long as somebody does
- config.json: the settings
- versions.json: versions of this code, of Python and of the libraries
- train.log: what happened when
- progress.csv: one line an update
- tensorboard/: the same for TensorBoard
- evaluations.csv: one line an evaluation and opponent
- strength.png, speed.png: pictures of both
- checkpoint.safetensors: what a run goes on from (checkpoint.py)
- model/: weights.safetensors and card.json; ``model:RUN`` plays it
- pool/: snapshots, models like that, and pool.json: who was met, with results
"""

import csv
import io
import json
import logging
import os
import platform
import shutil
import subprocess
from contextlib import ExitStack
from dataclasses import asdict, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from agents.files import replace_file
from agents.locks import LOCK, hold
from eval.run_files import CONFIG, EVALUATION_COLUMNS, EVALUATIONS, PROGRESS, VERSIONS
from fives_env.engine.features import OBS_VERSION
from train.run.checkpoint import CHECKPOINT

_OWN = {
    *(LOCK, CONFIG, VERSIONS, "train.log", PROGRESS, EVALUATIONS),
    *("tensorboard", "model", "pool"),
}
"""What a run has written by its first checkpoint."""
_LIBRARIES = (
    "fives-env",
    "numpy",
    "numba",
    "gymnasium",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
)


class RunFolder:
    """A run's folder, opened for writing and kept from others up to the end of a ``with`` block.

    Attributes:
        path: Where it is.
        log: Writes to train.log.
        versions: What is in versions.json.
    """

    path: Path
    log: logging.Logger
    versions: dict[str, str]

    def __init__(self, path: Path, config: Any) -> None:
        """Makes the folder and writes down the settings (a dataclass) and the versions.

        Raises:
            ValueError: As for `check_new`.
        """
        self.path, self._held = path, ExitStack()
        try:
            path.mkdir(parents=True, exist_ok=True)
            check_new(path)
            self._held.enter_context(hold(path))
            _empty(path)
            self.versions = code_versions()
            _write_json(path / CONFIG, config)
            _write_json(path / VERSIONS, self.versions)
            with (path / EVALUATIONS).open("w", newline="") as file:
                csv.writer(file).writerow(EVALUATION_COLUMNS)
            self.log = _open_log(path / "train.log")
        except OSError as error:
            raise ValueError(f"{path} cannot be a run folder: {error.strerror}") from None

    @classmethod
    def reopen(cls, path: Path, config: Any, decisions: int) -> Self:
        """Opens the folder of a run that goes on from its checkpoint after so many decisions.

        What was written down later is taken away; it will be written again.

        Raises:
            ValueError: It cannot be written to.
        """
        folder = object.__new__(cls)
        folder.path, folder.versions = path, code_versions()
        folder._held = ExitStack()
        try:
            folder._held.enter_context(hold(path))
            for name in (PROGRESS, EVALUATIONS):
                _cut(path / name, decisions)
            _write_json(path / CONFIG, config)
            folder.log = _open_log(path / "train.log")
        except OSError as error:
            raise ValueError(f"{path} cannot be a run folder: {error.strerror}") from None
        folder.log.info("going on after %s decisions, with %s", decisions, folder.versions)
        return folder

    @property
    def model(self) -> Path:
        """The folder of the model."""
        return self.path / "model"

    def add_evaluation(self, row: dict[str, Any]) -> None:
        """Adds a line to evaluations.csv, and one to the log."""
        with (self.path / EVALUATIONS).open("a", newline="") as file:
            csv.DictWriter(file, EVALUATION_COLUMNS).writerow(row)
        self.log.info("evaluated: %s", ", ".join(f"{name}={value}" for name, value in row.items()))

    def __enter__(self) -> Self:
        """It is open already."""
        return self

    def __exit__(self, *error: object) -> None:
        """Closes the log, and lets others write."""
        for handler in list(self.log.handlers):
            self.log.removeHandler(handler)
            handler.close()
        self._held.close()


def check_new(path: Path) -> None:
    """Refuses a folder in which no run can begin, before the work.

    Raises:
        ValueError: It is not new, empty or that of a run which was killed before its first
            checkpoint; or it cannot be written to.
    """
    try:
        if path.exists() and not only_begun(path):
            raise ValueError(f"{path} is not empty; a run needs a new or an empty folder")
        there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            raise ValueError(f"{path} cannot be a run folder: {there} cannot be written to")
    except OSError as error:
        raise ValueError(f"{path} cannot be a run folder: {error.strerror}") from None


def only_begun(path: Path) -> bool:
    """Whether the folder holds nothing, or a run that has no checkpoint and has learned nothing."""
    names = {entry.name for entry in path.iterdir()}
    written = [*_OWN, CHECKPOINT]  # each under a passing name at first (agents/files.py)
    passing = {name for name in names if any(name.startswith(f".{own}.") for own in written)}
    passing |= names & {LOCK}
    if CHECKPOINT in names or not names <= _OWN | passing:
        return False
    lines = path / PROGRESS
    return names == passing or (CONFIG in names and not (lines.exists() and _num_lines(lines) > 1))


def _num_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _empty(path: Path) -> None:
    """Takes away what a run left that never came to its first checkpoint."""
    for entry in path.iterdir():
        if entry.name == LOCK:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def code_versions() -> dict[str, str]:
    """Versions of this code, of Python and of the libraries that decide what a run does."""
    versions = {
        "commit": _git_describe(),
        "obs_version": str(OBS_VERSION),
        "python": platform.python_version(),
    }
    for library in _LIBRARIES:
        try:
            versions[library.replace("-", "_")] = metadata.version(library)
        except metadata.PackageNotFoundError:
            versions[library.replace("-", "_")] = "not installed"
    return versions


def _cut(path: Path, decisions: int) -> None:
    """Keeps the lines up to so many decisions, and none that was written in part."""
    if not path.exists():
        return
    with path.open(newline="") as file:
        head, *rows = list(csv.reader(file)) or [[]]
    at = head.index("decisions") if "decisions" in head else 0
    kept = [row for row in rows if len(row) == len(head) and float(row[at]) <= decisions]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([head, *kept])
    replace_file(path, text.getvalue().encode())


def _git_describe() -> str:
    """The commit of the checkout that this file is in; ``unknown`` outside of one."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--tags"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


def _write_json(path: Path, content: Any) -> None:
    fields = asdict(content) if is_dataclass(content) and not isinstance(content, type) else content
    replace_file(path, (json.dumps(fields, indent=2, default=str) + "\n").encode())


def _open_log(path: Path) -> logging.Logger:
    log = logging.Logger(f"train.{path}")  # not in the global tree: nothing is left behind
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log.addHandler(handler)
    return log
