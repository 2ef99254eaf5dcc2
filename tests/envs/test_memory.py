"""B62: memory stays flat over thousands of resets and hundreds of thousands of steps."""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fives_env
from fives_env import Games, belief, encode
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv

MOST = 200_000
"""Bytes that may be left behind: a fifth of what B62 allows over a much longer run."""


def growth(work: Callable[[], Any], times: int) -> int:
    """The bytes that `times` calls leave behind, after a warm-up of a tenth of them."""
    for _ in range(times // 10):
        work()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(times):
        work()
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return after - before


def aec(**arguments: Any) -> Callable[[], None]:
    env = fives_env.env(rules="all-fives:mode=round", **arguments)

    def work() -> None:
        env.reset()
        while env.agents:
            observation, _, *ends, _ = env.last()
            env.step(None if any(ends[:2]) else int(observation["action_mask"].argmax()))
        env.render()

    return work


def single() -> Callable[[], None]:
    env = FivesEnv("all-fives:mode=round", seat="random")

    def work() -> None:
        env.reset(options={"scores": [3, 4], "rounds": [{}]})
        over = False
        while not over:
            *_, over, _, _ = env.step(int(env.action_masks().argmax()))

    return work


def vector() -> Callable[[], None]:
    env = FivesVectorEnv(8, "all-fives:mode=round", seat="random")
    env.reset(seed=1)

    def work() -> None:
        env.step(env.action_masks().argmax(axis=1))

    return work


def batch() -> Callable[[], None]:
    games = Games("all-fives:players=4", 8, threads=2)

    def work() -> None:
        games.reset(seed=1, rounds=[{"leader": 1}])
        games.rollout(50, "greedy")
        views = games.clone().view()
        encode(views)
        belief.sample(views, np.arange(8), 4)

    return work


@pytest.mark.parametrize(
    ("make", "times"),
    [(lambda: aec(render_mode="ansi"), 100), (single, 500), (vector, 1000), (batch, 100)],
    ids=["aec", "single", "vector", "games"],
)
def test_B62_memory_does_not_grow_with_matches(make: Any, times: int) -> None:
    assert growth(make(), times) < MOST


def test_B62_thousands_of_bare_resets_leave_nothing_behind() -> None:
    env, single_env = fives_env.env(rules="all-fives:players=4"), FivesEnv("all-fives")

    def work() -> None:
        env.reset(seed=3)
        single_env.reset(seed=3)

    assert growth(work, 1500) < MOST


def test_B62_millions_of_steps_leave_nothing_behind() -> None:
    games = Games("threes-and-fives:players=4", 64)
    assert growth(lambda: games.rollout(1000), 40) < MOST  # 2.8 million steps
