"""Strength on the way: paired matches of the agent that is being trained."""

from collections.abc import Callable
from typing import Any

import numpy as np

from agents.model import ModelAgent
from eval.arena.paired import play
from eval.matches import Matches
from eval.run_files import EVALUATION_COLUMNS
from eval.stats.scores import score
from fives_env.policies import Policy
from fives_env.rules import Rules


def measure(
    rules: Rules,
    agent: ModelAgent,
    opponent: Policy,
    seed: int,
    pairs: int,
    salt: int | None,
    play: Callable[..., Matches] = play,
) -> dict[str, Any]:
    """The agent in `pairs` pairs of matches: the columns of evaluations.csv about strength.

    `play` is `eval.arena.paired.play`, or has others do the same.
    """
    result = score(play(rules, agent, opponent, seed, np.arange(pairs), salt), rules)
    numbers = {name: getattr(result, name) for name in EVALUATION_COLUMNS[4:]}
    rounded = {name: None if value is None else round(value, 4) for name, value in numbers.items()}
    return {"pairs": pairs, **rounded}


def describe(rows: list[dict[str, Any]]) -> str:
    """Evaluations of one moment in half a line."""
    return ", ".join(
        f"{row['win_rate']:.1%} of matches and {row['points_per_round']:+.2f} points a round "
        f"against {row['opponent']}"
        for row in rows
    )
