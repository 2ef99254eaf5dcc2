"""Action ids, the same in every game: ``arm * 28 + tile``, then DRAW, then PASS (the knock).

In text a placement is ``4|6>1`` (the tile, then the arm), a draw is ``draw``, a knock is ``knock``.
"""

from fives_env.tiles import NUM_TILES, parse_tile, tile_name

NUM_ARMS = 4
DRAW = NUM_ARMS * NUM_TILES
PASS = DRAW + 1
NUM_ACTIONS = PASS + 1


def placement(tile: int, arm: int = 0) -> int:
    """The action that joins `tile` to `arm`; the opening uses arm 0."""
    return arm * NUM_TILES + tile


def action_name(action: int) -> str:
    """The action as text.

    Raises:
        ValueError: There is no such action.
    """
    if not 0 <= action < NUM_ACTIONS:
        raise ValueError(f"{action} is not an action; they run from 0 to {NUM_ACTIONS - 1}")
    if action == DRAW:
        return "draw"
    if action == PASS:
        return "knock"
    arm, tile = divmod(action, NUM_TILES)
    return f"{tile_name(tile)}>{arm}"


def parse_action(text: str) -> int:
    """The action written as `action_name` writes it.

    Raises:
        ValueError: The text is not an action.
    """
    word = text.strip().lower()
    if word in ("draw", "knock"):
        return DRAW if word == "draw" else PASS
    tile, separator, arm = word.partition(">")
    if not separator or arm.strip() not in ("0", "1", "2", "3"):
        raise ValueError(
            f"{text!r} is not an action; write a tile and an arm as in 4|6>1, or draw, or knock"
        )
    return placement(parse_tile(tile), int(arm))
