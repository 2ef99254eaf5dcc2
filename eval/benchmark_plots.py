"""The benchmark's pictures beside that of speed: decisions by agent, and new over old."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FixedLocator, NullLocator

from eval.plots import COLORS, style
from fives_env.rules import Rules

Rows = Sequence[Mapping[str, Any]]
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
