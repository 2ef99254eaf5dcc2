"""The part of a report that is about a tournament: who is stronger, by how much, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from eval import wording
from eval.report import agent_plots
from eval.report.agent_plots import Colors, short
from eval.report.blocks import Block, Cell, Details, Heading, HeatMap, Picture, Section, Table, Text
from eval.stats.findings import Findings
from eval.stats.intervals import Interval

_PLACES = ("first", "second", "third", "fourth")


def section(
    found: Findings,
    summary: Mapping[str, Any],
    name: str,
    palette: Colors,
    seconds: Mapping[str, float],
    audit: Mapping[str, Any] | None = None,
) -> Section:
    """What a tournament found.

    Args:
        found: All of it.
        summary: Its summary.json, for what was left out or ended early.
        name: The anchor of the section, unique in the report.
        palette: The agents' colours.
        seconds: What a decision takes, of the agents for whom it is known.
        audit: Its audit.json, if it was audited.
    """
    blocks = [
        *_strength(found, name, palette),
        *_time(found, name, palette, seconds),
        *_who_beats_whom(found, name, palette),
        *_matches(found, name, palette),
        *_seats(found, name),
        *_habits(found, name, palette),
        *_audited(audit),
        *_exceptions(summary),
    ]
    return Section(title(found), name, blocks)


def title(found: Findings) -> str:
    """What was played, and by how many."""
    players = {2: "two players", 3: "three players", 4: "four players"}[found.rules.players]
    partners = " in partnerships" if found.rules.partners else ""
    return f"{found.rules.title}, {players}{partners}"


def _strength(found: Findings, name: str, palette: Colors) -> Iterator[Block]:
    yield Text(found.rules.spec, "small")
    yield Text(
        f"{found.num_matches:,} matches in {found.num_pairs:,} pairs: the same deals are played in "
        "every seating of the agents who meet, so neither the luck of the deal nor the seat speaks "
        "for one of them. All intervals are 95 %, over pairs."
    )
    rated = [at for at, rating in enumerate(found.ratings) if not np.isnan(rating.value)]
    yield Picture(
        partial(
            agent_plots.ratings,
            [found.names[at] for at in rated],
            [found.ratings[at] for at in rated],
            palette,
        ),
        f"{name}-ratings",
        f"Strength in Elo points, {found.anchor} at 0; the bars are 95 % intervals of the distance "
        "to it. 100 points more win 64 % of the matches of two, 200 win 76 %, 400 win 91 %.",
    )
    ahead = [wording.elo(found.ahead[at]) for at in rated[:-1]]
    rows = [
        (found.names[at], wording.elo(found.ratings[at]), gap)
        for at, gap in zip(rated, [*ahead, ""], strict=True)
    ]
    headings = ("agent", "Elo [95 %]", "ahead of the next [95 %]")
    yield Details("Ratings as numbers, and how sure the order is", [Table(headings, rows)])


def _time(
    found: Findings, name: str, palette: Colors, seconds: Mapping[str, float]
) -> Iterator[Block]:
    points = [
        (agent, seconds[agent], rating)
        for agent, rating in zip(found.names, found.ratings, strict=True)
        if agent in seconds and not np.isnan(rating.value)
    ]
    if len(points) < 2:
        return
    yield Heading("Strength against time")
    yield Picture(
        partial(agent_plots.strength_by_time, points, palette, found.anchor),
        f"{name}-time",
        "Strength against the time that a decision takes on one core, in a batch. The line joins "
        "the agents than whom nobody is both quicker and stronger.",
    )
    rows = [(agent, wording.seconds(taken), wording.elo(rating)) for agent, taken, rating in points]
    yield Details("Times as numbers", [Table(("agent", "time a decision", "Elo [95 %]"), rows)])


def _who_beats_whom(found: Findings, name: str, palette: Colors) -> Iterator[Block]:
    if len(found.names) < 2:
        return
    yield Heading("Who beats whom")
    what = (
        "the share of matches that the agent of the row won against that of the column"
        if found.rules.num_sides == 2
        else "of what the two won, the part of the agent of the row, side for side"
    )
    yield HeatMap(
        [short(agent) for agent in found.names],
        [palette[agent] for agent in found.names],
        _cells(found),
        f"{what[0].upper()}{what[1:]}. Blue is above even, red below; pale figures may be chance, "
        "as their intervals hold 50 %. Pointing at a cell shows its interval.",
    )
    yield Text(_on_cycles(found))
    if found.nash is None:
        return
    inside = np.flatnonzero(found.nash.weights)
    if len(inside) == 1:
        best = found.names[inside[0]]
        near = np.flatnonzero(
            (found.between.low[inside[0]] <= 0.5) & (found.nash.shares < 0.5)
        ).tolist()
        doubt = f"; {_names(found, near)} may be no weaker" if len(near) else ""
        yield Text(f"No agent beats {best}, so {best} alone is the Nash average{doubt}.")
        return
    yield Picture(
        partial(agent_plots.nash, found.names, found.nash.weights, found.nash.shares, palette),
        f"{name}-nash",
        "The Nash average: the mixture of agents that no agent beats, and what each wins against "
        "it. Agents without weight add nothing that the others do not do better.",
    )
    rows = [
        (agent, f"{weight:.1%}", f"{share:.1%}")
        for agent, weight, share in zip(found.names, *found.nash, strict=True)
    ]
    headings = ("agent", "weight", "wins against the mixture")
    yield Details("The Nash average as numbers", [Table(headings, rows)])


def _names(found: Findings, agents: Sequence[int]) -> str:
    *others, last = (found.names[agent] for agent in agents)
    return f"{', '.join(others)} and {last}" if others else last


def _cells(found: Findings) -> list[list[Cell]]:
    share, low, high = found.between
    size = len(share)
    return [
        [
            Cell()
            if row == column or np.isnan(share[row, column])
            else _cell(Interval(*(float(part[row, column]) for part in (share, low, high))))
            for column in range(size)
        ]
        for row in range(size)
    ]


def _cell(share: Interval) -> Cell:
    note = f"95 % interval {share.low:.1%} to {share.high:.1%}"
    text, heat = wording.percent(share.value), 2 * share.value - 1
    return Cell(text, heat, note, faint=share.low <= 0.5 <= share.high)


def _on_cycles(found: Findings) -> str:
    if found.cycles:
        told = "; ".join(_cycle(found, cycle) for cycle in found.cycles[:3])
        return f"Strength is not one number here, with every link outside its interval: {told}."
    if found.open_cycles:
        told = _cycle(found, found.open_cycles[0])
        return f"No cycle is shown. The shares have one whose weakest links may be chance: {told}."
    return "There is no cycle: by their shares, the agents stand in one order."


def _cycle(found: Findings, cycle: Sequence[int]) -> str:
    links = [
        f"{found.names[one]} beats {found.names[other]} ({found.between.share[one, other]:.1%})"
        for one, other in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    ]
    return ", ".join(links)


def _matches(found: Findings, name: str, palette: Colors) -> Iterator[Block]:
    there = [at for at, lengths in enumerate(found.lengths) if len(lengths)]
    if not there:
        return
    yield Heading("How matches go")
    yield Picture(
        partial(
            agent_plots.distributions,
            [found.names[at] for at in there],
            [found.margins[at] for at in there],
            [found.lengths[at] for at in there],
            palette,
        ),
        f"{name}-matches",
        "How matches end and how long they last, over all opponents. Pale: behind at the end.",
    )
    rows = [
        (found.names[at], f"{found.margins[at].mean():+.1f}", f"{found.lengths[at].mean():.1f}")
        for at in there
    ]
    headings = ("agent", "points ahead of the best other", "rounds")
    yield Details("Means", [Table(headings, rows)])
    deals = f"{found.distinct_deals:,} different first deals"
    truncated = f"; {found.truncated:,} matches had no winner after {found.rules.max_rounds} rounds"
    yield Text(f"{deals}{truncated if found.truncated else ''}.", "small")


def _seats(found: Findings, name: str) -> Iterator[Block]:
    sides = "side" if found.rules.partners else "seat"
    yield Heading(f"What a {sides} and the first lead are worth")
    panels = {
        f"By {sides}": [
            (f"{sides} {number}", share) for number, share in enumerate(found.seats.by_side)
        ],
        "By turn in the first round": [
            (f"{_PLACES[place]} to play", share) for place, share in enumerate(found.seats.by_place)
        ],
    }
    even = 1 / found.rules.num_sides
    first, lead = found.seats.by_place[0], found.places[0]
    sure = lead.low > 0 or lead.high < 0
    yield Text(
        f"The first leader wins {wording.share(first)} of all matches, where {even:.1%} is even. "
        f"Beside agents' strength that is {wording.elo(lead)} Elo, "
        f"{'an' if sure else 'no'} advantage that is more than chance."
    )
    yield Picture(
        partial(agent_plots.shares, panels, even),
        f"{name}-seats",
        "Shares of all matches, whoever plays, with 95 % intervals; grey may be chance.",
    )
    rows = [(one, wording.share(share)) for named in panels.values() for one, share in named]
    yield Details("Shares as numbers", [Table(("whose", "share [95 %]"), rows)])


def _habits(found: Findings, name: str, palette: Colors) -> Iterator[Block]:
    if not found.habits:
        return
    yield Heading("How the agents differ")
    yield Picture(
        partial(agent_plots.habits, found.names, found.habits, palette),
        f"{name}-habits",
        "Over all opponents, with 95 % intervals. Points given are those of the mean opponent.",
    )
    headings = ("agent", *(f"{habit.name} ({habit.note})" for habit in found.habits))
    rows = [
        (agent, *(wording.rate(habit.rates[at], habit.is_share) for habit in found.habits))
        for at, agent in enumerate(found.names)
    ]
    yield Details("Differences as numbers", [Table(headings, rows)])


def _exceptions(summary: Mapping[str, Any]) -> Iterator[Block]:
    """What failed, and what was stopped early."""
    for row in summary.get("failed", []):
        yield Text(f"Left out, since it failed: {' against '.join(row['agents'])}: {row['error']}")
    tested = [row for row in summary["pairings"] if "sprt" in row]
    if not tested:
        return
    test = tested[0]["sprt"]
    yield Text(
        f"Meetings ended once it was decided between two hypotheses: the first agent's lead over "
        f"the second is {test['low']:+g} or {test['high']:+g} Elo points (sequential test; the "
        f"error rates are {test['alpha']:.0%} and {test['beta']:.0%}). A meeting that stops at "
        "such a moment shows more of a difference than there is, and intervals do not allow for "
        "that."
    )
    rows = [
        (row["a"], row["b"], row["sprt"]["verdict"] or "open", f"{row['sprt']['pairs']:,}")
        for row in tested
    ]
    yield Table(("a", "b", "a is", "pairs"), rows, words=3)


def _audited(audit: Mapping[str, Any] | None) -> Iterator[Block]:
    """Whether agents play as they are stored where they are asked apart."""
    yield Heading("Audit")
    if audit is None:
        yield Text("These results were not audited (python -m eval audit).")
        return
    asked = sum(row["decisions"] for row in audit["agents"])
    fallen = [row for row in audit["agents"] if not row["passed"]]
    yield Text(
        f"Of {audit['stored_matches']:,} matches that were stored then, a sample was put to the "
        f"agents again: {asked:,} decisions, each agent in a process of its own, one decision a "
        "call, in another order. "
        + (
            "Not all of them play as they are stored: the results say nothing about those that do "
            "not, and about others only where they did not meet."
            if fallen
            else "All of them play as they are stored."
        )
    )
    for row in fallen:
        found = row["error"] or f"{row['differing']:,} of {row['decisions']:,} are other actions"
        yield Text(f"{row['agent']}: {found}")
