"""The golden cases hold for the referee itself, before the engine is held to it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.reference.referee import TILES, Event, Referee, nearest_five, points_of

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "seeds/rules-vectors.json").read_text(encoding="utf-8"))
CASES = [case for cases in VECTORS["cases"].values() for case in cases]


def deck_of(case: dict[str, Any], round_index: int) -> list[int]:
    """The deck of a round: the case's own, and any deck in a round beyond them."""
    decks = case["decks"]
    return decks[round_index] if round_index < len(decks) else list(range(28))


def fields_of(game: Referee, event: Event, leaders: list[int]) -> dict[str, Any]:
    """Every field that a case may name, with `next_seat` and `legal` as the table stands."""
    return {
        "total": game.total(),
        "points": event.points,
        "refused": event.refused,
        "scores": list(game.scores),
        "arms": game.arms(),
        "legal": game.legal(),
        "next_seat": game.seat,
        "leader_may": leaders,
        "hand_sizes": game.hand_sizes(),
        "boneyard": len(game.boneyard),
        "hand": sorted(TILES.index(tile) for tile in game.hands[game.seat]),
        "round_over": event.round_over,
        "settlement": event.settlement,
        "match_over": event.match_over,
        "winner": event.winner,
        "truncated": event.truncated,
    }


def play_case(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields after 0, 1, 2 .. actions; a new round is dealt as soon as one is over."""
    options = {"game": case["preset"], "mode": case["mode"], **case.get("options", {})}
    options |= {"players": case["players"], "partners": case["partners"]}
    game = Referee(options)
    assert game.hand_size == case["hand_size"]
    game.start_match(case.get("start_scores"))
    leaders = game.may_lead()
    game.start_round(deck_of(case, 0), case["leader"])
    history = [fields_of(game, game.event, leaders)]
    for action in case["actions"]:
        event = game.play(action)
        leaders = game.may_lead()
        fields = fields_of(game, event, leaders)
        if event.match_over:
            fields["next_seat"] = None
        elif event.round_over:
            game.start_round(deck_of(case, game.round + 1), case["leader"])
            fields |= {"next_seat": game.seat, "legal": game.legal()}
        history.append(fields)
    return history


def test_there_are_120_cases() -> None:
    assert len(CASES) == 120


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_golden_case(case: dict[str, Any]) -> None:
    history = play_case(case)
    for expected in case["expect"]:
        fields = history[expected["after"]]
        got = {name: fields[name] for name in expected if name != "after"}
        want = {name: value for name, value in expected.items() if name != "after"}
        assert got == want, f"{case['id']} ({case['what']}) after {expected['after']} actions"


@pytest.mark.parametrize("game", sorted(VECTORS["points_tables"]))
def test_F5_T4_A6_points_table(game: str) -> None:
    table = VECTORS["points_tables"][game]
    assert [points_of(game, total) for total in range(51)] == [
        table.get(str(total), 0) for total in range(51)
    ]


def test_A8_nearest_five() -> None:
    assert [nearest_five(pips) for pips in range(29)] == VECTORS["nearest_five"]
