"""C1 to C9: what all three games share."""

import numpy as np
import pytest
from scipy import stats

from fives_env import Rules
from fives_env.tiles import parse_tile, tile_name
from tests.rules.positions import (
    DRAW,
    PASS,
    PRESETS,
    SIXES,
    A,
    F,
    T,
    deal,
    may_place,
    of_the_mover,
    play_randomly,
    seeded,
    tile_bits,
)

TABLES = [(preset, players) for preset in PRESETS for players in (2, 3, 4)]
DRAW_RULES = [
    Rules.preset(preset, players=players, draw=draw, reserve=reserve)
    for preset in (T, A)
    for players in (2, 3, 4)
    for draw in ("forced", "optional")
    for reserve in (0, True, 5)
]
NO_DRAW_RULES = [Rules.preset(F, players=players) for players in (2, 3, 4)]
THROUGHOUT = [*DRAW_RULES, *NO_DRAW_RULES, Rules.preset(T, players=4, deal=7)]


def by_spec(rules: Rules) -> str:
    return rules.spec


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_C1_each_seat_is_dealt_the_same_number_and_counts_are_public(
    preset: str, players: int
) -> None:
    rules = Rules.preset(preset, players=players)
    games = seeded(rules, 200)
    held = tile_bits(games.data["hands"])
    assert (held.sum(axis=2)[:, :players] == rules.deal).all()
    assert (held.sum(axis=1) <= 1).all(), "a tile in two hands"
    assert not held[:, players:].any()
    for seat in range(players):
        view = games.view(seat=seat)
        assert (view["hand_sizes"][:, :players] == rules.deal).all()
        assert (view["hand_sizes"][:, players:] == 0).all()
        assert (view["boneyard"] == 28 - players * rules.deal).all()


def test_C1_a_hand_is_visible_to_its_own_seat_only() -> None:
    rules = Rules.preset(A, players=3)
    own = "0|0 0|1 0|2 0|3 0|4 0|5 0|6"
    one = deal(rules, own, "1|1 ...", "2|2 ...", boneyard="6|6 5|6")
    other = deal(rules, own, "6|6 5|5 ...", "3|6 4|4 ...", boneyard="1|1 2|2")
    assert one.games.view(seat=0).tobytes() == other.games.view(seat=0).tobytes()
    for table in (one, other):
        for seat in range(3):
            assert table.games.view(seat=seat)["hand"] == table.game["hands"][seat]


@pytest.mark.parametrize("preset", PRESETS)
def test_C1_the_shuffle_gives_every_tile_to_every_seat_alike(preset: str) -> None:
    num_deals = 20_000
    rules = Rules.preset(preset, players=3)
    held = tile_bits(seeded(rules, num_deals, seed=5).data["hands"])
    share = rules.deal / 28
    for seat in range(3):
        dealt = held[:, seat].sum(axis=0)
        # The 28 counts have a fixed sum: scaled like this they are chi-square with 27 degrees.
        spread = (
            ((dealt - num_deals * share) ** 2).sum() / (num_deals * share * (1 - share)) * 27 / 28
        )
        assert stats.chi2.sf(spread, 27) > 1e-4


@pytest.mark.parametrize("rules", THROUGHOUT, ids=by_spec)
def test_C1_B75_hands_layout_and_boneyard_are_always_the_28_tiles(rules: Rules) -> None:
    games = seeded(rules, 32)
    rng = np.random.default_rng(1)
    for _ in range(60):
        data = games.data
        held = tile_bits(data["hands"])
        places = held.sum(axis=1) + tile_bits(data["played"])
        assert places.max() == 1, "a tile in two places"
        assert (places.sum(axis=1) + data["boneyard"] == 28).all()
        assert (held.sum(axis=2) == data["hand_sizes"]).all()
        play_randomly(games, rng)


def test_C2_a_tile_joins_by_an_equal_half_and_turns_out_the_other() -> None:
    rules = Rules.preset(F, deal=3)
    table = deal(rules, "2|5 5|3 1|1", "2|0 6|4 6|5").play("2|5")
    assert table.arms == (2, 5, None, None)
    assert table.legal == {"0|2>0", "5|6>1"}, "6|4 fits neither, 0|2 not the 5, 5|6 not the 2"
    table.play("2|0>0")
    assert table.arms == (0, 5, None, None), "the higher half joined, the lower is open"
    table.play("5|3>1")
    assert table.arms == (0, 3, None, None), "and here again the lower"
    low = deal(rules, "2|5 5|3 1|1", "2|0 6|4 6|5").play("2|5 5|6>1")
    assert low.arms == (2, 6, None, None), "the lower half joined, the higher is open"


def test_C2_a_tile_that_fits_both_ends_may_go_to_either() -> None:
    rules = Rules.preset(F, deal=3)
    hands = "2|3 2|5 5|5", "3|5 1|2 2|2"
    table = deal(rules, *hands).play("2|3 3|5>1")
    assert table.legal == {"2|5>0", "2|5>1", "5|5>1"}
    assert table.play("2|5>0").arms == (5, 5, None, None)
    assert deal(rules, *hands).play("2|3 3|5>1 2|5>1").arms == (2, 2, None, None)


def test_C2_B75_a_tile_is_the_same_whichever_half_is_named_first() -> None:
    for low in range(7):
        for high in range(low, 7):
            tile = parse_tile(f"{low}|{high}")
            assert parse_tile(f"{high}|{low}") == tile
            assert tile_name(tile) == f"{low}|{high}"
    assert len({tile_name(tile) for tile in range(28)}) == 28


def test_C2_a_tile_that_fits_no_end_is_refused() -> None:
    table = deal(Rules.preset(F), "6|6 0|6 ...", "5|6 1|2 ...").play("6|6")
    assert table.legal == {"5|6>0", "5|6>1"}
    assert table.refuses("1|2>0")
    assert table.refuses("1|2>1")
    assert table.refuses("5|6>2"), "no such arm"
    assert table.refuses("0|6>0"), "fits, but is in another hand"


@pytest.mark.parametrize(
    "rules",
    [
        Rules.preset(F, deal=3),
        Rules.preset(T, deal=3, spinner="none"),
        Rules.preset(A, deal=3),
    ],
    ids=by_spec,
)
def test_C3_a_double_at_an_end_counts_both_halves_until_it_is_covered(rules: Rules) -> None:
    table = deal(rules, "1|4 4|6 0|0", "4|4 1|1 0|2").play("1|4 4|4>1")
    assert (table.total, table.counts[:2]) == (1 + 8, (1, 8))
    table.play("4|6>1")
    assert (table.total, table.counts[:2]) == (1 + 6, (1, 6))
    table.play("1|1>0")
    assert table.total == 2 + 6


def test_C3_a_second_double_counts_both_halves_and_is_no_spinner() -> None:
    rules = Rules.preset(A, deal=4)
    table = deal(rules, "1|1 5|5 2|3 2|4", "1|5 5|6 0|0 0|2").play("1|1 1|5>0 5|5>0")
    assert table.counts == (10, 2, 0, 0)
    table.play("5|6>0")
    assert table.counts == (6, 2, 0, 0)
    assert table.arms == (6, 1, None, None)


@pytest.mark.parametrize("preset", PRESETS)
def test_C4_an_opening_double_counts_once_then_by_its_free_side_then_not(preset: str) -> None:
    rules = Rules.preset(preset, deal=4)
    table = deal(rules, "3|3 3|4 4|6 0|0", "3|5 0|2 0|4 3|6").play("3|3")
    assert table.total == sum(table.counts) == 6, "2v once, not once a side"
    assert {"3|5>0", "3|5>1", "3|6>0", "3|6>1"} == table.legal, "both its sides are open"
    table.play("3|5>1")
    assert (table.total, table.arms[:2]) == (6 + 5, (3, 5)), "still the end of the other side"
    table.play("3|4>0")
    assert table.total == 4 + 5, "joined on both sides it counts nothing"


@pytest.mark.parametrize("preset", PRESETS)
def test_C4_it_goes_on_counting_while_the_other_side_grows(preset: str) -> None:
    rules = Rules.preset(preset, deal=3)
    table = deal(rules, "5|5 0|1 4|4", "0|5 1|2 2|6").play("5|5 0|5>0 0|1>0")
    assert table.total == 10 + 1
    table.play("1|2>0")
    assert (table.total, table.arms) == (10 + 2, (2, 5, None, None))


def test_C4_B66_the_first_double_in_all_fives() -> None:
    table = deal(Rules.preset(A), "5|5 ...", "0|5 ...").play("5|5")
    assert (table.total, table.points) == (10, 10), "not 5 and not 20"
    table.play("5|0>0")
    assert (table.total, table.points) == (10, 10)


@pytest.mark.parametrize(
    ("double", "total", "points"),
    [("6|6", 12, 4), ("3|3", 6, 2), ("5|5", 10, 2), ("0|0", 0, 0), ("1|1", 2, 0), ("4|4", 8, 0)],
)
def test_C4_B66_the_first_double_in_fives_and_threes(double: str, total: int, points: int) -> None:
    table = deal(Rules.preset(F), f"{double} ...", "...").play(double)
    assert (table.total, table.points, table.scores) == (total, points, (points, 0))


def test_C5_every_placement_is_counted_and_a_blank_counts_nothing() -> None:
    rules = Rules.preset(F, deal=4)
    table = deal(rules, "0|5 0|3 1|6 2|2", "0|0 5|6 1|1 1|2").play("0|5")
    assert (table.total, table.points) == (5, 1), "the opening is counted"
    assert "0|0>0" in table.legal, "a blank end is open all the same"
    table.play("0|0>0")
    assert (table.total, table.points) == (5, 1), "counted again, though the total is the same"
    table.play("0|3>0 5|6>1")
    assert (table.total, table.points, table.scores) == (9, 3, (1 + 0, 1 + 3))


@pytest.mark.parametrize("preset", PRESETS)
def test_C5_B03_a_total_of_nothing_scores_nothing(preset: str) -> None:
    rules = Rules.preset(preset, deal=3)
    table = deal(rules, "0|0 2|2 2|3", "0|1 1|2 3|3").play("0|0")
    assert (table.total, table.points, table.scores) == (0, 0, (0, 0))
    assert table.legal == {"0|1>0", "0|1>1"}
    assert table.arms == (0, 0, None, None)


@pytest.mark.parametrize("rules", THROUGHOUT, ids=by_spec)
def test_C6_turns_go_clockwise_from_the_leader(rules: Rules) -> None:
    games = seeded(rules, 64, seed=4)
    rng = np.random.default_rng(4)
    for _ in range(60):
        assert (games.data["seat"] == games.data["leader"])[games.data["played"] == 0].all()
        mover = games.data["seat"].astype(int)
        _, actions = play_randomly(games, rng)
        after = games.data
        goes_on = (after["round_over"] == 0) & (after["match_over"] == 0)
        seat = np.where(actions == DRAW, mover, (mover + 1) % rules.players)
        for _ in range(rules.players):  # F7: a hand that is empty is skipped
            empty = after["hand_sizes"][np.arange(64), seat] == 0
            seat = np.where(empty, (seat + 1) % rules.players, seat)
        assert (after["seat"] == seat)[goes_on].all()


def test_C6_a_knock_passes_the_turn_and_a_draw_keeps_it() -> None:
    rules = Rules.preset(F, players=3, deal=2)
    table = deal(rules, "6|6 5|5", "0|0 0|1", "2|6 0|2").play("6|6")
    assert table.seat == 1
    assert table.legal == {"knock"}
    assert table.play("knock").seat == 2
    rules = Rules.preset(T, players=3, deal=2)
    table = deal(rules, "6|6 5|5", "0|0 0|1", "2|6 0|2", boneyard="1|1 1|6").play("6|6 draw")
    assert table.seat == 1
    assert table.play("draw").seat == 1
    assert table.play("1|6>0").seat == 2


@pytest.mark.parametrize("rules", THROUGHOUT, ids=by_spec)
def test_C7_B73_placements_draws_and_knocks_are_legal_when_they_should_be(rules: Rules) -> None:
    games = seeded(rules, 64)
    rng = np.random.default_rng(2)
    knocks = 0
    for _ in range(80):
        playing = games.data["match_over"] == 0
        data = games.data[playing]
        mask = play_randomly(games, rng)[0][playing]
        fits = of_the_mover(data, may_place(data))
        can = fits.any(axis=(1, 2))
        drawable = (data["boneyard"] > rules.reserve) & (rules.draw != "none")
        assert (mask[:, :DRAW] == fits.reshape(-1, DRAW)).all()
        assert (mask[:, DRAW] == drawable & (~can | (rules.draw == "optional"))).all()
        assert (mask[:, PASS] == ~can & ~drawable).all(), "never a free knock"
        knocks += int(mask[:, PASS].sum())
    assert knocks, "the case came up"


def test_C7_a_knock_is_refused_beside_a_placement_or_a_draw() -> None:
    table = deal(Rules.preset(F), "6|6 ...", "0|6 ...").play("6|6")
    assert table.refuses("knock")
    for draw in ("forced", "optional"):
        table = deal(Rules.preset(T, draw=draw), "6|6 ...", "0|6 ...").play("6|6")
        assert table.refuses("knock")
        stuck = "0|0 0|1 0|2 0|3 0|4 0|5 1|1"
        table = deal(Rules.preset(T, draw=draw), "6|6 ...", stuck).play("6|6")
        assert table.legal == {"draw"}
        assert table.refuses("knock")


@pytest.mark.parametrize("preset", PRESETS)
def test_C8_B71_all_sevens_sixes_laid_ends_the_round_at_once(preset: str) -> None:
    rules = Rules.preset(preset, deal=14)
    table = deal(rules, "0|6 1|6 2|3 4|6 5|6 ...", "0|1 2|6 3|6 4|5 6|6 ...")
    table.play(SIXES.rsplit(maxsplit=1)[0])
    assert table.round_over is None
    table.play("6|6>0")
    assert (table.arms[:2], table.total) == ((6, 6), 12 + 6)
    assert table.round_over == "blocked"
    assert table.hand_sizes == (9, 9)
    assert int(table.left["num_moves"]) == 10, "the knocks are not played out"


def test_C8_a_round_is_not_blocked_while_one_hand_can_place() -> None:
    rules = Rules.preset(F, players=4, deal=2)
    open_ = deal(rules, "6|6 5|5", "0|0 0|1", "1|1 1|2", "2|2 0|6").play("6|6")
    assert open_.round_over is None
    assert open_.legal == {"knock"}
    assert open_.play("knock knock").legal == {"0|6>0", "0|6>1"}
    shut = deal(rules, "6|6 5|5", "0|0 0|1", "1|1 1|2", "2|2 0|2").play("6|6")
    assert shut.round_over == "blocked"
    assert shut.hand_sizes == (1, 2, 2, 2)


def test_C8_the_hand_of_the_seat_that_moved_counts_too() -> None:
    rules = Rules.preset(F, deal=2)
    table = deal(rules, "6|6 6|1", "0|0 0|1").play("6|6")
    assert table.round_over is None
    assert table.play("knock").legal == {"1|6>0", "1|6>1"}


@pytest.mark.parametrize(("preset", "reserve"), [(T, 0), (T, 1), (A, 0), (A, 2)])
def test_C8_B71_tiles_that_may_be_drawn_keep_the_round_open(preset: str, reserve: int) -> None:
    rules = Rules.preset(preset, deal=13, reserve=reserve)
    last = "2|2 5|5"
    table = deal(rules, "0|6 1|6 2|3 4|6 5|6 ...", "0|1 2|6 3|6 4|5 6|6 ...", boneyard=last).play(
        SIXES
    )
    for drawn in range(2 - reserve):
        assert table.round_over is None
        assert table.boneyard == 2 - drawn
        assert table.seat == 0
        assert table.legal == {"draw"}
        table.play("draw")
    assert table.round_over == "blocked", "at once after the draw, or the placement, that blocks it"
    assert (table.boneyard, table.hand_sizes) == (reserve, (8 + 2 - reserve, 8))


@pytest.mark.parametrize("rules", THROUGHOUT, ids=by_spec)
def test_C8_a_blocked_round_is_never_played_on(rules: Rules) -> None:
    games = seeded(rules, 64, seed=3)
    rng = np.random.default_rng(3)
    for _ in range(60):
        play_randomly(games, rng)
        data = games.data
        drawable = (data["boneyard"] > rules.reserve) & (rules.draw != "none")
        assert (may_place(data).any(axis=(1, 2, 3)) | drawable | (data["match_over"] == 1)).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_C9_partners_share_one_score_and_others_have_their_own(preset: str) -> None:
    hands = "1|4 6|6", "4|4 6|5", "4|5 0|0", "1|0 0|2"
    moves = "1|4 4|4>1 4|5>1 1|0>0"  # end totals 5, 9, 6 and 5
    shared = deal(Rules.preset(preset, players=4, partners=True, deal=2), *hands).play(moves)
    alone = deal(Rules.preset(preset, players=4, partners=False, deal=2), *hands).play(moves)
    worth = {F: (1, 3, 2, 1), T: (5, 9, 6, 5), A: (5, 0, 0, 5)}[preset]
    assert alone.scores == worth
    assert shared.scores == (worth[0] + worth[2], worth[1] + worth[3])
    assert [int(score) for score in shared.game["scores"]][2:] == [0, 0]
    rules = shared.rules
    assert [rules.side_of(seat) for seat in range(4)] == [0, 1, 0, 1]
    assert rules.num_sides == 2
    assert [alone.rules.side_of(seat) for seat in range(4)] == [0, 1, 2, 3]


def test_C9_B38_seats_two_and_three_score_like_the_others() -> None:
    rules = Rules.preset(T, players=4, partners=False, deal=2)
    hands = "0|0 0|1", "0|2 0|3", "5|5 1|1", "5|0 1|2"
    table = deal(rules, *hands, leader=2).play("5|5 5|0>0")
    assert table.scores == (0, 0, 10, 10)
