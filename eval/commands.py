"""What the commands of ``python -m eval`` take; each is carried out by the module of its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Tournament:
    """Plays agents against each other in pairs: the same deals, in every seating.

    Results go to OUT/results.sqlite as they come, so the same command after a stop plays only what
    is missing; OUT/summary.json has win rates, points and ratings with 95 % intervals over pairs.
    """

    agents: tuple[str, ...]
    """Two or more agent specs (python -m agents lists them); one given twice meets itself too."""

    rules: str = "fives-and-threes"
    """What is played, as in all-fives:players=4,partners=yes,target=200."""

    pairs: int = 1000
    """Streams of deals for each two agents, each played once for every side an agent can take."""

    seed: int = 0
    """Of the deals: the same seed, the same deals."""

    out: Path = Path("runs/tournament")
    """The folder of the results."""

    anchor: str | None = None
    """The agent whose rating is 0; if not given, random where it plays, else the first."""

    block: int = 500
    """Pairs that are played as one batch and stored together."""


@dataclass(frozen=True)
class Benchmark:
    """Measures speed: rollouts, batch steps, features, environments, and with --peers others'.

    Everything is measured in turns and the best turn counts, on one core where it takes one thread.
    """

    json: Path = Path("runs/benchmark.json")
    """The file of the rows; a plot of the same name is drawn beside it."""

    peers: bool = False
    """Measure OpenSpiel, Pgx, PettingZoo, RLCard and dominoes too; they get a venv of their own."""

    seconds: float = 0.9
    """For each row, over all its turns."""


@dataclass(frozen=True)
class Report:
    """Writes one self-contained HTML page about a training run, a tournament and a benchmark.

    With --demo they are looked for in one folder, and what is not there is left out of the page;
    each may be given by itself too.
    """

    demo: Path | None = None
    """A folder with train/, tournament/ and benchmark/; the page becomes report.html in it."""

    train: Path | None = None
    """The folder of a training run."""

    tournament: Path | None = None
    """The folder of a tournament."""

    benchmark: Path | None = None
    """The file of a benchmark."""

    out: Path | None = None
    """The page; without --demo it must be given."""
