"""Pictures of agents: each has one colour throughout a report, and its name stands beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator, PercentFormatter

from eval.stats.habits import Habit
from eval.stats.intervals import Interval
from eval.style import plain_label

Array = npt.NDArray[Any]
Colors = Mapping[str, str]

_PALETTE = (
    *("#2383bd", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#8c6bb1", "#c44e52", "#7f9f3f", "#a9746e"),
)
"""Okabe and Ito's six, which colour-blind people can tell apart, and four more."""
_GREY = "#8a94a1"
_WIDTH = 9.6
_MOST_ACROSS = 4
_MOST_BINS = 41


def colors(names: Iterable[str]) -> dict[str, str]:
    """A colour for every agent; grey for random, which is nobody."""
    others = [name for name in dict.fromkeys(names) if name != "random"]
    given = {name: _PALETTE[at % len(_PALETTE)] for at, name in enumerate(others)}
    return {**given, "random": _GREY}


def short(agent: str, most: int = 24) -> str:
    """An agent's name; of a long path the end, by which people tell models apart."""
    agent = plain_label(agent)
    if len(agent) <= most:
        return agent
    name, colon, value = agent.partition(":")
    return f"{name}{colon}…{value[len(name) - most + 2 :]}" if colon else f"{agent[: most - 1]}…"


def ratings(names: Sequence[str], found: Sequence[Interval], palette: Colors) -> Figure:
    """Ratings with their intervals, the best on top."""
    figure, axes = _rows(names, palette)
    for place, (name, rating) in enumerate(zip(names, found, strict=True)):
        _dot(axes, rating, place, palette[name], size=9, width=8)
        label = f"{rating.value:+.0f}" if rating.low < rating.high else "0"
        _beside(axes, label, rating.high, place, palette[name])
    axes.axvline(0, lw=1, ls=(0, (4, 3)), color=_GREY)
    axes.set(xlabel="Elo")
    axes.margins(x=0.09)
    return figure


def strength_by_time(
    points: Sequence[tuple[str, float, Interval]], palette: Colors, anchor: str
) -> Figure:
    """Ratings over the seconds that a decision takes; the line joins those whom nobody beats."""
    figure = Figure(figsize=(_WIDTH, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    front: list[tuple[float, float]] = []
    for name, seconds, rating in sorted(points, key=lambda point: point[1]):
        if not front or rating.value > front[-1][1]:
            front.append((seconds, rating.value))
        color = palette[name]
        axes.plot([seconds] * 2, [rating.low, rating.high], color=color, lw=6, alpha=0.28)
        axes.plot(seconds, rating.value, "o", color=color, ms=9)
    axes.plot(*zip(*front, strict=True), color=_GREY, lw=1.2, ls=(0, (4, 3)), zorder=0)
    axes.xaxis.set_major_formatter(EngFormatter("s"))
    axes.margins(x=0.2, y=0.1)
    axes.set(xlabel="time for a decision", ylabel=f"Elo, {short(anchor)} at 0")
    _label(axes, [(name, seconds, rating.value) for name, seconds, rating in points], palette)
    return figure


def _label(axes: Axes, points: Sequence[tuple[str, float, float]], palette: Colors) -> None:
    """Names beside the points: to the right, or where no other name or point is."""
    axes.autoscale_view()
    at = axes.transData.transform([point[1:] for point in points]) * 72 / axes.figure.dpi
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in at]
    for (name, seconds, rating), (x, y) in zip(points, at, strict=True):
        text = f"{short(name)}  {rating:+.0f}"
        width = 6.2 * len(text)
        for right, up in ((1, 0), (0, 0), (1, 11), (1, -11), (0, 11), (0, -11), (1, 22), (1, -22)):
            left = x + 9 if right else x - 9 - width
            box = (left, y + up - 5, left + width, y + up + 5)
            if not any(_meet(box, other) for other in taken):
                break
        taken.append(box)
        axes.annotate(
            text,
            (seconds, rating),
            xytext=(9 if right else -9, up),
            textcoords="offset points",
            va="center",
            ha="left" if right else "right",
            color=palette[name],
            weight="bold",
            fontsize=9,
        )


def _meet(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two boxes (left, bottom, right, top) overlap."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def distributions(
    names: Sequence[str], margins: Sequence[Array], lengths: Sequence[Array], palette: Colors
) -> Figure:
    """How far agents are ahead at the end of their matches, and how long these take."""
    figure = Figure(figsize=(_WIDTH, 1.1 + 0.62 * len(names)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2), sharey=True)
    widest = np.quantile(np.abs(np.concatenate(margins)), 0.995)
    longest = np.quantile(np.concatenate(lengths), 0.99)
    for place, name in enumerate(names):
        color = palette[name]
        _ridge(left, margins[place], _bins(-widest, widest), place, color, parted=True)
        _ridge(right, lengths[place], _bins(1, longest), place, color, parted=False)
        mean = f"mean {lengths[place].mean():.1f}"
        right.annotate(
            mean, (1, place), xycoords=("axes fraction", "data"), ha="right", va="center",
            fontsize=9, color=color,
        )  # fmt: skip
    left.axvline(0, lw=1, ls=(0, (4, 3)), color=_GREY)
    left.set(title="Points ahead of the best other at the end")
    right.set(title="Rounds to a match")
    _name_rows(left, names, palette)
    left.set_ylim(len(names) - 0.65, -0.75)
    right.tick_params(axis="y", length=0, labelleft=False)
    right.margins(x=0.12)
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axes in (left, right):
        _quiet(axes)
    return figure


def shares(panels: Mapping[str, Sequence[tuple[str, Interval]]], even: float) -> Figure:
    """Panels of named shares beside what equals would have."""
    most = max(map(len, panels.values()))
    figure = Figure(figsize=(_WIDTH, 0.95 + 0.42 * most), layout="constrained")
    row = figure.subplots(1, len(panels), sharex=True, squeeze=False)[0]
    for axes, (title, named) in zip(row, panels.items(), strict=True):
        for place, (_, share) in enumerate(named):
            sure = share.low > even or share.high < even
            _dot(axes, share, place, _PALETTE[0] if sure else _GREY, size=8, width=7)
            _beside(axes, f"{share.value:.1%}", share.high, place, None)
        axes.axvline(even, lw=1, ls=(0, (4, 3)), color=_GREY)
        axes.set_yticks(range(len(named)), [name for name, _ in named])
        axes.set(title=title, ylim=(len(named) - 0.5, -0.5))
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.margins(x=0.2)
        _quiet(axes)
    return figure


def habits(names: Sequence[str], found: Sequence[Habit], palette: Colors) -> Figure:
    """One panel a habit, one row an agent."""
    down = -(-len(found) // _MOST_ACROSS)
    across = -(-len(found) // down)
    height = down * (0.95 + 0.27 * len(names))
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    for axes, habit in zip(grid.flat, found, strict=False):
        for place, (name, rate) in enumerate(zip(names, habit.rates, strict=True)):
            _dot(axes, rate, place, palette[name], size=6, width=5)
        axes.set_title(habit.name, fontsize=10)
        axes.xaxis.set_major_locator(MaxNLocator(3))
        if habit.is_share:
            axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=None))
        axes.set_xlabel(habit.note, fontsize=8)
        axes.margins(x=0.15)
        _quiet(axes)
    for axes in list(grid.flat)[len(found) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        _name_rows(axes, names, palette, size=9)
    grid[0, 0].set_ylim(len(names) - 0.4, -0.6)
    return figure


def nash(names: Sequence[str], weights: Array, against: Array, palette: Colors) -> Figure:
    """The weights of the mixture that nobody beats, and what each agent wins against it."""
    figure = Figure(figsize=(_WIDTH, 0.95 + 0.36 * len(names)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(names))
    tints = [palette[name] for name in names]
    for axes, values, title in (
        (left, weights, "Weight in the mixture"),
        (right, against, "Share of matches won against the mixture"),
    ):
        axes.barh(places, values, height=0.62, color=tints)
        for place, value in enumerate(values):
            text = f"{value:.1%}" if value >= 0.0005 else "0"
            _beside(axes, text, value, place, tints[place], gap=5)
        axes.set(title=title)
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.margins(x=0.14)
        _quiet(axes)
    right.axvline(0.5, lw=1, ls=(0, (4, 3)), color=_GREY)
    _name_rows(left, names, palette)
    left.set_ylim(len(names) - 0.5, -0.5)
    return figure


def _rows(names: Sequence[str], palette: Colors) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_WIDTH, 0.75 + 0.4 * len(names)), layout="constrained")
    axes = figure.subplots()
    _name_rows(axes, names, palette)
    axes.set_ylim(len(names) - 0.45, -0.55)
    _quiet(axes)
    return figure, axes


def _name_rows(axes: Axes, names: Sequence[str], palette: Colors, size: float = 10) -> None:
    """The names at the left, each in its colour."""
    axes.set_yticks(range(len(names)), [short(name) for name in names], fontsize=size)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        label.set(color=palette[name], weight="bold")


def _quiet(axes: Axes) -> None:
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)


def _dot(
    axes: Axes, interval: Interval, place: float, color: str, size: float, width: float
) -> None:
    axes.plot([interval.low, interval.high], [place] * 2, color=color, lw=width, alpha=0.28)
    axes.plot(interval.value, place, "o", color=color, ms=size)


def _beside(
    axes: Axes, text: str, x: float, place: float, color: str | None, gap: float = 9
) -> None:
    where: dict[str, Any] = {"xytext": (gap, 0), "textcoords": "offset points", "va": "center"}
    label = axes.annotate(text, (x, place), fontsize=9, **where)
    if color is not None:
        label.set_color(color)


def _bins(low: float, high: float) -> Array:
    """Edges half-way between whole numbers, of one width, at most about `_MOST_BINS` of them.

    One of them is just below 0, so that no bar counts both those ahead and those behind.
    """
    width = max(1, -(-int(high - low + 1) // _MOST_BINS))
    first, last = int(np.floor(low / width)), int(np.floor(high / width))
    return np.asarray(np.arange(first, last + 2) * width - 0.5)


def _ridge(axes: Axes, values: Array, edges: Array, place: int, color: str, parted: bool) -> None:
    """A histogram that stands on its row; what is behind, below 0, is paler where that is asked."""
    heights, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    if heights.max():
        heights = 0.92 * heights / heights.max()
    behind = edges[1:] <= 0 if parted else np.zeros(len(heights), bool)
    floor = place + 0.3
    for chosen, alpha in ((behind, 0.35), (~behind, 0.85)):
        top = np.where(chosen, floor - heights, np.nan)
        axes.stairs(top, edges, baseline=floor, fill=True, color=color, alpha=alpha, lw=0)
