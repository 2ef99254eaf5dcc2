"""The feature vector: bounds that hold, nothing missing that lies on the table, all seats alike.

`Decoder` reads a vector alone, by the documented meaning of its blocks, and what it finds is
compared with the truth as the viewer sits (B38, B39).
"""

import hashlib
from typing import Any

import numpy as np
import pytest

import fives_env
from fives_env import Games, Rules, encode
from fives_env.actions import DRAW, NUM_ACTIONS, PASS
from fives_env.engine import layout, turns
from fives_env.engine.features import (
    BLOCKS,
    FEATURES,
    HIGH,
    LOW,
    NEAR,
    NUM_FEATURES,
    OBS_VERSION,
)
from fives_env.engine.rewards import POINTS, add_rewards
from fives_env.envs.spaces import observation_space
from fives_env.records import VIEW
from fives_env.rules import CHOICES, PRESETS
from fives_env.tiles import PIPS, tiles_up_to
from tests.core.material import (
    ALL,
    BASIC,
    Array,
    from_python,
    mixed,
    play_randomly,
    played_on,
    restart,
    seats_of,
    seeded_from,
    tile_bits,
)
from tests.rules.positions import HALVES, A, T, deal

ACT = from_python(turns.act)
ADD_REWARDS = from_python(add_rewards)
COUNT_PIPS = from_python(layout.pips)

KNOWN_LAYOUTS = {1: "c3c5fac5cf1e"}
"""OBS_VERSION to a hash of the blocks and of vectors of known positions.

Never change a line: a layout or a meaning that changes needs a new version.
"""


def vectors_of_scripted_games() -> bytes:
    """What each seat sees on a given deck, as long as the lowest legal action is played."""
    vectors = []
    for spec in BASIC:
        rules = Rules.from_spec(spec)
        games, tiles = Games(rules, 1), tiles_up_to(rules.max_pip)
        games.reset(rounds=[{"deck": tiles[::2] + tiles[1::2], "leader": 1}])
        while not games.data["round_over"][0]:
            vectors += [encode(games.view(seat=seat)) for seat in range(rules.players)]
            games.step(games.action_mask().argmax(axis=1))
    return np.concatenate(vectors).astype("<f4").tobytes()


def test_a_new_layout_has_a_new_version() -> None:
    """A trained model names the version, so an old model is never fed another layout (B55)."""
    blocks = repr([tuple(block) for block in BLOCKS])
    digest = hashlib.sha256(blocks.encode() + vectors_of_scripted_games()).hexdigest()[:12]
    assert KNOWN_LAYOUTS.get(OBS_VERSION) == digest, (
        "the blocks have changed: raise OBS_VERSION and add a line to KNOWN_LAYOUTS"
    )
    assert max(KNOWN_LAYOUTS) == OBS_VERSION == fives_env.OBS_VERSION


def test_blocks_cover_the_vector_in_order_without_gaps() -> None:
    assert list(FEATURES) == [block.name for block in BLOCKS]
    ends = [0]
    for block in BLOCKS:
        place = FEATURES[block.name]
        assert (place.start, place.stop, place.step) == (ends[-1], ends[-1] + block.size, None)
        assert (LOW[place] == np.float32(block.low)).all()
        assert (HIGH[place] == np.float32(block.high)).all()
        assert block.meaning
        ends.append(place.stop)
    assert ends[-1] == NUM_FEATURES == len(LOW) == len(HIGH)
    assert FEATURES["points"].stop - FEATURES["points"].start == NUM_ACTIONS
    assert encode(Games("all-fives", 3).view()).shape == (3, NUM_FEATURES)


@pytest.mark.parametrize("spec", [*ALL, "all-fives:draw=optional,deal=1,max_rounds=180"])
def test_bounds_hold_in_random_games(spec: str) -> None:
    space = observation_space()
    for number, (games, rng) in enumerate(played_on(spec, 100, 120)):
        features = encode(games.view(seat=seats_of(games, rng)))
        assert np.isfinite(features).all()
        assert (features >= LOW).all()
        assert (features <= HIGH).all()
        if number % 20 == 0:
            assert space.contains(features[0])


class Decoder:
    """What feature vectors [B, F] say, read by the documented meaning of the blocks alone."""

    def __init__(self, features: Array) -> None:
        self.features = features

    def block(self, name: str, *shape: int) -> Array:
        return self.features[:, FEATURES[name]].reshape(len(self.features), *shape)

    def bits(self, name: str, *shape: int) -> Array:
        block = self.block(name, *shape)
        assert np.isin(block, (0, 1)).all()
        return block == 1

    def number(self, name: str, scale: float, *shape: int) -> Array:
        scaled = self.block(name, *shape).astype(float) * scale
        assert np.abs(scaled - scaled.round()).max() < 1e-2
        return scaled.round().astype(int)

    def one_hot(self, name: str, *shape: int) -> Array:
        bits = self.bits(name, *shape)
        assert (bits.sum(axis=-1) == 1).all()
        return bits.argmax(axis=-1)

    @property
    def players(self) -> Array:
        return 2 + self.one_hot("players", 3)

    def mask(self) -> Array:
        """The legal actions of the viewer as if it were to move, by C2, C7, T3, T12, T13."""
        arms, opening = self.one_hot("arms", 4, 8), ~self.bits("played", 28).any(axis=1)
        placeable = self.bits("placeable", 28)
        joins = HALVES[arms] & placeable[:, None, :]
        joins[opening] = False
        joins[opening, 0] = placeable[opening]
        mask = np.zeros((len(arms), NUM_ACTIONS), bool)
        mask[:, :DRAW] = joins.reshape(-1, DRAW)
        stuck, drawable = ~mask.any(axis=1), self.number("boneyard", 28, 2)[:, 1] > 0
        optional = self.one_hot("draw", 3) == CHOICES["draw"].index("optional")
        mask[:, DRAW] = drawable & (stuck | optional)
        mask[:, PASS] = stuck & ~drawable
        return mask


def rotated(values: Array, viewers: Array, count: int) -> Array:
    """A row's first `count` values from the viewer's on, clockwise; zeros behind."""
    turned = np.zeros_like(values)
    for offset in range(count):
        turned[:, offset] = values[np.arange(len(values)), (viewers + offset) % count]
    return turned


@pytest.mark.parametrize("spec", ALL)
def test_B38_B39_a_decoder_recovers_the_table_as_the_viewer_sits(spec: str) -> None:
    for games, rng in played_on(spec, 60, 60, seed=11):
        viewers, data, rules = seats_of(games, rng), games.data, games.rules
        seen, rows = Decoder(encode(games.view(seat=viewers))), np.arange(60)
        hand = tile_bits(data["hands"][rows, viewers])
        played = tile_bits(data["played"])
        assert (seen.bits("hand", 28) == hand).all()
        assert (seen.bits("played", 28) == played).all()
        in_set = tile_bits(games.params["set"])
        assert (seen.bits("unseen", 28) == in_set & ~(hand | played)).all()
        assert (seen.one_hot("arms", 4, 8) == data["arms"]).all()
        assert (seen.number("counts", 12, 4) == data["counts"]).all()
        assert (seen.number("total", 48, 1)[:, 0] == data["total"]).all()
        assert (seen.number("counts", 12, 4).sum(axis=1) == data["total"]).all()
        assert (seen.one_hot("spinner", 8) == data["spinner"]).all()
        ends = data["spinner_ends"][:, None] >> np.arange(2) & 1
        assert (seen.bits("spinner_ends", 2) == ends).all()
        sizes = rotated(data["hand_sizes"], viewers, rules.players)
        assert (seen.number("hand_sizes", 28, 4) == sizes).all()
        boneyard = seen.number("boneyard", 28, 2)
        assert (boneyard[:, 0] == data["boneyard"]).all()
        no_draw = rules.draw == "none"
        assert (boneyard[:, 1] == (0 if no_draw else data["boneyard"] - rules.reserve)).all()
        absent = data["absent"][:, :, None] >> np.arange(7) & 1
        assert (seen.bits("absent", 4, 7) == rotated(absent, viewers, rules.players)).all()
        assert (seen.one_hot("leader", 4) == (data["leader"] - viewers) % rules.players).all()
        to_move, over = seen.bits("to_move", 4), data["match_over"] == 1
        assert not to_move[over].any()
        offset = (data["seat"] - viewers) % rules.players
        assert (to_move[~over].argmax(axis=1) == offset[~over]).all()
        assert (to_move[~over].sum(axis=1) == 1).all()


@pytest.mark.parametrize("spec", [*ALL, "fives-and-threes:mode=round", "all-fives:target=9999"])
@pytest.mark.parametrize("scores", [None, "random"])
def test_B38_scores_and_what_is_missing_are_by_side_from_the_viewers_own(
    spec: str, scores: str | None
) -> None:
    for games, rng in played_on(spec, 60, 40, seed=2, scores=scores):
        viewers, data, rules = seats_of(games, rng), games.data, games.rules
        seen, sides = Decoder(encode(games.view(seat=viewers))), rules.num_sides
        own = viewers % 2 if rules.partners else viewers
        truth = rotated(data["scores"], own, sides).astype(int)
        assert (seen.number("scores", 100, 4) == truth).all()
        on = (data["target_on"] == 1)[:, None]
        assert (seen.bits("target_on", 1) == on).all()
        missing = np.where(on & (np.arange(4) < sides), rules.target - truth, 0)
        assert (seen.number("missing", 100, 4) == missing).all()
        near = seen.bits("near", 4, NEAR)
        assert (near == (missing[:, :, None] == np.arange(1, NEAR + 1))).all()
        share = 0 if rules.mode == "round" else 1 - data["round"] / rules.max_rounds
        assert np.allclose(seen.block("rounds_left", 1)[:, 0], share, atol=1e-6)


@pytest.mark.parametrize("spec", ALL)
def test_B39_the_legal_mask_and_the_worth_of_each_action_follow_from_the_vector(spec: str) -> None:
    for games, _ in played_on(spec, 40, 60, seed=7):
        live = np.flatnonzero(games.data["match_over"] == 0)
        if not len(live):
            continue
        games = games[live]
        masks = games.action_mask()
        seen = Decoder(encode(games.view()))
        assert (seen.mask() == masks).all()
        placeable = masks[:, :DRAW].reshape(-1, 4, 28).any(axis=1)
        assert (seen.bits("placeable", 28) == placeable).all()
        worth = seen.number("points", 10, NUM_ACTIONS)
        assert not worth[~masks].any()
        assert not worth[:, DRAW:].any()
        for row in range(0, len(games), 7):
            for action in np.flatnonzero(masks[row]):
                after = games[row]
                ACT(after.params[0], after.data[0], action)
                assert after.data["points"][0] == worth[row, action]


def test_B39_a_vector_of_a_seat_that_is_not_to_move_says_what_it_could_place() -> None:
    games = mixed("all-fives:players=3", 100)
    viewers = (games.data["seat"].astype(int) + 1) % 3
    games.data["seat"] = viewers
    before = encode(games.view())
    moved_on = games.action_mask()
    assert (Decoder(before).mask() == moved_on).all()


@pytest.mark.parametrize("spec", ALL)
def test_the_rules_are_in_the_vector(spec: str) -> None:
    rules = Rules.from_spec(spec)
    seen = Decoder(encode(Games(rules, 2).view()))
    assert (seen.one_hot("game", 3) == list(PRESETS).index(rules.game)).all()
    assert (seen.players == rules.players).all()
    assert (seen.bits("partners", 1) == rules.partners).all()
    assert (seen.one_hot("draw", 3) == CHOICES["draw"].index(rules.draw)).all()


@pytest.mark.parametrize("spec", ALL)
def test_all_seats_are_alike_turning_the_table_turns_nothing_in_the_vector(spec: str) -> None:
    for games, _ in played_on(spec, 40, 30, seed=5):
        players, sides = games.rules.players, games.rules.num_sides
        turned = games.clone()
        for name in ("hands", "hand_sizes", "absent"):
            turned.data[name][:, :players] = np.roll(games.data[name][:, :players], 1, axis=1)
        for name in ("scores", "settlement"):
            turned.data[name][:, :sides] = np.roll(games.data[name][:, :sides], 1, axis=1)
        for name in ("seat", "leader"):
            turned.data[name] = (games.data[name].astype(int) + 1) % players
        for seat in range(players):
            views = games.view(seat=seat), turned.view(seat=(seat + 1) % players)
            assert encode(views[0]).tobytes() == encode(views[1]).tobytes()


def test_encode_writes_where_it_is_told_and_depends_on_each_row_alone() -> None:
    views = mixed("all-fives:players=4", 50).view()
    out = np.full((50, NUM_FEATURES), np.nan, np.float32)
    assert encode(views, out=out) is out
    assert out.tobytes() == encode(views).tobytes() == encode(views[::-1])[::-1].tobytes()
    assert encode(views[3:4]).tobytes() == out[3].tobytes()
    assert encode(views[:0]).shape == (0, NUM_FEATURES)


@pytest.mark.parametrize(
    "wrong", [None, [], np.zeros(3), np.zeros((2, 2), VIEW), np.zeros(1, VIEW)[0]], ids=type
)
def test_encode_refuses_what_are_no_views(wrong: Any) -> None:
    with pytest.raises(ValueError, match="VIEW records"):
        encode(wrong)


def points_paid(games: Games) -> Array:
    paid = np.zeros((len(games), 4))
    for row in range(len(games)):
        ADD_REWARDS(games.params[0], games.data[row], POINTS, paid[row])
    return paid


def test_B41_a_score_in_T_passes_300() -> None:
    """250 and a total of 30, worth 60: 310, in records, features and rewards."""
    hands = "3|3 6|6 5|5 4|4 0|0 0|1 2|2", "3|6 3|5 3|4 0|3 2|3 0|2 1|1"
    rules = Rules.preset(T, target=251, target_check="round-end")
    table = deal(rules, *hands, scores=[0, 250])
    table.play("3|3 3|6>0 6|6>0 3|5>1 5|5>1 3|4>2 4|4>2")
    assert (table.points, table.scores[0]) == (60, 6 + 18 + 60)
    assert points_paid(table.games)[0].tolist() == [60, -60, 0, 0]
    before = table.scores[1]
    table.do(int(np.flatnonzero(table.games.action_mask()[0])[0]))  # [0|3], worth 60 again
    assert table.scores[1] == before + 60 == 250 + 12 + 60
    vector = Decoder(encode(table.games.view(seat=1)))
    assert vector.number("scores", 100, 4)[0].tolist() == [322, 84, 0, 0]
    assert vector.number("missing", 100, 4)[0].tolist() == [-71, 167, 0, 0]


def test_B41_scores_in_A_fall_far_below_zero_and_agree_with_wide_ints() -> None:
    games = seeded_from("all-fives:deal=14,max_rounds=180,target=10000", 60, scores=[-1000, -900])
    wide = games.data["scores"].astype(np.int64)
    while not games.data["match_over"].all():
        live = np.flatnonzero(games.data["match_over"] == 0)
        actions = np.full(60, -1)
        actions[live] = games.action_mask().argmax(axis=1)[live]
        games.step(actions)
        wide[live, games.data["mover"][live]] += games.data["points"][live]
        wide[live] += games.data["settlement"][live]
        assert (games.data["scores"] == wide).all()
    assert games.data["scores"].min() < -2500
    features = encode(games.view())
    assert (features >= LOW).all()
    assert (features[:, FEATURES["scores"]].min()) == pytest.approx(
        games.data["scores"].min() / 100
    )


def test_B41_the_pips_of_all_tiles_are_168_and_a_round_pays_nearly_all_of_them() -> None:
    assert int(PIPS.sum()) == COUNT_PIPS(np.uint32(2**28 - 1)) == 168
    table = deal(Rules.preset(T, deal=1, draw="optional"), "0|1", "0|0")
    for _ in range(26):
        table.do(DRAW)
    assert table.boneyard == 0
    assert Decoder(encode(table.games.view())).number("hand_sizes", 28, 4)[0, 0] == 27
    table.play("0|1 0|0>0")
    assert table.settlement == (0, 167)
    assert points_paid(table.games)[0].tolist() == [-167, 167, 0, 0]


def test_B41_a_round_in_A_costs_nearly_all_pips() -> None:
    table = deal(Rules.preset(A, deal=1, draw="optional"), "0|1", "0|0")
    for _ in range(26):
        table.do(DRAW)
    table.play("0|1 0|0>0")
    assert table.settlement == (-165, 0)
    assert points_paid(table.games)[0].tolist() == [-165, 165, 0, 0]
    assert Decoder(encode(table.games.view(seat=1))).number("scores", 100, 4)[0, 1] == -165


def test_views_do_not_change_when_the_games_go_on() -> None:
    games = mixed("all-fives:players=4", 30)
    views = games.view()
    kept, vectors = views.tobytes(), encode(views).tobytes()
    for _ in range(30):
        play_randomly(games, np.random.default_rng(0))
        restart(games)
    assert views.tobytes() == kept
    assert encode(views).tobytes() == vectors
