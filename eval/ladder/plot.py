"""The picture of the ladder: strength against the time of a move."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter
from matplotlib.transforms import Bbox

from agents import AGENTS
from agents.files import replace_file
from eval.style import COLORS, plain_label, png
from fives_env.rules import PRESETS, Rules

_FONT = 8.0
_PLACES = [(x, y) for y in (0, 9, -9, 18, -18, 27, -27, 36, -36) for x in (8, -8)]
"""Where a name may stand beside its point, in points of print; the nearest first."""
Rows = list[dict[str, Any]]


def save_ladder(document: dict[str, Any], path: Path) -> None:
    """Writes the plot as a PNG."""
    replace_file(path, png(lambda _: ladder(document), document["rows"]))


def ladder(document: dict[str, Any]) -> Figure:
    """One panel for each set of rules: share of matches won against time a move.

    Agents that nearly always lose are named at the lower edge instead, with their share.
    """
    rows: Rows = document["rows"]
    games = {name: [row for row in rows if row["rules"] == name] for name in _games(rows)}
    figure = Figure(figsize=(4.7 * len(games), 5.2), layout="constrained")
    panels = figure.subplots(1, len(games), sharey=True, squeeze=False)[0]
    shown = [row for row in rows if row["win_rate"] > row.get("even", 0.5) / 3]
    low = min([row["low"] for row in shown], default=0.4) - 0.06
    for axes, (game, of_game) in zip(panels, games.items(), strict=True):
        times = [row["one_us"] for row in of_game]
        axes.set(xscale="log", xlim=(min(times) / 2, max(times) * 8), ylim=(low, 1.02))
        _draw(axes, [row for row in of_game if row in shown])
        _name_at_edge(axes, [row for row in of_game if row not in shown])
        axes.set_title(_title(game))
    panels[0].set_ylabel(
        f"share of matches won against {document.get('opponent', '?')}, 95 % interval"
    )
    _legend(figure, panels[0], rows)
    figure.draw_without_rendering()  # lays the panels out, so that names find their places
    for axes, of_game in zip(panels, games.values(), strict=True):
        _name_points(axes, [row for row in of_game if row in shown])
    return figure


def _games(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row["rules"] for row in rows))


def _draw(axes: Axes, rows: Rows) -> None:
    axes.set_xlabel("time of a move, one core")
    axes.xaxis.set_major_formatter(FuncFormatter(_duration))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    if rows:
        axes.axhline(rows[0].get("even", 0.5), color="grey", lw=1, ls=(0, (4, 3)), zorder=1)
    for budget in _budgets(rows):
        color = _color(budget[0]["agent"])
        x, y = [row["one_us"] for row in budget], [row["win_rate"] for row in budget]
        down, up = ([abs(row["win_rate"] - row[end]) for row in budget] for end in ("low", "high"))
        axes.plot(x, y, color=color, lw=1, alpha=0.45)
        axes.errorbar(x, y, [down, up], fmt="o", color=color, ms=5, capsize=2.5, lw=1.4)


def _budgets(rows: Rows) -> list[Rows]:
    """The rows of one agent with different budgets together, the cheapest first."""
    ordered = sorted(rows, key=lambda row: (re.sub(r":\d+", "", row["agent"]), row["one_us"]))
    groups = itertools.groupby(ordered, key=lambda row: re.sub(r":\d+", "", row["agent"]))
    return [list(group) for _, group in groups]


def _name_at_edge(axes: Axes, rows: Rows) -> None:
    for row in rows:
        axes.annotate(
            f"↓ {row['agent']} {row['win_rate']:.1%}",
            (row["one_us"], 0.02),
            xycoords=("data", "axes fraction"),
            fontsize=_FONT,
            ha="left",
            color=_color(row["agent"]),
        )


def _name_points(axes: Axes, rows: Rows) -> None:
    """Names beside their points, where they cover no other name, point or interval."""
    scale = axes.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    taken = []
    for row in rows:
        (x, low), (_, high) = axes.transData.transform(
            [(row["one_us"], row["low"]), (row["one_us"], row["high"])]
        )
        y = axes.transData.transform((row["one_us"], row["win_rate"]))[1]
        taken.append(Bbox.from_extents(x - 3 * scale, low, x + 3 * scale, high))
        taken.append(Bbox.from_extents(x - 4 * scale, y - 4 * scale, x + 4 * scale, y + 4 * scale))
    for row in sorted(rows, key=lambda row: row["win_rate"], reverse=True):
        x, y = axes.transData.transform((row["one_us"], row["win_rate"]))
        width = 0.62 * _FONT * len(_label(row["agent"])) * scale
        boxes = []
        for right, up in _PLACES:
            left = x + right * scale - (width if right < 0 else 0)
            middle, half = y + up * scale, 0.6 * _FONT * scale
            boxes.append(Bbox.from_extents(left, middle - half, left + width, middle + half))
        free = [
            index
            for index, box in enumerate(boxes)
            if axes.bbox.x0 <= box.x0
            and box.x1 <= axes.bbox.x1 + 12 * scale
            and box.y1 <= axes.bbox.y1
            and not any(box.overlaps(other) for other in taken)
        ]
        chosen = free[0] if free else 0
        taken.append(boxes[chosen])
        right, up = _PLACES[chosen]
        color = _color(row["agent"])
        axes.annotate(
            _label(row["agent"]),
            (row["one_us"], row["win_rate"]),
            xytext=(right, up),
            textcoords="offset points",
            ha="left" if right > 0 else "right",
            va="center",
            fontsize=_FONT,
            color=color,
            bbox={"fc": "white", "ec": "none", "alpha": 0.7, "pad": 0.4},
        )


def _legend(figure: Figure, axes: Axes, rows: Rows) -> None:
    shown = {_family(row["agent"]): _color(row["agent"]) for row in rows}
    for family in sorted(shown, key=_families().index):
        axes.plot([], [], "o", color=shown[family], label=family)
    axes.plot([], [], color="grey", lw=1, ls=(0, (4, 3)), label="equal strength")
    figure.legend(loc="outside lower center", ncols=5)


def _label(agent: str) -> str:
    """The spec; of a model the name of its folder, as the color says what it is."""
    kind, _, path = agent.partition(":")
    return plain_label(path.rsplit("/", 1)[-1] if kind == "model" else agent)


def _families() -> list[str]:
    return list(dict.fromkeys(entry.family for entry in AGENTS.values()))


def _family(agent: str) -> str:
    """What kind of agent it is; one that is no longer there counts with the first."""
    kind = agent.partition(",")[0].partition(":")[0]
    return AGENTS[kind].family if kind in AGENTS else _families()[0]


def _color(agent: str) -> str:
    return COLORS[_families().index(_family(agent)) % len(COLORS)]


def _title(spec: str) -> str:
    rules = Rules.from_spec(spec)
    partners = ", partners" if rules.num_sides < rules.players else ""
    return f"{PRESETS[rules.game].title}, {rules.players} players{partners}"


def _duration(microseconds: float, _: object) -> str:
    if microseconds < 1000:
        return f"{microseconds:g} µs"
    return f"{microseconds / 1e3:g} ms" if microseconds < 1e6 else f"{microseconds / 1e6:g} s"
