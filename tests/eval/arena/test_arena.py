"""The arena: the same deals in every seating, and shares that follow from them."""

import itertools
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eval.arena import paired as arena
from eval.arena.paired import hash_rows, pair_seeds, play, play_meeting, seatings
from eval.matches import Matches
from eval.stats.scores import leads, match_shares, score, table_score
from fives_env.games import Games
from fives_env.play import advance
from fives_env.policies import BuiltIn
from fives_env.rules import Rules

GREEDY, RANDOM = BuiltIn("greedy"), BuiltIn("random")
TWO = Rules.preset("fives-and-threes")
PARTNERS = Rules.preset("all-fives", players=4)
THREE = Rules.preset("threes-and-fives", players=3)
FOUR = Rules.preset("all-fives", players=4, partners=False)
ALL = pytest.mark.parametrize("rules", [TWO, PARTNERS, THREE, FOUR], ids=lambda rules: rules.spec)


def matches(winner: Any, scores: Any) -> Matches:
    """Finished matches with these winners [N, M] and scores [N, M, D]."""
    winner = np.array(winner)
    zeros = np.zeros_like(winner)
    return Matches(
        pairs=np.arange(len(winner)),
        sides=seatings(winner.shape[1]),
        scores=np.array(scores),
        rounds=zeros + 5,
        winner=winner,
        truncated=zeros == 1,
        leader=zeros,
        deals=zeros,
        lines=zeros,
        moves=np.full(winner.shape, b"", object),
    )


class First:
    """Takes the first legal action; asked from Python, and needs no key."""

    def act(self, views: Any, masks: Any, keys: Any) -> Any:
        return masks.argmax(axis=1)


class Shared(list[Any]):
    """A list that is the same one in all copies of its owner."""

    def __deepcopy__(self, memo: Any) -> "Shared":
        return self


class Asked:
    """Plays like random; keeps what each of its copies was asked."""

    def __init__(self) -> None:
        self.copies = Shared()
        self.mine: list[Any] = []

    def act(self, views: Any, masks: Any, keys: Any) -> Any:
        if not self.mine:
            self.copies.append(self.mine)
        self.mine.append((views, keys))
        return RANDOM.act(views, masks, keys)

    @property
    def seats(self) -> list[set[int]]:
        """The seats that each copy played."""
        return [set(np.concatenate([v["viewer"] for v, _ in one]).tolist()) for one in self.copies]

    @property
    def keys(self) -> Any:
        """All keys."""
        return np.concatenate([keys for one in self.copies for _, keys in one])


def test_two_agents_take_each_side_once() -> None:
    assert seatings(2).tolist() == [[0, 1], [1, 0]]
    assert seatings(3).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert seatings(4).tolist() == (1 - np.eye(4, dtype=int)).tolist()


@pytest.mark.parametrize("num_sides", [2, 3, 4])
def test_X51_as_many_agents_as_sides_sit_in_every_order_once(num_sides: int) -> None:
    table = seatings(num_sides, num_sides)
    assert sorted(map(tuple, table)) == list(itertools.permutations(range(num_sides)))
    assert (np.argmax(table == 0, axis=1) == np.arange(len(table)) % num_sides).all()


def test_each_partner_has_a_copy_of_their_agent() -> None:
    agent = Asked()
    found = play(PARTNERS, agent, RANDOM, 0, np.arange(1))
    assert found.sides.tolist() == [[0, 1], [1, 0]]
    assert sorted(agent.seats, key=min) == [{0}, {1}, {2}, {3}]
    assert agent.seats[0] | agent.seats[1] == {0, 2}  # the first seating


@ALL
def test_B50_every_seat_of_every_seating_is_played_by_a_copy(rules: Rules) -> None:
    agents = Asked(), Asked()
    found = play(rules, *agents, 0, np.arange(20))
    for number, agent in enumerate(agents):
        assert agent.mine == []
        assert all(len(seats) == 1 for seats in agent.seats)
        seats_of_sides = rules.players // rules.num_sides
        assert len(agent.copies) == (found.sides == number).sum() * seats_of_sides


def test_B50_what_cannot_be_copied_is_refused_and_named() -> None:
    class Locked(First):
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def __repr__(self) -> str:
            return "Locked()"

    with pytest.raises(ValueError, match=r"Locked\(\) cannot be copied.*lock"):
        play(TWO, Locked(), GREEDY, 0, np.arange(2))


@ALL
def test_X41_no_key_is_handed_out_twice(rules: Rules) -> None:
    """Neither in the two seatings, nor to two agents, nor in two turns."""
    agents = Asked(), Asked()
    play(rules, *agents, 0, np.arange(20))
    keys = np.concatenate([agent.keys for agent in agents])
    assert len(np.unique(keys)) == len(keys)


def test_X41_the_order_of_the_rows_says_nothing() -> None:
    """Two calls about the same matches, those which the seat leads, each in an order of its own."""
    agent = Asked()
    play(TWO, agent, First(), 0, np.arange(200), salt=1)
    for calls in agent.copies:
        (first, _), (second, _) = calls[0], calls[2]
        # A turn later a hand is what is left of one before, unless the round was blocked.
        before = [np.flatnonzero(first["hand"] & hand == hand) for hand in second["hand"]]
        places = [rows[0] for rows in before if len(rows)]
        assert len(places) > 90
        assert 0.4 < np.mean(np.diff(places) > 0) < 0.6


def test_X41_one_agent_under_one_name_plays_itself_once() -> None:
    asked = Asked()
    found = play_meeting(TWO, (asked, asked), 0, np.arange(9), names=("x", "x"))
    assert len(asked.copies) == 2
    assert (found.moves[:, 0] == found.moves[:, 1]).all()


def test_X40_a_salt_decides_the_keys_and_nothing_else() -> None:
    one, same, other = (play(TWO, Asked(), GREEDY, 3, np.arange(9), salt) for salt in (1, 1, 2))
    assert (one.lines == same.lines).all()
    assert (one.deals == other.deals).all()
    assert (one.lines != other.lines).all()
    built_in = [play(TWO, RANDOM, GREEDY, 3, np.arange(9), salt).lines for salt in (1, 2, None)]
    assert (built_in[0] == built_in[1]).all()
    assert (built_in[0] == built_in[2]).all()


def test_pair_seeds_are_unique_and_far_from_training_seeds() -> None:
    seeds = np.concatenate([pair_seeds(seed, np.arange(5000)) for seed in (0, 1, 2**62)])
    assert len(np.unique(seeds)) == len(seeds)
    assert seeds.min() > 2**32  # people seed training with small numbers


def test_pair_seeds_do_not_depend_on_the_block() -> None:
    assert pair_seeds(7, np.array([3, 1])).tolist() == pair_seeds(7, np.arange(4))[[3, 1]].tolist()


@ALL
def test_B58_same_deals_in_every_seating(rules: Rules) -> None:
    found = play(rules, GREEDY, RANDOM, 3, np.arange(8))
    assert (found.deals == found.deals[:, :1]).all()
    assert len(np.unique(found.deals)) == 8
    other = play(rules, RANDOM, RANDOM, 3, np.arange(8))
    assert (other.deals == found.deals).all()


@ALL
@pytest.mark.parametrize("agent", [GREEDY, RANDOM], ids=repr)
def test_mirror_match_is_exactly_even(rules: Rules, agent: BuiltIn) -> None:
    result = score(play(rules, agent, agent, 5, np.arange(30)), rules)
    assert result.win_rate == pytest.approx(result.even, abs=1e-12)
    assert (result.low, result.high) == (result.win_rate, result.win_rate)
    assert result.points_per_round == pytest.approx(0, abs=1e-12)
    assert result.distinct_matches == 30


@pytest.mark.parametrize("rules", [TWO, PARTNERS], ids=lambda rules: rules.spec)
def test_swapped_agents_give_the_mirror_image(rules: Rules) -> None:
    found = play(rules, GREEDY, RANDOM, 1, np.arange(40))
    turned = play(rules, RANDOM, GREEDY, 1, np.arange(40))
    for name, values in vars(found.swapped()).items():
        assert (getattr(turned, name) == values).all()
    ours, theirs = score(found, rules), score(turned, rules)
    assert ours.win_rate == pytest.approx(1 - theirs.win_rate)
    assert (ours.low, ours.high) == pytest.approx((1 - theirs.high, 1 - theirs.low))
    assert ours.points_per_round == pytest.approx(-theirs.points_per_round)


@ALL
def test_greedy_beats_random(rules: Rules) -> None:
    result = score(play(rules, GREEDY, RANDOM, 2, np.arange(100)), rules)
    assert result.low > result.even
    assert result.points_low is not None
    assert result.points_low > 0


def test_a_match_of_a_block_is_the_match_played_alone() -> None:
    block = play(TWO, GREEDY, RANDOM, 9, np.arange(20))
    game = Games(TWO)
    game.reset(seed=pair_seeds(9, np.array([13])))
    advance(game, [GREEDY, RANDOM], np.array([[1, 0, 0, 0]]))
    assert block.scores[13, 1].tolist() == game.data["scores"][0, :2].tolist()
    assert block.winner[13, 1] == game.data["winner"][0]
    again = play(TWO, GREEDY, RANDOM, 9, np.array([13]))
    assert again.lines.tolist() == block.lines[13:14].tolist()


@ALL
def test_the_record_has_every_action(rules: Rules) -> None:
    """Built-in policies and those that Python asks are recorded alike, and play as `advance`."""
    for agents in ((GREEDY, RANDOM), (First(), RANDOM), (First(), First())):
        found = play(rules, *agents, 4, np.arange(5))
        game, advanced = Games(rules), Games(rules)
        for each in (game, advanced):
            each.reset(seed=pair_seeds(4, np.array([3])))
        leader = int(game.data["leader"][0])
        for action in found.moves[3, 0]:
            assert not game.data["match_over"][0]
            game.step([action])
        seats = found.sides[0][[rules.side_of(seat) for seat in range(rules.players)]]
        advance(advanced, agents, np.resize(seats, (1, 4)))
        assert game.data.tobytes() == advanced.data.tobytes()
        assert game.data["match_over"][0]
        assert game.data["scores"][0, : rules.num_sides].tolist() == found.scores[3, 0].tolist()
        assert game.data["round"][0] + 1 == found.rounds[3, 0]
        assert leader == found.leader[3, 0]


def test_a_record_grows_with_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    meetings = [(First(), RANDOM), (GREEDY, RANDOM)]
    whole = [play(THREE, *agents, 4, np.arange(4)).moves.tolist() for agents in meetings]
    monkeypatch.setattr("fives_env.play._ROOM", 3)
    assert [play(THREE, *agents, 4, np.arange(4)).moves.tolist() for agents in meetings] == whole


def test_hashes_tell_rows_apart() -> None:
    rows = [b"", b"\0", b"\0\0", b"\1", b"\1\2", b"\2\1", b"\1\2"]
    hashes = hash_rows(rows)
    assert hashes[-1] == hashes[4]
    assert len(np.unique(hashes)) == 6
    assert hash_rows([b"", b"\1"]).tolist() == hashes[[0, 3]].tolist()


@pytest.mark.parametrize("rules", [THREE, FOUR], ids=lambda rules: rules.spec)
def test_tables_of_different_agents_give_each_its_due(rules: Rules) -> None:
    agents = [GREEDY, *[RANDOM] * (rules.num_sides - 1)]
    found = play_meeting(rules, agents, 6, np.arange(60))
    assert found.num_agents == rules.num_sides
    assert (found.deals == found.deals[:, :1]).all()
    alone = play(rules, GREEDY, RANDOM, 6, np.arange(60))
    orders = found.lines.shape[1] // rules.num_sides
    assert (found.lines == np.tile(alone.lines, orders)).all()  # the others are one agent here
    first, *others = table_score(found, rules)["agents"]
    assert first["low"] > 1 / rules.num_sides
    assert all(other["high"] < first["low"] for other in others)
    assert sum(one["win_rate"] for one in [first, *others]) == pytest.approx(1)


def test_B59_deals_are_distinct_for_deterministic_agents() -> None:
    result = score(play(TWO, GREEDY, GREEDY, 0, np.arange(500)), TWO)
    assert result.distinct_deals == 500
    assert result.distinct_matches == 500


def test_wins_count_by_the_side_that_a_was() -> None:
    found = matches([[0, 0], [1, 1], [0, 1]], np.zeros((3, 2, 2), int))
    assert match_shares(found, TWO).tolist() == [[1, 0], [0, 1], [1, 1]]


def test_match_without_a_winner_is_shared_alike() -> None:
    found = matches([[-1, 1]], [[[40, 20], [3, 61]]])
    assert match_shares(found, TWO).tolist() == [[0.5, 1]]
    short = Rules.preset("threes-and-fives", players=3, max_rounds=1, target=10_000)
    result = score(play(short, GREEDY, RANDOM, 0, np.arange(5)), short)
    assert result.truncated == 15
    assert result.win_rate == pytest.approx(1 / 3)


def test_D7_most_points_win_a_single_round() -> None:
    single = replace(THREE, mode="round")
    scores = [[[9, 5, 5], [9, 9, 5], [4, 4, 4]]]
    found = matches([[-1, -1, -1]], scores)
    assert match_shares(found, single).tolist() == [[1, 0.5, pytest.approx(1 / 3)]]


def test_points_lead_is_over_the_mean_of_the_others() -> None:
    found = matches([[0, 1, 2]], [[[10, 4, 0], [1, 5, 3], [0, 0, 0]]])
    assert leads(found).tolist() == [[8, 3, 0]]


def test_B57_points_a_round_weigh_all_rounds_alike() -> None:
    found = matches([[0, 1], [0, 1]], [[[10, 0], [0, 10]], [[2, 0], [0, 2]]])
    found = replace(found, rounds=np.array([[1, 1], [9, 9]]))
    assert score(found, TWO).points_per_round == pytest.approx(24 / 20)


def test_illegal_action_names_the_agent() -> None:
    class Cheat:
        def act(self, views: Any, masks: Any, keys: Any) -> Any:
            return np.full(len(views), 113)

    with pytest.raises(ValueError, match=r"Cheat.*illegal"):
        arena.play(TWO, Cheat(), GREEDY, 0, np.arange(2))


def test_an_agent_cannot_make_an_action_legal() -> None:
    class Cheat:
        def act(self, views: Any, masks: Any, keys: Any) -> Any:
            masks[:] = True
            views["hand"] = 0xFFFFFFF
            return np.arange(len(views)) % 28

    with pytest.raises(ValueError, match=r"Cheat.* which is illegal; legal: \[[^\]]{,60}\]"):
        play(TWO, Cheat(), GREEDY, 0, np.arange(9))
