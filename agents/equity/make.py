"""Makes a table: measures rounds of self-play, solves for the match, and says how far it is off."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.policies import Policy
from fives_env.rules import Rules

from . import gains, rounds
from .gains import Gains
from .rounds import Plane, Transitions
from .solve import fixed_point

Array = npt.NDArray[Any]
PARTS = 8
"""The rounds are measured in so many independent parts; how these differ gives the error.

Where each pair of scores needs rounds of its own, the first part only says how many.
"""
DOMAIN = int.from_bytes(b"equity", "big")
"""Part of every seed here, so that no tournament or training run plays these deals."""
LOWEST = {"all-fives": -100}
"""The lowest score that is told apart, where scores can fall (A8)."""
STEP = {"all-fives": 5}
"""What all points are multiples of (A6, A8)."""

Done = Callable[[int], None]


def refuse(rules: Rules, num_rounds: int) -> None:
    """Checks what a table is asked for.

    Raises:
        ValueError: No table can be made for these rules, or not from so few rounds.
    """
    if rules.num_sides != 2:
        raise ValueError(f"tables are for two sides; {rules.spec} has {rules.num_sides}")
    if rules.lead == "highest-double":
        raise ValueError("lead=highest-double: nobody knows who leads before the tiles are dealt")
    if rules.target_check == "round-end":
        raise ValueError("target_check=round-end: scores may pass the target and the match go on")
    least = fewest_rounds(rules)
    if num_rounds < least:
        raise ValueError(f"--rounds {num_rounds} is too few for {rules.spec}; give {least} or more")


def fewest_rounds(rules: Rules) -> int:
    """The rounds that a table needs at the least: one of each part, from each pair of scores."""
    return PARTS * (1 if _one_round_serves_all(rules) else _plane(rules).num_pairs)


def make(
    rules: Rules, policy: Policy, num_rounds: int, seed: int, done: Done
) -> tuple[Plane, Array, Array, Array]:
    """Measures rounds and solves for the match.

    Args:
        rules: What is played; `refuse` has let it pass.
        policy: Plays every seat.
        num_rounds: In all, about.
        seed: Of the deals.
        done: Called with the number of rounds after each batch.

    Returns:
        The scores, the chances of the leader at each pair of them, [levels, levels], the standard
        errors of these, and those of what the next score up is worth, [levels - 1, levels].
    """
    plane = _plane(rules)
    one_round = replace(rules, mode="round")
    parts: list[Transitions | Gains] = []
    if _one_round_serves_all(rules):
        for part in range(PARTS):
            deals = _deals(seed, part, num_rounds // PARTS)
            parts.append(gains.measure(one_round, policy, deals, done))
    else:
        even = np.full(plane.num_pairs, num_rounds // PARTS // plane.num_pairs)
        deals = _deals(seed, 0, even.max())
        first = rounds.measure(one_round, plane, policy, even, deals, done)
        # From here on the more from a pair, the more its rounds differ in what they lead to.
        spread = np.maximum(first.spread(fixed_point(first.chances, plane.num_pairs)), 0.02)
        share = np.ceil(even * spread / spread.mean()).astype(np.int64)
        for part in range(1, PARTS):
            deals = _deals(seed, part, share.max())
            parts.append(rounds.measure(one_round, plane, policy, share, deals, done))
    leader_wins = fixed_point(
        lambda values: np.mean([part.chances(values) for part in parts], axis=0), plane.num_pairs
    )
    shape = (plane.levels, plane.levels)
    alone = [fixed_point(part.chances, plane.num_pairs).reshape(shape) for part in parts]
    errors = [
        np.std(values, axis=0, ddof=1) / np.sqrt(len(parts))
        for values in (alone, np.diff(alone, axis=1))
    ]
    return plane, leader_wins.reshape(shape), *errors


def _plane(rules: Rules) -> Plane:
    step = STEP.get(rules.game, 1)
    levels = -((LOWEST.get(rules.game, 0) - rules.target) // step)
    return Plane(rules.target - step * levels, step, levels)


def _one_round_serves_all(rules: Rules) -> bool:
    """Whether scores only rise and no event is refused, as gains.py needs."""
    return rules.game == "threes-and-fives"


def _deals(seed: int, part: int, number: int) -> Array:
    """The seeds of the rounds of a part: uint64 [number]."""
    source = np.random.SeedSequence(seed, spawn_key=(DOMAIN, part))
    return source.generate_state(int(number), np.uint64)
