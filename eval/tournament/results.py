"""The results of a tournament, read back from its folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from agents.files import read_json, shown, whole
from eval.arena.schedule import Meeting
from eval.matches import Matches
from eval.tournament.store import Store
from eval.tournament.stored_rows import MAX_SEED
from fives_env.rules import Rules

RESULTS, SUMMARY, AUDIT = "results.sqlite", "summary.json", "audit.json"
_TEST = {"low": float, "high": float, "alpha": float, "beta": float, "pairs": int}
_SHAPE = {
    "rules": Rules.from_spec,
    "seed": whole(0, MAX_SEED),
    "anchor": str,
    "agents": [{"agent": str, "identity": str}],
    "meetings": [{"agents": [str], "pairs": whole(1, MAX_SEED)}],
    "pairings": [{"a": str, "b": str, "sprt?": {**_TEST, "verdict": (str, type(None))}}],
    "failed?": [{"agents": [str], "error": str}],
}
"""What is read of summary.json."""
_VERDICTS = {
    "stored_matches": int,
    "agents": [
        {
            "agent": str,
            "matches": int,
            "decisions": int,
            "differing": int,
            "error": str,
            "passed": bool,
        }
    ],
}
"""What is read of audit.json."""


class Result(NamedTuple):
    """A meeting and what came of it.

    Attributes:
        agents: Who met, as indices into the names of the tournament; twice the same for a mirror.
        matches: All that count.
    """

    agents: tuple[int, ...]
    matches: Matches


@dataclass(frozen=True)
class Results:
    """A tournament.

    Attributes:
        path: Of the store.
        rules: What was played.
        seed: Of the deals.
        names: The agents, in the order of entry.
        anchor: The name of the one whose rating is 0.
        meetings: Who met whom; failed meetings are not among them.
        summary: What summary.json says.
        audit: What audit.json says; None if there is none.
    """

    path: Path
    rules: Rules
    seed: int
    names: list[str]
    anchor: str
    meetings: list[Result]
    summary: dict[str, Any]
    audit: dict[str, Any] | None = None


def open_results(folder: Path) -> Store:
    """The store of a tournament, to be read alone.

    Raises:
        ValueError: There is none, or it cannot be used.
    """
    path = folder / RESULTS
    if not path.is_file():
        raise ValueError(f"{path} is not there; give the --out folder of a tournament")
    return Store(path, only_read=True)


def read_results(folder: Path) -> Results:
    """The results in this folder.

    Raises:
        ValueError: A file is missing or damaged, or the two do not belong together.
    """
    path = folder / SUMMARY
    summary = read_json(path, _SHAPE)
    rules, seed = Rules.from_spec(summary["rules"]), summary["seed"]
    names = [row["agent"] for row in summary["agents"]]
    index = {row["identity"]: at for at, row in enumerate(summary["agents"])}
    try:
        _refuse_others("anchor", [summary["anchor"]], names)
        for number, row in enumerate(summary["meetings"]):
            field = f"meetings[{number}].agents"
            _refuse_others(field, row["agents"], index)
            if len(row["agents"]) not in (2, rules.num_sides):
                raise ValueError(
                    f"{field} are {len(row['agents'])}; there are {rules.num_sides} sides"
                )
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    meetings = [
        (Meeting(rules.spec, seed, tuple(row["agents"])), row["pairs"])
        for row in summary["meetings"]
    ]
    with open_results(folder) as store:
        found = [
            Result(tuple(index[agent] for agent in meeting.agents), store.matches(meeting, pairs))
            for meeting, pairs in meetings
        ]
    checked = folder / AUDIT
    audit = read_json(checked, _VERDICTS) if checked.exists() else None
    return Results(folder / RESULTS, rules, seed, names, summary["anchor"], found, summary, audit)


def _refuse_others(field: str, agents: Iterable[str], known: Collection[str]) -> None:
    for agent in agents:
        if agent not in known:
            raise ValueError(f"{field} has {shown(agent)}, which is none of its agents")
