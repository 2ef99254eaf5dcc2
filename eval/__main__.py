"""``python -m eval``: tournament, replay, export, benchmark, exact, exploit, ladder, report."""

import importlib
import sys
from typing import Annotated

from tyro.conf import subcommand

from agents import command_line
from eval.commands import Benchmark, Exact, Exploit, Export, Ladder, Replay, Report, Tournament

Command = (
    Annotated[Tournament, subcommand("tournament")]
    | Annotated[Replay, subcommand("replay")]
    | Annotated[Export, subcommand("export")]
    | Annotated[Benchmark, subcommand("benchmark")]
    | Annotated[Exact, subcommand("exact")]
    | Annotated[Exploit, subcommand("exploit")]
    | Annotated[Ladder, subcommand("ladder")]
    | Annotated[Report, subcommand("report")]
)
DESCRIPTION = "Measures agents and speed, and shows what was found."


def main(arguments: list[str]) -> None:
    """Reads the command line and does what it says."""
    options = command_line.read(Command, "python -m eval", DESCRIPTION, arguments)
    # Loaded only now: help, and each command, wait for nothing that another one needs.
    module = f"eval.{type(options).__name__.lower()}"
    command_line.run(
        lambda: importlib.import_module(module).run(options),
        "stopped; what is stored is kept, and the same command goes on",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
