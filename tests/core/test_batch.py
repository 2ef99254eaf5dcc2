"""A row of a batch is the same game alone, whatever the threads, copies and seeds around it."""

import hashlib
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fives_env import BuiltIn, Games
from fives_env.engine import keys
from fives_env.records import GAME
from tests.core.material import ALL, BASIC, from_python, mixed, play_randomly, restart, seeded_from

ROOT = Path(__file__).parents[2]
ROW_KEY = from_python(keys.row_key)


def step_alike(games: list[Games], actions: np.ndarray) -> None:
    """Steps a batch of one for each action, and starts the next match of those that are over."""
    for game, action in zip(games, actions, strict=True):
        game.step([action])
        restart(game)


@pytest.mark.parametrize("spec", ALL)
def test_row_i_of_a_batch_is_the_same_game_alone(spec: str) -> None:
    seeds = np.array([0, 5, 2**64 - 1, 77], np.uint64)
    batch = seeded_from(spec, len(seeds), seeds)
    copies = [batch[i] for i in range(len(seeds))]
    alone = [seeded_from(spec, 1, int(seed)) for seed in seeds]
    rng = np.random.default_rng(9)
    for _ in range(300):
        actions = play_randomly(batch, rng)[1]
        restart(batch)
        step_alike(copies, actions)
        step_alike(alone, actions)
        rows = [row.tobytes() for row in batch.data]
        assert [game.data.tobytes() for game in copies] == rows
        assert [game.data.tobytes() for game in alone] == rows


def test_row_i_under_one_seed_does_not_depend_on_the_size_of_the_batch() -> None:
    large, small = seeded_from("all-fives", 100, 4), seeded_from("all-fives", 7, 4)
    assert (large.data[:7] == small.data).all()
    assert large[0].data == seeded_from("all-fives", 1, 4).data


@pytest.mark.parametrize("spec", BASIC[::4])
@pytest.mark.parametrize("threads", [2, 3, 30])
def test_threads_do_not_matter(spec: str, threads: int) -> None:
    one, many = seeded_from(spec, 20), Games(spec, 20, threads=threads)
    many.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(10):
        actions = play_randomly(one, rng)[1]
        many.step(actions)
        restart(one)
        restart(many)
        assert (one.data == many.data).all()
        assert (one.action_mask() == many.action_mask()).all()
        assert (one.view() == many.view()).all()
        assert (one.view(seat=1) == many.view(seat=1)).all()
    counts = one.rollout(300, "greedy", seed=3), many.rollout(300, "greedy", seed=3)
    assert counts[0] == counts[1]
    assert (one.data == many.data).all()
    assert one.rollout(300, threads=threads) == many.rollout(300, threads=1)
    assert (one.data == many.data).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_threads_work_in_a_forked_process() -> None:
    """The threads of a batch are kept between calls; a child of the process has none of them."""
    games = Games("all-fives", 40, threads=2)
    assert games.view().shape == (40,)
    child = multiprocessing.get_context("fork").Process(target=games.view)
    child.start()
    child.join(timeout=60)
    code = child.exitcode
    child.kill()
    assert code == 0


def test_threads_refuse_what_one_thread_refuses_and_change_nothing() -> None:
    games = Games("all-fives", 40, threads=4)
    games.reset(seed=1)
    before = games.data.tobytes()
    actions = games.action_mask().argmax(axis=1)
    actions[39] = 113
    with pytest.raises(ValueError, match="game 39"):
        games.step(actions)
    assert games.data.tobytes() == before


@pytest.mark.parametrize(
    "index",
    [
        slice(None),
        slice(2, 19, 3),
        np.array([5, 5, 0, -1]),
        np.arange(20) % 3 == 1,
        7,
        -1,
    ],
    ids=["all", "slice", "indices", "mask", "int", "last"],
)
def test_copies_by_index_go_on_like_the_original_and_share_nothing(index: Any) -> None:
    games = mixed("all-fives:players=4", 20)
    rows = np.atleast_1d(np.arange(20)[index])
    copy = games[index]
    assert len(copy) == copy.num_games == len(rows)
    assert not np.shares_memory(copy.data, games.data)
    assert not np.shares_memory(copy.start, games.start)
    rng = np.random.default_rng(0)
    for _ in range(120):
        untouched = copy.data.tobytes()
        actions = play_randomly(games, rng)[1]
        restart(games)
        assert copy.data.tobytes() == untouched, "stepping the original moved the copy"
        copy.step(actions[rows])
        restart(copy)
        assert (copy.data == games.data[rows]).all()
    kept = games.data.tobytes()
    copy.reset(seed=99, rounds=[{"leader": 2}], scores=[3, 4])
    copy.rollout(50)
    assert games.data.tobytes() == kept, "the copy moved the original"
    assert len(games.script) == 0
    assert not games.start["given"].any()


def test_a_clone_takes_the_script_and_the_start_scores_along() -> None:
    deck = list(range(28))[::-1]
    games = Games("fives-and-threes", 3)
    games.reset(seed=1, rounds=[{"deck": deck}, {"deck": deck}], scores=[[1, 2], [3, 4], [5, 6]])
    clone, last = games.clone(), games[2]
    games.reset(seed=8)
    for copy, scores in ((clone, [[1, 2], [3, 4], [5, 6]]), (last, [[5, 6]])):
        copy.restart(np.ones(len(copy), bool))
        assert (copy.data["deck"] == deck).all()
        assert copy.data["scores"][:, :2].tolist() == scores
    assert not (games.data["deck"] == deck).all()


def test_an_index_out_of_range_or_an_empty_choice_is_refused() -> None:
    games = Games("all-fives", 3)
    with pytest.raises(IndexError):
        games[3]
    with pytest.raises(ValueError, match="number of games"):
        games[[False, False, False]]


def random_deck(seed: int) -> list[int]:
    return np.random.default_rng(seed).permutation(28).tolist()


@pytest.mark.parametrize("spec", BASIC)
def test_a_scripted_deal_is_dealt_to_every_row_and_its_leader_leads(spec: str) -> None:
    games = Games(spec, 5)
    players, size = games.rules.players, games.rules.deal
    for leader in range(players):
        deck = random_deck(leader)
        games.reset(seed=3, rounds=[{"deck": deck, "leader": leader}])
        for seat in range(players):
            held = sum(1 << tile for tile in deck[seat * size : (seat + 1) * size])
            assert (games.data["hands"][:, seat] == held).all()
        assert (games.data["leader"] == leader).all()
        assert (games.data["seat"] == leader).all()
        assert (games.data["deck"] == deck).all()
        assert (games.data["boneyard"] == 28 - players * size).all()


def run_rounds(games: Games, rounds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Decks, leaders and the seats that went out (-1: blocked) of the first rounds, [B, rounds]."""
    decks = np.zeros((len(games), rounds, 28), np.uint8)
    leaders = np.full((len(games), rounds), -1)
    out = np.full((len(games), rounds), -1)
    rng = np.random.default_rng(4)
    while not games.data["match_over"].all() and (games.data["round"] < rounds).any():
        rows = np.flatnonzero((games.data["round"] < rounds) & (games.data["match_over"] == 0))
        number = games.data["round"][rows]
        decks[rows, number] = games.data["deck"][rows]
        leaders[rows, number] = games.data["leader"][rows]
        play_randomly(games, rng)
        ended = games.data["round_over"][rows]
        out[rows[ended == 1], number[ended == 1]] = games.data["mover"][rows[ended == 1]]
    return decks, leaders, out


def test_scripted_rounds_are_dealt_in_turn_and_the_seed_goes_on_behind_them() -> None:
    decks = [random_deck(k) for k in range(3)]
    script = [{"deck": decks[0]}, {"deck": decks[1], "leader": 3}, {"deck": decks[2]}]
    games = Games("fives-and-threes:players=4", 30)
    games.reset(seed=1, rounds=script)
    played, leaders, _ = run_rounds(games, 5)
    for k in range(3):
        assert (played[:, k] == decks[k]).all()
    assert (leaders[:, 1] == (leaders[:, 0] + 1) % 4).all(), "a lot where the lead rotates (F3)"
    free = seeded_from("fives-and-threes:players=4", 30)
    unscripted, unscripted_leaders, _ = run_rounds(free, 5)
    assert (played[:, 3:] == unscripted[:, 3:]).all()
    assert (leaders[:, 0] == unscripted_leaders[:, 0]).all(), "no leader given: the seed's lot"


def test_a_scripted_lot_counts_after_a_blocked_round_and_not_after_going_out() -> None:
    games = Games("all-fives:players=4,deal=7", 200)
    games.reset(seed=1, rounds=[{}, {"leader": 2}])
    _, leaders, out = run_rounds(games, 2)
    blocked = out[:, 0] < 0
    assert blocked.any()
    assert (leaders[blocked, 1] == 2).all()
    assert (leaders[~blocked, 1] == out[~blocked, 0]).all(), "A3: whoever went out leads"


def test_a_script_survives_the_next_matches_and_ends_with_the_next_reset() -> None:
    deck = random_deck(1)
    games = Games("all-fives:mode=round", 8)
    games.reset(seed=1, rounds=[{"deck": deck, "leader": 1}], scores=[7, -8])
    rng = np.random.default_rng(1)
    for _ in range(300):
        opening = (games.data["num_moves"] == 0) & (games.data["match_over"] == 0)
        assert (games.data["deck"][opening] == deck).all()
        assert (games.data["leader"][opening] == 1).all()
        assert (games.data["scores"][opening, :2] == [7, -8]).all()
        play_randomly(games, rng)
        restart(games)
    games.reset(seed=1)
    assert (games.data == seeded_from("all-fives:mode=round", 8).data).all()


def test_a_seed_can_be_zero_and_neighbours_differ() -> None:
    seeds = np.arange(500)
    decks = {row.tobytes() for row in seeded_from("all-fives", 500, seeds).data["deck"]}
    assert len(decks) == 500
    zero = seeded_from("all-fives", 3, 0).data
    assert (zero == seeded_from("all-fives", 3, np.int64(0)).data).all()
    assert not (zero["deck"] == Games("all-fives", 3).data["deck"]).all(), "B03: 0 is a seed"
    rows = {row.tobytes() for seed in range(20) for row in seeded_from("all-fives", 20, seed).data}
    assert len(rows) == 400, "streams (seed, row) do not meet"


def test_unseeded_batches_differ() -> None:
    assert not (Games("all-fives", 3).data["deck"] == Games("all-fives", 3).data["deck"]).all()
    games = seeded_from("all-fives", 3, 1)
    first = games.data["deck"].copy()
    games.reset()
    assert not (games.data["deck"] == first).all()


def test_global_generators_are_not_touched() -> None:
    state = str(np.random.get_state())  # noqa: NPY002
    games = seeded_from("all-fives", 10)
    games.rollout(50)
    games.reset()
    games.view()
    assert str(np.random.get_state()) == state  # noqa: NPY002


STREAMS = """
import hashlib, random, sys
import numpy as np
import fives_env
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv

salt = int(sys.argv[1])
random.seed(salt), np.random.seed(salt)
digest = hashlib.sha256()
env = fives_env.env(rules="all-fives:players=3,max_rounds=3", reward="points")
env.reset(seed=11)
while env.agents:
    observation, reward, *ends, info = env.last()
    digest.update(observation["observation"].tobytes() + observation["action_mask"].tobytes())
    digest.update(repr((env.agent_selection, reward, ends, info)).encode())
    if salt % 2 and len(env.agents) == 3:  # another env in between changes nothing
        fives_env.env(rules="all-fives").reset(seed=salt)
        np.random.rand()
    legal = observation["action_mask"].nonzero()[0]
    env.step(None if any(ends) else legal[len(legal) // 2])
for batch in (FivesEnv("fives-and-threes:max_rounds=3"), FivesVectorEnv(3, seat="random")):
    seen = [batch.reset(seed=11)]
    for _ in range(60):
        masks = np.atleast_2d(batch.action_masks())
        if not masks.any():
            break
        actions = masks.argmax(axis=1)
        seen.append(batch.step(actions if len(actions) > 1 else int(actions[0])))
    digest.update(repr([[np.asarray(x).tolist() for x in s[:-1]] for s in seen]).encode())
    digest.update(repr([sorted((k, str(v)) for k, v in s[-1].items()) for s in seen]).encode())
print(digest.hexdigest())
"""


def test_B09_two_processes_with_other_hash_and_global_seeds_play_the_same() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", STREAMS, str(salt)],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": str(salt)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for salt in (1, 2)
    ]
    digests = [run.communicate()[0].split()[-1] for run in runs]
    assert digests[0] == digests[1]
    assert len(digests[0]) == len(hashlib.sha256().hexdigest())


WRONG_RESETS: list[dict[str, Any]] = [
    {"seed": -1},
    {"seed": 2**64},
    {"seed": 1.0},
    {"seed": True},
    {"seed": "1"},
    {"seed": [1, 2]},
    {"seed": [[1, 2, 3]]},
    {"seed": [1, 2, -3]},
    {"seed": [1.0, 2.0, 3.0]},
    {"seed": []},
    {"seed": float("nan")},
    {"rounds": 5},
    {"rounds": "deck"},
    {"rounds": [5]},
    {"rounds": {"deck": list(range(28))}},
    {"rounds": [{"leaders": 0}]},
    {"rounds": [{"deck": list(range(27))}]},
    {"rounds": [{"deck": [0, *range(27)]}]},
    {"rounds": [{"deck": list(range(1, 29))}]},
    {"rounds": [{"deck": 5}]},
    {"rounds": [{"deck": "shuffled"}]},
    {"rounds": [{"deck": [0.5, *range(1, 28)]}]},
    {"rounds": [{}, {"leader": 2}]},
    {"rounds": [{"leader": -1}]},
    {"rounds": [{"leader": "me"}]},
    {"rounds": [{"leader": 0.0}]},
    {"scores": [1]},
    {"scores": [1, 2, 3]},
    {"scores": [1.5, 2.0]},
    {"scores": "drawn"},
    {"scores": [0, 61]},
    {"scores": [0, -1001]},
    {"scores": [[0, 0], [0, 0]]},
    {"scores": [[0, 0], [0]]},
    {"scores": [True, False]},
    {"scores": 5},
    {"rounds": [{"deck": None, "lead": 1}]},
]


@pytest.mark.parametrize("wrong", WRONG_RESETS, ids=str)
def test_a_wrong_reset_is_refused_and_changes_nothing(wrong: dict[str, Any]) -> None:
    games = Games("fives-and-threes", 3)
    games.reset(seed=1, rounds=[{"leader": 1}], scores=[3, 4])
    before = games.data.tobytes(), games.script.tobytes(), games.start.tobytes()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        games.reset(**{"seed": 2, "scores": [5, 5]} | wrong)
    assert (games.data.tobytes(), games.script.tobytes(), games.start.tobytes()) == before


def test_random_start_scores_cover_the_score_plane_and_turn_the_target_on() -> None:
    games = seeded_from("fives-and-threes:mode=round", 4000, scores="random")
    scores = games.data["scores"][:, :2]
    assert games.data["target_on"].all()
    assert scores.min() == 0
    assert scores.max() == 60
    assert set(np.unique(scores)) == set(range(61))
    assert not games.data["scores"][:, 2:].any()
    first = scores.copy()
    games.restart(np.ones(4000, bool))
    assert (games.data["scores"][:, :2] != first).any(axis=1).mean() > 0.99


GAME_COUNTS = ("steps", "rounds", "matches", "wins")


def hand_count(games: Games, num_steps: int, policy: str, seed: int) -> dict[str, Any]:
    """A rollout made of `step`, and its counts."""
    streams = [np.uint64(ROW_KEY(np.uint64(seed), row)) for row in range(len(games))]
    count: dict[str, Any] = {"steps": 0, "rounds": 0, "matches": 0, "wins": [0, 0, 0, 0]}
    for number in range(num_steps):
        restart(games)
        row_keys = np.array(streams) + np.uint64(number)
        games.step(BuiltIn(policy).act(games.view(), games.action_mask(), row_keys))
        count["steps"] += len(games)
        count["rounds"] += int((games.data["round_over"] > 0).sum())
        count["matches"] += int((games.data["match_over"] > 0).sum())
        for winner in games.data["winner"][games.data["winner"] >= 0].tolist():
            count["wins"][winner] += 1
    return count


@pytest.mark.parametrize("policy", ["random", "greedy"])
@pytest.mark.parametrize("spec", ALL)
def test_a_rollout_counts_and_plays_as_a_hand_count_made_with_step(spec: str, policy: str) -> None:
    games = seeded_from(spec, 12)
    by_hand = games.clone()
    counts = games.rollout(150, policy, seed=5)
    expected = hand_count(by_hand, 150, policy, 5)
    got = {name: counts[name].tolist() for name in GAME_COUNTS}
    assert got == expected
    assert games.data.tobytes() == by_hand.data.tobytes()
    assert (counts.steps, counts.matches) == (counts["steps"], counts["matches"])


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"num_steps": 0}, "num_steps"),
        ({"num_steps": 1.5}, "num_steps"),
        ({"num_steps": 1, "policy": "best"}, "random, greedy"),
        ({"num_steps": 1, "policy": None}, "random, greedy"),
        ({"num_steps": 1, "seed": -1}, "seed"),
        ({"num_steps": 1, "threads": 0}, "threads"),
    ],
    ids=str,
)
def test_a_wrong_rollout_is_refused_and_changes_nothing(arguments: Any, word: str) -> None:
    games = seeded_from("all-fives", 3)
    before = games.data.tobytes()
    with pytest.raises(ValueError, match=word):
        games.rollout(**arguments)
    assert games.data.tobytes() == before


@pytest.mark.parametrize("seat", [2, -1, 1.0, "0", [0, 1], [0, 1, 2], True, [True, False, True]])
def test_a_seat_that_is_not_there_cannot_look(seat: Any) -> None:
    with pytest.raises(ValueError, match="seat"):
        Games("all-fives", 3).view(seat=seat)


def test_views_of_many_seats_at_once_are_the_views_of_each() -> None:
    games = mixed("all-fives:players=4", 40)
    seats = np.arange(40) % 4
    views = games.view(seat=seats)
    for seat in range(4):
        assert (views[seats == seat] == games.view(seat=seat)[seats == seat]).all()
    assert (games.view(seat=games.data["seat"]) == games.view()).all()
    assert (games.view(seat=np.int64(2)) == games.view(seat=2)).all()


def test_masks_and_views_can_be_written_to_arrays_of_the_caller() -> None:
    games = mixed("all-fives:players=4", 40)
    mask, views = np.ones((40, 114), bool), games.view(seat=3)
    assert games.action_mask(out=mask) is mask
    assert games.view(seat=1, out=views) is views
    assert (mask == games.action_mask()).all()
    assert (views == games.view(seat=1)).all()


def test_minus_one_leaves_a_game_untouched() -> None:
    games = mixed("all-fives:players=4", 40)
    before = games.data.copy()
    actions = np.where(np.arange(40) % 2, games.action_mask().argmax(axis=1), -1)
    games.step(actions)
    assert (games.data[::2] == before[::2]).all()
    assert (games.data[1::2]["num_moves"] != before[1::2]["num_moves"]).any()


def test_a_record_is_plain_data() -> None:
    games = mixed("all-fives:players=4", 40)
    assert games.data.dtype == GAME
    saved = np.frombuffer(games.data.tobytes(), GAME).copy()
    other = Games("all-fives:players=4", 40)
    other.data[:] = saved
    for batch in (games, other):
        batch.rollout(200, "greedy", seed=2)
    assert games.data.tobytes() == other.data.tobytes()
