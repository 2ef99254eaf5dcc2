"""The report: whole in itself, with every part that is there and without those that are not."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import strength
from eval import wording
from eval.arena.loops import FACTS
from eval.commands import Report, Tournament
from eval.report import agent_plots
from eval.report.blocks import Details, HeatMap, Picture, Section, Table, Text
from eval.report.blocks import Report as Document
from eval.report.command import run
from eval.report.markdown import markdown
from eval.report.page import page
from eval.report.pages import run as run_page
from eval.report.pages import tournament as tournament_page
from eval.speed import timing
from eval.speed.workloads import library as ours
from eval.stats.findings import Findings, find
from eval.stats.seats import seats
from eval.tournament.command import run as play
from eval.tournament.results import read_results
from tests.eval.stats import synthetic
from tests.eval.stats.synthetic import RULES

EVALUATIONS = """decisions,seconds,opponent,pairs,win_rate,low,high,points_per_round
0,0.0,random,200,0.5,0.45,0.55,0.01
0,0.0,greedy,200,0.04,0.03,0.06,-3.2
65536,20.5,random,200,0.9,0.87,0.93,1.7
65536,20.9,greedy,200,0.4,0.35,0.45,-0.3
"""
TITLE = "Fives and Threes, two players"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all parts, small."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "train").mkdir()
    (folder / "train" / "evaluations.csv").write_text(EVALUATIONS)
    settings = {"rules": "fives-and-threes", "opponent": "greedy", "note": "<b>&</b>"}
    (folder / "train" / "config.json").write_text(json.dumps(settings))
    play(Tournament(agents=("greedy", "random"), pairs=10, seed=0, out=folder / "tournament"))
    rows = timing.measure([ours.rollout(ours.FIVES_AND_THREES, 4), ours.batch_step(4)], 0.01, print)
    decision = {"what": "decision", "rules": "fives-and-threes", "batch": 1, "threads": 1}
    rows += [
        {**decision, "agent": agent, "per_second": speed, "unit": "decisions/s"}
        for agent, speed in (("greedy", 1e6), ("random", 1e7))
    ]
    (folder / "benchmark").mkdir()
    (folder / "benchmark" / "benchmark.json").write_text(json.dumps({"rows": rows}))
    return folder


class Strict(HTMLParser):
    """Checks that elements are closed in order; collects ids and what points to them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.pointed: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        assert len(given) == len(attrs), f"an attribute of {tag} is there twice"
        self.ids += [given["id"]] if "id" in given else []
        if "href" in given:
            assert given["href"].startswith("#")
            self.pointed.append(given["href"][1:])
        self.pointed += re.findall(r"url\(#(.*?)\)", " ".join(given.values()))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(text: str) -> None:
    """A page that is well formed, asks for nothing, and has what it points to."""
    parser = Strict()
    parser.feed(text)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    assert set(parser.pointed) <= set(parser.ids)
    assert not re.search(r"https?:|<link|<script|<img|@import|url\((?!#)", text)
    assert not re.search(r">[^<]*\bnan\b", text)


def headings(text: str) -> list[str]:
    return re.findall("<h2.*?>(.*?)</h2>", text)


def test_page_with_all_parts(demo: Path) -> None:
    run(Report(demo=demo))
    text = (demo / "report.html").read_text()
    check(text)
    assert headings(text) == [TITLE, "Learning", "Speed", "Machine and settings"]
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in text
    assert text.count("<svg") == 7
    assert "time that a decision takes" in text
    written = (demo / "report.md").read_text()
    assert [line[3:] for line in written.splitlines() if line[:3] == "## "] == headings(text)
    assert "| greedy | +" in written
    assert "\\<b>&\\</b>" in written


@pytest.mark.parametrize("part", ["train", "tournament", "benchmark"])
def test_page_with_one_part(demo: Path, tmp_path: Path, part: str) -> None:
    (tmp_path / part).symlink_to(demo / part)
    run(Report(demo=tmp_path))
    text = (tmp_path / "report.html").read_text()
    check(text)
    assert len(headings(text)) == 2


def test_times_of_the_ladder_where_the_benchmark_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strength, "FILE", tmp_path / "strength.json")
    assert run_page.seconds(None, RULES[2]) == {}
    row = {"pairs": 9, "win_rate": 0.5, "low": 0.4, "high": 0.6, "one_us": 9.0, "batch_us": 2.0}
    rows = [{**row, "agent": "greedy", "rules": rules.spec} for rules in RULES.values()]
    strength.FILE.write_text(json.dumps({"rows": rows}))
    assert run_page.seconds(None, RULES[2]) == {"greedy": pytest.approx(2e-6)}
    decision = {"agent": "random", "rules": "fives-and-threes", "per_second": 1e6}
    assert run_page.seconds({"rows": [decision, {"what": "x"}]}, RULES[2]) == {"random": 1e-6}


def test_the_first_lead_is_in_the_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play(Tournament(agents=("greedy", "greedy"), pairs=40, seed=0, out=tmp_path))
    results = read_results(tmp_path)
    lead = seats(results.meetings, results.rules).by_place[0]
    assert results.summary["first_lead"] == lead._asdict()
    assert f"leads first wins {wording.share(lead)} of the matches" in capsys.readouterr().out


def test_several_games_on_one_page(demo: Path, tmp_path: Path) -> None:
    """A mirror match and three sides among them."""
    rules, agents = "all-fives:players=3", ("greedy", "random", "greedy")
    play(Tournament(agents=agents, rules=rules, pairs=3, seed=0, out=tmp_path / "cup"))
    out = tmp_path / "deep" / "page.html"
    run(Report(tournament=(demo / "tournament", tmp_path / "cup"), out=out))
    text = out.read_text()
    check(text)
    assert headings(text)[:3] == ["All games at a glance", TITLE, "All Fives, three players"]
    assert out.with_suffix(".md").is_file()


def test_training_run_without_an_evaluation_yet(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "evaluations.csv").write_text(EVALUATIONS.splitlines()[0] + "\n")
    run(Report(demo=tmp_path))
    assert "no evaluation yet" in (tmp_path / "report.html").read_text()


def found(cycle: float, num_pairs: int = 300, num_sides: int = 2) -> Findings:
    """Three agents, each of whom beats the next by so much, and a weak one with a wild name."""
    rng, meetings = np.random.default_rng(0), []
    for a, b in [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]:
        strengths = np.array([0.0, 0.0, 0.0, -1.5])
        strengths[a] += cycle
        matches = synthetic.play(rng, (a, b), strengths, num_sides, num_pairs)
        meetings.append(((a, b), matches))
    facts = [np.zeros(matches.winner.shape, FACTS) for _, matches in meetings]
    for one, (_, matches) in zip(facts, meetings, strict=True):
        one["rounds"] = matches.rounds
        one["points"][..., :num_sides] = matches.scores
    return find(
        ["rock", "paper", "scissors", "<wild|*>"], meetings, facts, RULES[num_sides], "rock"
    )


def section(findings: Findings, summary: Any = None) -> tuple[Section, str]:
    """The section, and what it says in Markdown."""
    palette = agent_plots.colors(findings.names)
    whole = summary or {"pairings": []}
    made = tournament_page.section(findings, whole, "cup", palette, {})
    return made, markdown(Document("t", "h", [], [made]))


def heat_map(made: Section) -> HeatMap:
    (heat,) = [block for block in made.blocks if isinstance(block, HeatMap)]
    return heat


@pytest.mark.parametrize("num_sides", [2, 3, 4])
def test_a_cycle_is_told_and_the_nash_average_shown(num_sides: int) -> None:
    made, text = section(found(0.8, num_sides=num_sides))
    assert "Strength is not one number here" in text
    names = [block.name for block in made.blocks if isinstance(block, Picture)]
    assert names == ["cup-ratings", "cup-nash", "cup-matches", "cup-seats", "cup-habits"]
    heat = heat_map(made)
    assert [len(row) for row in heat.cells] == [4] * 4
    assert heat.cells[0][0].text == ""
    assert all(-1 <= cell.heat <= 1 for row in heat.cells for cell in row)


def test_names_are_written_as_they_are() -> None:
    made, text = section(found(0.8))
    assert "\\<wild\\|\\*>" in text
    drawn = page(Document("t", "h", [], [made]))
    check(drawn)
    assert drawn.count("<svg") == 5
    assert "&lt;wild|*&gt;" in drawn


def test_what_may_be_chance_is_called_so() -> None:
    made, text = section(found(0.05, num_pairs=20))
    assert "Strength is not one number here" not in text
    assert sum(cell.faint for row in heat_map(made).cells for cell in row) >= 4


def test_failures_and_early_ends_are_told() -> None:
    test = {"low": 0, "high": 20, "alpha": 0.05, "beta": 0.1, "verdict": None, "pairs": 1234}
    summary = {
        "pairings": [{"a": "rock", "b": "paper", "sprt": test}],
        "failed": [{"agents": ["rock", "lizard"], "error": "no such hand"}],
    }
    made, text = section(found(0.3, num_pairs=20), summary)
    assert "rock against lizard: no such hand" in text
    assert "+0 or +20 Elo points (sequential test; the error rates are 5% and 10%)" in text
    rows = [("rock", "paper", "open", "1,234")]
    assert made.blocks[-1] == Table(("a", "b", "a is", "pairs"), rows, words=3)


def test_order_of_agents_does_not_matter() -> None:
    findings = found(0.4, num_pairs=50)
    values = [rating.value for rating in findings.ratings]
    assert values == sorted(values, reverse=True)
    assert findings.names[-1] == "<wild|*>"
    gaps = [values[at] - values[at + 1] for at in range(3)]
    assert [ahead.value for ahead in findings.ahead] == pytest.approx(gaps)
    scored, given = findings.habits[:2]
    assert (scored.name, given.name) == ("points scored", "points given")
    assert min(range(4), key=lambda at: scored.rates[at].value) == 3
    assert max(range(4), key=lambda at: given.rates[at].value) == 3


def test_markdown_of_folded_blocks() -> None:
    folded = Details("More", [Table(("a", "n"), [("x_y", "1")]), Text("So | so")])
    text = markdown(Document("t", "Head", [], [Section("S", "s", [folded])]))
    assert text == (
        "# Head\n\n## S\n\n**More**\n\n| a | n |\n| --- | ---: |\n| x\\_y | 1 |\n\nSo \\| so\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Report(), "needs --demo FOLDER"),
        (Report(out=Path("x.html")), "needs one of"),
        (Report(demo=Path("."), out=Path("x.md")), "--out x.md is for the page, as in x.html"),
        (Report(demo=Path("nowhere")), "--demo nowhere is not a folder"),
        (Report(train=Path("nowhere"), out=Path("x.html")), "nowhere/evaluations.csv is not there"),
        (Report(tournament=(Path("nowhere"),), out=Path("x.html")), "nowhere/summary.json"),
    ],
)
def test_what_is_missing_is_said(options: Report, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(options)


def test_empty_demo(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to show"):
        run(Report(demo=tmp_path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("benchmark/benchmark.json", "{"),
        ("benchmark/benchmark.json", "[]"),
        ("tournament/summary.json", '{"pairings": []}'),
        ("train/evaluations.csv", EVALUATIONS + "many,1,random,2,3,4,5,6\n"),
        ("train/evaluations.csv", EVALUATIONS + "1,2\n"),
    ],
)
def test_damaged_part_is_named(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    with pytest.raises(ValueError, match=f"{name} is damaged"):
        run(Report(demo=tmp_path))
