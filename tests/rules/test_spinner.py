"""S1 to S5: the spinner, in Threes and Fives and in All Fives."""

from itertools import permutations

import numpy as np
import pytest

from fives_env import Rules
from tests.rules.positions import A, T, deal, play_randomly, seeded

SPINNERS = pytest.mark.parametrize("preset", [T, A])


@SPINNERS
def test_S1_a_led_double_is_the_spinner(preset: str) -> None:
    table = deal(Rules.preset(preset, deal=2), "4|4 0|0", "2|4 1|1").play("4|4")
    assert int(table.left["spinner"]) == 4


@SPINNERS
def test_S1_a_double_joined_to_an_arm_is_the_spinner(preset: str) -> None:
    rules = Rules.preset(preset, deal=4)
    table = deal(rules, "1|4 4|5 0|0 4|6", "4|4 1|1 2|2 2|4").play("1|4")
    assert int(table.left["spinner"]) == 7, "none yet"
    table.play("4|4>1")
    assert int(table.left["spinner"]) == 4
    table.play("4|5>1 1|1>0")
    assert int(table.left["spinner"]) == 4, "a later double is none"
    assert table.arms == (1, 5, 4, 4)


@SPINNERS
def test_S1_B67_a_second_double_never_is(preset: str) -> None:
    rules = Rules.preset(preset, deal=5)
    table = deal(rules, "5|5 0|6 2|6 0|1 0|2", "0|5 5|6 6|6 1|1 1|2")
    table.play("5|5 0|5>0 0|6>0 6|6>0 2|6>0 5|6>1")
    # [6|6] was joined on both sides before [5|5] was: it opens nothing.
    assert table.arms == (2, 6, 5, 5)


@SPINNERS
def test_S1_B66_a_double_blank_is_a_spinner_like_any_other(preset: str) -> None:
    rules = Rules.preset(preset, deal=4)
    table = deal(rules, "0|0 0|2 0|5 1|1", "0|1 0|3 2|2 0|4").play("0|0")
    assert table.total == 0
    assert int(table.left["spinner"]) == 0
    table.play("0|1>0 0|2>1")
    assert table.arms == (1, 2, 0, 0)
    assert {"0|3>2", "0|4>3"} <= table.legal
    assert table.play("0|3>2").total == 1 + 2 + 3


@SPINNERS
def test_S2_the_first_two_tiles_go_on_the_two_sides(preset: str) -> None:
    rules = Rules.preset(preset, deal=4)
    table = deal(rules, "5|5 5|6 1|5 0|0", "0|5 4|5 0|1 2|2").play("5|5")
    assert table.legal == {"0|5>0", "0|5>1", "4|5>0", "4|5>1"}
    table.play("0|5>1")
    assert table.arms == (5, 0, None, None)
    assert table.legal == {"5|6>0", "1|5>0", "0|0>1"}, "the other side, and no third end"


@SPINNERS
@pytest.mark.parametrize("arm", [0, 1])
def test_S2_B67_for_a_joined_double_its_arm_is_the_first_side(preset: str, arm: int) -> None:
    rules = Rules.preset(preset, deal=4)
    lead = ("3|6", "2|3")[arm]
    table = deal(rules, f"{lead} 3|4 3|5 0|1", "3|3 1|3 6|6 2|2").play(f"{lead} 3|3>{arm}")
    assert table.arms[arm] == 3
    assert table.arms[2:] == (None, None)
    assert {"3|4>2", "3|5>3"}.isdisjoint(table.legal)
    assert f"3|4>{arm}" in table.legal
    table.play(f"3|4>{arm}")
    assert table.arms[arm] == 4
    assert table.arms[2:] == (3, 3), "one more tile joins both sides"
    assert {"1|3>2", "1|3>3"} <= table.legal


@SPINNERS
def test_S2_the_other_arm_of_a_joined_double_does_not_matter(preset: str) -> None:
    rules = Rules.preset(preset, deal=4)
    table = deal(rules, "2|3 2|4 4|6 3|5", "3|3 1|3 0|6 2|2").play("2|3 3|3>1 2|4>0")
    assert table.arms == (4, 3, None, None)
    assert table.total == 4 + 6
    assert table.legal == {"1|3>1"}


@SPINNERS
def test_S3_B67_the_two_other_ends_open_only_then(preset: str) -> None:
    rules = Rules.preset(preset, deal=5)
    hands = "5|5 5|6 1|5 0|0 2|2", "0|5 4|5 1|1 0|1 3|5"
    table = deal(rules, *hands).play("5|5 0|5>0")
    for arm in (2, 3):
        assert table.refuses(f"5|6>{arm}")
    table.play("5|6>1")
    assert table.arms == (0, 6, 5, 5)
    assert {f"{tile}>{arm}" for tile in ("4|5", "3|5") for arm in (2, 3)} <= table.legal
    table.play("4|5>3")
    assert table.arms == (0, 6, 5, 4), "either of the two may be taken first"
    assert "1|5>2" in table.legal
    assert "1|5>3" not in table.legal
    table.play("1|5>2")
    assert table.arms == (0, 6, 1, 4)
    assert table.play("1|1>2").arms == (0, 6, 1, 4), "and they grow like any arm"


@SPINNERS
def test_S3_a_full_spinner_has_no_fifth_end(preset: str) -> None:
    rules = Rules.preset(preset, deal=5)
    hands = "5|5 5|6 1|5 2|5 2|2", "0|5 4|5 1|1 0|1 3|5"
    table = deal(rules, *hands).play("5|5 0|5>0 5|6>1 4|5>2 1|5>3 1|1>3")
    assert table.arms == (0, 6, 4, 1)
    assert not any(move.startswith("2|5") for move in table.legal), "no 5 is open any more"
    for arm in range(4):
        assert table.refuses(f"2|5>{arm}")


@SPINNERS
def test_S4_B67_it_counts_while_it_ends_the_main_line_and_then_never_again(preset: str) -> None:
    rules = Rules.preset(preset, deal=4)
    table = deal(rules, "5|5 5|6 1|5 0|0", "0|5 4|5 1|1 0|1")
    totals = []
    for move in ["5|5", "0|5>0", "5|6>1", "4|5>2", "1|5>3"]:
        table.play(move)
        totals.append(table.total)
    assert totals == [10, 10 + 0, 0 + 6, 0 + 6 + 4, 0 + 6 + 4 + 1]


def test_S4_B67_the_points_of_that_round_in_all_fives() -> None:
    table = deal(Rules.preset(A, deal=4), "5|5 5|6 1|5 0|0", "0|5 4|5 1|1 0|1")
    points = []
    for move in ["5|5", "0|5>0", "5|6>1", "4|5>2", "1|5>3"]:
        table.play(move)
        points.append(table.points)
    assert points == [10, 10, 0, 10, 0]


@SPINNERS
def test_S4_a_joined_spinner_counts_until_it_is_covered(preset: str) -> None:
    rules = Rules.preset(preset, deal=4)
    table = deal(rules, "1|4 4|5 0|0 2|4", "4|4 1|1 2|2 3|4").play("1|4 4|4>1")
    assert table.total == 1 + 8
    assert table.play("4|5>1").total == 1 + 5
    assert table.play("3|4>2").total == 1 + 5 + 3


@SPINNERS
def test_S5_B67_open_third_and_fourth_ends_count_nothing_extended_ones_do(preset: str) -> None:
    rules = Rules.preset(preset, deal=5)
    table = deal(rules, "3|3 3|5 6|6 0|2 1|1", "3|4 3|6 0|4 2|2 2|3")
    table.play("3|3 3|4>0 3|5>1")
    assert (table.total, table.counts) == (4 + 5, (4, 5, 0, 0)), "two arms that count"
    table.play("3|6>2")
    assert (table.total, table.counts) == (4 + 5 + 6, (4, 5, 6, 0)), "three"
    table.play("6|6>2")
    assert table.counts == (4, 5, 12, 0), "a double at its end counts both halves"
    table.play("2|3>3")
    assert table.counts == (4, 5, 12, 2), "four"
    assert table.total == 4 + 5 + 12 + 2


@SPINNERS
def test_S5_the_order_of_the_arms_does_not_matter(preset: str) -> None:
    rules = Rules.preset(preset, deal=3)
    totals = set()
    for first, second in permutations([2, 3]):
        table = deal(rules, "3|3 3|5 3|6", "3|4 2|3 0|0")
        table.play(f"3|3 3|4>0 3|5>1 2|3>{first} 3|6>{second}")
        totals.add(table.total)
    assert totals == {4 + 5 + 2 + 6}


@SPINNERS
def test_S5_in_every_position_the_arms_are_two_or_four_and_the_counts_add_up(preset: str) -> None:
    games = seeded(Rules.preset(preset, players=3), 300)
    rng = np.random.default_rng(1)
    kinds = set()
    for _ in range(80):
        data = games.data
        there = data["arms"] < 7
        assert (there[:, 0] == there[:, 1]).all()
        assert (there[:, 2] == there[:, 3]).all()
        assert (there[:, 0] | ~there[:, 2]).all()
        assert (data["counts"].sum(axis=1) == data["total"]).all()
        assert (data["counts"][~there] == 0).all()
        kinds |= set(there.sum(axis=1).tolist())
        played = data["played"][there[:, 2]]
        spinner = data["spinner"][there[:, 2]]
        tiles = np.array([0, 7, 13, 18, 22, 25, 27])[spinner]
        assert (played >> tiles & 1).all(), "four ends need a spinner on the table"
        play_randomly(games, rng)
    assert kinds == {0, 2, 4}
