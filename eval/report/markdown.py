"""A report as Markdown: everything but the pictures, whose captions point to the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import singledispatch

from agents.terminal import printable
from eval.report.blocks import (
    Block,
    Cards,
    Details,
    Facts,
    Heading,
    HeatMap,
    Picture,
    Report,
    Table,
    Text,
)

_MARKS = re.compile(
    r"(?P<kept>\[[-+]?\d[-+\d.,% ]*\](?![(\[:]))"
    r"|[\\`*_{}\[\]<|~$]|&(?=#?\w+;)|:(?=//)|(?<=www)\.",
    re.IGNORECASE,
)
"""What can mean something in the middle of a line; a bare address becomes a link."""
_FIRST = re.compile(r"^(\d*)([-+=#>.)])(?=[\s#>-]|$)")
"""What can mean something at its beginning: headings and lists."""


def markdown(report: Report) -> str:
    """The report as text."""
    parts = [f"# {_plain(report.heading)}", *map(written, report.blocks)]
    for section in report.sections:
        parts += [f"## {_plain(section.heading)}", *map(written, section.blocks)]
    return "\n\n".join(part for part in parts if part) + "\n"


@singledispatch
def written(block: Block) -> str:
    """A block as Markdown; "" where there is nothing to say in words."""
    raise TypeError(f"{type(block).__name__} is no block")


@written.register
def _(block: Heading) -> str:
    return f"### {_plain(block.text)}"


@written.register
def _(block: Text) -> str:
    return _plain(block.text)


@written.register
def _(block: Cards) -> str:
    return "\n".join(
        f"- **{_plain(number)}** {_plain(label)} ({_plain(note)})"
        for number, label, note in block.numbers
    )


@written.register
def _(block: Table) -> str:
    rules = ["---" if at < block.words else "---:" for at in range(len(block.headings))]
    lines = [_row(block.headings), f"| {' | '.join(rules)} |", *map(_row, block.rows)]
    return "\n".join(lines)


@written.register
def _(block: HeatMap) -> str:
    rows = [
        [name, *(f"({cell.text})" if cell.faint else cell.text for cell in row)]
        for name, row in zip(block.names, block.cells, strict=True)
    ]
    table = written(Table(["", *block.names], rows))
    return f"{table}\n\n{_plain(block.caption)} What may be chance stands in brackets."


@written.register
def _(block: Picture) -> str:
    return ""


@written.register
def _(block: Facts) -> str:
    return "\n".join(f"- {_plain(name)}: {_plain(value)}" for name, value in block.pairs)


@written.register
def _(block: Details) -> str:
    return "\n\n".join([f"**{_plain(block.summary)}**", *filter(None, map(written, block.blocks))])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    """Any text, in which nothing is taken for Markdown or HTML and everything prints.

    Intervals, as in [+1, +2], stay as they are.
    """
    plain = printable(" ".join(text.split()))
    marked = _MARKS.sub(lambda found: found["kept"] or f"\\{found[0]}", plain)
    return _FIRST.sub(r"\g<1>\\\g<2>", marked)
