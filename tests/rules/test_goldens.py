"""Every case of seeds/rules-vectors.json, every field that it names."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from fives_env import Games, Rules
from fives_env.actions import parse_action
from fives_env.engine import scoring
from fives_env.tiles import PIPS, parse_tile
from tests.rules.positions import PRESETS, A, Table, from_python

SEEDS = Path(__file__).parents[2] / "seeds"
VECTORS: dict[str, Any] = json.loads((SEEDS / "rules-vectors.json").read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = [case for cases in VECTORS["cases"].values() for case in cases]
BY_LOT = [case for case in CASES if any("leader_may" in pinned for pinned in case["expect"])]


def by_id(case: dict[str, Any]) -> str:
    return str(case["id"])


def rules_of(case: dict[str, Any]) -> Rules:
    options = case.get("options", {})
    players, partners, mode = case["players"], case["partners"], case["mode"]
    return Rules.preset(case["preset"], players=players, partners=partners, mode=mode, **options)


def table_of(case: dict[str, Any]) -> Table:
    rounds = [{"deck": deck, "leader": case["leader"]} for deck in case["decks"]]
    return Table(rules_of(case), rounds, case.get("start_scores"))


READ: dict[str, Callable[[Table], Any]] = {
    "total": lambda table: table.total if table.left["played"] else None,
    "points": lambda table: table.points,
    "refused": lambda table: table.refused,
    "scores": lambda table: list(table.scores),
    "arms": lambda table: list(table.arms),
    "legal": lambda table: np.flatnonzero(table.games.action_mask()[0]).tolist(),
    "next_seat": lambda table: None if table.match_over else table.seat,
    "hand_sizes": lambda table: list(table.hand_sizes),
    "boneyard": lambda table: table.boneyard,
    "round_over": lambda table: table.round_over,
    "settlement": lambda table: list(table.settlement) if any(table.settlement) else None,
    "match_over": lambda table: table.match_over,
    "winner": lambda table: table.winner,
    "truncated": lambda table: table.truncated,
}
"""How each field of the file is read off a table; the layout is that before the next deal."""

OF_THE_ACTION = ["points", "refused", "round_over", "settlement", "match_over", "truncated"]
OF_THE_ACTION += ["winner", "scores", "mover"]


def check(case: dict[str, Any], table: Table, done: int) -> int:
    """Compares what the case pins after `done` actions; returns how many fields that were."""
    number = 0
    for pinned in case["expect"]:
        for name, value in pinned.items():
            if pinned["after"] != done or name in ("after", "leader_may"):
                continue
            if name == "settlement" and value is not None and not any(value):
                value = None
            seen = READ[name](table)
            assert seen == value, f"{case['id']} after {done}: {name} is {seen}, not {value}"
            number += 1
    return number


@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_golden_case(case: dict[str, Any]) -> None:
    assert rules_of(case).deal == case["hand_size"]
    table = table_of(case)
    checked = check(case, table, 0)
    for done, action in enumerate(case["actions"], start=1):
        assert table.games.action_mask()[0, action]
        table.do(action)
        for name in OF_THE_ACTION:  # one step is one action, and then perhaps a deal
            assert np.array_equal(table.left[name], table.game[name]), name
        checked += check(case, table, done)
    pinned = [name for entry in case["expect"] for name in entry]
    assert checked == len(pinned) - pinned.count("after") - pinned.count("leader_may")


@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_the_words_of_a_case_say_what_its_numbers_say(case: dict[str, Any]) -> None:
    moves = [move for move in case["play"].split("; ") if move]
    assert len(moves) == len(case["actions"])
    table = table_of(case)
    dealt = -1
    for move, action in zip([*moves, ""], [*case["actions"], None], strict=True):
        number = int(table.game["round"])
        if number > dealt and number < len(case["decks"]):
            dealt = number
            for seat, hand in enumerate(case["hands"][number]):
                assert sorted(map(parse_tile, hand.split())) == sorted(
                    map(parse_tile, table.hand(seat).split())
                )
            rest = [parse_tile(tile) for tile in case["boneyard"][number].split()]
            assert rest == case["decks"][number][28 - len(rest) :]
        if action is None:
            break
        seat_text, _, words = move.partition(": ")
        assert int(seat_text) == table.seat
        assert parse_action(words.replace("[", "").replace("]", "").replace(" ", "")) == action
        table.do(action)
    assert dealt == len(case["decks"]) - 1


@pytest.mark.parametrize("case", BY_LOT, ids=by_id)
def test_golden_case_led_by_lot(case: dict[str, Any]) -> None:
    num_games = 4000
    for pinned in case["expect"]:
        if "leader_may" not in pinned:
            continue
        rounds = [{"deck": deck, "leader": case["leader"]} for deck in case["decks"]]
        games = Games(rules_of(case), num_games=num_games)
        games.reset(seed=np.arange(num_games), rounds=rounds if pinned["after"] else None)
        for action in case["actions"][: pinned["after"]]:
            games.step(np.full(num_games, action))
        counts = np.bincount(games.data["leader"], minlength=4)
        may = pinned["leader_may"]
        assert counts[may].sum() == num_games, "nobody else leads"
        assert stats.chisquare(counts[may]).pvalue > 1e-3


@pytest.mark.parametrize("preset", PRESETS)
def test_golden_points_of_every_end_total(preset: str) -> None:
    table = VECTORS["points_tables"][preset]
    for total, points in enumerate(scoring.POINTS[PRESETS.index(preset)]):
        assert points == table.get(str(total), 0), f"end total {total}"


@pytest.mark.parametrize("pips", range(len(VECTORS["nearest_five"])))
def test_golden_nearest_five(pips: int) -> None:
    held, left = 0, pips
    for tile in np.argsort(PIPS, kind="stable")[::-1]:
        if 0 < PIPS[tile] <= left:
            held |= 1 << int(tile)
            left -= int(PIPS[tile])
    assert left == 0
    games = Games(Rules.preset(A), num_games=1)
    games.data["hands"][0, :2] = (0, held)
    games.data["scores"] = 0
    settle = from_python(scoring.settle)
    settle(games.params[0], games.data[0])
    assert games.data["scores"][0].tolist() == [0, -VECTORS["nearest_five"][pips], 0, 0]


def test_golden_file_is_whole() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 120
    for rule, cases in VECTORS["cases"].items():
        for case in cases:
            assert rule in case["rules"]
            assert case["id"].startswith(f"{rule}-")
