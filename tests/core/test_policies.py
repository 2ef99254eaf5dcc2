"""The two built-in policies choose as they say, and `advance` asks policies for actions rightly."""

from typing import Any

import numpy as np
import pytest

from fives_env import BuiltIn, Games, encode
from fives_env.actions import DRAW, PASS
from fives_env.engine.features import FEATURES
from fives_env.play import LEARNER, advance, ask
from fives_env.policies import as_policy
from fives_env.tiles import PIPS
from tests.core.material import (
    ALL,
    BASIC,
    Array,
    assert_uniform,
    compiled_keys,
    mixed,
    played_on,
    seeded_from,
)


def best_actions(games: Games) -> Array:
    """bool [B, 114]: what greedy may take, by the masks and the features' points alone."""
    masks = games.action_mask()
    points = encode(games.view())[:, FEATURES["points"]].astype(float) * 10
    worth = np.full(masks.shape, -1.0)
    worth[:, :DRAW] = points[:, :DRAW].round() * 100 + np.tile(PIPS, 4)
    worth[:, DRAW:] = -0.5  # a draw or a knock only where there is nothing else
    worth[~masks] = -1
    return (worth == worth.max(axis=1, keepdims=True)) & masks


@pytest.mark.parametrize("spec", ALL)
def test_greedy_takes_the_most_points_then_the_heavier_tile(spec: str) -> None:
    for games, rng in played_on(spec, 60, 40):
        games = games[games.data["match_over"] == 0]
        best = best_actions(games)
        keys = rng.integers(0, 2**64, len(games), dtype=np.uint64)
        actions = BuiltIn("greedy").act(games.view(), games.action_mask(), keys)
        assert best[np.arange(len(games)), actions].all()


def test_greedy_breaks_ties_evenly_and_by_the_key_alone() -> None:
    games = mixed("all-fives:players=4", 400)
    ties = best_actions(games)
    row = int(ties.sum(axis=1).argmax())
    tied = np.flatnonzero(ties[row])
    assert len(tied) > 1
    views, masks = games[row].view().repeat(20_000), games[row].action_mask().repeat(20_000, axis=0)
    keys = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    actions = BuiltIn("greedy").act(views, masks, keys)
    assert set(actions) == set(tied)
    assert_uniform(np.bincount(actions)[tied])
    assert (BuiltIn("greedy").act(views, masks, keys) == actions).all()


def test_greedy_of_ties_between_arms_of_one_tile_takes_each_arm() -> None:
    """After a double is led, either side of it will do: the same points, the same tile."""
    games = seeded_from("fives-and-threes", 1)
    deck = [27, 0, 1, 2, 3, 4, 5, 26, *range(6, 26)]
    games.reset(seed=1, rounds=[{"deck": deck, "leader": 0}])
    games.step([27])
    views, masks = games.view().repeat(1000), games.action_mask().repeat(1000, axis=0)
    actions = BuiltIn("greedy").act(views, masks, np.arange(1000, dtype=np.uint64))
    counts = np.bincount(actions, minlength=114)
    assert counts[6] + counts[6 + 28] == 1000, "[0|6]: 12 and 0 make 4 points"
    assert_uniform(counts[[6, 6 + 28]])


@pytest.mark.parametrize("spec", ALL)
def test_random_is_uniform_over_the_legal_actions(spec: str) -> None:
    games, repeats = mixed(spec, 12), 8000
    masks = games.action_mask()
    rng = np.random.default_rng(2)
    for row in range(0, 12, 2):
        keys = rng.integers(0, 2**64, repeats, dtype=np.uint64)
        views = games[row].view().repeat(repeats)
        actions = BuiltIn("random").act(views, masks[row : row + 1].repeat(repeats, axis=0), keys)
        legal = np.flatnonzero(masks[row])
        counts = np.bincount(actions, minlength=114)
        assert counts[legal].sum() == repeats
        if len(legal) > 1:
            assert_uniform(counts[legal])


def test_random_draws_as_often_as_it_takes_any_placement_where_draws_are_optional() -> None:
    games = seeded_from("threes-and-fives:draw=optional", 1)
    views, masks = games.view().repeat(8000), games.action_mask().repeat(8000, axis=0)
    keys = np.random.default_rng(1).integers(0, 2**64, 8000, dtype=np.uint64)
    actions = BuiltIn("random").act(views, masks, keys)
    counts = np.bincount(actions, minlength=114)
    assert_uniform(counts[[*np.flatnonzero(masks[0, :DRAW]), DRAW]])
    assert not counts[PASS]


def test_random_is_uniform_under_keys_0_1_2_and_under_keys_far_apart() -> None:
    """A key names a stream; it need not look random itself."""
    games = seeded_from("threes-and-fives:draw=optional", 1)
    views, masks = games.view().repeat(8000), games.action_mask().repeat(8000, axis=0)
    for keys in (np.arange(8000, dtype=np.uint64), np.arange(8000, dtype=np.uint64) << 40):
        actions = BuiltIn("random").act(views, masks, keys.astype(np.uint64))
        assert_uniform(np.bincount(actions, minlength=114)[np.flatnonzero(masks[0])])


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_a_rows_action_depends_on_that_row_alone_and_nothing_is_changed(name: str) -> None:
    games = mixed("all-fives:players=4", 60)
    views, masks, keys = games.view(), games.action_mask(), np.arange(60, dtype=np.uint64)
    before = views.tobytes(), masks.tobytes(), keys.tobytes()
    policy = BuiltIn(name)
    actions = policy.act(views, masks, keys)
    assert actions.shape == (60,)
    assert actions.dtype == np.int64
    order = np.random.default_rng(0).permutation(60)
    assert (policy.act(views[order], masks[order], keys[order]) == actions[order]).all()
    for row in range(0, 60, 11):
        part = slice(row, row + 1)
        assert policy.act(views[part], masks[part], keys[part]) == actions[row]
    assert (views.tobytes(), masks.tobytes(), keys.tobytes()) == before
    assert (policy.act(views[::2], masks[::2], keys[::2]) == actions[::2]).all()


class Delegating:
    """A policy in Python that plays as a built-in one does, and keeps what it was asked.

    With `games` it chooses by the same numbers as compiled code does in these.
    """

    def __init__(self, name: str, games: Games | None = None) -> None:
        self.inner, self.games = BuiltIn(name), games
        self.asked: list[tuple[Array, Array, Array]] = []

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        self.asked.append((views.copy(), masks.copy(), keys.copy()))
        if self.games is not None:
            keys = compiled_keys(self.games, views)
        return self.inner.act(views, masks, keys)


def seats(*policies: int) -> Array:
    return np.array([policies], np.int8)


def play_out(spec: str, num_games: int, policies: list[Any], seating: Array) -> tuple[Games, Array]:
    """Matches from seed 3 to their end, and what every seat was paid."""
    games = seeded_from(spec, num_games, 3)
    return games, finish(games, policies, seating)


def finish(games: Games, policies: list[Any], seating: Array) -> Array:
    """Plays to the end of the matches; what every seat was paid."""
    paid = np.zeros((len(games), 4))
    advance(games, policies, np.resize(seating, (len(games), 4)), paid)
    return paid


@pytest.mark.parametrize("spec", BASIC)
def test_advance_plays_alike_with_compiled_policies_and_with_python_ones(spec: str) -> None:
    seating = seats(0, 1, 1, 0)
    compiled, paid = play_out(spec, 40, [BuiltIn("greedy"), BuiltIn("random")], seating)
    assert compiled.data["match_over"].all()
    for random_in_python in (True, False):
        games = seeded_from(spec, 40, 3)
        random = Delegating("random", games) if random_in_python else BuiltIn("random")
        assert (finish(games, [Delegating("greedy", games), random], seating) == paid).all()
        assert games.data.tobytes() == compiled.data.tobytes()


@pytest.mark.parametrize("spec", BASIC)
def test_advance_pays_every_seat_its_score_less_the_mean_of_the_others(spec: str) -> None:
    games, paid = play_out(spec, 40, [BuiltIn("greedy")], seats(0, 0, 0, 0))
    sides, players = games.rules.num_sides, games.rules.players
    scores = games.data["scores"][:, :sides].astype(float)
    for seat in range(players):
        own = scores[:, games.rules.side_of(seat)]
        others = (scores.sum(axis=1) - own) / (sides - 1)
        assert np.allclose(paid[:, seat], own - others)
    assert not paid[:, players:].any()


def test_advance_asks_only_seats_to_move_with_masks_that_are_never_empty() -> None:
    asked = Delegating("random")
    play_out("all-fives:players=4,draw=optional", 20, [asked], seats(0, 0, 0, 0))
    for views, masks, keys in asked.asked:
        assert (views["viewer"] == views["seat"]).all()
        assert masks.any(axis=1).all(), "B13"
        assert (views["match_over"] == 0).all()
        assert len(views) == len(masks) == len(keys)
        assert keys.dtype == np.uint64


def test_advance_stops_where_the_caller_is_to_move_and_goes_on_from_there() -> None:
    games = seeded_from("all-fives:players=3", 50)
    seating = np.resize(seats(0, LEARNER, 0, 0), (50, 4))
    for _ in range(20):
        advance(games, [BuiltIn("greedy")], seating)
        live = games.data["match_over"] == 0
        assert (games.data["seat"][live] == 1).all()
        games.step(np.where(live, games.action_mask().argmax(axis=1), -1))


def salted(salt: int | None, seed: int = 3) -> Games:
    """Matches from this seed to their end, random asked from Python at all seats."""
    games = Games("all-fives", 60, salt=salt)
    games.reset(seed=seed)
    finish(games, [Delegating("random")], seats(0, 0, 0, 0))
    return games


def test_equal_salts_and_deals_give_equal_keys() -> None:
    games = salted(7)
    assert salted(7).data.tobytes() == games.data.tobytes()
    for other in (salted(8), salted(None), salted(None)):
        assert (other.data["key"] == games.data["key"]).all()  # the deals are the same
        assert other.data.tobytes() != games.data.tobytes()


def test_a_wrong_salt_is_refused() -> None:
    for wrong in (-1, 1 << 128, True, 0.5, "7", [1]):
        with pytest.raises(ValueError, match="is not a whole number from 0 to 2"):
            Games("all-fives", salt=wrong)  # type: ignore[arg-type]


def test_keys_differ_from_turn_to_turn_and_from_match_to_match() -> None:
    asked = Delegating("random")
    play_out("all-fives", 50, [asked], seats(0, 0, 0, 0))
    keys = np.concatenate([keys for _, _, keys in asked.asked])
    assert len(np.unique(keys)) == len(keys)
    bits = keys[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.05


class Answers:
    """A policy that gives this answer, whatever it is asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, views: Array, masks: Array, keys: Array) -> Any:
        return self.answer(masks)

    def __repr__(self) -> str:
        return "Answers(wrongly)"


WRONG_ANSWERS = {
    "illegal": lambda masks: np.argmin(masks, axis=1),
    "knocks": lambda masks: np.full(len(masks), PASS),
    "minus one": lambda masks: np.full(len(masks), -1),
    "too high": lambda masks: np.full(len(masks), 114),
    "far too high": lambda masks: np.full(len(masks), 2**63, np.uint64),
    "floats": lambda masks: np.argmax(masks, axis=1).astype(float),
    "bools": lambda masks: np.ones(len(masks), bool),
    "one for all": lambda masks: np.argmax(masks[0]),
    "one too many": lambda masks: np.zeros(len(masks) + 1, int),
    "a column": lambda masks: np.argmax(masks, axis=1)[:, None],
    "none": lambda masks: None,
    "text": lambda masks: ["draw"] * len(masks),
    "ragged": lambda masks: [[1], [2, 3]],
    "nan": lambda masks: np.full(len(masks), np.nan),
}


@pytest.mark.parametrize("answer", WRONG_ANSWERS.values(), ids=WRONG_ANSWERS)
def test_a_wrong_answer_of_a_policy_is_refused_and_the_policy_is_named(answer: Any) -> None:
    games = seeded_from("all-fives", 6)
    before = games.data.tobytes()
    with pytest.raises(ValueError, match=r"Answers\(wrongly\)"):
        ask(Answers(answer), games)
    with pytest.raises(ValueError, match=r"Answers\(wrongly\)"):
        advance(games, [Answers(answer)], np.zeros((6, 4), np.int8))
    assert games.data.tobytes() == before


def test_an_illegal_answer_is_named_with_seat_action_and_the_legal_ones() -> None:
    games = seeded_from("all-fives", 3)
    legal = np.flatnonzero(games.action_mask()[0]).tolist()
    seat = games.data["seat"][0]
    with pytest.raises(ValueError, match="113") as refusal:
        ask(Answers(WRONG_ANSWERS["knocks"]), games)
    assert f"seat {seat}" in str(refusal.value)
    assert str(legal) in str(refusal.value)


def test_policies_are_known_by_name_or_by_their_act() -> None:
    assert as_policy("greedy").name == "greedy"  # type: ignore[attr-defined]
    asked = Delegating("random")
    assert as_policy(asked) is asked
    assert repr(BuiltIn("greedy")) == "BuiltIn('greedy')"
    for wrong in ("best", "", "Greedy"):
        with pytest.raises(ValueError, match="random, greedy"):
            as_policy(wrong)
    for thing in (None, 3, object, Answers):
        with pytest.raises(ValueError, match="act"):
            as_policy(thing)  # type: ignore[arg-type]
