"""Makes a match-equity table, where agents look for it."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from fives_env.rules import Rules

from ..files import refuse_unwritable
from ..registry import canonical, make_agent
from ..terminal import say
from . import make
from .tables import FOLDER, file_name, load, plain, save_table


@dataclass(frozen=True)
class Equity:
    """Makes a match-equity table: how likely a side is to win, given both scores and who leads.

    Rounds of self-play are measured from all scores and solved for the match. An older table for
    the same rules is replaced.
    """

    rules: str = "fives-and-threes"
    """What is played, by two sides, as in all-fives:players=4,partners=yes."""

    agent: str = "greedy"
    """Who plays every seat (python -m agents lists the specs)."""

    rounds: int = 20_000_000
    """Rounds in all; in threes-and-fives one serves all scores, and a tenth of these is plenty."""

    seed: int = 0
    """Of the deals; the same seed gives the same table of random and greedy, which need no other
    randomness."""

    out: Path = FOLDER
    """The folder of the table."""


def run(options: Equity) -> None:
    """Carries out the command."""
    rules = plain(Rules.from_spec(options.rules))
    agent = canonical(options.agent)
    policy = make_agent(agent)
    if not 0 <= options.seed < 1 << 63:
        raise ValueError(f"--seed {options.seed} is not a whole number from 0 to 2**63 - 1")
    make.refuse(rules, options.rounds)
    refuse_unwritable(options.out / file_name(rules), "--out")
    console = Console(stderr=True)
    columns = (TextColumn("rounds"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("rounds", total=options.rounds)
        plane, leader_wins, error, step_error = make.make(
            rules, policy, options.rounds, options.seed, lambda n: progress.advance(task, n)
        )
    asked = ("--rules", rules.spec, "--agent", agent)
    numbers = ("--rounds", str(options.rounds), "--seed", str(options.seed))
    facts = {
        "rules": rules.spec,
        "agent": agent,
        "rounds": str(options.rounds),
        "seed": str(options.seed),
        "standard_error": f"{(error**2).mean() ** 0.5:.2g}",
        "largest_error": f"{error.max():.2g}",
        "step_error": f"{(step_error**2).mean() ** 0.5:.2g}",
        "command": shlex.join(["python", "-m", "agents.equity", *asked, *numbers]),
    }
    path = save_table(rules, plane.low, plane.step, leader_wins, facts, options.out)
    start = load(rules, options.out).win_probability(0, 0, True)
    say(
        f"{path}: the leader of the first round wins {start:.2%} of matches; standard error of a "
        f"value {facts['standard_error']}, at most {facts['largest_error']}, and of what the next "
        f"score up is worth {facts['step_error']}"
    )
