"""Whole matches, to hold the tables against."""

import numpy as np

from agents import make_agent
from fives_env.games import Games
from fives_env.play import advance
from fives_env.rules import Rules

PRESETS = [
    "fives-and-threes:players=2",
    "fives-and-threes:players=4",
    "threes-and-fives:players=2",
    "threes-and-fives:players=4,partners=yes",
    "all-fives:players=2",
    "all-fives:players=4",
]
"""The rules that tables are stored for."""


def share_won(
    rules: Rules,
    own: int,
    other: int,
    leads: bool,
    matches: int,
    seed: int,
    agent: str = "greedy",
) -> float:
    """The share of matches that side 0 wins from these scores, the agent in every seat."""
    games = Games(rules, num_games=matches)
    games.reset(seed=seed, scores=[own, other], rounds=[{"leader": 0 if leads else 1}])
    advance(games, [make_agent(agent)], np.zeros((matches, 4), np.int8))
    assert not games.data["truncated"].any()
    return float(np.mean(games.data["winner"] == 0))
