"""The PettingZoo env: PettingZoo's own tests, turns, dead steps, rewards, rendering, pickling."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

import fives_env
from fives_env import Rules
from fives_env.envs.registration import IDS
from tests.core.material import BASIC

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pygame's own, at import
    from pettingzoo.test import api_test, render_test, seed_test
    from pettingzoo.test.api_test import missing_attr_warning  # noqa: F401

ROOT = Path(__file__).parents[2]
SHORT = [f"{spec},max_rounds=2" for spec in BASIC]
OF_EACH_GAME = ["fives-and-threes:players=4", "threes-and-fives:players=3", "all-fives:players=2"]

ALWAYS_WARNED = [
    "Observation is not a NumPy array",  # of every Dict observation
    "Observation space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",  # of every Dict space
    "Action mask is all zeros",  # of agents that are not to move
]
"""What `api_test` says of any env with a mask in a Dict that is not on its own list."""


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """What PettingZoo's logger warns of."""
    EnvLogger.flush()
    EnvLogger.suppress_output()
    yield EnvLogger.mqueue
    EnvLogger.flush()
    EnvLogger.unsuppress_output()


@pytest.fixture
def strict() -> Iterator[None]:
    """Warnings are errors, but for those that say nothing about the env."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in ALWAYS_WARNED:
            warnings.filterwarnings("ignore", message)
        yield


def play(env: Any, rng: np.random.Generator) -> Iterator[tuple[str, float, bool, bool, Any]]:
    """Plays an env that has been reset to its end at random: what `last` says at every step."""
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        yield agent, reward, terminated, truncated, info
        mask = observation["action_mask"]
        over = terminated or truncated
        env.step(None if over else int(rng.choice(np.flatnonzero(mask))))


def finished(env: Any, seed: int = 1) -> Any:
    """The env after the last action of an episode, before any dead step."""
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
    return env


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("make", [fives_env.env, fives_env.raw_env])
@pytest.mark.parametrize("spec", BASIC)
def test_B07_api_test_passes_without_a_warning_or_an_illegal_move(
    spec: str, make: Any, logged: list[str], capsys: Any
) -> None:
    api_test(make(rules=spec), num_cycles=1000 if make is fives_env.env else 100)
    assert not logged, "an illegal move was played"
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("spec", BASIC)
def test_seed_test_passes(spec: str, logged: list[str]) -> None:
    seed_test(lambda: fives_env.env(rules=spec, reward="points"), num_cycles=100)
    seed_test(lambda: fives_env.raw_env(rules=spec), num_cycles=20)
    assert not logged


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("spec", BASIC)
def test_render_test_passes(spec: str, capsys: Any) -> None:
    """PettingZoo's test renders in ``human`` mode whatever modes an env declares."""
    render_test(lambda render_mode: fives_env.env(rules=spec, render_mode=render_mode))
    capsys.readouterr()


@pytest.mark.parametrize("spec", BASIC)
def test_a_cap_on_rounds_ends_every_episode_for_all_agents_at_once(spec: str) -> None:
    """`max_cycles_test` is for envs that all agents step in parallel; rounds are what is capped."""
    for max_rounds in (1, 3):
        env = fives_env.env(rules=f"{spec},max_rounds={max_rounds},target=9999")
        for seed in range(3):
            finished(env, seed)
            assert set(env.truncations.values()) == {True}
            assert set(env.terminations.values()) == {False}
            assert env.infos[env.agent_selection]["round"] == max_rounds - 1


def test_agents_are_numbered_players_and_spaces_are_the_same_objects() -> None:
    for players in (2, 3, 4):
        env = fives_env.env(rules=f"all-fives:players={players}")
        assert env.possible_agents == [f"player_{seat}" for seat in range(players)]
        assert env.max_num_agents == players
        for agent in env.possible_agents:
            assert env.observation_space(agent) is env.observation_space(agent)
            assert env.action_space(agent) is env.action_space(agent)
            assert env.action_space(agent).n == 114
            space = env.observation_space(agent)
            assert space["observation"].dtype == np.float32
            assert (space["action_mask"].dtype, space["action_mask"].shape) == (np.int8, (114,))


def test_the_names_are_those_pettingzoo_asks_for() -> None:
    assert issubclass(fives_env.raw_env, pettingzoo.AECEnv)
    metadata = fives_env.raw_env.metadata
    assert str(fives_env.env()) == str(fives_env.raw_env()) == metadata["name"]
    assert metadata["is_parallelizable"] is False
    assert "ansi" in metadata["render_modes"]
    assert isinstance(fives_env.env().unwrapped, fives_env.raw_env)


@pytest.mark.parametrize("partners", ["yes", "no"])
def test_B01_turns_go_round_and_only_an_empty_seat_is_skipped(partners: str) -> None:
    """F7: a seat that is out is skipped; it stays an agent, and nobody else is jumped over."""
    env = fives_env.env(rules=f"fives-and-threes:players=4,partners={partners}")
    skipped = 0
    for seed in range(60):
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(60):
            data = env.unwrapped.games.data[0]
            seat, game_round = int(data["seat"]), int(data["round"])
            assert env.agent_selection == f"player_{seat}"
            assert env.agents == env.possible_agents
            mask = env.observe(env.agent_selection)["action_mask"]
            env.step(int(rng.choice(np.flatnonzero(mask))))
            if any(env.terminations.values()):
                break
            if data["round"] != game_round:
                expected = int(data["leader"])
            else:
                expected = (seat + 1) % 4
                while data["hand_sizes"][expected] == 0:
                    expected = (expected + 1) % 4
                    skipped += 1
            assert env.agent_selection == f"player_{expected}"
    assert (skipped > 0) == (partners == "yes")


@pytest.mark.parametrize("spec", SHORT)
def test_B02_after_the_last_action_each_agent_takes_one_step_of_none(spec: str) -> None:
    env = fives_env.env(rules=spec)
    for seed in range(3):
        finished(env, seed)
        everybody = env.possible_agents
        assert env.agents == everybody
        flags = {agent: (env.terminations[agent], env.truncations[agent]) for agent in everybody}
        assert set(flags.values()) in ({(True, False)}, {(False, True)})
        left = list(everybody)
        while env.agents:
            agent = env.agent_selection
            assert agent in left
            assert env.last()[2:4] == flags[agent]
            with pytest.raises(ValueError, match="None"):
                env.step(3)
            env.step(None)
            left.remove(agent)
            assert env.agents == left
            assert set(env.rewards) == set(env.terminations) == set(env.infos) == set(left)
        assert not left


def test_B03_nothing_that_is_zero_is_taken_for_nothing() -> None:
    """Seed 0, seat 0, action 0, tile [0|0], total 0, score 0."""
    env = fives_env.env(rules="all-fives:players=4", reward="points")
    env.reset(seed=0)
    first = env.observe("player_0")["observation"].tobytes()
    env.reset(seed=0)
    assert env.observe("player_0")["observation"].tobytes() == first
    others = [fives_env.env(rules="all-fives:players=4") for _ in range(2)]
    for other in others:
        other.reset()
    seen = {other.observe("player_0")["observation"].tobytes() for other in others}
    assert len(seen | {first}) == 3, "unseeded envs differ, from each other and from seed 0"
    deck = list(range(28))
    env.reset(seed=0, options={"rounds": [{"deck": deck, "leader": 0}], "scores": [0, 0]})
    assert env.agent_selection == "player_0"
    assert env.infos["player_0"]["leader"] == 0
    env.step(0)  # [0|0] is led: action 0, tile 0
    data = env.unwrapped.games.data[0]
    assert (data["total"], data["arms"].tolist(), data["spinner"]) == (0, [0, 0, 7, 7], 0)
    assert env.infos["player_0"]["scores"] == (0, 0)
    assert env.agent_selection == "player_1"
    assert not env.observe("player_1")["action_mask"][113]


def expected_returns(env: Any, reward: str, start: list[int]) -> list[float]:
    """The documented quantity for each seat, from the final scores and the winner."""
    game = env.unwrapped
    rules, data = game.games.rules, game.games.data[0]
    scores = data["scores"][: rules.num_sides].astype(int) - start
    others, winner = rules.num_sides - 1, int(data["winner"])
    sums = []
    for seat in range(rules.players):
        side = rules.side_of(seat)
        if reward == "points":
            sums.append(scores[side] - (scores.sum() - scores[side]) / others)
        else:
            sums.append(0.0 if winner < 0 else 1.0 if side == winner else -1.0 / others)
    return sums


@pytest.mark.parametrize("reward", ["outcome", "points"])
@pytest.mark.parametrize("spec", BASIC)
def test_B05_B06_what_last_pays_sums_to_the_documented_quantity_for_every_seat(
    spec: str, reward: str
) -> None:
    """Over `last()` with dead steps, and over `rewards` after each step: the same, exactly once."""
    target = {"f": 25, "t": 160, "a": 50}[spec[0]]
    env = fives_env.env(rules=f"{spec},target={target},max_rounds=2", reward=reward)
    rng, ends = np.random.default_rng(3), Counter[str]()
    for seed in range(30):
        start = rng.integers(0, target, env.unwrapped.games.rules.num_sides)
        env.reset(seed=seed, options={"scores": start})
        by_last: dict[str, float] = defaultdict(float)
        by_step: dict[str, float] = defaultdict(float)
        while env.agents:
            observation, paid, terminated, truncated, _ = env.last()
            by_last[env.agent_selection] += paid
            over = terminated or truncated
            env.step(None if over else int(rng.choice(observation["action_mask"].nonzero()[0])))
            if not over:
                for agent, value in env.rewards.items():
                    by_step[agent] += value
            ends["truncated" if truncated else "won" if terminated else "goes on"] += 1
        expected = expected_returns(env, reward, start)
        got = [by_last[agent] for agent in env.possible_agents]
        assert got == pytest.approx(expected, abs=1e-9)
        assert [by_step[agent] for agent in env.possible_agents] == pytest.approx(got, abs=1e-9)
        assert sum(got) == pytest.approx(0, abs=1e-9) or "4,partners=no" in spec or "3" in spec
    assert ends["won"] > 0
    assert ends["truncated"] > 0


def test_B06_pips_taken_off_in_another_seats_turn_reach_everybody() -> None:
    """A8: seat 1 goes out; seats 0, 2 and 3 each lose their own pips, and are paid for it."""
    rules = Rules.preset("all-fives", players=4, partners=False, deal=1, mode="round")
    env = fives_env.env(rules=rules, reward="points")
    deck = [13, 0, 21, 27, *(t for t in range(28) if t not in (13, 0, 21, 27))]
    env.reset(seed=1, options={"rounds": [{"deck": deck, "leader": 1}]})
    env.step(0)  # seat 1 leads [0|0], its only tile
    scores = [-5, 0, -10, -10]  # [2|2] 4, [3|6] 9, [6|6] 12, to the nearest five
    mean = [(sum(scores) - own) / 3 for own in scores]
    assert all(env.terminations.values())
    assert env.unwrapped.games.data["scores"][0].tolist() == scores
    expected = {f"player_{s}": scores[s] - mean[s] for s in range(4)}
    assert env.rewards == pytest.approx(expected)
    for _ in range(4):
        agent = env.agent_selection
        assert env.last()[1] == pytest.approx(expected[agent])
        env.step(None)


def test_B06_a_partner_that_scores_pays_both_seats_of_the_side() -> None:
    env = fives_env.env(rules="all-fives:players=4", reward="points")
    deck = [24, *(t for t in range(28) if t != 24)]
    env.reset(seed=1, options={"rounds": [{"deck": deck, "leader": 0}]})
    env.step(24)  # [4|6] leads: 10
    sides = [env.rewards[f"player_{seat}"] for seat in range(4)]
    assert sides == [10, -10, 10, -10]


def test_B07_last_without_observing_gives_none() -> None:
    env = fives_env.env()
    env.reset(seed=1)
    while env.agents:
        observation, _, terminated, truncated, _ = env.last(observe=False)
        assert observation is None
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(None if terminated or truncated else int(mask.argmax()))


@pytest.mark.parametrize("spec", OF_EACH_GAME)
def test_B14_sampling_with_the_mask_is_always_legal_and_an_empty_mask_is_refused(
    spec: str, logged: list[str]
) -> None:
    env = fives_env.env(rules=f"{spec},max_rounds=9")
    steps = 0
    for seed in range(4):
        env.reset(seed=seed)
        while env.agents:
            agent = env.agent_selection
            observation, *ends, _ = env.last()
            if any(ends[1:]):
                assert not observation["action_mask"].any()
                with pytest.raises(ValueError, match="no action"):
                    env.action_space(agent).sample(observation["action_mask"])
                env.step(None)
                continue
            mask = observation["action_mask"]
            assert (mask.dtype, mask.shape) == (np.int8, (114,))
            assert set(np.unique(mask)) <= {0, 1}
            action = env.action_space(agent).sample(mask)
            assert mask[action] == 1
            assert env.action_space(agent).contains(action)
            for other in env.agents:
                if other != agent:
                    assert not env.observe(other)["action_mask"].any()
            env.step(action)
            steps += 1
    assert steps > 300
    assert not logged


def test_B14_sampling_is_uniform_seeded_and_takes_bool_masks_too() -> None:
    space = fives_env.env().action_space("player_0")
    mask = np.zeros(114, np.int8)
    mask[[0, 5, 113]] = 1
    space.seed(3)
    one = [int(space.sample(mask)) for _ in range(3000)]
    space.seed(3)
    assert [int(space.sample(mask.astype(bool))) for _ in range(3000)] == one
    counts = np.bincount(one, minlength=114)[[0, 5, 113]]
    assert counts.sum() == 3000
    assert np.abs(counts - 1000).max() < 130
    assert 0 <= space.sample() < 114
    weights = np.zeros(114)
    weights[7] = 1.0
    assert space.sample(probability=weights) == 7
    for wrong in (np.zeros(114, np.int8), mask[:-1], mask.astype(float), mask.tolist(), "mask"):
        with pytest.raises(ValueError, match="mask"):
            space.sample(wrong)


def test_B26_nothing_that_was_returned_changes_later_and_writing_to_it_changes_nothing() -> None:
    env = fives_env.env(rules="all-fives:players=3,mode=round", reward="points")
    twin = fives_env.env(rules="all-fives:players=3,mode=round", reward="points")
    kept, copies = [], []
    for each in (env, twin):
        each.reset(seed=5)
    while env.agents:
        seen = [env.observe(agent) for agent in env.agents]
        state = (seen, env.rewards, env.infos, env.terminations, env.last())
        kept.append(state)
        copies.append(copy.deepcopy(state))
        over = any(env.last()[2:4])
        action = None if over else int(env.last()[0]["action_mask"].argmax())
        scribbled = env.last()[0]
        scribbled["observation"][:] = -1
        scribbled["action_mask"][:] = 1
        before = pickle.dumps(env.unwrapped.games.data)
        assert before == pickle.dumps(twin.unwrapped.games.data)
        for each in (env, twin):
            if not over:
                each.step(action)
        if over:
            break
    for one, two in zip(kept, copies, strict=True):
        assert repr(one[0]) == repr(two[0])
        assert one[1:3] == two[1:3]
        assert repr(one[4]) == repr(two[4])


def test_B26_infos_of_agents_are_their_own() -> None:
    env = fives_env.env(rules="all-fives:players=3")
    env.reset(seed=5)
    untouched = copy.deepcopy(env.infos["player_1"])
    for key, value in list(env.infos["player_0"].items()):
        if isinstance(value, list | np.ndarray):
            value[0] = 99
        env.infos["player_0"][key] = "changed"
    assert env.infos["player_1"] == untouched


VARIANTS = [
    {"rules": "all-fives:players=3,target=120", "reward": "points", "render_mode": "ansi"},
    {"rules": "threes-and-fives:draw=optional,reserve=2,max_rounds=3"},
]


def in_mid_game(env: Any) -> Any:
    env.reset(seed=4, options={"scores": [5] * env.unwrapped.games.rules.num_sides})
    for _ in range(9):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    return env


@pytest.mark.parametrize("copied", [pickle.loads, copy.deepcopy], ids=["pickle", "deepcopy"])
@pytest.mark.parametrize("wrap", [lambda env: env, wrappers.BaseWrapper])
@pytest.mark.parametrize("make", [fives_env.env, fives_env.raw_env])
@pytest.mark.parametrize("arguments", VARIANTS, ids=["points", "options"])
def test_B33_envs_are_pickled_before_reset_and_in_mid_game_and_keep_their_arguments(
    arguments: dict[str, Any], make: Any, wrap: Any, copied: Any
) -> None:
    for prepare in (lambda env: env, in_mid_game, finished):
        env = prepare(wrap(make(**arguments)))
        twin = copied(pickle.dumps(env) if copied is pickle.loads else env)
        assert twin.unwrapped.games.rules == env.unwrapped.games.rules
        assert twin.unwrapped.render_mode == arguments.get("render_mode")
        if prepare is finished:
            assert twin.agents == env.agents
            assert twin.terminations == env.terminations
            continue
        if prepare is in_mid_game:
            assert repr(twin.last()) == repr(env.last())
        for each in (env, twin):
            if prepare is not in_mid_game:
                each.reset(seed=8)
        logs = [
            [repr(entry) for entry in play(each, np.random.default_rng(2))] for each in (env, twin)
        ]
        assert logs[0] == logs[1]


def test_B33_a_pickle_is_small_and_opens_in_another_process() -> None:
    env = in_mid_game(fives_env.env(**VARIANTS[0]))
    data = pickle.dumps(env)
    assert len(data) < 50_000
    code = (
        "import pickle, sys; env = pickle.load(sys.stdin.buffer); print(env.agent_selection, "
        "int(env.last()[0]['action_mask'].argmax()), env.render().count('\\n'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], input=data, cwd=ROOT, capture_output=True, check=True
    )
    expected = f"{env.agent_selection} {env.last()[0]['action_mask'].argmax()} "
    assert run.stdout.decode().startswith(expected)


BARE_CONSOLE = """
import sys, warnings
sys.modules["pygame"] = None
import fives_env

for spec in ("fives-and-threes:players=4", "all-fives"):
    env = fives_env.env(rules=spec, render_mode="ansi")
    env.reset(seed=1)
    for _ in range(30):
        print(env.render())
        env.step(int(env.last()[0]["action_mask"].argmax()))
    env.close(), env.close()
"""


def test_B34_B35_the_rendering_needs_no_window_no_pygame_and_no_unicode() -> None:
    environment = {k: v for k, v in os.environ.items() if k != "DISPLAY"}
    environment["PYTHONIOENCODING"] = "ascii"
    run = subprocess.run(
        [sys.executable, "-c", BARE_CONSOLE], env=environment, cwd=ROOT, capture_output=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.decode("ascii").count("your hand") == 60


def test_B34_without_a_mode_nothing_is_rendered_and_there_is_at_most_one_warning() -> None:
    env = fives_env.env()
    env.reset(seed=1)
    with warnings.catch_warnings(record=True) as caught:
        assert [env.render() for _ in range(5)] == [None] * 5
    assert len(caught) <= 1


def test_B34_the_rendering_shows_the_table_and_changes_with_it() -> None:
    env = fives_env.env(rules="all-fives:players=2", render_mode="ansi")
    hands = [27, 6, 11, 15, 18, 20, 0, 1, 2], [22, 24, 25, 26, 16, 17, 3, 4, 5]
    rest = [t for t in range(28) if t not in hands[0] + hands[1]]
    env.reset(seed=1, options={"rounds": [{"deck": [*hands[0], *hands[1], *rest], "leader": 0}]})
    texts = [env.render()]
    for action in (27, 26, 28 + 6, 28 * 2 + 24, 28 * 3 + 18):
        if env.observe(env.agent_selection)["action_mask"][action]:
            env.step(action)
            texts.append(env.render())
    assert len(set(texts)) == len(texts) > 3
    assert all(text.isascii() and text.endswith("\n") for text in texts)
    assert "[6|6]" in texts[1]
    assert "arm 2" in texts[-1]


def test_human_mode_prints_the_same_text_after_every_reset_and_step(capsys: Any) -> None:
    human, ansi = (fives_env.env(rules="all-fives", render_mode=m) for m in ("human", "ansi"))
    for env in (human, ansi):
        env.reset(seed=1)
    for _ in range(5):
        assert capsys.readouterr().out.strip() == ansi.render().strip()
        assert human.render() is None
        assert capsys.readouterr().out.strip() == ansi.render().strip()
        action = int(ansi.last()[0]["action_mask"].argmax())
        for env in (human, ansi):
            env.step(action)


def test_a_render_mode_that_is_none_of_them_is_refused() -> None:
    for wrong in ("depth_array", "text", 3):
        with pytest.raises(ValueError, match="render_mode"):
            fives_env.env(render_mode=wrong)


def test_arguments_that_are_wrong_are_refused_by_name() -> None:
    for arguments, word in [
        ({"rules": "fives"}, "fives-and-threes"),
        ({"rules": 3}, "spec"),
        ({"reward": "score"}, "outcome, points"),
        ({"reward": None}, "outcome, points"),
        ({"observe": "array"}, "'dict' or 'flat'"),
    ]:
        with pytest.raises(ValueError, match=word):
            fives_env.env(**arguments)


@pytest.mark.parametrize(
    "options",
    [{"leader": 0}, {"opponent": "greedy"}, {"rounds": [{}], "seed": 1}, {"scores": "high"}],
    ids=str,
)
def test_B29_unknown_or_wrong_options_are_refused_and_the_game_goes_on(options: Any) -> None:
    env = in_mid_game(fives_env.env(rules="all-fives"))
    before = pickle.dumps(env.unwrapped.games.data)
    with pytest.raises(ValueError, match=r"option|scores"):
        env.reset(seed=1, options=options)
    assert pickle.dumps(env.unwrapped.games.data) == before


def test_a_reset_without_a_seed_goes_on_with_the_next_match() -> None:
    env, twin = (fives_env.env(rules="all-fives") for _ in range(2))
    seen = []
    for each in (env, twin):
        each.reset(seed=3)
        decks = []
        for _ in range(5):
            decks.append(each.unwrapped.games.data["deck"][0].tobytes())
            each.reset()
        seen.append(decks)
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 5


def test_B42_truncated_and_terminated_are_never_confused() -> None:
    """D6: at `max_rounds` without a winner only truncated; a win in the last round only ends it."""
    seen = Counter[tuple[bool, bool, bool]]()
    env = fives_env.env(rules="all-fives:target=20,max_rounds=1")
    for seed in range(60):
        finished(env, seed)
        won = env.infos["player_0"]["winner"] >= 0
        flags = (env.terminations["player_0"], env.truncations["player_0"])
        assert set(env.terminations.values()) == {flags[0]}
        assert set(env.truncations.values()) == {flags[1]}
        assert flags == ((True, False) if won else (False, True))
        assert env.infos["player_0"]["round"] == 0
        seen[(*flags, won)] += 1
    assert set(seen) == {(True, False, True), (False, True, False)}


def test_B42_a_single_round_is_over_and_not_truncated() -> None:
    env = fives_env.env(rules="all-fives:mode=round")
    for seed in range(10):
        finished(env, seed)
        assert all(env.terminations.values())
        assert not any(env.truncations.values())
        assert env.infos["player_0"]["winner"] == -1


def test_B43_every_match_ends_also_with_agents_that_never_score() -> None:
    """F to exactly 61 by agents that take the fewest points: scores can stand for ever."""
    games = fives_env.Games("fives-and-threes:max_rounds=20", 300)
    games.reset(seed=1)
    points = fives_env.engine.features.FEATURES["points"]
    for _ in range(20 * 60):
        live = games.data["match_over"] == 0
        if not live.any():
            break
        worth = fives_env.encode(games.view())[:, points]
        stubborn = np.where(games.action_mask(), worth, np.inf).argmin(axis=1)
        games.step(np.where(live, stubborn, -1))
        assert games.data["num_moves"].max() <= 28 + 3 * 27
    assert not live.any()
    assert games.data["truncated"].sum() > 100
    assert (games.data["round"][games.data["truncated"] == 1] == 19).all()
    matches = fives_env.Games("fives-and-threes", 2000).rollout(8000, seed=1).matches
    assert matches > 4000


@pytest.mark.parametrize("env_id", IDS)
def test_pettingzoo_makes_the_ids(env_id: str) -> None:
    env = pettingzoo.make("aec", env_id)
    assert env.unwrapped.games.rules == Rules.preset(IDS[env_id])
    env.reset(seed=1)
    assert not any(env.terminations.values())
    four = pettingzoo.make("aec", env_id, rules=f"{IDS[env_id]}:players=4", reward="points")
    assert len(four.possible_agents) == 4
    other = next(game for game in IDS.values() if game != IDS[env_id])
    with pytest.raises(ValueError, match=other):
        pettingzoo.make("aec", env_id, rules=other)


def test_ids_stay_what_they_are_when_the_library_is_imported_again() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fives_env.register()
    assert set(IDS) <= set(gymnasium.registry)


def test_B11_what_a_user_needs_is_reached_through_any_wrapper() -> None:
    class Mine(wrappers.BaseWrapper):
        pass

    env = Mine(fives_env.env(rules="all-fives"))
    assert env.possible_agents == ["player_0", "player_1"]
    assert env.action_space("player_0").n == 114
    assert isinstance(env.unwrapped, fives_env.raw_env)
    with pytest.raises(AttributeError, match="reset"):
        env.agents  # noqa: B018
    for call in (lambda: env.step(0), env.render, lambda: env.observe("player_0"), env.last):
        with pytest.raises((AssertionError, AttributeError), match="reset"):
            call()
    env.reset(seed=1)
    assert env.last()[0]["action_mask"].any()
    assert env._cumulative_rewards == {"player_0": 0, "player_1": 0}


def three_wrappers(**arguments: Any) -> Any:
    """`raw_env` under PettingZoo's own usual wrappers."""
    inner = wrappers.TerminateIllegalWrapper(fives_env.raw_env(**arguments), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(inner))


def plain(value: Any) -> Any:
    """A value in a form that can be compared: arrays as bytes, the rest as it is."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tobytes()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, tuple | list) else value


def outcome(call: Any) -> Any:
    """What a call gives, raises, and has logged."""
    EnvLogger.flush()
    try:
        result = plain(call())
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    return result, list(EnvLogger.mqueue)


ATTRIBUTES = ["agents", "agent_selection", "rewards", "terminations", "truncations", "infos"]
ATTRIBUTES += ["_cumulative_rewards", "num_agents", "max_num_agents", "possible_agents"]


def shown(env: Any) -> list[Any]:
    """Everything that a user can ask an env."""
    calls = [lambda name=name: getattr(env, name) for name in ATTRIBUTES]
    calls += [env.last, lambda: env.last(observe=False), env.render, lambda: str(env)]
    calls += [lambda: env.observe("player_0"), lambda: env.observe("player_1"), env.state]
    return [outcome(call) for call in calls]


def assert_alike(env: Any, three: Any, action: Any) -> None:
    assert outcome(lambda: env.step(action)) == outcome(lambda: three.step(action))
    assert shown(env) == shown(three)


ODD: list[Any] = [
    -1,
    114,
    500,
    7.0,
    None,
    "draw",
    np.array([7]),
    np.float32(3),
    -(2**70),
    2**70,
    True,
]


@pytest.mark.usefixtures("logged")
@pytest.mark.parametrize("spec", SHORT)
def test_env_is_raw_env_under_pettingzoos_three_wrappers_step_for_step(spec: str) -> None:
    arguments = {"rules": spec, "reward": "points", "render_mode": "ansi"}
    env, three = fives_env.env(**arguments), three_wrappers(**arguments)
    assert shown(env) == shown(three), "before reset"
    assert_alike(env, three, 0)
    rng = np.random.default_rng(1)
    for seed, illegal_at in ((1, -1), (2, 5), (None, 0)):
        for each in (env, three):
            each.reset(seed=seed)
        if seed is None:
            three.unwrapped.games.data[:] = env.unwrapped.games.data
        for number in range(200):
            agent = env.agent_selection
            over = env.terminations[agent] or env.truncations[agent]
            if number in (0, 7) or over:
                for odd in ODD:
                    if odd is not None or not over:
                        assert_alike(env, three, odd)
            mask = env.observe(agent)["action_mask"]
            if over:
                action = None
            elif number == illegal_at:
                action = int(rng.choice(np.flatnonzero(mask == 0)))
            else:
                action = rng.choice(np.flatnonzero(mask))
            assert_alike(env, three, action)
            if not env.agents:
                break
        assert not env.agents
        for action in (None, 0, 200):
            assert_alike(env, three, action)


@pytest.mark.usefixtures("logged")
@pytest.mark.parametrize("spec", OF_EACH_GAME)
def test_an_illegal_action_in_env_ends_the_game_at_minus_one_for_its_agent(spec: str) -> None:
    env = in_mid_game(fives_env.env(rules=spec))
    for agent in env.agents:
        env.unwrapped._cumulative_rewards[agent] = 0.25
    culprit = env.agent_selection
    records = env.unwrapped.games.data.tobytes()
    env.step(int(env.last()[0]["action_mask"].argmin()))
    assert env.unwrapped.games.data.tobytes() == records, "the tile was played"
    assert any("Illegal move made" in message for message in EnvLogger.mqueue)
    assert all(env.terminations.values())
    assert env.agents == env.possible_agents
    assert env.rewards == {agent: -1 if agent == culprit else 0 for agent in env.agents}
    paid = {}
    while env.agents:
        paid[env.agent_selection] = env.last()[1]
        env.step(None)
    assert paid.pop(culprit) == -1
    assert set(paid.values()) == {0.25}
    env.reset(seed=1)
    assert not any(env.terminations.values())


def test_agent_iter_asks_for_a_step_in_every_turn() -> None:
    for env in (fives_env.env(), three_wrappers()):
        env.reset(seed=1)
        with pytest.raises(AssertionError, match="need to call step"):
            for _ in env.agent_iter(5):
                pass
