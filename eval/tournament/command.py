"""``python -m eval tournament``: agents meet on the same deals, in every seating."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from agents.files import replace_file
from agents.locks import hold
from agents.terminal import say
from eval import terminal
from eval.arena.cluster import play_on_ray
from eval.arena.contenders import anchor, enter
from eval.arena.schedule import TABLES, Meeting, make_schedule
from eval.arena.workers import Block, Outcome, play_here, play_in_processes
from eval.commands import Tournament
from eval.stats import sprt
from eval.tournament.live import showing
from eval.tournament.results import RESULTS, SUMMARY
from eval.tournament.store import Store
from eval.tournament.stored_rows import MAX_SEED
from eval.tournament.summary import Plan, decide, summarise
from fives_env.policies import Policy
from fives_env.rules import Rules
from fives_env.salts import read_salt


def run(options: Tournament) -> None:
    """Plays what is missing, writes the summary, prints the tables.

    Raises:
        ValueError: An option is wrong, or the results cannot be used or are being written to.
        SystemExit: With 1, once all else is done, if a meeting failed.
    """
    plan = make_plan(options)
    store = Store(options.out / RESULTS, seed=options.seed, salt=options.salt)
    with hold(options.out), store:
        if options.seed is None:
            plan = plan.of_seed(store.seed)
        progress = Progress(store, plan)
        play_missing(progress, options)
        summary = summarise(store, plan, progress.counting(), progress.errors)
        again = (
            f"; --seed {plan.seed} --salt {store.salt} gives the same" if progress.played else ""
        )
    try:
        terminal.print_tournament(summary)
    finally:  # whether anybody reads them or not
        text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
        replace_file(options.out / SUMMARY, text.encode())
    say(
        f"{progress.played:,} pairs played, {progress.there:,} were there already; "
        f"results are in {options.out}{again}"
    )
    for row in summary["failed"]:
        say(f"error: {' against '.join(row['agents'])}: {row['error']}", error=True)
    if summary["failed"]:
        raise SystemExit(1)


def make_plan(options: Tournament) -> Plan:
    """What these options ask for; on the deals of seed 0 if they name none.

    Raises:
        ValueError: One of them is wrong.
    """
    rules, seed = _check(options), options.seed or 0
    test = sprt.Hypotheses(*options.sprt, options.alpha, options.beta) if options.sprt else None
    entered = [enter(spec) for spec in options.agents]
    contenders = {contender.name: contender for contender in entered}
    names = [contender.name for contender in entered]
    if options.schedule == TABLES:  # whatever they are called and wherever they were entered
        names.sort(key=lambda name: contenders[name].content)
    return Plan(
        rules=rules,
        seed=seed,
        pairs=options.pairs,
        contenders=contenders,
        meetings={
            Meeting(rules.spec, seed, tuple(contenders[name].identity for name in who)): who
            for who in make_schedule(options.schedule, names, rules.num_sides)
        },
        anchor=anchor(options.anchor, entered),
        test=test,
    )


AHEAD = 4 * sprt.STEP
"""Pairs that are played beyond what the test has seen; they may turn out not to be needed."""


class Progress:
    """How far a tournament is.

    Attributes:
        store: The results.
        plan: What is to be played.
        done: The pairs of each meeting that are stored.
        ends: The pairs after which the test has decided a meeting.
        errors: Why a meeting failed.
        there: Pairs that were stored before.
        played: Pairs that were played since.
    """

    def __init__(self, store: Store, plan: Plan) -> None:
        """Looks up what is there."""
        self.store = store
        self.plan = plan
        pairs = set(range(plan.pairs))
        self.done = {meeting: store.played(meeting) & pairs for meeting in plan.meetings}
        self.ends: dict[Meeting, int] = {}
        self.errors: dict[Meeting, str] = {}
        self.there = sum(map(len, self.done.values()))
        self.played = 0
        for meeting in plan.meetings:
            self._test(meeting)

    def take(self, outcome: Outcome) -> None:
        """Stores what came of a block."""
        meeting = outcome.block.meeting
        if outcome.matches is None:
            self.errors.setdefault(meeting, outcome.error)
            return
        self.store.add(meeting, outcome.matches)
        self.done[meeting].update(outcome.block.pairs)
        self.played += len(outcome.block.pairs)
        self._test(meeting)

    def wants(self, meeting: Meeting, pair: int) -> bool:
        """Whether there is no reason to wait with this pair: a test may be decided before it."""
        if self.plan.test is None or not self.goes_on(meeting):
            return True
        return pair < _prefix(self.done[meeting]) + AHEAD

    def goes_on(self, meeting: Meeting) -> bool:
        """Whether more of it is to be played."""
        return meeting not in self.errors and meeting not in self.ends

    def counting(self) -> dict[Meeting, int]:
        """How many pairs of each meeting count, from the first on."""
        return {
            meeting: self.ends.get(meeting, _prefix(done)) for meeting, done in self.done.items()
        }

    def _test(self, meeting: Meeting) -> None:
        if self.plan.test is None or not self.goes_on(meeting):
            return
        if number := _prefix(self.done[meeting]):
            decision = decide(self.plan, self.store.matches(meeting, number))
            if decision and decision.verdict:
                self.ends[meeting] = decision.pairs


def play_missing(progress: Progress, options: Tournament) -> None:
    """Plays and stores the pairs that are not there yet; what fails is in `progress.errors`."""
    plan = progress.plan
    policies = {contender.identity: contender.policy for contender in plan.contenders.values()}

    def policy_of(name: str, identity: str) -> Policy:
        return policies[identity]

    blocks = _blocks(progress, _block_size(progress, options))
    if options.ray:
        outcomes = play_on_ray(blocks, options.ray, options.workers)
    elif options.workers > 1:
        outcomes = play_in_processes(blocks, options.workers)
    else:
        outcomes = play_here(blocks, policy_of)

    def draw() -> Iterator[Any]:
        summary = summarise(progress.store, plan, progress.counting(), progress.errors)
        return reversed(list(terminal.tournament_tables(summary)))  # the ratings first

    total = len(plan.meetings) * plan.pairs
    with closing(outcomes), showing(total, progress.there, draw) as tell:  # type: ignore[type-var]
        for outcome in outcomes:
            progress.take(outcome)
            tell(len(outcome.block.pairs))


def _blocks(progress: Progress, size: int) -> Iterator[Block | None]:
    """What is to be played: the first block of every meeting, then the second, and so on.

    None where there is nothing until what is being played has come back.
    """
    plan = progress.plan
    missing = {
        meeting: [pair for pair in range(plan.pairs) if pair not in done]
        for meeting, done in progress.done.items()
    }
    while any(missing.values()):
        wanted = [m for m, pairs in missing.items() if pairs and progress.wants(m, pairs[0])]
        if not wanted:
            yield None
        for meeting in wanted:
            block, missing[meeting] = missing[meeting][:size], missing[meeting][size:]
            if progress.goes_on(meeting):
                yield Block(meeting, plan.meetings[meeting], tuple(block), progress.store.salt)
            else:
                missing[meeting] = []


def _block_size(progress: Progress, options: Tournament) -> int:
    """Pairs a block: --block, or fewer.

    Several workers should all have something left to play, and a test that is decided should not
    find many pairs on their way.
    """
    left = len(progress.done) * progress.plan.pairs - progress.there
    shared = math.ceil(left / (4 * options.workers)) if options.workers > 1 else left
    seen = math.ceil(AHEAD / (2 * options.workers)) if options.sprt else shared
    return max(1, min(options.block, shared, seen))


def _prefix(done: set[int]) -> int:
    """How many pairs are there from the first on without a gap."""
    return next(pair for pair in itertools.count() if pair not in done)


def _check(options: Tournament) -> Rules:
    if len(options.agents) < 2:
        raise ValueError(
            f"--agents has {len(options.agents)}; give two or more, as in --agents greedy random"
        )
    for name in ("pairs", "block", "workers"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name} {getattr(options, name)} is not a whole number from 1 up")
    if options.seed is not None and not 0 <= options.seed <= MAX_SEED:
        raise ValueError(f"--seed {options.seed} is not a whole number from 0 to 2**63 - 1")
    if options.salt is not None:
        read_salt(options.salt)
    return Rules.from_spec(options.rules)
