"""Other states that a seat cannot tell from its own, for searches over information sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fives_env import belief
from fives_env.actions import DRAW, PASS
from fives_env.rules import CHOICES
from fives_env.tiles import NUM_TILES, tiles_in

if TYPE_CHECKING:
    from fives_env.envs.openspiel.game import FivesState

Past = tuple[list[int], list[int]]
"""What a seat was dealt, ascending, and what it drew, in order."""
FORCED = CHOICES["draw"].index("forced")


def resample(state: FivesState, seat: int, random: Callable[[], float]) -> FivesState:
    """A state that `seat` cannot tell from `state`, played from the start of the match.

    Hands are drawn by `belief`, each deal that agrees with the seat's view being equally likely,
    and then what the others were dealt and what they drew, such that nobody had a tile that fitted
    when it drew or knocked; where there is no such past, hands are drawn again. Earlier rounds, of
    which nothing matters any more, are left as they were.

    Args:
        state: One in which a seat is to move.
        seat: The seat.
        random: Gives numbers in [0, 1).

    Raises:
        ValueError: No seat is to move, or there is no such seat.
    """
    if state.current_player() < 0:
        raise ValueError("states are resampled where a seat is to move, not at chance or the end")
    if not 0 <= seat < state.players:
        raise ValueError(f"player {seat} is not a seat from 0 to {state.players - 1}")
    view, known = state.view(seat), state.information_state_string(seat)
    while True:  # what happened is one of them, so this ends; nearly always after a few
        hands = belief.sample(view, [int(random() * 2**53)], 1)["hands"][0, 0]
        past = [
            _own_past(state, seat) if other == seat else _past(state, other, hands[other], random)
            for other in range(state.players)
        ]
        found = _replay(state, past)
        if found and found.information_state_string(seat) == known and found.view(seat) == view:
            return found


def _own_past(state: FivesState, seat: int) -> Past:
    """What `seat` was dealt and drew."""
    size = int(state.params["hand_size"][0])
    movers = state.data["moves"][0, :, 0]
    drawn = [tile for move, tile in state.drawn if movers[move] == seat]
    return list(state.dealt[seat * size : (seat + 1) * size]), drawn


def _past(state: FivesState, seat: int, hand: int, random: Callable[[], float]) -> Past | None:
    """What `seat` may have been dealt and drawn if it holds `hand` now; None where nothing fits."""
    moves = state.data["moves"][0, : int(state.data["num_moves"][0])].tolist()
    own = [(move, action) for move, (mover, action) in enumerate(moves) if mover == seat]
    forced = state.params["draw"][0] == FORCED
    refusals = [move for move, action in own if action == PASS or (action == DRAW and forced)]
    until = dict.fromkeys(tiles_in(hand), len(moves))
    until |= {action % NUM_TILES: move for move, action in own if action < DRAW}
    since = {
        tile: max((m for m in refusals if m < end and state.fitting[m] >> tile & 1), default=-1)
        for tile, end in until.items()
    }
    drawn: list[int] = []
    for move, action in own:
        if action != DRAW:
            continue
        left = [t for t in until if t not in drawn and since[t] <= move < until[t]]
        due = [t for t in left if since[t] >= 0]  # held later, and not before its refusal
        if due:
            drawn.append(min(due, key=until.__getitem__))
        elif left:
            drawn.append(left[int(random() * len(left))])
        else:
            return None
    dealt = sorted(until.keys() - set(drawn))
    return (dealt, drawn) if all(since[tile] < 0 for tile in dealt) else None


def _replay(state: FivesState, past: Sequence[Past | None]) -> FivesState | None:
    """The match with this past of its last round instead of its own; None if there is no such."""
    if any(one is None for one in past):
        return None
    given = [one for one in past if one is not None]
    history = state.history()
    moves = state.data["moves"][0, : int(state.data["num_moves"][0])].tolist()
    dealt = [tile for hand, _ in given for tile in hand]
    began = len(history) - len(moves) - len(state.drawn) - len(dealt)
    drawn = [iter(tiles) for _, tiles in given]
    found: FivesState = state.get_game().new_initial_state()
    for action in (*history[:began], *dealt):
        found.apply_action(action)
    for mover, action in moves:
        if found.current_player() != mover or action not in found.legal_actions():
            return None  # as where another seat would have had the highest double
        found.apply_action(action)
        if action == DRAW:
            found.apply_action(next(drawn[mover]))
    return found
