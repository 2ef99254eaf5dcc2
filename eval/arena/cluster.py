"""Blocks as tasks of a Ray cluster, an existing one or one that is started here."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from eval.arena.workers import LOST, MAX_LOSSES, ONE_THREAD, Block, Outcome, play_block_elsewhere

LOCAL = "local"
"""The address of a cluster that is started here, and stopped at the end."""


def play_on_ray(
    blocks: Iterable[Block | None], address: str, num_workers: int
) -> Iterator[Outcome]:
    """Plays the blocks on the cluster; Ray plays those of a lost worker again.

    On every machine of the cluster, this checkout and the models that play must be at the same
    path.

    Args:
        blocks: Taken as there is room for them; None where there is none until others came back.
        address: Of the cluster, or ``local``.
        num_workers: Of a local cluster.

    Raises:
        ValueError: Ray is not installed, or there is no cluster at this address.
    """
    with connected(address, num_workers) as ray:
        yield from _play(ray, iter(blocks))


@contextmanager
def connected(address: str, num_workers: int) -> Iterator[Any]:
    """Ray, connected to the cluster until the end of the ``with`` block.

    On every machine of the cluster, this checkout must be at the same path.

    Args:
        address: Of the cluster, or ``local``.
        num_workers: Of a local cluster.

    Raises:
        ValueError: Ray is not installed, or there is no cluster at this address.
    """
    try:
        import ray
    except ImportError:
        raise ValueError("--ray needs Ray; run: pip install --group ray") from None
    _refuse_deaf(address)
    paths = os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))
    where = {"num_cpus": num_workers} if address == LOCAL else {"address": address}
    try:
        ray.init(
            **where,
            runtime_env={"env_vars": {**ONE_THREAD, "PYTHONPATH": paths}},
            include_dashboard=False if address == LOCAL else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"--ray {address}: there is no such cluster ({reason})") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _refuse_deaf(address: str) -> None:
    """Refuses an address at which nobody listens; Ray itself would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not (host and port.isdigit()):
        return  # local, auto, and whatever else Ray may understand
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise ValueError(f"--ray {address}: there is no such cluster ({error})") from None


def _play(ray: Any, blocks: Iterator[Block | None]) -> Iterator[Outcome]:
    task = ray.remote(max_retries=MAX_LOSSES - 1)(play_block_elsewhere)
    room = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
    going: dict[Any, Block] = {}
    while True:
        while len(going) < room and (block := next(blocks, None)):
            going[task.remote(block)] = block
        if not going:
            return
        (done, *_), _ = ray.wait(list(going), num_returns=1)
        block = going.pop(done)
        try:
            yield ray.get(done)
        except ray.exceptions.RayError:
            yield Outcome(block, None, LOST)
