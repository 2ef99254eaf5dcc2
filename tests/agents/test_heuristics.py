"""`careful` and `tactic`: their view of hidden hands, and that each rule does what it says."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.heuristics.holdings import BONEYARD, NOTHING_TOLD, write_chances
from agents.heuristics.tactic import RULES, Tactic
from eval.arena import paired as arena
from eval.stats.scores import score
from fives_env import Games, encode
from fives_env.actions import parse_action
from fives_env.engine.features import FEATURES
from fives_env.play import turn_keys
from fives_env.rules import Rules
from fives_env.tiles import HIGH, LOW, NUM_TILES, parse_tile
from tests.agents.material import Array
from tests.core.material import from_python, mixed, tile_bits

WRITE_CHANCES = from_python(write_chances)


def chances_of(view: Any) -> Array:
    chances = np.empty((5, NUM_TILES))
    WRITE_CHANCES(view, NOTHING_TOLD, chances)
    return chances


@pytest.mark.parametrize("players", ["2", "3", "4"])
def test_chances_add_up_and_respect_what_seats_are_known_to_lack(players: str) -> None:
    games = mixed(f"fives-and-threes:players={players}", 120)
    known = 0
    for view in games.view():
        chances = chances_of(view)
        unseen = ~tile_bits(view["hand"] | view["played"])
        sizes = view["hand_sizes"].astype(int)
        sizes[view["viewer"]] = 0
        assert chances.sum(axis=0)[unseen] == pytest.approx(1, abs=1e-9)
        assert chances[:, ~unseen].sum() == 0
        assert chances[:BONEYARD].sum(axis=1) == pytest.approx(sizes, abs=0.35)
        for seat, value in itertools.product(range(int(players)), range(7)):
            if view["absent"][seat] >> value & 1 and seat != view["viewer"]:
                known += 1
                fits = [parse_tile(f"{value}|{other}") for other in range(7)]
                assert chances[seat, fits].sum() == 0
    assert known > 5


def test_chances_of_two_seats_are_the_shares_of_all_deals() -> None:
    """A small set, all deals that agree counted one by one."""
    games = mixed("fives-and-threes:players=2,max_pip=3,deal=3", 60)
    for row, view in enumerate(games.view()):
        other = 1 - int(view["viewer"])
        hands = [tile_bits(deal.data["hands"][0, other]) for deal in all_deals(games[row])]
        assert chances_of(view)[other] == pytest.approx(np.mean(hands, axis=0))


def turn(spec: str, hands: list[str], moves: str, scores: list[int]) -> Games:
    """A game in which these hands were dealt and these actions made."""
    held = [[parse_tile(tile) for tile in hand.split()] for hand in hands]
    dealt = [tile for hand in held for tile in hand]
    deck = dealt + [tile for tile in range(NUM_TILES) if tile not in dealt]
    games = Games(f"{spec}:deal={len(held[0])}")
    games.reset(seed=0, rounds=[{"deck": deck, "leader": 0}], scores=scores)
    for action in moves.split():
        games.step([parse_action(action)])
    return games


def chosen(spec: str, games: Games) -> str:
    agent = make_agent(spec)
    action = agent.act(games.view(), games.action_mask(), turn_keys(games))[0]
    return str(action)


def test_careful_takes_what_is_best_over_all_deals() -> None:
    """Points less the mean of the best reply, every hand that the other may hold played out."""
    games = mixed("fives-and-threes:players=2,max_pip=3,deal=3", 40)
    masks = games.action_mask()
    actions = make_agent("careful").act(games.view(), masks, turn_keys(games))
    for row in np.flatnonzero(masks.sum(axis=1) > 1):
        worth = {
            action: np.mean([worth_of(game, action) for game in all_deals(games[row])])
            for action in np.flatnonzero(masks[row])
        }
        assert worth[actions[row]] == pytest.approx(max(worth.values()), abs=1e-6)


def all_deals(games: Games) -> Iterator[Games]:
    """This game with each hand that the other seat may hold."""
    view = games.view()[0]
    other = 1 - int(view["viewer"])
    unseen = tile_bits(view["rules"]["set"]) & ~tile_bits(view["hand"] | view["played"])
    lacks = [value for value in range(7) if view["absent"][other] >> value & 1]
    held = [t for t in np.flatnonzero(unseen) if LOW[t] not in lacks and HIGH[t] not in lacks]
    for hand in itertools.combinations(held, int(view["hand_sizes"][other])):
        game = games.clone()
        game.data["hands"][0, other] = sum(1 << int(tile) for tile in hand)
        yield game


def worth_of(games: Games, action: int) -> float:
    games.step([action])
    points = float(games.data["points"][0])
    if games.data["round_over"][0] or games.data["match_over"][0]:
        return points
    replies = encode(games.view())[0, FEATURES["points"]]
    return points - 10 * float(replies.max())


def test_F12_tactic_takes_the_exact_win_and_greedy_finds_it_too() -> None:
    """3 are missing: [6|1] on the 1 makes 9, 3 points; [3|6] on the 3 makes 7, none."""
    games = turn("fives-and-threes", ["1|3 0|0 0|1", "3|6 1|6 2|2"], "1|3>0", [0, 58])
    win = str(parse_action("1|6>0"))
    assert chosen("tactic", games) == win
    games.step([int(win)])
    assert games.data["winner"][0] == 1


def test_tactic_does_not_leave_the_win_to_the_next_seat() -> None:
    """Whatever it does, it never leaves more chance of a loss at once than with the rule off."""
    games = Games("fives-and-threes", 2000)
    games.reset(seed=8, scores=[30, 58])
    games.rollout(4, "greedy")
    games.restart(games.data["match_over"] == 1)
    losses = []
    for off in ([], ["block-win", "reply", "opening", "aim"]):
        played = games.clone()
        arguments = played.view(), played.action_mask(), turn_keys(played)
        mover = played.data["seat"].copy()
        played.step(Tactic(off).act(*arguments))
        goes_on = (played.data["match_over"] == 0) & (played.data["seat"] != mover)
        played.step(np.where(goes_on, make_agent("greedy").act(*shown(played)), -1))
        losses.append(int(((played.data["winner"] >= 0) & goes_on).sum()))
    assert losses[0] < 0.8 * losses[1]


def shown(games: Games) -> tuple[Array, Array, Array]:
    return games.view(), games.action_mask(), turn_keys(games)


def test_with_no_rule_tactic_plays_for_points_as_greedy() -> None:
    """Ties between the two ends of a tile are broken by the key alike."""
    for rules in ("fives-and-threes", "all-fives:players=3", "threes-and-fives:players=4"):
        arguments = shown(mixed(rules, 200))
        none = make_agent(f"tactic,off={'+'.join(RULES)}").act(*arguments)
        assert (none == make_agent("greedy").act(*arguments)).all()


@pytest.mark.parametrize("rule", list(RULES))
def test_each_rule_changes_what_is_played(rule: str) -> None:
    changed = 0
    for spec in ("fives-and-threes", "fives-and-threes:players=4"):
        games = Games(spec, 3000)
        games.reset(seed=3, scores="random")
        games.rollout(8, "greedy")
        games.restart(games.data["match_over"] == 1)
        arguments = games.view(), games.action_mask(), turn_keys(games)
        changed += int((Tactic([rule]).act(*arguments) != Tactic().act(*arguments)).sum())
    assert changed > 5


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="no rule 'nosuch'; there are: win, block-win"):
        Tactic(["nosuch"])


@pytest.mark.parametrize(
    ("agent", "rules", "least"),
    [
        ("careful", "fives-and-threes", 0.58),
        ("tactic", "fives-and-threes", 0.65),
        ("careful", "all-fives", 0.7),
        ("tactic", "all-fives", 0.8),
        ("tactic", "fives-and-threes:players=4,partners=yes", 0.53),
    ],
)
def test_strength_against_greedy(agent: str, rules: str, least: float) -> None:
    """Far below what was measured (LOG.md), so that only a fault is found."""
    kind = Rules.from_spec(rules)
    pairs = np.arange(400)
    matches = arena.play(kind, make_agent(agent), make_agent("greedy"), 9, pairs)
    assert score(matches, kind).low > least - 0.03
