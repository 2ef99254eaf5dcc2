"""Who plays the games of a run: this process, or workers on a Ray cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy.typing as npt
import torch

from eval.arena import paired as arena
from eval.arena.cluster import connected
from eval.matches import Matches
from fives_env.policies import Policy
from fives_env.rules import Rules
from train.selfplay.actor_critic import ActorCritic
from train.selfplay.config import Selfplay
from train.selfplay.rollout.collector import Rollout, Tables, collect

Array = npt.NDArray[Any]


class Workers(Protocol):
    """Who plays rollouts and evaluations; what comes of them is the same."""

    def collect(self, tables: Tables, network: ActorCritic, memory: Rollout) -> float:
        """Plays T decisions in every game from where the tables stand.

        Args:
            tables: Played on in place.
            network: Chooses.
            memory: Filled.

        Returns:
            The seconds that were spent in the network.
        """
        ...

    def play(
        self, rules: Rules, a: Policy, b: Policy, seed: int, pairs: Array, salt: int | None
    ) -> Matches:
        """As `eval.arena.paired.play`."""
        ...


class Here:
    """Plays in this process."""

    def collect(self, tables: Tables, network: ActorCritic, memory: Rollout) -> float:
        """As `Workers.collect`."""
        device = network.points.device
        with torch.no_grad():
            return collect(tables, lambda rows: network.act(rows)[0], memory, device)

    def play(
        self, rules: Rules, a: Policy, b: Policy, seed: int, pairs: Array, salt: int | None
    ) -> Matches:
        """As `Workers.play`."""
        return arena.play(rules, a, b, seed, pairs, salt)


HERE = Here()


@contextmanager
def cluster_of(config: Selfplay) -> Iterator[Any]:
    """Ray, connected as the run is told; None if it needs none.

    Raises:
        ValueError: Ray is not installed, or there is no cluster at this address.
    """
    if config.ray is None:
        yield None
        return
    with connected(config.ray, config.workers) as ray:
        yield ray


def workers_of(config: Selfplay, ray: Any, log: logging.Logger) -> Workers:
    """Those who play for this run, where `cluster_of` gave `ray`."""
    if ray is None:
        return HERE
    from train.selfplay.workers_ray import RayWorkers

    return RayWorkers(ray, config.workers, log)
