"""Results on disk: one SQLite file, one row a match.

A match is known by its rules, its deals (seed and pair) and who was which side. So whoever met in
whatever schedule, what is here is not played again, and a match of an agent with itself is here
once for all seatings. A block of matches is written in one transaction: a tournament that is
killed has lost the blocks in hand and nothing else. All actions are kept, one byte each
(compressed they would take a tenth more), so every match can be replayed.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from agents.files import shown
from eval.arena.paired import pair_seeds, seatings
from eval.arena.schedule import Meeting
from eval.matches import Matches
from eval.tournament.databases import ChangedError, open_to_read, open_to_write
from eval.tournament.stored_rows import MAX_SEED, fault_of_lineup, fault_of_origin, match_checker
from fives_env.rules import Rules
from fives_env.salts import read_salt

Array = npt.NDArray[Any]
APPLICATION = int.from_bytes(b"five", "big")
"""SQLite's application_id of our files."""
SCHEMA = 3
"""SQLite's user_version; it rises when older code could not read the file or add to it."""
UNSALTED = 2
"""The schema before keys had a salt: such a file is read, and nothing is added to it."""

_CREATE = (
    """
CREATE TABLE origin (
    seed INTEGER NOT NULL,     -- of the tournament that made this file
    salt TEXT NOT NULL         -- of the keys that agents are handed: 128 bits, in decimals
)""",
    """
CREATE TABLE lineups (
    lineup INTEGER PRIMARY KEY,
    rules TEXT NOT NULL,       -- spec
    seed INTEGER NOT NULL,     -- of the tournament
    agent_0 TEXT NOT NULL,     -- who was which side: spec, for a model with #hash of its weights
    agent_1 TEXT NOT NULL,
    agent_2 TEXT NOT NULL,     -- empty where there is no such side
    agent_3 TEXT NOT NULL,
    UNIQUE (rules, seed, agent_0, agent_1, agent_2, agent_3)
)""",
    """
CREATE TABLE matches (
    lineup INTEGER NOT NULL REFERENCES lineups,
    pair INTEGER NOT NULL,     -- number of the stream of deals
    deals_seed INTEGER NOT NULL,  -- from which all deals follow; 64 bits, signed
    leader INTEGER NOT NULL,   -- seat that leads the first round
    score_0 INTEGER NOT NULL,  -- final scores by side; NULL where there is no such side
    score_1 INTEGER NOT NULL,
    score_2 INTEGER,
    score_3 INTEGER,
    rounds INTEGER NOT NULL,
    winner INTEGER NOT NULL,   -- side, or -1
    truncated INTEGER NOT NULL,
    deal INTEGER NOT NULL,     -- hash of the first deal
    line INTEGER NOT NULL,     -- hash of the actions
    moves BLOB NOT NULL,       -- all actions, one byte each
    PRIMARY KEY (lineup, pair)
) WITHOUT ROWID""",
)
COLUMNS = (
    *("pair", "deals_seed", "leader", "score_0", "score_1", "score_2", "score_3"),
    *("rounds", "winner", "truncated", "deal", "line", "moves"),
)
"""Of a match, in the order in which `Store.rows` gives them."""


class StoreError(ValueError):
    """The file cannot be used; the message is one line that says why."""


class Store:
    """The results in one file. A context manager, which closes it.

    Attributes:
        path: Of the file.
        seed: Of the tournament that made it.
        faults: What `lineups` and `rows` found that nobody of ours has written, one line each; they
            leave it out.
    """

    def __init__(
        self,
        path: Path,
        only_read: bool = False,
        seed: int | None = None,
        salt: int | None = None,
    ) -> None:
        """Opens the file.

        Args:
            path: Of the file; it is made if it is missing.
            only_read: Nothing is written, neither to the file nor beside it.
            seed: Kept in a file that is made; drawn for it if None.
            salt: The same; of a file that is there it must be the one that is kept in it.

        Raises:
            StoreError: It is damaged, not ours, of another version or salt, or cannot be written.
        """
        self.path = path
        self.faults: list[str] = []
        self._only_read = only_read
        with self._errors(), ExitStack() as closing:
            opened = open_to_read if only_read else open_to_write
            self._database = opened(path, closing)
            self._prepare(seed, salt)
            self._closing = closing.pop_all()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the file.

        Raises:
            StoreError: What was read is not of one moment.
        """
        with self._errors():
            self._closing.__exit__(kind, error, trace)

    @property
    def salt(self) -> int:
        """Of the keys that agents are handed.

        Raises:
            StoreError: The file was made before there was one.
        """
        if self._salt is None:
            raise StoreError(
                f"{self.path} is of an earlier version, without a salt for the keys of agents: its "
                "matches can be read and replayed, not added to or audited; choose another --out"
            )
        return self._salt

    def played(self, meeting: Meeting) -> set[int]:
        """The pairs of which all seatings are here."""
        query = "SELECT pair FROM matches WHERE lineup = ?"
        with self._errors():
            each = [
                {pair for (pair,) in self._database.execute(query, (self._lineup(meeting, who),))}
                for who in set(meeting.lineups)
            ]
        return set.intersection(*each)

    def add(self, meeting: Meeting, matches: Matches) -> None:
        """Writes a block of matches: all of them or, if it fails, none.

        Matches that are here already stay as they are; playing them again gives the same.
        """
        lineups = meeting.lineups
        marks = ", ".join("?" * (1 + len(COLUMNS)))
        with self._errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                for who in dict.fromkeys(lineups):
                    lineup = self._enter_lineup(meeting, who)
                    rows = _rows(lineup, meeting.seed, matches, lineups.index(who))
                    self._database.executemany(
                        f"INSERT OR IGNORE INTO matches VALUES ({marks})", rows
                    )
            except BaseException:
                if self._database.in_transaction:  # a full disk has ended it
                    self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def matches(self, meeting: Meeting, num_pairs: int) -> Matches:
        """The matches of the pairs below `num_pairs`, which must all be here."""
        each = [list(self.rows(meeting, who, num_pairs)) for who in meeting.lineups]
        if any(len(rows) != num_pairs for rows in each):
            reason = f": {self.faults[0]}" if self.faults else ""
            raise StoreError(
                f"{self.path} does not hold {num_pairs} pairs of {shown(meeting.agents)}{reason}"
            )
        seated = [dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)) for rows in each]
        numbers = {
            name: np.array([columns[name] for columns in seated], np.int64).T
            for name in ("pair", "leader", "rounds", "winner", "truncated", "deal", "line")
        }
        moves = np.empty((num_pairs, len(seated)), object)
        moves.T[:] = [columns["moves"] for columns in seated]
        sides = range(meeting.num_sides)
        scores = [[columns[f"score_{side}"] for side in sides] for columns in seated]
        return Matches(
            pairs=numbers["pair"][:, 0].copy(),
            sides=seatings(meeting.num_sides, len(meeting.agents)),
            scores=np.array(scores, np.int64).transpose(2, 0, 1),
            rounds=numbers["rounds"],
            winner=numbers["winner"],
            truncated=numbers["truncated"] == 1,
            leader=numbers["leader"],
            deals=numbers["deal"],
            lines=numbers["line"],
            moves=moves,
        )

    def lineups(self) -> list[Meeting]:
        """Everybody who has sat at one table, by side: the rules, the seed, and who was which side.

        Sorted; each is a `Meeting` of which `rows` gives the matches in that order of sides.
        """
        query = "SELECT rules, seed, agent_0, agent_1, agent_2, agent_3 FROM lineups"
        found = []
        with self._errors():
            for rules, seed, *who in self._database.execute(query):
                if fault := fault_of_lineup(rules, seed, who):
                    self.faults.append(f"{self.path}: lineups: {fault}")
                else:
                    found.append(Meeting(rules, seed, tuple(filter(None, who))))
        return sorted(found)

    def rows(
        self, meeting: Meeting, who: Sequence[str], num_pairs: int = MAX_SEED
    ) -> Iterator[tuple[Any, ...]]:
        """The matches of one line-up, pairs below `num_pairs` in order; each as `COLUMNS`."""
        query = f"SELECT {', '.join(COLUMNS)} FROM matches WHERE lineup = ? AND pair < ?"
        with self._errors():
            lineup = self._lineup(meeting, who)
            fault_of = match_checker(COLUMNS, Rules.from_spec(meeting.rules))
            for row in self._database.execute(f"{query} ORDER BY pair", (lineup, num_pairs)):
                if fault := fault_of(row):
                    told = f"{' against '.join(who)}, pair {shown(row[0])}"
                    self.faults.append(f"{self.path}: match of {told}: {fault}")
                else:
                    yield row

    def _lineup(self, meeting: Meeting, who: Sequence[str]) -> int | None:
        """The number of a line-up; None if it is not here."""
        query = (
            "SELECT lineup FROM lineups WHERE rules = ? AND seed = ? AND agent_0 = ? "
            "AND agent_1 = ? AND agent_2 = ? AND agent_3 = ?"
        )
        found = self._database.execute(query, _lineup_row(meeting, who)).fetchone()
        return found and int(found[0])

    def _enter_lineup(self, meeting: Meeting, who: Sequence[str]) -> int:
        row = _lineup_row(meeting, who)
        self._database.execute("INSERT OR IGNORE INTO lineups VALUES (NULL, ?, ?, ?, ?, ?, ?)", row)
        lineup = self._lineup(meeting, who)
        assert lineup is not None
        return lineup

    def _prepare(self, seed: int | None, salt: int | None) -> None:
        application, schema = self._pragma("application_id"), self._pragma("user_version")
        if application == 0 and schema == 0 and self._is_empty() and not self._only_read:
            self._create(seed, salt)
        elif application != APPLICATION:
            raise StoreError(
                f"{self.path} is a database of something else, not results of fives; "
                "choose another --out"
            )
        elif schema not in (UNSALTED, SCHEMA):
            raise StoreError(
                f"{self.path} has results of schema {schema}, and this version reads schema "
                f"{SCHEMA}; choose another --out"
            )
        found = self._pragma("quick_check(1)")
        if found != "ok":
            raise sqlite3.DatabaseError(str(found))
        query = "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger')"
        created = _CREATE if self._pragma("user_version") == SCHEMA else _CREATE[1:]
        layout = sorted(_layout(sql) for (sql,) in self._database.execute(query))
        if layout != sorted(map(_layout, created)):
            raise sqlite3.DatabaseError("its tables are not those of results")
        self.seed, self._salt = self._read_origin()
        if salt not in (None, self._salt):
            raise StoreError(
                f"{self.path} has results of another --salt ({self._salt}); leave it out, or "
                "choose another --out"
            )

    def _read_origin(self) -> tuple[int, int | None]:
        """The seed and the salt; 0, which then was the usual seed, and None in an unsalted file."""
        if self._pragma("user_version") == UNSALTED:
            return 0, None
        origins = self._database.execute("SELECT seed, salt FROM origin").fetchall()
        if fault := fault_of_origin(origins):
            raise StoreError(f"{self.path}: origin: {fault}")
        seed, salt = origins[0]
        return int(seed), int(salt)

    def _create(self, seed: int | None, salt: int | None) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        if self._is_empty():  # another process may have been quicker
            for table in _CREATE:
                self._database.execute(table)
            drawn = secrets.randbelow(MAX_SEED + 1) if seed is None else seed
            origin = drawn, str(read_salt(salt))
            self._database.execute("INSERT INTO origin VALUES (?, ?)", origin)
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
        except ChangedError:
            raise StoreError(f"{self.path} was written to while it was read; do it again") from None
        except (sqlite3.OperationalError, OSError) as error:  # locked, full, read-only
            raise StoreError(f"{self.path} cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"{self.path} is damaged or not a results file ({' '.join(str(error).split())}); "
                "move it away or choose another --out"
            ) from error


def _lineup_row(meeting: Meeting, who: Sequence[str]) -> tuple[Any, ...]:
    return (meeting.rules, meeting.seed, *who, *("",) * (4 - len(who)))


def _layout(sql: str | None) -> str:
    """What a statement makes, without comments and line ends."""
    return " ".join(re.sub("--[^\n]*", "", sql or "").split())


def _rows(lineup: int, seed: int, matches: Matches, seating: int) -> Iterator[tuple[Any, ...]]:
    """Rows of the table, in the order of its columns."""
    num_pairs, _, num_sides = matches.scores.shape
    nothing = [None] * num_pairs
    scores = matches.scores[:, seating].T.tolist() + [nothing] * (4 - num_sides)
    columns = (matches.leader, matches.rounds, matches.winner, matches.truncated.astype(np.int64))
    leader, *rest = (column[:, seating].tolist() for column in columns)
    return zip(
        [lineup] * num_pairs,
        matches.pairs.tolist(),
        pair_seeds(seed, matches.pairs).view(np.int64).tolist(),
        leader,
        *scores,
        *rest,
        matches.deals[:, seating].tolist(),
        matches.lines[:, seating].tolist(),
        matches.moves[:, seating],
        strict=True,
    )
