"""The learning curve of a training run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from eval.style import COLORS, plain_label

Rows = Sequence[dict[str, Any]]


def learning(evaluations: Rows) -> Figure:
    """Win rate against each opponent over the decisions of a training run."""
    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    axes = figure.subplots()
    opponents = list(dict.fromkeys(row["opponent"] for row in evaluations))
    for color, opponent in zip(COLORS * len(opponents), opponents, strict=False):
        rows = [row for row in evaluations if row["opponent"] == opponent]
        x = [row["decisions"] for row in rows]
        axes.plot(x, [row["win_rate"] for row in rows], "o-", color=color, ms=4, lw=2)
        low, high = ([row[end] for row in rows] for end in ("low", "high"))
        axes.fill_between(x, low, high, color=color, alpha=0.18, lw=0)
        end = (x[-1], rows[-1]["win_rate"])
        text = plain_label(f" {rows[-1]['win_rate']:.0%} against {opponent}")
        axes.annotate(
            text, end, xytext=(4, 0), textcoords="offset points", va="center", color=color
        )
    axes.axhline(0.5, color=COLORS[2], lw=1, ls=(0, (4, 3)), alpha=0.8)
    axes.set(title="Share of matches won", xlabel="decisions", ylim=(0, 1))
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    return figure
