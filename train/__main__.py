"""``python -m train selfplay ...``: trains an agent and leaves it in a run folder."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, NamedTuple

from agents import command_line


class Command(NamedTuple):
    """A command: its name, what it does, and where its options and what carries it out are."""

    name: str
    help: str
    options: str
    function: str


COMMANDS = (
    Command(
        "selfplay",
        "PPO of our own: one network plays all seats of many games at once; the fastest way",
        "train.selfplay.config:Selfplay",
        "train.selfplay.trainer:run",
    ),
    Command(
        "sb3",
        "MaskablePPO of sb3-contrib on the native vector env",
        "train.sb3.config:Sb3",
        "train.sb3.trainer:run",
    ),
    Command(
        "exploit",
        "what an opponent that trains against an agent makes of it, measured on fresh deals",
        "train.exploit.config:Exploit",
        "train.exploit.command:run",
    ),
    Command(
        "export",
        "a trained model as an ONNX file, with the action mask as an input",
        "train.export:Export",
        "train.export:run",
    ),
)
_ROWS = "\n".join(f"  {row.name:<10} {row.help}" for row in COMMANDS)
USAGE = f"""usage: python -m train COMMAND --help

{_ROWS}

For example, an agent for two-player Fives and Threes in a quarter of an hour:

  python -m train selfplay --rules fives-and-threes --minutes 15 --out runs/first
  python -m train selfplay --resume runs/first     # goes on after Ctrl-C, kill -9, a power cut

RUN (--out) then holds config.json, versions.json, train.log, progress.csv, evaluations.csv,
tensorboard/ and model/; the trained agent is model:RUN in python -m eval tournament."""


def main(arguments: list[str]) -> int:
    """Runs a command; returns the exit code: 130 after Ctrl-C, with the model saved."""
    # After a second Ctrl-C, or one before training began.
    return command_line.run(
        lambda: _run(arguments), lambda: "stopped at once; what was saved on the way is kept"
    )


def _run(arguments: list[str]) -> int:
    if arguments in ([], ["-h"], ["--help"]):
        print(USAGE)
        return 0
    name, *rest = arguments
    row = next((row for row in COMMANDS if row.name == name), None)
    if row is None:
        there_are = f"there are: {', '.join(row.name for row in COMMANDS)} (see python -m train)"
        command_line.fail(f"unknown command {name!r}; {there_are}")
    kind = _options(row, rest)
    options = command_line.read(kind, f"python -m train {name}", kind.__doc__ or "", rest)
    # Two threads that wait for each other in a loop stand still when others use the machine too.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when PyTorch is loaded
    return int(_load(row.function)(options))  # PyTorch takes seconds to load


def _options(row: Command, arguments: list[str]) -> type[Any]:
    """The dataclass that the command is told in."""
    from train.run.settings import Resume, Settings

    kind: type[Any] = _load(row.options)
    resumed = any(argument.split("=")[0] == "--resume" for argument in arguments)
    return Resume if resumed and issubclass(kind, Settings) else kind


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
