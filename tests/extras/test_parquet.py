"""Export as Parquet."""

import csv
from pathlib import Path

from pyarrow import parquet

from eval.commands import Export, Tournament
from eval.tournament.command import run as run_tournament
from eval.tournament.export import COLUMNS, run


def test_parquet_is_the_same_table(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for rules in ("threes-and-fives:players=3", "fives-and-threes"):
        run_tournament(
            Tournament(agents=("greedy", "random"), rules=rules, pairs=4, seed=0, out=results)
        )
    run(Export(results=results, out=tmp_path / "matches.parquet"))
    run(Export(results=results, out=tmp_path / "matches.csv"))
    columns = parquet.read_table(tmp_path / "matches.parquet").to_pydict()
    with (tmp_path / "matches.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for name in COLUMNS:
        texts = ["" if value is None else str(value) for value in columns[name]]
        assert texts == [row[name] for row in rows], name
