"""The look of all pictures, and those of training and speed, as matplotlib figures."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from agents.terminal import printable
from eval import workloads as ours
from eval.timing import find

Rows = Sequence[dict[str, Any]]
COLORS = ("#2383bd", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's, which colour-blind people can tell apart; the blue lighter, for dark pages."""
INK = "#123456"
"""Stands for the colour of a page's text in figures that are put on one."""

_LABELS = {ours.ROLLOUT: "rollout, all in compiled code", ours.STEP: "step, masks and views out"}
_STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 11,
    "axes.titlepad": 12,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.2,
    "legend.frameon": False,
}
_INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "grid.color")


def style(ink: str = "black") -> AbstractContextManager[None]:
    """The look of all figures, with text and axes in the colour `ink`."""
    colors = dict.fromkeys((*_INKED, "xtick.color", "ytick.color"), ink)
    return mpl.rc_context(_STYLE | colors)


def plain_label(text: str) -> str:
    """Any text for a picture, in which matplotlib sees no formula."""
    return printable(text).replace("$", r"\$")


def png(draw: Callable[[Rows], Figure], rows: Rows) -> bytes:
    """A picture of these rows as a PNG file."""
    written = io.BytesIO()
    with style():
        draw(rows).savefig(written, format="png", dpi=130)
    return written.getvalue()


def speed(rows: Rows) -> Figure:
    """Cost by batch size, and speed by threads."""
    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _cost_by_batch(left, rows)
    _speed_by_threads(right, rows)
    return figure


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


def time_shares(rows: Rows) -> Figure:
    """Where the time of a step goes, a bar for each of these rows."""
    figure = Figure(figsize=(9.6, 0.7 + 0.65 * len(rows)), layout="constrained")
    axes = figure.subplots()
    names = []
    for place, row in enumerate(reversed(rows)):
        parts, left = _step_parts(row), 0.0
        whole = sum(parts.values())
        what = plain_label(row["what"])
        names.append(f"{what}, {row['batch']:,} games:\n{whole:,.0f} ns")
        for color, (name, spent) in zip(COLORS, parts.items(), strict=False):
            share = spent / whole
            axes.barh(place, share, left=left, height=0.7, color=color)
            if share > 0.06:
                text = f"{plain_label(name)}\n{spent:,.0f} ns"
                middle = left + share / 2
                axes.text(middle, place, text, ha="center", va="center", color="white", fontsize=8)
            left += share
    axes.set_yticks(range(len(rows)), names)
    axes.set(xlim=(0, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return figure


def _step_parts(row: dict[str, Any]) -> dict[str, float]:
    """The parts of a row that add up to a step: of the vector env, the rest is what is left."""
    parts = dict(row["parts_ns"])
    if row["what"] != ours.VECTOR:
        return parts
    step = parts.pop("step", 0.0)
    return {"games, opponents, infos": max(0.0, step - sum(parts.values())), **parts}


def _cost_by_batch(axes: Axes, rows: Rows) -> None:
    for color, what in zip(COLORS, _LABELS, strict=False):
        found = [
            (batch, 1e9 / row["per_second"])
            for batch in ours.BATCHES
            if (row := find(rows, what=what, rules=ours.FIVES_AND_THREES, batch=batch, threads=1))
        ]
        if found:
            axes.loglog(
                *zip(*found, strict=True), "o-", color=color, label=_LABELS[what], ms=5, lw=2
            )
            axes.annotate(
                f"{found[-1][1]:,.0f} ns",
                found[-1],
                xytext=(0, 7),
                textcoords="offset points",
                ha="right",
                color=color,
            )
    axes.set(title="Cost of a step by batch size", xlabel="games", ylabel="nanoseconds")
    if axes.lines:
        axes.legend()


def _speed_by_threads(axes: Axes, rows: Rows) -> None:
    largest, games = ours.BATCHES[-1], ours.FIVES_AND_THREES
    for index, what in enumerate(_LABELS):
        found = [
            row
            for row in rows
            if (row["what"], row["batch"], row["rules"]) == (what, largest, games)
        ]
        found.sort(key=lambda row: int(row["threads"]))
        places = np.arange(len(found)) + 0.4 * index
        speeds = [row["per_second"] / 1e6 for row in found]
        bars = axes.bar(places, speeds, 0.38, color=COLORS[index])
        axes.bar_label(bars, fmt="%.1f", padding=2)
        axes.set_xticks(np.arange(len(found)) + 0.2, [str(row["threads"]) for row in found])
    axes.grid(axis="x", visible=False)
    axes.set(
        title=f"Speed by threads, {largest:,} games", xlabel="threads", ylabel="million steps/s"
    )
    axes.margins(y=0.15)
