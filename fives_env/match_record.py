"""A played match as text: write, read, replay.

The text says what was dealt (a seed, or decks), every action with who made it and what it scored,
and how it ended. Who reads it back gets the same record, and only if a replay agrees with all of
it. One line a round, as in ``round 1: 1 5|5>0 +2, 0 0|5>1, 1 knock, ...; out``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fives_env.actions import action_name, parse_action
from fives_env.games import Games
from fives_env.records import BLOCKED, OUT
from fives_env.rules import Rules
from fives_env.tiles import parse_tile, tile_name

TITLE = "fives match record, format 1"
_ENDS = {OUT: "out", BLOCKED: "blocked"}
_MOVE = re.compile(r"[0-3] (?P<action>\S+)(?: \+\d+| refused)?")


@dataclass(frozen=True)
class MatchRecord:
    """What was dealt and played.

    Attributes:
        rules: What was played.
        seed: From which the deals follow, as for ``Games.reset(seed=...)``.
        actions: All of them, in order.
        rounds: Scripted rounds, as for `Games.reset`; the seed goes on behind them.
        start: Start scores by side; None for none given.
        seats: Who played, by seat; may be empty.
    """

    rules: Rules
    seed: int
    actions: tuple[int, ...]
    rounds: tuple[Mapping[str, Any], ...] = ()
    start: tuple[int, ...] | None = None
    seats: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The record as text; ``MatchRecord.from_text(record.text) == record``.

        Raises:
            ValueError: An action is illegal.
        """
        return "\n".join([*self._head(), *self._course()]) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads a record and plays it again.

        Raises:
            ValueError: The text is not of this form, or the replay does not agree with it; the
                message names the line.
        """
        lines = [line.strip() for line in text.strip().splitlines()]
        if lines[:1] != [TITLE]:
            raise ValueError(f"this is not a match record: its first line must be {TITLE!r}")
        fields = dict(_field(line) for line in lines[1:])
        record = cls(**_read(fields))
        both = itertools.zip_longest(record.text.splitlines(), lines, fillvalue="")
        for number, (ours, theirs) in enumerate(both, 1):
            if ours != theirs:
                raise ValueError(f"line {number} is {theirs!r}, and a replay gives {ours!r}")
        return record

    def replay(self) -> Games:
        """The match played again: a batch of one, at its end (or as far as the record goes).

        Raises:
            ValueError: An action is illegal; the message says which would be legal.
        """
        games = self._dealt()
        for action in self.actions:
            games.step([action])
        return games

    def _dealt(self) -> Games:
        games = Games(self.rules)
        games.reset(seed=self.seed, rounds=self.rounds or None, scores=self.start)
        return games

    def _head(self) -> Iterator[str]:
        yield TITLE
        yield f"rules: {self.rules.spec}"
        yield f"seed: {self.seed}"
        if self.seats:
            yield f"seats: {' | '.join(self.seats)}"
        if self.start is not None:
            yield f"start: {', '.join(map(str, self.start))}"
        for number, scripted in enumerate(self.rounds, 1):
            if scripted.get("deck") is not None:
                yield f"deck {number}: {' '.join(map(tile_name, scripted['deck']))}"
            if scripted.get("leader") is not None:
                yield f"leader {number}: {scripted['leader']}"

    def _course(self) -> Iterator[str]:
        games = self._dealt()
        game = games.data[0]
        moves: list[str] = []
        for action in self.actions:
            number, seat = game["round"] + 1, game["seat"]
            games.step([action])
            said = (
                f" +{game['points']}" if game["points"] else " refused" if game["refused"] else ""
            )
            moves.append(f"{seat} {action_name(action)}{said}")
            if game["round_over"] or game["match_over"]:
                yield f"round {number}: {', '.join(moves)}{self._end_of_round(game)}"
                moves.clear()
        if moves:
            yield f"round {game['round'] + 1}: {', '.join(moves)}"
        yield f"scores: {', '.join(map(str, self._by_side(game['scores'])))}"
        yield f"end: {_end(game)}"

    def _end_of_round(self, game: Any) -> str:
        if not game["round_over"]:
            return ""  # the target was reached in mid-round
        settled = self._by_side(game["settlement"])
        changed = f", settled {' '.join(f'{one:+d}' for one in settled)}" if any(settled) else ""
        return f"; {_ENDS[int(game['round_over'])]}{changed}"

    def _by_side(self, values: Any) -> list[int]:
        numbers: list[int] = np.asarray(values)[: self.rules.num_sides].tolist()
        return numbers


def _end(game: Any) -> str:
    if not game["match_over"]:
        return "not over"
    if game["winner"] >= 0:
        return f"side {game['winner']} wins"
    return "truncated" if game["truncated"] else "no winner"


def _field(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(": ")
    if not colon:
        raise ValueError(f"{line!r} is not of the form name: value")
    return name, value


def _read(fields: Mapping[str, str]) -> dict[str, Any]:
    """The attributes of the record."""
    if missing := {"rules", "seed"} - set(fields):
        raise ValueError(f"the match record has no line {' and no line '.join(sorted(missing))}")
    start = fields.get("start")
    return {
        "rules": Rules.from_spec(fields["rules"]),
        "seed": _whole(fields["seed"]),
        "actions": tuple(_actions(fields)),
        "rounds": tuple(_scripted(fields)),
        "start": None if start is None else tuple(map(_whole, start.split(", "))),
        "seats": tuple(fields["seats"].split(" | ")) if "seats" in fields else (),
    }


def _actions(fields: Mapping[str, str]) -> Iterator[int]:
    number = 1
    while moves := fields.get(f"round {number}"):
        for move in moves.partition(";")[0].split(", "):
            found = _MOVE.fullmatch(move)
            if not found:
                raise ValueError(
                    f"round {number}: {move!r} is not a move; write the seat and the action, "
                    "as in 0 4|6>1"
                )
            yield parse_action(found["action"])
        number += 1


def _scripted(fields: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    numbers = [int(name.split()[1]) for name in fields if re.fullmatch(r"(deck|leader) \d+", name)]
    for number in range(1, max(numbers, default=0) + 1):
        scripted: dict[str, Any] = {}
        if deck := fields.get(f"deck {number}"):
            scripted["deck"] = list(map(parse_tile, deck.split(" ")))
        if leader := fields.get(f"leader {number}"):
            scripted["leader"] = _whole(leader)
        yield scripted


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} in the match record is not a whole number") from None
