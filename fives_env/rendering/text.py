"""A view as plain ASCII text, which every console can show."""

import numpy as np

from fives_env.actions import DRAW, PASS
from fives_env.records import BLOCKED, NO_SEAT, OUT
from fives_env.rules import PRESETS
from fives_env.tiles import HIGH, LOW, NO_VALUE, NUM_TILES, tile_name, tiles_in


def render_text(view: np.void) -> str:
    """What the viewer sees, as lines of ASCII text.

    The line runs from arm 0 on the left to arm 1 on the right; the spinner's other two arms stand
    below it, read outward. Nothing is shown that is not in the view.

    Args:
        view: One VIEW record.
    """
    lines = [
        _heading(view),
        "scores    " + _by_side(view),
        "hands     " + _hands(view),
        *_layout(view),
        "last      " + _last(view),
        *_known(view),
        "your hand " + " ".join(f"[{tile_name(tile)}]" for tile in tiles_in(view["hand"])),
        _turn(view),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _heading(view: np.void) -> str:
    rules = view["rules"]
    title = list(PRESETS.values())[rules["game"]].title
    target = f"to {rules['target']}" if view["target_on"] else "no target"
    return f"{title}, {target}, round {view['round'] + 1}, led by {_seat(view, view['leader'])}"


def _seat(view: np.void, seat: int) -> str:
    return f"seat {seat}" + (" (you)" if seat == view["viewer"] else "")


def _by_side(view: np.void) -> str:
    rules = view["rules"]
    if not rules["partners"]:
        return "   ".join(
            f"{_seat(view, seat)}: {view['scores'][seat]}" for seat in range(rules["num_players"])
        )
    own = view["viewer"] % 2
    return "   ".join(
        f"seats {side}+{side + 2}{' (yours)' if side == own else ''}: {view['scores'][side]}"
        for side in range(2)
    )


def _hands(view: np.void) -> str:
    counts = [
        f"{_seat(view, seat)}: {view['hand_sizes'][seat]}"
        for seat in range(view["rules"]["num_players"])
    ]
    return "   ".join([*counts, f"boneyard: {view['boneyard']}"])


def _layout(view: np.void) -> list[str]:
    if not view["played"]:
        return ["table     empty"]
    left, middle, right, *branches = _chains(view)
    lines = ["table     " + "".join(left[::-1]) + middle[0] + "".join(right)]
    if view["arms"][2] != NO_VALUE:
        spinner = view["spinner"]
        lines += [
            f"  arm {arm}   from [{spinner}|{spinner}]: " + ("".join(chain) or "open")
            for arm, chain in zip((2, 3), branches, strict=True)
        ]
    ends = ", ".join(
        f"arm {arm} shows {view['arms'][arm]} and counts {view['counts'][arm]}"
        for arm in range(4)
        if view["arms"][arm] != NO_VALUE
    )
    return [*lines, f"ends      {ends}; total {view['total']}"]


def _chains(view: np.void) -> list[list[str]]:
    """Arm 0, the opening tile, then arms 1, 2, 3; tiles outward, each as it lies on the page."""
    chains: list[list[str]] = [[], [], [], [], []]
    inner: list[int] = [0, 0, int(view["spinner"]), int(view["spinner"])]
    for _, action in view["moves"][: view["num_moves"]].tolist():
        if action >= DRAW:
            continue
        arm, tile = divmod(action, NUM_TILES)
        if not chains[1]:
            chains[1] = [f"[{tile_name(tile)}]"]
            inner[0], inner[1] = int(LOW[tile]), int(HIGH[tile])
            continue
        outer = int(LOW[tile]) + int(HIGH[tile]) - inner[arm]
        text = f"[{outer}|{inner[arm]}]" if arm == 0 else f"[{inner[arm]}|{outer}]"
        chains[0 if arm == 0 else arm + 1].append(text)
        inner[arm] = outer
    return chains


def _last(view: np.void) -> str:
    if view["mover"] == NO_SEAT:
        return "nothing played yet"
    return _last_action(view) + _round_end(view) + _match_end(view)


def _last_action(view: np.void) -> str:
    who = _seat(view, view["mover"])
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
    who = f"seats {winner}+{winner + 2}" if view["rules"]["partners"] else _seat(view, winner)
    return f"; {who} won the match"


def _known(view: np.void) -> list[str]:
    lines = []
    for seat in range(view["rules"]["num_players"]):
        values = [str(value) for value in range(7) if view["absent"][seat] >> value & 1]
        if values:
            lines.append(f"known     {_seat(view, seat)} holds no {', '.join(values)}")
    return lines


def _turn(view: np.void) -> str:
    return "over" if view["match_over"] else f"to move   {_seat(view, view['seat'])}"
