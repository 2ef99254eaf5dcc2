"""``python -m eval``: tournament, replay, audit, export, benchmark, exact and others."""

import importlib
import signal
import sys
from collections.abc import Callable
from typing import Any

DESCRIPTION = "Measures agents and speed, and shows what was found."


def main(arguments: list[str]) -> int:
    """Reads the command line and does what it says; returns the exit code."""
    from agents import command_line

    words = {"stopped": "stopped; nothing was written"}

    def work() -> int | None:
        from eval.commands import command_of, options_of_all

        options = command_line.read(options_of_all(), "python -m eval", DESCRIPTION, arguments)
        command = command_of(options)
        words["stopped"] = command.stopped
        module, _, function = command.function.partition(":")
        carry_out: Callable[[Any], int | None] = getattr(importlib.import_module(module), function)
        return carry_out(options)

    return command_line.run(work, lambda: words["stopped"])


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback from among the imports
    sys.exit(main(sys.argv[1:]))
