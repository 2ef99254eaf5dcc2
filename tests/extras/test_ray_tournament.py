"""Tournaments on Ray: the same results to the byte, and a worker that is killed loses nothing."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.arena.cluster import LOCAL, play_on_ray
from eval.commands import Export, Tournament
from eval.tournament import export
from eval.tournament.command import run

ray = pytest.importorskip("ray")
AGENTS = ("greedy", "random", "greedy")


def contents(folder: Path) -> list[bytes]:
    """What a tournament left, as bytes."""
    export.run(Export(results=folder, out=folder / "matches.csv"))
    return [(folder / name).read_bytes() for name in ("summary.json", "matches.csv")]


def descendants(of: int) -> Iterator[tuple[int, str]]:
    """Processes that this one started, and those that they started: ids and command lines."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue  # it has ended meanwhile
        if parent == of:
            yield int(entry.name), command
            yield from descendants(int(entry.name))


def kill_a_busy_worker(killed: list[int]) -> None:
    """Kills the first process that plays a block; gives up after a minute."""
    for _ in range(600):
        for process, command in descendants(os.getpid()):
            if command.startswith("ray::play_block"):
                os.kill(process, signal.SIGKILL)
                killed.append(process)
                return
        time.sleep(0.1)


def test_the_same_to_the_byte_although_a_worker_is_killed(tmp_path: Path) -> None:
    run(Tournament(agents=AGENTS, pairs=300, seed=0, out=tmp_path / "here"))
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_busy_worker, args=(killed,))
    killer.start()
    options = Tournament(
        agents=AGENTS, pairs=300, block=25, seed=0, out=tmp_path / "ray", ray=LOCAL, workers=2
    )
    run(options)
    killer.join()
    assert len(killed) == 1
    assert not ray.is_initialized()
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")


def test_no_cluster_at_the_address() -> None:
    with pytest.raises(
        ValueError, match=r"--ray 127\.0\.0\.1:1: there is no such cluster"
    ) as refusal:
        list(play_on_ray(iter(()), "127.0.0.1:1", 1))
    assert "\n" not in str(refusal.value)


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"pip install --group ray"):
        list(play_on_ray(iter(()), LOCAL, 1))
