"""Small games solved exactly: the tree is the game, and a best response is one."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from eval.commands import Exact
from eval.exact.command import run
from eval.exact.game import SmallGame, build
from eval.exact.policies import probabilities, tabulate
from eval.exact.tree import CHANCE, END
from fives_env.actions import DRAW, PASS
from fives_env.games import Games
from fives_env.play import advance
from fives_env.policies import BuiltIn
from fives_env.rules import Rules

NO_DRAWS = "fives-and-threes:max_pip=2,deal=2,mode=round"
DRAWS = "threes-and-fives:max_pip=2,deal=2,mode=round"
OPTIONAL = "all-fives:max_pip=2,deal=1,draw=optional,reserve=1,mode=round"
ALL = (NO_DRAWS, DRAWS, OPTIONAL)


@pytest.fixture(scope="module", params=ALL)
def game(request: pytest.FixtureRequest) -> SmallGame:
    return build(Rules.from_spec(request.param))


def some_policy(game: SmallGame, seed: int) -> Any:
    weights = np.random.default_rng(seed).exponential(size=len(game.actions))
    sums = np.bincount(game.info_of_action, weights)
    return weights / sums[game.info_of_action]


def test_node_0_deals_every_hand_with_every_leader(game: SmallGame) -> None:
    deals = game.nodes[game.nodes["parent"] == 0]
    each, tiles = game.rules.deal, game.rules.num_tiles
    hands = math.comb(tiles, each) * math.comb(tiles - each, each)
    assert len(deals) == game.nodes["children"][0]
    assert np.bincount(deals["player"]).tolist() == [hands, hands]


def test_tree_hangs_together(game: SmallGame) -> None:
    nodes = game.nodes
    parents = nodes["parent"][1:]
    assert (parents < np.arange(1, len(nodes))).all()
    assert np.bincount(parents, minlength=len(nodes)).tolist() == nodes["children"].tolist()
    assert (nodes["children"][nodes["player"] == END] == 0).all()
    assert (nodes["depth"][1:] == nodes["depth"][parents] + 1).all()
    draws = nodes[1:]["action"] == DRAW
    assert ((nodes[1:]["player"] == CHANCE) == draws).all()
    assert draws.any() == (game.rules.draw != "none")


def test_an_information_set_is_what_a_seat_has_seen(game: SmallGame) -> None:
    """In each there is one seat and one list of actions, at whatever deal."""
    nodes = game.nodes
    decisions = np.flatnonzero(nodes["player"] >= 0)
    known: dict[int, set[tuple[Any, ...]]] = {}
    for number in np.random.default_rng(1).permutation(decisions)[:2000].tolist():
        path, at = [], number
        while at > 0:
            path.append(int(nodes["action"][at]))
            at = int(nodes["parent"][at])
        told = (int(nodes["player"][number]), *path)
        known.setdefault(int(game.info[number]), set()).add(told)
    assert all(len(told) == 1 for told in known.values())
    assert len(known) > 100


def test_a_drawn_tile_tells_information_sets_apart() -> None:
    """Two ways to one hand, of which a view alone tells nothing, are two information sets."""
    game = build(Rules.from_spec(OPTIONAL))
    views = game.views
    assert len({view.tobytes() for view in views}) < len(views)
    plain = build(Rules.from_spec(NO_DRAWS)).views
    assert len({view.tobytes() for view in plain}) == len(plain)


def test_values_are_those_of_games_that_are_played(game: SmallGame) -> None:
    """Greedy against random: the tree's mean lies within the sampling error of the batch's."""
    count = 20_000
    games = Games(game.rules, count)
    games.reset(seed=3)
    advance(games, [BuiltIn("greedy"), BuiltIn("random")], np.tile([0, 1, 0, 0], (count, 1)))
    gains = np.diff(games.data["scores"][:, 1::-1].astype(float)).ravel()
    exact = game.value(tabulate(game, BuiltIn("greedy"), 64, 0), game.uniform())
    assert abs(gains.mean() - exact) < 5 * gains.std() / math.sqrt(count)


def test_best_response_is_worth_what_it_says(game: SmallGame) -> None:
    policy = some_policy(game, 1)
    for seat, sign in ((0, 1), (1, -1)):
        value, answer = game.best_response(policy, seat)
        assert sign * game.value(answer, answer) == pytest.approx(value, abs=1e-9)
        assert set(answer[game.seats[game.info_of_action] == seat]) == {0.0, 1.0}


def test_no_change_in_one_information_set_improves_a_best_response() -> None:
    """With perfect recall that makes it the best of all (one-shot deviations)."""
    game = build(Rules.from_spec(NO_DRAWS))
    policy = some_policy(game, 2)
    value, answer = game.best_response(policy, 0)
    tried = 0
    for info in game.choices[game.seats[game.choices] == 0]:
        actions = range(game.offsets[info], game.offsets[info + 1])
        for action in actions:
            other = answer.copy()
            other[list(actions)] = 0.0
            other[action] = 1.0
            assert game.value(other, answer) <= value + 1e-9
            tried += 1
    assert tried > 100


def test_best_response_beats_whatever_else_is_tried(game: SmallGame) -> None:
    policy = some_policy(game, 3)
    value, _ = game.best_response(policy, 1)
    others = [game.uniform(), *(some_policy(game, seed) for seed in range(10, 20))]
    assert all(-game.value(policy, other) <= value for other in others)
    assert game.exploitability(policy) >= 0


def test_a_seat_does_not_see_the_other_hand() -> None:
    """Whoever saw all would make more than the best response does."""
    game = build(Rules.from_spec(NO_DRAWS))
    nodes, policy = game.nodes, game.uniform()
    values = nodes["value"].copy()
    best = np.full(len(nodes), -np.inf)
    for number in range(len(nodes) - 1, -1, -1):
        if nodes["player"][number] == 0:
            values[number] = best[number]
        above = nodes["parent"][number]
        if number and nodes["player"][above] == 0:
            best[above] = max(best[above], values[number])
        elif number:
            values[above] += values[number] / nodes["children"][above]
    assert values[0] > game.best_response(policy, 0)[0] + 0.01


def test_seats_are_alike(game: SmallGame) -> None:
    """The lead is by lot: a policy makes nothing of itself, and is worth as much to each."""
    uniform = game.uniform()
    assert game.value(uniform, uniform) == pytest.approx(0, abs=1e-12)
    first, second = (game.best_response(uniform, seat)[0] for seat in range(2))
    assert first == pytest.approx(second, abs=1e-9)


def test_probabilities_follow_from_the_view_alone() -> None:
    game = build(Rules.from_spec(NO_DRAWS))
    views, masks = game.views, game.masks()
    random = probabilities(BuiltIn("random"), views, masks, 1, 0)
    assert random.sum(axis=1) == pytest.approx(1)
    assert (random[masks] == np.repeat(1 / masks.sum(axis=1), masks.sum(axis=1))).all()
    greedy = probabilities(BuiltIn("greedy"), views, masks, 32, 5)
    assert greedy.sum(axis=1) == pytest.approx(1)
    some = np.arange(0, len(views), 7)
    alone = probabilities(BuiltIn("greedy"), views[some], masks[some], 32, 5)
    assert (alone == greedy[some]).all()


def test_tabulated_greedy_takes_the_points() -> None:
    game = build(Rules.from_spec(NO_DRAWS))
    policy = tabulate(game, make_agent("greedy"), 16, 0)
    for row, info in enumerate(game.choices):
        part = slice(game.offsets[info], game.offsets[info + 1])
        taken = set(game.actions[part][policy[part] > 0].tolist())
        keys = np.arange(200, dtype=np.uint64)
        views = np.repeat(game.views[row : row + 1], 200)
        chosen = BuiltIn("greedy").act(views, np.zeros((200, 114), bool), keys)
        assert taken <= set(chosen.tolist())
        assert policy[part].sum() == pytest.approx(1)


def test_exact_play_cannot_be_exploited_where_nothing_is_hidden() -> None:
    """All six tiles are dealt, so each seat knows the other's hand, and solving it is perfect."""
    game = build(Rules.from_spec("fives-and-threes:max_pip=2,deal=3,mode=round"))
    solver = tabulate(game, make_agent("pimc:1"), 1, 0)
    assert game.exploitability(solver) == pytest.approx(0, abs=1e-9)
    assert game.exploitability(game.uniform()) > 1


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "e.json"
    run(Exact(agents=("greedy", "random", "greedy"), rules=NO_DRAWS, keys=8, json=path))
    document = json.loads(path.read_text())
    assert document["rules"] == Rules.from_spec(NO_DRAWS).spec
    rows = {row["agent"]: row for row in document["agents"]}
    assert list(rows) == ["random", "greedy"]  # the least exploitable first
    assert rows["random"]["exploitability"] == pytest.approx(0.2416667, abs=1e-6)
    assert (rows["random"]["keys"], rows["greedy"]["keys"]) == (0, 8)
    assert rows["greedy"]["exploitability"] == pytest.approx(
        sum(rows["greedy"]["best_response"]) / 2
    )
    assert "0.2417" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rules": "fives-and-threes:max_pip=2,deal=2"}, "two players and one round"),
        ({"rules": "fives-and-threes:players=3,mode=round"}, "two players and one round"),
        ({"rules": "fives-and-threes:mode=round"}, "deals and the most is"),
        ({"rules": "chess"}, "unknown game"),
        ({"agents": ()}, "--agents has none"),
        ({"agents": ("gredy",)}, "did you mean greedy"),
        ({"keys": 0}, "--keys 0 is not a whole number from 1 up"),
        ({"cfr": -1}, "--cfr -1 is not"),
    ],
)
def test_bad_input(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    options = {"rules": NO_DRAWS, "json": tmp_path / "new" / "e.json", **changes}
    with pytest.raises(ValueError, match=message):
        run(Exact(**options))
    assert not (tmp_path / "new" / "e.json").exists()


def test_a_game_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.exact.game.MAX_NODES", 1993)
    assert len(build(Rules.from_spec(NO_DRAWS)).nodes) == 1993
    monkeypatch.setattr("eval.exact.game.MAX_NODES", 1000)
    with pytest.raises(ValueError, match="has more than 1,000 positions"):
        build(Rules.from_spec(NO_DRAWS))


def test_failing_agent_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Knocker:
        def act(self, views: Any, masks: Any, keys: Any) -> Any:
            return np.full(len(views), PASS)

    monkeypatch.setattr("eval.exact.command.make_agent", lambda spec: Knocker())
    with pytest.raises(ValueError, match=r"greedy: .* chose an illegal action"):
        run(Exact(agents=("greedy",), rules=NO_DRAWS, json=tmp_path / "e.json"))
