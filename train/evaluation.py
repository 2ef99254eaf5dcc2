"""Strength on the way: paired matches of the agent that is being trained."""

from collections.abc import Callable
from typing import Any

import numpy as np

from agents.model import ModelAgent
from eval.arena.paired import play
from eval.matches import Matches
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


def describe(strength: dict[str, Any]) -> str:
    """An evaluation in half a line."""
    if not strength:
        return "not measured"
    return (
        f"{strength['win_rate']:.1%} of matches and {strength['points_per_round']:+.2f} points a "
        f"round against {strength['opponent']}"
    )
