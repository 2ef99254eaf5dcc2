"""``python -m eval report``: one page that shows what a run, a tournament and a benchmark found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from matplotlib.ticker import EngFormatter

from eval import machine, page, plots, tables
from eval import workloads as ours
from eval.commands import Report
from eval.parts import Parts, Rows, read_parts
from eval.timing import find
from fives_env.rules import Rules

MODEL = "model:"


def run(options: Report) -> None:
    """Reads the parts and writes the page.

    Raises:
        ValueError: There is nothing to show, or a file is damaged.
        OSError: A file cannot be read or written.
    """
    out = options.out or (options.demo / "report.html" if options.demo else None)
    if out is None:
        raise ValueError("report needs --demo FOLDER, or the parts and --out FILE")
    parts = read_parts(options.demo, options.train, options.tournament, options.benchmark)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(make_page(parts), encoding="utf-8")
    print(f"the page is {out}")


def make_page(parts: Parts) -> str:
    """The page as text."""
    rules = _rules(parts)
    title = f"fives: {rules.title if rules else 'results'}"
    return page.page(title, [*_head(parts, rules), *_sections(parts)])


def _sections(parts: Parts) -> Iterator[str]:
    if parts.evaluations:
        yield _training(parts.evaluations, parts.config or {})
    if parts.tournament:
        yield _tournament(parts.tournament)
    if parts.benchmark:
        yield _speed(parts.benchmark)
    yield _machine(parts)


def _head(parts: Parts, rules: Rules | None) -> Iterator[str]:
    yield "<h1>A fives agent, measured</h1>\n"
    lead = (
        "What was trained, how it plays against others on the same deals, and how fast it all is."
    )
    if rules:
        lead = f"{rules.title}, {_table_of(rules)}. {lead}"
    yield page.paragraph(lead, "lead")
    yield page.cards(_numbers(parts))


def _numbers(parts: Parts) -> Iterator[tuple[str, str, str]]:
    """The big numbers on top."""
    hardest = sorted(_of_models(parts.tournament or {}), key=lambda row: float(row["win_rate"]))
    for row in hardest[:2]:
        label = f"of matches won against {row['b']}"
        note = f"95 % interval {row['low']:.1%} to {row['high']:.1%}, {row['matches']:,} matches"
        yield f"{row['win_rate']:.0%}", label, note
    if parts.evaluations:
        last = parts.evaluations[-1]
        note = f"in {last['seconds'] / 60:.1f} minutes, from nothing"
        yield EngFormatter(places=0)(last["decisions"]), "decisions trained on", note
    rows = parts.benchmark["rows"] if parts.benchmark else []
    rollout = find(
        rows, what=ours.ROLLOUT, rules=ours.FIVES_AND_THREES, batch=ours.BATCH, threads=1
    )
    if rollout:
        note = "random rollouts in compiled code, one core, dealing included"
        yield f"{rollout['per_second'] / 1e6:.1f} M", "steps a second", note


def _of_models(summary: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The pairings of a model against another agent, the model as a; two sides only."""
    for row in summary.get("pairings", []):
        if row["even"] != 0.5 or row["a"].startswith(MODEL) == row["b"].startswith(MODEL):
            continue
        if row["a"].startswith(MODEL):
            yield row
        else:
            mirrored = {
                "win_rate": 1 - row["win_rate"],
                "low": 1 - row["high"],
                "high": 1 - row["low"],
            }
            yield {**row, "a": row["b"], "b": row["a"], **mirrored}


def _training(evaluations: Rows, config: dict[str, Any]) -> str:
    last = evaluations[-1]
    against = config.get("opponent")
    text = (
        f"MaskablePPO{f' against {against}' if against else ''}: {last['decisions']:,} decisions "
        f"in {last['seconds']:,.0f} s. Every evaluation plays pairs: the same deals, with "
        "the seats exchanged."
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
    return page.section(
        "Learning",
        page.paragraph(text),
        page.picture(partial(plots.learning, evaluations), "learning", caption),
        page.details("All evaluations", page.table(headings, rows)),
    )


def _tournament(summary: dict[str, Any]) -> str:
    ratings, pairings = summary["ratings"], summary["pairings"]
    agents = [row["agent"] for row in ratings]
    text = (
        "Each two agents played the same deals in every seating, so neither luck of the deal nor "
        "the seat speaks for one of them. Intervals are 95 %, over pairs of matches."
    )
    return page.section(
        "Tournament",
        page.paragraph(text),
        page.table(
            ("a", "b", "a wins [95 %]", "points a round [95 %]", "matches", "distinct deals"),
            [(row["a"], row["b"], *tables.pairing_cells(row)) for row in pairings],
            words=2,
        ),
        page.picture(
            partial(plots.ratings, ratings),
            "ratings",
            f"Elo ratings, {summary.get('anchor', agents[-1])} at 0; the bars are 95 % intervals.",
        ),
        page.picture(
            partial(plots.cross_table, agents, pairings),
            "cross",
            "Who beats whom: the share of matches that the agent of the row won against that of "
            "the column. Blue is above even, red below.",
        ),
    )


def _speed(document: dict[str, Any]) -> str:
    rows = document["rows"]
    step = find(rows, what=ours.STEP, batch=ours.BATCH, threads=1)
    vector = find(rows, what=ours.VECTOR)
    timed = [row for row in (step, vector) if row]
    text = (
        "Each row was measured in several turns between the others, and the best turn counts; rows "
        "of one thread ran on one core."
    )
    headings = ("what", "rules", "batch", "threads", "a second", "unit")
    ratios = [row for row in document.get("ratios", []) if row["value"] is not None]
    ratio_rows = [
        (what, met, value, wanted) for what, met, value, wanted in map(tables.ratio_cells, ratios)
    ]
    return page.section(
        "Speed",
        page.paragraph(text),
        page.picture(
            partial(plots.speed, rows), "speed", "Speed on this machine, fives-and-threes."
        ),
        page.picture(
            partial(plots.time_shares, timed),
            "shares",
            "Where the time of a step goes. In the batch step the choice of actions is shown, but "
            "not counted in its speed. Of the vector env, features, masks and views were timed "
            "beside it on as many games, and the rest is what is left of its step.",
        )
        + "".join(
            page.paragraph(f"{row['what']}: {tables.where_time_goes(row)}", "small")
            for row in timed
        )
        if timed
        else "",
        page.table(("ratio", "as wanted", "value", "wanted"), ratio_rows, words=2)
        if ratios
        else "",
        page.details("All rows", page.table(headings, map(tables.speed_cells, rows), words=2)),
    )


def _machine(parts: Parts) -> str:
    measured = (parts.benchmark or {}).get("machine") or machine.facts()
    versions = {
        f"trained with {name}": str(value) for name, value in (parts.versions or {}).items()
    }
    settings = {name: json.dumps(value) for name, value in (parts.config or {}).items()}
    return page.section(
        "Machine and settings",
        page.facts(measured.items()),
        page.details("Settings of the training run", page.facts({**settings, **versions}.items()))
        if settings
        else "",
    )


def _rules(parts: Parts) -> Rules | None:
    """What was played: of the tournament, else of the training run."""
    spec = (parts.tournament or {}).get("rules") or (parts.config or {}).get("rules")
    return Rules.from_spec(spec) if spec else None


def _table_of(rules: Rules) -> str:
    """How many play, in words."""
    players = {2: "two players", 3: "three players", 4: "four players"}[rules.players]
    return f"{players} in partnerships" if rules.partners else players
