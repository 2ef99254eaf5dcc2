"""Matches of agents whose strength is known, for tests of the statistics."""

from typing import Any

import numpy as np

from eval.arena.paired import seatings
from eval.matches import Matches
from fives_env.rules import Rules

RULES = {
    2: Rules.preset("fives-and-threes"),
    3: Rules.preset("threes-and-fives", players=3),
    4: Rules.preset("all-fives", players=4, partners=False),
}
"""By the number of sides."""


def matches(
    winner: Any, num_agents: int = 2, leader: Any = 0, pairs: Any = None, num_sides: int = 0
) -> Matches:
    """Matches with these winners, [N, M], -1 for none; of as many sides as seatings by default."""
    winner = np.asarray(winner)
    num_pairs, num_seatings = winner.shape
    num_sides = num_sides or num_seatings
    zeros = np.zeros_like(winner)
    return Matches(
        pairs=np.arange(num_pairs) if pairs is None else np.asarray(pairs),
        sides=seatings(num_sides, num_agents)[:num_seatings],
        scores=10 * (winner[:, :, None] == np.arange(num_sides)),
        rounds=zeros + 5,
        winner=winner,
        truncated=zeros == 1,
        leader=zeros + np.asarray(leader).reshape(-1, 1),
        deals=zeros,
        lines=zeros,
        moves=np.full(winner.shape, b"", object),
    )


def play(
    rng: Any, who: Any, strengths: Any, num_sides: int, num_pairs: int, lead: float = 0.0
) -> Matches:
    """Matches drawn by the model of the ratings.

    Args:
        rng: A generator.
        who: The agents that meet.
        strengths: Of all agents, in units of log-odds.
        num_sides: Sides at the table.
        num_pairs: How many.
        lead: What the first lead adds to a side's strength.
    """
    sides = seatings(num_sides, len(who))
    leader = rng.integers(num_sides, size=num_pairs)
    strength = np.asarray(strengths)[np.asarray(who)[sides]]
    odds = np.exp(strength + lead * (np.arange(num_sides) == leader[:, None, None]))
    chance = np.cumsum(odds / odds.sum(axis=2, keepdims=True), axis=2)
    winner = np.sum(rng.random(chance.shape[:2])[:, :, None] > chance[:, :, :-1], axis=2)
    return matches(winner, len(who), leader, num_sides=num_sides)
