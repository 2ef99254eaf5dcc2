"""Blocks of pairs, and who plays them: this process, or several others.

A block is a pure function of what it names, so it may be played anywhere, in any order and more
than once. Whatever runs them yields `Outcome`s as they come; storing them is up to the caller.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

import numpy as np

from eval.arena import paired as arena
from eval.arena.contenders import content_of, enter_as
from eval.arena.schedule import Meeting
from eval.matches import Matches
from fives_env.policies import Policy
from fives_env.rules import Rules

MAX_LOSSES = 3
"""A block whose worker is lost so often is given up."""
LOST = "the process that played it ended by itself, several times over"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""What several workers on one machine need in their environment; they would slow each other."""


class Block(NamedTuple):
    """Some pairs of one meeting.

    Attributes:
        meeting: Who meets.
        names: Their specs, in the order of the meeting.
        pairs: Numbers of the pairs.
        salt: Of the keys that agents are handed.
    """

    meeting: Meeting
    names: tuple[str, ...]
    pairs: tuple[int, ...]
    salt: int


class Outcome(NamedTuple):
    """A block and what came of it: matches, or an error in one line."""

    block: Block
    matches: Matches | None
    error: str = ""


PolicyOf = Callable[[str, str], Policy]
"""The policy of a spec and identity."""


def play_block(block: Block, policy_of: PolicyOf) -> Outcome:
    """Plays a block here."""
    meeting = block.meeting
    rules = Rules.from_spec(meeting.rules)
    try:  # agents are other people's code
        agents = [policy_of(*agent) for agent in zip(block.names, meeting.agents, strict=True)]
        pairs = np.array(block.pairs)
        known_as = [content_of(identity) for identity in meeting.agents]
        matches = arena.play_meeting(rules, agents, meeting.seed, pairs, block.salt, known_as)
    except Exception as error:
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        return Outcome(block, None, " ".join(f"{kind}{error}".split()))
    return Outcome(block, matches)


def play_block_elsewhere(block: Block) -> Outcome:
    """Plays a block in a process that has nothing of the tournament yet."""
    return play_block(block, _policy)


@functools.cache
def _policy(name: str, identity: str) -> Policy:
    return enter_as(name, identity).policy


def play_here(blocks: Iterable[Block | None], policy_of: PolicyOf) -> Iterator[Outcome]:
    """Plays the blocks one after the other in this process."""
    for block in filter(None, blocks):
        yield play_block(block, policy_of)


def play_in_processes(blocks: Iterable[Block | None], num_workers: int) -> Iterator[Outcome]:
    """Plays the blocks in so many processes; the block of one that is lost is played again.

    Blocks are taken from the iterable as workers become free; at None the free ones wait until
    another has come back.
    """
    waiting, again = iter(blocks), deque[Block]()
    busy: list[_Worker] = []
    free: list[_Worker] = []
    losses: dict[Block, int] = {}
    try:
        while True:
            while len(busy) < num_workers and (block := _next(again, waiting)):
                worker = free.pop() if free else _Worker()
                worker.give(block)
                busy.append(worker)
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy])
            for worker in [worker for worker in busy if worker.pipe in ready]:
                busy.remove(worker)
                block, outcome = worker.block, worker.receive()
                if outcome is not None:
                    free.append(worker)
                    yield outcome
                    continue
                worker.stop()
                losses[block] = losses.get(block, 0) + 1
                if losses[block] < MAX_LOSSES:
                    again.append(block)
                else:
                    yield Outcome(block, None, LOST)
    finally:
        for worker in (*busy, *free):
            worker.stop()


def _next(again: deque[Block], waiting: Iterator[Block | None]) -> Block | None:
    return again.popleft() if again else next(waiting, None)


class _Worker:
    """A process that plays one block after the other, and the block that it has."""

    block: Block

    def __init__(self) -> None:
        spawning = multiprocessing.get_context("spawn")
        self.pipe, theirs = spawning.Pipe()
        self._process: BaseProcess = spawning.Process(target=_serve, args=(theirs,), daemon=True)
        before = dict(os.environ)
        try:
            os.environ.update({**ONE_THREAD, **before})
            self._process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        theirs.close()

    def give(self, block: Block) -> None:
        """Hands it a block."""
        self.block = block
        with contextlib.suppress(OSError):  # it is lost then, which `receive` will find
            self.pipe.send(block)

    def receive(self) -> Outcome | None:
        """What came of its block; None if it is lost."""
        try:
            outcome: Outcome = self.pipe.recv()
        except (EOFError, OSError):
            return None
        return outcome

    def stop(self) -> None:
        """Ends it, whatever it is doing."""
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection) -> None:
    """What a worker does, until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the tournament hears it, and stops its workers
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(play_block_elsewhere(pipe.recv()))
