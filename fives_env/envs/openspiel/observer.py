"""What one seat knows, in OpenSpiel's two forms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyspiel

from fives_env.actions import NUM_ACTIONS
from fives_env.encoding import encode
from fives_env.engine.features import NUM_FEATURES
from fives_env.records import MAX_MOVES
from fives_env.rendering.text import render_text
from fives_env.tiles import NUM_TILES

if TYPE_CHECKING:
    from fives_env.envs.openspiel.game import FivesState

Array = npt.NDArray[Any]


class FivesObserver:
    """What one seat knows, in OpenSpiel's two forms.

    The observation is that of our envs: the features as tensor, the view as text. With perfect
    recall the text says all that the seat ever saw, in order; the tensor has beside the features
    its hand as dealt, and each action of the round: seat, action, and the tile that it drew.
    """

    def __init__(self, kind: Any, params: dict[str, Any] | None = None) -> None:
        """Refuses other kinds of observation.

        Raises:
            ValueError: Parameters were given, or another kind is asked for.
        """
        if params:
            raise ValueError(f"an observer of fives takes no parameters, not {params}")
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError("an observer of fives shows what one seat knows, no more, no less")
        self.perfect_recall = kind.perfect_recall
        shapes: dict[str, tuple[int, ...]] = {"features": (NUM_FEATURES,)}
        if self.perfect_recall:
            shapes |= {"dealt": (NUM_TILES,), "moves": (MAX_MOVES, 3)}
        self.tensor = np.zeros(sum(math.prod(shape) for shape in shapes.values()), np.float32)
        self.dict: dict[str, Array] = {}
        start = 0
        for name, shape in shapes.items():
            size = math.prod(shape)
            self.dict[name] = self.tensor[start : start + size].reshape(shape)
            start += size

    def set_from(self, state: FivesState, player: int) -> None:
        """Writes what `player` knows to `tensor`, and so to `dict`; zeros before the first deal."""
        self.tensor[:] = 0
        if not state.rounds:
            return
        encode(state.view(player), out=self.dict["features"][None])
        if not self.perfect_recall:
            return
        size = int(state.params["hand_size"][0])
        self.dict["dealt"][list(state.dealt[player * size : (player + 1) * size])] = 1
        game, moves = state.data[0], self.dict["moves"]
        count = int(game["num_moves"])
        moves[:count, :2] = (game["moves"][:count] + 1.0) / (4, NUM_ACTIONS)
        for move, tile in state.drawn:
            if game["moves"][move, 0] == player:
                moves[move, 2] = (tile + 1) / NUM_TILES

    def string_from(self, state: FivesState, player: int) -> str:
        """What `player` knows, as text."""
        if self.perfect_recall:
            return f"seat {player}: " + ", ".join(state.seen[player])
        return render_text(state.view(player)[0]) if state.rounds else "before the first deal"
