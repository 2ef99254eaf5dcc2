"""``python -m eval replay``: every stored match is played again from its actions and compared.

Replaying is also how anything else about a match is known: `facts` counts what happened in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.terminal import printable, say
from eval.arena import loops
from eval.arena.paired import deal_hashes, hash_rows, pair_seeds
from eval.arena.schedule import Meeting
from eval.commands import Replay
from eval.matches import Matches
from eval.tournament.results import RESULTS, open_results
from eval.tournament.store import COLUMNS, Store
from fives_env.games import Games
from fives_env.match_record import MatchRecord
from fives_env.rules import Rules

Array = npt.NDArray[Any]
BATCH = 10_000
"""Matches that are replayed at once."""
MOST_LINES = 10
"""Mismatches that are told one by one."""

_FAULTS = {
    loops.ILLEGAL: "an action is illegal",
    loops.UNFINISHED: "the actions end before the match",
    loops.LEFT_OVER: "there are actions after the end of the match",
}


class Stored(NamedTuple):
    """A stored match.

    Attributes:
        number: In the order of `stored`, from 0.
        meeting: Rules, seed, and who was which side.
        row: Its columns by name.
    """

    number: int
    meeting: Meeting
    row: dict[str, Any]


def run(options: Replay) -> None:
    """Replays all matches, or prints the record of one.

    Raises:
        ValueError: There are no results, or no such match.
        SystemExit: With 1 if a match does not replay to what is stored.
    """
    with open_results(options.results) as store:
        if options.match is not None:
            print(_record(find(store, options.match)), end="")
            return
        number, wrong = 0, list[str]()
        for batch in _batches(store):
            number += len(batch)
            wrong += compare(batch)
        wrong += store.faults
    for line in wrong[:MOST_LINES]:
        say(line)
    say(f"{number:,} matches replayed from {options.results / RESULTS}, {len(wrong):,} differ")
    if wrong:
        raise SystemExit(1)


def stored(store: Store) -> Iterator[Stored]:
    """Every match, by rules, seed, who was which side, and pair."""
    numbers = itertools.count()
    for meeting in store.lineups():
        for row in store.rows(meeting, meeting.agents):
            yield Stored(next(numbers), meeting, dict(zip(COLUMNS, row, strict=True)))


def find(store: Store, number: int) -> Stored:
    """The stored match of this number.

    Raises:
        ValueError: There is none.
    """
    found = next(itertools.islice(stored(store), number, None), None) if number >= 0 else None
    if found is None:
        raise ValueError(
            f"--match {number}: there are matches 0 to {sum(1 for _ in stored(store)) - 1}"
        )
    return found


def compare(matches: Sequence[Stored]) -> list[str]:
    """Replays matches of one line-up; a line for each that differs from what is stored."""
    rules = Rules.from_spec(matches[0].meeting.rules)
    rows = [match.row for match in matches]
    seeds = np.array([row["deals_seed"] for row in rows], np.int64).view(np.uint64)
    games = _dealt(rules, seeds)
    leader, deals = games.data["leader"].copy(), deal_hashes(games)
    moves = [row["moves"] for row in rows]
    facts, faults = _play(games, moves)
    data = games.data
    found: dict[str, Array] = {
        "leader": leader,
        "rounds": facts["rounds"],
        "winner": data["winner"],
        "truncated": data["truncated"],
        "deal": deals,
        "line": hash_rows(moves),
        **{f"score_{side}": data["scores"][:, side] for side in range(rules.num_sides)},
    }
    agreed = {name: values == [row[name] for row in rows] for name, values in found.items()}
    fine = np.all([faults == loops.PLAYED, *agreed.values()], axis=0)
    lines = []
    for at in np.flatnonzero(~fine).tolist():
        differing = [name for name, equal in agreed.items() if not equal[at]]
        what = _FAULTS.get(int(faults[at])) or f"another {', '.join(differing)}"
        who = " against ".join(matches[at].meeting.agents)
        lines.append(f"match {matches[at].number} ({who}, pair {rows[at]['pair']}): {what}")
    return lines


def facts(rules: Rules, seeds: Array, moves: Sequence[bytes]) -> Array:
    """What happened in finished matches: FACTS [B] (course/loops.py).

    Args:
        rules: What was played.
        seeds: Of the deals of each, uint64 [B].
        moves: Its actions.

    Raises:
        ValueError: The actions of a match do not fit its deals.
    """
    counted, faults = _play(_dealt(rules, seeds), moves)
    if (faults != loops.PLAYED).any():
        row = int(np.argmax(faults != loops.PLAYED))
        raise ValueError(f"match {row} cannot be replayed: {_FAULTS[int(faults[row])]}")
    return counted


def facts_of(rules: Rules, seed: int, matches: Matches) -> Array:
    """What happened in the matches of a meeting: FACTS [N, M].

    Raises:
        ValueError: As for `facts`.
    """
    seeds = np.repeat(pair_seeds(seed, matches.pairs), matches.moves.shape[1])
    return facts(rules, seeds, matches.moves.ravel().tolist()).reshape(matches.moves.shape)


def _dealt(rules: Rules, seeds: Array) -> Games:
    games = Games(rules, num_games=len(seeds))
    games.reset(seed=seeds)
    return games


def _play(games: Games, moves: Sequence[bytes]) -> tuple[Array, Array]:
    """Plays the matches to the end; the facts, and what is wrong with each record."""
    counted = np.zeros(len(games), loops.FACTS)
    faults = np.empty(len(games), np.int64)
    ends = np.cumsum([len(course) for course in moves])
    course = np.frombuffer(b"".join(moves), np.uint8)
    loops.replay(games.params, games.data, games.script, course, ends, counted, faults)
    return counted, faults


def _batches(store: Store) -> Iterator[list[Stored]]:
    """All matches, in batches of one line-up."""
    for _, matches in itertools.groupby(stored(store), lambda match: match.meeting):
        while batch := list(itertools.islice(matches, BATCH)):
            yield batch


def _record(match: Stored) -> str:
    """The match as the text of a record that names who sat where."""
    rules = Rules.from_spec(match.meeting.rules)
    agents = list(map(printable, match.meeting.agents))
    record = MatchRecord(
        rules=rules,
        seed=match.row["deals_seed"] % 2**64,
        actions=tuple(match.row["moves"]),
        seats=tuple(agents[rules.side_of(seat)] for seat in range(rules.players)),
    )
    try:
        return record.text
    except ValueError as error:
        raise ValueError(f"match {match.number} cannot be replayed: {error}") from None
