"""The tables of the pages are what was measured, and measurements can be taken anew."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from tests.docs.pages import ROOT, TEXTS

RESULTS: dict[str, Any] = run_path(str(ROOT / "docs" / "results.py"))


@pytest.mark.parametrize("page", [page for page in TEXTS if "<!-- table " in TEXTS[page]])
def test_page_and_data_are_equal(page: str) -> None:
    assert RESULTS["written"](TEXTS[page]) == TEXTS[page], "make results"


def test_every_table_stands_on_a_page() -> None:
    shown = [found[1] for text in TEXTS.values() for found in RESULTS["MARKED"].findall(text)]
    assert sorted(shown) == sorted(RESULTS["TABLES"])


def test_the_readme_says_what_was_measured() -> None:
    speed = json.loads((ROOT / "docs" / "measured" / "speed.json").read_text())["rows"][0]
    assert f"{speed['per_second'] / 1e6:.0f} million steps a second" in TEXTS["README.md"]
    models = json.loads((ROOT / "docs" / "measured" / "training.json").read_text())["models"]
    (row,) = [row for row in models if row["against"] == "pimc:64"]
    assert f"wins {row['win_rate']:.0%}".replace("%", " %") in TEXTS["README.md"].replace("\n", " ")
    greedy = json.loads((ROOT / "agents" / "strength.json").read_text())["rows"][0]
    assert greedy["agent"] == "random"
    assert f"{100 - 100 * greedy['win_rate']:.0f} times in 100" in TEXTS["README.md"]


def test_new_measurements_change_the_page_in_their_places(tmp_path: Path) -> None:
    """Of one game of three and of one model; the others stay."""
    for name in ("agents", "fives_env"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    summary = {
        "rules": "all-fives:players=2,target=250",
        "seed": 5,
        "anchor": "greedy",
        "ratings": [{"agent": "tactic", "rating": 12.4, "low": -1.0, "high": 30.0}],
        "meetings": [{"agents": ["tactic", "greedy"], "pairs": 7}],
        "pairings": [],
    }
    meeting = {"a": "model:all-fives-2", "b": "greedy", "pairs": 9}
    meeting |= {"win_rate": 0.75, "low": 0.5, "high": 0.9}
    meeting |= {"points_per_round": 7.0, "points_low": 6.0, "points_high": 8.0}
    for folder, more in (("cup", {}), ("strength", {"pairings": [meeting]})):
        path = tmp_path / "runs" / folder / "one" / "summary.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({**summary, **more}))
    run = [sys.executable, "docs/results.py", "take"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "docs/results.md has new tables\n"
    page = (tmp_path / "docs" / "results.md").read_text("utf-8")
    old, new = TEXTS["docs/results.md"].splitlines(), page.splitlines()
    assert [line for line in new if line.startswith("| agent") and "all-fives (7 pairs)" in line]
    assert "| `tactic` | +154 [+131, +182] | +126 [+85, +165] | +12 [-1, +30] |" in new
    model = next(line for line in new if line.startswith("| `all-fives-2`"))
    assert model.endswith("| greedy | 9 | 75.0 % [50.0, 90.0] | +7.0 [+6.0, +8.0] |")
    assert [line for line in new if "CFR+" in line] == [line for line in old if "CFR+" in line]
