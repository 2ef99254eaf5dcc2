"""``python -m eval ladder``: what every agent makes against greedy, and what a move of it costs.

Writes the file that ``python -m agents`` reads, and the plot of strength against time.
"""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from agents import make_agent, strength, tables
from agents.files import refuse_unwritable, replace_file
from agents.terminal import say
from eval import provenance
from eval.arena import paired as arena
from eval.arena.contenders import Contender, enter
from eval.commands import Ladder
from eval.ladder.plot import save_ladder
from eval.matches import Matches
from eval.stats.scores import score
from eval.tournament.stored_rows import MAX_SEED
from fives_env.games import Games
from fives_env.policies import Policy
from fives_env.rules import Rules

Array = npt.NDArray[Any]
OPPONENT = "greedy"
BATCH = 256
"""Positions that cost is measured on; they are given one by one, and all at once."""
_KEPT = (
    "pairs",
    "even",
    "win_rate",
    "low",
    "high",
    "points_per_round",
    "points_low",
    "points_high",
)
_BLOCK_SECONDS = 10.0


def run(options: Ladder) -> None:
    """Measures what is missing; writes the file after each measurement, at last the plot.

    Raises:
        ValueError: An option is wrong, or the file is damaged.
    """
    entered, rules = _check(options)
    document = strength.read(options.json) or {"rows": []}
    rows: list[dict[str, Any]] = document["rows"]
    missing = [
        (agent, each)
        for agent in entered
        for each in rules
        if not _is_there(rows, agent, each, options)
    ]
    if missing:
        refuse_unwritable(options.json, "--json")
    if missing or not options.plot.exists():
        refuse_unwritable(options.plot, "--plot")
    document |= {"opponent": OPPONENT, "machine": provenance.facts(), "command": _command(options)}
    for agent, each in missing:
        try:
            row = _measure(agent, each, options)
        except ValueError as error:
            say(f"not measured: {agent.name} in {each.spec}: {error}", error=True)
            continue
        _put(rows, row)
        _write(options, document)
        say(f"{row['agent']} in {row['rules']}: {row['win_rate']:.1%}", error=True)
    tables.print_table(strength.table(document))
    if rows and (missing or not options.plot.exists()):
        save_ladder(document, options.plot)
    say(f"rows are in {options.json}, the plot in {options.plot}")


def move_cost(agent: Policy, rules: Rules) -> dict[str, float]:
    """Microseconds a move, on positions of play between greedy seats that leave a choice.

    Returns:
        ``one_us``, the median over positions given one by one, each the better of two; and
        ``batch_us``, the mean of all given at once, the best of three. Searches have positions
        that take long, so their mean is above the median.
    """
    views, masks, keys = _positions(rules)
    agent.act(views[:1], masks[:1], keys[:1])  # compiles
    now = time.perf_counter
    single = np.full(len(views), np.inf)
    for _ in range(2):
        for row in range(len(views)):
            one = views[row : row + 1], masks[row : row + 1], keys[row : row + 1]
            start = now()
            agent.act(*one)
            single[row] = min(single[row], now() - start)
    together = np.inf
    for _ in range(3):
        start = now()
        agent.act(views, masks, keys)
        together = min(together, now() - start)
    return {"one_us": float(np.median(single)) * 1e6, "batch_us": together / len(views) * 1e6}


def _check(options: Ladder) -> tuple[list[Contender], list[Rules]]:
    if options.pairs < 2:
        raise ValueError(f"--pairs {options.pairs} is not a whole number from 2 up")
    if not 0 <= options.seed <= MAX_SEED:
        raise ValueError(f"--seed {options.seed} is not a whole number from 0 to 2**63 - 1")
    if not 0 < options.seconds < float("inf"):
        raise ValueError(f"--seconds {options.seconds:g} must be more than 0")
    return [enter(spec) for spec in options.agents], [Rules.from_spec(r) for r in options.rules]


def _command(options: Ladder) -> str:
    """The command, without what is as usual."""
    usual, words = vars(Ladder()), ["python", "-m", "eval", "ladder"]
    for name, value in vars(options).items():
        if value != usual[name]:
            words += [f"--{name}", *(value if isinstance(value, tuple) else [str(value)])]
    return shlex.join(words)


def _is_there(rows: list[dict[str, Any]], agent: Contender, rules: Rules, options: Ladder) -> bool:
    return any(
        (row.get("identity"), row["rules"], row.get("seed"))
        == (agent.identity, rules.spec, options.seed)
        and (row["pairs"] >= options.pairs or row.get("seconds", 0) >= options.seconds)
        for row in rows
    )


def _put(rows: list[dict[str, Any]], row: dict[str, Any]) -> None:
    """Adds the row, in the place of an older one."""
    for index, other in enumerate(rows):
        if (other["agent"], other["rules"]) == (row["agent"], row["rules"]):
            rows[index] = row
            return
    rows.append(row)


def _measure(agent: Contender, rules: Rules, options: Ladder) -> dict[str, Any]:
    cost = move_cost(agent.policy, rules)
    matches, seconds = _play(agent.policy, rules, options)
    found = asdict(score(matches, rules))
    return {
        "agent": agent.name,
        "identity": agent.identity,
        "rules": rules.spec,
        "seed": options.seed,
        "seconds": round(seconds, 1),
        **{name: found[name] for name in _KEPT},
        **{name: round(value, 2) for name, value in cost.items()},
        "batch": BATCH,
    }


def _play(agent: Policy, rules: Rules, options: Ladder) -> tuple[Matches, float]:
    """Pairs against the opponent, until there are enough or the time is over; at least two."""
    opponent = make_agent(OPPONENT)
    blocks: list[Matches] = []
    start, played, size = time.perf_counter(), 0, 2
    while played < options.pairs:
        begun = time.perf_counter()
        pairs = np.arange(played, min(options.pairs, played + size))
        blocks.append(arena.play(rules, agent, opponent, options.seed, pairs))
        played += len(pairs)
        took = time.perf_counter() - begun
        left = options.seconds - (time.perf_counter() - start)
        if left <= 0:
            break
        # As many as fit a block, at most four times as many as before.
        size = int(max(2, min(4 * size, len(pairs) * min(_BLOCK_SECONDS, left) / took)))
    return arena.joined(blocks), time.perf_counter() - start


def _positions(rules: Rules) -> tuple[Array, Array, Array]:
    """Views, masks and keys of `BATCH` positions that leave a choice, from all over a match."""
    games = Games(rules, BATCH)
    games.reset(seed=1)
    views: list[Array] = []
    masks: list[Array] = []
    while sum(map(len, views)) < BATCH:
        for seed in range(8):
            games.rollout(3, "greedy", seed=seed)
            games.restart(games.data["match_over"] == 1)
            mask = games.action_mask()
            chosen = (mask.sum(axis=1) > 1) & (np.arange(BATCH) % 8 == seed)
            views.append(games.view()[chosen])
            masks.append(mask[chosen])
    keys = np.random.default_rng(1).integers(0, 1 << 64, BATCH, np.uint64)
    return np.concatenate(views)[:BATCH], np.concatenate(masks)[:BATCH], keys


def _write(options: Ladder, document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    replace_file(options.json, text.encode())
