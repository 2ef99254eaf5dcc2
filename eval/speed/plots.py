"""The benchmark's pictures: speed by batch and threads, where time goes, agents, new over old."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FixedLocator, NullLocator, PercentFormatter

from eval.speed.timing import find
from eval.speed.workloads import library as ours
from eval.style import COLORS, plain_label, style
from fives_env.rules import Rules

Rows = Sequence[dict[str, Any]]
_LABELS = {ours.ROLLOUT: "rollout, all in compiled code", ours.STEP: "step, masks and views out"}
_RATIOS = (0.05, 0.1, 0.2, 0.5, 0.75, 1, 1.5, 2, 5, 10, 20, 50)


def decisions(rows: Rows) -> Figure:
    """The time of a decision of each agent, a bar for each game."""
    agents = list(dict.fromkeys(row["agent"] for row in rows))
    games = list(dict.fromkeys(row["rules"] for row in rows))
    with style():
        figure = Figure(figsize=(9.6, 1.2 + 0.55 * len(agents)), layout="constrained")
        axes = figure.subplots()
        height = 0.8 / len(games)
        for color, (number, game) in zip(COLORS, enumerate(games), strict=False):
            of_game = {row["agent"]: 1 / row["per_second"] for row in rows if row["rules"] == game}
            places = [agents.index(agent) + height * number for agent in of_game]
            title = Rules.from_spec(game).title
            axes.barh(places, list(of_game.values()), height, color=color, label=title)
        axes.set_yticks(np.arange(len(agents)) + 0.4 - height / 2, agents)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(EngFormatter("s"))
        axes.set(
            title="Time of a decision", xlabel="one core; the time of a batch over its decisions"
        )
        axes.legend()
    return figure


def comparison(found: Rows) -> Figure:
    """New over old speed, a point for each row, by what was measured."""
    names = list(dict.fromkeys(row["what"] for row in found))
    with style():
        figure = Figure(figsize=(9.6, 1.2 + 0.32 * len(names)), layout="constrained")
        axes = figure.subplots()
        for place, name in enumerate(names):
            ratios = [row["ratio"] for row in found if row["what"] == name]
            axes.plot(ratios, [place] * len(ratios), "o", color=COLORS[0], ms=6, alpha=0.7)
        axes.axvline(1, color=COLORS[1], lw=1)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(_RATIOS))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set(title="Speed, new over old", xlabel="right of the line: faster than before")
    return figure


def speed(rows: Rows) -> Figure:
    """Cost by batch size, and speed by threads."""
    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _cost_by_batch(left, rows)
    _speed_by_threads(right, rows)
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
