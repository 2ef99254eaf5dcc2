"""The native vector env is N single envs, autoreset included, and fits what Gymnasium has."""

import copy
import pickle
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from fives_env import Games, Rules
from fives_env.envs.registration import IDS
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from tests.core.material import BASIC, assert_uniform
from tests.envs.play import (
    NAMES,
    SETTINGS,
    Array,
    InPython,
    assert_same,
    choose,
    in_python,
    single,
    vector,
)

ROOT = Path(__file__).parents[2]
STEPS = 120


class Singles:
    """N single envs stepped in a loop with SAME_STEP autoreset, written out by hand."""

    def __init__(self, num_envs: int, setting: Any, options: Any = None) -> None:
        self.envs = [single(setting) for _ in range(num_envs)]
        self.options = options

    def reset(self, seed: int) -> tuple[Array, Array, dict[str, Array]]:
        results = [
            env.reset(seed=seed + i, options=self.options) for i, env in enumerate(self.envs)
        ]
        self.infos = [info for _, info in results]
        return np.array([observation for observation, _ in results]), *self.looks()

    def looks(self) -> tuple[Array, dict[str, Array]]:
        masks = np.array([env.action_masks() for env in self.envs])
        return masks, {k: np.array([info[k] for info in self.infos]) for k in self.infos[0]}

    def step(self, actions: Array) -> tuple[Any, ...]:
        """Observations, rewards, ends, what the finished episodes saw last, masks, infos."""
        rows, last = [], {}
        for i, (env, action) in enumerate(zip(self.envs, actions, strict=True)):
            observation, reward, terminated, truncated, self.infos[i] = env.step(action)
            if terminated or truncated:
                last[i] = observation, self.infos[i]
                observation, self.infos[i] = env.reset(options=self.options)
            rows.append((observation, reward, terminated, truncated))
        return *map(np.array, zip(*rows, strict=True)), last, *self.looks()


def assert_step_alike(env: FivesVectorEnv, singles: Singles, actions: Array) -> int:
    """One step of both; returns how many episodes ended."""
    observations, rewards, terminations, truncations, infos = env.step(actions)
    *expected, last, masks, facts = singles.step(actions)
    assert_same([observations, rewards, terminations, truncations], expected)
    assert_same(env.action_masks(), masks)
    assert_same({key: infos[key] for key in facts}, facts)
    ended = terminations | truncations
    if not ended.any():
        assert "final_obs" not in infos
        assert "final_info" not in infos
        return 0
    assert_same(infos["_final_obs"], ended)
    assert_same(infos["_final_info"], ended)
    assert sorted(last) == np.flatnonzero(ended).tolist()
    for row, (observation, info) in last.items():
        assert_same(infos["final_obs"][row], observation)
        for key, value in info.items():
            assert_same(np.asarray(infos["final_info"][key][row]), np.asarray(value))
    return len(last)


@pytest.mark.parametrize("scripted", [False, True], ids=["by seed", "scripted"])
@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_B27_the_vector_env_is_n_single_envs_with_same_step_autoreset(
    setting: Any, scripted: bool
) -> None:
    rules, rng = Rules.from_spec(setting[0]), np.random.default_rng(0)
    options = None
    if scripted:
        leader = {} if "deal=1" in setting[0] else {"leader": 0}
        deck = rng.permutation(28).tolist()
        options = {"rounds": [{"deck": deck, **leader}, leader], "scores": [5] * rules.num_sides}
    env, singles = vector(4, setting), Singles(4, setting, options)
    ended = 0
    for seed in (0, 100):
        observations, infos = env.reset(seed=seed, options=options)
        expected, masks, facts = singles.reset(seed)
        assert_same(observations, expected)
        assert_same(env.action_masks(), masks)
        assert_same({key: infos[key] for key in facts}, facts)
        for _ in range(STEPS):
            ended += assert_step_alike(env, singles, choose(env.action_masks(), rng))
    assert ended > 10


@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_B13_B23_no_mask_is_empty_and_each_belongs_to_its_rows_current_observation(
    setting: Any,
) -> None:
    env, rng = vector(16, setting), np.random.default_rng(2)
    _, infos = env.reset(seed=1)
    for _ in range(60):
        masks = env.action_masks()
        assert (masks.dtype, masks.shape) == (np.bool_, (16, 114))
        assert masks.any(axis=1).all()
        assert_same(infos["action_mask"], masks.astype(np.int8))
        assert infos["_action_mask"].all()
        assert_same(masks, env._tables.games.action_mask())
        *_, infos = env.step(choose(masks, rng))


@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_policies_in_python_give_the_very_streams_of_built_in_ones(setting: Any) -> None:
    spec, given = setting
    make = partial(FivesVectorEnv, 6, spec)
    compiled, python = make(**given), in_python(make, given)
    rng = np.random.default_rng(4)
    assert_same(compiled.reset(seed=3), python.reset(seed=3))
    for _ in range(60):
        actions = choose(compiled.action_masks(), rng)
        assert_same(compiled.step(actions), python.step(actions))


def test_policies_in_python_are_called_on_sub_batches_and_not_table_by_table() -> None:
    opponent, partner = InPython("greedy"), InPython("random")
    env = FivesVectorEnv(200, "fives-and-threes:players=4", opponent=opponent, partner=partner)
    env.reset(seed=1)
    for _ in range(10):
        env.step(env.action_masks().argmax(axis=1))
    for policy in (opponent, partner):
        assert np.mean(policy.batches) > 20
        assert max(policy.batches) <= 200


def side_gains(rules: Rules, seats: Array, gains: Array) -> Array:
    """What `points` pays each learner for gains by side [N, sides]."""
    own = gains[np.arange(len(seats)), seats % 2 if rules.partners else seats]
    return own - (gains.sum(axis=1) - own) / (rules.num_sides - 1)


@pytest.mark.parametrize("spec", BASIC)
def test_points_sum_to_the_difference_of_scores_over_each_episode(spec: str) -> None:
    """From the start scores, so with all that happens before the learner's first turn."""
    target = {"f": 30, "t": 120, "a": 60}[spec[0]]
    env = FivesVectorEnv(64, f"{spec},target={target},max_rounds=4", seat="random", reward="points")
    rng, start = np.random.default_rng(5), np.arange(env.rules.num_sides) * 3
    _, infos = env.reset(seed=2, options={"scores": start})
    paid, ended, seats = np.zeros(64), 0, infos["seat"]
    for _ in range(80):
        _, rewards, terminations, truncations, infos = env.step(choose(env.action_masks(), rng))
        paid += rewards
        over = terminations | truncations
        if over.any():
            final = infos["final_info"]
            assert_same(final["seat"][over], seats[over])
            expected = side_gains(env.rules, final["seat"], final["scores"] - start)
            assert np.allclose(paid[over], expected[over])
            paid[over], ended = 0, ended + int(over.sum())
        seats = infos["seat"]
    assert ended > 30


@pytest.mark.parametrize("spec", BASIC)
def test_outcomes_are_plus_one_for_the_winner_and_shares_of_minus_one(spec: str) -> None:
    target = {"f": 30, "t": 120, "a": 60}[spec[0]]
    env = FivesVectorEnv(64, f"{spec},target={target},max_rounds=4", seat="random")
    rng, rules = np.random.default_rng(5), env.rules
    env.reset(seed=2)
    paid = set()
    for _ in range(80):
        _, rewards, terminations, truncations, infos = env.step(choose(env.action_masks(), rng))
        over = terminations | truncations
        assert not rewards[~over].any()
        assert not rewards[truncations].any()
        if over.any():
            final = infos["final_info"]
            sides = final["seat"] % 2 if rules.partners else final["seat"]
            won = final["winner"] == sides
            assert (rewards[terminations & won] == 1).all()
            assert (rewards[terminations & ~won] == -1 / (rules.num_sides - 1)).all()
            assert (final["winner"][truncations] == -1).all()
        paid |= set(rewards.tolist())
    assert paid == {0.0, 1.0, -1 / (rules.num_sides - 1)}


def test_episodes_in_which_the_learner_never_acts_are_skipped() -> None:
    env = FivesVectorEnv(50, "all-fives:players=3,deal=1,mode=round", seat="random")
    _, infos = env.reset(seed=1)
    for _ in range(5):
        can_lead = infos["leader"] == infos["seat"]
        stuck = env._tables.games.data["num_moves"] > 0
        assert (can_lead | stuck).all()
        *_, infos = env.step(env.action_masks().argmax(axis=1))


def test_a_random_seat_is_uniform_and_drawn_anew_for_each_match() -> None:
    env = FivesVectorEnv(6000, "threes-and-fives:players=4", seat="random", opponent="random")
    _, infos = env.reset(seed=1)
    first = infos["seat"]
    assert_uniform(np.bincount(first * 4 + infos["leader"], minlength=16))
    _, infos = env.reset()
    assert_uniform(np.bincount(first * 4 + infos["seat"], minlength=16))
    neighbours = infos["seat"][:-1] * 4 + infos["seat"][1:]
    assert_uniform(np.bincount(neighbours, minlength=16))


def test_B10_neighbouring_seeds_give_other_deals_and_the_same_on_a_second_run() -> None:
    env = FivesVectorEnv(8, "all-fives")
    observations, _ = env.reset(seed=3)
    assert len({row.tobytes() for row in observations}) == 8
    again, _ = FivesVectorEnv(8, "all-fives").reset(seed=3)
    assert_same(observations, again)
    shifted, _ = env.reset(seed=4)
    assert_same(shifted[:-1], observations[1:])


def test_B29_options_survive_autoreset_until_a_reset_with_a_seed_or_options() -> None:
    deck = np.random.default_rng(3).permutation(28).tolist()
    env = FivesVectorEnv(8, "all-fives:mode=round", opponent="random", start_scores=[1, 2])
    rng = np.random.default_rng(1)
    options = {"rounds": [{"deck": deck, "leader": 0}], "scores": [50, 20]}
    env.reset(seed=1, options=options)
    ended = 0
    for _ in range(60):
        data = env._tables.games.data
        assert (data["deck"] == deck).all()
        assert (data["leader"] == 0).all()
        *_, terminations, truncations, infos = env.step(choose(env.action_masks(), rng))
        over = terminations | truncations
        ended += int(over.sum())
        assert (infos["scores"][over] == [50, 20]).all(), "leader 0 is the learner: nothing yet"
    assert ended > 20
    for given in ({"options": {}}, {"seed": 5}):
        env.reset(options=options)
        assert (env._tables.games.data["deck"] == deck).all()
        env.reset()
        assert (env._tables.games.data["deck"] == deck).all()
        _, infos = env.reset(**given)
        assert not (env._tables.games.data["deck"] == deck).all()
        assert (infos["scores"][:, 1] < 50).all()
        assert (infos["scores"][infos["leader"] == 0] == [1, 2]).all(), "start_scores hold again"
        *_, infos = env.step(env.action_masks().argmax(axis=1))


def test_random_start_scores_are_drawn_for_each_match_over_the_score_plane() -> None:
    env = FivesVectorEnv(500, "fives-and-threes:mode=round", start_scores="random")
    seen = []
    env.reset(seed=1)
    for _ in range(30):
        fresh = env._tables.games.data["num_moves"] == 0
        seen.append(env._tables.games.data["scores"][fresh, :2].copy())
        env.step(env.action_masks().argmax(axis=1))
    scores = np.concatenate(seen)
    assert set(np.unique(scores)) == set(range(61))
    assert_uniform(np.bincount(scores[:, 0], minlength=61))
    assert_uniform(
        np.bincount(scores[:, 0] // 21 * 3 + scores[:, 1] // 21, minlength=9),
        np.outer([21, 21, 19], [21, 21, 19]).ravel() / 61**2 * len(scores),
    )


def test_B27_an_explicit_reset_in_mid_game_restores_everything() -> None:
    env, fresh = FivesVectorEnv(5, "all-fives"), FivesVectorEnv(5, "all-fives")
    rng = np.random.default_rng(1)
    env.reset(seed=9, options={"scores": [5, 5]})
    for _ in range(30):
        env.step(choose(env.action_masks(), rng))
    assert_same(env.reset(seed=4), fresh.reset(seed=4))
    for _ in range(30):
        actions = choose(env.action_masks(), rng)
        assert_same(env.step(actions), fresh.step(actions))


@pytest.mark.parametrize("rules", ["all-fives:target=40", "fives-and-threes:players=4,mode=round"])
def test_B26_no_array_that_was_returned_changes_later(rules: str) -> None:
    env, twin = FivesVectorEnv(6, rules), FivesVectorEnv(6, rules)
    rng, kept, copies, finals = np.random.default_rng(1), [], [], 0
    returned = env.reset(seed=1)
    twin.reset(seed=1)
    for _ in range(50):
        kept.append((returned, env.action_masks()))
        copies.append(copy.deepcopy(kept[-1]))
        actions = choose(env.action_masks(), rng)
        returned, mirrored = env.step(actions), twin.step(actions)
        assert_same(returned, mirrored)
        finals += "final_obs" in returned[4]
        scribble(mirrored)
        twin.action_masks()[:] = True
        assert_same(twin.action_masks(), env.action_masks())
    assert finals
    assert_same(kept, copies)


def scribble(value: Any) -> None:
    """Writes into every array there is."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        value[...] = 1
    elif isinstance(value, dict | tuple | np.ndarray):
        for part in value.values() if isinstance(value, dict) else value:
            scribble(part)


def test_actions_of_the_caller_are_not_kept_or_changed() -> None:
    env = FivesVectorEnv(4)
    env.reset(seed=1)
    actions = env.action_masks().argmax(axis=1)
    kept = actions.copy()
    env.step(actions)
    assert (actions == kept).all()
    actions[:] = 113
    env.step(env.action_masks().argmax(axis=1))


def test_a_start_score_array_that_the_caller_changes_later_changes_nothing() -> None:
    start = np.array([5, 9])
    env = FivesVectorEnv(3, "all-fives", start_scores=start, opponent="random")
    start[:] = 77
    env.reset(seed=1, options={"rounds": [{"leader": 0}]})
    assert (env._tables.games.data["scores"][:, :2] == [5, 9]).all()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("opponent", ["random", InPython("random")], ids=["compiled", "python"])
def test_B33_a_vector_env_is_pickled_in_mid_game(opponent: Any, copied: Any) -> None:
    env = FivesVectorEnv(5, "all-fives:players=4", opponent=opponent, seat="random")
    rng = np.random.default_rng(1)
    env.reset(seed=1, options={"scores": [7, 8]})
    for _ in range(20):
        env.step(choose(env.action_masks(), rng))
    twin = copied(env)
    for _ in range(40):
        actions = choose(env.action_masks(), rng)
        assert_same(env.step(actions), twin.step(actions))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"num_envs": 0}, "num_"),
        ({"num_envs": 1.5}, "num_"),
        ({"rules": "dominoes"}, "fives-and-threes"),
        ({"opponent": "best"}, "random, greedy"),
        ({"partner": "greedy"}, "no partners"),
        ({"seat": 9}, "0 to 1"),
        ({"reward": "win"}, "outcome, points"),
        ({"start_scores": [[0, 0]] * 3}, "shape"),
        ({"render_mode": "ascii"}, "human, ansi"),
        ({"illegal": "lost"}, "'raise' or 'lose'"),
        ({"autoreset_mode": "Never"}, "'NextStep', 'SameStep', 'Disabled'"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_by_name(arguments: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        FivesVectorEnv(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"seed": -1},
        {"seed": 1.5},
        {"seed": [1, 2]},
        {"seed": [1, 2, None]},
        {"seed": "1"},
        {"options": {"seat": 1}},
        {"options": {"scores": [1]}},
        {"options": {"rounds": [{"leader": 5}]}},
    ],
    ids=str,
)
def test_a_wrong_reset_is_refused_and_changes_nothing(arguments: Any) -> None:
    env = FivesVectorEnv(3)
    env.reset(seed=1)
    before = pickle.dumps(env)
    with pytest.raises(ValueError, match=r"seed|option|scores|leader"):
        env.reset(**arguments)
    assert pickle.dumps(env) == before


def test_before_reset_the_message_says_reset() -> None:
    env = FivesVectorEnv(3)
    for call in (lambda: env.step(np.zeros(3, int)), env.action_masks):
        with pytest.raises(ValueError, match="reset"):
            call()


@pytest.mark.parametrize("env_id", IDS)
def test_make_vec_gives_the_native_env_and_takes_its_arguments(env_id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make_vec(env_id, num_envs=5, opponent="random", reward="points")
    assert isinstance(env.unwrapped, FivesVectorEnv)
    assert env.num_envs == 5
    assert env.unwrapped.rules == Rules.preset(IDS[env_id])
    observations, _ = env.reset(seed=1)
    assert_same(observations, FivesVectorEnv(5, IDS[env_id], opponent="random").reset(seed=1)[0])
    explicit = gymnasium.make_vec(env_id, num_envs=2, vectorization_mode="vector_entry_point")
    assert isinstance(explicit.unwrapped, FivesVectorEnv)
    with pytest.raises(ValueError, match="this id is for"):
        gymnasium.make_vec(
            env_id, num_envs=2, rules=next(game for game in IDS.values() if game != IDS[env_id])
        )
    env.close()


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_B30_sync_and_async_return_the_same_with_and_without_shared_memory(mode: Any) -> None:
    setting = ("all-fives:players=2,mode=round", {"seat": "random"})
    make = [lambda: single(setting)] * 2
    envs = [
        SyncVectorEnv(make, autoreset_mode=mode),
        AsyncVectorEnv(make, autoreset_mode=mode, context="fork"),
        AsyncVectorEnv(make, autoreset_mode=mode, shared_memory=False, context="fork"),
    ]
    if mode is AutoresetMode.SAME_STEP:
        envs.append(vector(2, setting))
    returned = [env.reset(seed=3) for env in envs]
    rng, ended, over = np.random.default_rng(1), 0, np.zeros(2, bool)
    for _ in range(40):
        for each in returned[1:]:
            assert_same(each, returned[0])
        masks = returned[0][-1]["action_mask"]
        waits = over & (mode is AutoresetMode.NEXT_STEP)
        assert (masks.any(axis=1) | waits).all(), "B23: an empty mask where an action is due"
        assert envs[0].observation_space.contains(returned[0][0])
        actions = choose(masks, rng)
        returned = [env.step(actions) for env in envs]
        over = returned[0][2] | returned[0][3]
        ended += int(over.sum())
    assert ended > 3
    for env in envs:
        env.close()


SPAWN = """
import gymnasium, fives_env, multiprocessing

def main():
    env = gymnasium.make_vec(
        "fives_env/AllFives-v0", num_envs=2, vectorization_mode="async",
        vector_kwargs={"context": "spawn"}, opponent="random",
    )
    observations, infos = env.reset(seed=3)
    env.step(infos["action_mask"].argmax(axis=1))
    masks = env.call("action_masks")
    assert len(masks) == 2 and all(mask.any() for mask in masks)
    env.close()
    print(float(observations.sum()), len(multiprocessing.active_children()))

if __name__ == "__main__":
    main()
"""


def test_B31_spawned_workers_know_the_ids_and_close_leaves_no_child(tmp_path: Path) -> None:
    script = tmp_path / "spawn.py"
    script.write_text(SPAWN, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    expected, _ = FivesVectorEnv(2, "all-fives", opponent="random").reset(seed=3)
    assert float(run.stdout.split()[0]) == pytest.approx(float(expected.sum()), rel=1e-5)
    assert run.stdout.split()[1] == "0"


def test_rendering_gives_a_text_for_each_table() -> None:
    env = FivesVectorEnv(3, "all-fives", render_mode="ansi")
    env.reset(seed=1)
    texts = env.render()
    assert len(texts) == 3
    assert len(set(texts)) == 3
    assert all("(you)" in text and text.isascii() for text in texts)
    silent = FivesVectorEnv(3)
    silent.reset(seed=1)
    assert silent.render() is None


def test_the_library_never_draws_from_or_seeds_the_global_generator() -> None:
    state = str(np.random.get_state())  # noqa: NPY002
    env = FivesVectorEnv(3, seat="random", start_scores="random")
    env.reset()
    env.reset(seed=1)
    env.step(env.action_masks().argmax(axis=1))
    FivesEnv().reset()
    Games("all-fives").reset()
    assert str(np.random.get_state()) == state  # noqa: NPY002


def test_B18_maskable_ppo_takes_masks_row_by_row_from_vectors_of_single_envs() -> None:
    """Dummy workers; the lab's own adapter has its own tests."""
    pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.utils import get_action_masks
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv

    setting = ("all-fives:mode=round", {"seat": "random"})
    for num_envs in (1, 3):
        env = DummyVecEnv([lambda: Monitor(single(setting))] * num_envs)
        env.seed(3)
        env.reset()
        rng, ended = np.random.default_rng(1), 0
        for _ in range(40):
            masks = get_action_masks(env)
            assert masks.shape == (num_envs, 114)
            assert masks.any(axis=1).all()
            for row, inner in enumerate(env.envs):
                assert_same(masks[row], inner.unwrapped.action_masks())
            _, _, dones, infos = env.step(choose(masks, rng))
            for row in np.flatnonzero(dones):
                ended += 1
                assert infos[row]["terminal_observation"].shape == (env.observation_space.shape)
                assert infos[row]["TimeLimit.truncated"] is False
        assert ended > 2
