"""Odds: what play tells, against a naive reading of the rule, and against real hands."""

import numpy as np
import pytest

from agents import make_agent
from agents.inference.odds import TEMPERATURE, UNIT, chances, weigh
from fives_env import BuiltIn, Games, belief
from fives_env.actions import DRAW, PASS
from fives_env.play import ask
from fives_env.records import GAME
from fives_env.tiles import HIGH, LOW, NO_TILE, mask_of, tiles_in
from tests.core.material import Array, mixed, shuffle_hidden, tile_bits
from tests.rules.positions import from_python

WEIGH = from_python(weigh)
SPECS = [
    "fives-and-threes:players=2",
    "threes-and-fives:players=3,max_pip=4,deal=4",
    "all-fives:max_pip=4,deal=4",
    "all-fives:players=4,max_pip=5,deal=4",
    "fives-and-threes:players=4,partners=yes",
]


def points_of(games: Games, seat: int, tile: int) -> dict[int, int]:
    """The points by arm if `seat` laid this tile now: laid for real in a copy that it is put in."""
    found = {}
    for arm in range(4):
        copy = games[:]
        copy.data["seat"], copy.data["lead_tile"] = seat, NO_TILE
        copy.data["hands"][0, seat] |= 1 << tile
        if copy.action_mask()[0, arm * 28 + tile]:
            copy.step([arm * 28 + tile])
            found[arm] = int(copy.data["points"][0])
    return found


def expected_reply(games: Games, seat: int, tile: int, arm: int) -> float:
    """The best points of the next seat, if it holds each tile off the table with equal chance."""
    rules, after = games.rules, games[:]
    unknown = set(tiles_in(games.params["set"][0])) - set(tiles_in(games.data["played"][0]))
    unknown -= {tile}
    reply = (seat + 1) % rules.players
    after.data["seat"], after.data["lead_tile"], after.data["target_on"] = seat, NO_TILE, 0
    after.data["hands"][0, seat] |= 1 << tile
    after.data["hands"][0, reply] = mask_of(unknown)  # so that all that fits can be laid
    after.data["hand_sizes"][0, seat] += 1  # nobody goes out
    after.step([arm * 28 + tile])
    if after.data["round_over"][0] or not unknown:
        return 0.0  # nothing fits
    for name in ("target_on", "scores", "hand_sizes"):
        after.data[name] = games.data[name]
    best = [max(points_of(after, reply, other).values(), default=0) for other in unknown]
    holds = min(1.0, int(games.data["hand_sizes"][0, reply]) / len(unknown))
    expected, left = 0.0, 1.0
    for points in sorted(best, reverse=True):
        expected += left * holds * points
        left *= 1 - holds
    partner = rules.side_of(reply) == rules.side_of(seat)
    return -expected if partner else expected / (rules.num_sides - 1)


def worth(games: Games, seat: int, tile: int) -> dict[int, float]:
    """What laying this tile was worth, by arm: points, habits, less the reply."""
    unit = UNIT[games.params["game"][0]]
    habit = 0.3 * (LOW[tile] == HIGH[tile]) + 0.03 * (int(LOW[tile]) + int(HIGH[tile]))
    return {
        arm: points + unit * habit - 0.7 * expected_reply(games, seat, tile, arm)
        for arm, points in points_of(games, seat, tile).items()
    }


def naive(games: Games, history: list[tuple[Games, int, int]], viewer: int) -> Array:
    """The weights by seat, [4, 28], from the games as they stood before each move of the round."""
    rules, weights = games.rules, np.ones((4, 28))
    unit = UNIT[games.params["game"][0]]
    for number, (before, seat, action) in enumerate(history):
        if seat == viewer or action in (DRAW, PASS):
            continue
        if before.data["played"][0] == 0 and rules.lead == "highest-double":
            continue
        laid = worth(before, seat, action % 28)[action // 28]
        draws = sum(s == seat and a == DRAW for _, s, a in history[number + 1 :])
        size = int(games.data["hand_sizes"][0, seat])
        held = max(0.0, 1 - draws / size) if size else 0.0
        for tile in range(28):
            if games.data["played"][0] >> tile & 1:
                continue
            if could := worth(before, seat, tile):
                factor = 1 / (1 + np.exp((max(could.values()) - laid) / (TEMPERATURE * unit)))
                weights[seat, tile] *= 1 - held + held * factor
    return weights


@pytest.mark.parametrize("spec", SPECS)
def test_weights_are_those_of_a_naive_reading(spec: str) -> None:
    """The games before each move are the real ones here; the agent replays what is public."""
    checked = 0
    for seed in range(4):
        games, history = Games(spec), list[tuple[Games, int, int]]()
        games.reset(seed=seed)
        policy, round_ = (BuiltIn("greedy"), BuiltIn("random"))[seed % 2], 0
        for _ in range(40):
            if games.data["match_over"][0]:
                break
            if games.data["round"][0] != round_:
                history, round_ = [], int(games.data["round"][0])
            view = games.view()
            viewer = int(view["viewer"][0])
            expected = naive(games, history, viewer)
            weights = np.ones((3, 28))
            WEIGH(view[0], np.zeros(2, GAME), weights)
            for other in range(games.rules.players - 1):
                seat = (viewer + 1 + other) % games.rules.players
                unseen = (view["rules"]["set"][0] & ~(view["hand"][0] | view["played"][0])) >> (
                    np.arange(28)
                ) & 1 == 1
                if games.data["hand_sizes"][0, seat]:
                    np.testing.assert_allclose(weights[other, unseen], expected[seat, unseen])
                    checked += (weights[other, unseen] < 1).sum()
            action = int(ask(policy, games)[0])
            history.append((games[:], viewer, action))
            games.step([action])
    assert checked > 100


@pytest.mark.parametrize("spec", SPECS)
def test_chances_are_shares_of_all_deals(spec: str) -> None:
    """By a sample of worlds where nothing is told; each tile is in one place, hands have sizes."""
    games = mixed(spec, 30, 40)
    views = games.view()
    uniform, told = chances(views, "none"), chances(views)
    worlds = belief.sample(views, np.arange(30), 2000)
    shares = tile_bits(worlds["hands"]).mean(axis=1)
    np.testing.assert_allclose(uniform, shares, atol=0.06)
    for found in (uniform, told):
        np.testing.assert_allclose(found.sum(axis=2), views["hand_sizes"], atol=1e-9)
        assert (found.sum(axis=1) < 1 + 1e-9).all()
        assert ((found > 0) <= (uniform > 0)).all()
    begun = views["num_moves"] > 4
    assert (told[begun] != uniform[begun]).any()


def test_nothing_is_told_before_the_first_move() -> None:
    games = Games("all-fives:players=4", 20)
    games.reset(seed=1)
    views = games.view()
    assert chances(views).tobytes() == chances(views, "none").tobytes()


@pytest.mark.parametrize("spec", SPECS)
def test_the_real_hidden_tiles_do_not_matter(spec: str) -> None:
    games = mixed(spec, 60, 60)
    viewers = games.data["seat"].astype(np.int64)
    paired = shuffle_hidden(games, viewers, np.random.default_rng(2))
    assert (paired.data["hands"] != games.data["hands"]).any()
    told = chances(games.view(seat=viewers))
    assert told.tobytes() == chances(paired.view(seat=viewers)).tobytes()


@pytest.mark.parametrize("player", ["greedy", "tactic", "careful"])
@pytest.mark.parametrize(
    "spec", ["fives-and-threes:players=2", "threes-and-fives:players=2", "all-fives"]
)
def test_odds_are_nearer_to_real_hands_than_equal_chances(spec: str, player: str) -> None:
    games, policy = Games(spec, 100), make_agent(player)
    games.reset(seed=5)
    losses = np.zeros(2)
    for _ in range(30):
        views = games.view()
        bits = tile_bits(games.data["hands"])
        for index, infer in enumerate(("none", "odds")):
            chance = np.clip(chances(views, infer), 1e-9, 1 - 1e-9)
            losses[index] -= np.log(np.where(bits, chance, 1 - chance)).sum()
        games.step(ask(policy, games))
        games.restart(games.data["match_over"] == 1)
    assert losses[1] < 0.985 * losses[0]
