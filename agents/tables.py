"""Tables for the terminal."""

import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .terminal import printable

_WIDTH = 160
"""Where the output is no terminal, whose width is known."""


def table(
    title: str,
    words: Sequence[str],
    numbers: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
) -> Table:
    """A table of any text: first columns of words, then columns of numbers."""
    made = Table(
        title=_lines(title), caption=_lines(caption) if caption else None, box=box.SIMPLE_HEAD
    )
    made.title_justify = made.caption_justify = "left"
    rows = list(rows)
    room = 0.6 * (shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH)
    for index, heading in enumerate(words):
        longest = max((len(word) for row in rows for word in row[index].split()), default=0)
        # Else a spec is broken in the middle to make room for prose.
        least = longest if longest <= room else None
        made.add_column(_lines(heading), overflow="fold", min_width=least)
    for heading in numbers:
        made.add_column(_lines(heading), justify="right", no_wrap=True)
    for row in rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    return made


def print_table(shown: Table) -> None:
    """Prints a table on standard output."""
    _Console(width=None if sys.stdout.isatty() else _WIDTH).print(shown)


def _lines(text: str) -> Text:
    """Text that rich takes as it is, without markup or emoji; its lines stay lines."""
    return Text("\n".join(map(printable, text.split("\n"))))


class _Console(Console):
    """Says that nobody reads any more as Python does."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError
