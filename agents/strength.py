"""What ``python -m eval ladder`` has measured of the agents: agents/strength.json."""

from pathlib import Path
from typing import Any

from rich.table import Table

from fives_env.rules import Rules

from . import files, tables

FILE = Path(__file__).with_name("strength.json")
_ROW = {
    "agent": str,
    "rules": Rules.from_spec,
    "pairs": files.whole(1, 1 << 53),
    "win_rate": files.share,
    "low": files.share,
    "high": files.share,
    "one_us": files.positive,
    "batch_us": files.positive,
    "even?": files.share,
    "identity?": str,
    "seed?": int,
    "seconds?": float,
}
_SHAPE = {"command?": str, "opponent?": str, "machine?": {"processor": str}, "rows": [_ROW]}


def read(path: Path = FILE) -> dict[str, Any] | None:
    """The document: ``command``, ``opponent``, ``machine``, ``rows``; None where there is no file.

    A row is one agent under one set of rules: ``win_rate`` with its 95 % interval ``low`` to
    ``high`` over ``pairs`` against the opponent, and microseconds a move, ``one_us`` at one
    position a call and ``batch_us`` at many.

    Raises:
        ValueError: The file is damaged.
    """
    if not path.exists():
        return None
    try:
        return files.read_json(path, _SHAPE)  # type: ignore[no-any-return]
    except ValueError as error:
        raise ValueError(f"{error}; remove it, and python -m eval ladder makes it anew") from None


def table(document: dict[str, Any]) -> Table:
    """One line an agent: what a move costs in the first game, and its strength in each."""
    rows = document["rows"]
    games = list(dict.fromkeys(row["rules"] for row in rows))
    lines = []
    for agent in dict.fromkeys(row["agent"] for row in rows):
        of_agent = {row["rules"]: row for row in rows if row["agent"] == agent}
        first = next(iter(of_agent.values()))
        costs = (
            f"{first[name]:,.3g}" if first[name] < 100 else f"{first[name]:,.0f}"
            for name in ("one_us", "batch_us")
        )
        shares = (share(of_agent[game]) if game in of_agent else "" for game in games)
        lines.append((agent, *costs, *shares))
    return tables.table(
        f"Cost, and matches won against {document.get('opponent', '?')}",
        ("agent",),
        ("µs a move,\nmedian", "in a batch,\nmean", *map(_heading, games)),
        lines,
        _source(document),
    )


def share(row: dict[str, Any]) -> str:
    """The win rate of a row and its interval, in per cent."""
    return f"{100 * row['win_rate']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"


def _heading(spec: str) -> str:
    rules = Rules.from_spec(spec)
    partners = " in partners" if rules.num_sides < rules.players else ""
    return f"{rules.game}\n{rules.players} players{partners}, %"


def _source(document: dict[str, Any]) -> str:
    pairs = sorted({row["pairs"] for row in document["rows"]}) or [0]
    number = f"{pairs[0]:,} to {pairs[-1]:,}" if len(pairs) > 1 else f"{pairs[0]:,}"
    return (
        f"Measured with: {document.get('command', '?')}\n{number} pairs, each the same deals in "
        "every seating; 95 % intervals over pairs; on "
        f"{document.get('machine', {}).get('processor', '?')}"
    )
