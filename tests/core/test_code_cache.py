"""Compiled code never stands in the way: X08 to X11, each in processes of their own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fives_env import code_cache

ROOT = Path(__file__).parents[2]
SMALL = """
from fives_env.engine import keys
from fives_env.jit import jit

@jit
def small(number):
    return keys.below(keys.mix(number, 1), 1 << 20)

print(small(7))
"""
"""Compiles in a second."""
PLAY = """
import gymnasium
import fives_env
env = gymnasium.make("fives_env/FivesAndThrees-v0")
env.reset(seed=1)
print(env.step(int(env.unwrapped.action_masks().argmax()))[1])
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, without any compiled code."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("fives_env", "agents", "eval", "train"):
        ignored = shutil.ignore_patterns("__pycache__", "models")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    (copy / "small.py").write_text(SMALL)
    (copy / "play.py").write_text(PLAY)
    return copy


@pytest.fixture
def clean(checkout: Path) -> Iterator[Path]:
    """The checkout; what was compiled in it is taken away in the end."""
    yield checkout
    for folder in checkout.rglob("numba-*"):
        shutil.rmtree(folder)


def start(checkout: Path, home: Path, program: str = "small.py", **environment: str) -> str:
    """Runs a program; what it prints to stdout and stderr."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    kept.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        [sys.executable, program],
        cwd=checkout,
        env={**kept, "PYTHONPATH": str(checkout), "HOME": str(home), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + done.stderr


def folders(place: Path) -> list[Path]:
    return sorted(place.rglob("numba-*"))


def test_one_key_covers_what_is_compiled_and_its_constants() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in code_cache.sources()}
    assert {"fives_env/engine/turns.py", "fives_env/tiles.py", "fives_env/records.py"} <= names
    assert {"agents/search/solver.py", "agents/search/goals.py", "eval/arena/loops.py"} <= names
    assert {"train/selfplay/rollout/steps.py", "agents/heuristics/tactic.py"} <= names
    assert "fives_env/rendering/picture.py" not in names


def test_code_is_compiled_once_beside_the_sources(clean: Path, tmp_path: Path) -> None:
    first = start(clean, tmp_path)
    assert "compiling" in first
    assert folders(clean / "fives_env" / "__pycache__")
    assert not folders(tmp_path)
    assert start(clean, tmp_path) == first.splitlines()[0] + "\n"


def test_an_edit_in_a_callee_is_seen_by_its_caller(clean: Path, tmp_path: Path) -> None:
    """Across folders: small.py calls keys.py, and its own file stays as it is."""
    first = start(clean, tmp_path).splitlines()[0]
    path = clean / "fives_env/engine/keys.py"
    text = path.read_text()
    try:
        path.write_text(text.replace("np.uint64(bound)", "np.uint64(1)"))
        assert start(clean, tmp_path).splitlines()[0] == "0" != first
    finally:
        path.write_text(text)
    assert start(clean, tmp_path) == first + "\n", "the first version is kept"


def test_X09_NUMBA_CACHE_DIR_comes_first(clean: Path, tmp_path: Path) -> None:
    assert "compiling" in start(clean, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "chosen"))
    assert folders(tmp_path / "chosen")
    assert not folders(clean)
    assert "compiling" not in start(clean, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "chosen"))


def block(folder: Path) -> None:
    """Puts a file where a folder would be made: for root too, nothing can be written there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.touch()


def test_X09_where_nothing_can_be_written_a_folder_is_shared_and_removed(
    clean: Path, tmp_path: Path
) -> None:
    block(clean / "fives_env/__pycache__")
    (tmp_path / ".cache").touch()
    passing = tmp_path / "passing"
    (passing / f"fives_env-{2**22 + 1}-left").mkdir(parents=True)  # no process has this number
    (clean / "two.py").write_text(
        "import os, subprocess, sys\n"
        "import small\n"
        "subprocess.run([sys.executable, '-c', 'import small'], check=True)\n"
        "print(len(os.listdir(os.environ['TMPDIR'])))\n"
    )
    try:
        said = start(clean, tmp_path, "two.py", TMPDIR=str(passing))
    finally:
        (clean / "fives_env/__pycache__").unlink()
    assert said.count("compiling, once") == 1
    assert said.count("cannot be written to") == 1
    assert str(tmp_path / ".cache") in said
    assert "\n1\n" in said
    assert not list(passing.iterdir())


def test_X09_a_cache_that_can_be_read_is_used(clean: Path, tmp_path: Path) -> None:
    """Even though the next place could be written to, and after the files were copied."""
    start(clean, tmp_path)
    (folder,) = folders(clean)
    copied = tmp_path / "image"
    shutil.copytree(clean, copied)
    assert "compiling" not in start(copied, tmp_path)
    assert not folders(tmp_path / ".cache")
    shutil.copytree(folder, tmp_path / ".cache/fives_env" / folder.name)
    block(copied / "fives_env/__pycache__")
    assert "compiling" not in start(copied, tmp_path)


@pytest.mark.parametrize("damage", [b"", b"\x80\x04", b"nonsense"])
@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc"])
def test_X10_damaged_files_are_compiled_again_with_one_line(
    clean: Path, tmp_path: Path, kind: str, damage: bytes
) -> None:
    first = start(clean, tmp_path).splitlines()[0]
    (folder,) = folders(clean)
    for path in folder.rglob(kind):
        path.write_bytes(damage)
    said = start(clean, tmp_path)
    assert said.splitlines()[0] == first
    assert said.count(str(folder)) == 1
    assert "Traceback" not in said
    assert start(clean, tmp_path) == first + "\n", "it was mended"


def test_X11_works_where_NUMBA_DISABLE_JIT_is_set(clean: Path, tmp_path: Path) -> None:
    plain = start(clean, tmp_path)
    shutil.rmtree(folders(clean)[0])
    said = start(clean, tmp_path, NUMBA_DISABLE_JIT="1")
    assert said.splitlines()[0] == plain.splitlines()[0]
    assert said.count("NUMBA_DISABLE_JIT") == 1
    start(ROOT, tmp_path, str(clean / "play.py"), NUMBA_DISABLE_JIT="1")


def test_folders_of_old_versions_are_cleared(clean: Path, tmp_path: Path) -> None:
    place = clean / "fives_env/__pycache__"
    for number in range(9):
        (place / f"numba-{number}").mkdir(parents=True)
    start(clean, tmp_path)
    assert len(folders(clean)) == 5
