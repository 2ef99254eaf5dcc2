"""The solver against a search without any pruning, written anew on `Games`."""

import numpy as np
import pytest

from agents.search.goals import CERTAIN, EQUITY, NO_TABLE, POINTS, WIN
from agents.search.solver import Scratch, solve
from fives_env.games import Games
from tests.agents.material import ALL_RULES

UNSET = -(1 << 62)
SMALL = [  # whole rounds of small sets
    "fives-and-threes:max_pip=3,deal=4",
    "fives-and-threes:max_pip=3,deal=2,players=3",
    "fives-and-threes:max_pip=3,deal=2,players=4",
    "threes-and-fives:max_pip=3,deal=3",
    "threes-and-fives:max_pip=2,deal=2,draw=optional",
    "threes-and-fives:max_pip=3,deal=3,reserve=2,spinner=none",
    "threes-and-fives:max_pip=3,deal=3,lead=highest-double",
    "all-fives:max_pip=3,deal=3",
    "all-fives:max_pip=3,deal=3,target_check=round-end,target=20",
    "all-fives:max_pip=3,deal=2,players=4",
    "threes-and-fives:max_pip=3,deal=2,players=4,partners=yes",
]


def solved(games, kind=POINTS, table=NO_TABLE, low=0, budget=20_000):
    """Values int64 [B, 114] and whether they are exact; the games must stay as they are."""
    values = np.full((len(games), 114), UNSET, np.int64)
    exact = np.zeros(len(games), bool)
    before = games.data.copy()
    scratch = Scratch.new()
    solve(games.params, games.data, kind, table, low, budget, scratch, values, exact)
    fields = [name for name in before.dtype.names if name != "moves"]
    assert all(np.array_equal(before[name], games.data[name]) for name in fields)
    return values, exact


def points(games, side, scores):
    """The value of a finished round in points, by the words of goals.py."""
    game, others = games.data[0], games.rules.num_sides - 1
    gains = (game["scores"].astype(int) - scores)[: others + 1]
    total = others * gains[side] - (gains.sum() - gains[side])
    if game["match_over"] and game["winner"] >= 0:
        total += WIN * others if game["winner"] == side else -WIN
    return int(total)


class TooLarge(Exception):  # noqa: N818
    """More positions than a test has time for."""


def brute(games, side, leaf, left):
    """The value of one game for `side` if all others play against it; `left` counts down."""
    mine = games.rules.side_of(int(games.data["seat"][0])) == side
    values = []
    for action in np.flatnonzero(games.action_mask()[0]):
        values.append(value_after(games, action, side, leaf, left))
    return max(values) if mine else min(values)


def value_after(games, action, side, leaf, left):
    left[0] -= 1
    if left[0] < 0:
        raise TooLarge
    after = games.clone()
    after.step([action])
    game = after.data[0]
    over = game["round_over"] or game["match_over"]
    return leaf(after) if over else brute(after, side, leaf, left)


def check(games, at_least, kind=POINTS, table=NO_TABLE, low=0, leaf=points):
    """Compares every action of the first `at_least` games that are small enough."""
    values, exact = solved(games, kind, table, low)
    checked = 0
    for row in np.flatnonzero(exact):
        one = games[row]
        side = one.rules.side_of(int(one.data["seat"][0]))
        scores = one.data["scores"][0].astype(int)
        legal, left = np.flatnonzero(one.action_mask()[0]), [1500]

        def worth(end, side=side, scores=scores):
            return leaf(end, side, scores)

        try:
            expected = {action: value_after(one, action, side, worth, left) for action in legal}
        except TooLarge:
            continue
        for action in legal:
            if values[row, action] == UNSET:  # the mirror image of an action that is listed
                assert expected[action] in (
                    expected[other]
                    for other in legal
                    if other % 28 == action % 28 and values[row, other] != UNSET
                )
            else:
                assert values[row, action] == expected[action], (games.rules.spec, row, action)
        assert np.all(np.isin(np.flatnonzero(values[row] != UNSET), legal))
        checked += 1
        if checked == at_least:
            return
    raise AssertionError(f"only {checked} games were small enough")


def late(rules, num_games, held, seed):
    """Random positions with at most `held` tiles to play, and a choice."""
    games = Games(rules, num_games)
    games.reset(seed)
    for number in range(200):
        data = games.data
        left = data["hand_sizes"].sum(1) + (games.rules.draw != "none") * data["boneyard"]
        more = (left > held) & (data["match_over"] == 0)
        if not more.any():
            break
        part = games[np.flatnonzero(more)]
        part.rollout(1, seed=seed + number)
        games.data[more] = part.data
    data = games.data
    chosen = (data["match_over"] == 0) & (games.action_mask().sum(1) > 1)
    return games[np.flatnonzero(chosen)]


@pytest.mark.parametrize("rules", ALL_RULES)
def test_late_positions_of_every_preset(rules):
    games = late(rules, 200, 8, 3)
    check(games, 8)


@pytest.mark.parametrize("rules", SMALL)
def test_whole_rounds_of_small_sets(rules):
    games = late(rules, 60, 8, 4)
    check(games, 4)


@pytest.mark.parametrize("players", [2, 4])
def test_near_the_exact_target(players):
    """Refusals and wins inside the round (F12, F13) belong to the line."""
    games = late(f"fives-and-threes:players={players}", 300, 8, 5)
    games.data["scores"][:, :2] = np.random.default_rng(5).integers(50, 61, (len(games), 2))
    check(games, 16)


def test_a_side_that_moves_twice():
    """Knocks let a side move twice in a row; its second move still is for its own side."""
    games = late("fives-and-threes", 300, 8, 6)
    knocked = [
        row
        for row, game in enumerate(games.data)
        if any(game["moves"][number][1] == 113 for number in range(game["num_moves"]))
    ]
    check(games[knocked], 10)


@pytest.mark.parametrize(
    "rules", ["fives-and-threes", "fives-and-threes:players=4", "all-fives:max_pip=3,deal=3"]
)
def test_equity_is_read_for_the_side_the_scores_and_the_next_lead(rules):
    low = -40
    table = np.random.default_rng(7).random((2, 400, 400)).astype(np.float32)
    table.flags.writeable = False

    def equity(end, side, scores):
        game, winner = end.data[0], int(end.data["winner"][0])
        if game["match_over"]:
            return (winner == side) * CERTAIN + points_alone(end, side, scores)
        own, other = (int(game["scores"][s]) - low for s in (side, 1 - side))
        leads = int(end.rules.side_of(int(game["leader"])) == side)  # of the round just dealt
        chance = float(table[leads, own, other])
        if end.rules.lead == "winner" and game["round_over"] == 2:
            chance = (float(table[0, own, other]) + float(table[1, own, other])) / 2
        return int(chance * CERTAIN) + points_alone(end, side, scores)

    def points_alone(end, side, scores):
        gains = end.data["scores"][0].astype(int) - scores
        return int(gains[side] - gains[1 - side])

    games = late(rules, 100, 7, 8)
    if games.rules.game == "fives-and-threes":
        games.data["scores"][:, :2] = np.random.default_rng(9).integers(45, 61, (len(games), 2))
    check(games, 10, EQUITY, table, low, equity)


def test_a_long_round_is_cut_at_its_budget():
    """Then the values are those of rounds that greedy has finished."""
    games = Games("all-fives", 8)
    games.reset(1)
    values, exact = solved(games, budget=300)
    assert not exact.any()
    assert np.all((values > UNSET) == (games.action_mask() & (np.arange(114) < 28)))
    assert np.all(np.abs(values[values > UNSET]) < 500)


def test_deepening_ends_in_the_exact_values():
    """Sixteen tiles are reached by deepening; fifteen, one action later, by a search to the end."""
    games = late("fives-and-threes:players=4", 60, 16, 11)
    games = games[games.data["hand_sizes"].sum(axis=1) == 16]
    values, exact = solved(games, budget=1 << 40)
    assert exact.all()
    checked = 0
    for row in range(len(games)):
        for action in np.flatnonzero(values[row] != UNSET):
            after = games[row]
            after.step([action])
            seat, then = int(games.data["seat"][row]), int(after.data["seat"][0])
            if after.data["round_over"][0] or after.data["match_over"][0]:
                continue
            best = int(solved(after)[0].max())
            gained = int(after.data["points"][0])
            assert values[row, action] == gained + (best if (seat - then) % 2 == 0 else -best)
            checked += 1
    assert checked > 20
