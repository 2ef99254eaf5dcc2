"""How many sequences of actions there are from a fixed deal: the engine against the referee.

Like perft in chess: one wrong legal action, turn, block or round end changes the counts.
"""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fives_env import Games, Rules
from tests.reference.referee import Referee

# Shuffled once and kept: the deals of rounds 0 and 1.
# fmt: off
DECKS = [
    [3, 24, 10, 17, 0, 22, 13, 6, 27, 8, 19, 15, 1, 25,
     11, 5, 20, 7, 26, 2, 14, 9, 23, 18, 4, 16, 12, 21],
    [21, 7, 12, 0, 26, 18, 5, 14, 23, 2, 16, 9, 27, 11,
     4, 20, 25, 13, 8, 22, 1, 17, 6, 24, 10, 3, 19, 15],
]
# fmt: on
DECKS_UP_TO = {
    2: [[8, 1, 13, 2, 0, 7], [7, 2, 0, 8, 13, 1]],
    3: [[9, 0, 14, 2, 18, 7, 1, 13, 3, 8], [3, 8, 1, 13, 0, 18, 9, 7, 2, 14]],
}


def rules_of(options: dict[str, Any]) -> Rules:
    """The engine's rules for the referee's options."""
    return Rules.preset(options["game"], **{k: v for k, v in options.items() if k != "game"})


def decks_of(rules: Rules) -> list[list[int]]:
    """The deals of two rounds for the set of these rules."""
    return DECKS_UP_TO.get(rules.max_pip, DECKS)


def engine_counts(rules: Rules, depth: int) -> list[int]:
    """Sequences of 1 to `depth` actions, level by level, over copies of the games."""
    games = Games(rules)
    games.reset(rounds=[{"deck": deck, "leader": 0} for deck in decks_of(rules)])
    counts = []
    for _ in range(depth):
        rows, actions = np.nonzero(games.action_mask())
        counts.append(len(rows))
        if len(rows) == 0:
            break
        games = games[rows]
        games.step(actions)
    return counts


def referee_counts(referee: Referee, decks: list[list[int]], depth: int) -> list[int]:
    """The same, one position after another."""
    actions = referee.legal()
    counts = [len(actions)] + [0] * (depth - 1)
    for action in actions if depth > 1 else []:
        after = copy.deepcopy(referee)
        event = after.play(action)
        if event.round_over and not event.match_over:
            after.start_round(decks[after.round + 1])
        deeper = referee_counts(after, decks, depth - 1)
        counts[1:] = [a + b for a, b in zip(counts[1:], deeper, strict=True)]
    return counts


@dataclass
class Case:
    """Rules, and the number of sequences of 1, 2, 3 .. actions; 0 once every match is over."""

    options: dict[str, Any]
    counts: list[int]

    @property
    def rules(self) -> Rules:
        """The engine's rules."""
        return rules_of(self.options)


SMALL = {"max_pip": 3, "max_rounds": 2}
SMALLEST = {"max_pip": 2, "max_rounds": 2}
PARTNERS = {"players": 4, "partners": True}
FIVES_AND_THREES = {"game": "fives-and-threes"}
THREES_AND_FIVES = {"game": "threes-and-fives"}
ALL_FIVES = {"game": "all-fives"}
OPTIONAL = {"draw": "optional"}

CASES = [
    Case(FIVES_AND_THREES, [7, 27, 77, 228, 631, 1573, 3662]),
    Case(FIVES_AND_THREES | PARTNERS, [5, 12, 23, 47, 88, 160, 316, 639, 1044, 1396]),
    Case(
        FIVES_AND_THREES | PARTNERS | SMALL | {"deal": 2},
        [2, 3, 3, 6, 6, 9, 12, 20, 31, 38, 59, 86, 79, 85, 73, 62, 30, 0],
    ),
    Case(THREES_AND_FIVES | {"players": 3}, [5, 12, 23, 65, 168, 388, 1087, 2407]),
    Case(
        THREES_AND_FIVES | OPTIONAL | {"reserve": True, "lead": "highest-double"},
        [2, 7, 28, 121, 540, 2531],
    ),
    Case(THREES_AND_FIVES | SMALLEST | {"deal": 2}, [2, 3, 5, 10, 20, 20, 5, 5, 0]),
    Case(
        THREES_AND_FIVES | SMALLEST | OPTIONAL | {"deal": 1},
        [2, 5, 10, 24, 51, 100, 193, 346, 587, 1010, 1659, 2882],
    ),
    Case(
        THREES_AND_FIVES | SMALLEST | OPTIONAL | {"deal": 2, "mode": "round"},
        [3, 9, 26, 53, 96, 112, 128, 44, 48, 0],
    ),
    Case(ALL_FIVES, [9, 29, 89, 303, 1125, 4608]),
    Case(ALL_FIVES | PARTNERS | {"deal": 7}, [7, 27, 75, 314, 1151, 5297]),
    Case(
        ALL_FIVES | SMALL | {"players": 3, "deal": 3},
        [3, 6, 15, 30, 52, 130, 228, 636, 937, 2202, 5055],
    ),
    Case(ALL_FIVES | SMALL | {"deal": 4}, [4, 9, 17, 30, 59, 90, 137, 392, 880, 1786, 3926]),
    Case(
        ALL_FIVES | SMALL | {"deal": 4, "spinner": "none"},
        [4, 9, 17, 30, 59, 90, 133, 364, 810, 1534, 3208],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.rules.spec for case in CASES])
def test_engine_counts_the_sequences(case: Case) -> None:
    assert engine_counts(case.rules, len(case.counts)) == case.counts


@pytest.mark.parametrize("case", CASES, ids=[case.rules.spec for case in CASES])
def test_referee_counts_the_same_sequences(case: Case) -> None:
    decks = decks_of(case.rules)
    referee = Referee(case.options)
    referee.start_round(decks[0])
    assert referee_counts(referee, decks, len(case.counts)) == case.counts
