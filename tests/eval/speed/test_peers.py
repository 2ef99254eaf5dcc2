"""The peers' side of the benchmark, without installing or downloading anything."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval.speed.peers import aec_loop, venv

ROW = {"what": "a peer", "per_second": 1.5}
FAILED = {"what": "another", "error": "ImportError: no"}
POSIX = pytest.mark.skipif(os.name != "posix", reason="the stand-in Python is a shell script")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "fives"


def fake_calls(monkeypatch: pytest.MonkeyPatch, fail: str = "") -> list[str]:
    """Puts a stand-in in place of `venv` and `pip`; returns the list of what was run."""
    calls: list[str] = []

    def call(command: list[str], doing: str) -> None:
        calls.append("pip" if "pip" in command else "venv")
        if calls[-1] == fail:
            raise venv.PeersError(f"{doing} failed")
        if calls[-1] == "venv":
            python = venv.venv_python(Path(command[-1]))
            python.parent.mkdir(parents=True)
            python.touch()

    monkeypatch.setattr(venv, "_call", call)
    return calls


def fake_python(folder: Path, script: str) -> Path:
    """A program that stands in for the venv's Python."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def run_measure(*args: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs `measure.py` with the Python of the tests, which has few of the peers or none."""
    env = {**os.environ, "PYTHONPATH": str(path)} if path else dict(os.environ)
    command = [sys.executable, str(venv.MEASURE), "--seconds", "0.01", *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_venv_is_made_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake_calls(monkeypatch)
    python = venv.ensure_venv()
    assert python.is_relative_to(cache)
    assert venv.ensure_venv() == python
    assert calls == ["venv", "pip"]


@pytest.mark.parametrize("fail", ["venv", "pip"])
def test_half_made_venv_is_made_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch, fail: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_calls(monkeypatch, fail=fail)
    with pytest.raises(venv.PeersError, match="failed"):
        venv.ensure_venv()
    assert not venv.is_finished(venv.venv_folder())
    left = venv.venv_folder() / "left over"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.touch()
    calls = fake_calls(monkeypatch)
    capsys.readouterr()
    venv.ensure_venv()
    assert calls == ["venv", "pip"]
    assert not left.exists()
    assert "left half made" in capsys.readouterr().err


def test_venv_whose_python_went_is_made_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake_calls(monkeypatch)
    venv.ensure_venv().unlink()
    venv.ensure_venv()
    assert calls == ["venv", "pip"] * 2


def test_other_requirements_have_another_venv(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = venv.venv_folder()
    other = tmp_path / "requirements.txt"
    other.write_text("dominoes==6.1.0\n")
    monkeypatch.setattr(venv, "REQUIREMENTS", other)
    assert venv.venv_folder() != before
    assert venv.venv_folder().parent == before.parent == cache


def test_unwritable_cache_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(venv.PeersError, match=r"\Acannot make the peers' venv in .+\Z"):
        venv.ensure_venv()


@POSIX
def test_pip_error_is_one_line(tmp_path: Path) -> None:
    pip = fake_python(tmp_path, "echo Collecting x; echo 'ERROR: No matching x' >&2; exit 1")
    with pytest.raises(venv.PeersError, match=r"\Ainstalling failed .+: ERROR: No matching x\Z"):
        venv._call([str(pip)], "installing")


@POSIX
def test_run_peers_returns_rows_then_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = json.dumps({"rows": [ROW], "errors": [FAILED]})
    python = fake_python(tmp_path, f"echo \"$@\" >&2; echo '{document}'")
    monkeypatch.setattr(venv, "ensure_venv", lambda: python)
    assert venv.run_peers(0.1, None) == [ROW, FAILED]


@POSIX
def test_cpu_and_environment_reach_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    script = 'echo "$@" $PYTHONPATH > "$0.args"; echo \'{"rows": [], "errors": []}\''
    python = fake_python(tmp_path, script)
    venv.measure(python, 0.5, 3)
    said = (tmp_path / "python.args").read_text().split()
    assert said == [str(venv.MEASURE), "--seconds", "0.5", "--cpu", "3"]


@POSIX
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo nonsense", "printed no rows but b'nonsense"),
        ('echo \'{"rows": [{}], "errors": []}\'', "printed no rows"),
        ("exit 3", "exit code 3"),
    ],
)
def test_bad_measure_is_one_line(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(venv.PeersError, match=message):
        venv.measure(fake_python(tmp_path, script), 0.1, None)


def test_python_that_is_not_there() -> None:
    with pytest.raises(venv.PeersError, match="cannot run"):
        venv.measure(Path("/nowhere/python"), 0.1, None)


def test_missing_and_crashing_peers_are_errors(tmp_path: Path) -> None:
    (tmp_path / "pyspiel.py").write_text("raise ImportError('no\\nsuch thing')")
    (tmp_path / "pgx.py").write_text("print('noise'); import os; os._exit(7)")
    (tmp_path / "jax.py").write_text("")
    (tmp_path / "dominoes.py").write_text("print('noise')")
    done = run_measure(path=tmp_path)
    assert done.returncode == 0, done.stderr
    document = venv.parse(done.stdout.encode())
    errors = {(row["what"], row["batch"]): row["error"] for row in document["errors"]}
    assert errors["OpenSpiel python_block_dominoes", 1] == "ImportError: no such thing"
    assert errors["Pgx connect_four", 65536] == "its process ended with exit code 7"
    assert errors["PyPI dominoes", 1].startswith("AttributeError")
    assert len(document["rows"]) + len(document["errors"]) == 9


def test_pettingzoo_where_it_imports() -> None:
    done = run_measure("--peer", "pettingzoo")
    row: dict[str, Any] = json.loads(done.stdout)
    assert row["what"] == "PettingZoo connect_four_v3"
    if importlib.util.find_spec("pygame") is None:
        assert "pettingzoo[classic]" in row["error"]
    else:
        assert row["per_second"] > 0
        assert row["unit"] == "steps/s"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--seconds", "0"), "must be more than 0, not 0"),
        (("--seconds", "nan"), "must be more than 0, not nan"),
        (("--peer", "chess"), "invalid choice: 'chess'"),
        pytest.param(
            ("--cpu", "9999"),
            "core 9999 is not one of those at hand",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="pinning is Linux's"),
        ),
    ],
)
def test_bad_arguments(args: tuple[str, ...], message: str) -> None:
    done = run_measure(*args)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


class CountingEnv:
    """An AEC env of two agents and five actions, which checks how it is driven."""

    def __init__(self) -> None:
        self.actions: list[Any] = []
        self.masks: list[Any] = []
        self.resets: list[int | None] = []
        self.closed = False

    def reset(self, seed: int | None = None) -> None:
        self.resets.append(seed)
        self.left = 7

    def agent_iter(self) -> Any:
        while self.left:
            self.left -= 1
            yield "agent"

    def last(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return {"action_mask": self.left}, 0.0, self.left < 2, False, {}

    def action_space(self, agent: str) -> CountingEnv:
        return self

    def sample(self, mask: Any) -> int:
        self.masks.append(mask)
        return 4

    def step(self, action: int | None) -> None:
        self.actions.append(action)

    def close(self) -> None:
        self.closed = True


def test_aec_loop_plays_as_documented() -> None:
    env = CountingEnv()
    env.reset()
    assert aec_loop.play_aec_game(env) == 5
    assert env.actions == [4] * 5 + [None] * 2
    assert env.masks == [6, 5, 4, 3, 2]


def test_aec_rate_resets_and_closes() -> None:
    env = CountingEnv()
    assert aec_loop.aec_rate(lambda: env, 0.01).per_second > 0
    assert env.resets[:2] == [0, None]
    assert env.closed


def test_mask_in_info_is_found() -> None:
    assert aec_loop._mask_of([0.0], {"action_mask": "here"}) == "here"


def test_best_rate_keeps_the_fastest() -> None:
    rate = aec_loop.best_rate(lambda: 10, 0.001, repeats=3)
    assert rate.seconds >= 0.001
    assert rate.per_second == pytest.approx(rate.steps / rate.seconds)
