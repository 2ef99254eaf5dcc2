"""The part of a report that sets several games beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from eval import wording
from eval.report import agent_plots
from eval.report.agent_plots import Colors
from eval.report.blocks import Block, Details, Picture, Section, Table
from eval.report.pages.tournament import title
from eval.stats.findings import Findings
from eval.stats.habits import Habit
from eval.stats.intervals import Interval


def overview(found: Sequence[Findings], palette: Colors) -> Section:
    """The strength of all agents, game by game."""
    names = list(dict.fromkeys(name for one in found for name in one.names))
    panels = [
        Habit(title(one).replace(", ", "\n"), "Elo", _ratings_of(one, names)) for one in found
    ]
    picture = Picture(
        partial(agent_plots.habits, names, panels, palette),
        "overview-ratings",
        "Strength in each game in Elo points, with 95 % intervals; "
        f"{', '.join(dict.fromkeys(one.anchor for one in found))} at 0.",
    )
    rows = [
        (name, *("" if np.isnan(rate.value) else wording.elo(rate) for rate in rates))
        for name, *rates in zip(names, *(panel.rates for panel in panels), strict=True)
    ]
    table = Table(("agent", *map(title, found)), rows)
    blocks: list[Block] = [picture, Details("Ratings as numbers", [table])]
    return Section("All games at a glance", "overview", blocks)


def _ratings_of(found: Findings, names: Sequence[str]) -> list[Interval]:
    by_name = dict(zip(found.names, found.ratings, strict=True))
    return [by_name.get(name, Interval(np.nan, np.nan, np.nan)) for name in names]
