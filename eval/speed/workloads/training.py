"""How fast training is: ``python -m train`` as its users run it, for a stated time."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

from eval.run_files import EVALUATIONS
from eval.speed.trainer import train

SB3, SELFPLAY, SAME_NETWORK = "train sb3", "train selfplay", "train selfplay, without advice"
_SELFPLAY = ("selfplay", "--device", "cpu")
WAYS = {
    SB3: ("sb3", "--opponents", "greedy"),
    SELFPLAY: _SELFPLAY,
    SAME_NETWORK: (*_SELFPLAY, "--learner.no-advice"),
}
"""The commands of ``python -m train`` that are measured; sb3 takes no advice."""
_NEVER = "1000000"
_LEARNING_ALONE = (
    *("--evaluate-every", _NEVER, "--checkpoint-every", _NEVER),
    *("--pairs", "2", "--final-pairs", "2"),
)


def training_rows(rules: str, seconds: float) -> list[dict[str, Any]]:
    """Decisions a second of each way to train, its default network, one thread of PyTorch.

    Returns:
        One row a way; with `error` in place of `per_second` where a run failed.
    """
    return [_row(what, way, rules, seconds) for what, way in WAYS.items()]


def _row(what: str, way: tuple[str, ...], rules: str, seconds: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "what": what,
        "rules": rules,
        "batch": 1,
        "threads": 1,
        "unit": "decisions/s",
        "counts": f"decisions that are played and learned from in {seconds:g} s, all in the time",
    }
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        limits = ("--minutes", repr(seconds / 60), "--seed", "1", "--threads", "1")
        where = ("--rules", rules, "--out", str(run))
        arguments = [*way, *where, *limits, *_LEARNING_ALONE]
        try:
            train(arguments, {"OMP_NUM_THREADS": "1"})
        except ValueError as error:
            return {**row, "error": str(error)}
        with (run / EVALUATIONS).open(newline="") as file:
            last = list(csv.DictReader(file))[-1]
    return {**row, "per_second": float(last["decisions"]) / float(last["seconds"])}
