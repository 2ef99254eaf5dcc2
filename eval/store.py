"""Results on disk: one SQLite file, one row a match.

A match is known by its rules, seed, agents, pair and seating. A block of matches is written in one
transaction, so a tournament that is killed has lost the block in hand and nothing else, and the
same command later finds what is there and plays what is missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from eval.arena import Matches

Array = npt.NDArray[Any]
APPLICATION = int.from_bytes(b"five", "big")
"""SQLite's application_id of our files."""
SCHEMA = 1
"""SQLite's user_version; it rises when older code could not read the file."""
MAX_SEED = 2**63 - 1

_CREATE = """
CREATE TABLE matches (
    rules TEXT NOT NULL,       -- spec
    seed INTEGER NOT NULL,     -- of the tournament
    a TEXT NOT NULL,           -- agent on one side
    b TEXT NOT NULL,           -- agent on every other side
    pair INTEGER NOT NULL,     -- number of the stream of deals
    seating INTEGER NOT NULL,  -- the side that a was
    score_0 INTEGER NOT NULL,  -- final scores by side; NULL where there is no such side
    score_1 INTEGER NOT NULL,
    score_2 INTEGER,
    score_3 INTEGER,
    rounds INTEGER NOT NULL,
    winner INTEGER NOT NULL,   -- side, or -1
    truncated INTEGER NOT NULL,
    deal INTEGER NOT NULL,     -- hash of the first deal
    line INTEGER NOT NULL,     -- hash of how the match ended
    PRIMARY KEY (rules, seed, a, b, pair, seating)
) WITHOUT ROWID
"""
_COLUMNS = 15
_OF_PAIRING = "FROM matches WHERE rules = ? AND seed = ? AND a = ? AND b = ?"


class Pairing(NamedTuple):
    """What the matches of one pairing have in common."""

    rules: str
    seed: int
    a: str
    b: str


class StoreError(ValueError):
    """The file cannot be used; the message is one line that says why."""


class Store:
    """The results in one file, made if it is missing. A context manager, which closes it."""

    def __init__(self, path: Path) -> None:
        """Opens the file.

        Raises:
            StoreError: It is damaged, not ours, of another version, or cannot be written.
        """
        self.path = path
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._database.close()
                raise

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the file."""
        self._database.close()

    def played(self, pairing: Pairing, num_seatings: int) -> set[int]:
        """The pairs of which all seatings are here."""
        query = f"SELECT pair {_OF_PAIRING} GROUP BY pair HAVING COUNT(*) = ?"
        with self._errors():
            return {pair for (pair,) in self._database.execute(query, (*pairing, num_seatings))}

    def add(self, pairing: Pairing, matches: Matches) -> None:
        """Writes a block of matches: all of them or, if it fails, none.

        Matches that are here already stay as they are; playing them again gives the same.
        """
        marks = ", ".join("?" * _COLUMNS)
        with self._errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.executemany(
                    f"INSERT OR IGNORE INTO matches VALUES ({marks})", _rows(pairing, matches)
                )
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def matches(self, pairing: Pairing, num_pairs: int, num_sides: int) -> Matches:
        """The matches of the pairs below `num_pairs`, which must all be here."""
        query = f"SELECT * {_OF_PAIRING} AND pair < ? ORDER BY pair, seating"
        with self._errors():
            rows = self._database.execute(query, (*pairing, num_pairs)).fetchall()
        table = np.array([row[4 : 6 + num_sides] + row[10:] for row in rows], np.int64)
        by_seating = table.reshape(num_pairs, num_sides, -1)
        rounds, winner, truncated, deals, lines = np.moveaxis(by_seating[:, :, -5:], 2, 0)
        return Matches(
            pairs=by_seating[:, 0, 0],
            scores=by_seating[:, :, 2:-5],
            rounds=rounds,
            winner=winner,
            truncated=truncated == 1,
            deals=deals,
            lines=lines,
        )

    def _prepare(self) -> None:
        application, schema = self._pragma("application_id"), self._pragma("user_version")
        if application == 0 and schema == 0 and self._is_empty():
            self._database.execute("PRAGMA journal_mode = WAL")
            self._create()
        elif application != APPLICATION:
            raise StoreError(
                f"{self.path} is a database of something else, not results of fives; "
                "choose another --out"
            )
        elif schema != SCHEMA:
            raise StoreError(
                f"{self.path} has results of schema {schema}, and this version reads schema "
                f"{SCHEMA}; choose another --out"
            )
        found = self._pragma("quick_check(1)")
        if found != "ok":
            raise sqlite3.DatabaseError(str(found))

    def _create(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        if self._is_empty():  # another process may have been quicker
            self._database.execute(_CREATE)
            self._database.execute(f"PRAGMA application_id = {APPLICATION}")
            self._database.execute(f"PRAGMA user_version = {SCHEMA}")
        self._database.execute("COMMIT")

    def _is_empty(self) -> bool:
        tables = self._database.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()[0]
        return bool(tables == 0)

    def _pragma(self, name: str) -> Any:
        return self._database.execute(f"PRAGMA {name}").fetchone()[0]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """SQLite's and the system's errors as one line that names the file."""
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:  # locked, full, read-only
            raise StoreError(f"{self.path} cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"{self.path} is damaged or not a results file ({' '.join(str(error).split())}); "
                "move it away or choose another --out"
            ) from error


def _rows(pairing: Pairing, matches: Matches) -> Iterator[tuple[Any, ...]]:
    """Rows of the table, in the order of its columns."""
    num_pairs, num_seatings, num_sides = matches.scores.shape
    no_side = (None,) * (4 - num_sides)
    for row in range(num_pairs):
        for seating in range(num_seatings):
            yield (
                *pairing,
                int(matches.pairs[row]),
                seating,
                *matches.scores[row, seating].tolist(),
                *no_side,
                int(matches.rounds[row, seating]),
                int(matches.winner[row, seating]),
                int(matches.truncated[row, seating]),
                int(matches.deals[row, seating]),
                int(matches.lines[row, seating]),
            )
