"""Files: read with care, since they may be a stranger's, and written whole.

Whatever is in a file, reading it gives what was asked for or a ValueError of one line that names
the file and, where it is one's fault, the field. Sizes are looked at before memory is taken.
"""

import json
import os
import reprlib
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST_BYTES = 256 << 20
MOST_TEXT = 64 << 20
"""The largest files that are read, in bytes."""
_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    dict: "an object",
    list: "a list",
    type(None): "null",
}


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a file of at most so many bytes.

    Raises:
        ValueError: There is none, it cannot be read, or it is larger.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe could wait for ever
            raise ValueError(f"{path} is not a file")
        if status.st_size > most:
            raise ValueError(f"{path} has {status.st_size:,} bytes, more than {most:,}: not read")
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None


def read_text(path: Path) -> str:
    """The content of a file of UTF-8 text.

    Raises:
        ValueError: As for `read_file`; or it is other text.
    """
    try:
        return read_file(path, MOST_TEXT).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is damaged: byte {error.start} is not UTF-8 text") from None


def read_json(path: Path, shape: Any = dict) -> Any:
    """The JSON document in a file.

    Args:
        path: Of the file.
        shape: What it must be (see `conform`).

    Raises:
        ValueError: As for `read_text`; or it is no JSON, or of another shape.
    """
    text = read_text(path)
    try:
        document = parse_json(text)
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    try:
        conform(document, shape)
    except ValueError as error:
        raise ValueError(f"{path} is damaged or of another version: {error}") from None
    return document


def parse_json(text: str) -> Any:
    """What JSON text says.

    Raises:
        ValueError: It is none.
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is JSON text nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"it is not JSON text: {error}") from None


def conform(value: Any, shape: Any, name: str = "it") -> None:
    """Checks what was read.

    Args:
        value: What JSON can hold.
        shape: A type (float takes whole numbers too, and is finite); a dict of shapes by field,
            those with ``?`` behind them may be missing; a list of the shape of its items; a tuple
            of types; or a function that raises ValueError.
        name: Of the value, for messages.

    Raises:
        ValueError: It is something else; the message names the field, as ``rows[3].pairs``.
    """
    if isinstance(shape, dict):
        conform(value, dict, name)
        for key, inner in shape.items():
            field = key.removesuffix("?")
            where = field if name == "it" else f"{name}.{field}"
            if field in value:
                conform(value[field], inner, where)
            elif field == key:
                raise ValueError(f"{where} is missing")
    elif isinstance(shape, list):
        conform(value, list, name)
        for index, item in enumerate(value):
            conform(item, shape[0], f"{name}[{index}]")
    elif isinstance(shape, type | tuple):
        kinds = shape if isinstance(shape, tuple) else (shape,)
        if not any(_is(value, kind) for kind in kinds):
            words = " or ".join(_WORDS[kind] for kind in kinds)
            raise ValueError(f"{name} is {shown(value)}, not {words}")
    else:
        _ask(shape, value, name)


def whole(low: int, high: int) -> Callable[[Any], None]:
    """The shape of a whole number from `low` to `high`."""

    def check(value: Any) -> None:
        if not (_is(value, int) and low <= value <= high):
            raise ValueError(f"it is {shown(value)}, not a whole number from {low} to {high}")

    return check


def positive(value: Any) -> None:
    """The shape of a number above 0."""
    if not (_is(value, float) and value > 0):
        raise ValueError(f"it is {shown(value)}, not a number above 0")


def share(value: Any) -> None:
    """The shape of a number from 0 to 1."""
    if not (_is(value, float) and 0 <= value <= 1):
        raise ValueError(f"it is {shown(value)}, not a number from 0 to 1")


def shown(value: object) -> str:
    """A value for a message: on one line, and cut where it is long."""
    return _REPR.repr(value)


def refuse_unwritable(path: Path, option: str) -> None:
    """Finds out before the work whether a file can be written in the end; makes its folder.

    Raises:
        ValueError: It cannot; the message begins with the option that names it.
    """
    if path.is_dir():
        raise ValueError(f"{option} {path} is a folder; give the name of a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            return  # as /dev/stdout
        handle, name = tempfile.mkstemp(dir=_real(path).parent, prefix=f".{path.name}.")
        os.close(handle)
        os.unlink(name)
    except OSError as error:
        raise ValueError(f"{option} {path} cannot be written: {error.strerror}") from None


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all, whatever moment the process is killed at.

    Raises:
        OSError: It cannot be written; the error names it.
    """
    try:
        _replace(_real(path), content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _replace(path: Path, content: bytes) -> None:
    if path.exists() and not path.is_file():  # a device stays what it is
        path.write_bytes(content)
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # mkstemp gives the owner alone access
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, of whose names none may stand twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{shown(twice)} stands twice in one object")
    return fields


def _real(path: Path) -> Path:
    """What a link points to: that is what is replaced."""
    return Path(os.path.realpath(path))


def _is(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    if kind is float:
        return isinstance(value, int | float) and abs(value) <= sys.float_info.max
    return isinstance(value, kind)


def _ask(check: Callable[[Any], object], value: Any, name: str) -> None:
    try:
        check(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
