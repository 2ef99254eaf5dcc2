"""What decisions are rewarded with: points, or the chance to win the match."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.equity import tables
from agents.equity.tables import EquityTable
from fives_env.games import Games
from fives_env.play import advance
from fives_env.policies import BuiltIn
from fives_env.rules import Rules
from train.selfplay.rollout import steps

Array = npt.NDArray[Any]
_SAMPLE = 1 << 16
_CELLS = 8
"""The score plane is cut into so many cells each way."""
_LEAST = 0.25
"""A cell's rounds count as if they brought at least this share of what others bring."""


@dataclass(frozen=True)
class Payment:
    """Rewards in a unit in which a round between greedy players brings about 1.

    Of equity, a round brings four times as much near the target as at the start, and nearly nothing
    where a match is decided. All of a round is multiplied by the same number, so what is best in it
    stays best; the number evens this out, or a few rounds would drown what all others teach.

    Attributes:
        table: Of equity, float32 [2, N, N] as in agents.equity; [0, 0, 0] for points.
        low: The lowest score in the table.
        scales: float64 [K, K], what rewards of a round are multiplied by, by the cell of the scores
            that both sides begin it with; [1, 1] for points.
        width: Scores in a cell, each way.
    """

    table: Array
    low: int
    scales: Array
    width: int

    @property
    def unit(self) -> float:
        """What a reward of 1 is in points, or in chances to win the match, over the whole plane."""
        return float(np.sqrt(np.mean(1 / self.scales**2)))


def make_payment(rules: Rules, value: str) -> Payment:
    """The rewards of rounds under `rules`, by what rounds of greedy players bring.

    Args:
        rules: Of the match that rounds are part of.
        value: ``points`` or ``equity``.

    Raises:
        ValueError: Equity is asked for, and there is no table for these rules.
    """
    games = Games(replace(rules, mode="round"), _SAMPLE)
    games.reset(seed=0, scores="random")
    return _in_points(games) if value == "points" else _in_equity(games, tables.load(rules))


def _in_points(games: Games) -> Payment:
    rewards = np.zeros((_SAMPLE, 4))
    advance(games, [BuiltIn("greedy")], np.zeros((_SAMPLE, 4), np.int8), rewards)
    scale = 1 / np.sqrt(np.mean(np.square(rewards[:, 0])))
    return Payment(np.zeros((0, 0, 0), np.float32), 0, np.full((1, 1), scale), 1)


def _in_equity(games: Games, known: EquityTable) -> Payment:
    table, width = np.array(known.values, np.float32), -(-games.rules.target // _CELLS)
    cells = tuple(games.data["scores"][:, side].astype(np.int64) // width for side in (0, 1))
    before, after = np.zeros(_SAMPLE), np.zeros(_SAMPLE)
    steps.equities(games.params, games.data, table, known.low, before)
    advance(games, [BuiltIn("greedy")], np.zeros((_SAMPLE, 4), np.int8))
    steps.equities(games.params, games.data, table, known.low, after)
    squares, counts = np.zeros((2, _CELLS, _CELLS))
    np.add.at(squares, cells, np.square(after - before))
    np.add.at(counts, cells, 1)
    # The sides are alike.
    brings = np.sqrt((squares + squares.T) / np.maximum(counts + counts.T, 1))
    typical = float(np.sqrt(np.mean(np.square(brings))))
    return Payment(table, known.low, 1 / np.maximum(brings, _LEAST * typical), width)
