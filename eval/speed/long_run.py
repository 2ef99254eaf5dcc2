"""Whether memory grows and speed falls over a long run in one process."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fives_env.envs.aec import env as make_aec
from fives_env.envs.vector import FivesVectorEnv

RESETS, STEPS = 200_000, 2_000_000
ENVS = 1024
_TENTHS = 10
_PIECES = 20
"""Of each tenth, the fastest of which counts: other programs disturb it least."""


def long_runs(rules: str, resets: int = RESETS, steps: int = STEPS) -> list[dict[str, Any]]:
    """Resets of the AEC env and steps of the vector env, by tenths.

    Returns:
        One row each: ``what``, ``times``, ``first_per_second``, ``last_per_second`` (the first and
        the last tenth), and ``grown_bytes`` of resident memory since the first tenth (None where
        the system does not tell).
    """
    env = make_aec(rules=rules)
    envs = FivesVectorEnv(ENVS, rules, opponent="greedy")
    envs.reset(seed=1)

    def step() -> None:
        envs.step(envs.action_masks().argmax(axis=1))

    return [
        {"rules": rules, **_tenths("reset of the AEC env", env.reset, resets, 1)},
        {"rules": rules, **_tenths("step of the vector env", step, steps // ENVS, ENVS)},
    ]


def _tenths(what: str, work: Callable[[], None], calls: int, units: int) -> dict[str, Any]:
    times = max(1, calls // (_TENTHS * _PIECES))
    speeds, memory = [], None
    for tenth in range(_TENTHS):
        speeds.append(max(_speed(work, times, units) for _ in range(_PIECES)))
        if tenth == 0:
            memory = _resident()
    after = _resident()
    return {
        "what": what,
        "times": times * units * _PIECES * _TENTHS,
        "first_per_second": speeds[0],
        "last_per_second": speeds[-1],
        "by_tenth": np.round(speeds).tolist(),
        "grown_bytes": None if memory is None or after is None else after - memory,
    }


def _speed(work: Callable[[], None], times: int, units: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        work()
    return times * units / (time.perf_counter() - start)


def _resident() -> int | None:
    """Bytes of this process that are in memory."""
    gc.collect()
    if sys.platform != "linux":
        return None
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096
