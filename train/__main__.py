"""``python -m train sb3 ...``: trains an agent and leaves it in a run folder."""

import os
import sys

from eval import command_line
from train.config import Sb3

USAGE = """usage: python -m train COMMAND --help

  sb3    MaskablePPO of sb3-contrib on the native vector env

For example, an agent for two-player Fives and Threes in two and a half minutes:

  python -m train sb3 --rules fives-and-threes --opponent greedy --minutes 2.5 --out runs/first

RUN (--out) then holds config.json, versions.json, train.log, progress.csv, evaluations.csv,
tensorboard/ and model/; the trained agent is model:RUN in python -m eval tournament."""


def main(arguments: list[str]) -> int:
    """Runs a command; returns the exit code: 130 after Ctrl-C, with the model saved."""
    if arguments in ([], ["-h"], ["--help"]):
        print(USAGE)
        return 0
    if arguments[0] != "sb3":
        command_line.fail(f"unknown command {arguments[0]!r}; there are: sb3 (see python -m train)")
    config = command_line.read(Sb3, "python -m train sb3", Sb3.__doc__ or "", arguments[1:])
    try:
        return _train(config)
    except (ValueError, OSError) as error:
        command_line.fail(" ".join(str(error).split()))
    except KeyboardInterrupt:  # a second Ctrl-C, or one before training began
        print("stopped at once; a model that was saved on the way is kept", file=sys.stderr)
    return 130


def _train(config: Sb3) -> int:
    # Two threads that wait for each other in a loop stand still when others use the machine too.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when PyTorch is loaded
    from train.sb3 import run  # PyTorch takes seconds to load; help and refusals need none

    return run(config)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
