"""What was played: the matches of one meeting, as the arena makes them and statistics take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Matches:
    """Finished matches of the agents of one meeting: N pairs, each in M seatings, of D sides.

    Agents are numbered in the order of the meeting. There are as many seatings of two agents as
    sides, agent 0 being side m in seating m; of more agents, all orders in which they can sit.

    Attributes:
        pairs: int64 [N], the numbers of the pairs.
        sides: int8 [M, D], the agent that each side is.
        scores: int64 [N, M, D], final, by side.
        rounds: int64 [N, M], rounds begun.
        winner: int64 [N, M], the winning side, or -1.
        truncated: bool [N, M], ended by `max_rounds`.
        leader: int64 [N, M], the seat that leads the first round.
        deals: int64 [N, M], a hash of the first deal.
        lines: int64 [N, M], a hash of all actions.
        moves: object [N, M], all actions as bytes.
    """

    pairs: Array
    sides: Array
    scores: Array
    rounds: Array
    winner: Array
    truncated: Array
    leader: Array
    deals: Array
    lines: Array
    moves: Array

    @property
    def num_agents(self) -> int:
        """How many agents met."""
        return int(self.sides.max()) + 1

    def swapped(self) -> Self:
        """The same matches with a and b exchanged; only two sides can be."""
        same = {"pairs": self.pairs, "sides": self.sides}
        turned = {name: values[:, ::-1] for name, values in vars(self).items() if name not in same}
        return type(self)(**same, **turned)
