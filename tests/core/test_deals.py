"""B65, B75: deals are fair, independent, whole, and never depend on what is played.

Tests of chance run on fixed seeds and on 100,000 deals a preset, so they do not flicker.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from fives_env import Games
from fives_env.tiles import DOUBLES
from tests.core.material import BASIC, Array, assert_uniform, restart, seeded_from, tile_bits

DEALS = 100_000
LEAST = 1e-5
"""The p-value below which a test fails; there are about a hundred of them."""

PLAIN = [
    "fives-and-threes:players=2",
    "fives-and-threes:players=3",
    "fives-and-threes:players=4",
    "threes-and-fives:players=2",
    "threes-and-fives:players=4",
    "all-fives:players=2",
    "all-fives:players=3",
    "all-fives:players=4",
]


def places_in_play(games: Games) -> int:
    """How many places of the deck come into play: all, or the hands where nothing is drawn (F2)."""
    rules = games.rules
    return rules.players * rules.deal if rules.draw == "none" else 28


def assert_independent(one: Array, two: Array) -> None:
    """Chi-square of a table of tiles, one against the other."""
    table = np.zeros((28, 28))
    np.add.at(table, (one, two), 1)
    assert chi2_contingency(table).pvalue > LEAST


def assert_as_often_alike_as_chance(one: Array, two: Array) -> None:
    """Two independent decks have the same tile in a place once in 28 times."""
    hits, tries = int((one == two).sum()), one.size
    expected = np.array([tries / 28, tries * 27 / 28])
    assert chisquare([hits, tries - hits], expected).pvalue > LEAST


@pytest.mark.parametrize("spec", PLAIN)
def test_B65_every_tile_is_as_likely_in_every_place(spec: str) -> None:
    games = seeded_from(spec, DEALS, 1)
    places = places_in_play(games)
    table = np.zeros((places, 28))
    for place in range(places):
        table[place] = np.bincount(games.data["deck"][:, place], minlength=28)
    # A row of 28 counts has 27 free ones, and so has a column of 28 where all places are there.
    share = DEALS / 28
    statistic = ((table - share) ** 2 / share).sum() * 27 / 28
    free = 27 * min(places, 27)
    assert abs(statistic - free) < 5.5 * np.sqrt(2 * free)
    for counts in table:
        assert_uniform(counts)


@pytest.mark.parametrize("spec", PLAIN)
def test_B65_every_tile_is_as_likely_in_every_hand_and_doubles_are_spread(spec: str) -> None:
    games = seeded_from(spec, DEALS, 2)
    size, players = games.rules.deal, games.rules.players
    doubles = np.bitwise_count(games.data["hands"][:, :players] & DOUBLES)
    for seat in range(players):
        bits = tile_bits(games.data["hands"][:, seat])
        assert (bits.sum(axis=1) == size).all()
        held = bits.sum(axis=0)
        statistic = ((held - DEALS * size / 28) ** 2).sum() / (DEALS * size / 28 * (1 - size / 28))
        assert abs(statistic * 27 / 28 - 27) < 5.5 * np.sqrt(54)
        spread = np.bincount(doubles[:, seat], minlength=8)
        expected = hypergeometric(size) * DEALS
        usual = expected > 5
        shares = expected[usual] * spread[usual].sum() / expected[usual].sum()
        assert chisquare(spread[usual], shares).pvalue > LEAST
        assert abs(doubles[:, seat].mean() - size / 4) < 0.03


def hypergeometric(size: int) -> Array:
    """The chance of 0..7 doubles among `size` tiles."""
    from scipy.stats import hypergeom

    return np.asarray(hypergeom(28, 7, size).pmf(np.arange(8)))


@pytest.mark.parametrize("spec", ["threes-and-fives:players=2", "fives-and-threes:players=4"])
def test_B65_places_of_one_deal_are_independent_but_for_no_tile_twice(spec: str) -> None:
    deck = seeded_from(spec, DEALS, 3).data["deck"].astype(int)
    for one, two in ((0, 1), (1, 2), (6, 7), (0, 13), (12, 13)):
        step = (deck[:, two] - deck[:, one]) % 28
        assert not (step == 0).any()
        counts = np.bincount(deck[:, one] * 27 + step - 1, minlength=28 * 27)
        assert_uniform(counts)


@pytest.mark.parametrize("spec", ["fives-and-threes:players=2", "all-fives:players=4"])
def test_B65_neighbouring_streams_are_independent(spec: str) -> None:
    """Seeds 0, 1, 2, ..., rows of one seed, rounds of one match, and matches of one row."""
    places = places_in_play(Games(spec))
    by_seed = seeded_from(spec, DEALS, np.arange(DEALS))
    by_row = seeded_from(spec, DEALS, 7).data["deck"]
    first = by_seed.data["deck"][:, :places].copy()
    by_seed.restart(np.ones(DEALS, bool))
    next_match = by_seed.data["deck"][:, :places]
    other_seed = seeded_from(spec, DEALS, 8).data["deck"]
    pairs = [
        (first[:-1], first[1:]),
        (first[:-2], first[2:]),
        (by_row[:-1, :places], by_row[1:, :places]),
        (by_row[:, :places], other_seed[:, :places]),
        (by_row[:-1, :places], other_seed[1:, :places]),
        (first, next_match),
    ]
    for one, two in pairs:
        assert_as_often_alike_as_chance(one, two)
        assert_independent(one[:, 0], two[:, 0])
        assert_independent(one[:, 3], two[:, 4])


def test_B65_rounds_of_one_match_are_independent() -> None:
    """Every seat holds one tile, so the lead ends the round."""
    spec = "all-fives:deal=1,target=9999,max_rounds=3"
    games = seeded_from(spec, DEALS, 5)
    first, leader = games.data["deck"].copy(), games.data["leader"].copy()
    games.step(games.action_mask().argmax(axis=1))
    assert (games.data["round"] == 1).all()
    second = games.data["deck"]
    assert_as_often_alike_as_chance(first, second)
    assert_independent(first[:, 0], second[:, 0])
    assert_uniform(np.bincount(leader))


@pytest.mark.parametrize("spec", BASIC)
def test_B74_the_first_lead_is_by_lot_and_the_lot_knows_nothing_of_the_deal(spec: str) -> None:
    games = seeded_from(spec, 40_000, np.arange(40_000))
    players, leader = games.rules.players, games.data["leader"].astype(int)
    assert_uniform(np.bincount(leader, minlength=players))
    table = np.zeros((28, players))
    np.add.at(table, (games.data["deck"][:, 0], leader), 1)
    assert chi2_contingency(table).pvalue > LEAST
    pairs = np.bincount(leader[:-1] * players + leader[1:], minlength=players**2)
    assert_uniform(pairs)


@pytest.mark.parametrize("spec", PLAIN)
def test_B75_a_deck_is_the_set(spec: str) -> None:
    games = seeded_from(spec, DEALS, 4)
    assert (np.sort(games.data["deck"], axis=1) == np.arange(28)).all()


@pytest.mark.parametrize(
    "spec", ["fives-and-threes:max_pip=3", "all-fives:max_pip=2", "threes-and-fives:max_pip=5"]
)
def test_B75_a_smaller_set_is_dealt_as_fairly(spec: str) -> None:
    games = seeded_from(spec, 50_000, 4)
    tiles = np.flatnonzero(tile_bits(games.params["set"])[0])
    decks = games.data["deck"][:, : len(tiles)]
    assert (np.sort(decks, axis=1) == tiles).all()
    for place in range(min(places_in_play(games), len(tiles))):
        assert_uniform(np.bincount(decks[:, place], minlength=28)[tiles])


def decks_by_round(spec: str, policy: str, rounds: int) -> tuple[Array, Array, Array]:
    """What was dealt: decks [B, rounds, 28], rounds seen [B, rounds], the next match's deck."""
    games = seeded_from(spec, 100, 6)
    decks, seen = np.zeros((100, rounds, 28), np.uint8), np.zeros((100, rounds), bool)
    for _ in range(200):
        at = games.data["round"].astype(int)
        rows = np.flatnonzero((at < rounds) & (games.data["match_over"] == 0))
        decks[rows, at[rows]] = games.data["deck"][rows]
        seen[rows, at[rows]] = True
        live = np.flatnonzero(games.data["match_over"] == 0)
        if not len(live):
            break
        part = games[live]
        part.rollout(1, policy, seed=17)
        games.data[live] = part.data
    games.restart(np.ones(100, bool))
    return decks, seen, games.data["deck"].copy()


@pytest.mark.parametrize("spec", BASIC)
def test_B65_deals_are_the_same_whatever_was_played(spec: str) -> None:
    decks, seen, after = decks_by_round(spec, "random", 4)
    others, seen_there, after_there = decks_by_round(spec, "greedy", 4)
    both = seen & seen_there
    assert both[:, 1].sum() > 80
    assert (decks[both] == others[both]).all()
    assert (after == after_there).all(), "the next match too"


def test_B65_a_deal_does_not_depend_on_what_others_in_the_batch_do() -> None:
    games = seeded_from("all-fives", 50, 3)
    alone = games[7]
    games.rollout(500, "greedy")
    restart(games)
    again = seeded_from("all-fives", 50, 3)
    assert again[7].data == alone.data


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "8", None])
def test_a_number_of_games_or_threads_that_is_none_is_refused(wrong: Any) -> None:
    for name in ("num_games", "threads"):
        with pytest.raises(ValueError, match=name):
            Games("all-fives", **{name: wrong})
