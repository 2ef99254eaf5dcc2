"""T1 to T13: Threes and Fives."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from fives_env import Rules
from fives_env.tiles import parse_tile
from tests.rules.positions import (
    DRAW,
    KEPT,
    PASS,
    SIXES,
    A,
    T,
    Table,
    blocked,
    deal,
    play_randomly,
    script,
    seeded,
    tile_bits,
)

NO_SIX = "0|0 0|1 0|2 0|3 0|4 0|5 1|1"


def worth(total: int) -> int:
    """T4 in plain words."""
    return (total if total % 3 == 0 else 0) + (total if total % 5 == 0 else 0)


def test_T1_seven_for_two_five_for_three_or_four_and_a_boneyard() -> None:
    for players, size, boneyard in [(2, 7, 14), (3, 5, 13), (4, 5, 8)]:
        table = deal(Rules.preset(T, players=players), *["..."] * players)
        assert (table.hand_sizes, table.boneyard) == ((size,) * players, boneyard)


def test_T1_four_may_play_as_partners() -> None:
    assert Rules.preset(T, players=4, partners=True).num_sides == 2
    assert Rules.preset(T, players=4, partners=False).num_sides == 4


@pytest.mark.parametrize("players", [2, 3, 4])
def test_T2_B74_the_first_lead_is_by_lot(players: int) -> None:
    leaders = seeded(Rules.preset(T, players=players), 4000, seed=np.arange(4000)).data["leader"]
    counts = np.bincount(leaders, minlength=players)
    assert len(counts) == players
    assert stats.chisquare(counts).pvalue > 1e-3


def test_T2_any_tile_may_be_led_and_must_be() -> None:
    hands = "0|0 1|2 2|5 3|3 4|6", "0|1 0|2 0|3 0|4 0|5", "0|6 1|1 1|3 1|4 1|5"
    for leader in range(3):
        table = deal(Rules.preset(T, players=3), *hands, leader=leader)
        assert table.seat == leader
        assert table.legal == set(hands[leader].split())


def test_T3_a_seat_draws_one_tile_at_a_time_until_one_fits_then_places() -> None:
    rules = Rules.preset(T, players=3)
    hands = "6|6 1|1 1|2 1|3 1|4", "0|0 0|1 0|2 0|3 0|4", "2|2 2|3 2|4 2|5 2|6"
    table = deal(rules, *hands, boneyard="3|3 4|5 6|0 0|5").play("6|6")
    for drawn in range(3):
        assert table.seat == 1
        assert table.legal == {"draw"}
        assert (table.hand_sizes[1], table.boneyard) == (5 + drawn, 13 - drawn)
        table.play("draw")
    assert table.hand(1) == "0|0 0|1 0|2 0|3 0|4 0|6 3|3 4|5", "from the front of the boneyard"
    assert table.legal == {"0|6>0", "0|6>1"}, "now it must place, and may not draw on"
    assert table.refuses("draw")
    assert table.refuses("knock")
    assert table.play("0|6>1").seat == 2


def test_T3_it_knocks_only_when_the_boneyard_is_exhausted() -> None:
    sixes = "0|6 1|6 2|6 3|6 4|6 5|6 6|6"
    table = deal(Rules.preset(T), sixes, NO_SIX).play("6|6")
    for left in range(14, 0, -1):
        assert table.boneyard == left
        assert table.legal == {"draw"}
        table.play("draw")
    assert (table.boneyard, table.hand_sizes) == (0, (6, 21))
    assert table.seat == 1
    assert table.legal == {"knock"}
    assert table.play("knock").seat == 0


def test_T3_B71_a_stuck_seat_must_draw_while_three_tiles_are_left() -> None:
    rules = Rules.preset(T, players=3, deal=8)
    hands = (
        "6|6 0|0 0|1 0|2 0|3 0|4 0|5 1|1",
        "1|2 1|3 1|4 1|5 2|2 2|3 2|4 2|5",
        "0|6 1|6 2|6 3|6 4|6 5|6 3|3 3|4",
    )
    table = deal(rules, *hands, boneyard="3|5 4|4 4|5 5|5").play("6|6 draw")
    assert table.boneyard == 3
    assert table.round_over is None
    assert table.legal == {"draw"}
    assert table.play("draw draw draw").legal == {"knock"}


@pytest.mark.parametrize(("low", "high"), list(combinations(range(7), 2)))
def test_T4_every_total_that_two_ends_can_make(low: int, high: int) -> None:
    hands = f"{low}|{high} {high}|{high} ...", f"{low}|{low} ..."
    table = deal(Rules.preset(T, deal=3, spinner="none"), *hands)
    for move, total in [
        (f"{low}|{high}", low + high),
        (f"{low}|{low}>0", 2 * low + high),
        (f"{high}|{high}>1", 2 * low + 2 * high),
    ]:
        table.play(move)
        assert (table.total, table.points) == (total, worth(total))


def test_T4_thirty_gives_sixty() -> None:
    hands = "3|3 6|6 5|5 4|4 0|0 0|1 2|2", "3|6 3|5 3|4 0|3 2|3 0|2 1|1"
    table = deal(Rules.preset(T), *hands)
    moves = ["3|3", "3|6>0", "6|6>0", "3|5>1", "5|5>1", "3|4>2", "4|4>2", "0|3>3"]
    points = []
    for move in moves:
        table.play(move)
        points.append((table.total, table.points))
    assert points[:3] == [(6, 6), (12, 12), (18, 18)]
    assert points[3:6] == [(17, 0), (22, 0), (26, 0)]
    assert points[6:] == [(30, 60), (30, 60)], "12 + 10 + 8, and a fourth arm of nothing"


def test_T4_the_sources_examples() -> None:
    assert [worth(total) for total in (10, 12, 15, 30)] == [10, 12, 30, 60]
    table = deal(Rules.preset(T, deal=3), "3|6 5|5 0|0", "6|6 1|1 2|2").play("3|6 6|6>1")
    assert (table.total, table.points) == (15, 30)


def test_T5_the_first_double_is_a_spinner_and_need_not_be() -> None:
    hands = "5|5 5|6 1|5 0|0", "0|5 4|5 1|1 2|2"
    moves = "5|5 0|5>0 5|6>1"
    table = deal(Rules.preset(T, deal=4), *hands).play(moves)
    assert table.arms == (0, 6, 5, 5)
    assert {"4|5>2", "4|5>3"} <= table.legal
    line = deal(Rules.preset(T, deal=4, spinner="none"), *hands).play(moves)
    assert line.arms == (0, 6, None, None)
    assert line.legal == {"draw"}


@pytest.mark.parametrize(("players", "partners"), [(2, False), (3, False), (4, False), (4, True)])
def test_T6_B70_the_first_empty_hand_ends_the_round(players: int, partners: bool) -> None:
    rules = Rules.preset(T, players=players, partners=partners, deal=2)
    hands = ["1|6 4|6", "1|1 6|6", "1|2 2|2", "2|3 3|3"][:players]
    table = deal(rules, *hands).play("1|6 1|1>0")
    if players > 2:
        table.play("1|2>0")
    if players > 3:
        table.play("2|3>0")
    table.play("4|6>1")
    assert table.round_over == "out", "partners or not"
    assert table.hand_sizes == (0, 1, 1, 1)[:players]
    assert int(table.game["round"]) == 1
    assert table.hand_sizes[1] == 1


def test_T6_a_blocked_round_ends_too() -> None:
    table = deal(Rules.preset(T, deal=14), "0|6 1|6 2|3 4|6 5|6 ...", "0|1 2|6 3|6 4|5 6|6 ...")
    assert table.play(SIXES).round_over == "blocked"
    assert table.settlement == (62, 0), "28 pips against 62"


def test_T7_going_out_scores_the_pips_of_the_other_sides() -> None:
    hands = ["1|4", "6|6", "5|5", "2|3"]
    for players, pips in [(2, 12), (3, 22), (4, 27)]:
        rules = Rules.preset(T, players=players, partners=False, deal=1)
        table = deal(rules, *hands[:players]).play("1|4")
        assert table.points == 5
        assert table.settlement == (pips,) + (0,) * (players - 1)
        assert table.scores[0] == 5 + pips
    table = deal(Rules.preset(T, players=4, partners=True, deal=1), *hands).play("1|4")
    assert table.settlement == (12 + 5, 0), "not the partner's"
    table = deal(Rules.preset(T, players=4, partners=True, deal=1), *hands, leader=1).play("6|6")
    assert table.settlement == (0, 5 + 10)
    assert table.scores == (0, 12 + 15)


def test_T7_B03_an_empty_hand_beats_a_hand_of_nothing() -> None:
    rules = Rules.preset(T, players=3, deal=1)
    table = deal(rules, "1|1", "0|0", "6|6").play("1|1")
    assert table.settlement == (12, 0, 0), "[0|0] is no pips either, but it did not go out"
    assert deal(rules, "0|0", "1|1", "6|6").play("0|0").settlement == (14, 0, 0)


def test_T7_in_a_blocked_round_the_fewest_pips_win_judged_by_seat() -> None:
    rules = Rules.preset(T, players=4, partners=True, deal=7)
    assert blocked(rules, KEPT).settlement == (17 + 25, 0), "by seat 2, for 33 + 15 are the more"
    rules = Rules.preset(T, players=4, partners=False, deal=7)
    assert blocked(rules, KEPT).settlement == (0, 0, 33 + 17 + 25, 0)


@pytest.mark.parametrize(
    ("start", "end", "wins"), [(245, 250, False), (246, 251, True), (249, 254, True)]
)
def test_T8_251_reached_or_passed(start: int, end: int, wins: bool) -> None:
    table = deal(Rules.preset(T), "1|4 ...", "...", scores=[start, 0]).play("1|4")
    assert table.scores == (end, 0)
    assert not table.refused, "never refused"
    assert (table.match_over, table.winner) == (wins, 0 if wins else None)
    assert Rules.preset(T, players=3).target == Rules.preset(T, players=4).target == 251


def test_T8_the_pips_of_the_others_may_win_it() -> None:
    for start, wins in [(233, False), (234, True)]:
        table = deal(Rules.preset(T, deal=1), "1|4", "6|6", scores=[start, 250]).play("1|4")
        assert table.scores == (start + 5 + 12, 250)
        assert (table.match_over, table.winner) == (wins, 0 if wins else None)
        assert table.round_over == "out"


def test_T9_seven_each_whatever_the_number() -> None:
    for players in (2, 3, 4):
        table = deal(Rules.preset(T, players=players, deal=7), *["..."] * players)
        assert table.hand_sizes == (7,) * players
        assert table.boneyard == 28 - 7 * players
    four = deal(Rules.preset(T, players=4, deal=7), "6|6 ...", NO_SIX, "...", "...").play("6|6")
    assert four.legal == {"knock"}, "no boneyard: nothing to draw"


def test_T10_seven_six_five() -> None:
    for players, size in [(2, 7), (3, 6), (4, 5)]:
        rules = Rules.preset(T, players=players, deal=(7, 6, 5))
        assert deal(rules, *["..."] * players).hand_sizes == (size,) * players


def test_T11_B74_the_holder_of_the_highest_double_leads_with_it() -> None:
    rules = Rules.preset(T, players=3, lead="highest-double")
    hands = "3|3 5|6 4|6 3|6 2|6", "0|0 1|1 1|6 0|6 0|5", "2|2 4|4 3|5 2|5 1|5"
    for lot in range(3):
        table = deal(rules, *hands, leader=lot)
        assert (table.leader, table.seat) == (2, 2), "whatever the lot says"
        assert table.legal == {"4|4"}
        assert table.refuses("2|2")
        assert table.refuses("3|5")


def test_T11_is_so_in_every_deal() -> None:
    games = seeded(Rules.preset(T, players=4, lead="highest-double"), 500)
    doubles = [parse_tile(f"{value}|{value}") for value in range(7)]
    held = tile_bits(games.data["hands"])[:, :, doubles]
    highest = np.where(held.any(axis=1), np.arange(7), -1).max(axis=1)
    some = highest >= 0
    rows = np.flatnonzero(some)
    assert some.mean() > 0.9
    assert held[rows, games.data["leader"][rows], highest[rows]].all()
    assert (games.action_mask()[some].sum(axis=1) == 1).all()
    assert games.action_mask()[rows, np.array(doubles)[highest[rows]]].all()


def test_T11_and_in_later_rounds() -> None:
    rules = Rules.preset(T, deal=2, lead="highest-double")
    rounds = [script(rules, "6|6 5|6", "5|5 0|6"), script(rules, "0|0 5|6", "4|6 3|5")]
    table = Table(rules, rounds).play("6|6 0|6>0 5|6>1")
    assert table.round_over == "out"
    assert table.leader == 0, "rotation would make it seat 1"
    assert table.legal == {"0|0"}


@pytest.mark.parametrize(("players", "reserve"), [(2, 2), (3, 1), (4, 1)])
def test_T12_B73_the_last_tiles_are_never_drawn(players: int, reserve: int) -> None:
    rules = Rules.preset(T, players=players, reserve=True, deal=7 if players < 4 else 6)
    assert rules.reserve == reserve
    sixes = ["0|6", "1|6", "2|6", "3|6", "4|6", "5|6", "6|6"][7 - rules.deal :]
    rest = [f"{a}|{b}" for a in range(6) for b in range(a, 6)]
    hands = [" ".join(sixes)]
    hands += [" ".join(rest[i * rules.deal : (i + 1) * rules.deal]) for i in range(players - 1)]
    drawn_first = " ".join(rest[(players - 1) * rules.deal :])
    table = deal(rules, *hands, boneyard=drawn_first)  # with four, [0|6] lies last and would fit
    front = 28 - players * rules.deal - reserve
    last = {int(tile) for tile in table.game["deck"][28 - reserve :]}
    table.play("6|6" + " draw" * front)
    assert table.boneyard == reserve
    assert table.legal == {"knock"}
    assert table.refuses("draw")
    assert not any(tile_bits(table.game["hands"])[:, tile].any() for tile in last)
    table.play("knock")
    assert table.boneyard == reserve


def test_T12_a_batch_never_draws_them() -> None:
    rules = Rules.preset(T, reserve=True)
    games = seeded(rules, 200)
    rng = np.random.default_rng(5)
    least = 99
    for _ in range(100):
        least = min(least, int(games.data["boneyard"].min()))
        play_randomly(games, rng)
    assert least == 2


def test_T13_B73_a_seat_may_draw_even_when_it_can_place() -> None:
    hands = "6|6 0|1 0|2 0|3 0|4 0|5 1|3", "0|6 1|6 1|1 2|2 2|3 3|3 3|4"
    table = deal(Rules.preset(T, draw="optional"), *hands, boneyard="4|4 2|6 5|6").play("6|6")
    placements = {"0|6>0", "0|6>1", "1|6>0", "1|6>1"}
    assert table.legal == placements | {"draw"}
    assert table.refuses("knock")
    table.play("draw")
    assert table.seat == 1
    assert table.legal == placements | {"draw"}, "it may go on drawing"
    table.play("draw")
    assert table.legal == placements | {"2|6>0", "2|6>1", "draw"}
    assert table.play("2|6>0").seat == 0
    plain = deal(Rules.preset(T), *hands).play("6|6")
    assert plain.legal == placements, "which is a variant"


def test_T13_drawing_ends_where_the_boneyard_does() -> None:
    hands = "6|6 0|1 0|2 0|3 0|4 0|5 1|3", "0|6 1|6 1|1 2|2 2|3 3|3 3|4"
    table = deal(Rules.preset(T, draw="optional"), *hands).play("6|6" + " draw" * 14)
    assert table.boneyard == 0
    assert "draw" not in table.legal
    assert "knock" not in table.legal
    table = deal(Rules.preset(T, draw="optional", reserve=True), *hands).play("6|6" + " draw" * 12)
    assert table.boneyard == 2
    assert "draw" not in table.legal
    assert table.refuses("draw")


@pytest.mark.parametrize("reserve", [0, True])
def test_T13_a_seat_that_cannot_place_must_draw_or_knock(reserve: int) -> None:
    sixes = "0|6 1|6 2|6 3|6 4|6 5|6 6|6"
    rules = Rules.preset(T, draw="optional", reserve=reserve)
    table = deal(rules, sixes, NO_SIX).play("6|6")
    for _ in range(14 - rules.reserve):
        assert table.legal == {"draw"}
        table.play("draw")
    assert table.legal == {"knock"}


@pytest.mark.parametrize("game", [T, A])
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("reserve", [0, True])
@pytest.mark.parametrize("draw", ["forced", "optional"])
def test_T13_B73_a_thousand_games_of_every_combination(
    game: str, players: int, reserve: int, draw: str
) -> None:
    rules = Rules.preset(game, players=players, draw=draw, reserve=reserve, mode="round")
    games = seeded(rules, 1000)
    rng = np.random.default_rng(6)
    for _ in range(140):
        if games.data["match_over"].all():
            break
        before = games.data.copy()
        mask, actions = play_randomly(games, rng)
        playing = before["match_over"] == 0
        assert mask[playing].any(axis=1).all(), "never stuck"
        assert (mask[:, PASS].astype(int) + mask[:, :PASS].any(axis=1) <= 1).all()
        assert not mask[before["boneyard"] <= rules.reserve, DRAW].any()
        passed = playing & (actions != DRAW) & (games.data["match_over"] == 0)
        assert np.all(games.data["seat"][passed] != before["seat"][passed]), "the turn passes"
    assert games.data["match_over"].all()
    assert not games.data["truncated"].any()
    assert set(games.data["round_over"].tolist()) <= {1, 2}
