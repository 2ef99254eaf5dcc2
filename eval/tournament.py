"""``python -m eval tournament``: every agent against every other, on the same deals."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eval import arena, ratings, tables
from eval.arena import Matches
from eval.commands import Tournament
from eval.contenders import Contender, anchor, enter, pairings
from eval.scores import match_shares, score
from eval.store import MAX_SEED, Pairing, Store
from fives_env.rules import Rules

RESULTS, SUMMARY = "results.sqlite", "summary.json"
Meetings = Sequence[tuple[Contender, Contender]]


def run(options: Tournament) -> None:
    """Plays what is missing, writes the summary, prints the tables.

    Raises:
        ValueError: An option is wrong, an agent fails, or the results cannot be used.
    """
    rules = _check(options)
    entered = [enter(spec) for spec in options.agents]
    zero = anchor(options.anchor, entered)
    meetings = list(pairings(entered))
    with Store(options.out / RESULTS) as store:
        played = play_missing(store, rules, meetings, options)
        summary = summarise(store, rules, meetings, zero, options)
    _write(options.out / SUMMARY, summary)
    tables.print_tournament(summary)
    there = len(meetings) * options.pairs - played
    print(f"{played:,} pairs played, {there:,} were there already; results are in {options.out}")


def play_missing(store: Store, rules: Rules, meetings: Meetings, options: Tournament) -> int:
    """Plays and stores the pairs that are not there yet; returns how many."""
    plan = []
    for a, b in meetings:
        there = store.played(_filed(rules, a, b, options.seed)[0], rules.num_sides)
        plan.append((a, b, [pair for pair in range(options.pairs) if pair not in there]))
    left = sum(len(missing) for *_, missing in plan)
    with _progress() as bar:
        task = bar.add_task("", total=len(meetings) * options.pairs)
        bar.advance(task, len(meetings) * options.pairs - left)
        for a, b, missing in plan:
            bar.update(task, description=f"{a.name} against {b.name}")
            pairing, swapped = _filed(rules, a, b, options.seed)
            for start in range(0, len(missing), options.block):
                pairs = missing[start : start + options.block]
                matches = _play(rules, a, b, options.seed, pairs)
                store.add(pairing, matches.swapped() if swapped else matches)
                bar.advance(task, len(pairs))
    return left


def summarise(
    store: Store, rules: Rules, meetings: Meetings, zero: str, options: Tournament
) -> dict[str, Any]:
    """What summary.json says: a function of stored results alone."""
    names = list(dict.fromkeys(contender.name for meeting in meetings for contender in meeting))
    results = [_stored(store, rules, a, b, options) for a, b in meetings]
    shares = np.stack([match_shares(one, rules).mean(axis=1) for one in results], axis=1)
    who = [(names.index(a.name), names.index(b.name)) for a, b in meetings]
    rated = ratings.rate(len(names), who, shares, names.index(zero), rules.num_sides - 1)
    ranking: list[dict[str, Any]] = [
        {"agent": name, "rating": rating.value, "low": rating.low, "high": rating.high}
        for name, rating in zip(names, rated, strict=True)
    ]
    return {
        "rules": rules.spec,
        "seed": options.seed,
        "anchor": zero,
        "pairings": [
            {"a": a.name, "b": b.name, "rules": rules.spec, **asdict(score(one, rules))}
            for (a, b), one in zip(meetings, results, strict=True)
        ],
        "ratings": sorted(ranking, key=lambda row: row["rating"], reverse=True),
    }


def _check(options: Tournament) -> Rules:
    if len(options.agents) < 2:
        raise ValueError(
            f"--agents has {len(options.agents)}; give two or more, as in --agents greedy random"
        )
    for name in ("pairs", "block"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name} {getattr(options, name)} is not a whole number from 1 up")
    if not 0 <= options.seed <= MAX_SEED:
        raise ValueError(f"--seed {options.seed} is not a whole number from 0 to 2**63 - 1")
    return Rules.from_spec(options.rules)


def _filed(rules: Rules, a: Contender, b: Contender, seed: int) -> tuple[Pairing, bool]:
    """What this pairing is stored as, and whether with a and b exchanged.

    Of two sides, a against b is b against a, and is stored once.
    """
    swapped = rules.num_sides == 2 and b.identity < a.identity
    first, second = (b, a) if swapped else (a, b)
    return Pairing(rules.spec, seed, first.identity, second.identity), swapped


def _stored(store: Store, rules: Rules, a: Contender, b: Contender, options: Tournament) -> Matches:
    pairing, swapped = _filed(rules, a, b, options.seed)
    matches = store.matches(pairing, options.pairs, rules.num_sides)
    return matches.swapped() if swapped else matches


def _play(rules: Rules, a: Contender, b: Contender, seed: int, pairs: list[int]) -> Matches:
    try:
        return arena.play(rules, a.policy, b.policy, seed, np.array(pairs))
    except Exception as error:  # agents are other people's code
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise ValueError(f"{a.name} against {b.name}: {kind}{error}") from error


def _progress() -> Progress:
    """A progress bar on a terminal, and silence elsewhere."""
    columns = (MofNCompleteColumn(), TextColumn("pairs"), TimeRemainingColumn())
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )


def _write(path: Path, summary: dict[str, Any]) -> None:
    """Writes the file whole or not at all."""
    half = path.with_name(f"{path.name}.{os.getpid()}")
    half.write_text(json.dumps(summary, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    half.replace(path)
