"""What the benchmark measures of agents: the time of a decision, and how fast they search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from agents import AGENTS, canonical, make_agent
from agents.specs import read_spec
from eval.speed.timing import Workload, timed
from eval.speed.workloads.library import FIVES_AND_THREES, GAMES
from fives_env.games import Games
from fives_env.play import turn_keys
from fives_env.rules import Rules

BATCH = 64
DECISION = "decision"
TWO_PLAYERS = GAMES[:3]
_SEED = 1
_STEPS = 150
"""Of random play, after which games that began together are at all stages of a round."""


def agent_workloads(specs: Iterable[str]) -> tuple[list[Workload], list[dict[str, Any]]]:
    """The decisions of each agent in each game of two players, and the work of those that search.

    Returns:
        What can be measured, and a row with `error` for what cannot.
    """
    found, errors = list[Workload](), list[dict[str, Any]]()
    for spec in specs:
        for rules in TWO_PLAYERS:
            try:
                found.append(decisions(spec, rules))
            except Exception as error:  # agents are other people's code
                what = f"{DECISION} of {spec}"
                text = " ".join(f"{type(error).__name__}: {error}".split())
                errors.append({"what": what, "rules": rules, "batch": BATCH, "error": text})
    known = {workload.agent for workload in found}
    for entry in AGENTS.values():
        for spec in (entry.name + rest for rest in entry.timed[-1:]):
            if entry.work and spec in known:
                found.append(search(spec, read_spec(spec, AGENTS).value, f"{entry.work}/s"))
    return found, errors


def decisions(spec: str, rules: str) -> Workload:
    """What an agent does in games at all stages, forced actions included; it is tried once.

    Raises:
        ValueError: There is no such agent, or it cannot play this.
    """
    name, agent = canonical(spec), make_agent(spec)
    games = _at_all_stages(rules)
    views, masks, keys = games.view(), games.action_mask(), turn_keys(games)

    def work() -> int:
        return len(agent.act(views, masks, keys))

    work()
    counts = "decisions, forced ones included, of games at all stages of a round; act alone"
    what = f"{DECISION} of {name}"
    return Workload(what, rules, BATCH, "decisions/s", counts, timed(work), agent=name)


def search(spec: str, amount: int, unit: str) -> Workload:
    """How fast an agent searches, where it has a choice."""
    agent = make_agent(spec)
    games = _at_all_stages(FIVES_AND_THREES, 4 * BATCH)
    open_ = np.flatnonzero(games.action_mask().sum(axis=1) > 1)
    games = games[open_[:BATCH]]
    views, masks, keys = games.view(), games.action_mask(), turn_keys(games)

    def work() -> int:
        return amount * len(agent.act(views, masks, keys))

    counts = f"{amount:,} a decision; decisions with a choice alone"
    return Workload(f"search of {spec}", FIVES_AND_THREES, BATCH, unit, counts, timed(work))


def _at_all_stages(spec: str, number: int = BATCH) -> Games:
    games = Games(Rules.from_spec(spec), number)
    games.reset(seed=_SEED)
    games.rollout(_STEPS, seed=_SEED)
    games.restart(games.data["match_over"] == 1)
    return games
