"""What people hand to a `reset` (seeds, scripted rounds, start scores), checked and as records."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.records import SCRIPT, START
from fives_env.rules import MIN_SCORE, Rules
from fives_env.tiles import tiles_up_to

Array = npt.NDArray[Any]


def whole_numbers(name: str, value: npt.ArrayLike) -> Array:
    """`value`, one number or an array of them, as uint64.

    Raises:
        ValueError: It is not made of whole numbers from 0 to 2**64 - 1.
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        numbers = _as_array(value)
        if numbers.dtype.kind not in "iuO" or numbers.size == 0:
            raise TypeError
        if any(not 0 <= operator.index(n) < 1 << 64 for n in numbers.ravel().tolist()):
            raise TypeError
    except TypeError:
        raise ValueError(f"{name}={value!r} is not a whole number from 0 to 2**64 - 1") from None
    return numbers.astype(np.uint64)


def _as_array(value: Any) -> Array:
    """`value` as an array; of no number where it is ragged, which nothing here may be."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.empty(0)


def read_script(rounds: Sequence[Mapping[str, Any]] | None, rules: Rules) -> Array:
    """SCRIPT [R] from scripted rounds, ``[{"deck": ..., "leader": ...}, ...]``.

    Raises:
        ValueError: A round is not of this form; the message says what would be right.
    """
    if rounds is None:
        return np.zeros(0, SCRIPT)
    if isinstance(rounds, str | Mapping) or not isinstance(rounds, Sequence):
        raise ValueError(f"rounds={rounds!r} must be a list of dicts with 'deck' and/or 'leader'")
    script = np.zeros(len(rounds), SCRIPT)
    script["leader"] = -1
    for index, entry in enumerate(rounds):
        name = f"rounds[{index}]"
        if not isinstance(entry, Mapping) or not set(entry) <= {"deck", "leader"}:
            raise ValueError(f"{name}={entry!r} must be a dict with 'deck' and/or 'leader'")
        if entry.get("deck") is not None:
            deck = _read_deck(f"{name}['deck']", entry["deck"], tiles_up_to(rules.max_pip))
            script[index]["deck"][: len(deck)] = deck
            script[index]["has_deck"] = 1
        if entry.get("leader") is not None:
            script[index]["leader"] = _read_leader(f"{name}['leader']", entry["leader"], rules)
    return script


def _read_deck(name: str, deck: Any, tiles: list[int]) -> Array:
    given = _as_array(deck)
    if given.dtype.kind not in "iu" or sorted(given.ravel().tolist()) != tiles or given.ndim != 1:
        raise ValueError(
            f"{name} must hold each of the {len(tiles)} tiles of the set once, as ids "
            f"{tiles[0]} to {tiles[-1]}; got {deck!r}"
        )
    return given


def _read_leader(name: str, leader: Any, rules: Rules) -> int:
    try:
        seat = -1 if isinstance(leader, bool) else operator.index(leader)
    except TypeError:
        seat = -1
    if not 0 <= seat < rules.players:
        raise ValueError(f"{name}={leader!r}; there are seats 0 to {rules.players - 1}")
    return seat


def read_scores(scores: npt.ArrayLike | str | None, rules: Rules, num_games: int) -> Array:
    """START [B] from start scores by side, [sides] or [B, sides], or ``random``.

    Raises:
        ValueError: They are not of this form; the message says what would be right.
    """
    start = np.zeros(num_games, START)
    if scores is None:
        return start
    start["given"] = 1
    if isinstance(scores, str):
        if scores != "random":
            raise ValueError(f"scores={scores!r}; give numbers by side, or 'random'")
        start["drawn"] = 1
        return start
    given = _as_array(scores)
    sides = rules.num_sides
    if given.dtype.kind not in "iu" or given.shape not in ((sides,), (num_games, sides)):
        raise ValueError(
            f"scores={scores!r}; give whole numbers of shape ({sides},), one for each side, "
            f"or ({num_games}, {sides})"
        )
    if given.min() < MIN_SCORE or given.max() >= rules.target:
        raise ValueError(
            f"scores={scores!r}; each must be from {MIN_SCORE} to {rules.target - 1}, "
            "below the target"
        )
    start["scores"][:, :sides] = given
    return start
