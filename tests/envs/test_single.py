"""The Gymnasium env for one learner: checkers, rewards, seats, options, wrappers, pickling."""

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
from gymnasium import wrappers
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from fives_env import Rules
from fives_env.envs.registration import IDS
from fives_env.envs.render import MODES
from fives_env.envs.single import FivesEnv
from tests.core.material import BASIC, assert_uniform
from tests.envs.play import NAMES, SETTINGS, InPython, assert_same, in_python, single

ROOT = Path(__file__).parents[2]


def play_episode(env: FivesEnv, rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Plays one episode that has been reset, at random: what each step gave."""
    steps, over = [], False
    while not over:
        mask = env.get_wrapper_attr("action_masks")()
        action = int(rng.choice(np.flatnonzero(mask)))
        steps.append(env.step(action))
        over = steps[-1][2] or steps[-1][3]
    return steps


@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_X02_gymnasiums_checker_passes_on_the_class_without_a_warning(setting: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*Not able to test alternative render modes")
        check_env(single(setting, illegal="lose", render_mode="ansi"))


@pytest.mark.parametrize("render_mode", [None, *MODES])
@pytest.mark.parametrize("env_id", IDS)
def test_X02_gymnasiums_checker_passes_on_what_make_gives(env_id: str, render_mode: Any) -> None:
    """With the spec there: other render modes, and closing twice."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(env_id, render_mode=render_mode).unwrapped)


@pytest.mark.parametrize("env", [lambda: gymnasium.make(list(IDS)[2]), FivesEnv])
def test_sb3s_checker_passes(env: Any) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(env(), warn=True)


@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_observations_masks_and_infos_are_of_the_spaces_and_always_there(setting: Any) -> None:
    env, rng = single(setting), np.random.default_rng(0)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        steps = [(observation, 0.0, False, False, info), *play_episode(env, rng)]
        for observation, reward, terminated, truncated, info in steps:
            assert env.observation_space.contains(observation)
            assert type(reward) is float
            assert (type(terminated), type(truncated)) == (bool, bool)
            mask = info["action_mask"]
            assert (mask.dtype, mask.shape) == (np.int8, (114,))
            assert mask.any() != (terminated or truncated), "B13"
            assert set(info) == set(steps[0][4])
        assert not env.action_masks().any()


@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_what_an_episode_pays_is_the_difference_of_scores_or_the_outcome(setting: Any) -> None:
    """What others score before the learner's first turn is its part too."""
    env, rng = single(setting, start_scores=None), np.random.default_rng(1)
    rules = env.rules
    start = rng.integers(0, 12, rules.num_sides)
    paid_before = 0
    for seed in range(12):
        _, info = env.reset(seed=seed, options={"scores": start})
        paid_before += (info["scores"] != start).any()
        steps = play_episode(env, rng)
        info, total = steps[-1][4], sum(step[1] for step in steps)
        side, others = rules.side_of(info["seat"]), rules.num_sides - 1
        gains = info["scores"] - start
        if setting[1].get("reward") == "points":
            expected = gains[side] - (gains.sum() - gains[side]) / others
        else:
            won = info["winner"] == side
            expected = 0.0 if info["winner"] < 0 else 1.0 if won else -1.0 / others
        assert total == pytest.approx(expected, abs=1e-9)
    if setting[1].get("seat") and "deal=1" not in setting[0]:
        assert paid_before, "nobody scored before the learner's first turn"


@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_B42_truncated_means_that_max_rounds_was_reached_without_a_winner(setting: Any) -> None:
    env, rng = single(setting), np.random.default_rng(2)
    for seed in range(6):
        env.reset(seed=seed)
        *_, (_, _, terminated, truncated, info) = play_episode(env, rng)
        assert terminated != truncated
        if truncated:
            assert info["winner"] == -1
            assert info["round"] == env.rules.max_rounds - 1
        elif env.rules.mode == "match":
            assert info["winner"] >= 0


def test_B42_both_ends_occur_with_one_cap_on_rounds() -> None:
    env, rng = FivesEnv("all-fives:target=20,max_rounds=1"), np.random.default_rng(2)
    ends = set()
    for seed in range(40):
        env.reset(seed=seed)
        *_, (_, reward, terminated, truncated, info) = play_episode(env, rng)
        ends.add((terminated, truncated, info["winner"] >= 0, reward != 0))
    assert ends == {(True, False, True, True), (False, True, False, False)}


@pytest.mark.parametrize("setting", SETTINGS, ids=NAMES)
def test_a_policy_in_python_that_plays_like_a_built_in_one_gives_the_same_stream(
    setting: Any,
) -> None:
    spec, given = setting
    streams = []
    make = partial(FivesEnv, spec)
    for env in (make(**given), in_python(make, given)):
        rng = np.random.default_rng(3)
        stream: list[Any] = [env.reset(seed=5)]
        for _ in range(3):
            stream += play_episode(env, rng)
            stream.append(env.reset())
        streams.append(stream)
    assert_same(streams[0], streams[1])


def test_a_random_seat_is_uniform_and_knows_nothing_of_the_leader() -> None:
    env = FivesEnv("threes-and-fives:players=4", seat="random", opponent="random")
    counts = np.zeros((4, 4))
    env.reset(seed=1)
    for _ in range(4000):
        _, info = env.reset()
        counts[info["seat"], info["leader"]] += 1
    assert_uniform(counts)


@pytest.mark.parametrize("spec", BASIC)
def test_a_given_seat_is_the_learners_and_is_to_move(spec: str) -> None:
    for seat in range(Rules.from_spec(spec).players):
        env = FivesEnv(spec, seat=seat, opponent="random")
        for seed in range(3):
            _, info = env.reset(seed=seed)
            assert info["seat"] == seat
            assert env._tables.games.data["seat"][0] == seat


def test_an_episode_in_which_the_learner_never_acts_is_skipped() -> None:
    """One tile each: whoever leads goes out, and a learner that does not lead has no turn."""
    env = FivesEnv("all-fives:deal=1,mode=round", seat=1, reward="points")
    for seed in range(30):
        _, info = env.reset(seed=seed)
        assert info["leader"] == info["seat"] == 1
        assert env.action_masks().any()
        *_, terminated, _, info = env.step(int(env.action_masks().argmax()))
        assert terminated


def test_rules_that_never_give_the_learner_a_turn_are_refused_and_not_tried_for_ever() -> None:
    env = FivesEnv("all-fives:deal=1,mode=round", seat=1)
    with pytest.raises(ValueError, match="nothing to do"):
        env.reset(seed=1, options={"rounds": [{"leader": 0}]})


def test_B29_options_hold_until_a_reset_that_gives_a_seed_or_options() -> None:
    deck = np.random.default_rng(3).permutation(28).tolist()
    env = FivesEnv("all-fives", opponent="random", start_scores=[3, 4])
    _, info = env.reset(seed=1)
    assert info["scores"].tolist()[0] >= 3
    options = {"rounds": [{"deck": deck, "leader": 0}], "scores": [50, 20]}
    for given in ({"options": options}, {}, {}):
        observation, info = env.reset(**given)
        assert info["scores"].tolist() == [50, 20]
        assert np.flatnonzero(observation[:28]).tolist() == sorted(deck[:9])
    for given in ({"options": {}}, {"seed": 5}):
        env.reset(options=options)
        other, info = env.reset(**given)
        assert info["scores"].tolist()[0] < 50
        assert np.flatnonzero(other[:28]).tolist() != sorted(deck[:9])


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2], ids=lambda mode: mode.name)
def test_B29_options_survive_the_autoreset_of_gymnasiums_own_vector_envs(mode: Any) -> None:
    env = SyncVectorEnv(
        [lambda: FivesEnv("all-fives:mode=round", opponent="random")] * 3, autoreset_mode=mode
    )
    _, infos = env.reset(seed=1, options={"scores": [50, 20], "rounds": [{"leader": 0}]})
    fresh, ended = np.ones(3, bool), 0
    for _ in range(200):
        assert (infos["scores"][fresh] == [50, 20]).all()
        actions = infos["action_mask"].argmax(axis=1)
        *_, terminations, _, infos = env.step(actions)
        ended += int(terminations.sum())
        fresh = terminations if mode == AutoresetMode.SAME_STEP else np.zeros(3, bool)
    assert ended > 9


def test_a_loop_over_samples_of_the_action_space_plays_legally() -> None:
    env = FivesEnv("threes-and-fives:mode=round")
    env.action_space.seed(1)
    seen = set()
    for seed in range(30):
        env.reset(seed=seed)
        over = False
        while not over:
            action = env.action_space.sample()
            seen.add(int(action))
            *_, over, _, _ = env.step(action)
    assert len(seen) > 40


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"opponent": "greedy"}, "rounds, scores"),
        ({"leader": 0}, "rounds, scores"),
        ({"scores": [61, 0]}, "below the target"),
        ({"rounds": [{"deck": [1, 2]}]}, "28 tiles"),
    ],
    ids=str,
)
def test_B29_unknown_or_wrong_options_are_refused_and_change_nothing(
    options: Any, word: str
) -> None:
    env = FivesEnv()
    env.reset(seed=1)
    before = env._tables.games.data.tobytes(), env.action_masks().tobytes()
    with pytest.raises(ValueError, match=word):
        env.reset(seed=2, options=options)
    assert (env._tables.games.data.tobytes(), env.action_masks().tobytes()) == before
    env.step(int(env.action_masks().argmax()))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"rules": "dominoes"}, "fives-and-threes"),
        ({"opponent": "best"}, "random, greedy"),
        ({"opponent": None}, "act"),
        ({"partner": "greedy"}, "no partners"),
        ({"rules": "all-fives:players=4", "partner": "best"}, "random, greedy"),
        ({"seat": 2}, "0 to 1"),
        ({"seat": -1}, "0 to 1"),
        ({"seat": "left"}, "random"),
        ({"seat": True}, "0 to 1"),
        ({"seat": 0.0}, "0 to 1"),
        ({"seat": None}, "0 to 1"),
        ({"reward": "score"}, "outcome, points"),
        ({"start_scores": [61, 0]}, "below the target"),
        ({"start_scores": "high"}, "random"),
        ({"start_scores": [1, 2, 3]}, "shape"),
        ({"render_mode": "depth_array"}, "human, ansi"),
        ({"illegal": "ignore"}, "'raise' or 'lose'"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_by_name(arguments: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        FivesEnv(**arguments)


def test_a_seed_fixes_everything_and_without_one_the_next_match_follows() -> None:
    env, twin, other = (FivesEnv("all-fives", seat="random") for _ in range(3))
    one = [env.reset(seed=0), env.reset(), env.reset()]
    two = [twin.reset(seed=0), twin.reset(), twin.reset()]
    assert_same(one, two)
    third = other.reset(seed=1)
    assert len({o.tobytes() for o, _ in [*one, third]}) == 4
    unseeded = FivesEnv("all-fives", seat="random").reset()
    assert unseeded[0].tobytes() != one[0][0].tobytes()


def test_B26_nothing_returned_changes_later_and_writing_to_it_changes_nothing() -> None:
    env, twin = FivesEnv("all-fives:target=40"), FivesEnv("all-fives:target=40")
    kept, copies = [], []
    rng = np.random.default_rng(1)
    for each in (env, twin):
        returned = each.reset(seed=3)
    for _ in range(50):
        kept.append(returned)
        copies.append(copy.deepcopy(returned))
        scribbled = env.action_masks()
        scribbled[:] = True
        assert_same(env.action_masks(), twin.action_masks())
        action = int(rng.choice(np.flatnonzero(twin.action_masks())))
        returned, mirrored = env.step(action), twin.step(action)
        assert_same(returned, mirrored)
        mirrored[0][:] = -9
        mirrored[4]["action_mask"][:] = 1
        mirrored[4]["scores"][:] = 77
        if returned[2] or returned[3]:
            kept.append(returned)
            copies.append(copy.deepcopy(returned))
            returned, mirrored = env.reset(), twin.reset()
            assert_same(returned, mirrored)
    assert_same(kept, copies)


@pytest.mark.parametrize("opponent", ["greedy", InPython("random")], ids=["compiled", "python"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_B33_an_env_is_pickled_before_reset_and_in_mid_game(copied: Any, opponent: Any) -> None:
    for prepared in (False, True):
        env = FivesEnv(
            "all-fives:players=4,target=60", opponent=opponent, seat="random", reward="points"
        )
        if prepared:
            env.reset(seed=2, options={"scores": [9, 9]})
            env.step(int(env.action_masks().argmax()))
        twin = copied(env)
        assert twin.rules == env.rules
        for each in (env, twin):
            if not prepared:
                each.reset(seed=4)
        streams = [play_episode(each, np.random.default_rng(5)) for each in (env, twin)]
        assert_same(streams[0], streams[1])


@pytest.mark.parametrize("env_id", IDS)
def test_gymnasium_makes_the_ids(env_id: str) -> None:
    env = gymnasium.make(env_id, seat="random", reward="points")
    assert env.unwrapped.rules == Rules.preset(IDS[env_id])
    _, info = env.reset(seed=1)
    assert info["action_mask"].any()
    with pytest.raises(ValueError, match="this id is for"):
        gymnasium.make(env_id, rules=next(game for game in IDS.values() if game != IDS[env_id]))


def test_B31_an_id_with_its_module_is_found_in_a_process_that_imported_nothing() -> None:
    code = (
        "import gymnasium\n"
        "env = gymnasium.make('fives_env:fives_env/AllFives-v0', render_mode='ansi')\n"
        "env.reset(seed=1)\n"
        "assert env.render().isascii()\n"
        "print(env.unwrapped.rules.spec)\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert run.stdout.strip() == Rules.preset("all-fives").spec, run.stderr


def test_B11_masks_are_reached_through_wrappers_and_before_reset_the_message_says_reset() -> None:
    env = wrappers.RecordEpisodeStatistics(
        wrappers.FlattenObservation(wrappers.TimeLimit(gymnasium.make(list(IDS)[2]), 100))
    )
    with pytest.raises(ValueError, match="reset"):
        env.get_wrapper_attr("action_masks")()
    env.reset(seed=1)
    steps = play_episode(env, np.random.default_rng(1))
    assert "episode" in steps[-1][4], "B23: statistics survive arrays in info"
    assert env.unwrapped.rules == Rules.preset("all-fives")


def test_B19_normalising_observations_leaves_the_mask_alone() -> None:
    env = wrappers.NormalizeObservation(wrappers.FrameStackObservation(FivesEnv("all-fives"), 3))
    plain = FivesEnv("all-fives")
    _, info = env.reset(seed=1)
    _, expected = plain.reset(seed=1)
    for _ in range(20):
        assert_same(info["action_mask"], expected["action_mask"])
        assert set(np.unique(info["action_mask"])) <= {0, 1}
        action = int(expected["action_mask"].argmax())
        *_, over, _, info = env.step(action)
        *_, expected = plain.step(action)
        if over:
            break


def test_rendering_shows_what_the_learner_sees() -> None:
    env = FivesEnv("all-fives:players=3", seat=2, render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert "seat 2 (you)" in text
    assert text.isascii()
    silent = FivesEnv()
    silent.reset(seed=1)
    assert silent.render() is None
    env.close()
    env.close()


def test_B22_torch_scalars_are_actions_too() -> None:
    torch = pytest.importorskip("torch")
    envs = FivesEnv("all-fives"), FivesEnv("all-fives")
    results = []
    for env, wrap in zip(envs, (int, torch.tensor), strict=True):
        env.reset(seed=1)
        results.append(env.step(wrap(int(env.action_masks().argmax()))))
    assert_same(*results)


def test_a_learner_seat_that_is_out_waits_for_its_partner_and_plays_on_in_the_next_round() -> None:
    """F7: an empty seat is skipped, not terminated."""
    env = FivesEnv("fives-and-threes:players=4,max_rounds=6", opponent="random")
    waited = 0
    for seed in range(60):
        env.reset(seed=seed)
        over = False
        while not over:
            game = env._tables.games.data[0]
            sizes, game_round = int(game["hand_sizes"][0]), int(game["round"])
            placed = int(env.action_masks().argmax())
            _, _, terminated, truncated, info = env.step(placed)
            over = terminated or truncated
            if sizes == 1 and placed < 112 and not over:
                assert info["round"] > game_round
                waited += 1
            assert over or env._tables.games.data["hand_sizes"][0, 0] > 0
    assert waited > 10
