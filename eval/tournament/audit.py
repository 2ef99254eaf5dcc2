"""``python -m eval audit``: agents are asked again about stored matches, each decision apart.

What an agent does may follow from what it is handed alone: the view, the legal actions and the key
of one decision. So a sample of its stored decisions is put to it once more, in a process of its own
that never sees a game, one decision a call and in an order drawn anew. An agent that then does
something else has used more than that: its neighbours in the batch, what it kept from other
decisions, or what it found in the memory of the process that played.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track

from agents.files import refuse_unwritable, replace_file
from agents.tables import print_table, table
from agents.terminal import say
from eval.arena.contenders import answer, content_of, name_of
from eval.arena.paired import lineup_salt
from eval.commands import Audit
from eval.tournament.replay import Stored, stored
from eval.tournament.results import AUDIT, open_results
from fives_env.engine.choose import BUILT_IN
from fives_env.games import Games
from fives_env.play import handed
from fives_env.rules import Rules

LOST = "the process in which it was asked ended by itself"


class Decision(NamedTuple):
    """What an agent was handed, and what it did.

    Attributes:
        match: Number of the stored match (replay.py).
        move: Number of the action in it, from 0.
        view: VIEW, as bytes.
        mask: bool [114], as bytes.
        key: Its randomness.
        action: What is stored.
    """

    match: int
    move: int
    view: bytes
    mask: bytes
    key: int
    action: int


def run(options: Audit) -> int:
    """Asks every agent again, prints the verdicts and writes them.

    Returns:
        The exit code: 1 if an agent did something else, or could not be asked.

    Raises:
        ValueError: There are no results, they cannot be audited, or an option is wrong.
    """
    if options.matches < 1:
        raise ValueError(f"--matches {options.matches} is not a whole number from 1 up")
    file = options.json or options.results / AUDIT
    with open_results(options.results) as store:
        salt = store.salt
        number, sample = draw(stored(store), options.matches)
    if not sample:
        raise ValueError(f"{options.results} has no matches")
    refuse_unwritable(file, "--json")
    console = Console(stderr=True)
    agents = track(sorted(sample), "agents", console=console, disable=not console.is_terminal)
    rows = [_row(agent, decisions(agent, sample[agent], salt)) for agent in agents]
    _print(rows)
    document = {"stored_matches": number, "agents": rows}
    replace_file(file, (json.dumps(document, indent=1) + "\n").encode())
    say(f"the verdicts are in {file}")
    return 0 if all(row["passed"] for row in rows) else 1


def draw(matches: Iterable[Stored], most: int) -> tuple[int, dict[str, list[Stored]]]:
    """At most so many matches of each agent, drawn evenly; and how many there are in all.

    Nobody can tell beforehand which they will be.
    """
    source = random.SystemRandom()
    sample: dict[str, list[Stored]] = defaultdict(list)
    met: dict[str, int] = defaultdict(int)
    number = 0
    for match in matches:
        number += 1
        for agent in sorted(set(match.meeting.agents)):
            met[agent] += 1
            if len(sample[agent]) < most:
                sample[agent].append(match)
            elif (place := source.randrange(met[agent])) < most:
                sample[agent][place] = match
    return number, dict(sample)


def decisions(agent: str, matches: Sequence[Stored], salt: int) -> list[Decision]:
    """All decisions of an agent in these matches that left it a choice, in an order of chance.

    Args:
        agent: Its identity.
        matches: In each it is at least one side.
        salt: Of the tournament.

    Raises:
        ValueError: A match cannot be replayed.
    """
    ordered = sorted(matches, key=lambda match: match.number)
    found = [
        decision
        for _, of_lineup in itertools.groupby(ordered, lambda match: match.meeting)
        for decision in _walk(agent, list(of_lineup), salt)
    ]
    random.SystemRandom().shuffle(found)
    return found


def _walk(agent: str, matches: Sequence[Stored], salt: int) -> Iterator[Decision]:
    """The decisions of an agent in matches of one line-up."""
    meeting = matches[0].meeting
    rules = Rules.from_spec(meeting.rules)
    own = [meeting.agents[rules.side_of(seat)] == agent for seat in range(rules.players)]
    moves = [match.row["moves"] for match in matches]
    known_as = [content_of(identity) for identity in meeting.agents]
    games = Games(rules, len(matches), salt=lineup_salt(salt, rules.spec, known_as))
    games.reset(seed=np.array([m.row["deals_seed"] for m in matches], np.int64).view(np.uint64))
    pairs = np.array([match.row["pair"] for match in matches], np.uint64)
    for move in range(max(map(len, moves))):
        actions = np.array([line[move] if move < len(line) else -1 for line in moves])
        asked = (actions >= 0) & np.array(own)[games.data["seat"]] & (games.data["match_over"] == 0)
        if len(rows := np.flatnonzero(asked)):
            views, masks, keys = handed(games, rows, pairs, by_salt=agent not in BUILT_IN)
            for at in np.flatnonzero(masks.sum(axis=1) > 1).tolist():
                match, action = matches[rows[at]].number, int(actions[rows[at]])
                shown = views[at].tobytes(), masks[at].tobytes(), int(keys[at])
                yield Decision(match, move, *shown, action)
        try:
            games.step(actions)
        except ValueError as error:
            raise ValueError(
                f"a stored match cannot be replayed ({error}); python -m eval replay names it"
            ) from None


def _row(agent: str, asked: Sequence[Decision]) -> dict[str, Any]:
    """What came of asking an agent, as audit.json has it."""
    row: dict[str, Any] = {
        "agent": agent,
        "matches": len({decision.match for decision in asked}),
        "decisions": len(asked),
        "differing": 0,
        "first": "",
        "error": "",
    }
    process = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    try:
        known_as = itertools.repeat((name_of(agent), agent))
        handed = [(each.view, each.mask, each.key) for each in asked]  # not what it did
        for decision, given in zip(asked, process.map(answer, known_as, handed), strict=True):
            if given != decision.action:
                row["differing"] += 1
                where = f"match {decision.match}, action {decision.move}"
                row["first"] = row["first"] or f"{where}: {decision.action} became {given}"
    except BrokenProcessPool:
        row["error"] = LOST
    except Exception as error:  # agents are other people's code
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        row["error"] = " ".join(f"{kind}{error}".split())
    finally:
        process.shutdown(cancel_futures=True)
    row["passed"] = not row["differing"] and not row["error"]
    return row


def _print(rows: Sequence[dict[str, Any]]) -> None:
    shown = [
        (
            row["agent"],
            row["error"] or row["first"] or "plays as it is stored",
            f"{row['matches']:,}",
            f"{row['decisions']:,}",
            f"{row['differing']:,}",
        )
        for row in rows
    ]
    headings = ("agent", "asked again, apart and in another order")
    print_table(table("Audit", headings, ("matches", "decisions", "other actions"), shown))
