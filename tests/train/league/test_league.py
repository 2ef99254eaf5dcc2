"""The league: snapshots are copies, draws follow the results, nothing changes in mid-game."""

import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.model import WEIGHTS
from agents.network import Network
from fives_env.envs.vector import FivesVectorEnv
from fives_env.games import Games
from fives_env.play import LEARNER, advance
from fives_env.rules import Rules
from tests.agents.material import (
    ALL_RULES,
    Array,
    positions,
    random_card,
    random_model,
    random_network,
)
from tests.agents.test_model import Canary
from tests.core.material import assert_uniform
from train.league.league import STATE, League
from train.league.matchmaking import results, seat, weights
from train.run.pool import SELF, Pool

RULES = "fives-and-threes:mode=round"
NOBODY = np.zeros(0, int)


def league_of(folder: Path, *names: str, **settings: Any) -> League:
    return League(folder, names, Pool(**settings))


def restored(folder: Path, *names: str) -> League:
    return League.restore(folder, names, Pool(), json.loads((folder / STATE).read_text()))


def add(league: League, seed: int, in_play: Array = NOBODY) -> str | None:
    network = random_network(seed, width=8)
    return league.add(network, random_card(RULES, network), in_play)


def keys(number: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 1 << 64, number, np.uint64)


def test_weights_of_groups_and_of_snapshots() -> None:
    groups, ages = np.array([0, 1, 2, 2, 2]), np.array([0, 0, 2, 1, 0])
    rates = np.array([0.1, 0.5, 0.2, 0.4, 0.6])
    third = 1 / 3
    np.testing.assert_allclose(
        weights("uniform", groups, ages, rates), [third, third, third / 3, third / 3, third / 3]
    )
    recent = weights("recent", groups, ages, rates)
    np.testing.assert_allclose(recent[2:], np.array([2, 3, 6]) / 11 / 3)
    prior = weights("prioritised", groups, ages, rates)
    np.testing.assert_allclose(prior / prior[0], [1, 25, 4 / 3, 16 / 3, 36 / 3])
    for each in (recent, prior):
        assert each.sum() == pytest.approx(1)


def test_prioritised_meets_whom_the_learner_loses_to(tmp_path: Path) -> None:
    league = league_of(tmp_path, "greedy", "random", matchmaking="prioritised")
    assert league.chances.tolist() == [0.5, 0.5], "nothing is known yet: the prior"
    league.book(np.array([0, 0, 0, 1]), np.array([-1, -1, -1, 1]))
    few = league.chances
    assert few[0] > few[1] > 0.3, "a few games say little"
    league.book(np.repeat([0, 1], 500), np.repeat([-1, 1], 500))
    assert league.chances[0] > 0.95
    league.book(np.zeros(5000, int), np.ones(5000))
    league.book(np.ones(5000, int), -np.ones(5000))
    assert league.chances[1] > 0.95, "it is the later games that count"
    assert league.opponents[0].losses == 503
    assert league.opponents[0].wins == 5000


def test_draws_follow_the_chances_and_the_keys_alone(tmp_path: Path) -> None:
    league = league_of(tmp_path, "greedy", SELF, "random", matchmaking="recent", size=2)
    for seed in range(3):
        add(league, seed)
    assert league.chances.tolist() == pytest.approx([1 / 3, 1 / 3, 0, 1 / 9, 2 / 9])
    some = keys(30_000)
    drawn = league.draw(some)
    expected = league.chances * len(some)
    assert_uniform(np.bincount(drawn, minlength=5)[[0, 1, 3, 4]], expected[[0, 1, 3, 4]])
    assert (drawn != 2).all(), "older than the newest two"
    assert (league.draw(some[100:200]) == drawn[100:200]).all()
    extremes = league.draw(np.array([0, (1 << 64) - 1], np.uint64))
    assert extremes.tolist() == [0, 4]


def test_an_empty_pool_and_wrong_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the pool is empty: add a snapshot"):
        league_of(tmp_path, SELF).draw(keys(1))
    for names, says in (
        ((), "0 opponents are named"),
        (("greedy", " greedy"), "opponent greedy is named twice"),
        (("greedi",), "did you mean greedy"),
    ):
        with pytest.raises(ValueError, match=says):
            league_of(tmp_path, *names)
    for given in ({"matchmaking": "best"}, {"actions": "argmax"}, {"size": 0}, {"every": 0}):
        with pytest.raises(ValueError, match=next(iter(given))):
            Pool(**given)  # type: ignore[arg-type]
    assert not any(tmp_path.iterdir())


def digest(policy: Any) -> str:
    tensors = sorted(policy.network.tensors().items())
    return hashlib.sha256(b"".join(values.tobytes() for _, values in tensors)).hexdigest()


def train_on(network: Network) -> None:
    """Changes the learner's weights where they lie."""
    for layer in (*network.trunk, *network.policy, *network.value):
        layer.weight[:] = layer.weight[::-1] + np.float32(0.1)
    network.points[:] += 1


def test_B45_snapshots_are_copies_and_stay_so_through_save_and_load(tmp_path: Path) -> None:
    league, network = league_of(tmp_path, "greedy", SELF), random_network(0, width=8)
    states, stored, answers = positions(RULES), [], []
    for _ in range(4):
        league.add(network, random_card(RULES, network), NOBODY)
        stored.append(digest(league.policies[-1]))
        answers.append(league.policies[-1].act(*states).tolist())
        train_on(network)
    assert len(set(stored)) == 4
    league.save()
    for pool in (league, restored(tmp_path, "greedy", SELF)):
        assert [digest(policy) for policy in pool.policies[1:]] == stored
        assert [policy.act(*states).tolist() for policy in pool.policies[1:]] == answers


def test_B46_a_slot_in_play_is_never_given_away(tmp_path: Path) -> None:
    league = league_of(tmp_path, "greedy", SELF, size=2)
    for seed in range(3):
        add(league, seed)
    first, in_play = league.policies[1], np.array([[LEARNER, 0], [LEARNER, 1]])
    assert league.chances[1] == 0, "no game begins with it"
    assert add(league, 3, in_play) == "snapshot-000003"
    assert add(league, 4, in_play) == "snapshot-000004"
    assert league.policies[1] is first
    assert league.chances.tolist() == [0.5, 0, 0.25, 0, 0.25]
    assert add(league, 5, np.array([1, 2, 3])) is None, "two are in play, two are met"
    assert add(league, 5, np.array([0, 2, 3])) == "snapshot-000005"
    assert league.policies[1] is not first
    assert len(league.policies) == 5
    league.save()
    assert sorted(path.name for path in tmp_path.glob("snap*")) == [
        f"snapshot-{number:06}" for number in (2, 3, 4, 5)
    ]


@pytest.mark.parametrize(
    "rules", ["fives-and-threes:target=20", "all-fives:players=4,max_rounds=2"]
)
def test_B46_results_are_booked_to_whoever_played(rules: str, tmp_path: Path) -> None:
    """With snapshots added all the while; the count of each is kept by hand beside it."""
    league = league_of(tmp_path, "greedy", SELF, size=2)
    network = random_network(0, width=8)
    card = random_card(rules, network)
    league.add(network, card, NOBODY)
    env = FivesVectorEnv(16, rules, opponent=league)
    env.reset(seed=1)
    names = [league.opponents[slot].name for slot in env.opponents]
    counts: dict[str, int] = {}
    for step in range(200):
        *_, over, truncated, infos = env.step(env.action_masks().argmax(axis=1))
        ended = np.flatnonzero(over | truncated)
        if len(ended):
            final = infos["final_info"]
            slots = final["opponent"][ended]
            assert [league.opponents[slot].name for slot in slots] == [names[row] for row in ended]
            league.book(slots, results(final["winner"][ended], np.zeros(len(ended))))
            for row in ended:
                counts[names[row]] = counts.get(names[row], 0) + 1
                names[row] = league.opponents[env.opponents[row]].name
        if step % 5 == 0:
            league.add(network, card, env.opponents)
    assert league.num_snapshots > 10
    assert sum(map(sum, league.totals.values())) == sum(counts.values()) > 50
    for opponent in league.opponents:
        booked = opponent.wins + opponent.draws + opponent.losses
        assert booked == counts.get(opponent.name, 0)


def test_a_restored_pool_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    names, settings = ("greedy", "random", SELF), {"matchmaking": "prioritised", "size": 2}
    league = league_of(tmp_path, *names, **settings)
    for seed in range(6):
        add(league, seed)
        league.book(league.draw(keys(40, seed)), np.resize([1, -1, 0, -1], 40))
    league.save()
    state = json.loads(json.dumps(league.state()))
    twin = League.restore(tmp_path, names, Pool(**settings), state)
    for pool in (league, twin):
        add(pool, 9)
        pool.book(pool.draw(keys(300, 9)), np.resize([1, -1, -1], 300))
    assert league.state() == twin.state()
    assert (league.draw(keys(500)) == twin.draw(keys(500))).all()
    assert [repr(policy) for policy in league.policies] == [repr(p) for p in twin.policies]
    assert league.summary == twin.summary
    assert league.summary.startswith("greedy ")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({}, "is not that of a pool"),
        ({"format": 0, "names": []}, "is format 0"),
    ],
)
def test_B54_what_is_no_pool_is_refused(content: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        League.restore(tmp_path, ("greedy", SELF), Pool(), content)
    assert "\n" not in str(caught.value)


def test_B54_a_snapshot_that_is_a_pickle_is_refused_and_not_opened(tmp_path: Path) -> None:
    league = league_of(tmp_path / "pool", "greedy", SELF)
    add(league, 0)
    league.save()
    path = tmp_path / "pool" / "snapshot-000000" / WEIGHTS
    path.write_bytes(pickle.dumps(Canary(tmp_path / "opened")))
    with pytest.raises(ValueError, match="is not a safetensors file"):
        restored(tmp_path / "pool", "greedy", SELF)
    assert not (tmp_path / "opened").exists()
    with pytest.raises(ValueError, match=r"of \['greedy', 'self'\]; asked for"):
        restored(tmp_path / "pool", "random", SELF)


def test_B47_a_snapshot_samples_or_takes_the_best_as_the_settings_say(tmp_path: Path) -> None:
    """All actions are equally good to it."""
    network = random_network(0, width=8)
    for layer in network.policy:
        layer.weight[:] = layer.bias[:] = 0
    network.points[:] = 0
    views, masks, _ = positions(RULES)
    row = int(np.flatnonzero(masks.sum(axis=1) == 3)[0])
    chosen = {}
    for actions in ("sample", "best"):
        league = league_of(tmp_path / actions, SELF, actions=actions)
        league.add(network, random_card(RULES, network), NOBODY)
        answers = league.policies[0].act(
            np.repeat(views[[row]], 1000), np.repeat(masks[[row]], 1000, axis=0), keys(1000)
        )
        chosen[actions] = np.bincount(answers, minlength=114)[masks[row]]
    assert_uniform(chosen["sample"])
    assert chosen["best"].tolist() == [1000, 0, 0]


@pytest.mark.parametrize("rules", ALL_RULES)
def test_seating_and_results_with_2_to_4_seats_and_partners(rules: str) -> None:
    parsed = Rules.from_spec(f"{rules},mode=round")
    sides = np.arange(12) % parsed.num_sides
    seating = seat(parsed, np.arange(12) % 2, sides)
    assert seating.dtype == np.int8
    games = Games(parsed, 12)
    games.reset(seed=1)
    policies = [make_agent("greedy"), make_agent("random")]
    turns = 0
    while True:
        advance(games, policies, seating)
        waiting = games.data["match_over"] == 0
        if not waiting.any():
            break
        at = games.data["seat"][waiting]
        assert [parsed.side_of(each) for each in at] == sides[waiting].tolist()
        actions = np.where(waiting, games.action_mask().argmax(axis=1), -1)
        games.step(actions)
        turns += int(waiting.sum())
    assert turns > 12
    assert (results(np.full(12, -1), sides) == 0).all()
    assert (results(sides, sides) == 1).all()
    assert (results((sides + 1) % parsed.num_sides, sides, np.ones(12)) == -1).all()
    assert results(np.full(3, -1), np.zeros(3), np.array([0.5, 0, -2])).tolist() == [1, 0, -1]


@pytest.mark.parametrize("spec", ["random", "greedy", "model", "model,sample=yes"])
def test_B50_one_agent_on_all_seats_is_four_agents(spec: str, tmp_path: Path) -> None:
    """Agents keep nothing between turns, so that there is nothing to copy or to reset."""
    rules = "all-fives:players=4,max_rounds=3"
    model = random_model(tmp_path / "model", rules)
    spec = spec.replace("model", f"model:{model}")
    one, played = make_agent(spec), []
    for policies in ([one] * 4, [make_agent(spec) for _ in range(4)]):
        games = Games(rules, 32, salt=1)
        games.reset(seed=2)
        advance(games, policies, np.tile(np.arange(4, dtype=np.int8), (32, 1)))
        played.append(games.data.tobytes())
    assert played[0] == played[1]
    before = pickle.dumps(one)
    games.reset(seed=3)
    advance(games, [one], np.zeros((32, 4), np.int8))
    assert pickle.dumps(one) == before
