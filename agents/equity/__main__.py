"""``python -m agents.equity``: makes a match-equity table, where agents look for it."""

import sys

from fives_env.lab import PROGRAM


def main(arguments: list[str]) -> int:
    """Reads the command line and does what it says; returns the exit code."""
    from .. import command_line

    def work() -> None:
        from .command import Equity, run

        prog = f"python -m {PROGRAM}.equity"
        run(command_line.read(Equity, prog, Equity.__doc__ or "", arguments))

    return command_line.run(work, lambda: "stopped; no table was written")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
