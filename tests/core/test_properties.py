"""What holds after any sequence of legal actions under any rules, whatever the deal."""

from itertools import chain
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fives_env import Games, Rules
from fives_env.engine import turns
from fives_env.records import MAX_MOVES
from fives_env.rules import PRESETS
from fives_env.tiles import tiles_in, tiles_up_to
from tests.core.material import from_python
from tests.reference.layout import Layout
from tests.reference.referee import DRAW, PASS, TILES

ACT = from_python(turns.act)

MAX_STEPS = 250


@st.composite
def all_rules(draw: st.DrawFn) -> Rules:
    """Any rules at all, short matches more often than long ones."""
    game = draw(st.sampled_from(sorted(PRESETS)))
    players = draw(st.integers(2, 4))
    max_pip = draw(
        st.sampled_from([6, 6, 6, 5, 4, 3, 2, 1]).filter(lambda pip: pip > 1 or players < 4)
    )
    num_tiles = len(tiles_up_to(max_pip))
    deal = draw(st.integers(1, num_tiles // players))
    options: dict[str, Any] = {
        "players": players,
        "partners": players == 4 and draw(st.booleans()),
        "max_pip": max_pip,
        "deal": deal,
        "lead": draw(st.sampled_from(["rotation", "winner", "highest-double"])),
        "target": draw(st.sampled_from([1, 7, 30, 61, 100, 250])),
        "max_rounds": draw(st.integers(1, 6)),
        "mode": draw(st.sampled_from(["match", "match", "round"])),
    }
    if game != "fives-and-threes":
        options |= {
            "draw": draw(st.sampled_from(["forced", "optional"])),
            "reserve": draw(st.integers(0, num_tiles - players * deal)),
            "spinner": draw(st.sampled_from(["first-double", "none"])),
            "target_check": draw(st.sampled_from(["immediate", "round-end"])),
        }
    return Rules.preset(game, **options)


def check_tiles(rules: Rules, game: Any) -> None:
    """B75: hands, layout and boneyard are the set, and no tile is in two places."""
    boneyard = game["deck"][int(game["next_draw"]) : rules.num_tiles].tolist()
    hands = [tiles_in(hand) for hand in game["hands"]]
    everywhere = [*chain(*hands), *tiles_in(game["played"]), *boneyard]
    assert sorted(everywhere) == tiles_up_to(rules.max_pip)
    assert [len(hand) for hand in hands] == game["hand_sizes"].tolist()
    assert len(boneyard) == game["boneyard"] >= rules.reserve


def check_layout(rules: Rules, game: Any) -> None:
    """C2 to C5, S: the moves laid out again give the same arms, counts and total."""
    layout = Layout(rules.spinner == "first-double")
    for _, action in game["moves"][: game["num_moves"]].tolist():
        if action < DRAW:
            layout.lay(TILES[action % 28], action // 28)  # refuses halves that differ
    missing = 4 - len(layout.starts())
    assert game["arms"].tolist() == layout.values() + [7] * missing
    assert game["counts"].tolist() == layout.counts() + [0] * missing
    assert game["total"] == sum(layout.counts()) == game["counts"].sum()
    assert [TILES[tile] for tile in tiles_in(game["played"])] == sorted(layout.tiles)


def check_moves(rules: Rules, game: Any) -> None:
    """B43: the dealt hands and the moves give the hands now, and no round goes on for ever."""
    moves = game["moves"][: game["num_moves"]].tolist()
    assert not game["moves"][game["num_moves"] :].any()
    deck, size = game["deck"].tolist(), rules.deal
    hands = [set(deck[seat * size : (seat + 1) * size]) for seat in range(rules.players)]
    drawn = iter(deck[rules.players * size : rules.num_tiles - rules.reserve])
    placed = knocks = 0
    for seat, action in moves:
        if action == DRAW:
            hands[seat].add(next(drawn))
        elif action == PASS:
            knocks += 1
        else:
            placed += 1
            hands[seat].remove(action % 28)
    assert hands == [set(tiles_in(hand)) for hand in game["hands"]][: rules.players]
    assert placed <= rules.num_tiles
    assert knocks <= (rules.players - 1) * placed
    assert len(moves) <= MAX_MOVES


def check_end(rules: Rules, game: Any) -> None:
    """C8, F6 to F8, T6, A7: why the round is over, and that it goes on otherwise."""
    if game["match_over"] and game["winner"] >= 0 and not game["round_over"]:
        return  # D13
    open_values = {int(value) for value in game["arms"] if value < 7}
    hands = [tiles_in(hand) for hand in game["hands"][: rules.players]]
    stuck = not any(open_values & set(TILES[tile]) for hand in hands for tile in hand)
    drawable = 0 if rules.draw == "none" else game["boneyard"] - rules.reserve
    empty = [not hand for hand in hands]
    if rules.partners and rules.game == "fives-and-threes":
        out = (empty[0] and empty[2]) or (empty[1] and empty[3])
    else:
        out = any(empty)
    blocked = stuck and drawable == 0 and game["played"] > 0
    assert game["round_over"] == (1 if out else 2 if blocked else 0)


def check_scores(rules: Rules, game: Any, scores: list[int]) -> list[int]:
    """B41, F12: the scores are the sums of all gains in plain integers; returns them."""
    side = rules.side_of(int(game["mover"]))
    after = [score + int(change) for score, change in zip(scores, game["settlement"], strict=True)]
    after[side] += int(game["points"])
    assert game["scores"].tolist() == after
    assert not game["refused"] or (game["points"] == 0 and rules.exact)
    if rules.exact and game["target_on"]:
        assert max(after) <= rules.target
    if game["winner"] >= 0:
        assert after[game["winner"]] == max(after) >= rules.target
    return after


def check_mask(game: Any, mask: np.ndarray) -> None:
    """C7, B13: a seat to move always has an action; a knock only where there is nothing else."""
    assert mask.any() != game["match_over"]
    if mask[PASS]:
        assert mask.sum() == 1
    for action in np.flatnonzero(mask[:DRAW]):
        assert game["hands"][game["seat"]] >> int(action % 28) & 1


def check_position(rules: Rules, game: Any) -> None:
    """Everything that one position says by itself."""
    check_tiles(rules, game)
    check_layout(rules, game)
    check_moves(rules, game)


@settings(max_examples=250, deadline=None)
@given(
    rules=all_rules(),
    seed=st.integers(0, 2**64 - 1),
    picks=st.lists(st.integers(0, 113), min_size=1, max_size=40),
    start=st.booleans(),
)
def test_any_sequence_of_legal_actions(
    rules: Rules, seed: int, picks: list[int], start: bool
) -> None:
    games = Games(rules)
    games.reset(seed=seed, scores=[0] * rules.num_sides if start else None)
    scores = [0] * 4
    for step in range(MAX_STEPS):
        game = games.data[0]
        mask = games.action_mask()[0]
        check_position(rules, game)
        check_mask(game, mask)
        if game["match_over"]:
            return
        legal = np.flatnonzero(mask)
        action = int(legal[picks[step % len(picks)] % len(legal)])
        before = games.data.copy()[0]
        games.step([action])
        ACT(games.params[0], before, action)  # the same, without the next deal
        check_position(rules, before)
        check_end(rules, before)
        scores = check_scores(rules, before, scores)
        assert games.data[0]["scores"].tolist() == scores
