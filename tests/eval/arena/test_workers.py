"""Workers: whoever plays a block, it is the same block; one that is lost is played again."""

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.arena import workers
from eval.arena.paired import play
from eval.arena.schedule import Meeting
from eval.arena.workers import LOST, Block, Outcome, play_block, play_here, play_in_processes
from eval.commands import Export, Tournament
from eval.tournament import export
from eval.tournament.command import run
from fives_env.policies import BuiltIn, Policy
from fives_env.rules import Rules
from tests.agents.material import random_model

RULES = Rules.preset("fives-and-threes")
AGENTS = ("greedy", "random")
MEETING = Meeting(RULES.spec, 5, AGENTS)
SALT = 3


def policy_of(name: str, identity: str) -> Policy:
    """One of the two."""
    assert name == identity
    return BuiltIn(name)


def blocks(number: int, size: int) -> Iterator[Block]:
    """Blocks of the meeting."""
    for start in range(0, number * size, size):
        yield Block(MEETING, AGENTS, tuple(range(start, start + size)), SALT)


def lines(outcomes: list[Outcome]) -> Any:
    """The hashes of all matches, by pair."""
    assert [outcome.error for outcome in outcomes] == [""] * len(outcomes)
    played = sorted(outcomes, key=lambda outcome: outcome.block.pairs)
    return np.concatenate([one.matches.lines for one in played if one.matches]).tolist()


def test_a_block_is_what_the_arena_plays() -> None:
    (outcome,) = play_here(blocks(1, 6), policy_of)
    alone = play(RULES, BuiltIn("greedy"), BuiltIn("random"), 5, np.arange(6))
    assert lines([outcome]) == alone.lines.tolist()


def test_an_error_is_one_line() -> None:
    def failing(name: str, identity: str) -> Policy:
        raise OSError(f"{name}\nis away")

    block = next(blocks(1, 2))
    assert play_block(block, failing) == Outcome(block, None, "OSError: greedy is away")


def test_processes_play_the_same_and_a_killed_one_loses_nothing() -> None:
    whole = lines(list(play_here(blocks(20, 20), policy_of)))
    before = dict(os.environ)
    outcomes = []
    for outcome in play_in_processes(blocks(20, 20), 2):
        outcomes.append(outcome)
        if len(outcomes) == 4:
            killed = multiprocessing.active_children()[0]
            killed.kill()
            killed.join()
    assert len(outcomes) == 20
    assert lines(outcomes) == whole
    assert multiprocessing.active_children() == []
    assert dict(os.environ) == before


def test_a_block_that_ends_its_process_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_serve", _end)  # found by name in the new process, as it is here
    monkeypatch.setattr(workers, "MAX_LOSSES", 2)
    found = list(play_in_processes(blocks(1, 2), 2))
    assert [outcome.error for outcome in found] == [LOST]
    assert multiprocessing.active_children() == []


def _end(pipe: Any) -> None:
    os._exit(1)


def test_results_are_the_same_to_the_byte_whoever_plays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of the agents fails: a model that was trained for another game."""
    model = f"model:{random_model(tmp_path / 'model', 'all-fives')}"
    contents = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        agents = ("greedy", "random", "greedy", model)
        with pytest.raises(SystemExit) as stop:
            run(Tournament(agents=agents, pairs=60, seed=0, out=folder, workers=number))
        assert stop.value.code == 1
        said = capsys.readouterr()
        assert f"error: greedy against {model}: the model was trained for" in said.err
        assert "120 pairs played" in said.out
        export.run(Export(results=folder, out=folder / "matches.csv"))
        contents.append([(folder / name).read_bytes() for name in ("summary.json", "matches.csv")])
    assert contents[0] == contents[1]


def test_leaving_early_leaves_no_process_behind() -> None:
    outcomes = play_in_processes(blocks(100, 20), 1)
    next(outcomes)
    assert len(multiprocessing.active_children()) == 1
    outcomes.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []
