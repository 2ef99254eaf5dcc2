"""B49: sampled worlds agree with the view, uniformly, and never depend on the real hidden tiles."""

from collections import Counter
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

from fives_env import Games, belief, encode
from fives_env.actions import DRAW, PASS
from fives_env.records import BLOCKED, GAME, MAX_MOVES, VIEW
from fives_env.tiles import tiles_in, tiles_up_to
from tests.core.material import (
    ALL,
    BASIC,
    Array,
    assert_uniform,
    mixed,
    play_randomly,
    restart,
    seats_of,
    seeded_from,
    shuffle_hidden,
    tile_bits,
)
from tests.rules.positions import HALVES, T, deal

WORLDS = 20


def sampled(
    spec: str, num_games: int = 60, steps: int = 60, worlds: int = WORLDS
) -> tuple[Games, Array, Array, Games]:
    """Games, a viewer of each, its view, and `worlds` games for each view, in a row."""
    games = mixed(spec, num_games, steps)
    viewers = seats_of(games, np.random.default_rng(0))
    views = games.view(seat=viewers)
    sample = belief.sample(views, np.arange(num_games), worlds)
    assert sample.shape == (num_games, worlds)
    assert sample.dtype == GAME
    batch = Games(games.rules, num_games * worlds)
    batch.data[:] = sample.ravel()
    return games, viewers, views, batch


@pytest.mark.parametrize("spec", ALL)
def test_B49_a_world_has_every_tile_once_and_hands_of_the_public_sizes(spec: str) -> None:
    games, viewers, views, worlds = sampled(spec)
    data, rules = worlds.data, worlds.rules
    hands = tile_bits(data["hands"])
    assert (hands.sum(axis=2) == data["hand_sizes"]).all()
    assert (data["hand_sizes"] == np.repeat(games.data["hand_sizes"], WORLDS, axis=0)).all()
    own = data["hands"][np.arange(len(worlds)), np.repeat(viewers, WORLDS)]
    assert (own == np.repeat(views["hand"], WORLDS)).all()
    behind = np.arange(28) >= data["next_draw"][:, None]
    boneyard = np.zeros((len(worlds), 28), int)
    row, place = np.nonzero(behind & (np.arange(28) < rules.num_tiles))
    np.add.at(boneyard, (row, data["deck"][row, place]), 1)
    assert (boneyard.sum(axis=1) == data["boneyard"]).all()
    count = hands.sum(axis=1) + tile_bits(data["played"]) + boneyard
    assert (count == np.isin(np.arange(28), tiles_up_to(rules.max_pip))).all()
    decks = np.sort(data["deck"][:, : rules.num_tiles], axis=1)
    assert (decks == tiles_up_to(rules.max_pip)).all()


@pytest.mark.parametrize("spec", ALL)
def test_B49_no_hand_holds_a_value_that_its_seat_is_known_to_lack(spec: str) -> None:
    games, viewers, _, worlds = sampled(spec)
    lacking = worlds.data["absent"][:, :, None] >> np.arange(7) & 1 == 1
    others = np.arange(4) != np.repeat(viewers, WORLDS)[:, None]
    holds = tile_bits(worlds.data["hands"])[:, :, None, :] & HALVES[:7]
    assert not (holds.any(axis=3) & lacking & others[:, :, None]).any()
    if games.rules.draw != "optional":
        assert (games.data["absent"] > 0).any(), "no seat is known to lack anything here"


@pytest.mark.parametrize("spec", ALL)
def test_B49_a_world_looks_from_the_viewers_seat_exactly_like_the_view(spec: str) -> None:
    games, viewers, views, worlds = sampled(spec)
    looks = worlds.view(seat=np.repeat(viewers, WORLDS))
    assert looks.tobytes() == np.repeat(views, WORLDS).tobytes()
    assert encode(looks).tobytes() == encode(np.repeat(views, WORLDS)).tobytes()
    to_move = np.repeat(games.data["seat"] == viewers, WORLDS)
    masks = np.repeat(games.action_mask(), WORLDS, axis=0)
    assert (worlds.action_mask()[to_move] == masks[to_move]).all()


@pytest.mark.parametrize("spec", ALL)
def test_B49_a_world_can_be_played_to_the_end_of_the_round(spec: str) -> None:
    *_, worlds = sampled(spec, 40, worlds=5)
    rng, left = np.random.default_rng(1), np.ones(200, bool)
    for _ in range(150):
        masks = worlds.action_mask()
        assert masks[left].any(axis=1).all(), "B13: a seat to move has a legal action"
        choice = np.argmax(rng.random(masks.shape) * masks, axis=1)
        worlds.step(np.where(left, choice, -1))
        left &= (worlds.data["round_over"] == 0) & (worlds.data["match_over"] == 0)
        if not left.any():
            break
        assert worlds.data["num_moves"].max() < MAX_MOVES, "a round that does not end"
    assert not left.any()


@pytest.mark.parametrize("spec", [spec for spec in BASIC if "fives-and-threes" in spec])
def test_B49_a_world_in_which_nobody_can_place_ends_at_the_next_knock(spec: str) -> None:
    """A view does not say who can place, so such worlds agree; they must not go on for ever."""
    games = mixed(spec, 200, 60)
    worlds = Games(spec, 4000)
    worlds.data[:] = belief.sample(games.view(), np.arange(200), 20).ravel()
    hands = tile_bits(np.bitwise_or.reduce(worlds.data["hands"], axis=1))
    fits = HALVES[worlds.data["arms"]].any(axis=1) | (worlds.data["played"] == 0)[:, None]
    stuck = np.flatnonzero(~(hands & fits).any(axis=1))
    if len(stuck):
        ended = worlds[stuck]
        ended.step(np.full(len(stuck), PASS))
        assert (ended.data["round_over"] == BLOCKED).all()


@pytest.mark.parametrize("spec", ALL)
def test_B49_the_real_hidden_tiles_do_not_matter(spec: str) -> None:
    games, viewers, _, worlds = sampled(spec)
    rng = np.random.default_rng(5)
    for _ in range(3):
        paired = shuffle_hidden(games, viewers, rng)
        again = belief.sample(paired.view(seat=viewers), np.arange(60), WORLDS)
        assert again.tobytes() == worlds.data.tobytes()


def test_B49_the_real_world_is_no_more_frequent_than_chance() -> None:
    """Two tiles for each of two others from eight unseen: one in 420 is the truth."""
    games = seeded_from("threes-and-fives:max_pip=3,deal=2,players=3", 1)
    views, truth = games.view(seat=0), games.data["hands"][0, 1:3]
    drawn = belief.sample(views, [1], 50_000)[0]["hands"][:, 1:3]
    hits = int((drawn == truth).all(axis=1).sum())
    ways = len(consistent_deals(games, 0))
    assert ways == 420
    assert abs(hits - 50_000 / ways) < 5 * np.sqrt(50_000 / ways)


def consistent_deals(games: Games, viewer: int) -> list[tuple[int, ...]]:
    """Every deal of the unseen tiles to the other seats that agrees with a view: masks by seat."""
    view, rules = games.view(seat=viewer)[0], games.rules
    seen = set(tiles_in(view["hand"])) | set(tiles_in(view["played"]))
    deals: list[tuple[tuple[int, ...], list[int]]] = [
        ((), [tile for tile in tiles_up_to(rules.max_pip) if tile not in seen])
    ]
    for seat in range(rules.players):
        if seat == viewer:
            deals = [((*hands, int(view["hand"])), left) for hands, left in deals]
            continue
        lacking = [value for value in range(7) if view["absent"][seat] >> value & 1]
        deals = [
            ((*hands, sum(1 << tile for tile in held)), [t for t in left if t not in held])
            for hands, left in deals
            for held in combinations(left, int(view["hand_sizes"][seat]))
            if not HALVES[lacking][:, list(held)].any()
        ]
    return [hands for hands, _ in deals]


SMALL = [
    "fives-and-threes:players=2,max_pip=3,deal=4",
    "fives-and-threes:players=3,max_pip=3,deal=3",
    "fives-and-threes:players=4,max_pip=3,deal=2",
    "threes-and-fives:players=2,max_pip=3,deal=3",
    "threes-and-fives:players=2,max_pip=3,deal=2,reserve=2",
    "all-fives:players=3,max_pip=3,deal=2",
    "all-fives:players=4,max_pip=3,deal=2",
]


def small_positions(spec: str, wanted: int) -> list[tuple[Games, int]]:
    """Positions of a small set with from 2 to 400 deals that agree, those with knowledge first."""
    games, rng = seeded_from(spec, 40, 8), np.random.default_rng(8)
    found = []
    for _ in range(12):
        restart(games)
        play_randomly(games, rng)
        for row in rng.permutation(40)[:4].tolist():
            game, viewer = games[row], int(rng.integers(0, games.rules.players))
            num_deals = len(consistent_deals(game, viewer))
            if game.data["num_moves"][0] and 2 <= num_deals <= 400:
                others = np.arange(4) != viewer
                known = np.bitwise_count(game.data["absent"][0][others]).sum()
                found.append((-int(known), len(found), game, viewer))
    return [(game, viewer) for *_, game, viewer in sorted(found, key=lambda f: f[:2])[:wanted]]


@pytest.mark.parametrize("spec", SMALL)
def test_B49_worlds_are_uniform_over_the_deals_that_agree(spec: str) -> None:
    positions = small_positions(spec, 6)
    assert len(positions) == 6
    assert any(game.data["absent"].any() for game, _ in positions)
    for number, (game, viewer) in enumerate(positions):
        deals = consistent_deals(game, viewer)
        worlds = belief.sample(game.view(seat=viewer), [number], 60 * len(deals))[0]
        counts = Counter(map(tuple, worlds["hands"][:, : game.rules.players].tolist()))
        assert set(counts) <= set(deals)
        assert_uniform(np.array([counts[hands] for hands in deals]))


def test_B49_deal_and_order_of_the_boneyard_are_uniform_together() -> None:
    games = seeded_from("threes-and-fives:players=2,max_pip=2,deal=2", 1, 2)
    view, first = games.view(seat=0), int(games.data["next_draw"][0])
    worlds = belief.sample(view, [3], 72_000)[0]
    seen = Counter(
        (hand, *order)
        for hand, order in zip(
            worlds["hands"][:, 1].tolist(), worlds["deck"][:, first:6].tolist(), strict=True
        )
    )
    hidden = sorted(set(tiles_up_to(2)) - set(tiles_in(view["hand"][0])))
    every = [
        ((1 << order[0]) + (1 << order[1]), *order[2:])
        for order in permutations(hidden)
        if order[0] < order[1]
    ]
    assert len(every) == 12
    assert set(seen) == set(every)
    assert_uniform(np.array([seen[key] for key in every]))


def test_B49_the_reserve_is_hidden_and_any_unseen_tile_may_lie_there() -> None:
    games = seeded_from("threes-and-fives:players=2,reserve=2", 1, 2)
    worlds = belief.sample(games.view(seat=0), [3], 42_000)[0]
    hidden = np.flatnonzero(~tile_bits(games.data["hands"][0, 0]))
    for place in (14, 20, 26, 27):
        counts = np.bincount(worlds["deck"][:, place], minlength=28)
        assert counts.sum() == counts[hidden].sum() == 42_000
        assert_uniform(counts[hidden])


def test_B49_a_seat_that_drew_and_placed_may_hold_what_it_drew_but_nothing_that_was_open() -> None:
    """`absent` after a forced draw: the tiles drawn on the way fitted nothing open then."""
    hands = "6|6 5|6 0|1 0|2 0|3 0|4 0|5", "1|1 1|2 1|3 1|4 2|2 2|3 2|4"
    table = deal(T_RULES, *hands, boneyard="3|3 3|4 4|6")
    table.play("6|6 draw draw draw 4|6>0")
    game = table.games
    assert game.data["absent"][0].tolist() == [0, 1 << 6, 0, 0]
    worlds = belief.sample(game.view(seat=0), [1], 20_000)[0]
    held = tile_bits(worlds["hands"][:, 1])
    assert not held[:, HALVES[6]].any()
    hidden = tile_bits(np.uint32(2**28 - 1)) & ~tile_bits(
        game.data["hands"][0, 0] | game.data["played"][0]
    )
    assert_uniform(held.sum(axis=0)[hidden & ~HALVES[6]])


T_RULES = seeded_from(T, 1).rules


@pytest.mark.parametrize("spec", [spec for spec in ALL if "highest-double" in spec])
def test_B49_a_leader_that_drew_before_the_lead_still_leads_the_tile_of_the_deal(spec: str) -> None:
    """T11, D12: the tile to lead is fixed at the deal, in every world too."""
    games = seeded_from(spec, 300)
    if games.rules.draw == "optional":
        for _ in range(3):
            games.step(np.full(300, DRAW))
    leaders = games.data["leader"].astype(np.int64)
    views = games.view(seat=leaders)
    worlds = Games(games.rules, 300)
    worlds.data[:] = belief.sample(views, np.arange(300), 1)[:, 0]
    assert (worlds.action_mask() == games.action_mask()).all()
    assert worlds.view(seat=leaders).tobytes() == views.tobytes()


def test_equal_keys_give_equal_worlds_and_rows_do_not_depend_on_each_other() -> None:
    views = mixed("all-fives:players=4", 30).view()
    keys = np.arange(30, dtype=np.uint64)
    worlds = belief.sample(views, keys, 8)
    assert worlds.tobytes() == belief.sample(views, keys, 8).tobytes()
    assert worlds[:, :3].tobytes() == belief.sample(views, keys, 3).tobytes()
    assert worlds[7:9].tobytes() == belief.sample(views[7:9], keys[7:9], 8).tobytes()
    other = belief.sample(views, keys + np.uint64(100), 8)
    assert (worlds["hands"] != other["hands"]).any(axis=(1, 2)).mean() > 0.9
    same = belief.sample(views[:1].repeat(30), keys, 1)
    assert len(np.unique(same["hands"][:, 0, 1])) > 15


def test_a_world_carries_no_stream_of_the_real_match() -> None:
    games = seeded_from("all-fives", 1, 5)
    worlds = belief.sample(games.view(), [0], 100)
    assert (worlds["key"] != games.data["key"]).all()
    assert len(np.unique(worlds["key"])) == 100


def test_views_may_be_a_strided_selection() -> None:
    views = mixed("all-fives:players=4", 30).view()
    keys = np.arange(15)
    assert (
        belief.sample(views[::2], keys, 2).tobytes()
        == belief.sample(views[::2].copy(), keys, 2).tobytes()
    )


def test_sampling_changes_no_view() -> None:
    views = mixed("all-fives:players=4", 30).view()
    before = views.tobytes()
    belief.sample(views, np.arange(30), 4)
    assert views.tobytes() == before


def test_a_match_that_is_over_can_be_sampled_and_shows_the_same() -> None:
    games = seeded_from("all-fives:players=4,mode=round", 50)
    rng = np.random.default_rng(0)
    while not games.data["match_over"].all():
        play_randomly(games, rng)
    views = games.view(seat=1)
    worlds = Games(games.rules, 50)
    worlds.data[:] = belief.sample(views, np.arange(50), 1)[:, 0]
    assert worlds.view(seat=1).tobytes() == views.tobytes()


def impossible_views() -> Array:
    """Two views; in the second a seat that holds tiles is said to lack every value."""
    views = Games("all-fives", 2).view(seat=0)
    views["absent"][1, 1] = 0x7F
    return views


@pytest.mark.parametrize(
    ("views", "keys", "worlds", "word"),
    [
        (None, [1], 1, "VIEW"),
        (np.zeros(2), [1, 2], 1, "VIEW"),
        (np.zeros((1, 1), VIEW), [[1]], 1, "VIEW"),
        (Games("all-fives", 2).view(), [1], 1, "keys"),
        (Games("all-fives", 2).view(), 1, 1, "keys"),
        (Games("all-fives", 2).view(), [1.5, 2.5], 1, "keys"),
        (Games("all-fives", 2).view(), ["a", "b"], 1, "keys"),
        (Games("all-fives", 2).view(), [-1, 2], 1, "keys"),
        (Games("all-fives", 2).view(), [1, 2], 0, "worlds"),
        (Games("all-fives", 2).view(), [1, 2], True, "worlds"),
        (Games("all-fives", 2).view(), [1, 2], 1.5, "worlds"),
        (Games("all-fives", 2).view(), [1, 2], "many", "worlds"),
        (impossible_views(), [1, 2], 3, r"views\[1\] agrees with no deal"),
    ],
)
def test_wrong_arguments_are_refused_by_name(views: Any, keys: Any, worlds: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        belief.sample(views, keys, worlds)
