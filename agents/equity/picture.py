"""``python -m agents.equity.picture``: draws docs/equity.png from the table of two players."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator, PercentFormatter

from fives_env.rules import Rules

from .tables import FOLDER, EquityTable, load

PICTURE = FOLDER.parents[1] / "docs" / "equity.png"
OTHER = 50
"""The other side's score in the right-hand panel."""
FIRST = 45
"""Own scores from here on are shown there."""
_COLORS = ("#d55e00", "#2383bd")
_STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 11,
    "axes.titlepad": 12,
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def equity(table: EquityTable) -> Figure:
    """The chances over the score plane, and along one line near the target."""
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(5, 6))
    _plane(figure, left, table)
    _near_target(right, table)
    figure.suptitle(
        f"{table.rules.title}, {table.rules.players} players, both sides playing "
        f"{table.facts['agent']}: what a score is worth",
        x=0.01,
        ha="left",
    )
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)  # type: ignore[union-attr, call-arg]
    return figure


def _plane(figure: Figure, axes: Axes, table: EquityTable) -> None:
    wins = table.values[1, :-1, :-1].T
    scores = np.arange(len(wins))
    image = axes.imshow(wins, origin="lower", cmap="RdBu", vmin=0, vmax=1)
    lines = axes.contour(scores, scores, wins, [0.1, 0.3, 0.5, 0.7, 0.9], colors="black", alpha=0.6)
    lines.set_linewidth(0.8)
    axes.clabel(lines, fmt=lambda value: f"{value:.0%}", fontsize=8)
    axes.set(
        title="Chance to win, leading the next round",
        xlabel="own score",
        ylabel="the other side's score",
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(10))
    bar = figure.colorbar(image, ax=axes, format=PercentFormatter(1), shrink=0.85)
    bar.outline.set_visible(False)  # type: ignore[operator]


def _near_target(axes: Axes, table: EquityTable) -> None:
    target = table.rules.target
    scores = np.arange(FIRST, target)
    for leads, words in enumerate(("the other side leads next", "own side leads next")):
        wins = table.win_probability(scores, OTHER, leads)
        axes.plot(scores, wins, "o-", color=_COLORS[leads], ms=5, lw=1.8, label=words)
        falls = np.flatnonzero(np.diff(wins) < 0) + 1
        axes.plot(scores[falls], wins[falls], "o", color="white", ms=2.4)
    axes.set(
        title=f"Near {target} a point more can be worse",
        xlabel=f"own score ({target} wins; points that lead past it are refused)",
        ylabel=f"chance to win the match, the other side at {OTHER}",
    )
    axes.xaxis.set_major_locator(MultipleLocator(1))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.grid(alpha=0.25)
    axes.plot([], [], "o", color="black", mfc="white", ms=5, label="worse than one point less")
    axes.legend(loc="upper left")


def main() -> None:
    """Draws the picture."""
    with mpl.rc_context(_STYLE):
        equity(load(Rules("fives-and-threes"))).savefig(PICTURE, dpi=130)
    print(PICTURE)


if __name__ == "__main__":
    main()
