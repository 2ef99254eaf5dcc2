"""`make results`: the tables of docs/*.md, made anew. `make measured`: what they show, taken anew.

A table stands between ``<!-- table NAME -->`` and ``<!-- end -->``. That of agents is the registry;
the numbers of all others are in agents/strength.json or in docs/measured/, and never typed into a
page. The files of docs/measured/
have the fields of the commands that make them (summary.json, benchmark.json, ...), but only those
that a page shows; ``python docs/results.py take`` copies them from runs/.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from fives_env.agents.registry import AGENTS
from fives_env.agents.strength import share as share_of_row

from fives_env.rules import Rules

DOCS = Path(__file__).resolve().parent
ROOT, MEASURED = DOCS.parent, DOCS / "measured"
MARKED = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
Row = dict[str, Any]


def read(path: Path) -> Any:
    """A file of measurements."""
    return json.loads(path.read_text("utf-8"))


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def agents() -> str:
    """Every agent: how its spec is written, and what it does."""
    lines = [(f"`{entry.form}`".replace("|", "\\|"), entry.help) for entry in AGENTS.values()]
    return markdown(("spec", "what it does"), lines)


def ladder() -> str:
    """Strength against greedy and time of a move, an agent a line; models share one."""
    rows: list[Row] = read(ROOT / "agents" / "strength.json")["rows"]
    games = list(dict.fromkeys(row["rules"] for row in rows))
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        name = "shipped models" if row["agent"].startswith("model:") else f"`{row['agent']}`"
        found.setdefault(name, {})[row["rules"]] = row
    lines = []
    for name, of_agent in found.items():
        cost = of_agent[games[0]]["one_us"]
        shares = (share_of_row(of_agent[game]) if game in of_agent else "" for game in games)
        lines.append((name, f"{cost:,.3g}" if cost < 1000 else f"{cost:,.0f}", *shares))
    return markdown(("agent", "µs a move", *map(title, games)), lines)


def title(spec: str) -> str:
    """What is played, in a few words."""
    rules = Rules.from_spec(spec)
    partners = " in partners" if rules.num_sides < rules.players else " players"
    return f"{rules.game}, {rules.players}{partners}"


def models() -> str:
    """What the shipped models make, a line for each opponent."""
    lines, last = [], None
    for row in read(MEASURED / "training.json")["models"]:
        named = row["model"] != last
        last = row["model"]
        against = row["against"] + (", single rounds" if row.get("single_rounds") else "")
        won = percent(row) if "win_rate" in row else ""
        digits = 2 if abs(row["points_per_round"]) < 5 else 1
        ends = ("points_per_round", "points_low", "points_high")
        points, low, high = (f"{row[end]:+.{digits}f}" for end in ends)
        name, trained = (f"`{row['model']}`", row["trained"]) if named else ("", "")
        lines.append(
            (name, trained, against, f"{row['pairs']:,}", won, f"{points} [{low}, {high}]")
        )
    heads = ("model (`model:...`)", "trained", "against", "pairs", "matches won", "points a round")
    return markdown(heads, lines)


def percent(row: Row) -> str:
    """A share with its interval."""
    value, low, high = (100 * row[name] for name in ("win_rate", "low", "high"))
    return f"{value:.1f} % [{low:.1f}, {high:.1f}]"


def score_use() -> str:
    """Training with and without the score."""
    found = read(MEASURED / "training.json")["score_use"]
    heads = (f"trained with `{found['all']}` and", f"against points alone, `{found['against']}`")
    return markdown(heads, ((f"`{row['trained']}`", percent(row)) for row in found["rows"]))


def cup() -> str:
    """Ratings in three games; a line an agent, in the order of the first game."""
    games = read(MEASURED / "cup.json")["games"]
    heads = [f"{Rules.from_spec(game['rules']).game} ({game['pairs']} pairs)" for game in games]
    found = [{name_of(row): row for row in game["ratings"]} for game in games]
    lines = [(name, *(elo(of_game.get(name)) for of_game in found)) for name in found[0]]
    return markdown(("agent", *heads), lines)


def name_of(row: Row) -> str:
    """An agent as it is called; each game has its own shipped model."""
    return "shipped model" if row["agent"].startswith("model:") else f"`{row['agent']}`"


def elo(row: Row | None) -> str:
    """A rating with its interval; the anchor has none."""
    if row is None:
        return ""
    value, low, high = (round(row[name]) for name in ("rating", "low", "high"))
    return "0" if value == low == high == 0 else f"{value:+d} [{low:+d}, {high:+d}]"


def exact() -> str:
    """Exploitability, a line an agent, in the order of the first game."""
    games = read(MEASURED / "exact.json")["games"]
    heads = ["agent"]
    for game in games:
        rules = Rules.from_spec(game["rules"])
        hidden = rules.deal * rules.players < rules.num_tiles
        highest = f"tiles to [{rules.max_pip}\\|{rules.max_pip}], {game['choices']:,} choices"
        heads.append(highest + ("" if hidden else ", nothing hidden"))
    found = [{row["agent"]: row for row in game["agents"]} for game in games]
    lines = []
    for name, row in found[0].items():
        of_games = [of_game.get(name) for of_game in found]
        shown = [f"{each['exploitability']:.3f}" if each else "" for each in of_games]
        steps = [f"{each['iterations']}" for each in of_games if each and "iterations" in each]
        solved = f"{name} (OpenSpiel, {' and '.join(steps)} iterations)"
        lines.append((solved if "iterations" in row else f"`{name}`", *shown))
    return markdown(heads, lines)


_TWO = "fives-and-threes:players=2,target=61"
_PARTNERS = "all-fives:players=4,partners=yes,target=200"
_ROLLOUT = "random rollout"
_SPEED: tuple[tuple[str, str, Row, tuple[str, Row] | str | None], ...] = (
    ("random rollout, fives-and-threes, two players, 65,536 games", "steps",
     {"what": _ROLLOUT, "rules": _TWO, "batch": 65536, "threads": 1},
     ("Pgx `connect_four`, batch 65,536", {"what": "Pgx connect_four", "batch": 65536})),
    ("the same, 4,096 games", "steps",
     {"what": _ROLLOUT, "rules": _TWO, "batch": 4096, "threads": 1},
     ("OpenSpiel `python_block_dominoes`", {"what": "OpenSpiel python_block_dominoes"})),
    ("the same, 65,536 games, two threads", "steps",
     {"what": _ROLLOUT, "rules": _TWO, "batch": 65536, "threads": 2}, None),
    ("random rollout, all-fives, four partners (spinner, draws, settlement)", "steps",
     {"what": _ROLLOUT, "rules": _PARTNERS, "threads": 1}, None),
    ("batch step with masks and views written out, 4,096 games", "steps",
     {"what": "batch step", "rules": _TWO, "batch": 4096, "threads": 1}, "cost"),
    ("native vector env, 1,024 games, greedy opponents, features and masks", "learner steps",
     {"what": "vector env"}, None),
    ("PettingZoo AEC env", "steps", {"what": "AEC env"},
     ("PettingZoo `connect_four_v3`", {"what": "PettingZoo connect_four_v3"})),
    ("Gymnasium single env (the opponent's turns included)", "learner steps",
     {"what": "single env"},
     ("PettingZoo `connect_four_v3`", {"what": "PettingZoo connect_four_v3"})),
)  # fmt: skip
"""The rows of benchmark.json that the page shows, and what stands beside each."""
_ALSO = ("RLCard uno", "RLCard leduc-holdem", "PyPI dominoes")


def speed() -> str:
    """Our speeds beside the peers'."""
    rows = read(MEASURED / "speed.json")["rows"]
    base = one(rows, _SPEED[1][2])
    lines = []
    for name, unit, query, beside in _SPEED:
        own = one(rows, query)
        shown, ratio = "", ""
        if beside == "cost":
            shown, ratio = "a bare rollout step", f"{base / own:.1f} x its cost"
        elif isinstance(beside, tuple):
            peer = one(rows, beside[1])
            shown = f"{beside[0]}: {number(peer)}"
            ratio = f"{own / peer:.1f} x" if own < 10 * peer else f"{own / peer:,.0f} x"
        lines.append((name, f"{number(own)} {unit}", shown, ratio))
    also = ", ".join(f"{what} {number(one(rows, {'what': what}))}" for what in _ALSO)
    heads = ("what", "a second", "beside it, in the same run", "ratio")
    return markdown(heads, lines) + f"\nAlso in that run, in steps a second: {also}.\n"


def one(rows: list[Row], query: Row) -> float:
    """The speed of the row that has these values."""
    fit = [row for row in rows if all(row[name] == value for name, value in query.items())]
    return float(fit[0]["per_second"])


def number(per_second: float) -> str:
    """Three digits are enough on a shared machine."""
    if per_second < 1e6:
        return f"{float(f'{per_second:.4g}'):,.0f}"
    return f"{float(f'{per_second:.3g}') / 1e6:g} M"


TABLES: dict[str, Callable[[], str]] = {
    "agents": agents,
    "ladder": ladder,
    "models": models,
    "score-use": score_use,
    "cup": cup,
    "exact": exact,
    "speed": speed,
}


def written(text: str) -> str:
    """A page with its tables made anew."""
    return MARKED.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


def take(runs: Path) -> None:
    """Keeps what the tables show of what `make cup`, `strength`, `exact` and `benchmark` left.

    What was not measured stays as it is. The table of training with and without the score is
    entered by hand.
    """
    found = [read(path) for path in (runs / "cup").glob("*/summary.json")]
    if found:
        games = list(map(of_cup, found))
        keep("cup.json", {"games": games}, "games", lambda game: game["rules"])
    found = [read(path) for path in (runs / "strength").glob("*/summary.json")]
    if found:
        keep("training.json", {"models": list(map(of_model, found))}, "models", meeting_of)
    found = [read(path) for path in (runs / "exact").glob("*.json")]
    if found:
        games = list(map(of_exact, found))
        keep("exact.json", {"games": games}, "games", lambda game: game["rules"])
    benchmark = runs / "benchmark" / "benchmark.json"
    if benchmark.exists():
        document = read(benchmark)
        names = ("what", "rules", "batch", "threads", "per_second")
        shown = [{name: row[name] for name in names} for row in document["rows"] if is_shown(row)]
        keep("speed.json", {"machine": document["machine"], "rows": shown})


def of_cup(summary: Row) -> Row:
    """What the page shows of a tournament."""
    pairs = max(meeting["pairs"] for meeting in summary["meetings"])
    kept = {name: summary[name] for name in ("rules", "seed", "anchor")}
    return {**kept, "pairs": pairs, "ratings": summary["ratings"]}


def of_exact(document: Row) -> Row:
    """What the page shows of a game that was solved."""
    names = ("agent", "exploitability", "iterations")
    rows = [{name: row[name] for name in names if name in row} for row in document["agents"]]
    kept = {name: document[name] for name in ("rules", "choices", "machine")}
    return {**kept, "agents": rows}


def of_model(summary: Row) -> Row:
    """What the page shows of a meeting of a model and another agent."""
    (pairing,) = summary["pairings"]
    single = Rules.from_spec(summary["rules"]).mode == "round"
    points = ("points_per_round", "points_low", "points_high")
    shown = ("pairs", *(() if single else ("win_rate", "low", "high")), *points)
    row = {"model": pairing["a"].removeprefix("model:"), "against": pairing["b"]}
    row |= {"single_rounds": True} if single else {}
    return {**row, **{name: pairing[name] for name in shown}}


def meeting_of(row: Row) -> tuple[str, str, bool]:
    """Which row of the table of models it is."""
    return row["model"], row["against"], row.get("single_rounds", False)


def is_shown(row: Row) -> bool:
    """Whether a row of the benchmark is in the table."""
    queries = [query for _, _, query, _ in _SPEED]
    queries += [beside[1] for _, _, _, beside in _SPEED if isinstance(beside, tuple)]
    queries += [{"what": what} for what in _ALSO]
    return any(all(row.get(name) == value for name, value in each.items()) for each in queries)


def keep(name: str, new: Row, rows: str = "", key: Callable[[Row], Any] | None = None) -> None:
    """Writes what was measured over what was kept.

    Args:
        name: Of the file.
        new: What it is to say.
        rows: The field of which only those rows are replaced that were measured.
        key: Tells rows apart; they stay in their order.
    """
    path = MEASURED / name
    old = read(path)
    if key is not None:
        found = {key(row): row for row in old[rows]}
        for row in new[rows]:
            found[key(row)] = {**found.get(key(row), {}), **row}
        new = {rows: list(found.values())}
    path.write_text(json.dumps({**old, **new}, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main(arguments: list[str]) -> int:
    """Takes what is in runs/, if told to; then writes all tables."""
    if arguments == ["take"]:
        take(ROOT / "runs")
    elif arguments:
        print("usage: python docs/results.py [take]", file=sys.stderr)
        return 2
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text("utf-8")
        if (new := written(text)) != text:
            page.write_text(new, "utf-8")
            print(f"{page.relative_to(ROOT)} has new tables")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
