"""``python -m agents``: every agent, how its spec is written, and what it does."""

import sys

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agents.registry import AGENTS

USAGE = "usage: python -m agents    (lists every agent, its spec and its help; takes no arguments)"


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
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
