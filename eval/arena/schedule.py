"""Who meets whom: the schedules, and the meetings that they are made of."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from eval.arena.paired import seatings
from fives_env.rules import Rules

ROUND_ROBIN, GAUNTLET, TABLES = SCHEDULES = ("round-robin", "gauntlet", "tables")


class Meeting(NamedTuple):
    """Agents who meet on the same deals, in every seating.

    Attributes:
        rules: Spec of what is played.
        seed: Of the tournament.
        agents: Identities (contenders.py): two, or as many as there are sides.
    """

    rules: str
    seed: int
    agents: tuple[str, ...]

    @property
    def num_sides(self) -> int:
        """How many sides the rules have."""
        return Rules.from_spec(self.rules).num_sides

    @property
    def lineups(self) -> list[tuple[str, ...]]:
        """Who is each side, by seating."""
        rows = seatings(self.num_sides, len(self.agents))
        return [tuple(self.agents[index] for index in row) for row in rows.tolist()]


def make_schedule(schedule: str, entered: Sequence[str], num_sides: int) -> list[tuple[str, ...]]:
    """Who meets whom, each meeting once; an agent that was entered twice meets itself.

    ``round-robin``: every two. ``gauntlet``: the first entered, and every other. ``tables``: every
    set of as many different agents as there are sides.

    Args:
        schedule: One of `SCHEDULES`.
        entered: Names or identities.
        num_sides: Of the rules.

    Raises:
        ValueError: There is no such schedule, or there are too few agents for it.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"--schedule {schedule} is not one of {', '.join(SCHEDULES)}")
    if schedule == TABLES:
        different = list(dict.fromkeys(entered))
        if len(different) < num_sides:
            raise ValueError(
                f"--schedule tables needs {num_sides} different agents, one for each side; "
                f"--agents has {len(different)}"
            )
        return list(itertools.combinations(different, num_sides))
    pairs: Iterable[tuple[str, str]] = itertools.combinations(entered, 2)
    if schedule == GAUNTLET:
        pairs = ((entered[0], other) for other in entered[1:])
    return list(_once(pairs))


def _once(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    """The pairs without those that were there before, in whatever order of the two."""
    seen = set()
    for pair in pairs:
        if (met := frozenset(pair)) not in seen:
            seen.add(met)
            yield pair
