"""``python -m train sb3 ...``: trains an agent and leaves it in a run folder."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from agents import command_line
from agents.terminal import say

if TYPE_CHECKING:
    from train.config import Exploit, Export, Resume, Sb3
    from train.selfplay_config import Selfplay

USAGE = """usage: python -m train COMMAND --help

  selfplay   PPO of our own: one network plays all seats of many games at once; the fastest way
  sb3        MaskablePPO of sb3-contrib on the native vector env
  exploit    what an opponent that trains against an agent makes of it, measured on fresh deals
  export     a trained model as an ONNX file, with the action mask as an input

For example, an agent for two-player Fives and Threes in a quarter of an hour:

  python -m train selfplay --rules fives-and-threes --minutes 15 --out runs/first
  python -m train selfplay --resume runs/first     # goes on after Ctrl-C, kill -9, a power cut

RUN (--out) then holds config.json, versions.json, train.log, progress.csv, evaluations.csv,
tensorboard/ and model/; the trained agent is model:RUN in python -m eval tournament."""
COMMANDS = ("selfplay", "sb3", "exploit", "export")


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
    if arguments[0] not in COMMANDS:
        there_are = f"there are: {', '.join(COMMANDS)} (see python -m train)"
        command_line.fail(f"unknown command {arguments[0]!r}; {there_are}")
    kind = _kind(arguments)
    prog = f"python -m train {arguments[0]}"
    config = command_line.read(kind, prog, kind.__doc__ or "", arguments[1:])
    return _export(config) if arguments[0] == "export" else _train(arguments[0], config)


def _kind(arguments: list[str]) -> type[Sb3 | Selfplay | Resume | Exploit | Export]:
    """What the command is told in: a dataclass."""
    from train.config import Exploit, Export, Resume, Sb3
    from train.selfplay_config import Selfplay

    if arguments[0] in ("export", "exploit"):
        return Export if arguments[0] == "export" else Exploit
    if any(argument.split("=")[0] == "--resume" for argument in arguments):
        return Resume
    return Sb3 if arguments[0] == "sb3" else Selfplay


def _export(config: Export) -> int:
    from agents.onnx_export import export

    export(config.model, config.out)
    say(f"{config.model} is in {config.out}")
    return 0


def _train(trainer: str, config: Any) -> int:
    # Two threads that wait for each other in a loop stand still when others use the machine too.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when PyTorch is loaded
    from train.config import Resume

    module = importlib.import_module(f"train.{trainer}")  # PyTorch takes seconds to load
    go = module.resume if isinstance(config, Resume) else module.run
    return int(go(config))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
