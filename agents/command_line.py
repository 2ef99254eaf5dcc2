"""The command line: tyro reads it, and whatever is wrong is said in one line, with exit code 2."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tyro


def read(kind: Any, prog: str, description: str, arguments: Sequence[str]) -> Any:
    """The arguments as a `kind`: a dataclass, or a union of them for subcommands.

    Raises:
        SystemExit: With 0 after printing help; with 2 after one line that says what is wrong.
    """
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(kind, prog=prog, description=description, args=list(arguments))
    except BrokenPipeError:
        _stop_printing()
    except SystemExit as stop:
        if stop.code:
            fail(_in_one_line(said.getvalue()))
        raise


def run(work: Callable[[], None], interrupted: str) -> None:
    """Does the work of a command; `interrupted` is said after Ctrl-C.

    Raises:
        SystemExit: With 2 after one line that says what is wrong; with 130 when interrupted; with
            141, in silence, when nobody reads what is printed any more.
    """
    try:
        work()
        sys.stdout.flush()
    except BrokenPipeError:
        _stop_printing()
    except (ValueError, OSError) as error:
        fail(" ".join(str(error).split()))
    except KeyboardInterrupt:
        print(interrupted, file=sys.stderr)
        raise SystemExit(130) from None


def fail(message: str) -> None:
    """Prints one line.

    Raises:
        SystemExit: Always, with 2.
    """
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(2) from None


def _stop_printing() -> None:
    """Ends as a program does whose reader has gone, as in ``| head``.

    Raises:
        SystemExit: Always, with 141.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to flush
    raise SystemExit(141)


def _in_one_line(box: str) -> str:
    """One of tyro's framed messages: what comes before its rule, and where it sends people."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", box)
    lines = [line.strip("│ ") for line in plain.splitlines() if line.startswith("│")]
    rule = next((at for at, line in enumerate(lines) if line.startswith("─")), len(lines))
    message = " ".join(lines[:rule]) or " ".join(plain.split())
    message = re.sub(r"^Error parsing [A-Z]\w*: ", "", message)  # no name of ours in it
    no_union = r"no type matching (?:\{None\}\|)?(\S+) could .* from \['(.*?)'\].*"
    message = re.sub(no_union, r"'\2' is not of type \1", message)
    if sent := re.search(r"python -m [\w ]+--help", " ".join(lines[rule:])):
        message += f" (see {sent[0]})"
    return message
