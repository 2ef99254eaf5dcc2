"""The look of all pictures, which are matplotlib figures."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from agents.terminal import printable

Rows = Sequence[dict[str, Any]]
COLORS = ("#2383bd", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's, which colour-blind people can tell apart; the blue lighter, for dark pages."""
INK = "#123456"
"""Stands for the colour of a page's text in figures that are put on one."""

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
