"""``python -m eval``: tournament, replay, audit, export, benchmark, exact, exploit and others."""

import importlib
import signal
import sys
from typing import Any

DESCRIPTION = "Measures agents and speed, and shows what was found."


def main(arguments: list[str]) -> int:
    """Reads the command line and does what it says; returns the exit code."""
    from agents import command_line

    asked: list[Any] = []

    def work() -> int | None:
        from eval.commands import Command

        asked.append(command_line.read(Command, "python -m eval", DESCRIPTION, arguments))
        # Loaded only now: help, and each command, wait for nothing that another one needs.
        module = importlib.import_module(f"eval.{type(asked[0]).__name__.lower()}")
        return module.run(asked[0])  # type: ignore[no-any-return]

    def say_stopped() -> str:
        from eval.commands import stopped

        return stopped(*asked)

    return command_line.run(work, say_stopped)


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback from among the imports
    sys.exit(main(sys.argv[1:]))
