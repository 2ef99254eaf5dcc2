"""The page: whole in itself, with every part that is there and without those that are not."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from eval import timing
from eval import workloads as ours
from eval.commands import Report, Tournament
from eval.report import run
from eval.tournament import run as play

EVALUATIONS = """decisions,seconds,opponent,pairs,win_rate,low,high,points_per_round
0,0.0,random,200,0.5,0.45,0.55,0.01
0,0.0,greedy,200,0.04,0.03,0.06,-3.2
65536,20.5,random,200,0.9,0.87,0.93,1.7
65536,20.9,greedy,200,0.4,0.35,0.45,-0.3
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all parts, small."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "train").mkdir()
    (folder / "train" / "evaluations.csv").write_text(EVALUATIONS)
    settings = {"rules": "fives-and-threes", "opponent": "greedy", "note": "<b>&</b>"}
    (folder / "train" / "config.json").write_text(json.dumps(settings))
    play(Tournament(agents=("greedy", "random"), pairs=10, out=folder / "tournament"))
    rows = timing.measure([ours.rollout(ours.FIVES_AND_THREES, 4), ours.batch_step(4)], 0.01, print)
    (folder / "benchmark").mkdir()
    (folder / "benchmark" / "benchmark.json").write_text(json.dumps({"rows": rows}))
    return folder


class Balance(HTMLParser):
    """Checks that elements are closed in order, and that ids are unique."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(text: str) -> None:
    """A page that is well formed and asks for nothing."""
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    assert not re.search(r"https?:|<link|<script|<img|@import|url\((?!#)", text)


def headings(text: str) -> list[str]:
    return re.findall("<h2>(.*?)</h2>", text)


def test_page_with_all_parts(demo: Path) -> None:
    run(Report(demo=demo))
    text = (demo / "report.html").read_text()
    check(text)
    assert headings(text) == ["Learning", "Tournament", "Speed", "Machine and settings"]
    assert "Fives and Threes, two players" in text
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in text
    assert text.count("<svg") >= 4


@pytest.mark.parametrize("part", ["train", "tournament", "benchmark"])
def test_page_with_one_part(demo: Path, tmp_path: Path, part: str) -> None:
    (tmp_path / part).symlink_to(demo / part)
    run(Report(demo=tmp_path))
    text = (tmp_path / "report.html").read_text()
    check(text)
    assert len(headings(text)) == 2


def test_parts_given_one_by_one(demo: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "page.html"
    run(Report(tournament=demo / "tournament", out=out))
    assert headings(out.read_text()) == ["Tournament", "Machine and settings"]


def test_training_run_without_an_evaluation_yet(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "evaluations.csv").write_text(EVALUATIONS.splitlines()[0] + "\n")
    run(Report(demo=tmp_path))
    assert headings((tmp_path / "report.html").read_text()) == ["Machine and settings"]


def test_three_sides_and_a_mirror_match(tmp_path: Path) -> None:
    play(
        Tournament(
            agents=("greedy", "random", "greedy"),
            rules="all-fives:players=3",
            pairs=3,
            out=tmp_path / "tournament",
        )
    )
    run(Report(demo=tmp_path))
    check((tmp_path / "report.html").read_text())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Report(), "needs --demo FOLDER"),
        (Report(out=Path("x.html")), "needs one of"),
        (Report(demo=Path("nowhere")), "--demo nowhere is not a folder"),
        (Report(train=Path("nowhere"), out=Path("x.html")), "nowhere/evaluations.csv is not there"),
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
