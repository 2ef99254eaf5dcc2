"""What a page of results is made of, read from disk."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.files import conform, read_json, read_text, share, shown, whole
from eval.run_files import CONFIG, EVALUATIONS, VERSIONS
from eval.speed.compare import read as read_benchmark
from eval.tournament.results import SUMMARY, Results, read_results

_EVALUATION: dict[str, tuple[Callable[[str], Any], Any]] = {
    "decisions": (int, whole(0, 1 << 53)),
    "seconds": (float, float),
    "opponent": (str, str),
    "pairs": (int, whole(0, 1 << 53)),
    "win_rate": (float, share),
    "low": (float, share),
    "high": (float, share),
    "points_per_round": (float, float),
}
"""The columns of evaluations.csv that are shown: how each is read, and what it must be."""
Rows = list[dict[str, Any]]
TOURNAMENT = "tournament"
BENCHMARK = "benchmark/benchmark.json"


@dataclass(frozen=True)
class Parts:
    """What a page is made of; None where it is missing.

    Attributes:
        config: Settings of the training run.
        versions: Of what trained.
        evaluations: Of the training run, the first first.
        tournaments: The results of each.
        benchmark: The document of the benchmark.
    """

    config: dict[str, Any] | None = None
    versions: dict[str, Any] | None = None
    evaluations: Rows | None = None
    tournaments: Sequence[Results] = ()
    benchmark: dict[str, Any] | None = None


def read_parts(
    demo: Path | None, train: Path | None, tournaments: Sequence[Path], benchmark: Path | None
) -> Parts:
    """Reads what there is.

    Args:
        demo: A folder in which parts that are not given are looked for.
        train: The folder of a training run.
        tournaments: The folders of tournaments.
        benchmark: The file of a benchmark.

    Raises:
        ValueError: A part that was given is missing, a file is damaged, or there is nothing at all.
    """
    if demo and not demo.is_dir():
        raise ValueError(f"--demo {demo} is not a folder")
    evaluations = _find(train and train / EVALUATIONS, demo and demo / "train" / EVALUATIONS)
    if not tournaments and demo and (demo / TOURNAMENT / SUMMARY).is_file():
        tournaments = [demo / TOURNAMENT]
    speeds = _find(benchmark, demo and demo / BENCHMARK)
    if not (evaluations or tournaments or speeds):
        raise ValueError(
            f"there is nothing to show in {demo}: it has no train/{EVALUATIONS}, no "
            f"{TOURNAMENT}/{SUMMARY} and no {BENCHMARK}"
            if demo
            else "report needs one of --train, --tournament and --benchmark"
        )
    return Parts(
        config=_beside(evaluations, CONFIG),
        versions=_beside(evaluations, VERSIONS),
        evaluations=_read_evaluations(evaluations) if evaluations else None,
        tournaments=[_read_tournament(folder) for folder in tournaments],
        benchmark=read_benchmark(speeds) if speeds else None,
    )


def _read_tournament(folder: Path) -> Results:
    results = read_results(folder)
    if not results.meetings:
        raise ValueError(f"{folder / SUMMARY} has no meeting with results, so nothing to show")
    return results


def _find(given: Path | None, usual: Path | None) -> Path | None:
    """Where a file is; None where it was not given and is not in the usual place."""
    if given and not given.exists():
        raise ValueError(f"{given} is not there")
    return given or (usual if usual and usual.exists() else None)


def _beside(file: Path | None, name: str) -> dict[str, Any] | None:
    """The JSON file of this name in the same folder, if there is one."""
    path = file and file.with_name(name)
    return read_json(path) if path and path.exists() else None


def _read_evaluations(path: Path) -> Rows:
    """The rows, numbers as numbers; a last line that is half written is left out."""
    text = read_text(path)
    reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1], newline=""))
    try:
        missing = [name for name in _EVALUATION if name not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"it has no column {missing[0]}")
        return [_evaluation(row, f"line {reader.line_num}") for row in reader]
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def _evaluation(row: dict[str, str | None], line: str) -> dict[str, Any]:
    """The values of one line."""
    values: dict[str, Any] = {}
    for name, (kind, shape) in _EVALUATION.items():
        try:
            values[name] = kind(row[name] or "")
            conform(values[name], shape)
        except (ValueError, OverflowError):
            words = "a whole number" if kind is int else "a number"
            raise ValueError(f"{line}: {name} is {shown(row[name])}, not {words}") from None
    return values
