"""Export: every stored match as a row, whole or not at all."""

import csv
import sys
from pathlib import Path

import pytest

from eval.commands import Export, Tournament
from eval.tournament.command import run as run_tournament
from eval.tournament.export import COLUMNS, run


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small tournament."""
    folder = tmp_path_factory.mktemp("tournament")
    for rules in ("threes-and-fives:players=3", "fives-and-threes"):
        run_tournament(
            Tournament(agents=("greedy", "random"), rules=rules, pairs=4, seed=0, out=folder)
        )
    return folder


def test_csv_has_a_row_for_every_match(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "matches.csv"
    run(Export(results=results, out=out))
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert [int(row["match"]) for row in rows] == list(range(8 + 12))
    two, three = rows[0], rows[-1]
    assert two["rules"] == "fives-and-threes:players=2,target=61"
    assert (two["agent_0"], two["agent_1"], two["agent_2"]) == ("greedy", "random", "")
    assert [row["pair"] for row in rows[:8]] == list("0123") * 2
    assert max(int(two["score_0"]), int(two["score_1"])) == 61
    assert (two["score_2"], two["score_3"]) == ("", "")
    assert len(bytes.fromhex(two["moves"])) == int(two["num_moves"])
    assert three["agent_2"] == "random" or three["agent_2"] == "greedy"
    assert rows[0]["deals_seed"] == rows[4]["deals_seed"]
    assert rows[0]["deal"] == rows[4]["deal"]


def test_parquet_without_pyarrow(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"pyarrow: pip install --group parquet"):
        run(Export(results=results, out=tmp_path / "matches.parquet"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [("matches.xlsx", r"must end in \.csv or \.parquet"), ("", "is a folder")],
)
def test_bad_file(results: Path, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(Export(results=results, out=tmp_path / name))


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not there"):
        run(Export(results=tmp_path, out=tmp_path / "x.csv"))


def test_half_a_file_is_not_left(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> object:
        yield ("one",)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eval.tournament.export.stored", failing)
    monkeypatch.setattr("eval.tournament.export._row", lambda row: row)
    with pytest.raises(OSError, match="No space"):
        run(Export(results=results, out=tmp_path / "x.csv"))
    assert list(tmp_path.iterdir()) == []
