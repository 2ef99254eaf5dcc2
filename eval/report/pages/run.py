"""The parts of a report that are about a training run, speed, and the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from agents import strength
from eval import terminal
from eval.report.blocks import Block, Details, Facts, Picture, Section, Table, Text
from eval.report.learning import learning
from eval.report.parts import Rows
from eval.speed import plots
from eval.speed.timing import find
from eval.speed.workloads import library as ours
from fives_env.rules import Rules


def training(evaluations: Rows, config: Mapping[str, Any]) -> Section:
    """How an agent learned."""
    if not evaluations:
        return Section("Learning", "learning", [Text("There is no evaluation yet.")])
    last = evaluations[-1]
    against = config.get("opponent")
    text = (
        f"Trained{f' against {against}' if against else ''}: {last['decisions']:,} decisions in "
        f"{last['seconds']:,.0f} s. Every evaluation plays pairs: the same deals, with the seats "
        "exchanged."
    )
    caption = (
        "The dashed line is an even match; the bands are 95 % intervals over pairs of matches."
    )
    headings = ("opponent", "decisions", "seconds", "pairs", "matches won", "points a round")
    rows = [
        (
            row["opponent"],
            f"{row['decisions']:,}",
            f"{row['seconds']:,.0f}",
            f"{row['pairs']:,}",
            f"{row['win_rate']:.1%} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]",
            f"{row['points_per_round']:+.2f}",
        )
        for row in evaluations
    ]
    return Section(
        "Learning",
        "learning",
        [
            Text(text),
            Picture(partial(learning, evaluations), "learning-curve", caption),
            Details("All evaluations", [Table(headings, rows)]),
        ],
    )


def speed(document: Mapping[str, Any]) -> Section:
    """How fast everything is."""
    rows = document["rows"]
    step = find(rows, what=ours.STEP, batch=ours.BATCH, threads=1)
    vector = find(rows, what=ours.VECTOR)
    timed = [row for row in (step, vector) if row and "parts_ns" in row]
    blocks: list[Block] = [
        Text(
            "Each row was measured in several turns between the others, and the best turn counts; "
            "rows of one thread ran on one core."
        ),
        Picture(partial(plots.speed, rows), "speed", "Speed on this machine, fives-and-threes."),
    ]
    if timed:
        caption = (
            "Where the time of a step goes. In the batch step the choice of actions is shown, but "
            "not counted in its speed. Of the vector env, features, masks and views were timed "
            "beside it on as many games, and the rest is what is left of its step."
        )
        blocks.append(Picture(partial(plots.time_shares, timed), "shares", caption))
        blocks += [
            Text(f"{row['what']}: {terminal.where_time_goes(row)}", "small") for row in timed
        ]
    ratios = [row for row in document.get("ratios", []) if row["value"] is not None]
    if ratios:
        headings = ("ratio", "as wanted", "value", "wanted")
        blocks.append(Table(headings, [terminal.ratio_cells(row) for row in ratios], words=2))
    headings_of_all = ("what", "rules", "batch", "threads", "a second", "unit")
    every = Table(headings_of_all, [terminal.speed_cells(row) for row in rows], words=2)
    return Section("Speed", "speed-of-all", [*blocks, Details("All rows", [every])])


def seconds(document: Mapping[str, Any] | None, rules: Rules) -> dict[str, float]:
    """What a decision of each agent takes in a batch, in these rules: by agent's spec.

    Of this benchmark or, where it has measured no agents, of the ladder (agents/strength.json).

    Raises:
        ValueError: The file of the ladder is damaged.
    """
    measured = [row for row in (document or {}).get("rows", []) if row.get("agent")]
    if measured:
        times = [(row["agent"], row["rules"], 1 / row["per_second"]) for row in measured]
    else:
        ladder = strength.read(strength.FILE) or {"rows": []}
        times = [(row["agent"], row["rules"], 1e-6 * row["batch_us"]) for row in ladder["rows"]]
    return {agent: taken for agent, spec, taken in times if Rules.from_spec(spec) == rules}


def machine(
    measured: Mapping[str, Any], config: Mapping[str, Any], versions: Mapping[str, Any]
) -> Section:
    """What it was all measured on, and how the agent was trained."""
    facts = [(name, str(value)) for name, value in measured.items()]
    blocks: list[Block] = [Facts(facts)]
    if config:
        settings = [(name, json.dumps(value)) for name, value in config.items()]
        trained = [(f"trained with {name}", str(value)) for name, value in versions.items()]
        blocks.append(Details("Settings of the training run", [Facts([*settings, *trained])]))
    return Section("Machine and settings", "machine", blocks)
