"""F1 to F13: Fives and Threes."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from fives_env import Rules
from tests.rules.positions import (
    DRAW,
    SIXES,
    F,
    Table,
    deal,
    play_randomly,
    script,
    seeded,
)

PARTNERS = Rules.preset(F, players=4, deal=2)
FIRST_OUT = "6|6 knock 5|6>0 knock 1|6>1"
"""Seat 0 goes out in five moves: 4 points for the lead, 2 for the last tile, and nothing more."""


def worth(total: int) -> int:
    """F5 in plain words."""
    return (total // 3 if total % 3 == 0 else 0) + (total // 5 if total % 5 == 0 else 0)


def go_out(start: int, tile: str) -> Table:
    """Seat 0 stands at `start` and goes out with its only tile."""
    return deal(Rules.preset(F, deal=1), tile, "2|2", scores=[start, 7]).play(tile)


def test_F1_seven_for_two_five_for_three_or_four() -> None:
    for players, size in [(2, 7), (3, 5), (4, 5)]:
        table = deal(Rules.preset(F, players=players), *["..."] * players)
        assert table.hand_sizes == (size,) * players


def test_F1_four_play_as_two_fixed_partnerships() -> None:
    rules = Rules.preset(F, players=4)
    assert rules.partners
    assert rules.num_sides == 2
    table = deal(rules, *["6|6 ...", "5|6 ...", "4|6 ...", "..."], leader=2)
    assert len(table.scores) == 2
    assert table.play("4|6").scores == (2, 0), "T is 10: seat 2 scores for the side of seat 0"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_F2_nothing_is_drawn_and_the_undealt_tiles_stay_out(players: int) -> None:
    rules = Rules.preset(F, players=players)
    games = seeded(rules, 200)
    rng = np.random.default_rng(1)
    for _ in range(60):
        mask, _ = play_randomly(games, rng)
        assert not mask[:, DRAW].any()
        assert (games.data["boneyard"] == 28 - players * rules.deal).all()


def test_F2_a_seat_that_cannot_place_knocks() -> None:
    table = deal(Rules.preset(F, deal=2), "6|6 0|6", "1|1 1|2").play("6|6")
    assert table.seat == 1
    assert table.legal == {"knock"}
    assert table.refuses("draw")
    assert table.play("knock").hand(1) == "1|1 1|2"


def test_F2_the_undealt_tiles_are_unseen() -> None:
    rules = Rules.preset(F)
    hands = "6|6 0|6 1|6 2|6 3|6 4|6 5|6", "0|0 0|1 0|2 0|3 0|4 0|5 1|1"
    one = deal(rules, *hands, boneyard="2|2 3|3")
    other = deal(rules, *hands, boneyard="5|5 1|3 4|4")
    for seat in (0, 1):
        assert one.games.view(seat=seat).tobytes() == other.games.view(seat=seat).tobytes()


@pytest.mark.parametrize("draw", ["forced", "optional"])
def test_F2_drawing_is_not_an_option(draw: str) -> None:
    with pytest.raises(ValueError, match="draw"):
        Rules.preset(F, draw=draw)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_F3_B74_every_seat_is_equally_likely_to_lead_first(players: int) -> None:
    rules = Rules.preset(F, players=players)
    by_seeds = seeded(rules, 4000, seed=np.arange(4000)).data["leader"]
    by_rows = seeded(rules, 4000, seed=9).data["leader"]
    for leaders in (by_seeds, by_rows):
        counts = np.bincount(leaders, minlength=players)
        assert len(counts) == players
        assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize(("players", "partners"), [(2, False), (3, False), (4, False), (4, True)])
def test_F3_B74_later_rounds_are_led_in_rotation_whatever_the_result(
    players: int, partners: bool
) -> None:
    games = seeded(Rules.preset(F, players=players, partners=partners), 200)
    rng = np.random.default_rng(2)
    ends = set()
    for _ in range(120):
        before = games.data.copy()
        play_randomly(games, rng)
        after = games.data
        new = after["round"] > before["round"]
        assert (
            after["leader"] == np.where(new, (before["leader"] + 1) % players, before["leader"])
        ).all()
        ends |= set(after["round_over"][new].tolist())
    assert ends == {1, 2}, "rounds ended both ways"


def test_F3_the_lot_counts_in_the_first_round_only() -> None:
    rules = Rules.preset(F, players=3, deal=1)
    rounds = [script(rules, "0|0", "1|1", "2|2", leader=2) for _ in range(4)]
    table = Table(rules, rounds)
    leaders = []
    for _ in range(4):
        leaders.append(table.leader)
        table.play(sorted(table.legal)[0])
    assert leaders == [2, 0, 1, 2]


def test_F3_B03_seat_nought_can_lead_and_any_tile_may_be_led() -> None:
    for leader in (0, 1):
        hands = "0|0 1|2 2|5 3|3 4|6 5|6 6|6", "0|1 0|2 0|3 0|4 0|5 0|6 1|1"
        table = deal(Rules.preset(F), *hands, leader=leader)
        assert (table.seat, table.leader) == (leader, leader)
        assert table.legal == set(hands[leader].split())


def test_F4_two_open_ends_always() -> None:
    games = seeded(Rules.preset(F, players=4), 200)
    rng = np.random.default_rng(3)
    for _ in range(60):
        data = games.data
        assert (data["arms"][:, 2:] == 7).all()
        assert (data["counts"][:, 2:] == 0).all()
        assert ((data["arms"][:, :2] < 7).all(axis=1) == (data["played"] > 0)).all()
        play_randomly(games, rng)


def test_F4_a_double_has_no_branches() -> None:
    rules = Rules.preset(F, deal=4)
    table = deal(rules, "2|2 2|4 3|4 0|2", "2|3 2|5 2|6 4|4").play("2|2 2|3>0 2|4>1")
    assert table.arms == (3, 4, None, None)
    assert table.legal == {"4|4>1"}
    for arm in (0, 1, 2, 3):
        assert table.refuses(f"2|5>{arm}")
    with pytest.raises(ValueError, match="spinner"):
        Rules.preset(F, spinner="first-double")


@pytest.mark.parametrize(("low", "high"), list(combinations(range(7), 2)))
def test_F5_every_total_that_two_ends_can_make(low: int, high: int) -> None:
    hands = f"{low}|{high} {high}|{high} ...", f"{low}|{low} ..."
    table = deal(Rules.preset(F, deal=3), *hands)
    for move, total in [
        (f"{low}|{high}", low + high),
        (f"{low}|{low}>0", 2 * low + high),
        (f"{high}|{high}>1", 2 * low + 2 * high),
    ]:
        table.play(move)
        assert (table.total, table.points) == (total, worth(total))


def test_F5_fifteen_is_both() -> None:
    table = deal(Rules.preset(F, deal=3), "3|6 6|6 0|0", "0|1 1|1 2|2").play("3|6 knock 6|6>1")
    assert (table.total, table.points) == (15, 5 + 3)
    assert worth(15) == 8
    assert [worth(t) for t in (5, 6, 9, 10, 12, 20)] == [1, 2, 3, 2, 4, 4]


@pytest.mark.parametrize("players", [2, 3])
def test_F6_B70_the_first_empty_hand_ends_the_round(players: int) -> None:
    hands = ["6|6 1|6", "0|6 0|0", "2|2 3|3"][:players]
    table = deal(Rules.preset(F, players=players, deal=2), *hands).play("6|6 0|6>0")
    if players == 3:
        table.play("knock")
    table.play("1|6>1")
    assert table.round_over == "out"
    assert table.hand_sizes == (0, 1, 2)[:players]
    assert int(table.game["round"]) == 1
    assert table.leader == table.seat == 1
    assert table.settlement == (0,) * players, "nothing else is paid"


def test_F7_B70_the_round_goes_on_after_a_first_partner_is_out() -> None:
    table = deal(PARTNERS, "6|6 1|6", "1|3 0|2", "5|6 4|4", "2|3 0|0").play(FIRST_OUT)
    assert table.round_over is None
    assert table.hand_sizes == (0, 2, 1, 2)
    seats = []
    for move in ["1|3>1", "knock", "2|3>1", "0|2>1", "knock"]:
        seats.append(table.seat)
        table.play(move)
    assert seats == [1, 2, 3, 1, 2], "seat 0 is skipped"
    assert table.round_over is None
    assert table.hand_sizes == (0, 0, 1, 1), "each side has one out"
    assert table.play("0|0>1").round_over == "out"
    assert table.hand_sizes == (0, 0, 1, 0), "seats 1 and 3 are out; seat 2 never was"
    assert table.scores == (4 + 2, 1 + (1 + 1))
    assert table.leader == 1


def test_F7_two_empty_seats_in_a_row_are_skipped() -> None:
    hands = "6|6 1|6", "2|6 0|0", "5|5 2|3", "3|3 4|4"
    table = deal(PARTNERS, *hands).play("6|6 2|6>0 2|3>0 3|3>0 1|6>1")
    assert table.hand_sizes == (0, 1, 1, 1)
    assert table.round_over == "blocked"
    hands = "6|6 1|6", "2|6 0|1", "5|5 2|3", "3|3 0|0"
    table = deal(PARTNERS, *hands).play("6|6 2|6>0 2|3>0 3|3>0 1|6>1 0|1>1")
    assert table.hand_sizes == (0, 0, 1, 1)
    assert table.seat == 2
    assert table.play("knock").seat == 3, "and then 0 and 1 together"
    assert table.play("0|0>1").round_over == "out"
    assert table.hand_sizes == (0, 0, 1, 0)


def test_F7_the_partner_who_is_second_out_ends_it() -> None:
    table = deal(PARTNERS, "6|6 1|6", "2|3 0|2", "5|6 1|4", "3|3 0|0").play(FIRST_OUT)
    assert table.play("knock 1|4>1").round_over == "out"
    assert table.hand_sizes == (0, 2, 0, 2)
    assert (table.total, table.points) == (9, 3 + 1)


def test_F8_B70_empty_hands_do_not_keep_a_round_open() -> None:
    table = deal(PARTNERS, "6|6 1|6", "2|3 0|2", "5|6 4|4", "3|3 0|0").play(FIRST_OUT)
    assert table.round_over == "blocked"
    assert table.hand_sizes == (0, 2, 1, 2)
    assert table.scores == (4 + 2, 0), "at once, and without a point for seat 0"


def test_F8_and_they_do_not_close_it() -> None:
    table = deal(PARTNERS, "6|6 1|6", "2|3 0|2", "5|6 4|4", "3|3 1|1").play(FIRST_OUT)
    assert table.round_over is None
    assert table.play("knock knock").legal == {"1|1>1"}


@pytest.mark.parametrize(
    ("tile", "points"),
    [("0|0", 1), ("0|1", 1), ("0|4", 1), ("1|4", 2), ("3|6", 4), ("5|5", 3), ("6|6", 5)],
)
def test_F9_going_out_is_worth_one_point(tile: str, points: int) -> None:
    table = go_out(0, tile)
    assert (table.points, table.scores) == (points, (points, 7))


def test_F9_B69_the_first_partner_out_gets_the_placement_alone() -> None:
    hands = "3|4 3|5", "4|5 5|6", "5|5 1|1", "2|2 0|0"
    table = deal(PARTNERS, *hands).play("3|4 4|5>1 5|5>1 knock 3|5>0")
    assert table.hand_sizes == (0, 1, 1, 2)
    assert table.round_over is None
    assert (table.total, table.points) == (15, 8), "not 9"
    table.play("5|6>0")
    assert (table.hand_sizes, table.points) == ((0, 0, 1, 2), 0), "and so for the other side"


def test_F10_B69_a_blocked_round_gives_nothing_to_anyone() -> None:
    for players, partners in [(2, False), (4, False), (4, True)]:
        rules = Rules.preset(F, players=players, partners=partners, deal=2)
        hands = ["6|6 5|5", "0|0 0|1", "1|1 1|2", "2|2 0|2"][:players]
        table = deal(rules, *hands).play("6|6")
        assert table.round_over == "blocked"
        assert sum(table.scores) == table.points == 4, "the placement itself still counts"
        assert not any(table.settlement)


def test_F10_tiles_left_in_hands_never_score() -> None:
    table = deal(
        Rules.preset(F, deal=14), "0|6 1|6 2|3 4|6 5|6 ...", "0|1 2|6 3|6 4|5 6|6 ..."
    ).play(SIXES)
    assert table.round_over == "blocked"
    assert table.settlement == (0, 0)
    # End totals 6 7 12 8 9 | 12 10 11 12 18 by turns: 6, 12, 9, 10, 12 for seat 0.
    assert table.scores == (2 + 4 + 3 + 2 + 4, 0 + 0 + 4 + 0 + 6)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_F10_no_round_is_ever_settled(players: int) -> None:
    games = seeded(Rules.preset(F, players=players), 200)
    rng = np.random.default_rng(4)
    for _ in range(100):
        before = games.data["scores"].sum(axis=1)
        play_randomly(games, rng)
        assert not games.data["settlement"].any()
        gained = games.data["scores"].sum(axis=1) - before
        assert (
            gained == np.where(games.data["match_over"] == 1, gained, games.data["points"])
        ).all()


def test_F11_B69_placement_and_going_out_are_one_event() -> None:
    assert go_out(58, "1|4").scores == (60, 7)
    separate = go_out(60, "1|4")
    assert separate.refused
    assert separate.scores == (60, 7), "not 61 by the placement alone"
    separate = go_out(60, "0|6")
    assert separate.refused
    assert separate.scores == (60, 7), "not 61 by the going out alone"
    assert go_out(59, "1|4").winner == 0, "1 + 1"
    assert go_out(60, "0|4").winner == 0, "0 + 1"


def test_F11_for_the_second_partner_too() -> None:
    hands = "6|6 1|6", "2|3 0|2", "5|6 1|4", "3|3 0|0"
    moves = f"{FIRST_OUT} knock 1|4>1"  # 4 + 2, then 3 + 1
    table = deal(PARTNERS, *hands, scores=[52, 0]).play(moves)
    assert table.refused
    assert table.scores == (58, 0), "not 61 by the placement alone"
    table = deal(PARTNERS, *hands, scores=[51, 0]).play(moves)
    assert table.scores == (61, 0)
    assert table.winner == 0


@pytest.mark.parametrize(
    ("start", "end", "refused"), [(51, 54, True), (49, 61, False), (50, 53, True), (0, 12, False)]
)
def test_F12_an_event_past_61_is_refused_whole(start: int, end: int, refused: bool) -> None:
    hands = "3|6 6|6", "0|0 1|1"
    table = deal(Rules.preset(F, deal=2), *hands, scores=[start, 5]).play("3|6 knock 6|6>1")
    assert table.total == 15, "8, and 1 for going out"
    assert (table.scores, table.refused) == ((end, 5), refused)
    assert table.points == (0 if refused else 9)
    assert table.hand_sizes == (0, 2)
    assert table.round_over == "out", "the tile stays played"
    assert table.match_over == (end == 61)


def test_F12_the_tile_of_a_refused_event_stays_and_play_goes_on() -> None:
    table = deal(Rules.preset(F), "5|5 ...", "0|5 ...", scores=[60, 60]).play("5|5")
    assert table.refused
    assert (table.points, table.scores) == (0, (60, 60))
    assert table.arms == (5, 5, None, None)
    assert table.hand_sizes == (6, 7)
    assert table.seat == 1
    assert not table.match_over
    assert table.play("0|5>0").scores == (60, 60), "10 again: refused for the other side as well"


def test_F12_each_side_is_measured_by_its_own_score() -> None:
    hands = "0|0 1|1", "5|5 0|2", "2|2 3|3", "4|4 0|1"
    for scores, after in [([60, 0], (60, 2)), ([0, 60], (0, 60)), ([0, 59], (0, 61))]:
        table = deal(PARTNERS, *hands, scores=scores, leader=1).play("5|5")
        assert table.scores == after
        assert table.refused == (after[1] == 60)


def test_F12_an_event_of_nothing_is_not_refused() -> None:
    table = deal(Rules.preset(F), "0|1 ...", "...", scores=[60, 60]).play("0|1")
    assert not table.refused
    assert table.points == 0


def test_F13_reaching_61_wins_at_once() -> None:
    table = deal(Rules.preset(F), "5|5 ...", "0|5 ...", scores=[59, 60]).play("5|5")
    assert table.match_over
    assert table.winner == 0
    assert not table.truncated
    assert table.scores == (61, 60)
    assert table.hand_sizes == (6, 7)
    assert table.round_over is None
    assert int(table.game["round"]) == 0, "the round is not finished"
    assert table.legal == set()
    for action in range(114):
        with pytest.raises(ValueError, match="match"):
            table.games.step(np.array([action]))


def test_F13_a_partner_may_win_it_for_the_side() -> None:
    hands = "0|0 1|1", "0|2 0|3", "5|5 3|3", "4|4 0|1"
    table = deal(PARTNERS, *hands, scores=[59, 60], leader=2).play("5|5")
    assert table.winner == 0
    assert table.scores == (61, 60)
