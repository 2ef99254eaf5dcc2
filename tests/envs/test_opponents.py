"""Several opponents: each match meets one and keeps it, in the vector env as in single ones."""

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from fives_env import play
from fives_env.envs.opponents import MOST, Mixture
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from fives_env.games import Games
from tests.core.material import assert_uniform
from tests.envs.play import Array, InPython, assert_same, choose, single, vector

MIXTURES: list[tuple[str, dict[str, Any]]] = [
    ("fives-and-threes:players=2,target=20", {"seat": "random", "reward": "points"}),
    ("threes-and-fives:players=3,mode=round", {"start_scores": "random"}),
    ("all-fives:players=4,target=40", {"seat": "random"}),
    ("fives-and-threes:players=4,mode=round", {"seat": 2, "partner": "random"}),
    ("all-fives:players=4,partners=no,max_rounds=2", {"seat": "random"}),
]
NAMES = [spec for spec, _ in MIXTURES]


@pytest.mark.parametrize("setting", MIXTURES, ids=NAMES)
def test_R5_a_mixture_is_the_same_in_the_vector_env_and_in_single_envs(setting: Any) -> None:
    opponents = ["greedy", InPython("random"), "random"]
    setting = setting[0], {**setting[1], "opponent": opponents, "salt": 1}
    env = vector(3, setting)
    sync = SyncVectorEnv([lambda: single(setting)] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    rng, ended, met = np.random.default_rng(1), 0, set()
    assert_same(env.reset(seed=7), sync.reset(seed=7))
    for _ in range(120):
        actions = choose(env.action_masks(), rng)
        one, two = env.step(actions), sync.step(actions)
        assert_same(one, two)
        ended += int((one[2] | one[3]).sum())
        met |= set(one[4]["opponent"].tolist())
        assert_same(env.opponents, one[4]["opponent"])
    assert ended > 10
    assert met == {0, 1, 2}


@pytest.mark.parametrize("setting", MIXTURES, ids=NAMES)
def test_B46_a_match_has_one_opponent_from_its_first_move_to_its_last(
    setting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every move is tagged with who made it; matches differ much in length."""
    opponents: list[Any] = [InPython("random"), InPython("greedy"), InPython("random")]
    seen: dict[int, dict[int, set[int]]] = {}
    ask = play.ask

    def tag(policy: Any, games: Games, rows: Array, matches: None) -> Array:
        if policy in opponents:
            asked = games.data[rows]
            for key, seat in zip(asked["key"], asked["seat"], strict=True):
                by_seat = seen.setdefault(int(key), {})
                by_seat.setdefault(int(seat), set()).add(opponents.index(policy))
        return ask(policy, games, rows)

    monkeypatch.setattr(play, "ask", tag)
    env = vector(24, (setting[0], {**setting[1], "opponent": opponents}))
    rng, lengths = np.random.default_rng(2), []
    env.reset(seed=3)
    age = np.zeros(24, int)
    for _ in range(100):
        keys = env._tables.games.data["key"].copy()
        *_, terminations, truncations, infos = env.step(choose(env.action_masks(), rng))
        age += 1
        for row in np.flatnonzero(terminations | truncations):
            reported = int(infos["final_info"]["opponent"][row])
            for seat, ids in seen.get(int(keys[row]), {}).items():
                assert ids == {reported}, f"seat {seat} was played by {ids}"
            lengths.append(age[row])
            age[row] = 0
    assert len(lengths) > 50
    assert max(lengths) >= 2 * min(lengths)
    assert sum(len(by_seat) for by_seat in seen.values()) > 50


def test_opponents_are_drawn_evenly_and_anew_for_each_match() -> None:
    env = FivesVectorEnv(3000, "fives-and-threes:mode=round", opponent=["random"] * 4)
    _, infos = env.reset(seed=1)
    first = infos["opponent"]
    assert_uniform(np.bincount(first, minlength=4))
    _, infos = env.reset()
    assert_uniform(np.bincount(first * 4 + infos["opponent"], minlength=16))
    assert_uniform(np.bincount(infos["opponent"][:-1] * 4 + infos["opponent"][1:], minlength=16))
    seated = FivesVectorEnv(3000, "fives-and-threes", opponent=["random"] * 2, seat="random")
    _, infos = seated.reset(seed=1)
    assert_uniform(np.bincount(infos["seat"] * 2 + infos["opponent"], minlength=4))


def test_opponents_hold_through_resets_with_options_and_plain_ones() -> None:
    """The deal is scripted, who plays it is not."""
    env = FivesVectorEnv(200, "all-fives:mode=round", opponent=["random", "greedy"])
    for given in ({"seed": 3}, {"options": {"scores": [5, 5]}}, {}):
        _, infos = env.reset(**given)
        assert 50 < infos["opponent"].sum() < 150


def test_one_opponent_is_not_reported_and_changes_nothing() -> None:
    one = FivesVectorEnv(8, "all-fives:mode=round", opponent="greedy")
    listed = FivesVectorEnv(8, "all-fives:mode=round", opponent=["greedy"])
    rng = np.random.default_rng(0)
    _, infos = one.reset(seed=4)
    assert "opponent" not in infos
    assert (one.opponents == 0).all()
    listed.reset(seed=4)
    for _ in range(50):
        actions = choose(one.action_masks(), rng)
        left, right = one.step(actions), listed.step(actions)
        assert_same(left[:4], right[:4])


class Draws(Mixture):
    """Draws what it is told."""

    def __init__(self, answer: Any) -> None:
        super().__init__(["random", "greedy"])
        self.answer = answer

    def draw(self, keys: Array) -> Array:
        return np.asarray(self.answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([0, 2], "there are 0 to 1"),
        ([-1, 0], "there are 0 to 1"),
        ([0], "2 whole numbers"),
        ([0.5, 1], "2 whole numbers"),
    ],
)
def test_what_cannot_be_seated_is_refused(answer: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        FivesVectorEnv(2, opponent=Draws(answer)).reset(seed=1)


def test_wrong_lists_are_refused() -> None:
    for opponent, says in (
        ([], f"0 policies; give 1 to {MOST}"),
        (["random"] * (MOST + 1), f"give 1 to {MOST}"),
        (["random", "best"], "unknown agent 'best' in 'best'; there are: random, greedy"),
        ("model:nope", "there is no model in 'nope'"),
        ([3], "3 is not a policy"),
    ):
        with pytest.raises(ValueError, match=says):
            FivesEnv(opponent=opponent)  # type: ignore[arg-type]


@pytest.mark.parametrize("setting", MIXTURES, ids=NAMES)
def test_saved_games_go_on_in_another_env_to_the_last_reward(setting: Any) -> None:
    setting = setting[0], {**setting[1], "opponent": ["greedy", "random"]}
    env, other = vector(8, setting), vector(8, setting)
    rng = np.random.default_rng(3)
    env.reset(seed=1)
    other.reset(seed=2)
    for step in range(60):
        if step % 20 == 0:
            assert_same(other.load_games(env.save_games()), env._tables.observe()[0])
        actions = choose(env.action_masks(), rng)
        assert_same(env.step(actions), other.step(actions))
    before = other.save_games()
    for wrong in ({}, {**before, "seats": before["seats"][:3]}):
        with pytest.raises(ValueError, match="does not fit 8 tables"):
            other.load_games(wrong)
    assert_same(other.save_games(), before)


class Records:
    """An opponent that takes the first legal action, and `Opponents` of it alone; keeps keys."""

    def __init__(self) -> None:
        self.policies = [self]
        self.keys: list[int] = []
        self.drawn: list[int] = []

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        self.keys += keys.tolist()
        return masks.argmax(axis=1)

    def draw(self, keys: Array) -> Array:
        self.drawn += keys.tolist()
        return np.zeros(len(keys), np.int64)


def played_against(seeds: list[int], salt: int | None = None) -> Records:
    """What opponents are handed in an env that is reset to each of these seeds."""
    records = Records()
    env = FivesVectorEnv(20, "all-fives:target=60", opponent=records, salt=salt)
    for seed in seeds:
        env.reset(seed=seed)
        for _ in range(30):
            env.step(env.action_masks().argmax(axis=1))
    return records


@pytest.mark.parametrize("what", ["keys", "drawn"])
def test_X40_opponents_are_handed_nothing_that_follows_from_the_seed(what: str) -> None:
    one, two, mine, again = (
        getattr(played_against([7], salt), what) for salt in (None, None, 5, 5)
    )
    assert len(set(one)) == len(one)
    assert not set(one) & set(two)
    assert mine == again
    twice = getattr(played_against([7, 7]), what)
    assert twice[: len(twice) // 2] == twice[len(twice) // 2 :]  # reset(seed) repeats


def test_X40_infos_say_nothing_of_the_deals() -> None:
    env = FivesVectorEnv(4, opponent=["random", "greedy"])
    _, infos = env.reset(seed=7)
    public = {"action_mask", "seat", "round", "leader", "scores", "winner", "opponent"}
    assert {name.removeprefix("_") for name in infos} == public
