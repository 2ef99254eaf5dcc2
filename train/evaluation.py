"""Strength on the way: paired matches of the agent that is being trained."""

from typing import Any

import numpy as np

from agents.model import ModelAgent
from eval.arena import play
from eval.scores import score
from fives_env.policies import Policy
from fives_env.rules import Rules


def measure(
    rules: Rules, agent: ModelAgent, opponent: Policy, seed: int, pairs: int
) -> dict[str, Any]:
    """The agent in `pairs` pairs of matches: the columns of evaluations.csv about strength."""
    result = score(play(rules, agent, opponent, seed, np.arange(pairs)), rules)
    numbers = {
        "win_rate": result.win_rate,
        "low": result.low,
        "high": result.high,
        "points_per_round": result.points_per_round,
        "points_low": result.points_low,
        "points_high": result.points_high,
    }
    rounded = {name: None if value is None else round(value, 4) for name, value in numbers.items()}
    return {"pairs": pairs, **rounded}
