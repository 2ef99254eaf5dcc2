"""The wheel, alone in a fresh venv in another folder: what pip installs is useful (X04, X08)."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.docs.pages import EXAMPLES

ROOT = Path(__file__).parents[2]
OPPONENTS = """
import sys
import gymnasium
import fives_env
from fives_env.agents.registry import specs

for opponent in (*specs("tried"), "model:fives-and-threes-2"):
    env = gymnasium.make("fives_env/FivesAndThrees-v0", opponent=opponent)
    env.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, _ = env.step(int(env.unwrapped.action_masks().argmax()))
        over = terminated or truncated
for name in ("agents", "train", "eval"):
    try:
        __import__(name)
    except ImportError:
        continue
    raise SystemExit(f"{name} is installed as a top-level name")
assert "torch" not in sys.modules
print(fives_env.__file__)
"""
LEARN = """
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
import fives_env
from fives_env.envs.sb3 import Sb3VecEnv
from fives_env.envs.vector import FivesVectorEnv

MaskablePPO("MlpPolicy", "fives_env/AllFives-v0", n_steps=32, batch_size=32).learn(32)
PPO("MlpPolicy", make_vec_env("fives_env/FivesAndThrees-v0"), n_steps=32, batch_size=32).learn(32)
MaskablePPO("MlpPolicy", Sb3VecEnv(FivesVectorEnv(4)), n_steps=32, batch_size=32).learn(32)
"""


def run(*command: object, cwd: Path, check: bool = True) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env={**environment, "HOME": str(cwd), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv with the wheel and what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    (wheel,) = built.glob("*.whl")
    pip(folder, "install", wheel)
    return folder


def pip(folder: Path, *arguments: object) -> str:
    python = folder / "venv/bin/python"
    constraints = ("--constraint", ROOT / "constraints.txt") if arguments[0] == "install" else ()
    return run(python, "-m", "pip", *arguments, "--quiet", *constraints, cwd=folder)


def python(folder: Path, program: str, check: bool = True) -> str:
    return run(folder / "venv/bin/python", "-c", program, cwd=folder, check=check)


def test_the_sdist_has_tests_and_seeds(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"tests/core/test_belief.py", "seeds/README.md", "Makefile", "constraints.txt"} <= names
    assert not any("numba-" in name or name.endswith(".nbi") for name in names)


def test_X04_every_kind_of_opponent_plays(installed: Path) -> None:
    said = python(installed, OPPONENTS)
    assert str(installed) in said
    (package,) = (installed / "venv/lib").glob("*/site-packages/fives_env")
    assert not list(package.rglob("numba-*")), "compiled code lies in the user's cache"
    assert list((installed / ".cache/fives_env").glob("numba-*"))


def test_X52_what_needs_more_says_what_to_install(installed: Path) -> None:
    for program, extra in (
        ("import runpy; runpy.run_module('fives_env.agents', run_name='__main__')", "cli"),
        ("import fives_env.envs.sb3", "sb3"),
        ("import fives_env.envs.openspiel", "openspiel"),
        (
            "import fives_env, gymnasium as g\n"
            "env = g.make('fives_env/AllFives-v0', render_mode='rgb_array')\n"
            "env.reset(); env.render()",
            "render",
        ),
    ):
        said = python(installed, program, check=False).strip().splitlines()[-1]
        assert f"fives-env[{extra}]" in said, said


def test_X08_uninstalled_and_installed_from_a_checkout(installed: Path, built: Path) -> None:
    pip(installed, "uninstall", "--yes", "fives-env")
    assert "No module named 'fives_env'" in python(installed, "import fives_env", check=False)
    pip(installed, "install", "--no-deps", "--editable", ROOT)
    said = python(
        installed, "from fives_env import Games; import fives_env; print(fives_env.__file__)"
    )
    assert str(ROOT) in said
    pip(installed, "uninstall", "--yes", "fives-env")
    (wheel,) = built.glob("*.whl")
    pip(installed, "install", wheel)


def test_X01_learners_of_sb3_take_the_ids_and_the_readme_runs(installed: Path, built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    pip(installed, "install", f"{wheel}[sb3]")
    python(installed, LEARN)
    for example in EXAMPLES.values():
        python(installed, example)
