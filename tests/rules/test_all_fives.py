"""A1 to A9: All Fives."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from fives_env import Games, Rules
from tests.rules.positions import (
    KEPT,
    SIXES,
    A,
    Table,
    actions_of,
    blocked,
    deal,
    play_randomly,
    script,
    seeded,
)


def nearest_five(pips: int) -> int:
    """A8 in plain words: the multiple of five that is least far away."""
    return min(range(0, 200, 5), key=lambda multiple: abs(multiple - pips))


def test_A1_nine_for_two_seven_for_three_five_for_four() -> None:
    for players, size, boneyard in [(2, 9, 10), (3, 7, 7), (4, 5, 8)]:
        table = deal(Rules.preset(A, players=players), *["..."] * players)
        assert (table.hand_sizes, table.boneyard) == ((size,) * players, boneyard)
    assert Rules.preset(A, players=4).partners, "best as partners"


def test_A2_five_each_or_seven_for_two_and_five_for_more() -> None:
    for players in (2, 3, 4):
        table = deal(Rules.preset(A, players=players, deal=5), *["..."] * players)
        assert table.hand_sizes == (5,) * players
        table = deal(Rules.preset(A, players=players, deal=(7, 5, 5)), *["..."] * players)
        assert table.hand_sizes == (7 if players == 2 else 5,) * players


@pytest.mark.parametrize("players", [2, 3, 4])
def test_A3_B74_the_first_lead_is_by_lot_and_any_tile_may_be_led(players: int) -> None:
    games = seeded(Rules.preset(A, players=players), 4000, seed=np.arange(4000))
    counts = np.bincount(games.data["leader"], minlength=players)
    assert len(counts) == players
    assert stats.chisquare(counts).pvalue > 1e-3
    assert (games.action_mask().sum(axis=1) == games.rules.deal).all()


@pytest.mark.parametrize(("players", "partners"), [(2, False), (3, False), (4, False), (4, True)])
def test_A3_B74_whoever_went_out_leads(players: int, partners: bool) -> None:
    games = seeded(Rules.preset(A, players=players, partners=partners, target=10_000), 300)
    rng = np.random.default_rng(1)
    led = set()
    for _ in range(150):
        mover, number = games.data["seat"].copy(), games.data["round"].copy()
        play_randomly(games, rng)
        out = (games.data["round"] > number) & (games.data["round_over"] == 1)
        assert (games.data["leader"] == mover)[out].all()
        led |= set(mover[out].tolist())
    assert led == set(range(players))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_A3_B74_after_a_blocked_round_the_lead_is_by_lot_again(players: int) -> None:
    hands = {
        2: ["0|6 1|6 2|3 4|6 5|6 ...", "0|1 2|6 3|6 4|5 6|6 ..."],
        3: ["0|6 2|6 4|6 6|6 ...", "0|1 2|3 4|5 ...", "1|6 3|6 5|6 ..."],
        4: ["0|6 2|3 5|6 ...", "0|1 3|6 6|6 ...", "1|6 4|6 ...", "2|6 4|5 ..."],
    }[players]
    reserve = 28 % players  # nothing is left to draw
    rules = Rules.preset(A, players=players, deal=28 // players, reserve=reserve)
    games = Games(rules, num_games=4000)
    games.reset(seed=8, rounds=[script(rules, *hands)])
    for action in actions_of(SIXES):
        games.step(np.full(4000, action))
    assert (games.data["round"] == 1).all()
    assert (games.data["round_over"] == 2).all()
    counts = np.bincount(games.data["leader"], minlength=players)
    assert len(counts) == players
    assert stats.chisquare(counts).pvalue > 1e-3


def test_A3_the_scripted_lot_counts_after_a_block_and_not_after_going_out() -> None:
    rules = Rules.preset(A, players=3, deal=1)
    later = script(rules, "0|0", "1|1", "2|2", leader=2)
    first = script(rules, "5|6", "1|1", "2|2", leader=0)
    assert Table(rules, [first, later]).play("5|6").leader == 0, "went out"
    rules = Rules.preset(A, deal=14)
    hands = "0|6 1|6 2|3 4|6 5|6 ...", "0|1 2|6 3|6 4|5 6|6 ..."
    for lot in (0, 1):
        rounds = [script(rules, *hands), script(rules, *hands, leader=lot)]
        assert Table(rules, rounds).play(SIXES).leader == lot


def test_A4_draw_until_a_tile_fits_and_place_it_at_once() -> None:
    hands = (
        "6|6 1|1 1|2 1|3 1|4 1|5 2|2",
        "0|0 0|1 0|2 0|3 0|4 0|5 2|5",
        "2|3 2|4 3|3 3|4 3|5 4|4 4|5",
    )
    rules = Rules.preset(A, players=3)
    table = deal(rules, *hands, boneyard="5|5 4|6 0|6").play("6|6")
    assert table.legal == {"draw"}
    assert table.play("draw").legal == {"draw"}
    assert table.play("draw").legal == {"4|6>0", "4|6>1"}, "the tile that fits, and no other draw"
    assert table.refuses("draw")
    assert table.refuses("knock")
    table.play("4|6>0")
    assert table.seat == 2
    assert table.hand(1) == "0|0 0|1 0|2 0|3 0|4 0|5 2|5 5|5"


def test_A4_B71_knocks_only_with_the_boneyard_empty() -> None:
    hands = "6|6 0|6 1|6 2|6 3|6 4|6 5|6 5|5 4|4", "0|0 0|1 0|2 0|3 0|4 0|5 1|1 1|2 1|3"
    table = deal(Rules.preset(A), *hands).play("6|6" + " draw" * 9)
    assert table.boneyard == 1
    assert table.legal == {"draw"}
    assert table.play("draw").legal == {"knock"}
    assert table.play("knock").seat == 0


def test_A5_only_the_first_double_is_a_spinner() -> None:
    rules = Rules.preset(A, deal=5)
    table = deal(rules, "1|1 1|5 3|5 1|2 0|1", "5|5 1|4 4|5 2|5 2|2").play("1|1 1|4>0 1|5>1")
    assert table.arms == (4, 5, 1, 1), "[1|1] is one"
    table.play("5|5>1")
    assert table.counts == (4, 10, 0, 0)
    table.play("3|5>1")
    assert table.arms == (4, 3, 1, 1), "[5|5] is none: its other ends never open"
    assert "2|5>1" not in table.legal
    assert "4|5>0" in table.legal


@pytest.mark.parametrize(("low", "high"), list(combinations(range(7), 2)))
def test_A6_only_fives_count_and_give_the_total(low: int, high: int) -> None:
    hands = f"{low}|{high} {high}|{high} ...", f"{low}|{low} ..."
    table = deal(Rules.preset(A, deal=3, spinner="none"), *hands)
    for move, total in [
        (f"{low}|{high}", low + high),
        (f"{low}|{low}>0", 2 * low + high),
        (f"{high}|{high}>1", 2 * low + 2 * high),
    ]:
        table.play(move)
        assert (table.total, table.points) == (total, 0 if total % 5 else total)


def test_A6_with_four_arms() -> None:
    hands = "3|3 6|6 5|5 4|4 0|0 0|1 2|2 1|6 2|6", "3|6 3|5 3|4 2|3 1|2 0|2 1|1 0|4 0|5"
    table = deal(Rules.preset(A), *hands)
    points = []
    for move in ["3|3", "3|6>0", "6|6>0", "3|5>1", "5|5>1", "3|4>2", "4|4>2", "2|3>3"]:
        table.play(move)
        points.append((table.total, table.points))
    assert points == [(6, 0), (12, 0), (18, 0), (17, 0), (22, 0), (26, 0), (30, 30), (32, 0)]
    assert table.scores == (30, 0)


@pytest.mark.parametrize(("players", "partners"), [(2, False), (3, False), (4, False), (4, True)])
def test_A7_B70_the_first_empty_hand_ends_the_round(players: int, partners: bool) -> None:
    rules = Rules.preset(A, players=players, partners=partners, deal=2)
    hands = ["1|6 4|6", "1|1 6|6", "1|2 2|2", "2|3 3|3"][:players]
    moves = ["1|6", "1|1>0", "1|2>0", "2|3>0"][:players]
    table = deal(rules, *hands).play(" ".join([*moves, "4|6>1"]))
    assert table.round_over == "out"
    assert table.hand_sizes == (0, 1, 1, 1)[:players]
    assert int(table.game["round"]) == 1
    assert table.leader == 0


def test_A7_a_blocked_round_ends_and_every_hand_pays() -> None:
    table = deal(Rules.preset(A, deal=14), "0|6 1|6 2|3 4|6 5|6 ...", "0|1 2|6 3|6 4|5 6|6 ...")
    assert table.play(SIXES).round_over == "blocked"
    assert table.settlement == (-30, -60), "28 and 62 pips, the lightest pays as well"


@pytest.mark.parametrize(
    "tile",
    ["0|0", "0|1", "0|2", "0|3", "1|3", "1|4", "0|6", "3|4", "2|6", "3|6", "4|6", "5|6", "6|6"],
)
def test_A8_each_hand_is_rounded_to_the_nearest_five(tile: str) -> None:
    pips = int(tile[0]) + int(tile[2])
    table = deal(Rules.preset(A, deal=1), "0|5", tile).play("0|5")
    assert table.settlement == (0, -nearest_five(pips))
    assert table.scores == (5, -nearest_five(pips)), "below zero, if it must be"


def test_A8_seven_is_five_and_eight_is_ten() -> None:
    assert [nearest_five(pips) for pips in (2, 3, 7, 8, 12, 13, 28)] == [0, 5, 5, 10, 10, 15, 30]
    table = deal(Rules.preset(A, players=3, deal=1), "0|5", "3|4", "2|6").play("0|5")
    assert table.settlement == (0, -5, -10)


def test_A8_a_hand_is_rounded_as_a_whole() -> None:
    rules = Rules.preset(A, players=4, partners=False, deal=7)
    assert blocked(rules, KEPT).settlement == (-35, -15, -15, -25), "33, 17, 15 and 25 pips"


def test_A8_every_seat_pays_from_its_own_side() -> None:
    hands = "0|5", "3|4", "2|6", "1|6"
    table = deal(Rules.preset(A, players=4, partners=False, deal=1), *hands).play("0|5")
    assert table.settlement == (0, -5, -10, -5)
    table = deal(Rules.preset(A, players=4, deal=1), *hands).play("0|5")
    assert table.settlement == (-10, -10), "5 + 5, not 14 rounded to 15; and the partner pays too"
    assert table.scores == (5 - 10, -10)


def test_A8_B41_a_score_may_fall_far_below_zero() -> None:
    rules = Rules.preset(A, deal=14, max_rounds=100)
    hands = "0|6 1|6 2|3 4|6 5|6 ...", "0|1 2|6 3|6 4|5 6|6 ..."
    table = Table(rules, [script(rules, *hands)] * 20, [0, -1000])
    for _ in range(20):
        table.play(SIXES)
    assert table.scores == (20 * (10 - 30), -1000 - 20 * 60)


@pytest.mark.parametrize(
    ("players", "partners", "target"),
    [(2, False, 250), (3, False, 200), (4, False, 200), (4, True, 200)],
)
def test_A9_250_for_two_200_for_more_reached_or_passed(
    players: int, partners: bool, target: int
) -> None:
    rules = Rules.preset(A, players=players, partners=partners)
    assert rules.target == target
    for start, wins in [(target - 11, False), (target - 10, True), (target - 1, True)]:
        scores = [start] + [target - 1] * (rules.num_sides - 1)
        hands = ["5|5 ..."] + ["..."] * (players - 1)
        table = deal(rules, *hands, scores=scores).play("5|5")
        assert table.scores[0] == start + 10
        assert not table.refused
        assert (table.match_over, table.winner) == (wins, 0 if wins else None)
