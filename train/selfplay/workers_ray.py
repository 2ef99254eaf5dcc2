"""Rollouts and evaluations on a Ray cluster: each worker plays some of the tables.

A worker is a process that holds rows of the run's tables and plays them on with the weights of the
moment, by the code that plays them here. It sends back what it saw and how its tables stand, so
the learner's own tables always are as they were after the last rollout: a checkpoint needs to ask
nobody. A game's deals and chances are its own, so a rollout is the same whoever plays which row, up
to the rounding of the network; with one worker it is the same to the bit. Only with a league do
workers differ: each draws opponents by the results as they were before the rollout, and its own.

A worker that is lost is replaced by a new one, which takes up its tables from where they stood
before the rollout and plays that again. The update waits for it; nothing is lost but the time.
"""

from __future__ import annotations

import copy
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from eval.arena import paired as arena
from eval.arena.workers import MAX_LOSSES
from eval.matches import Matches
from fives_env.policies import Policy
from fives_env.rules import Rules
from train.league.league import League
from train.selfplay.actor_critic import ActorCritic
from train.selfplay.rollout.collector import Rollout, Tables
from train.selfplay.workers import HERE

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Played:
    """A rollout of some rows.

    Attributes:
        memory: Of it.
        tables: How the tables stand now (`Tables.arrays`).
        results: int64 [slots, 3], the learner's wins, draws and losses against each of the league.
        seconds: Spent in the network.
    """

    memory: Rollout
    tables: dict[str, Array]
    results: Array
    seconds: float


class Worker:
    """What runs in a process of the cluster."""

    _tables: Tables
    _network: ActorCritic
    _memory: Rollout

    def __init__(self) -> None:
        """Has no tables yet."""
        torch.set_num_threads(1)

    def collect(
        self,
        now: tuple[dict[str, Array], League | None],
        start: tuple[Tables, ActorCritic, int] | None,
    ) -> Played:
        """Plays T decisions in each of its games.

        Args:
            now: The policy's weights and the league.
            start: Its tables, a network of the right shape, and T; None to go on.
        """
        # What Ray hands over cannot be written to: it is shared with the other workers.
        weights, league = now[0], copy.deepcopy(now[1])
        if start is not None:
            self._tables, self._network = copy.deepcopy(start[:2])
            self._memory = Rollout.empty(self._tables, start[2])
        tables, network = self._tables, self._network
        tables.league = league
        copied = {name: torch.tensor(values) for name, values in weights.items()}
        network.load_state_dict(copied, strict=False)
        before = _counts(league)
        seconds = HERE.collect(tables, network, self._memory)
        return Played(self._memory, tables.arrays(), _counts(league) - before, seconds)

    def play(
        self,
        rules: Rules,
        agents: tuple[Policy, Policy],
        seed: int,
        pairs: Array,
        salt: int | None,
    ) -> Matches:
        """As `eval.arena.paired.play`."""
        return arena.play(rules, *agents, seed, pairs, salt)


class RayWorkers:
    """The learner's side of them (train.selfplay.workers.Workers), for one run.

    Attributes:
        actors: Ray's handles of the workers; others take the place of those that are lost.
    """

    def __init__(self, ray: Any, number: int, log: logging.Logger) -> None:
        """Starts so many on the cluster that `ray` is connected to; losses go to the log."""
        self._ray, self._log = ray, log
        self._make = ray.remote(Worker)
        self.actors = [self._make.remote() for _ in range(number)]
        self._seated = [False] * number

    def collect(self, tables: Tables, network: ActorCritic, memory: Rollout) -> float:
        """As `Workers.collect`; the seconds are those of the worker that took longest."""
        num_steps = len(memory.chosen)
        bounds = np.linspace(0, len(tables.games), len(self.actors) + 1).astype(int)
        rows = [slice(*ends) for ends in itertools.pairwise(bounds)]
        # The critic stays at home.
        weights = {
            name: values.numpy(force=True)
            for name, values in network.state_dict().items()
            if not name.startswith("critic.")
        }
        now = self._ray.put((weights, tables.league))
        sent = copy.deepcopy(network).cpu()

        def ask(index: int) -> Any:
            start = None
            if not self._seated[index]:
                start = tables.part(rows[index]), sent, num_steps
                self._seated[index] = True
            return self.actors[index].collect.remote(now, start)

        answers: list[Played] = self._ask(ask, len(rows))
        for where, played in zip(rows, answers, strict=True):
            for field in fields(Rollout):
                getattr(memory, field.name)[:, where] = getattr(played.memory, field.name)
            for name, values in tables.arrays().items():
                values[where] = played.tables[name]
            _book(tables.league, played.results)
        return max(played.seconds for played in answers)

    def play(
        self, rules: Rules, a: Policy, b: Policy, seed: int, pairs: Array, salt: int | None
    ) -> Matches:
        """As `eval.arena.paired.play`, a part of the pairs for each worker."""
        parts = [part for part in np.array_split(pairs, len(self.actors)) if len(part)]
        agents = self._ray.put((a, b))

        def ask(index: int) -> Any:
            return self.actors[index].play.remote(rules, agents, seed, parts[index], salt)

        return arena.joined(self._ask(ask, len(parts)))

    def _ask(self, ask: Callable[[int], Any], number: int) -> list[Any]:
        """The answers of the first `number` workers, who work at the same time."""
        going = [ask(index) for index in range(number)]
        return [self._answer(ask, index, answer) for index, answer in enumerate(going)]

    def _answer(self, ask: Callable[[int], Any], index: int, going: Any) -> Any:
        """What one answers; if it is lost, its successor is asked the same."""
        errors = self._ray.exceptions
        for _ in range(MAX_LOSSES):
            try:
                return self._ray.get(going)
            except errors.RayTaskError as error:  # it is there, and says what is wrong
                raise error.cause from None
            except errors.RayError as error:
                self._log.warning("worker %s was lost (%s); replaced", index, type(error).__name__)
                self._replace(index)
                going = ask(index)
        raise ValueError(f"worker {index} on Ray was lost {MAX_LOSSES} times over; see ray logs")

    def _replace(self, index: int) -> None:
        self._ray.kill(self.actors[index])  # should it be its answer alone that was lost
        self.actors[index] = self._make.remote()
        self._seated[index] = False


def _counts(league: League | None) -> Array:
    """The learner's wins, draws and losses against each slot: int64 [slots, 3]."""
    opponents = [] if league is None else league.opponents
    counts = [(opponent.wins, opponent.draws, opponent.losses) for opponent in opponents]
    return np.array(counts, np.int64).reshape(-1, 3)


def _book(league: League | None, results: Array) -> None:
    """Books what `Played.results` counts."""
    if league is not None:
        slots = np.repeat(np.arange(len(results)), results.sum(axis=1))
        league.book(slots, np.repeat(np.tile([1, 0, -1], len(results)), results.ravel()))
