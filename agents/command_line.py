"""The command line: tyro reads it, and whatever is wrong is said in one line, with exit code 2."""

import contextlib
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, NoReturn

from fives_env.extras import missing
from fives_env.lab import CHECKOUT

from .terminal import say

INTERRUPTED, TERMINATED, PIPE = 130, 143, 141
"""Exit codes, as shells have them: 128 and the number of the signal."""
_OURS = ("fives_env", "agents", "eval", "train")


class Terminated(KeyboardInterrupt):
    """SIGTERM, by which services are stopped: as Ctrl-C, with an exit code of its own."""


def read(kind: Any, prog: str, description: str, arguments: Sequence[str]) -> Any:
    """The arguments as a `kind`: a dataclass, or a union of them for subcommands.

    Raises:
        SystemExit: With 0 after printing help; with 2 after one line that says what is wrong.
    """
    import tyro  # half a second that `python -m agents` does without

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(kind, prog=prog, description=description, args=list(arguments))
    except SystemExit as stop:
        if stop.code:
            fail(_in_one_line(said.getvalue()))
        raise


def run(work: Callable[[], int | None], stopped: Callable[[], str]) -> int:
    """Does the work of a command, and returns its exit code.

    Whatever standard output is, nothing more than what is printed is lost: it may be closed, or
    lack some characters.

    Args:
        work: Reads the command line too; what it returns is the exit code, None for 0.
        stopped: What is said after Ctrl-C or SIGTERM.

    Raises:
        SystemExit: With 2 after one line that says what is wrong; with 130 or 143 when stopped;
            with 141, in silence, when nobody reads what is printed any more.
    """
    _open_streams()
    with _listening():
        try:
            try:
                return work() or 0
            finally:
                _flush()
        except BrokenPipeError:
            raise SystemExit(PIPE) from None
        except ModuleNotFoundError as error:
            fail(_to_install(error))
        except (ValueError, OSError) as error:
            fail(" ".join(str(error).split()))
        except KeyboardInterrupt as stop:
            say(stopped(), error=True)
            raise SystemExit(TERMINATED if isinstance(stop, Terminated) else INTERRUPTED) from None


def fail(message: str) -> NoReturn:
    """Prints one line.

    Raises:
        SystemExit: Always, with 2.
    """
    say(f"error: {message}", error=True)
    raise SystemExit(2) from None


def _open_streams() -> None:
    """Opens what was closed (``>&-``), and has characters replaced that standard output lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # nor may a file of ours get its number
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


@contextlib.contextmanager
def _listening() -> Iterator[None]:
    """Turns Ctrl-C and SIGTERM into exceptions, unless somebody wants them ignored."""
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number, handler in (
            (signal.SIGINT, signal.default_int_handler),
            (signal.SIGTERM, _terminate),
        ):
            if signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _flush() -> None:
    """Prints what is left to print; if that fails, it is not tried again when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):  # a stream of a test or a notebook has no number
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _to_install(error: ModuleNotFoundError) -> str:
    """What to do about a package that is not there."""
    if error.name is None:
        return str(error)  # it says so itself (fives_env/extras.py)
    package = error.name.partition(".")[0]
    if package in _OURS:
        raise error
    if CHECKOUT:
        return f"{package} is not installed; run: make setup (or: pip install --group lab)"
    return str(missing(package, "cli"))


def _in_one_line(box: str) -> str:
    """One of tyro's framed messages: what comes before its rule, and where it sends people.

    Where standard output lacks the characters of a frame, there is a title with a rule under it.
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", box)
    framed = [line for line in plain.splitlines() if line.startswith("│")]
    lines = [line.strip("│ ") for line in framed or plain.splitlines()[2:]]
    rule = next((at for at, line in enumerate(lines) if re.match("──|---", line)), len(lines))
    message = " ".join(lines[:rule]) or " ".join(plain.split())
    message = re.sub(r"^Error parsing [A-Z]\w*: ", "", message)  # no name of ours in it
    no_union = r"no type matching (?:\{None\}\|)?(\S+) could .* from \['(.*?)'\].*"
    message = re.sub(no_union, r"'\2' is not of type \1", message)
    if sent := re.search(r"python -m [\w ]+--help", " ".join(lines[rule:])):
        message += f" (see {sent[0]})"
    return message
