"""What was found, as tables for the terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table

from agents import tables as terminal
from agents.terminal import say


@contextmanager
def telling(first: str, words: str = "{}") -> Iterator[Callable[[str], None]]:
    """Says on a terminal what is being done, and how that goes on; silence elsewhere."""
    if not sys.stderr.isatty():
        yield lambda what: None
        return
    with Console(stderr=True).status(first) as status:
        yield lambda what: status.update(words.format(what))


def print_tournament(summary: dict[str, Any]) -> None:
    """Prints who met whom, and the ratings."""
    for table in tournament_tables(summary):
        terminal.print_table(table)
    lead = summary["first_lead"]
    if lead and lead["low"] < lead["high"]:
        share = f"{lead['value']:.1%} [{100 * lead['low']:.1f}, {100 * lead['high']:.1f}]"
        print(f"whoever plays, the side that leads first wins {share} of the matches")


def tournament_tables(summary: dict[str, Any]) -> Iterator[Table]:
    """Who met whom, who sat at tables of several, and the ratings."""
    if summary["pairings"]:
        yield terminal.table(
            summary["rules"],
            ("a", "b"),
            ("a wins [95 %]", "points a round [95 %]", "matches", "deals"),
            [(row["a"], row["b"], *pairing_cells(row)) for row in summary["pairings"]],
        )
    if summary["tables"]:
        yield terminal.table(
            summary["rules"],
            ("table", "agent"),
            ("wins [95 %]", "points a round [95 %]", "matches", "deals"),
            [
                (str(number), one["agent"], *pairing_cells({**table, **one}))
                for number, table in enumerate(summary["tables"], 1)
                for one in table["agents"]
            ],
        )
    if tested := [row for row in summary["pairings"] if "sprt" in row]:
        first = tested[0]["sprt"]
        yield terminal.table(
            f"Sequential test: {first['low']:+g} or {first['high']:+g} Elo between a and b",
            ("a", "b", "a is"),
            ("pairs",),
            [
                (row["a"], row["b"], row["sprt"]["verdict"] or "open", f"{row['sprt']['pairs']:,}")
                for row in tested
            ],
        )
    yield terminal.table(
        f"Elo ratings, {summary['anchor']} = 0",
        ("agent",),
        ("rating [95 %]",),
        [(row["agent"], rating_cell(row)) for row in summary["ratings"]],
    )


def print_benchmark(document: dict[str, Any]) -> None:
    """Prints the speeds, and the ratios beside what is wanted."""
    print_table(
        "Speed, best turn",
        ("what", "rules"),
        ("batch", "threads", "a second", "unit"),
        [speed_cells(row) for row in document["rows"]],
    )
    for row in document["rows"]:
        if row["batch"] > 1 and "parts_ns" in row and row["threads"] == 1:
            say(f"{row['what']}, batch {row['batch']:,}: {where_time_goes(row)}")
    for row in document["errors"]:
        say(f"not measured: {row['what']}: {row['error']}")
    print_table(
        "Ratios from this run",
        ("what", "met"),
        ("ratio", "wanted"),
        [ratio_cells(row) for row in document["ratios"]],
    )


def speed_cells(row: dict[str, Any]) -> tuple[str, ...]:
    """A row of the benchmark."""
    speed = f"{row['per_second']:,.0f}"
    return row["what"], row["rules"], f"{row['batch']:,}", str(row["threads"]), speed, row["unit"]


def where_time_goes(row: dict[str, Any]) -> str:
    """The parts of a row of the benchmark, in words."""
    parts = (
        f"{name} {spent:,.0f} ns{' (apart)' if name in row.get('apart', ()) else ''}"
        for name, spent in row["parts_ns"].items()
    )
    return ", ".join(parts)


def ratio_cells(row: dict[str, Any]) -> tuple[str, ...]:
    """A ratio of the benchmark: what, whether it is as wanted, the value, what is wanted."""
    met = {True: "yes", False: "NO", None: ""}[row["met"]]
    value = "not measured" if row["value"] is None else quotient(row["value"])
    return row["what"], met, value, row["wanted"]


def quotient(value: float) -> str:
    """A ratio with as many digits as it is worth."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def pairing_cells(row: dict[str, Any]) -> tuple[str, str, str, str]:
    """Win rate, points a round, matches and distinct deals of a pairing of summary.json."""
    points = f"{row['points_per_round']:+.2f}"
    if row["points_low"] is not None:
        points += f" [{row['points_low']:+.2f}, {row['points_high']:+.2f}]"
    return (
        f"{row['win_rate']:.1%} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]",
        points,
        f"{row['matches']:,}",
        f"{row['distinct_deals']:,}",
    )


def rating_cell(row: dict[str, Any]) -> str:
    """A rating of summary.json with its interval."""
    return f"{row['rating']:+.0f} [{row['low']:+.0f}, {row['high']:+.0f}]"


def print_table(
    title: str, words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Prints a table: first columns of words, then columns of numbers."""
    terminal.print_table(terminal.table(title, words, numbers, rows))
