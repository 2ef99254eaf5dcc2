"""What is said of a view in words, under the text as in the picture."""

import numpy as np

from fives_env.actions import DRAW, PASS
from fives_env.records import BLOCKED, NO_SEAT, OUT
from fives_env.rules import PRESETS
from fives_env.tiles import NUM_TILES, tile_name


def heading(view: np.void) -> str:
    """The game, the target and the round."""
    rules = view["rules"]
    title = list(PRESETS.values())[rules["game"]].title
    target = f"to {rules['target']}" if view["target_on"] else "no target"
    return f"{title}, {target}, round {view['round'] + 1}, led by {seat_name(view, view['leader'])}"


def seat_name(view: np.void, seat: int) -> str:
    """What a seat is called."""
    return f"seat {seat}" + (" (you)" if seat == view["viewer"] else "")


def side_names(view: np.void) -> list[str]:
    """What each side is called."""
    rules = view["rules"]
    if not rules["partners"]:
        return [seat_name(view, seat) for seat in range(rules["num_players"])]
    own = view["viewer"] % 2
    return [f"seats {side}+{side + 2}{' (yours)' if side == own else ''}" for side in range(2)]


def last(view: np.void) -> str:
    """What was done last, and what came of it."""
    if view["mover"] == NO_SEAT:
        return "nothing played yet"
    return _last_action(view) + _round_end(view) + _match_end(view)


def _last_action(view: np.void) -> str:
    who = seat_name(view, view["mover"])
    points = f"{who} scored {view['points']}"
    if view["refused"]:
        points = f"{who} would have passed the target: refused"
    action = int(view["action"])
    if action >= DRAW:
        return f"{who} " + {DRAW: "drew a tile", PASS: "knocked"}[action]
    arm, tile = divmod(action, NUM_TILES)
    return f"{who} laid [{tile_name(tile)}] on arm {arm}; {points}"


def _round_end(view: np.void) -> str:
    ends = {OUT: "; the round ended by going out", BLOCKED: "; the round was blocked"}
    text = ends.get(int(view["round_over"]), "")
    settlement = view["settlement"][: view["rules"]["num_sides"]].tolist()
    if any(settlement):
        text += ", settled " + " / ".join(f"{change:+d}" for change in settlement)
    return text


def _match_end(view: np.void) -> str:
    if not view["match_over"]:
        return ""
    if view["winner"] < 0:
        return "; the match is over without a winner"
    winner = int(view["winner"])
    who = f"seats {winner}+{winner + 2}" if view["rules"]["partners"] else seat_name(view, winner)
    return f"; {who} won the match"


def turn(view: np.void) -> str:
    """Whose turn it is."""
    return (
        "the match is over" if view["match_over"] else f"to move: {seat_name(view, view['seat'])}"
    )
