"""The benchmark: what it writes, and how ratios come about. Not how fast this machine is."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agents import command_line
from eval import provenance
from eval.commands import Benchmark
from eval.speed import command as benchmark
from eval.speed import long_run, timing
from eval.speed.peers.venv import PeersError
from eval.speed.ratios import Ratio, ratios
from eval.speed.timing import Piece, Workload
from eval.speed.workloads import agents as workloads_agents
from eval.speed.workloads import library as ours
from eval.speed.workloads import training as workloads_training
from train.sb3.config import Sb3
from train.selfplay.config import Selfplay


def few(threads: tuple[int, ...]) -> list[Workload]:
    """A workload of each kind, small."""
    return [
        ours.rollout(ours.FIVES_AND_THREES, 16),
        ours.rollout(ours.PARTNERS, 4, threads=2),
        ours.batch_step(64),
        ours.views(ours.PARTNERS, 8),
        ours.masks(ours.PARTNERS, 8, threads=2),
        ours.features(ours.PARTNERS, 8),
        ours.clone(ours.PARTNERS, 4),
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
    agents = ("random", "greedy", "grady")
    path = tmp_path / "new" / "b.json"
    benchmark.run(Benchmark(json=path, peers=True, seconds=0.01, agents=agents))
    document = json.loads((tmp_path / "new" / "b.json").read_text())
    assert (tmp_path / "new" / "b.png").stat().st_size > 10_000
    rows = document["rows"]
    assert len(rows) == 11 + 3 * 2
    for row in rows:
        assert {"what", "rules", "batch", "threads", "per_second", "unit"} <= set(row)
        assert row["per_second"] > 0
    assert document["errors"][-1] == failed
    assert [row["what"] for row in document["errors"][:-1]] == ["decision of grady"] * 3
    assert "did you mean greedy?" in document["errors"][0]["error"]
    assert {row.get("agent") for row in rows} == {None, "random", "greedy"}
    assert (tmp_path / "new" / "b.agents.png").stat().st_size > 10_000
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
    assert seen[-1] == {provenance.LAST_CORE}
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
        own(ours.CLONE, ours.FIVES_AND_THREES, ours.BATCH, 2e9 / 150),
        peer("OpenSpiel python_block_dominoes", 1e4),
        peer("Pgx connect_four", 1.0),
        peer("Pgx connect_four", 1e6, 65536),
        peer("train sb3", 3000.0),
        peer("train selfplay", 6000.0),
        peer("train selfplay, without advice", 7500.0),
    ]
    first, second, third, cost, choice, copies, *unmeasured, same, selfplay = ratios(rows)
    assert (first.value, first.met) == (2000, True)
    assert (second.value, second.met) == (18, False)
    assert (third.value, third.met) == (0.25, False)
    assert cost.value == pytest.approx(3.0)
    assert cost.met
    assert choice.value == pytest.approx(4.0)
    assert choice.met is None
    assert (copies.value, copies.met) == (pytest.approx(2), True)
    assert [ratio.value for ratio in unmeasured] == [None] * 3
    assert (same.value, same.met) == (2.5, True)
    assert (selfplay.value, selfplay.met) == (2.0, None)


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

    monkeypatch.setattr(benchmark, "all_workloads", lambda threads: [ours.clone(ours.PARTNERS, 1)])
    monkeypatch.setattr(benchmark, "run_peers", failing)
    with pytest.raises(ValueError, match="pip failed"):
        benchmark.run(Benchmark(json=tmp_path / "b.json", peers=True, seconds=0.01, agents=()))


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "all_workloads", lambda threads: [ours.clone(ours.PARTNERS, 1)])


def test_comparison_with_an_older_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick(monkeypatch)
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    benchmark.run(Benchmark(json=first, seconds=0.01, agents=()))
    document = json.loads(first.read_text())
    document["rows"][0]["per_second"] /= 1000
    document["rows"].append(peer("of another machine", 3.0))
    first.write_text(json.dumps(document))
    benchmark.run(Benchmark(json=second, seconds=0.01, agents=(), compare=first))
    (row,) = json.loads(second.read_text())["comparison"]["rows"]
    assert row["what"] == ours.CLONE
    assert row["ratio"] == pytest.approx(row["new"] / row["old"])
    assert row["ratio"] > 10
    assert "median of 1 ratios" in capsys.readouterr().out
    assert second.with_suffix(".comparison.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"rows": [{}]}', '{"rows": [{"per_second": 0}]}', '{"rows": 3}']
)
def test_file_of_another_kind_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr(benchmark, "measure", lambda options: pytest.fail("measured"))
    old = tmp_path / "old.json"
    old.write_text(content)
    with pytest.raises(ValueError, match=r"old.json is damaged"):
        benchmark.run(Benchmark(json=tmp_path / "b.json", compare=old))


def test_training_speed_is_that_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are ones that python -m train takes; the run's own file has the numbers."""
    kinds = {"sb3": Sb3, "selfplay": Selfplay}

    def train(arguments: list[str], environment: dict[str, str]) -> None:
        way, *arguments = arguments
        assert environment == {"OMP_NUM_THREADS": "1"}
        config = command_line.read(kinds[way], "train", "", arguments)
        assert (config.seconds, config.threads) == (pytest.approx(9.0), 1)
        assert config.evaluate_every > 1000
        config.out.mkdir()
        lines = ["decisions,seconds,opponent", "0,0.0,greedy", "4000,8.0,greedy"]
        (config.out / "evaluations.csv").write_text("\n".join(lines) + "\n")

    monkeypatch.setattr(workloads_training, "train", train)
    rows = workloads_training.training_rows(ours.FIVES_AND_THREES, 9.0)
    assert [(row["what"], row["per_second"]) for row in rows] == [
        ("train sb3", 500.0),
        ("train selfplay", 500.0),
        ("train selfplay, without advice", 500.0),
    ]


def test_training_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads_training, "WAYS", {"train sleep": ("sleep",)})
    (row,) = workloads_training.training_rows(ours.FIVES_AND_THREES, 1.0)
    assert "unknown command 'sleep'" in row["error"]
    assert "per_second" not in row


def test_B62_long_runs_tell_speed_and_memory() -> None:
    rows = long_run.long_runs(ours.FIVES_AND_THREES, resets=2000, steps=400_000)
    assert [row["times"] for row in rows] == [2000, 200 * 1024]
    for row in rows:
        assert len(row["by_tenth"]) == 10
        assert row["last_per_second"] > 0.2 * row["first_per_second"]
        if sys.platform == "linux":
            assert row["grown_bytes"] < 20_000_000


def test_B61_search_counts_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of 50 a decision, in positions that leave a choice."""
    asked = []

    class Searcher:
        def act(self, views: Any, masks: Any, keys: Any) -> Any:
            asked.append(masks.sum(axis=1).min())
            return masks.argmax(axis=1)

    monkeypatch.setattr(workloads_agents, "make_agent", lambda spec: Searcher())
    work = workloads_agents.search("searcher", 50, "worlds/s")
    units, _ = work.play()
    assert units == 50 * workloads_agents.BATCH
    assert min(asked) > 1


def test_agents_that_cannot_play_are_told() -> None:
    found, errors = workloads_agents.agent_workloads(["greedy", "model:/nowhere"])
    assert [work.agent for work in found] == ["greedy"] * 3
    assert len({work.rules for work in found}) == 3
    assert len(errors) == 3
    assert "/nowhere" in errors[0]["error"]


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_bad_training_time(tmp_path: Path, seconds: float) -> None:
    with pytest.raises(ValueError, match="--training"):
        benchmark.run(Benchmark(json=tmp_path / "b.json", training=seconds))
