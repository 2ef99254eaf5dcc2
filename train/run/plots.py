"""Pictures of a run: strength over time and decisions, and speed."""

import csv
from pathlib import Path

from matplotlib.figure import Figure

from eval.run_files import EVALUATIONS, PROGRESS

_WIDTH, _HEIGHT = 9.0, 3.6


def draw_strength(run: Path) -> None:
    """Draws strength.png from evaluations.csv: points a round against greedy, with the interval."""
    with (run / EVALUATIONS).open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["opponent"] == "greedy"]
    points = [float(row["points_per_round"]) for row in rows]
    low, high = (
        [float(row[name] or row["points_per_round"]) for row in rows]
        for name in ("points_low", "points_high")
    )
    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    for axes, (column, unit, title) in zip(
        figure.subplots(1, 2, sharey=True),
        (("seconds", 60, "minutes"), ("decisions", 1e6, "million decisions")),
        strict=True,
    ):
        at = [float(row[column]) / unit for row in rows]
        axes.fill_between(at, low, high, alpha=0.25, label="95 % interval")
        axes.plot(at, points, marker="o", markersize=3)
        axes.axhline(0, color="grey", linewidth=0.8)
        axes.set_xlabel(title)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("points a round against greedy")
    figure.axes[0].legend(loc="lower right")
    figure.savefig(run / "strength.png", dpi=110)


def draw_speed(run: Path) -> None:
    """Draws speed.png from progress.csv: decisions a second of every update, if there was one."""
    if not (run / PROGRESS).exists():
        return
    with (run / PROGRESS).open(newline="") as file:
        rows = list(csv.DictReader(file))
    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.subplots()
    minutes = [float(row["seconds"]) / 60 for row in rows]
    axes.plot(minutes, [float(row["per_second"]) for row in rows], linewidth=0.8)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("minutes")
    axes.set_ylabel("decisions a second")
    axes.grid(alpha=0.3)
    figure.savefig(run / "speed.png", dpi=110)
