"""summary.json: what a tournament found, as a function of its stored results alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from eval.arena.contenders import Contender
from eval.arena.schedule import Meeting
from eval.matches import Matches
from eval.stats import ratings, sprt
from eval.stats.scores import match_shares, score, table_score
from eval.stats.seats import seats
from eval.tournament.store import Store
from fives_env.rules import Rules


@dataclass(frozen=True)
class Plan:
    """What a tournament is to play.

    Attributes:
        rules: What is played.
        seed: Of the deals.
        pairs: For each meeting; with a test at most so many.
        contenders: Who plays, by name in the order of entry.
        meetings: Who meets whom, and their names.
        anchor: The name of the agent whose rating is 0.
        test: Decides each meeting of two agents early; None to play all pairs.
    """

    rules: Rules
    seed: int
    pairs: int
    contenders: Mapping[str, Contender]
    meetings: Mapping[Meeting, tuple[str, ...]]
    anchor: str
    test: sprt.Hypotheses | None = None

    def of_seed(self, seed: int) -> Self:
        """The same on other deals."""
        meetings = {meeting._replace(seed=seed): names for meeting, names in self.meetings.items()}
        return replace(self, seed=seed, meetings=meetings)


def decide(plan: Plan, matches: Matches) -> sprt.Decision | None:
    """What the test says of these matches; None where there is no test."""
    if plan.test is None or matches.num_agents != 2:
        return None
    shares = match_shares(matches, plan.rules).mean(axis=1)
    return sprt.decide(shares, plan.test, 1 / plan.rules.num_sides)


def summarise(
    store: Store, plan: Plan, played: Mapping[Meeting, int], errors: Mapping[Meeting, str]
) -> dict[str, Any]:
    """What summary.json says; `first_lead` is what the side of the first leader won of all matches.

    Args:
        store: The results.
        plan: What was to be played.
        played: How many pairs of a meeting count, from the first on; those with none are left out.
        errors: Why a meeting failed; it is left out of all numbers.
    """
    names = list(plan.contenders)
    found = {
        meeting: store.matches(meeting, played[meeting])
        for meeting in plan.meetings
        if played.get(meeting) and meeting not in errors
    }
    results = [
        (tuple(map(names.index, plan.meetings[meeting])), matches)
        for meeting, matches in found.items()
    ]
    return {
        "rules": plan.rules.spec,
        "seed": plan.seed,
        "anchor": plan.anchor,
        "pairings": [
            _pairing(plan, plan.meetings[meeting], matches)
            for meeting, matches in found.items()
            if len(meeting.agents) == 2
        ],
        "tables": [
            _table(plan, plan.meetings[meeting], matches)
            for meeting, matches in found.items()
            if len(meeting.agents) > 2
        ],
        "ratings": _ratings(plan, names, results),
        "first_lead": seats(results, plan.rules).by_place[0]._asdict() if results else None,
        "failed": [
            {"agents": list(names_met), "error": errors[meeting]}
            for meeting, names_met in plan.meetings.items()
            if meeting in errors
        ],
        "agents": [
            {"agent": name, "identity": contender.identity}
            for name, contender in plan.contenders.items()
        ],
        "meetings": [
            {"agents": list(meeting.agents), "pairs": len(matches.pairs)}
            for meeting, matches in found.items()
        ],
    }


def _pairing(plan: Plan, names: Sequence[str], matches: Matches) -> dict[str, Any]:
    a, b = names
    row = {"a": a, "b": b, "rules": plan.rules.spec, **asdict(score(matches, plan.rules))}
    if plan.test and (decision := decide(plan, matches)):
        row["sprt"] = {**asdict(plan.test), **asdict(decision)}
    return row


def _table(plan: Plan, names: Sequence[str], matches: Matches) -> dict[str, Any]:
    row = table_score(matches, plan.rules)
    agents = [{"agent": name, **one} for name, one in zip(names, row["agents"], strict=True)]
    return {**row, "rules": plan.rules.spec, "agents": agents}


def _ratings(
    plan: Plan, names: Sequence[str], results: Sequence[tuple[tuple[int, ...], Matches]]
) -> list[dict[str, Any]]:
    """Best first; who is tied to the anchor by no result has none."""
    rated = ratings.rate_results(names, results, plan.rules, names.index(plan.anchor))
    rows: list[dict[str, Any]] = [
        {"agent": name, "rating": rating.value, "low": rating.low, "high": rating.high}
        for name, rating in zip(names, rated, strict=True)
        if np.isfinite(rating.value)
    ]
    return sorted(rows, key=lambda row: float(row["rating"]), reverse=True)
