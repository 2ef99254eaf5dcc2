"""The engine agrees with the naive referee, action by action, over random rounds of every rules."""

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from fives_env import Games, Rules
from fives_env.engine import turns
from fives_env.records import GAME
from tests.core.material import from_python
from tests.reference.referee import DRAW, PASS, PRESETS, TILE_ID, TILES, Event, Referee

ACT = from_python(turns.act)

Options = dict[str, Any]

ROUNDS_EACH = 130
BATCH = 16

SEATS: list[Options] = [
    {"players": 2},
    {"players": 3},
    {"players": 4, "partners": False},
    {"players": 4, "partners": True},
]
# `start` is this test's own: start scores are drawn from the target - start to the target - 1.
COMMON: list[Options] = [
    {},
    {"mode": "round"},
    {"deal": (8, 6, 7)},
    {"max_pip": 3, "deal": 2, "max_rounds": 5, "target": 20},
    {"max_pip": 2, "deal": 1, "mode": "round"},
]
VARIANTS: dict[str, list[Options]] = {
    "fives-and-threes": [
        {"start": 25},
        {"start": 25, "mode": "round"},
        {"start": 10, "mode": "round", "deal": 4},
        {"start": 10, "lead": "highest-double", "deal": 2},
        {"start": 25, "lead": "winner", "max_rounds": 2},
        {"target": 13, "max_rounds": 2},
    ],
    "threes-and-fives": [
        {"start": 120, "mode": "round"},
        {"start": 90, "lead": "highest-double", "deal": 2},
        {"start": 200, "lead": "winner", "reserve": True},
        {"draw": "optional", "target": 100},
        {"draw": "optional", "lead": "highest-double", "reserve": True, "mode": "round"},
        {"spinner": "none", "target": 120, "max_rounds": 2},
        {"target_check": "round-end", "target": 40, "deal": (8, 6, 7)},
        {"target_check": "round-end", "mode": "round", "start": 50, "reserve": 7},
        {"deal": (7, 6, 5), "target": 150, "max_rounds": 2},
    ],
    "all-fives": [
        {"start": 50, "mode": "round"},
        {"start": 20, "lead": "highest-double", "deal": 2},
        {"start": 50, "lead": "rotation", "reserve": True},
        {"draw": "optional", "target": 100},
        {"draw": "optional", "lead": "highest-double", "reserve": 6, "max_rounds": 3},
        {"spinner": "none", "target": 60, "max_rounds": 6},
        {"target_check": "round-end", "target": 10, "deal": (8, 6, 7)},
        {"target_check": "round-end", "mode": "round", "start": 50, "reserve": True},
        {"deal": 5, "target": 50, "max_rounds": 2},
    ],
}
CASES = [
    {"game": game, **seats, **variant}
    for game in PRESETS
    for seats in SEATS
    for variant in COMMON + VARIANTS[game]
]


def rules_of(case: Options) -> Rules:
    """The engine's rules for a case."""
    options = {name: value for name, value in case.items() if name not in ("game", "start")}
    return Rules.preset(case["game"], **options)


def name_of(case: Options) -> str:
    """A case in words, for the name of its test."""
    return rules_of(case).spec + (f" from {case['start']} below" if "start" in case else "")


def referee_of(case: Options) -> Referee:
    """A referee told the same."""
    return Referee({name: value for name, value in case.items() if name != "start"})


# One table: a row of the batch and its referee


@dataclass
class Table:
    """A referee that follows one row, and what is needed to tell how a failure came about."""

    where: str
    referee: Referee
    style: int
    lots: list[int]
    event: Event = field(default_factory=Event)
    actions: list[int] = field(default_factory=list)
    mover: int = 255

    def begin_round(self, row: Options) -> None:
        """Gives the referee the deck that the engine has dealt, and the scripted lot."""
        deck = row["deck"][: len(self.referee.tiles)]
        self.referee.start_round(deck, lot=self.lots[self.referee.round + 1])

    def play(self, action: int) -> None:
        """Plays an action here too."""
        self.actions.append(action)
        self.mover = self.referee.seat
        self.event = self.referee.play(action)

    def expected(self) -> Options:
        """What the fields of the engine's record must be, in its own encoding."""
        referee, event = self.referee, self.event
        lead_tile = 28 if referee.lead_tile is None else TILE_ID[referee.lead_tile]
        spinner = referee.layout.spinner()
        return {
            "round": referee.round,
            "seat": referee.seat,
            "leader": referee.leader,
            "lead_tile": lead_tile,
            "hands": padded([mask_of(hand) for hand in referee.hands]),
            "hand_sizes": padded(referee.hand_sizes()),
            "played": mask_of(referee.layout.tiles),
            "boneyard": len(referee.boneyard),
            "arms": [7 if value is None else value for value in referee.arms()],
            "counts": referee.counts(),
            "total": referee.total() or 0,
            "spinner": 7 if spinner is None else referee.layout.tiles[spinner][0],
            "scores": padded(referee.scores),
            "absent": padded(referee.absent()),
            "num_moves": len(referee.history),
            "target_on": int(referee.target_on),
            "mover": self.mover,
            "points": event.points,
            "refused": int(event.refused),
            "round_over": {None: 0, "out": 1, "blocked": 2}[event.round_over],
            "settlement": padded(event.settlement or []),
            "match_over": int(event.match_over),
            "truncated": int(event.truncated),
            "winner": -1 if event.winner is None else event.winner,
        }

    def compare(self, row: Options) -> None:
        """Compares a row of the engine with the referee, field by field."""
        expected = self.expected()
        self.fail_on({n: (row[n], want) for n, want in expected.items() if row[n] != want}, row)

    def compare_moves(self, moves: np.ndarray) -> None:
        """Compares the engine's list of the round's moves with the referee's."""
        want = [[seat, action] for seat, action, _ in self.referee.history]
        got = moves[: len(want)].tolist()
        self.fail_on({"moves": (got, want)} if got != want else {}, {})

    def compare_legal(self, legal: list[int]) -> None:
        """Compares the engine's legal actions with the referee's."""
        want = self.referee.legal()
        self.fail_on({"legal": (legal, want)} if legal != want else {}, {})

    def fail_on(self, differences: dict[str, tuple[Any, Any]], row: Options) -> None:
        """Fails, saying what differs and how to get there."""
        if not differences:
            return
        lines = [f"  {n}: engine {got}, referee {want}" for n, (got, want) in differences.items()]
        lots = self.lots[: self.referee.round + 1]
        lines += [f"  lots {lots}, all actions of the match {self.actions}", f"  record: {row}"]
        pytest.fail("\n".join([self.where, *lines]), pytrace=False)


def padded(values: list[int]) -> list[int]:
    """Four values, as every record has them."""
    return values + [0] * (4 - len(values))


def mask_of(tiles: list[tuple[int, int]]) -> int:
    """Tiles as a mask."""
    return sum(1 << TILE_ID[tile] for tile in tiles)


def columns(data: np.ndarray) -> list[Options]:
    """The records as plain Python dicts, without the list of moves."""
    names = [name for name in GAME.names or () if name != "moves"]
    lists = [data[name].tolist() for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*lists, strict=True)]


# Random play that gets into every corner


def weight(referee: Referee, action: int) -> int:
    """How many laid tiles have the half that a placement would leave open: many may block."""
    if action >= DRAW or not referee.layout.tiles:
        return 0
    tile, value = TILES[action % 28], referee.arms()[action // 28]
    outer = sum(tile) - (value or 0)
    return sum(outer in laid for laid in referee.layout.tiles)


def choose(table: Table, legal: list[int], rng: random.Random) -> int:
    """Evenly at random, or after the table's style: towards a block, or sparing with draws."""
    placements = [action for action in legal if action < DRAW]
    if table.style == 1 and placements:
        return max(placements, key=lambda action: weight(table.referee, action))
    if table.style == 2 and placements and rng.random() < 0.9:
        return rng.choice(placements)
    return rng.choice(legal)


def kinds(table: Table, legal: list[int], action: int) -> list[str]:
    """What has just happened, by name."""
    referee, event = table.referee, table.event
    names = [f"round {event.round_over}"] if event.round_over else []
    names += ["round"] if referee.over() else []
    names += [] if action < DRAW else ["knock" if action == PASS else "draw"]
    names += ["optional draw"] if action == DRAW and len(legal) > 1 else []
    names += ["draw before the lead"] if action == DRAW and not referee.layout.tiles else []
    if len(referee.history) == 1 and referee.lead_tile and len(set(referee.lead_tile)) == 2:
        names += ["led without a double"]
    names += ["refused"] if event.refused else []
    names += ["four arms"] if None not in referee.arms() else []
    names += ["truncated"] if event.truncated else []
    if event.settlement and not any(event.settlement) and referee.game == "threes-and-fives":
        names += ["nobody won the round"]
    if referee.over() and event.winner is None and max(referee.scores) >= referee.target:
        names += ["level at the target"]
    if event.winner is not None:
        names += ["won", f"won with round {event.round_over}"]
    if action < DRAW and not referee.hands[table.mover] and not referee.over():
        names += ["first partner out"]
    return names


def must_occur(case: Options, rules: Rules) -> dict[str, int]:
    """The least number of each kind of event in the rounds of one case: none goes untried."""
    least = {"round out": 5}
    if rules.deal < 3:
        return least | ({"led without a double": 1, "won": 5} if rules.max_pip == 6 else {})
    if rules.draw == "none":
        least |= {"round blocked": 10, "knock": 60}
        least |= {"first partner out": 20} if rules.partners else {}
        least |= {"refused": 10} if "start" in case else {}
    elif rules.deal * rules.players == rules.num_tiles:
        least |= {"round blocked": 10, "knock": 100}
    else:
        least |= {"draw": 80}
    least |= {"four arms": 400} if rules.spinner != "none" else {}
    if rules.draw == "optional":
        least |= {"optional draw": 40}
        least |= {"draw before the lead": 10} if rules.lead == "highest-double" else {}
    if "start" in case or rules.target_check == "round-end":
        least |= {"won": 5}
    least |= {"truncated": 2} if "max_rounds" in case else {}
    return least


def start_scores(case: Options, rules: Rules, rng: np.random.Generator) -> np.ndarray | None:
    """Scores near the target, where a case asks for them."""
    if "start" not in case:
        return None
    return rules.target - rng.integers(1, case["start"] + 1, size=(BATCH, rules.num_sides))


def sit_down(case: Options, rules: Rules, games: Games, seed: int) -> list[Table]:
    """Starts a match in every row, and a referee beside it; decks by seed, lots by script."""
    rng = np.random.default_rng(seed)
    scores = start_scores(case, rules, rng)
    lots = rng.integers(rules.players, size=rules.max_rounds).tolist()
    games.reset(seed=seed, scores=scores, rounds=[{"leader": lot} for lot in lots])
    tables = []
    for index, row in enumerate(columns(games.data)):
        where = f"{name_of(case)}, seed {seed}, row {index}"
        table = Table(where, referee_of(case), index % 3, lots)
        table.referee.start_match(None if scores is None else scores[index].tolist())
        table.begin_round(row)
        table.compare(row)
        tables.append(table)
    return tables


def step_all(games: Games, tables: list[Table], rng: random.Random, seen: Counter[str]) -> None:
    """One action at every table whose match is on, and everything compared after it."""
    before, mask = games.data.copy(), games.action_mask()
    actions = [-1] * len(tables)
    for index, table in enumerate(tables):
        if table.event.match_over:
            continue
        legal = np.flatnonzero(mask[index]).tolist()
        table.compare_legal(legal)
        actions[index] = choose(table, legal, rng)
        table.play(actions[index])
        seen.update(kinds(table, legal, actions[index]))
    games.step(actions)
    for index, row in enumerate(columns(games.data)):
        if actions[index] < 0:
            continue
        table = tables[index]
        if table.event.round_over and not table.event.match_over:
            ACT(games.params[0], before[index], actions[index])
            table.compare(columns(before[index : index + 1])[0])
            table.compare_moves(before[index]["moves"])
            table.begin_round(row)
        table.compare(row)


def test_there_are_20000_rounds() -> None:
    assert len(CASES) * ROUNDS_EACH >= 20_000


@pytest.mark.parametrize("case", CASES, ids=map(name_of, CASES))
def test_engine_agrees_with_the_referee(case: Options) -> None:
    rules, rng = rules_of(case), random.Random(1)
    games = Games(rules, num_games=BATCH)
    seen: Counter[str] = Counter()
    seed = 0
    tables = sit_down(case, rules, games, seed)
    while seen["round"] < ROUNDS_EACH:
        if all(table.event.match_over for table in tables):
            assert not games.action_mask().any()
            seed += 1
            tables = sit_down(case, rules, games, seed)
        step_all(games, tables, rng, seen)
    for kind, number in must_occur(case, rules).items():
        assert seen[kind] >= number, (kind, seen)
