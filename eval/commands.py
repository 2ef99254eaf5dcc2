"""The commands of ``python -m eval``: what each takes, and where it is carried out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Union

from tyro.conf import subcommand

from agents.registry import specs


@dataclass(frozen=True)
class Tournament:
    """Agents meet on the same deals, in every seating.

    Results go to OUT/results.sqlite as they come, so the same command after a stop plays only what
    is missing; OUT/summary.json has win rates, points and ratings with 95 % intervals over pairs.
    """

    agents: tuple[str, ...]
    """Two or more agent specs (python -m agents lists them); one given twice meets itself too."""

    rules: str = "fives-and-threes"
    """What is played, as in all-fives:players=4,partners=yes,target=200."""

    schedule: str = "round-robin"
    """round-robin: every two meet, one on one side and the other on all others. gauntlet: the first
    meets each other. tables: as many different agents as there are sides, in all rotations."""

    pairs: int = 1000
    """Streams of deals for each meeting, each played in every seating."""

    seed: int | None = None
    """Of the deals: the same seed, the same deals. If not given, that of the results in OUT, or one
    that is drawn: a small or published seed can be found out by agents, and all hands with it."""

    salt: int | None = None
    """Of the randomness that agents are handed. If not given, that of the results in OUT, or one
    that is drawn; with both seed and salt a tournament is repeated exactly."""

    out: Path = Path("runs/tournament")
    """The folder of the results."""

    anchor: str | None = None
    """The agent whose rating is 0; if not given, random where it plays, else the first."""

    block: int = 500
    """At most so many pairs are played as one batch and stored together."""

    workers: int = 1
    """Processes that play; results do not depend on their number."""

    ray: str | None = None
    """Play on a Ray cluster: its address, or local for one that is started here with --workers."""

    sprt: tuple[float, float] | None = None
    """Stop a meeting of two once it is decided whether the first is stronger by the one number of
    Elo points or by the other, as in --sprt 0 20; --pairs is then the most."""

    alpha: float = 0.05
    """With --sprt: the chance to find an agent stronger that is not."""

    beta: float = 0.05
    """With --sprt: the chance to miss one that is."""


@dataclass(frozen=True)
class Replay:
    """Plays every stored match again from its actions, and compares.

    With --match it prints that match instead, as a record that fives_env.match_record reads.
    """

    results: Path
    """The folder of a tournament."""

    match: int | None = None
    """The number of a match, as in the file that export writes."""


@dataclass(frozen=True)
class Audit:
    """Asks agents again about stored matches: apart, one decision a call, in another order.

    An agent that then does something else than what is stored has used more than the view, the
    legal actions and the key of the decision: what it kept from others, its neighbours in the
    batch, or the memory of the process that played.
    """

    results: Path
    """The folder of a tournament."""

    matches: int = 20
    """Of each agent, drawn by chance."""

    json: Path | None = None
    """The file of the verdicts; if not given RESULTS/audit.json, which a report shows."""


@dataclass(frozen=True)
class Export:
    """Writes every stored match as a row of a file: agents, scores, seeds, actions."""

    results: Path
    """The folder of a tournament."""

    out: Path
    """The file; its ending says the format, .csv or .parquet."""


@dataclass(frozen=True)
class Benchmark:
    """Measures speed: rollouts, batch steps, views, features, environments, agents; peers' too.

    Everything is measured in turns and the best turn counts, on one core where it takes one thread.
    """

    json: Path = Path("runs/benchmark.json")
    """The file of the rows; a plot of the same name is drawn beside it."""

    peers: bool = False
    """Measure OpenSpiel, Pgx, PettingZoo, RLCard and dominoes too; they get a venv of their own."""

    seconds: float = 0.9
    """For each row, over all its turns."""

    agents: tuple[str, ...] = field(default_factory=lambda: specs("timed"))
    """Whose decisions are timed; those that cannot play are told and left out."""

    training: float = 0.0
    """Seconds to train by each way of python -m train, for its speed; 0 for none."""

    long_run: bool = False
    """Look for memory that grows and speed that falls over millions of steps in one process."""

    compare: Path | None = None
    """An older file of this command: shows each speed over its old one."""


@dataclass(frozen=True)
class Exact:
    """How much a best response makes of each agent in a game small enough to be walked, exactly.

    The response knows what its seat knows, and everything about the agent. Two players, one round.
    """

    agents: tuple[str, ...] = ("random", "greedy")
    """Agent specs (python -m agents lists them)."""

    rules: str = "fives-and-threes:max_pip=3,deal=3,mode=round"
    """What is solved: a small set and a single round."""

    cfr: int = 0
    """Iterations of OpenSpiel's CFR+, for the equilibrium beside the agents; 0 for none."""

    keys: int = 64
    """Times that an agent with randomness of its own is asked in each position."""

    seed: int = 0
    """Of that randomness."""

    json: Path = Path("runs/exact.json")
    """The file of the rows."""


@dataclass(frozen=True)
class Ladder:
    """Measures agents against greedy, and what a move costs: the file that python -m agents shows.

    The file is written after each agent and game, and what it has is not measured again: the same
    command goes on where it stopped, and another agent is added by naming it. An agent that
    was changed is measured anew once its rows, or the file, are removed.
    """

    agents: tuple[str, ...] = field(default_factory=lambda: specs("ladder"))
    """Agent specs (python -m agents lists them)."""

    rules: tuple[str, ...] = (
        "fives-and-threes",
        "all-fives",
        "fives-and-threes:players=4,partners=yes",
    )
    """What is played."""

    pairs: int = 2000
    """The most pairs for each agent and game."""

    seconds: float = 30.0
    """After so long no further pairs of an agent and game are begun."""

    seed: int = 0
    """Of the deals."""

    json: Path = Path("agents/strength.json")
    """The file of the rows."""

    plot: Path = Path("docs/ladder.png")
    """The picture."""


@dataclass(frozen=True)
class Report:
    """Writes one self-contained HTML page about a training run, tournaments and a benchmark.

    With --demo they are looked for in one folder, and what is not there is left out of the page;
    each may be given by itself too. The same in Markdown, without the pictures, is put beside it.
    """

    demo: Path | None = None
    """A folder with train/, tournament/ and benchmark/; the page becomes report.html in it."""

    train: Path | None = None
    """The folder of a training run."""

    tournament: tuple[Path, ...] = ()
    """The folders of tournaments, as of several games."""

    benchmark: Path | None = None
    """The file of a benchmark; the times of agents' decisions are taken from it, if it has any."""

    out: Path | None = None
    """The page; without --demo it must be given."""


@dataclass(frozen=True)
class Command:
    """A command of ``python -m eval``.

    Attributes:
        name: What it is called by.
        options: The dataclass of what it takes.
        function: What carries it out, as module:function; loaded only then, since help, and each
            command, wait for nothing that another one needs.
        stopped: What is said when it was stopped: what of its work is kept.
    """

    name: str
    options: type
    function: str
    stopped: str = "stopped; nothing was written"


_GOES_ON = "stopped; what is stored is kept, and the same command goes on"
COMMANDS = (
    Command("tournament", Tournament, "eval.tournament.command:run", _GOES_ON),
    Command("replay", Replay, "eval.tournament.replay:run"),
    Command("audit", Audit, "eval.tournament.audit:run"),
    Command("export", Export, "eval.tournament.export:run"),
    Command("benchmark", Benchmark, "eval.speed.command:run"),
    Command("exact", Exact, "eval.exact.command:run"),
    Command("ladder", Ladder, "eval.ladder.command:run", _GOES_ON),
    Command("report", Report, "eval.report.command:run"),
)


def options_of_all() -> Any:
    """The type of all options, as the command line is read: one of the dataclasses."""
    return Union[tuple(Annotated[row.options, subcommand(row.name)] for row in COMMANDS)]  # type: ignore[return-value]  # noqa: UP007


def command_of(options: Any) -> Command:
    """The command that takes these options."""
    return next(row for row in COMMANDS if row.options is type(options))
