"""What follows the end of an episode in the native vector env: Gymnasium's three modes."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from fives_env.envs.registration import IDS
from fives_env.envs.vector import FivesVectorEnv
from tests.envs.play import NAMES, SETTINGS, Array, assert_same, choose, single, vector
from tests.envs.test_illegal import mixed

MODES = list(AutoresetMode)
STEPS = 100


def pair(setting: Any, mode: AutoresetMode, num_envs: int = 4, **more: Any) -> tuple[Any, Any]:
    """The native env, and Gymnasium's own vector of as many single ones."""
    native = vector(num_envs, setting, autoreset_mode=mode, **more)
    sync = SyncVectorEnv([lambda: single(setting, **more)] * num_envs, autoreset_mode=mode)
    return native, sync


def rows_of(infos: dict[str, Any], rows: Array) -> dict[str, Any]:
    return {key: value[rows] for key, value in infos.items()}


@pytest.mark.parametrize("illegal", ["raise", "lose"])
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_X06_B25_every_mode_is_gymnasiums_sync_vector_env_to_the_last_key_of_info(
    setting: Any, mode: AutoresetMode, illegal: str
) -> None:
    """With illegal actions among the legal ones where they lose; DISABLED is reset by its mask."""
    env, sync = pair(setting, mode, illegal=illegal)
    for space in ("single_observation_space", "single_action_space", "observation_space"):
        assert getattr(env, space) == getattr(sync, space)
    assert env.action_space == sync.action_space
    choose_actions = mixed if illegal == "lose" else choose
    rng, ended = np.random.default_rng(1), 0
    assert_same(env.reset(seed=7), sync.reset(seed=7))
    for _ in range(STEPS):
        actions = choose_actions(env.action_masks(), rng)
        one, two = env.step(actions), sync.step(actions)
        assert_same(one, two)
        assert env.observation_space.contains(one[0])
        over = one[2] | one[3]
        ended += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            seed = int(rng.integers(99)) if rng.random() < 0.5 else None
            one, two = (each.reset(seed=seed, options={"reset_mask": over}) for each in (env, sync))
            assert_same(one[0], two[0])
            assert_same(rows_of(one[1], over), rows_of(two[1], over))
    assert ended > 4
    assert_same(env.reset(), sync.reset())
    assert_same(env.reset(seed=[5, 3, 2**40, 0]), sync.reset(seed=[5, 3, 2**40, 0]))


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_X05_X06_make_vec_takes_the_mode_and_the_env_says_which_it_is(mode: AutoresetMode) -> None:
    for given in (mode, mode.value):
        env = gymnasium.make_vec(next(iter(IDS)), num_envs=3, autoreset_mode=given)
        assert env.autoreset_mode is mode
        assert env.metadata["autoreset_mode"] is mode
        assert env.metadata["render_fps"] > 0
    assert FivesVectorEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert FivesVectorEnv(2).autoreset_mode is AutoresetMode.SAME_STEP


def finished(mode: AutoresetMode, **arguments: Any) -> tuple[FivesVectorEnv, Array]:
    """An env right after an episode or more has ended, and which: bool [6]."""
    env = FivesVectorEnv(6, "all-fives:mode=round", autoreset_mode=mode, **arguments)
    env.reset(seed=1)
    env.action_space.seed(1)
    over = np.zeros(6, bool)
    while not over.any():
        *_, terminations, truncations, _ = env.step(env.action_space.sample())
        over = terminations | truncations
    assert not over.all()
    return env, over


def test_X06_the_step_after_the_end_looks_at_no_action_there_and_pays_nothing() -> None:
    env, over = finished(AutoresetMode.NEXT_STEP, reward="points")
    assert env.action_masks().any(axis=1).tolist() == (~over).tolist()
    twin = copy.deepcopy(env)
    actions = env.action_space.sample()
    results = [each.step(np.where(over, any_, actions)) for each, any_ in ((env, 0), (twin, 999))]
    assert_same(*results)
    _, rewards, terminations, truncations, infos = results[0]
    assert not rewards[over].any()
    assert not (terminations | truncations)[over].any()
    assert env.action_masks()[over].any(axis=1).all()
    assert "final_obs" not in infos


def test_X06_a_table_that_waits_is_not_played_and_the_message_says_reset() -> None:
    env, over = finished(AutoresetMode.DISABLED)
    before = pickle.dumps(env)
    actions = np.where(over, 113, env.action_space.sample())
    before = env._tables.games.data.tobytes()
    with pytest.raises(ValueError, match=f"game {over.argmax()}.*reset first"):
        env.step(actions)
    assert env._tables.games.data.tobytes() == before
    env.reset(options={"reset_mask": over})
    env.step(env.action_space.sample())


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_X06_a_partial_reset_leaves_the_other_tables_as_they_are(mode: AutoresetMode) -> None:
    env, twin = (FivesVectorEnv(6, "all-fives", autoreset_mode=mode) for _ in range(2))
    rng, rows = np.random.default_rng(1), np.arange(6)
    chosen = rows % 2 == 1
    for each in (env, twin):
        each.reset(seed=1)
    for _ in range(7):
        actions = choose(env.action_masks(), rng)
        assert_same(env.step(actions), twin.step(actions))
    options = {"reset_mask": chosen, "scores": [30, 40]}
    observations, infos = env.reset(seed=50, options=options)
    assert options["reset_mask"] is chosen, "the caller's own"
    assert_same(env.action_masks()[~chosen], twin.action_masks()[~chosen])
    assert_same(infos["action_mask"], env.action_masks().astype(np.int8))
    assert infos["_action_mask"].all()
    fresh, facts = FivesVectorEnv(6, "all-fives").reset(seed=50, options={"scores": [30, 40]})
    assert_same(observations[chosen], fresh[chosen])
    assert_same(rows_of(infos, chosen), rows_of(facts, chosen))
    for _ in range(20):
        actions = choose(env.action_masks(), rng)
        for a, b in zip(
            env.step(actions)[:4],
            twin.step(np.where(chosen, choose(twin.action_masks(), rng), actions))[:4],
            strict=True,
        ):
            assert_same(a[~chosen], b[~chosen])


def test_X06_B29_options_hold_over_a_reset_that_gives_nothing_but_a_mask() -> None:
    deck = np.random.default_rng(3).permutation(28).tolist()
    env = FivesVectorEnv(4, "all-fives:mode=round", autoreset_mode="Disabled", opponent="random")
    env.reset(options={"rounds": [{"deck": deck, "leader": 0}], "scores": [50, 20]})
    chosen = np.array([True, False, False, True])
    _, infos = env.reset(options={"reset_mask": chosen})
    assert (infos["scores"] == [50, 20]).all()
    assert (env._tables.games.data["deck"] == deck).all()
    _, infos = env.reset(options={"reset_mask": chosen, "scores": [7, 8]})
    assert infos["scores"].tolist() == [[7, 8], [50, 20], [50, 20], [7, 8]]
    env.step(env.action_space.sample())
    _, infos = env.reset(options={"reset_mask": chosen})
    assert infos["scores"][chosen].tolist() == [[7, 8]] * 2
    _, infos = env.reset(options={"reset_mask": np.ones(4, bool)})
    assert infos["scores"].tolist() == [[7, 8], [50, 20], [50, 20], [7, 8]]
    _, infos = env.reset(seed=1, options={"reset_mask": np.ones(4, bool)})
    assert (infos["scores"] < 50).all()
    assert not (env._tables.games.data["deck"] == deck).all()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"reset_mask": np.zeros(4, bool)}, "at least one True"),
        ({"reset_mask": np.ones(3, bool)}, r"shape \(4,\)"),
        ({"reset_mask": np.ones(4, int)}, "bool"),
        ({"reset_mask": 1}, "bool"),
        ({"reset_mask": [True, False, False, False], "rounds": [{}]}, "all tables"),
        ({"reset_mask": [True, False, False, False], "scores": [99999, 0]}, "below the target"),
        ({"reset_mask": [True, False, False, False], "leader": 1}, "rounds, scores"),
    ],
    ids=str,
)
def test_X06_a_wrong_partial_reset_is_refused_and_changes_nothing(options: Any, word: str) -> None:
    env = FivesVectorEnv(4, "all-fives")
    env.reset(seed=1)
    before = pickle.dumps(env)
    with pytest.raises(ValueError, match=word):
        env.reset(options=options)
    if "99999" not in str(options):
        with pytest.raises(ValueError, match=r"seed|mask|tables|options"):
            env.reset(seed=-1, options=options)
    assert pickle.dumps(env) == before


def test_X06_wrong_seeds_are_refused_in_a_partial_reset_too() -> None:
    env = FivesVectorEnv(4, "all-fives")
    mask = np.array([True, False, False, False])
    with pytest.raises(ValueError, match="all tables before some"):
        env.reset(options={"reset_mask": mask})
    env.reset(seed=1)
    before = pickle.dumps(env)
    for wrong in (-1, [1, 2], [1, 2, 3, None]):
        with pytest.raises(ValueError, match="seed"):
            env.reset(seed=wrong, options={"reset_mask": mask, "scores": [1, 2]})
    assert pickle.dumps(env) == before


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_B33_a_vector_env_is_pickled_and_saved_while_tables_wait(mode: AutoresetMode) -> None:
    env, over = finished(mode, seat="random", illegal="lose")
    again = FivesVectorEnv(
        6, "all-fives:mode=round", autoreset_mode=mode, seat="random", illegal="lose"
    )
    again.load_games(env.save_games())
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), again]
    rng = np.random.default_rng(1)
    for _ in range(40):
        if mode is AutoresetMode.DISABLED and over.any():
            for each in (env, *twins):
                each.reset(options={"reset_mask": over})
        actions = mixed(env.action_masks(), rng)
        first, *others = [each.step(actions) for each in (env, *twins)]
        over = first[2] | first[3]
        for other in others:
            assert_same(first, other)
    assert all(twin.autoreset_mode is mode for twin in twins)
