"""`Rules`: what the presets say, what options exist, what is refused, and the spec text."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fives_env import Games, Rules
from tests.rules.positions import PRESETS, A, F, T, play_randomly, seeded

OPTIONS: dict[str, list[Any]] = {
    "players": [2, 3, 4],
    "partners": [None, True, False],
    "deal": [None, 1, 5, 9, (7, 6, 5)],
    "draw": [None, "none", "forced", "optional"],
    "reserve": [None, 0, True, 3],
    "spinner": [None, "first-double", "none"],
    "lead": [None, "rotation", "winner", "highest-double"],
    "target": [None, 1, 100],
    "target_check": [None, "immediate", "round-end"],
    "max_rounds": [None, 1, 100],
    "mode": [None, "match", "round"],
    "max_pip": [None, 1, 2, 4, 6],
}
"""None: the option is not given."""


def refusal(game: str, **options: Any) -> str:
    """The message with which these options are refused."""
    with pytest.raises(ValueError, match=r"\S") as caught:
        Rules.preset(game, **options)
    return str(caught.value)


def clash(game: str, options: dict[str, Any]) -> bool:
    """Whether these options must be refused, by the rules."""
    players = options.get("players", 2)
    max_pip = options.get("max_pip", 6)
    num_tiles = (max_pip + 1) * (max_pip + 2) // 2
    table = {F: (7, 5, 5), T: (7, 5, 5), A: (9, 7, 5)}[game]
    deal = options.get("deal", max(1, table[players - 2] * num_tiles // 28))
    deal = deal[players - 2] if isinstance(deal, tuple) else deal
    reserve = options.get("reserve", 0)
    reserve = (2 if players == 2 else 1) if reserve is True else reserve
    draw = options.get("draw", "none" if game == F else "forced")
    return (
        (options.get("partners", False) and players != 4)
        or deal * players > num_tiles
        or (game == F) != (draw == "none")  # F2, T3, A4
        or (reserve > 0 and (draw == "none" or reserve > num_tiles - deal * players))
        or (game == F and options.get("spinner") == "first-double")  # F4
        or (game == F and options.get("target_check") == "round-end")  # D14
    )


def without_none(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


@st.composite
def any_options(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    game = draw(st.sampled_from(PRESETS))
    options = {name: draw(st.sampled_from(values)) for name, values in OPTIONS.items()}
    return game, without_none(options)


def legal_rules(number: int) -> list[Rules]:
    """That many rules from all over the product of the options, the same ones every time."""
    rng = np.random.default_rng(0)
    found: list[Rules] = []
    while len(found) < number:
        game = PRESETS[len(found) % 3]
        picked = {name: values[rng.integers(len(values))] for name, values in OPTIONS.items()}
        options = without_none(picked)
        if not clash(game, options):
            found.append(Rules.preset(game, **options))
    return found


@pytest.mark.parametrize(
    ("game", "players", "deal", "partners", "target"),
    [
        (F, 2, 7, False, 61), (F, 3, 5, False, 61), (F, 4, 5, True, 61),
        (T, 2, 7, False, 251), (T, 3, 5, False, 251), (T, 4, 5, False, 251),
        (A, 2, 9, False, 250), (A, 3, 7, False, 200), (A, 4, 5, True, 200),
    ],
)  # fmt: skip
def test_presets_by_players(
    game: str, players: int, deal: int, partners: bool, target: int
) -> None:
    rules = Rules.preset(game, players=players)
    assert (rules.deal, rules.partners, rules.target) == (deal, partners, target)
    assert rules.num_sides == (2 if partners else players)
    assert [rules.side_of(s) for s in range(players)] == [
        s % rules.num_sides for s in range(players)
    ]


@pytest.mark.parametrize(
    ("game", "draw", "spinner", "lead"),
    [
        (F, "none", "none", "rotation"),
        (T, "forced", "first-double", "rotation"),
        (A, "forced", "first-double", "winner"),
    ],
)
def test_presets_by_game(game: str, draw: str, spinner: str, lead: str) -> None:
    rules = Rules.preset(game)
    assert (rules.game, rules.players) == (game, 2)
    assert (rules.draw, rules.spinner, rules.lead) == (draw, spinner, lead)
    assert (rules.reserve, rules.target_check, rules.mode) == (0, "immediate", "match")
    assert (rules.max_rounds, rules.max_pip, rules.num_tiles) == (100, 6, 28)


def test_rules_are_frozen_values() -> None:
    rules = Rules.preset(A, players=4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.players = 3  # type: ignore[misc]
    same = Rules.preset(A, players=4, partners=True, deal=5, reserve=0, lead="winner")
    assert rules == same
    assert hash(rules) == hash(same), "said or left to the preset, it is the same"
    assert rules != Rules.preset(A, players=4, partners=False)


def test_spec_of_the_documentation() -> None:
    rules = Rules.from_spec("all-fives:players=4,partners=yes,target=200")
    assert rules == Rules.preset(A, players=4, partners=True, target=200)
    assert Rules.from_spec(rules.spec) == rules
    assert Rules.from_spec("fives-and-threes") == Rules.preset(F)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("players=3", {"players": 3}),
        ("players=4,partners=no", {"players": 4, "partners": False}),
        ("players=4,partners=yes", {"players": 4, "partners": True}),
        ("deal=5", {"deal": 5}),
        ("players=3,deal=7/6/5", {"players": 3, "deal": (7, 6, 5)}),
        ("draw=optional", {"draw": "optional"}),
        ("reserve=yes", {"reserve": True}),
        ("reserve=3", {"reserve": 3}),
        ("spinner=none", {"spinner": "none"}),
        ("lead=highest-double", {"lead": "highest-double"}),
        ("lead=winner", {"lead": "winner"}),
        ("target=300", {"target": 300}),
        ("target_check=round-end", {"target_check": "round-end"}),
        ("max_rounds=7", {"max_rounds": 7}),
        ("mode=round", {"mode": "round"}),
        ("max_pip=3", {"max_pip": 3}),
        ("players=3, target=90 ,lead=winner", {"players": 3, "target": 90, "lead": "winner"}),
    ],
)
def test_spec_text_of_every_option(text: str, options: dict[str, Any]) -> None:
    rules = Rules.from_spec(f"{T}:{text}")
    assert rules == Rules.preset(T, **options)
    assert Rules.from_spec(rules.spec) == rules


def test_the_table_of_options_is_whole() -> None:
    assert {field.name for field in dataclasses.fields(Rules)} == {"game", *OPTIONS}


@given(any_options())
@settings(max_examples=300, deadline=None)
def test_options_are_refused_if_and_only_if_two_clash(picked: tuple[str, dict[str, Any]]) -> None:
    game, options = picked
    if clash(game, options):
        refusal(game, **options)
        return
    rules = Rules.preset(game, **options)
    again = Rules.from_spec(rules.spec)
    assert again == rules
    assert again.spec == rules.spec


@pytest.mark.parametrize("game", PRESETS)
def test_the_product_of_the_options_round_trips(game: str) -> None:
    names = ["players", "partners", "draw", "reserve", "lead", "spinner", "target_check"]
    accepted = 0
    for values in itertools.product(*(OPTIONS[name] for name in names)):
        options = without_none(dict(zip(names, values, strict=True)))
        if clash(game, options):
            continue
        rules = Rules.preset(game, **options)
        assert Rules.from_spec(rules.spec) == rules
        accepted += 1
    assert accepted > (100 if game == F else 1000)


def test_what_is_accepted_can_be_played() -> None:
    rng = np.random.default_rng(1)
    for rules in legal_rules(150):
        games = seeded(rules, 8)
        for _ in range(60):
            mask, _ = play_randomly(games, rng)
            assert (mask.any(axis=1) | (games.data["match_over"] == 1)).all(), rules.spec
            assert (games.data["boneyard"] >= rules.reserve).all(), rules.spec
        counts = games.rollout(300)
        assert counts["steps"] == 8 * 300, rules.spec
        assert counts["rounds"] + counts["matches"] > 0, rules.spec


@pytest.mark.parametrize(
    ("game", "options", "named"),
    [
        (F, {"draw": "forced"}, ["draw=forced", F]),
        (F, {"draw": "optional"}, ["draw=optional", F]),
        (F, {"spinner": "first-double"}, ["spinner=first-double", F]),
        (F, {"reserve": True}, ["reserve", "draw"]),
        (F, {"reserve": 2}, ["reserve=2", "draw"]),
        (F, {"target_check": "round-end"}, ["target_check=round-end", "exact"]),
        (T, {"draw": "none"}, ["draw=none", T]),
        (A, {"draw": "none"}, ["draw=none", A]),
        (T, {"players": 4, "deal": 7, "reserve": True}, ["reserve=1", "boneyard"]),
        (T, {"reserve": 15}, ["reserve=15", "boneyard", "14"]),
        (A, {"players": 2, "partners": True}, ["partners", "players=2"]),
        (A, {"players": 3, "partners": True}, ["partners", "players=3"]),
        (A, {"players": 4, "deal": 8}, ["deal=8", "players=4", "28"]),
        (T, {"players": 3, "deal": (7, 10, 7)}, ["deal=10", "players=3", "28"]),
        (T, {"deal": 4, "max_pip": 2}, ["deal=4", "max_pip=2"]),
        (T, {"players": 4, "max_pip": 1}, ["players=4", "max_pip=1"]),
    ],
)
def test_a_clash_is_refused_and_both_are_named(
    game: str, options: dict[str, Any], named: list[str]
) -> None:
    message = refusal(game, **options)
    assert all(word in message for word in named), message
    assert "\n" not in message


def test_what_only_just_fits_is_accepted() -> None:
    assert Rules.preset(T, reserve=14).reserve == 14, "nothing may be drawn at all"
    assert Rules.preset(A, players=4, deal=7).deal == 7
    assert Rules.preset(T, deal=14).deal == 14
    assert Rules.preset(T, players=3, max_pip=1).deal == 1


@pytest.mark.parametrize("name", ["players", "deal", "target", "max_rounds", "max_pip"])
@pytest.mark.parametrize(
    "value", [True, False, 2.0, 2.5, float("nan"), "2", "two", [], {}, 0, -1, 10**9]
)
def test_numbers_must_be_whole_and_in_range(name: str, value: Any) -> None:
    assert name in refusal(A, **{name: value})


@pytest.mark.parametrize("name", ["players", "reserve", "max_rounds", "max_pip"])
def test_none_is_no_number(name: str) -> None:
    assert name in refusal(A, **{name: None})


@pytest.mark.parametrize("value", [2.0, "yes", "2", -1, 29, [], float("nan")])
def test_reserve_is_a_number_or_true(value: Any) -> None:
    assert "reserve" in refusal(A, reserve=value)
    assert Rules.preset(A, reserve=False).reserve == 0


@pytest.mark.parametrize("value", [0, 1, "yes", "true", 1.0, [], np.int64(1)])
def test_partners_is_true_or_false(value: Any) -> None:
    assert "partners" in refusal(A, players=4, partners=value)


@pytest.mark.parametrize("name", ["draw", "spinner", "lead", "target_check", "mode"])
@pytest.mark.parametrize("value", ["", "sometimes", 0, 1, True, False, 2.0, [], ("none",)])
def test_choices_are_refused_with_those_that_exist(name: str, value: Any) -> None:
    message = refusal(A, **{name: value})
    existing = {
        "draw": ["forced", "optional"],
        "spinner": ["first-double", "none"],
        "lead": ["rotation", "winner", "highest-double"],
        "target_check": ["immediate", "round-end"],
        "mode": ["match", "round"],
    }[name]
    assert name in message
    assert all(word in message for word in existing), message


@pytest.mark.parametrize("players", [1, 5])
def test_two_to_four_players(players: int) -> None:
    message = refusal(F, players=players)
    assert "players" in message
    assert "2" in message
    assert "4" in message


@pytest.mark.parametrize("max_pip", range(1, 7))
def test_a_smaller_set_and_its_deal(max_pip: int) -> None:
    num_tiles = (max_pip + 1) * (max_pip + 2) // 2
    for game, players in itertools.product(PRESETS, (2, 3, 4)):
        if players > num_tiles:
            continue
        rules = Rules.preset(game, players=players, max_pip=max_pip)
        full = Rules.preset(game, players=players).deal
        assert rules.num_tiles == num_tiles
        assert rules.deal == max(1, full * num_tiles // 28)
        games = seeded(rules, 4)
        data = games.data
        dealt = data["hands"].sum(axis=1)
        allowed = sum(
            1 << tile
            for tile, (_, high) in enumerate(itertools.combinations_with_replacement(range(7), 2))
            if high <= max_pip
        )
        assert (dealt & ~np.uint32(allowed) == 0).all()
        assert (data["boneyard"] == num_tiles - players * rules.deal).all()


@pytest.mark.parametrize("max_pip", [0, 7, -1])
def test_max_pip_is_from_one_to_six(max_pip: int) -> None:
    assert "max_pip" in refusal(F, max_pip=max_pip)


@pytest.mark.parametrize("deal", [(7, 6), (7,), (), (7, 6, 5, 5), "7/6/5"])
def test_a_deal_by_players_is_three_numbers(deal: Any) -> None:
    assert "deal" in refusal(T, deal=deal)


@pytest.mark.parametrize(
    "deal", [(7, 6, 0), (7, 6.0, 5), ("7", 6, 5), (True, 6, 5), (None, 6, 5), (7, 29, 5)]
)
def test_a_deal_by_players_is_three_whole_numbers(deal: Any) -> None:
    assert "deal" in refusal(T, deal=deal)


def test_a_deal_by_players_is_stored_as_the_number_that_holds() -> None:
    for players, size in [(2, 7), (3, 6), (4, 5)]:
        assert Rules.preset(T, players=players, deal=(7, 6, 5)).deal == size
        assert Rules.preset(T, players=players, deal=(7, 6, 5)) == Rules.preset(
            T, players=players, deal=size
        )


def test_an_unknown_option_is_refused_with_those_that_exist() -> None:
    message = refusal(F, spiner="none")
    assert "spiner" in message
    assert all(name in message for name in OPTIONS), message
    assert "game" not in message.replace("'game'", "").split(":")[-1]
    with pytest.raises(ValueError, match="spiner"):
        Rules.from_spec(f"{F}:spiner=none")


@pytest.mark.parametrize("game", ["muggins", "", "Fives-And-Threes", None, 3, True, ["all-fives"]])
def test_an_unknown_game_is_refused_with_those_that_exist(game: Any) -> None:
    message = refusal(game)
    assert all(preset in message for preset in PRESETS), message


@pytest.mark.parametrize(
    "spec",
    [
        "", ":", "muggins", "muggins:players=2", "all-fives:", "all-fives:players",
        "all-fives:players=", "all-fives:=2", "all-fives:players=2,", "all-fives:,players=2",
        "all-fives:players=2,players=3", "all-fives:players=two", "all-fives:players=2.0",
        "all-fives:players=-2", "all-fives:players=+2", "all-fives:players=²",
        "all-fives:players=4,partners=true", "all-fives:players=4,partners=1",
        "all-fives:deal=7/6", "all-fives:deal=7/6/5/4", "all-fives:deal=7/x/5",
        "all-fives:deal=(7, 6, 5)", "all-fives:target=1/2/3", "all-fives:target=yes",
        "all-fives:draw=yes", "all-fives:players=2;target=3", "all-fives players=2",
        "all-fives:game=all-fives", "all-fives:players==2", "all-fives:max_rounds=0",
    ],
)  # fmt: skip
def test_a_spec_that_cannot_be_read_is_refused_in_one_line(spec: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as caught:
        Rules.from_spec(spec)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) > 15


@pytest.mark.parametrize("spec", [None, 3, b"all-fives", ["all-fives"], Rules.preset(A)])
def test_a_spec_is_text(spec: Any) -> None:
    with pytest.raises(ValueError, match="text"):
        Rules.from_spec(spec)


def test_max_rounds_of_nought_is_no_match_B03() -> None:
    assert "max_rounds" in refusal(F, max_rounds=0)
    assert Rules.preset(F, max_rounds=1).max_rounds == 1


@pytest.mark.parametrize("game", PRESETS)
def test_scores_fit_their_integers_under_any_rules_B41(game: str) -> None:
    extreme = np.iinfo(Games(Rules.preset(game)).data["scores"].dtype)
    # A8: 28 tiles of 168 pips can cost 170 a round; T: one event is worth 72 at the most and one
    # settlement 168. The most rounds and the highest target that are let in must leave room.
    rounds, targets = (
        (1, 100, 150, 180, 200, 1000, 10_000, 60_000),
        (61, 1000, 10_000, 32_000, 10**6),
    )
    most_rounds = max(number for number in rounds if _has(game, max_rounds=number))
    highest = max(number for number in targets if _has(game, target=number))
    assert highest + 168 + 28 * 72 < extreme.max
    if game == A:
        assert -1000 - 170 * most_rounds > extreme.min


def _has(game: str, **options: Any) -> bool:
    try:
        Rules.preset(game, **options)
    except ValueError:
        return False
    return True
