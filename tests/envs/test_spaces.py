"""The action space of the vector env: a `MultiDiscrete` whose samples are legal."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import MultiDiscrete
from gymnasium.vector.utils import iterate

from fives_env.envs.registration import IDS
from fives_env.envs.spaces import ActionSpaces
from fives_env.envs.vector import FivesVectorEnv
from tests.core.material import assert_uniform
from tests.envs.play import Array, assert_same


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@pytest.mark.parametrize("env_id", IDS)
def test_X03_a_loop_over_samples_of_the_vector_envs_space_plays_legally(
    env_id: str, mode: str
) -> None:
    env = gymnasium.make_vec(env_id, num_envs=9, autoreset_mode=mode, illegal="raise")
    env.reset(seed=1)
    env.action_space.seed(1)
    ended = 0
    for _ in range(150):
        actions = env.action_space.sample()
        assert env.action_space.contains(actions)
        *_, terminations, truncations, _ = env.step(actions)
        over = terminations | truncations
        ended += int(over.sum())
        if mode == "Disabled" and over.any():
            env.reset(options={"reset_mask": over})
    assert ended > 3


def some_masks() -> Array:
    masks = np.zeros((3, 114), np.int8)
    masks[0, [0, 5, 113]] = masks[1, 7] = masks[2, [1, 2]] = 1
    return masks


def test_X03_samples_are_uniform_seeded_and_of_the_mask_in_any_form() -> None:
    space, masks = ActionSpaces(3), some_masks()
    space.seed(3)
    drawn = np.array([space.sample(masks) for _ in range(3000)])
    assert drawn.dtype == np.int64
    assert_uniform(np.bincount(drawn[:, 0], minlength=114)[[0, 5, 113]])
    assert (drawn[:, 1] == 7).all()
    assert_uniform(np.bincount(drawn[:, 2], minlength=3)[1:])
    for form in (masks.astype(bool), tuple(masks)):
        space.seed(3)
        assert [space.sample(form).tolist() for _ in range(50)] == drawn[:50].tolist()
    weights = tuple(np.eye(114)[[4, 5, 6]])
    assert space.sample(probability=weights).tolist() == [4, 5, 6]
    free = np.array([space.sample() for _ in range(400)])
    assert len(np.unique(free)) > 100, "without masks: any action of the space"


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((3, 114), np.int8), some_masks()[:2], some_masks()[0], some_masks() * 1.0, "mask"],
    ids=["empty", "rows", "row", "float", "text"],
)
def test_B14_wrong_masks_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="mask"):
        ActionSpaces(3).sample(wrong)


def test_X03_the_space_is_a_space_as_gymnasium_has_them() -> None:
    space, usual = ActionSpaces(3), MultiDiscrete([114] * 3)
    assert space == usual
    assert usual == space
    assert ActionSpaces(2) != space
    assert (space.shape, space.dtype, repr(space)) == (usual.shape, usual.dtype, repr(usual))
    assert space.contains(np.array([0, 5, 113]))
    for outside in ([0, 5, 114], [-1, 0, 0], [0, 0]):
        assert not space.contains(np.array(outside))
    assert [list(iterate(each, np.array([1, 2, 3]))) for each in (space, usual)] == [[1, 2, 3]] * 2
    assert space.from_jsonable(space.to_jsonable([np.array([1, 2, 3])]))[0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_B33_the_space_is_pickled_alone_and_with_its_env(copied: Any) -> None:
    env = FivesVectorEnv(4, "all-fives")
    for prepared in (False, True):
        if prepared:
            env.reset(seed=1)
        for thing, space in ((env, lambda e: e.action_space), (env.action_space, lambda s: s)):
            space(thing).seed(5)
            twin = copied(thing)
            assert space(twin) == space(thing)
            for _ in range(5):
                assert_same(space(twin).sample(), space(thing).sample())
    twin = copied(env)
    for each in (env, twin):
        each.action_space.seed(1)
        each.step(each.action_space.sample())
    assert_same(env.action_space.sample(), twin.action_space.sample())


def test_X03_a_copied_env_samples_from_its_own_tables() -> None:
    env = FivesVectorEnv(4, "all-fives")
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    for _ in range(20):
        twin.step(twin.action_space.sample())
    assert twin.action_masks()[np.arange(4), twin.action_space.sample()].all()
    assert env.action_masks()[np.arange(4), env.action_space.sample()].all()
