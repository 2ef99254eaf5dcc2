"""The results of a tournament, read back from its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from eval.arena import Matches
from eval.schedule import Meeting
from eval.store import Store
from fives_env.rules import Rules

RESULTS, SUMMARY = "results.sqlite", "summary.json"


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
        rules: What was played.
        seed: Of the deals.
        names: The agents, in the order of entry.
        anchor: The name of the one whose rating is 0.
        meetings: Who met whom; failed meetings are not among them.
        summary: What summary.json says.
    """

    rules: Rules
    seed: int
    names: list[str]
    anchor: str
    meetings: list[Result]
    summary: dict[str, Any]


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
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        rules, seed = Rules.from_spec(summary["rules"]), summary["seed"]
        index = {row["identity"]: at for at, row in enumerate(summary["agents"])}
        meetings = [
            (Meeting(rules.spec, seed, tuple(row["agents"])), row["pairs"])
            for row in summary["meetings"]
        ]
        names = [row["agent"] for row in summary["agents"]]
        anchor = summary["anchor"]
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged or of an older version: {error!r}") from None
    with open_results(folder) as store:
        found = [
            Result(tuple(index[agent] for agent in meeting.agents), store.matches(meeting, pairs))
            for meeting, pairs in meetings
        ]
    return Results(rules, seed, names, anchor, found, summary)
