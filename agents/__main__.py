"""``python -m agents``: every agent, its spec and help, its cost a move and its strength."""

import sys

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agents import strength
from agents.registry import AGENTS

USAGE = "usage: python -m agents    (lists every agent, its spec and its help; takes no arguments)"
_WIDTH = 140
"""Where the output is no terminal, whose width is known."""


def main(arguments: list[str]) -> int:
    """Prints the table; returns the exit code."""
    if arguments in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if arguments:
        print(f"error: unexpected {' '.join(arguments)!r}; {USAGE}", file=sys.stderr)
        return 2
    table = Table(title="Agents", title_justify="left")
    for heading in ("agent", "spec", "what it does"):
        table.add_column(heading, no_wrap=heading == "agent", overflow="fold")
    for entry in AGENTS.values():
        table.add_row(entry.name, escape(entry.form), escape(entry.help))
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    console.print(table)
    try:
        measured = strength.read()
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if measured:
        console.print(strength.table(measured))
    else:
        console.print("Cost and strength are not measured: python -m eval ladder does so.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
