"""``python -m agents``: every agent, its spec and help, its cost a move and its strength."""

import signal
import sys

from fives_env.lab import PROGRAM

USAGE = f"usage: python -m {PROGRAM}    (lists every agent, its spec and help; takes no arguments)"


def main(arguments: list[str]) -> int:
    """Prints the table; returns the exit code."""
    from . import command_line

    return command_line.run(lambda: _list(arguments), lambda: "stopped")


def _list(arguments: list[str]) -> int:
    from . import command_line, strength, tables
    from .registry import AGENTS

    if arguments in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if arguments:
        command_line.fail(f"unexpected {' '.join(arguments)!r}; {USAGE}")
    entries = [(entry.name, entry.form, entry.help) for entry in AGENTS.values()]
    tables.print_table(tables.table("Agents", ("agent", "spec", "what it does"), (), entries))
    if measured := strength.read():
        tables.print_table(strength.table(measured))
    else:
        print("Cost and strength are not measured: python -m eval ladder does so.")
    return 0


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback from among the imports
    sys.exit(main(sys.argv[1:]))
