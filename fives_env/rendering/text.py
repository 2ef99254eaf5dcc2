"""A view as plain ASCII text, which every console can show."""

import numpy as np

from fives_env.actions import DRAW
from fives_env.rendering.words import heading, last, seat_name, side_names
from fives_env.tiles import HIGH, LOW, NO_VALUE, NUM_TILES, tile_name, tiles_in


def render_text(view: np.void) -> str:
    """What the viewer sees, as lines of ASCII text.

    The line runs from arm 0 on the left to arm 1 on the right; the spinner's other two arms stand
    below it, read outward. Nothing is shown that is not in the view.

    Args:
        view: One VIEW record.
    """
    lines = [
        heading(view),
        "scores    " + _scores(view),
        "hands     " + _hands(view),
        *_layout(view),
        "last      " + last(view),
        *_known(view),
        "your hand " + " ".join(f"[{tile_name(tile)}]" for tile in tiles_in(view["hand"])),
        "over" if view["match_over"] else "to move   " + seat_name(view, view["seat"]),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _scores(view: np.void) -> str:
    named = zip(side_names(view), view["scores"].tolist(), strict=False)
    return "   ".join(f"{name}: {score}" for name, score in named)


def _hands(view: np.void) -> str:
    counts = [
        f"{seat_name(view, seat)}: {view['hand_sizes'][seat]}"
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


def _known(view: np.void) -> list[str]:
    lines = []
    for seat in range(view["rules"]["num_players"]):
        values = [str(value) for value in range(7) if view["absent"][seat] >> value & 1]
        if values:
            lines.append(f"known     {seat_name(view, seat)} holds no {', '.join(values)}")
    return lines
