"""What may stand in rows of results: a file may be a stranger's, and SQLite takes any value.

Whether a match could have been played is not looked at here: `replay` finds that out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agents.files import shown
from fives_env.rules import MAX_ROUNDS, Rules
from fives_env.salts import BITS

MAX_SEED = 2**63 - 1
_SCORES, _ANY = (-(1 << 15), (1 << 15) - 1), (-(1 << 63), (1 << 63) - 1)


def fault_of_origin(rows: Sequence[Sequence[Any]]) -> str:
    """What is wrong with the rows of origin, as `fault_of_lineup`: there must be one."""
    if len(rows) != 1:
        return f"{len(rows)} rows, not one"
    ((seed, salt),) = rows
    if not (type(seed) is int and 0 <= seed <= MAX_SEED):
        return f"seed is {shown(seed)}, not a whole number from 0 to 2**63 - 1"
    digits = type(salt) is str and salt.isascii() and salt.isdigit() and len(salt) < 40
    if not (digits and int(salt) < 1 << BITS):
        return f"salt is {shown(salt)}, not a whole number from 0 to 2**{BITS} - 1, as text"
    return ""


def fault_of_lineup(rules: Any, seed: Any, who: Sequence[Any]) -> str:
    """What is wrong with a row of lineups: one line, "" for nothing.

    Args:
        rules: Spec of what was played.
        seed: Of the tournament.
        who: The agents by side, four of them, empty where there is no such side.
    """
    try:
        sides = Rules.from_spec(rules).num_sides
    except ValueError as error:
        return f"rules: {error}"
    if not (type(seed) is int and 0 <= seed <= MAX_SEED):
        return f"seed is {shown(seed)}, not a whole number from 0 to 2**63 - 1"
    for side, agent in enumerate(who):
        if type(agent) is not str or bool(agent) != (side < sides):
            wanted = "an agent" if side < sides else "empty"
            return f"agent_{side} is {shown(agent)}, not {wanted}"
    return ""


def match_checker(columns: Sequence[str], rules: Rules) -> Callable[[Iterable[Any]], str]:
    """What says what is wrong with a row of matches under these rules, as `fault_of_lineup`.

    Args:
        columns: Of the row, in order.
        rules: What was played.
    """
    sides = rules.num_sides
    ranges: dict[str, tuple[int, int]] = {
        "pair": (0, MAX_SEED),
        "leader": (0, rules.players - 1),
        "rounds": (1, MAX_ROUNDS),
        "winner": (-1, sides - 1),
        "truncated": (0, 1),
        **{f"score_{side}": _SCORES for side in range(sides)},
    }
    other: dict[str, type] = {f"score_{side}": type(None) for side in range(sides, 4)}
    other["moves"] = bytes
    kinds = [other.get(name, int) for name in columns]
    words: dict[type, str] = {
        bytes: "bytes",
        int: "a whole number",
        type(None): "NULL, as there is no such side",
    }

    def fault(row: Iterable[Any]) -> str:
        for name, kind, value in zip(columns, kinds, row, strict=True):
            found: type = type(value)
            if found is not kind:
                return f"{name} is {shown(value)}, not {words[kind]}"
            low, high = ranges.get(name, _ANY)
            if kind is int and not low <= value <= high:
                return f"{name} is {value}, not a whole number from {low} to {high}"
        return ""

    return fault
