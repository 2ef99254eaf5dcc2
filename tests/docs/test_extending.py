"""The diffs of docs/extending.md, as printed, on a copy of the checkout: they apply and work."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fives_env import code_cache
from tests.docs.pages import ROOT, TEXTS, blocks

PRODUCT = ("agents/", "eval/", "fives_env/", "train/")
DIFFS = blocks(TEXTS["docs/extending.md"], "diff")
COPIED = (*PRODUCT, "docs", "tests", "pyproject.toml")
LEFT = shutil.ignore_patterns("__pycache__", "*.pyc")

PLAY = """
import numpy as np, fives_env
from agents import make_agent
from eval.arena import paired

rules = fives_env.Rules.from_spec("all-fives:max_rounds=2")
played = paired.play(rules, make_agent("heavy"), make_agent("greedy"), 1, np.arange(4))
print(fives_env.__file__, played.truncated.all(), min(map(len, played.moves.ravel())) > 20)
"""

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="diffs are applied by git")


def product_files(diff: str) -> list[str]:
    """The files of the product that a diff touches."""
    touched = re.findall(r"^\+\+\+ b/(\S+)$", diff, re.MULTILINE)
    return [path for path in touched if path.startswith(PRODUCT)]


def patched(folder: Path, diff: str) -> Path:
    """A copy of the checkout with this diff."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=LEFT)
        else:
            shutil.copy(ROOT / name, folder / name)
    for options in (("--check",), ()):
        subprocess.run(
            ["git", "apply", *options, "-"],
            cwd=folder,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
            input=diff,
            text=True,
            check=True,
        )
    return folder


def run(folder: Path, *arguments: str, compiled: bool = True) -> str:
    """What Python prints there, with the compiled code of the checkout if none was changed."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    if compiled:
        environment.setdefault("NUMBA_CACHE_DIR", str(code_cache.writable().parent))
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_is_an_example_of_a_heuristic_an_option_and_a_statistic() -> None:
    assert [len(product_files(diff)) for diff in DIFFS] == [2, 4, 2]


def test_a_heuristic_is_two_files(tmp_path: Path) -> None:
    copy = patched(tmp_path, DIFFS[0])
    assert product_files(DIFFS[0]) == ["agents/heuristics/heavy.py", "agents/registry.py"]
    assert "the heaviest tile that fits" in run(copy, "-m", "agents")
    assert run(copy, "-c", PLAY).split() == [str(copy / "fives_env/__init__.py"), "True", "True"]


def test_a_rules_option_is_four_files(tmp_path: Path) -> None:
    """Its own tests are in the diff, and so is its line in docs/envs.md."""
    copy = patched(tmp_path, DIFFS[1])
    program = (
        "from fives_env import Rules; print(Rules.from_spec('fives-and-threes:out_points=3').spec)"
    )
    assert run(copy, "-c", program).strip() == "fives-and-threes:players=2,target=61,out_points=3"
    tests = "tests/rules/test_out_points.py", "tests/rules/test_rules_options.py"
    chosen = "going_out or refused_where or every_option or presets_by"
    said = run(copy, "-m", "pytest", "-p", "no:cacheprovider", *tests, "-k", chosen, compiled=False)
    assert " passed" in said
    assert "`out_points`" in (copy / "docs/envs.md").read_text("utf-8")


def test_a_statistic_is_two_files(tmp_path: Path) -> None:
    copy = patched(tmp_path, DIFFS[2])
    asked = (
        "-m eval tournament --agents greedy random --rules all-fives:target=20 --pairs 6 --seed 1"
    )
    run(copy, *asked.split(), "--out", "cup")
    (pairing,) = json.loads((copy / "cup" / "summary.json").read_text())["pairings"]
    assert sorted(pairing["close"]) == ["high", "low", "value"]
    assert (
        0 <= pairing["close"]["low"] <= pairing["close"]["value"] <= pairing["close"]["high"] <= 1
    )
