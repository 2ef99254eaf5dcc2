"""What a report is made of, before it becomes HTML or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text; `kind` is a class of page.css."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Cards:
    """Big numbers: each with what it is and a line that explains it."""

    numbers: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Table:
    """A table whose first columns (`words` of them) hold words, and the others numbers."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass(frozen=True)
class Cell:
    """A cell of a heat map.

    Attributes:
        text: What it says; "" where there is nothing.
        heat: Its colour, from -1 to 1.
        note: More about it.
        faint: Whether it may be chance.
    """

    text: str = ""
    heat: float = 0.0
    note: str = ""
    faint: bool = False


@dataclass(frozen=True)
class HeatMap:
    """A table of coloured cells, [len(names)] rows and as many columns.

    Attributes:
        names: Of rows and columns.
        colors: Of the names.
        cells: By row.
        caption: What is to be seen.
    """

    names: Sequence[str]
    colors: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    caption: str


@dataclass(frozen=True)
class Picture:
    """A figure.

    Attributes:
        draw: Makes it.
        name: Unique in the report.
        caption: What is to be seen, for those too who cannot see it.
    """

    draw: Callable[[], Figure]
    name: str
    caption: str


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Details:
    """Content that is folded away under a line."""

    summary: str
    blocks: Sequence[Block]


Block = Heading | Text | Cards | Table | HeatMap | Picture | Facts | Details


@dataclass(frozen=True)
class Section:
    """Blocks under a heading; `name` is its anchor, unique in the report."""

    heading: str
    name: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Report:
    """A whole report."""

    title: str
    heading: str
    blocks: Sequence[Block]
    sections: Sequence[Section]
