"""Where compiled code is kept on disk: it is compiled once a machine, not once a process.

Numba's own cache looks at the file of a function alone, so an edit in a function that it calls
would go unseen. Here all compiled code has one key: a hash of every source that is compiled, of the
library and of the lab beside it, and of those that give them constants. Places, in this order:

- the folder that NUMBA_CACHE_DIR names; or else
- in a checkout, beside the sources (nothing is left behind in what pip installed);
- the user's cache folder;
- where none of them can be written, a passing folder that child processes share.

What can be read is used wherever it lies; it is written to the first place that can be written.
Whatever is wrong with a place costs time and a line on stderr, and never stops anybody.
"""

import atexit
import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
)

_PACKAGE = Path(__file__).parent
_BESIDE = {name: _PACKAGE.parent / name for name in ("agents", "eval", "train")}
CHECKOUT = not (_PACKAGE / "agents").exists() and _BESIDE["agents"].is_dir()
"""Whether this is the library in a checkout, not one that pip installed."""
_IMPORT = re.compile(rb"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_COMPILED = b"fives_env.jit import"
_PASSING = "FIVES_ENV_CODE"
"""Names the passing folder to child processes."""
_DRY = ("envs", "rendering")
"""Folders of the library of which nothing that is compiled takes constants."""
_KEPT = 4
"""Folders of other versions of the sources that are kept in one place."""


def sources() -> list[Path]:
    """Every file that is compiled, and those of ours that it imports from."""
    roots = [_PACKAGE, *(_BESIDE.values() if CHECKOUT else ())]
    files = [path for root in roots for path in root.rglob("*.py")]
    found = {path for path in files if _COMPILED in path.read_bytes()} | {Path(__file__)}
    todo = sorted(found)
    while todo:
        path = todo.pop()
        new = {other for other in _imported(path) if other.parent.name not in _DRY} - found
        found |= new
        todo += new
    return sorted(found)


def _imported(path: Path) -> Iterator[Path]:
    """The files of ours that a file imports from."""
    for module, names in _IMPORT.findall(path.read_bytes()):
        dots = len(module) - len(module.lstrip(b"."))
        first, *parts = [part for part in module.decode().lstrip(".").split(".") if part] or [""]
        if dots:
            folder = path.parents[dots - 1] / first
        elif first == _PACKAGE.name:
            folder = _PACKAGE
        elif first in _BESIDE and CHECKOUT:
            folder = _BESIDE[first]
        else:
            continue
        folder = folder.joinpath(*parts)
        inner = (folder / f"{name}.py" for name in re.findall(r"\w+", names.decode()))
        yield from (file for file in (folder.with_suffix(".py"), *inner) if file.is_file())


@functools.cache
def key() -> str:
    """One hash for all compiled code."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sources():
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def places() -> list[Path]:
    """Where compiled code may lie, in the order in which it is looked for."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(chosen)]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    beside = [_PACKAGE / "__pycache__"] if CHECKOUT else []
    return [*beside, Path(home) / "fives_env"]


@functools.cache
def readable() -> list[Path]:
    """The folders of this version of the sources that there are; the passing one too."""
    passing = [Path(os.environ[_PASSING])] if _PASSING in os.environ else []
    return [folder for place in (*places(), *passing) if (folder := _folder(place)).is_dir()]


@functools.cache
def writable() -> Path:
    """The folder to which new code is written; made if need be."""
    for place in places():
        with suppress(OSError):
            _try(_folder(place))
            _clear(place)
            return _folder(place)
    tried = " or ".join(map(str, places()))
    say(f"{tried} cannot be written to: what is not there is compiled again in every start")
    if _PASSING not in os.environ:
        _clear_passing(Path(tempfile.gettempdir()))
        prefix = f"fives_env-{os.getpid()}-"
        os.environ[_PASSING] = tempfile.mkdtemp(prefix=prefix)  # nobody else may write there
        atexit.register(_remove, os.environ[_PASSING], os.getpid())
    folder = _folder(Path(os.environ[_PASSING]))
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
    return folder


@functools.cache
def say(what: str) -> None:
    """A line on stderr, once."""
    if sys.stderr is not None:
        print(f"fives_env: {what}", file=sys.stderr)


def _folder(place: Path) -> Path:
    return place / f"numba-{key()}"


def _try(folder: Path) -> None:
    """Makes a folder and writes to it.

    Raises:
        OSError: That is not possible.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


def _clear(place: Path) -> None:
    """Takes away what is left of older versions of the sources."""
    with suppress(OSError):
        others = [folder for folder in place.glob("numba-*") if folder != _folder(place)]
        others.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in others[_KEPT:]:
            shutil.rmtree(folder, ignore_errors=True)


def _clear_passing(place: Path) -> None:
    """Takes away passing folders whose process was killed before it could."""
    for folder in place.glob("fives_env-*-*"):
        with suppress(OSError, ValueError):
            try:
                os.kill(int(folder.name.split("-")[1]), 0)  # asks whether it is there
            except ProcessLookupError:
                shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not a child that was forked
        shutil.rmtree(folder, ignore_errors=True)


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Names the files of one function; `CodeCache` knows the folders."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "_Locator":
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return ""

    def get_source_stamp(self) -> str:
        return key()

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Impl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_Locator]


class CodeCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, in the places of this module."""

    _impl_class = _Impl

    def __init__(self, function: Callable[..., Any]) -> None:
        """Looks nothing up yet."""
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._module = function.__module__

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, from the first folder that has it whole; None if none has."""
        target_context.refresh()
        index = self._index_key(sig, target_context.codegen())  # type: ignore[no-untyped-call]
        for folder in readable():
            try:
                data = self._file(folder).load(index)
                if data is not None:
                    return self._impl.rebuild(target_context, data)
            except Exception as error:  # what a damaged pickle may raise has no end
                self._tell(folder, error)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Writes it where that is possible."""
        if not self._impl.check_cachable(data):
            return
        index = self._index_key(sig, data.codegen)  # type: ignore[no-untyped-call]
        folder, content = writable(), self._impl.reduce(data)
        try:
            (folder / self._module).mkdir(parents=True, exist_ok=True)
            self._save(self._file(folder), index, content)
        except OSError as error:
            self._tell(folder, error)

    def _save(self, file: Any, index: Any, content: Any) -> None:
        try:
            file.save(index, content)
        except OSError:
            raise
        except Exception:  # the index is damaged
            file.flush()
            file.save(index, content)

    def _file(self, folder: Path) -> Any:
        file: Any = IndexDataCacheFile
        return file(
            cache_path=str(folder / self._module),
            filename_base=self._impl.filename_base,
            source_stamp=key(),
        )

    def _tell(self, folder: Path, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or f"damaged: {type(error).__name__}"
        say(f"compiled code in {folder} cannot be used ({reason}); compiling again")
