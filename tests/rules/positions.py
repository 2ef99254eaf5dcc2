"""Positions in words: hands and moves written as text, and what lies on the table after them.

A deal is written as hands, ``deal(rules, "6|6 0|5 ...", "0|0 ...", boneyard="1|2")``, where
``...`` fills a hand with the lowest tiles that nobody has been given. Moves are written one after
the other: ``table.play("6|6 knock 0|6>1 draw")``; a bare tile is the opening.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fives_env import Games, Rules
from fives_env.actions import DRAW, PASS, action_name, parse_action
from fives_env.engine import turns
from fives_env.jit import jit
from fives_env.tiles import parse_tile, tile_name, tiles_in, tiles_up_to

F = "fives-and-threes"
T = "threes-and-fives"
A = "all-fives"
PRESETS = (F, T, A)
SIXES = "0|6 0|1>0 1|6>0 2|6>0 2|3>0 3|6>0 4|6>0 4|5>0 5|6>0 6|6>0"
"""Ten moves, a seat each in turn, that lay all seven sixes and leave a 6 at both ends (B71)."""

KEPT = ["5|5 4|4 3|5 3|4", "0|3 1|2 1|4 1|5", "0|0 0|4 0|5 1|1 1|3", "0|2 2|2 2|4 2|5 3|3"]
"""The other tiles, as four seats may keep them when SIXES blocks the round: 33, 17, 15, 25 pips."""

Record = Any
"""One record of a structured array: NumPy has no type for it."""


def from_python(part: Any) -> Any:
    """A part of the engine that only compiled code calls, compiled once more for Python."""
    return jit(part.py_func)


_act = from_python(turns.act)


class Table:
    """One scripted game, played in text.

    What lies on the table (`total`, `arms`, `counts`, `hand_sizes`, `boneyard`) is what the last
    action left, also when it ended the round and the next one has been dealt. Everything about
    whose turn it is (`seat`, `leader`, `legal`, `hand`) is of the game as it goes on.
    """

    def __init__(
        self, rules: Rules, rounds: list[dict[str, Any]], scores: Sequence[int] | None = None
    ) -> None:
        self.rules = rules
        self.games = Games(rules, num_games=1)
        given = None if scores is None else list(scores)
        self.games.reset(seed=0, rounds=rounds, scores=given)
        self.left: Record = self.games.data.copy()[0]

    def play(self, text: str) -> "Table":
        """Plays these moves one after the other."""
        for action in actions_of(text):
            self.do(action)
        return self

    def do(self, action: int) -> None:
        """Plays one action by its id."""
        before = self.games.data.copy()
        self.games.step(np.array([action]))
        _act(self.games.params[0], before[0], action)
        self.left = before[0]

    def refuses(self, text: str) -> bool:
        """Whether this move is illegal, refused, and changes nothing."""
        (action,) = actions_of(text)
        before = self.games.data.tobytes()
        assert not self.games.action_mask()[0, action], f"{text} is legal"
        try:
            self.games.step(np.array([action]))
        except ValueError:
            return self.games.data.tobytes() == before
        return False

    @property
    def game(self) -> Record:
        """The record of the game as it goes on."""
        return self.games.data[0]

    @property
    def seat(self) -> int:
        """The seat to move."""
        return int(self.game["seat"])

    @property
    def leader(self) -> int:
        """The leader of the round that is being played."""
        return int(self.game["leader"])

    @property
    def legal(self) -> set[str]:
        """What the seat to move may do; a lead is written as the bare tile."""
        names = {action_name(int(a)) for a in np.flatnonzero(self.games.action_mask()[0])}
        return names if self.game["played"] else {name.removesuffix(">0") for name in names}

    def hand(self, seat: int) -> str:
        """The hand of a seat in ascending order."""
        return " ".join(tile_name(tile) for tile in tiles_in(self.game["hands"][seat]))

    @property
    def total(self) -> int:
        """The end total that the last action left."""
        return int(self.left["total"])

    @property
    def arms(self) -> tuple[int | None, ...]:
        """The value of each open end; None where the arm does not exist."""
        return tuple(None if value == 7 else int(value) for value in self.left["arms"])

    @property
    def counts(self) -> tuple[int, ...]:
        """What each arm adds to the end total."""
        return tuple(int(count) for count in self.left["counts"])

    @property
    def hand_sizes(self) -> tuple[int, ...]:
        """One number a seat."""
        return tuple(int(size) for size in self.left["hand_sizes"][: self.rules.players])

    @property
    def boneyard(self) -> int:
        """The number of undrawn tiles, reserved ones too."""
        return int(self.left["boneyard"])

    @property
    def scores(self) -> tuple[int, ...]:
        """One number a side."""
        return tuple(int(score) for score in self.game["scores"][: self.rules.num_sides])

    @property
    def settlement(self) -> tuple[int, ...]:
        """What the end of the round changed, one number a side."""
        return tuple(int(change) for change in self.game["settlement"][: self.rules.num_sides])

    @property
    def points(self) -> int:
        """What the last action scored."""
        return int(self.game["points"])

    @property
    def refused(self) -> bool:
        """Whether the last event was refused."""
        return bool(self.game["refused"])

    @property
    def round_over(self) -> str | None:
        """How the last action ended the round: None, out or blocked."""
        return (None, "out", "blocked")[int(self.game["round_over"])]

    @property
    def match_over(self) -> bool:
        """Whether the match is over, truncation included."""
        return bool(self.game["match_over"])

    @property
    def truncated(self) -> bool:
        """Whether the match was cut off by `max_rounds`."""
        return bool(self.game["truncated"])

    @property
    def winner(self) -> int | None:
        """The side that won, if one did."""
        winner = int(self.game["winner"])
        return None if winner < 0 else winner


def actions_of(text: str) -> list[int]:
    """The ids of these moves; a bare tile is an opening."""
    words = [w if ">" in w or w in ("draw", "knock") else f"{w}>0" for w in text.split()]
    return [parse_action(word) for word in words]


def deck(rules: Rules, *hands: str, boneyard: str = "") -> list[int]:
    """The deck that deals these hands; the boneyard begins with the tiles named for it."""
    assert len(hands) == rules.players, f"{len(hands)} hands for {rules.players} seats"
    named = [[parse_tile(word) for word in hand.split() if word != "..."] for hand in hands]
    front = [parse_tile(word) for word in boneyard.split()]
    given = [tile for part in [*named, front] for tile in part]
    assert len(given) == len(set(given)), "a tile is given twice"
    rest = [tile for tile in tiles_up_to(rules.max_pip) if tile not in given]
    tiles: list[int] = []
    for hand, text in zip(named, hands, strict=True):
        missing = rules.deal - len(hand)
        assert missing == 0 or (missing > 0 and "..." in text), f"{text!r} leaves {missing} to deal"
        tiles += hand + rest[:missing]
        rest = rest[missing:]
    return tiles + front + rest


def script(rules: Rules, *hands: str, boneyard: str = "", leader: int = 0) -> dict[str, Any]:
    """One scripted round, as `Games.reset` takes it."""
    return {"deck": deck(rules, *hands, boneyard=boneyard), "leader": leader}


def deal(
    rules: Rules,
    *hands: str,
    boneyard: str = "",
    leader: int = 0,
    scores: Sequence[int] | None = None,
) -> Table:
    """A table with these hands on it, whose round `leader` leads."""
    return Table(rules, [script(rules, *hands, boneyard=boneyard, leader=leader)], scores)


def blocked(rules: Rules, keeps: list[str]) -> Table:
    """Four seats have laid all the sixes and kept these tiles; there is no boneyard (deal=7)."""
    played = ["0|6 2|3 5|6", "0|1 3|6 6|6", "1|6 4|6", "2|6 4|5"]
    table = deal(rules, *[f"{a} {b}" for a, b in zip(played, keeps, strict=True)]).play(SIXES)
    assert table.round_over == "blocked"
    assert table.hand_sizes == (4, 4, 5, 5)
    return table


def seeded(rules: Rules, num_games: int, seed: int | NDArray[Any] = 1) -> Games:
    """A batch of games on seeded deals."""
    games = Games(rules, num_games=num_games)
    games.reset(seed=seed)
    return games


def play_randomly(
    games: Games, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """One random legal action in every game that is not over.

    Returns:
        The masks bool [B, 114] chosen from, and the actions int64 [B], -1 where a match is over.
    """
    mask: NDArray[np.bool_] = games.action_mask().copy()
    choice = np.argmax(rng.random(mask.shape) * mask, axis=1)
    actions: NDArray[np.int64] = np.where(mask.any(axis=1), choice, -1)
    games.step(actions)
    return mask, actions


def tile_bits(masks: NDArray[Any]) -> NDArray[np.bool_]:
    """Masks of tiles as bool [..., 28]."""
    bits: NDArray[np.bool_] = (
        np.asarray(masks)[..., None] >> np.arange(28, dtype=np.uint32)
    ) & 1 == 1
    return bits


HALVES: NDArray[np.bool_] = np.array(
    [[str(value) in tile_name(tile).split("|") for tile in range(28)] for value in range(7)]
    + [[False] * 28]
)
"""bool [8, 28]: whether a tile has a half of this value; none has the 7 of no arm."""


def may_place(data: NDArray[Any]) -> NDArray[np.bool_]:
    """C2 written down again: bool [B, 4 seats, 4 arms, 28], what each hand could join where."""
    hands = tile_bits(data["hands"])
    joins = HALVES[data["arms"]]
    joins[data["played"] == 0] = False
    joins[data["played"] == 0, 0] = True
    placements: NDArray[np.bool_] = hands[:, :, None, :] & joins[:, None, :, :]
    return placements


def of_the_mover(data: NDArray[Any], per_seat: NDArray[Any]) -> NDArray[Any]:
    """The row of the seat to move of an array [B, 4 seats, ...]."""
    rows: NDArray[Any] = per_seat[np.arange(len(data)), data["seat"]]
    return rows


__all__ = ["DRAW", "HALVES", "KEPT", "PASS", "PRESETS", "SIXES", "A", "F", "T", "Table"]
__all__ += ["actions_of", "blocked", "deal", "deck", "may_place", "of_the_mover"]
__all__ += ["play_randomly", "script", "seeded", "tile_bits"]
