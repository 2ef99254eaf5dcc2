"""``python -m eval exact``: the exploitability of agents in a small game, exactly."""

from __future__ import annotations

import json
import time
from typing import Any

from agents import canonical, make_agent
from agents.files import refuse_unwritable, replace_file
from agents.terminal import say
from eval import provenance, terminal
from eval.commands import Exact
from eval.exact import game as small
from eval.exact.game import SmallGame
from eval.exact.policies import is_exact, tabulate
from fives_env.rules import Rules

EQUILIBRIUM = "CFR+"


def run(options: Exact) -> None:
    """Solves, writes the file, prints the table.

    Raises:
        ValueError: An option is wrong, the game is too large, or an agent failed.
        OSError: The file cannot be written.
    """
    _check(options)
    agents = {canonical(spec): make_agent(spec) for spec in options.agents}
    rules = Rules.from_spec(options.rules)
    refuse_unwritable(options.json, "--json")
    with terminal.telling("solving") as tell:
        tell(f"walking {rules.spec}")
        game = small.build(rules)
        rows, policies = [], {}
        for name, agent in agents.items():
            tell(name)
            began = time.perf_counter()
            try:
                policies[name] = tabulate(game, agent, options.keys, options.seed)
            except Exception as error:  # agents are other people's code
                kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
                raise ValueError(f"{name}: {kind}{error}") from error
            keys = 0 if is_exact(agent) else options.keys
            rows.append(_row(game, name, policies[name], keys, time.perf_counter() - began))
        if options.cfr:
            rows.append(_solve(game, options.cfr, policies, tell))
    if options.cfr:
        for row in rows:
            worth = game.versus(policies[row["agent"]], policies[EQUILIBRIUM])
            row["against_equilibrium"] = worth
    document = {
        "rules": rules.spec,
        "positions": len(game.nodes),
        "information_sets": len(game.seats),
        "choices": len(game.choices),
        "keys": options.keys,
        "seed": options.seed,
        "machine": provenance.facts(),
        "agents": sorted(rows, key=lambda row: float(row["exploitability"])),
    }
    try:
        _print(document)
    finally:  # whether anybody reads it or not
        replace_file(options.json, (json.dumps(document, indent=1) + "\n").encode())
    say(f"rows are in {options.json}")


def _row(game: SmallGame, name: str, policy: Any, keys: int, seconds: float) -> dict[str, Any]:
    gains = [game.best_response(policy, seat)[0] for seat in range(2)]
    return {
        "agent": name,
        "exploitability": sum(gains) / 2,
        "best_response": gains,
        "against_random": game.versus(policy, game.uniform()),
        "keys": keys,
        "seconds": seconds,
    }


def _solve(game: SmallGame, iterations: int, policies: dict[str, Any], tell: Any) -> dict[str, Any]:
    from eval.openspiel.equilibrium import equilibrium  # OpenSpiel is an extra

    began = time.perf_counter()
    policies[EQUILIBRIUM] = equilibrium(
        game, iterations, lambda done: tell(f"CFR+, iteration {done} of {iterations}")
    )
    seconds = time.perf_counter() - began
    row = _row(game, EQUILIBRIUM, policies[EQUILIBRIUM], 0, seconds)
    return {**row, "iterations": iterations}


def _check(options: Exact) -> None:
    if not options.agents and not options.cfr:
        raise ValueError("--agents has none; give some, as in --agents random greedy")
    for name, least in (("keys", 1), ("cfr", 0), ("seed", 0)):
        if getattr(options, name) < least:
            value = getattr(options, name)
            raise ValueError(f"--{name} {value} is not a whole number from {least} up")


def _print(document: dict[str, Any]) -> None:
    print(
        f"{document['rules']}: {document['positions']:,} positions, "
        f"{document['choices']:,} information sets with a choice"
    )
    terminal.print_table(
        "Points a round, exact",
        ("agent",),
        ("exploitability", "against random", f"against {EQUILIBRIUM}", "keys"),
        [
            (
                row["agent"],
                f"{row['exploitability']:.4f}",
                f"{row['against_random']:+.4f}",
                f"{row['against_equilibrium']:+.4f}" if "against_equilibrium" in row else "",
                str(row["keys"] or ""),
            )
            for row in document["agents"]
        ],
    )
