"""``python -m eval report``: one page that shows what runs, tournaments and a benchmark found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.ticker import EngFormatter

from agents.files import refuse_unwritable, replace_file
from agents.terminal import say
from eval import provenance
from eval.commands import Report
from eval.report import agent_plots
from eval.report.blocks import Block, Cards, Section, Text
from eval.report.blocks import Report as Document
from eval.report.markdown import markdown
from eval.report.page import page
from eval.report.pages import overview as overview_page
from eval.report.pages import run as run_page
from eval.report.pages import tournament as tournament_page
from eval.report.parts import Parts, read_parts
from eval.speed.timing import find as find_row
from eval.speed.workloads import library as ours
from eval.stats.findings import Findings, find
from eval.tournament.replay import facts_of
from eval.tournament.results import Results

Numbers = Iterator[tuple[str, str, str]]


def run(options: Report) -> None:
    """Reads the parts and writes the page, and the same in Markdown beside it.

    Raises:
        ValueError: There is nothing to show, or a file is damaged.
        OSError: A file cannot be read or written.
    """
    out = options.out or (options.demo / "report.html" if options.demo else None)
    if out is None:
        raise ValueError("report needs --demo FOLDER, or the parts and --out FILE")
    if out.suffix == ".md":
        raise ValueError(f"--out {out} is for the page, as in {out.with_suffix('.html')}")
    parts = read_parts(options.demo, options.train, options.tournament, options.benchmark)
    refuse_unwritable(out, "--out")
    report = make_report(parts)
    texts = {out: page(report), out.with_suffix(".md"): markdown(report)}
    for path, text in texts.items():
        replace_file(path, text.encode())
    say(f"the page is {out}, and {out.with_suffix('.md')} has its numbers")


def make_report(parts: Parts) -> Document:
    """The whole report."""
    found = [_find(results) for results in parts.tournaments]
    palette = agent_plots.colors(name for one in found for name in one.names)
    sections = [
        tournament_page.section(
            one,
            results.summary,
            f"tournament-{number}",
            palette,
            run_page.seconds(parts.benchmark, results.rules),
            results.audit,
        )
        for number, (one, results) in enumerate(zip(found, parts.tournaments, strict=True))
    ]
    if len(found) > 1:
        sections.insert(0, overview_page.overview(found, palette))
    if parts.evaluations is not None:
        sections.append(run_page.training(parts.evaluations, parts.config or {}))
    if parts.benchmark:
        sections.append(run_page.speed(parts.benchmark))
    sections.append(_machine(parts))
    title = found[0].rules.title if len(found) == 1 else "the fives family of dominoes"
    return Document(
        f"fives: {title}", f"How well agents play {title}", list(_head(parts, found)), sections
    )


def _find(results: Results) -> Findings:
    try:
        facts = [facts_of(results.rules, results.seed, one.matches) for one in results.meetings]
    except ValueError as error:
        raise ValueError(f"{results.path} is damaged: {error}; python -m eval replay") from None
    return find(results.names, results.meetings, facts, results.rules, results.anchor)


def _head(parts: Parts, found: Sequence[Findings]) -> Iterator[Block]:
    told = []
    if found:
        matches = sum(one.num_matches for one in found)
        told.append(f"{matches:,} matches on paired deals say who is stronger, and by how much.")
    if parts.evaluations:
        told.append("An agent was trained; its progress is here.")
    if parts.benchmark:
        told.append("The speed of everything was measured too.")
    yield Text(" ".join(told), "lead")
    yield Cards([*_of_tournaments(found), *_of_speed(parts)][:6])


def _of_tournaments(found: Sequence[Findings]) -> Numbers:
    """The big numbers: who is best and how sure that is."""
    for one in found:
        best, *others = one.names
        rating = one.ratings[0]
        game = tournament_page.title(one)
        if others and rating.low < rating.high:
            note = f"95 % interval {rating.low:+.0f} to {rating.high:+.0f}, {one.anchor} at 0"
            yield f"{rating.value:+.0f} Elo", f"{best} leads {game}", note
    if len(found) != 1 or len(found[0].names) < 2:
        return
    (one,) = found
    best, second = one.names[:2]
    share, low, high = (float(part[0, 1]) for part in one.between)
    if share == share:
        note = f"95 % interval {low:.1%} to {high:.1%}"
        yield f"{share:.1%}", f"of its matches {best} wins against {second}", note
    first, even = one.seats.by_place[0], 1 / one.rules.num_sides
    note = f"95 % interval {first.low:.1%} to {first.high:.1%}; {even:.1%} is even"
    yield f"{first.value:.1%}", "of the matches go to the first leader", note


def _of_speed(parts: Parts) -> Numbers:
    if parts.evaluations:
        last = parts.evaluations[-1]
        note = f"in {last['seconds'] / 60:.1f} minutes"
        yield EngFormatter(places=0)(last["decisions"]), "decisions trained on", note
    rows = parts.benchmark["rows"] if parts.benchmark else []
    rollout = find_row(
        rows, what=ours.ROLLOUT, rules=ours.FIVES_AND_THREES, batch=ours.BATCH, threads=1
    )
    if rollout:
        note = "random rollouts in compiled code, one core, dealing included"
        yield f"{rollout['per_second'] / 1e6:.1f} M", "steps a second", note


def _machine(parts: Parts) -> Section:
    measured = (parts.benchmark or {}).get("machine") or provenance.facts()
    return run_page.machine(measured, parts.config or {}, parts.versions or {})
