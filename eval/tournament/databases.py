"""SQLite files: opened to be written, or read where they lie without leaving a trace there.

Whoever writes uses a write-ahead log where the file system holds one, which some network file
systems and containers do not, and the ordinary journal elsewhere. SQLite's own ways of reading
make files beside the database. Here it is read as it is where nothing is left to be taken over from
a log or journal, and otherwise, as after `kill -9` or while somebody writes, from a copy.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

LONGEST = 1 << 20
"""Bytes of a value: longer ones, which we never write, are not read."""
_LOGS = ("-wal", "-journal")
_TRIES, _PAUSE = 40, 0.05
_NO_LOG = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
)
"""Errors of a file system on which a write-ahead log cannot be shared between processes."""


class ChangedError(Exception):
    """A file was written to while it was read."""


def open_to_write(path: Path, closing: ExitStack) -> sqlite3.Connection:
    """A connection to a database, made if it is missing.

    Args:
        path: Of the file.
        closing: Closes it.

    Raises:
        sqlite3.Error: It cannot be used.
        OSError: Its folder cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        database = _connect(path)
        closing.callback(database.close)
        if not database.execute("PRAGMA schema_version").fetchone()[0]:  # it is new
            database.execute("PRAGMA journal_mode = WAL")
        _write_nothing(database)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _NO_LOG:
            raise
        closing.close()
        database = _connect(path)
        closing.callback(database.close)
        database.execute("PRAGMA locking_mode = EXCLUSIVE")  # takes a log over, as its one reader
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA locking_mode = NORMAL")
        _write_nothing(database)
    # A log that is cut off by a power cut is whole up to there; a journal has to be on the disk.
    logged = database.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    database.execute(f"PRAGMA synchronous = {'NORMAL' if logged else 'FULL'}")
    return database


def open_to_read(path: Path, closing: ExitStack) -> sqlite3.Connection:
    """A connection to a database that is only read, on a read-only disk too.

    Args:
        path: Of the file.
        closing: Closes it; where nothing else failed it finds out whether somebody wrote meanwhile.

    Raises:
        ChangedError: It is written to without a pause; or, when it is closed, was written to.
        sqlite3.Error: It cannot be used.
        OSError: It cannot be read.
    """
    real = Path(os.path.realpath(path))
    before = _state(real)
    if any(size for size, _ in before[1:]):
        folder = closing.enter_context(tempfile.TemporaryDirectory())
        database = _connect(_copied(real, Path(folder)))
        closing.callback(database.close)
        return database

    def compare(kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and _state(real) != before:
            raise ChangedError

    closing.push(compare)
    database = _connect(f"{real.as_uri()}?mode=ro&immutable=1")
    closing.callback(database.close)
    return database


def _connect(where: Path | str) -> sqlite3.Connection:
    database = sqlite3.connect(where, timeout=30, isolation_level=None, uri=isinstance(where, str))
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    database.execute("PRAGMA trusted_schema = OFF")  # a file may be a stranger's
    database.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
    return database


def _write_nothing(database: sqlite3.Connection) -> None:
    """A transaction, which needs everything that writing needs."""
    database.execute("BEGIN IMMEDIATE")
    database.execute("COMMIT")


def _state(path: Path) -> list[tuple[int, int]]:
    """Size and time of the last change of a database and its logs; zeros where there is none."""
    return [_size_and_time(path.with_name(path.name + end)) for end in ("", *_LOGS)]


def _size_and_time(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _copied(path: Path, folder: Path) -> Path:
    """A copy of a database with its logs, of one moment.

    The database is copied first. As long as it does not change, all that the logs gain meanwhile is
    more transactions, of which a half one does not count.
    """
    for _ in range(_TRIES):
        before = _size_and_time(path)
        shutil.copyfile(path, folder / path.name)
        for end in _LOGS:
            (folder / (path.name + end)).unlink(missing_ok=True)
            try:
                shutil.copyfile(path.with_name(path.name + end), folder / (path.name + end))
            except FileNotFoundError:
                continue
        if _size_and_time(path) == before:
            return folder / path.name
        time.sleep(_PAUSE)
    raise ChangedError
