"""The one place that configures Numba: `jit`, the cache of compiled code, and the first-use notice.

Numba's own cache looks at the file of a function alone, so an edit in a function that it calls
would go unseen. The cache folder is therefore keyed by a hash of all sources that are compiled,
and of those that give them constants: those of the engine, and for a function of the lab those of
its own folder too. Compiled code of the lab may call the engine and its own folder, nothing else.
"""

import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event

config: Any = numba.config  # its attributes are made at run time

_PACKAGE = Path(__file__).parent
_CONSTANTS = ("actions.py", "jit.py", "records.py", "rules.py", "tiles.py")


def _source_key(sources: Path) -> str:
    """The hash of the engine, and of the folder `sources` where that is not of the library."""
    paths = [*sorted(_PACKAGE.glob("engine/*.py")), *map(_PACKAGE.joinpath, _CONSTANTS)]
    if not sources.is_relative_to(_PACKAGE):
        paths += sorted(sources.glob("*.py"))
    digest = hashlib.sha256(numba.__version__.encode())
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def _cache_folder(sources: Path) -> Path:
    """Beside the sources if that can be written, else in the user's cache, else a passing one.

    Compiled code is read back through pickle, so no folder that others can write to will do.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    own = _PACKAGE if sources.is_relative_to(_PACKAGE) else sources
    key = f"numba-{_source_key(sources)}"
    for parent in (own / "__pycache__", Path(home) / "fives_env"):
        folder = parent / key
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="fives_env-"))


def jit(function: Callable[..., Any], inline: bool = False) -> Callable[..., Any]:
    """Compiles `function` on first use: nopython, without the GIL, cached on disk."""
    previous = config.CACHE_DIR
    sources = Path(function.__code__.co_filename).parent
    config.CACHE_DIR = str(_cache_folder(sources))  # read when the dispatcher is made, only then
    try:
        compiled: Callable[..., Any] = numba.njit(
            function, nogil=True, cache=True, error_model="numpy", forceinline=inline
        )
    finally:
        config.CACHE_DIR = previous
    return compiled


def jit_inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """`jit`, and compiled into every caller: for what a rollout does at each step."""
    return jit(function, inline=True)


class _FirstUseNotice(event.Listener):
    """Says once on stderr that code is being compiled, since the first call then takes a while."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.said and module.split(".")[0] in (_PACKAGE.name, "agents"):
            self.said = True
            print("fives_env: compiling, once (up to 30 s) ...", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Nothing is said when it is done."""


event.register("numba:compile", _FirstUseNotice())  # type: ignore[no-untyped-call]
