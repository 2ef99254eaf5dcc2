"""The ladder: its file, going on where it stopped, and the picture."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from agents import make_agent
from eval.arena import paired as arena
from eval.commands import Ladder
from eval.ladder import command as ladder
from eval.ladder.plot import ladder as draw
from fives_env.rules import Rules

GAMES = ("fives-and-threes", "all-fives:players=4,partners=yes,target=50")


def options(folder: Path, **given: Any) -> Ladder:
    usual: dict[str, Any] = {"agents": ("random", "careful"), "rules": GAMES, "pairs": 30}
    return Ladder(json=folder / "s.json", plot=folder / "l.png", **usual | given)


def rows(folder: Path) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads((folder / "s.json").read_text())["rows"]
    return content


def test_every_agent_is_measured_in_every_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ladder.run(options(tmp_path))
    found = {(row["agent"], row["rules"]): row for row in rows(tmp_path)}
    assert len(found) == 4
    for row in found.values():
        assert row["pairs"] == 30
        assert 0 <= row["low"] <= row["win_rate"] <= row["high"] <= 1
        assert row["one_us"] > row["batch_us"] > 0
    fives = Rules.preset("fives-and-threes").spec
    careful, random = found["careful", fives], found["random", fives]
    assert careful["low"] > 0.4 > random["high"]
    assert careful["batch_us"] > random["batch_us"]
    shown = capsys.readouterr().out
    assert f"{100 * careful['win_rate']:.1f} [" in shown
    assert "Measured with: python -m eval ladder" in shown
    command = json.loads((tmp_path / "s.json").read_text())["command"]
    assert f"--agents random careful --rules {GAMES[0]} {GAMES[1]} --pairs 30 --json" in command
    assert imread(tmp_path / "l.png").shape[1] > 1000


def test_what_is_there_is_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[int] = []
    play = arena.play

    def counting(*arguments: Any) -> Any:
        played.extend(arguments[-1].tolist())
        return play(*arguments)

    monkeypatch.setattr(arena, "play", counting)
    monkeypatch.setattr(ladder, "save_ladder", lambda *_: None)
    ladder.run(options(tmp_path))
    first, count = rows(tmp_path), len(played)
    ladder.run(options(tmp_path))
    assert (rows(tmp_path), len(played)) == (first, count)
    ladder.run(options(tmp_path, agents=("greedy",)))  # another one is added to those there
    assert len(played) == count + 60
    assert rows(tmp_path)[:4] == first
    assert [row["win_rate"] for row in rows(tmp_path)[4:]] == [0.5, 0.5]
    ladder.run(options(tmp_path, pairs=40))  # more pairs replace what fewer gave
    assert [row["pairs"] for row in rows(tmp_path)] == [40, 40, 40, 40, 30, 30]


def test_blocks_are_the_pairs_of_one_go(tmp_path: Path) -> None:
    ladder.run(options(tmp_path, agents=("random",), rules=GAMES[:1], pairs=50))
    rules = Rules.from_spec(GAMES[0])
    whole = arena.play(rules, make_agent("random"), make_agent("greedy"), 0, np.arange(50))
    assert rows(tmp_path)[0]["win_rate"] == pytest.approx((whole.winner == [0, 1]).mean())


def test_time_ends_it_and_what_cannot_be_played_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("threes-and-fives:players=3", GAMES[0])
    agents = ("pimc:2,value=equity",)
    ladder.run(options(tmp_path, agents=agents, rules=few, pairs=100_000, seconds=0.1))
    (row,) = rows(tmp_path)
    assert 2 <= row["pairs"] < 1000
    assert row["seconds"] >= 0.1
    assert "not measured: pimc:2,value=equity in threes-and-fives:pl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pairs": 1}, "--pairs 1 is not a whole number from 2 up"),
        ({"seed": -1}, "--seed -1 is not"),
        ({"seconds": 0.0}, "--seconds 0 must be more than 0"),
        ({"agents": ("gredy",)}, "did you mean greedy"),
        ({"rules": ("chess",)}, "unknown game 'chess'"),
    ],
)
def test_bad_options_are_refused_before_anything_is_written(
    tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ladder.run(options(tmp_path, **given))
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text("{}")
    with pytest.raises(ValueError, match="is damaged"):
        ladder.run(options(tmp_path))


def test_the_picture_names_every_agent_and_joins_budgets() -> None:
    shares = {"random": 0.02, "greedy": 0.5, "pimc:4": 0.55, "pimc:64": 0.6}
    some = [
        {"agent": name, "rules": GAMES[0], "even": 0.5, "win_rate": share, "one_us": 10.0**at}
        | {"low": share - 0.01, "high": share + 0.01}
        for at, (name, share) in enumerate(shares.items())
    ]
    figure = draw({"opponent": "greedy", "rows": some})
    (axes,) = figure.axes
    assert {text.get_text() for text in axes.texts} == {"↓ random 2.0%", *list(shares)[1:]}
    assert any(len(line.get_xdata()) == 2 and line.get_color() for line in axes.lines)
    assert axes.get_ylim()[0] > 0.3
