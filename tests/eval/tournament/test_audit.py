"""The audit: whoever uses more than what it is handed is found, and honest agents are not."""

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from eval.commands import Audit, Tournament
from eval.report.command import make_report
from eval.report.markdown import markdown
from eval.report.parts import read_parts
from eval.tournament.audit import draw, run
from eval.tournament.command import run as tournament
from eval.tournament.replay import stored
from eval.tournament.results import open_results
from eval.tournament.store import StoreError
from tests.agents.material import random_model

ROOT = Path(__file__).parents[3]
CUP = """
import sys
from pathlib import Path

import numpy as np

from agents.registry import AGENTS
from agents.specs import Entry
class Honest:
    def act(self, views, masks, keys):
        return self.choose(masks, keys)

    def choose(self, masks, numbers):
        legal = [np.flatnonzero(mask) for mask in masks]
        return np.array([a[int(n) % len(a)] for a, n in zip(legal, numbers)])

class Keeps(Honest):
    asked = 0
    def act(self, views, masks, keys):
        self.asked += 1
        return self.choose(masks, keys + np.uint64(self.asked))

class Neighbours(Honest):
    def act(self, views, masks, keys):
        return self.choose(masks, np.roll(keys, 1))

class Peeks(Honest):
    def act(self, views, masks, keys):
        frame = sys._getframe()
        while frame and "games" not in frame.f_locals:
            frame = frame.f_back
        hidden = frame.f_locals["games"].data["hands"].sum() if frame else 0
        return self.choose(masks, keys + np.uint64(hidden))

for kind in (Honest, Keeps, Neighbours, Peeks):
    name = kind.__name__.lower()
    AGENTS[name] = Entry(name, "", kind)

if __name__ == "__main__":
    from eval.tournament import audit, command
    from eval.commands import Audit, Tournament

    out, agents = Path(sys.argv[1]), ("honest", "keeps", "neighbours", "peeks")
    options = Tournament(agents=agents, rules="all-fives:target=60", pairs=3, out=out)
    command.run(options)
    sys.exit(audit.run(Audit(results=out, matches=4)))
"""


def test_X40_X41_who_uses_more_than_it_is_handed_is_found(tmp_path: Path) -> None:
    (tmp_path / "cup.py").write_text(CUP)
    command = [sys.executable, "cup.py", "out"]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    verdicts = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert verdicts["stored_matches"] == 36
    rows = {row["agent"]: row for row in verdicts["agents"]}
    assert {name for name, row in rows.items() if row["passed"]} == {"honest"}
    assert all(row["error"] == "" and row["matches"] == 4 for row in rows.values())
    assert rows["honest"]["differing"] == 0 < rows["honest"]["decisions"]
    assert " became " in rows["peeks"]["first"]


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament of honest agents; one of them a model that draws its actions."""
    folder = tmp_path_factory.mktemp("cup")
    rules = "fives-and-threes:players=4,target=20"
    model = f"model:{random_model(folder / 'model', rules)},sample=yes"
    tournament(Tournament(agents=("random", model), rules=rules, pairs=6, out=folder / "cup"))
    return folder / "cup"


def reported(cup: Path) -> str:
    """What a report says, without the pictures."""
    return markdown(make_report(read_parts(None, None, (cup,), None)))


def test_honest_agents_pass_and_the_report_says_so(
    cup: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "were not audited" in reported(cup)
    assert run(Audit(results=cup, matches=3)) == 0
    assert capsys.readouterr().out.count("plays as it is stored") == 2
    assert "All of them play as they are stored" in reported(cup)


def test_an_agent_that_is_another_by_now_is_told(cup: Path, tmp_path: Path) -> None:
    """Matches of one agent under the name of another, and of a model with other weights."""
    copied, file = shutil.copytree(cup, tmp_path / "copy"), tmp_path / "verdicts.json"
    with sqlite3.connect(copied / "results.sqlite") as database:
        for side in (0, 1):
            name = f"agent_{side}"
            change = f"UPDATE lineups SET {name} = 'careful' WHERE {name} = 'random'"
            database.execute(change)
            other = f"substr({name}, 1, length({name}) - 2) || '00'"
            database.execute(f"UPDATE lineups SET {name} = {other} WHERE {name} LIKE 'model%'")
    assert run(Audit(results=copied, matches=2, json=file)) == 1
    rows = json.loads(file.read_text())["agents"]
    verdicts = {row["agent"].partition(":")[0]: row for row in rows}
    assert verdicts["careful"]["differing"] > 0
    assert "has changed since the tournament began" in verdicts["model"]["error"]
    assert not verdicts["model"]["passed"]


def test_the_sample_is_of_each_agent_and_drawn_anew(cup: Path) -> None:
    with open_results(cup) as store:
        matches = list(stored(store))
    number, sample = draw(matches, 4)
    assert number == len(matches) == 12
    assert len(sample) == 2
    for agent, drawn in sample.items():
        assert len({match.number for match in drawn}) == 4
        assert all(agent in match.meeting.agents for match in drawn)
    assert draw(matches, 4)[1] != sample
    assert {len(drawn) for drawn in draw(matches, 1000)[1].values()} == {12}


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ("UPDATE matches SET moves = x'7070707070'", ValueError, "cannot be replayed"),
        ("DELETE FROM matches", ValueError, "has no matches"),
        ("DROP TABLE origin; PRAGMA user_version = 2", StoreError, "without a salt"),
    ],
)
def test_what_cannot_be_audited_is_said(
    cup: Path, tmp_path: Path, change: str, error: type[Exception], says: str
) -> None:
    copied = shutil.copytree(cup, tmp_path / "copy")
    with sqlite3.connect(copied / "results.sqlite") as database:
        database.executescript(change)
    with pytest.raises(error, match=says):
        run(Audit(results=copied, json=tmp_path / "verdicts.json"))
    with pytest.raises(ValueError, match="--matches 0 is not"):
        run(Audit(results=copied, matches=0))
    assert not (tmp_path / "verdicts.json").exists()
