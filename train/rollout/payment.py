"""What decisions are rewarded with: points, or the chance to win the match."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.equity import tables
from fives_env.games import Games
from fives_env.play import advance
from fives_env.policies import BuiltIn
from fives_env.rules import Rules
from train.rollout import steps

Array = npt.NDArray[Any]
_SAMPLE = 4096


@dataclass(frozen=True)
class Payment:
    """Rewards in a unit in which a round between greedy players brings about 1.

    Attributes:
        table: Of equity, float32 [2, N, N] as in agents.equity; [0, 0, 0] for points.
        low: The lowest score in the table.
        scale: What rewards are multiplied by.
    """

    table: Array
    low: int
    scale: float


def make_payment(rules: Rules, value: str) -> Payment:
    """The rewards of single rounds under `rules`.

    Args:
        rules: Of the match that rounds are part of.
        value: ``points`` or ``equity``.

    Raises:
        ValueError: Equity is asked for, and there is no table for these rules.
    """
    games = Games(Rules.from_spec(f"{rules.spec},mode=round"), _SAMPLE)
    games.reset(seed=0, scores="random")
    table, low = np.zeros((0, 0, 0), np.float32), 0
    if value == "equity":
        known = tables.load(rules)
        table, low = np.array(known.values, np.float32), known.low
    before = _equity(games, table, low)
    rewards = np.zeros((_SAMPLE, 4))
    advance(games, [BuiltIn("greedy")], np.zeros((_SAMPLE, 4), np.int8), rewards)
    gains = _equity(games, table, low) - before if len(table) else rewards[:, 0]
    return Payment(table, low, float(1 / np.sqrt(np.mean(np.square(gains)))))


def _equity(games: Games, table: Array, low: int) -> Array:
    equities = np.zeros(len(games))
    if len(table):
        steps.equities(games.params, games.data, table, low, equities)
    return equities
