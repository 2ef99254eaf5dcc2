"""The benchmark: what it writes, and how ratios come about. Not how fast this machine is."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from eval import benchmark, machine, timing
from eval import workloads as ours
from eval.commands import Benchmark
from eval.peers.venv import PeersError
from eval.ratios import Ratio, ratios
from eval.timing import Piece, Workload


def few(threads: tuple[int, ...]) -> list[Workload]:
    """A workload of each kind, small."""
    return [
        ours.rollout(ours.FIVES_AND_THREES, 16),
        ours.rollout(ours.PARTNERS, 4, threads=2),
        ours.batch_step(64),
        ours.features(),
        ours.clone(4),
        ours.vector_env(),
        ours.aec_env(),
        ours.single_env(),
    ]


def peer(what: str, per_second: float, batch: int = 1) -> dict[str, Any]:
    row = {"what": what, "rules": "theirs", "batch": batch, "threads": 1}
    return {**row, "per_second": per_second, "unit": "steps/s"}


def test_rows_and_plot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmark, "all_workloads", few)
    failed = {"what": "RLCard uno", "rules": "UNO", "batch": 1, "error": "ImportError: no"}
    peers = [peer("PettingZoo connect_four_v3", 1.0), failed]
    monkeypatch.setattr(benchmark, "run_peers", lambda seconds, cpu: peers)
    benchmark.run(Benchmark(json=tmp_path / "new" / "b.json", peers=True, seconds=0.01))
    document = json.loads((tmp_path / "new" / "b.json").read_text())
    assert (tmp_path / "new" / "b.png").stat().st_size > 10_000
    rows = document["rows"]
    assert len(rows) == 9
    for row in rows:
        assert {"what", "rules", "batch", "threads", "per_second", "unit"} <= set(row)
        assert row["per_second"] > 0
    assert document["errors"] == [failed]
    aec = next(ratio for ratio in document["ratios"] if ratio["what"].startswith("AEC"))
    assert aec["value"] > 100
    assert aec["met"]
    said = capsys.readouterr().out
    assert "at least 1,000" in said
    assert "not measured: RLCard uno: ImportError: no" in said


def test_choice_of_actions_is_apart_but_told() -> None:
    (row,) = timing.measure([ours.batch_step(32)], 0.03, lambda what: None)
    assert set(row["parts_ns"]) == {"choose", "step", "restart", "mask", "view"}
    counted = sum(spent for name, spent in row["parts_ns"].items() if name != "choose")
    assert row["per_second"] == pytest.approx(1e9 / counted)


def test_best_turn_counts() -> None:
    speeds = iter([9.0, 1.0, 5.0, 2.0, 4.0, 3.0])
    work = Workload("w", "r", 1, "steps/s", "", lambda: (10, {"all": 1 / next(speeds)}))
    (row,) = timing.measure([work], 1e-9, lambda what: None)
    assert row["per_second"] == pytest.approx(50)  # the first call only warms up


@pytest.mark.skipif(sys.platform != "linux", reason="pinning is Linux's")
def test_affinity_is_given_back() -> None:
    before = os.sched_getaffinity(0)
    seen = []

    def play() -> Piece:
        seen.append(os.sched_getaffinity(0))
        return 1, {"all": 1.0}

    timing.measure([Workload("w", "r", 1, "x", "", play)], 1e-9, lambda what: None)
    assert seen[-1] == {machine.LAST_CORE}
    assert os.sched_getaffinity(0) == before


def test_ratios_of_one_run() -> None:
    def own(what: str, rules: str, batch: int, per_second: float) -> dict[str, Any]:
        row = {**peer(what, per_second, batch), "rules": rules}
        return {**row, "parts_ns": {"choose": 50.0, "step": 150.0}, "apart": ["choose"]}

    rows = [
        own(ours.ROLLOUT, ours.FIVES_AND_THREES, ours.BATCH, 20e6),
        own(ours.ROLLOUT, ours.FIVES_AND_THREES, 65536, 18e6),
        own(ours.ROLLOUT, ours.PARTNERS, ours.BATCH, 5e6),
        own(ours.STEP, ours.FIVES_AND_THREES, ours.BATCH, 1e9 / 150),
        peer("OpenSpiel python_block_dominoes", 1e4),
        peer("Pgx connect_four", 1.0),
        peer("Pgx connect_four", 1e6, 65536),
    ]
    first, second, third, cost, choice, *unmeasured = ratios(rows)
    assert (first.value, first.met) == (2000, True)
    assert (second.value, second.met) == (18, False)
    assert (third.value, third.met) == (0.25, False)
    assert cost.value == pytest.approx(3.0)
    assert cost.met
    assert choice.value == pytest.approx(4.0)
    assert choice.met is None
    assert [ratio.value for ratio in unmeasured] == [None] * 3


def test_ratio_in_words() -> None:
    assert Ratio("x", 3.0, at_least=1000).wanted == "at least 1,000"
    assert Ratio("x", 3.0, at_most=4).wanted == "at most 4"
    assert Ratio("x", 3.0).met is None
    assert Ratio("x", 5.0, at_most=4).met is False


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_bad_seconds(tmp_path: Path, seconds: float) -> None:
    with pytest.raises(ValueError, match=r"--seconds .* must be more than 0"):
        benchmark.run(Benchmark(json=tmp_path / "b.json", seconds=seconds))


def test_peers_that_cannot_be_installed_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(seconds: float, cpu: int | None) -> list[dict[str, Any]]:
        raise PeersError("installing the peers with pip failed")

    monkeypatch.setattr(benchmark, "all_workloads", lambda threads: [ours.clone(1)])
    monkeypatch.setattr(benchmark, "run_peers", failing)
    with pytest.raises(ValueError, match="pip failed"):
        benchmark.run(Benchmark(json=tmp_path / "b.json", peers=True, seconds=0.01))
