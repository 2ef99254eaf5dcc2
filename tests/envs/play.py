"""What the tests of the Gymnasium envs share: ways to play them, and exact comparison."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fives_env import BuiltIn, Games
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from tests.core.material import compiled_keys

Array = NDArray[Any]
Env = TypeVar("Env", FivesEnv, FivesVectorEnv)

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("fives-and-threes:players=2,target=31", {"seat": "random", "reward": "points"}),
    ("fives-and-threes:players=3,max_rounds=3", {"seat": 2, "start_scores": "random"}),
    ("fives-and-threes:players=4", {"seat": "random", "partner": "random", "reward": "points"}),
    ("fives-and-threes:players=4,partners=no,mode=round", {"seat": 1, "reward": "points"}),
    ("threes-and-fives:players=2,mode=round", {"start_scores": "random", "opponent": "random"}),
    ("threes-and-fives:players=3,max_rounds=2", {"seat": "random", "reward": "points"}),
    ("threes-and-fives:players=4,partners=yes,target=90", {"partner": "greedy", "seat": 3}),
    ("threes-and-fives:players=4,draw=optional,max_rounds=1", {"opponent": "random"}),
    ("all-fives:players=2,target=60", {"seat": "random", "start_scores": [40, -7]}),
    ("all-fives:players=3,deal=1,mode=round", {"seat": "random", "reward": "points"}),
    ("all-fives:players=4,target=40", {"partner": "random", "seat": "random"}),
    ("all-fives:players=4,partners=no,max_rounds=2", {"reward": "points", "opponent": "random"}),
]
"""Rules and arguments: every preset and number of seats; every kind of seat, partner and reward."""

NAMES = [f"{spec}|{','.join(f'{k}={v}' for k, v in given.items())}" for spec, given in SETTINGS]


def single(setting: tuple[str, dict[str, Any]], **more: Any) -> FivesEnv:
    return FivesEnv(setting[0], **{**setting[1], **more})


def vector(num_envs: int, setting: tuple[str, dict[str, Any]], **more: Any) -> FivesVectorEnv:
    return FivesVectorEnv(num_envs, setting[0], **{**setting[1], **more})


def choose(masks: Array, rng: np.random.Generator) -> Array:
    """A random legal action a row: int64 [N]."""
    return np.argmax(rng.random(masks.shape) * masks, axis=1)


def assert_same(one: Any, two: Any, where: str = "") -> None:
    """The same structure, types, shapes, dtypes and values; zeros are not taken for nothing."""
    assert type(one) is type(two), f"{where}: {type(one)} and {type(two)}"
    if isinstance(one, dict):
        assert set(one) == set(two), where
        for key in one:
            assert_same(one[key], two[key], f"{where}[{key!r}]")
    elif isinstance(one, tuple | list):
        assert len(one) == len(two), where
        for index, pair in enumerate(zip(one, two, strict=True)):
            assert_same(*pair, f"{where}[{index}]")
    elif isinstance(one, np.ndarray) and one.dtype == object:
        assert one.dtype == two.dtype, where
        assert_same(one.tolist(), two.tolist(), where)
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (two.dtype, two.shape), where
        assert one.tobytes() == two.tobytes(), f"{where}: {one} and {two}"
    else:
        assert one == two, f"{where}: {one} and {two}"


class InPython:
    """The built-in policy of this name, as a policy that the envs must call.

    With `games` it chooses by the same numbers as compiled code does in these.
    """

    def __init__(self, name: str) -> None:
        self.inner = BuiltIn(name)
        self.batches: list[int] = []
        self.games: Games | None = None

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        self.batches.append(len(views))
        assert masks.any(axis=1).all(), "B13: an empty mask"
        assert (views["viewer"] == views["seat"]).all()
        if self.games is not None:
            keys = compiled_keys(self.games, views)
        return self.inner.act(views, masks, keys)


def in_python(make: Callable[..., Env], given: dict[str, Any]) -> Env:
    """What `make` makes, with policies in Python that play as the built-in ones in `given` do."""
    policies = {"opponent": "greedy", **given}
    inside = {name: InPython(policies[name]) for name in {"opponent", "partner"} & set(policies)}
    env = make(**{**policies, **inside})
    for policy in inside.values():
        policy.games = env._tables.games
    return env


__all__ = ["NAMES", "SETTINGS", "Array", "InPython", "assert_same", "choose", "in_python"]
__all__ += ["single", "vector"]
