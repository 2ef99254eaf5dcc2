"""What a page of results is made of, read from disk."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.results import SUMMARY, Results, read_results

Rows = list[dict[str, Any]]
EVALUATIONS = "evaluations.csv"
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
        config=_beside(evaluations, "config.json"),
        versions=_beside(evaluations, "versions.json"),
        evaluations=_read_evaluations(evaluations) if evaluations else None,
        tournaments=[_read_tournament(folder) for folder in tournaments],
        benchmark=_read_json(speeds, "rows") if speeds else None,
    )


def _read_tournament(folder: Path) -> Results:
    results = read_results(folder)
    if not results.meetings:
        raise ValueError(f"{folder / SUMMARY} has no meeting with results, so nothing to show")
    return results


def _find(given: Path | None, usual: Path | None) -> Path | None:
    """Where a file is; None where it was not given and is not in the usual place."""
    if given and not given.is_file():
        raise ValueError(f"{given} is not there")
    return given or (usual if usual and usual.is_file() else None)


def _beside(file: Path | None, name: str) -> dict[str, Any] | None:
    """The JSON file of this name in the same folder, if there is one."""
    path = file and file.with_name(name)
    return _read_json(path) if path and path.is_file() else None


def _read_json(path: Path, *needed: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if not isinstance(content, dict) or not set(needed) <= set(content):
        fields = f" with {' and '.join(needed)}" if needed else ""
        raise ValueError(f"{path} is damaged: it must be a JSON object{fields}")
    return content


def _read_evaluations(path: Path) -> Rows:
    """The rows, numbers as numbers."""
    kinds = {"opponent": str, "decisions": int, "pairs": int}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [
                {name: kinds.get(name, float)(value) for name, value in row.items()}
                for row in csv.DictReader(file)
            ]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
