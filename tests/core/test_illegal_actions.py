"""Illegal actions are refused by name, and nothing has changed: in `Games`, in every env."""

import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fives_env
from fives_env import Games
from fives_env.actions import DRAW, PASS, action_name
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from tests.core.material import ALL, mixed

NOT_ACTIONS = [-2, -100, 114, 255, 10**6, 2**40, -(2**40)]
"""Whole numbers that are no action anywhere."""

NOT_NUMBERS = [7.0, 7.5, float("nan"), float("inf"), True, False, None, "7", "draw", b"7", 1j, {}]
"""Things that are no whole numbers at all."""


def named(legal: list[int]) -> str:
    return ", ".join(f"{action} ({action_name(action)})" for action in legal)


def bad_actions(mask: np.ndarray, rng: np.random.Generator) -> list[int]:
    """DRAW and PASS where they are not allowed, some tiles that are not, and no actions at all."""
    illegal = np.flatnonzero(~mask)
    always = [action for action in (DRAW, PASS) if not mask[action]]
    return [*always, *rng.choice(illegal, 3).tolist(), *NOT_ACTIONS]


@pytest.mark.parametrize(
    ("spec", "threads"), [*((spec, 1) for spec in ALL), *((spec, 3) for spec in ALL[::9])]
)
def test_games_refuse_an_illegal_action_by_name_and_change_nothing(spec: str, threads: int) -> None:
    games = mixed(spec, 12)
    games.threads = threads
    masks, rng = games.action_mask(), np.random.default_rng(0)
    before = games.data.tobytes()
    for row in range(0, 12, 1 if threads == 1 else 5):
        legal, seat = np.flatnonzero(masks[row]).tolist(), games.data["seat"][row]
        for action in bad_actions(masks[row], rng):
            actions = masks.argmax(axis=1)
            actions[row] = action
            with pytest.raises(ValueError, match="is illegal") as refusal:
                games.step(actions)
            message = f"game {row}, seat {seat}: action {action} is illegal; legal: {named(legal)}"
            assert str(refusal.value) == message
    assert games.data.tobytes() == before


@pytest.mark.parametrize("wrong", NOT_NUMBERS, ids=repr)
def test_games_refuse_what_is_not_a_whole_number(wrong: Any) -> None:
    games = mixed("all-fives", 3)
    before, legal = games.data.tobytes(), games.action_mask().argmax(axis=1).tolist()
    with pytest.raises(ValueError, match=r"game \d, seat \d: action .* is not a whole number"):
        games.step([wrong] * 3)
    if not isinstance(wrong, bool):  # among ints NumPy makes a bool a 0 or a 1
        with pytest.raises(ValueError, match="is not a whole number"):
            games.step([legal[0], wrong, legal[2]])
    assert games.data.tobytes() == before


def test_the_number_that_is_not_whole_is_the_one_that_is_named() -> None:
    games = mixed("all-fives", 3)
    legal = games.action_mask().argmax(axis=1).tolist()
    with pytest.raises(ValueError, match=r"^game 1, .* action None is not a whole number"):
        games.step([legal[0], None, legal[2]])


@pytest.mark.parametrize("shape", [(), (2,), (4,), (3, 1), (1, 3), (0,)], ids=str)
def test_games_refuse_actions_of_another_shape(shape: tuple[int, ...]) -> None:
    games = mixed("all-fives", 3)
    before = games.data.tobytes()
    with pytest.raises(ValueError, match=re.escape("one for each of the 3 games: (3,)")):
        games.step(np.full(shape, 5))
    assert games.data.tobytes() == before


def test_games_take_whole_numbers_of_every_width() -> None:
    games = mixed("all-fives", 5)
    legal = games.action_mask().argmax(axis=1)
    results = set()
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4"):
        clone = games.clone()
        clone.step(legal.astype(kind))
        results.add(clone.data.tobytes())
    clone = games.clone()
    clone.step(legal.tolist())
    assert results == {clone.data.tobytes()}


def test_the_highest_unsigned_numbers_are_not_taken_for_minus_one() -> None:
    games = mixed("all-fives", 2)
    legal, before = games.action_mask().argmax(axis=1), games.data.tobytes()
    for kind in (np.uint8, np.uint16, np.uint32, np.uint64):
        highest = np.iinfo(kind).max
        actions = legal.astype(kind)
        actions[1] = highest
        with pytest.raises(ValueError, match=f"game 1, seat .: action {highest} is illegal"):
            games.step(actions)
    assert games.data.tobytes() == before


def test_a_finished_game_takes_no_action_but_may_be_left_alone() -> None:
    games = Games("all-fives:mode=round", 4)
    games.reset(seed=1)
    while not games.data["match_over"].any():
        mask = games.action_mask()
        games.step(np.where(mask.any(axis=1), mask.argmax(axis=1), -1))
    over = int(np.argmax(games.data["match_over"]))
    assert not games.action_mask()[over].any()
    before = games.data.tobytes()
    for action in (0, DRAW, PASS, -2, 114):
        actions = np.full(4, -1)
        actions[over] = action
        with pytest.raises(ValueError, match=f"game {over}: action {action} comes after the end"):
            games.step(actions)
    games.step(np.full(4, -1))
    assert games.data.tobytes() == before


def test_the_knock_and_the_draw_are_refused_where_a_tile_fits() -> None:
    """C7, T3: never a free knock, no draw beside a placement unless draws are optional."""
    for spec in ("fives-and-threes", "threes-and-fives", "all-fives"):
        games = mixed(spec, 100)
        masks = games.action_mask()
        fits = masks[:, :DRAW].any(axis=1)
        assert fits.any()
        assert not masks[fits, DRAW:].any()
        for action in (DRAW, PASS):
            for row in np.flatnonzero(fits)[:5]:
                with pytest.raises(ValueError, match=f"{action} is illegal"):
                    games[int(row)].step([action])


@dataclass
class Seat:
    """An env of some kind, its state as bytes, and what the agent to move may do."""

    env: Any
    step: Callable[[Any], Any]

    @property
    def state(self) -> bytes:
        return pickle.dumps(self.env)

    @property
    def games(self) -> Games:
        """The games inside."""
        inner = self.env.unwrapped
        games: Games = inner.games if hasattr(inner, "games") else inner._tables.games
        return games

    @property
    def mask(self) -> np.ndarray:
        return self.games.action_mask()[0]


def raw(spec: str) -> Seat:
    env = fives_env.raw_env(rules=spec)
    env.reset(seed=3)
    return Seat(env, env.step)


def single(spec: str) -> Seat:
    env = FivesEnv(spec, opponent="random")
    env.reset(seed=3)
    return Seat(env, env.step)


def vector(spec: str) -> Seat:
    env = FivesVectorEnv(2, spec, opponent="random")
    env.reset(seed=3)

    def step(action: Any) -> Any:
        legal = int(env.action_masks()[1].argmax())
        other = action if isinstance(action, bool) else legal
        return env.step(np.array([action, other]) if np.ndim(action) == 0 else action)

    return Seat(env, step)


KINDS = [raw, single, vector]
SPECS = ["fives-and-threes:players=4", "threes-and-fives:players=3", "all-fives:draw=optional"]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_envs_refuse_an_illegal_action_by_name_and_change_nothing(kind: Any, spec: str) -> None:
    seat = kind(spec)
    rng = np.random.default_rng(0)
    for _ in range(6):
        legal = np.flatnonzero(seat.mask).tolist()
        before = seat.state
        who = f"game 0, seat {seat.games.data['seat'][0]}"
        for action in [*bad_actions(seat.mask, rng), -1]:
            with pytest.raises(ValueError, match="legal") as refusal:
                seat.step(action)
            message = f"{who}: action {action} is illegal; legal: {named(legal)}"
            # Gymnasium's envs add where the masks are.
            assert str(refusal.value).partition(". Masks are in ")[0] == message
        for wrong in NOT_NUMBERS:
            with pytest.raises(ValueError, match=f"{who}: action .* not a whole number; legal: "):
                seat.step(wrong)
        for shape in ([1, 2, 3], np.zeros((2, 2), int), []):
            with pytest.raises(ValueError, match="action"):
                seat.step(np.asarray(shape, int))
        assert seat.state == before
        seat.step(rng.choice(legal))


def test_B22_an_action_may_come_as_a_number_or_as_a_small_array() -> None:
    """What `predict` returns is an array."""
    kinds: list[Callable[[int], Any]] = [
        int,
        np.int64,
        np.int32,
        np.uint8,
        np.array,
        lambda action: np.array([action]),
        lambda action: np.array(action, np.uint8),
    ]
    for kind in (raw, single):
        results = set()
        for wrap in kinds:
            seat = kind("all-fives:players=3")
            seat.step(wrap(int(seat.mask.argmax())))
            results.add(seat.games.data.tobytes())
        assert len(results) == 1


def test_a_finished_single_env_takes_no_action() -> None:
    env = FivesEnv("all-fives:mode=round")
    env.reset(seed=1)
    over = False
    while not over:
        *_, over, _, _ = env.step(int(env.action_masks().argmax()))
    before = pickle.dumps(env)
    assert not env.action_masks().any()
    for action in (0, PASS, -1, None):
        with pytest.raises(ValueError, match="after the end of the match; reset first"):
            env.step(action)
    assert pickle.dumps(env) == before


def test_steps_before_reset_say_reset_first() -> None:
    for env in (FivesEnv(), FivesVectorEnv(2), fives_env.raw_env()):
        with pytest.raises(ValueError, match="reset"):
            env.step(0)


def test_a_finished_agent_takes_only_none_and_an_emptied_game_only_a_reset() -> None:
    """B02: `step(3)` for a finished seat raises; when all are gone the message says reset."""
    env = fives_env.raw_env(rules="all-fives:mode=round")
    env.reset(seed=1)
    while not any(env.terminations.values()):
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(mask.argmax()))
    for wrong in (3, 0, -1, 500, "x"):
        before = pickle.dumps(env)
        with pytest.raises(ValueError, match="None"):
            env.step(wrong)
        assert pickle.dumps(env) == before
    while env.agents:
        env.step(None)
    for wrong in (None, 3):
        with pytest.raises(ValueError, match="reset"):
            env.step(wrong)
