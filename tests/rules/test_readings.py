"""D1 to D17: our readings where the sources are silent or say two things."""

import numpy as np
import pytest

from fives_env import Rules
from tests.rules.positions import (
    KEPT,
    A,
    F,
    T,
    Table,
    blocked,
    deal,
    play_randomly,
    script,
    seeded,
)

SHORT = "5|5 5|6", "0|5 1|1"
SHORT_PLAY = "5|5 0|5>0 5|6>1"
"""Threes and Fives: side 0 gets 10, side 1 gets 10, side 0 goes out with 6 and 2 pips: 18 to 10."""


@pytest.mark.parametrize(("players", "partners"), [(2, False), (3, False), (4, False), (4, True)])
def test_D1_threes_and_fives_is_led_in_rotation(players: int, partners: bool) -> None:
    rules = Rules.preset(T, players=players, partners=partners, target=10_000)
    games = seeded(rules, 200)
    rng = np.random.default_rng(1)
    rounds = 0
    for _ in range(120):
        before = games.data.copy()
        play_randomly(games, rng)
        new = games.data["round"] > before["round"]
        expected = np.where(new, (before["leader"] + 1) % players, before["leader"])
        assert (games.data["leader"] == expected).all()
        rounds += int(new.sum())
    assert rounds > 300


def test_D2_the_target_is_tested_the_moment_points_are_scored() -> None:
    table = deal(Rules.preset(T, deal=2), *SHORT, scores=[241, 250]).play("5|5")
    assert table.match_over
    assert table.winner == 0
    assert table.scores == (251, 250)
    assert table.round_over is None
    assert table.settlement == (0, 0)
    table = deal(Rules.preset(T, deal=2), *SHORT, scores=[240, 241]).play("5|5 0|5>0")
    assert table.winner == 1, "in mid-round, too"


def test_D2_round_end_finishes_and_settles_the_round() -> None:
    rules = Rules.preset(T, deal=2, target_check="round-end")
    table = deal(rules, *SHORT, scores=[241, 0]).play("5|5")
    assert table.scores == (251, 0)
    assert not table.match_over
    assert table.winner is None
    table.play("0|5>0 5|6>1")
    assert table.match_over
    assert table.winner == 0
    assert not table.truncated
    assert table.scores == (259, 10)
    assert table.settlement == (2, 0)


@pytest.mark.parametrize(
    ("start", "end", "winner"),
    [
        ([241, 250], (259, 260), 1),  # side 0 was there first, side 1 is higher
        ([243, 250], (261, 260), 0),
        ([232, 241], (250, 251), 1),
        ([232, 240], (250, 250), None),
        ([242, 250], (260, 260), None),  # a tie plays on
    ],
)
def test_D2_round_end_the_highest_wins_and_a_tie_plays_on(
    start: list[int], end: tuple[int, int], winner: int | None
) -> None:
    rules = Rules.preset(T, deal=2, target_check="round-end")
    table = deal(rules, *SHORT, scores=start).play(SHORT_PLAY)
    assert table.scores == end
    assert table.round_over == "out"
    assert (table.match_over, table.winner) == (winner is not None, winner)
    assert int(table.game["round"]) == (1 if winner is None else 0)


def test_D2_round_end_a_later_round_breaks_the_tie() -> None:
    rules = Rules.preset(T, deal=2, target_check="round-end")
    rounds = [script(rules, *SHORT), script(rules, *reversed(SHORT))]
    table = Table(rules, rounds, [242, 250]).play(f"{SHORT_PLAY} {SHORT_PLAY}")
    assert table.scores == (270, 278)
    assert table.winner == 1


def test_D2_round_end_points_may_be_lost_again_at_the_settlement() -> None:
    hands = "5|5 5|6", "0|5 1|2"
    table = deal(Rules.preset(A, deal=2), *hands, scores=[0, 240]).play("5|5 0|5>0")
    assert table.winner == 1
    assert table.scores == (10, 250)
    rules = Rules.preset(A, deal=2, target_check="round-end")
    table = deal(rules, *hands, scores=[0, 240]).play("5|5 0|5>0")
    assert not table.match_over
    assert table.scores == (10, 250)
    table.play("5|6>1")
    assert not table.match_over
    assert table.scores == (10, 245)


@pytest.mark.parametrize(
    ("start", "end", "winner"),
    [
        ([230, 245, 245], (252, 255, 255), None),  # the tied are not the only ones at the target
        ([230, 245, 246], (252, 255, 256), 2),
        ([235, 245, 245], (257, 255, 255), 0),  # a tie below the highest is no matter
    ],
)
def test_D2_round_end_with_three_sides(
    start: list[int], end: tuple[int, ...], winner: int | None
) -> None:
    rules = Rules.preset(T, players=3, deal=2, target_check="round-end")
    table = deal(rules, "5|5 5|6", "0|5 1|1", "0|0 2|2", scores=start)
    table.play("5|5 0|5>0 0|0>0 5|6>1")  # 10 each, then 6 and 2 + 4 pips for side 0
    assert table.scores == end
    assert table.winner == winner


TIED_ACROSS = ["5|5 4|4 3|5 3|4", "0|3 1|2 1|4 2|2", "0|0 0|4 0|5 1|1 1|3", "0|2 1|5 2|4 2|5 3|3"]
"""33, 15, 15 and 27 pips."""
TIED_PARTNERS = ["0|2 0|3 0|5 2|5", "0|4 1|3 3|3 1|4", "0|0 1|1 1|2 1|5 2|4", "2|2 3|4 3|5 4|4 5|5"]
"""17, 19, 17 and 37 pips."""


def test_D3_a_tie_for_the_fewest_across_the_sides_scores_nothing() -> None:
    for partners in (True, False):
        rules = Rules.preset(T, players=4, partners=partners, deal=7)
        assert not any(blocked(rules, TIED_ACROSS).settlement)


def test_D3_a_tie_within_one_side_wins_the_round() -> None:
    rules = Rules.preset(T, players=4, partners=True, deal=7)
    assert blocked(rules, TIED_PARTNERS).settlement == (19 + 37, 0)
    rules = Rules.preset(T, players=4, partners=False, deal=7)
    assert blocked(rules, TIED_PARTNERS).settlement == (0, 0, 0, 0), "two sides, if not partners"


@pytest.mark.parametrize(
    ("hands", "leader", "lead"),
    [
        (("4|5 0|1", "3|6 0|2"), 1, "3|6"),  # both 9 pips: the higher half
        (("3|6 0|1", "4|5 0|2"), 0, "3|6"),
        (("5|6 0|1", "3|6 4|6"), 0, "5|6"),
        (("0|6 1|2", "2|5 3|4"), 1, "2|5"),  # 7 pips come before 6
        (("0|0 0|1", "5|6 4|6"), 0, "0|0"),  # any double comes before
    ],
)
def test_D4_with_no_double_the_heaviest_tile_leads(
    hands: tuple[str, str], leader: int, lead: str
) -> None:
    rules = Rules.preset(T, deal=2, lead="highest-double")
    for lot in (0, 1):
        table = deal(rules, *hands, leader=lot)
        assert (table.leader, table.legal) == (leader, {lead})


def test_D4_in_every_round() -> None:
    rules = Rules.preset(T, deal=2, lead="highest-double")
    rounds = [script(rules, *SHORT), script(rules, "3|6 0|1", "4|5 0|2")]
    table = Table(rules, rounds).play(SHORT_PLAY)
    assert (table.leader, table.legal) == (0, {"3|6"})


def test_D5_threes_and_fives_has_the_spinner_and_none_is_the_variant() -> None:
    assert Rules.preset(T).spinner == "first-double"
    hands = "3|3 3|5 6|6", "3|4 2|3 0|0"
    moves = "3|3 3|4>0 3|5>1"
    assert deal(Rules.preset(T, deal=3), *hands).play(moves).arms == (4, 5, 3, 3)
    line = deal(Rules.preset(T, deal=3, spinner="none"), *hands).play(moves)
    assert line.arms == (4, 5, None, None)
    assert line.legal == {"draw"}
    assert line.total == 9, "what counts is the same"


def test_D6_a_match_that_reaches_max_rounds_is_truncated() -> None:
    rules = Rules.preset(F, deal=1, max_rounds=3)
    rounds = [script(rules, "1|4", "1|1")] * 3
    table = Table(rules, rounds).play("1|4")
    assert not table.match_over
    table.play("1|1")
    assert not table.match_over
    assert table.scores == (2, 1)
    table.play("1|4")
    assert table.match_over
    assert table.truncated
    assert table.winner is None
    assert table.scores == (4, 1)
    assert table.legal == set()
    assert int(table.game["round"]) == 2, "no fourth round is dealt"


def test_D6_B42_a_winner_in_the_last_round_is_no_truncation() -> None:
    for start, wins in [(59, True), (58, False), (60, False)]:
        rules = Rules.preset(F, deal=1, max_rounds=1)
        table = deal(rules, "1|4", "1|1", scores=[start, 0]).play("1|4")
        assert table.match_over
        assert table.truncated == (not wins)
        assert table.winner == (0 if wins else None)
    rules = Rules.preset(T, deal=1, max_rounds=1)
    table = deal(rules, "1|4", "6|6", scores=[234, 0]).play("1|4")
    assert table.winner == 0
    assert not table.truncated, "by the settlement"


def test_D6_a_tie_at_the_target_in_the_last_round() -> None:
    rules = Rules.preset(T, deal=2, target_check="round-end", max_rounds=1)
    table = deal(rules, *SHORT, scores=[242, 250]).play(SHORT_PLAY)
    assert table.truncated
    assert table.winner is None


def test_D6_B43_every_match_ends() -> None:
    games = seeded(Rules.preset(F, max_rounds=3, target=1000), 200)
    rng = np.random.default_rng(2)
    for _ in range(120):
        play_randomly(games, rng)
    assert games.data["match_over"].all()
    assert games.data["truncated"].all()
    assert (games.data["round"] == 2).all()
    assert (games.data["winner"] == -1).all()


def test_D7_one_round_is_the_whole_game() -> None:
    table = deal(Rules.preset(F, deal=1, mode="round"), "1|4", "1|1").play("1|4")
    assert table.match_over
    assert not table.truncated
    assert table.winner is None
    assert table.scores == (2, 0)
    assert table.round_over == "out"
    assert table.legal == set()
    table = deal(Rules.preset(F, deal=2, mode="round"), "6|6 5|5", "0|0 0|1").play("6|6")
    assert table.match_over
    assert not table.truncated
    assert table.round_over == "blocked"
    rules = Rules.preset(F, deal=1, mode="round", max_rounds=1)
    assert not deal(rules, "1|4", "1|1").play("1|4").truncated


def test_D7_it_is_settled() -> None:
    table = deal(Rules.preset(T, deal=1, mode="round"), "1|4", "6|6").play("1|4")
    assert table.match_over
    assert table.scores == (5 + 12, 0)
    table = deal(Rules.preset(A, deal=1, mode="round"), "1|4", "6|6").play("1|4")
    assert table.match_over
    assert table.scores == (5, -10)


def test_D7_B03_the_target_is_off_unless_scores_are_given() -> None:
    rules = Rules.preset(F, deal=2, target=2, mode="round")
    hands = "5|5 0|5", "1|5 1|1"
    table = deal(rules, *hands).play("5|5")
    assert table.scores == (2, 0)
    assert not table.match_over
    table.play("1|5>0 0|5>1")
    assert table.match_over
    assert table.winner is None
    table = deal(rules, *hands, scores=[0, 0]).play("5|5")
    assert table.match_over
    assert table.winner == 0, "scores of nought are scores"
    over = Rules.preset(F, deal=2, target=1, mode="round")
    assert deal(over, *hands).play("5|5").scores == (2, 0), "and nothing is refused"
    table = deal(over, *hands, scores=[0, 0]).play("5|5")
    assert table.refused
    assert table.scores == (0, 0)
    assert not table.match_over


def test_D7_with_scores_given_the_target_wins_or_the_round_ends_it() -> None:
    for start, winner in [(233, None), (234, 0)]:
        rules = Rules.preset(T, deal=1, mode="round")
        table = deal(rules, "1|4", "6|6", scores=[start, 0]).play("1|4")
        assert table.match_over
        assert not table.truncated
        assert table.winner == winner
    rules = Rules.preset(T, deal=2, mode="round", target_check="round-end")
    table = deal(rules, *SHORT, scores=[242, 250]).play(SHORT_PLAY)
    assert table.match_over
    assert not table.truncated
    assert table.winner is None, "a tie"
    table = deal(rules, *SHORT, scores=[241, 250]).play(SHORT_PLAY)
    assert table.match_over
    assert table.winner == 1


def test_D8_reserved_tiles_stay_hidden() -> None:
    rules = Rules.preset(T, reserve=True)
    hands = "0|6 1|6 2|6 3|6 4|6 5|6 6|6", "0|0 0|1 0|2 0|3 0|4 0|5 1|1"
    front = ["1|2", "1|3", "1|4", "1|5", "2|2", "2|3", "2|4", "2|5", "3|3", "3|4", "3|5", "4|4"]
    moves = "6|6" + " draw" * 12
    one = deal(rules, *hands, boneyard=" ".join([*front, "4|5 5|5"])).play(moves)
    two = deal(rules, *hands, boneyard=" ".join([*front, "5|5 4|5"])).play(moves)
    assert one.boneyard == 2
    for seat in (0, 1):
        assert one.games.view(seat=seat).tobytes() == two.games.view(seat=seat).tobytes()
    front[0] = "4|5"  # a reserved tile changes places with one that seat 1 holds
    three = deal(rules, *hands, boneyard=" ".join([*front, "1|2 5|5"])).play(moves)
    assert one.games.view(seat=0).tobytes() == three.games.view(seat=0).tobytes()


@pytest.mark.parametrize("options", [{"reserve": True}, {"draw": "optional"}])
def test_D8_they_change_only_what_may_be_drawn(options: dict[str, object]) -> None:
    hands = "3|3 3|5 6|6 1|1", "3|4 2|3 0|0 3|6"
    plain = deal(Rules.preset(T, deal=4), *hands)
    other = deal(Rules.preset(T, deal=4, **options), *hands)
    for move in ["3|3", "3|4>0", "3|5>1", "3|6>2", "6|6>2", "2|3>3"]:
        assert plain.legal == other.legal - {"draw"}
        plain.play(move)
        other.play(move)
        for name in ("total", "arms", "points", "scores", "hand_sizes", "boneyard", "seat"):
            assert getattr(plain, name) == getattr(other, name)


def test_D8_reserved_tiles_are_in_nobodys_hand_at_the_settlement() -> None:
    for reserve in (0, True):
        rules = Rules.preset(T, deal=1, reserve=reserve)
        assert deal(rules, "1|4", "0|1").play("1|4").settlement == (1, 0)


def test_D9_four_each_for_themselves() -> None:
    rules = Rules.preset(F, players=4, partners=False, deal=2)
    hands = "6|6 1|6", "1|3 0|2", "5|6 4|4", "2|3 0|0"
    table = deal(rules, *hands).play("6|6 knock 5|6>0 knock 1|6>1")
    assert table.round_over == "out"
    assert table.hand_sizes == (0, 2, 1, 2)
    assert table.points == 2 + 1
    assert table.scores == (4 + 3, 0, 0, 0)
    assert Rules.preset(F, players=4, partners=False).deal == 5


def test_D10_the_worked_examples_hold_and_not_one_point_each_time() -> None:
    table = deal(Rules.preset(T), "5|5 ...", "...").play("5|5")
    assert table.points == 10
    table = deal(Rules.preset(T), "6|6 ...", "...").play("6|6")
    assert table.points == 12


def test_D11_the_target_is_an_option_of_every_preset() -> None:
    for preset in (F, T, A):
        for players in (2, 3, 4):
            assert Rules.preset(preset, players=players, target=100).target == 100
    for start, end, winner in [(98, 100, 0), (99, 99, None), (97, 99, None)]:
        table = deal(Rules.preset(F, target=100), "5|5 ...", "...", scores=[start, 0]).play("5|5")
        assert (table.scores[0], table.winner) == (end, winner), "exactly, in Fives and Threes"
    for preset in (T, A):
        for start, winner in [(89, None), (90, 0), (99, 0)]:
            rules = Rules.preset(preset, target=100)
            table = deal(rules, "5|5 ...", "...", scores=[start, 0]).play("5|5")
            assert (table.scores[0], table.winner) == (start + 10, winner)


def test_D12_the_leader_may_draw_first() -> None:
    hands = "0|1 0|2", "1|1 1|2"
    table = deal(Rules.preset(T, deal=2, draw="optional"), *hands, boneyard="5|5 6|6")
    assert table.legal == {"0|1", "0|2", "draw"}
    assert table.refuses("knock")
    assert table.play("draw").legal == {"0|1", "0|2", "5|5", "draw"}
    assert table.seat == table.leader == 0
    assert table.play("5|5").points == 10
    assert deal(Rules.preset(T, deal=2), *hands).legal == {"0|1", "0|2"}, "only with that option"


def test_D12_the_tile_to_lead_is_fixed_at_the_deal() -> None:
    rules = Rules.preset(T, deal=2, draw="optional", lead="highest-double")
    table = deal(rules, "2|2 0|2", "1|1 1|2", boneyard="5|5 6|6")
    for _ in range(3):
        assert table.seat == 0
        assert table.legal == {"2|2", "draw"}
        table.play("draw")
    assert table.refuses("6|6")
    assert table.play("2|2").total == 4


def test_D13_a_winning_placement_ends_everything() -> None:
    table = deal(Rules.preset(F, deal=2), "6|6 5|5", "0|0 0|1", scores=[57, 0]).play("6|6")
    assert table.winner == 0
    assert table.round_over is None, "no block is tested"
    for preset, start in [(T, 246), (A, 245)]:
        table = deal(Rules.preset(preset, deal=1), "1|4", "6|6", scores=[start, 9]).play("1|4")
        assert table.winner == 0
        assert table.settlement == (0, 0), "nothing is settled"
        assert table.scores == (start + 5, 9)
        assert table.round_over == "out", "but that tile ended the round"
    table = deal(Rules.preset(F, deal=1), "1|4", "6|6", scores=[59, 0]).play("1|4")
    assert table.winner == 0
    assert table.round_over == "out"


def test_D13_a_first_partner_going_out_has_not_ended_the_round() -> None:
    rules = Rules.preset(F, players=4, deal=1)
    table = deal(rules, "5|5", "0|2", "1|1", "3|3", scores=[59, 0]).play("5|5")
    assert table.winner == 0
    assert table.hand_sizes == (0, 1, 1, 1)
    assert table.round_over is None


def test_D14_an_exact_target_at_the_end_of_the_round_is_refused() -> None:
    with pytest.raises(ValueError, match=r"target_check.*exact"):
        Rules.preset(F, target_check="round-end")
    assert Rules.preset(F, target_check="immediate") == Rules.preset(F)


def test_D15_partners_by_default_in_two_of_the_games() -> None:
    partners = {preset: Rules.preset(preset, players=4).partners for preset in (F, T, A)}
    assert partners == {F: True, T: False, A: True}
    assert not any(Rules.preset(preset, players=3).partners for preset in (F, T, A))


def test_D16_a_double_stops_counting_once_joined_on_both_sides() -> None:
    table = deal(Rules.preset(F, deal=3), "5|5 5|6 2|2", "0|5 0|1 6|6").play("5|5 0|5>0")
    assert (table.total, table.points) == (10 + 0, 2), "joined on one side it still counts"
    assert table.play("5|6>1").total == 0 + 6


def test_D17_each_partners_hand_is_rounded_by_itself() -> None:
    rules = Rules.preset(A, players=4, deal=1)
    table = deal(rules, "0|5", "3|4", "0|2", "1|6").play("0|5")
    assert table.settlement == (0, -10), "7 and 7 are 5 and 5; 14 would be 15"
    table = deal(rules, "0|5", "1|2", "0|3", "0|4").play("0|5")
    assert table.settlement == (-5, -10), "3 and 4 are 5 and 5; 7 would be 5"
    assert blocked(Rules.preset(A, players=4, deal=7), KEPT).settlement == (-35 - 15, -15 - 25)
