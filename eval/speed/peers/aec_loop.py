"""How a rate is measured, and the loop that drives an AEC environment.

Nothing but the standard library is imported here: `measure.py` loads this file by its path with
the peers' Python, where this project is not installed, and our own benchmark imports it as
`eval.speed.peers.aec_loop`. So PettingZoo's env and ours run through the very same loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WARM_UP_SHARE = 0.1


@dataclass(frozen=True)
class Rate:
    """A measured speed: `steps` done in `seconds` of wall-clock time."""

    steps: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Steps per second."""
        return self.steps / self.seconds


def best_rate(play: Callable[[], int], seconds: float, repeats: int = 2) -> Rate:
    """Calls `play` over and over, and keeps the fastest of `repeats` stretches.

    Args:
        play: Does one piece of work (a game, a chunk of a batch) and returns its steps.
        seconds: The wall-clock time of a stretch; the piece under way is finished and counted.
        repeats: How many stretches; the best is the one that other programs disturbed least.

    Returns:
        The steps and the time of the fastest stretch, after a short one to warm up.
    """
    _stretch(play, seconds * WARM_UP_SHARE)
    return max((_stretch(play, seconds) for _ in range(repeats)), key=lambda rate: rate.per_second)


def _stretch(play: Callable[[], int], seconds: float) -> Rate:
    start = time.perf_counter()
    steps = play()
    while (elapsed := time.perf_counter() - start) < seconds:
        steps += play()
    return Rate(steps, elapsed)


def play_aec_game(env: Any) -> int:
    """Plays one game with random legal actions, as PettingZoo's documentation does.

    Args:
        env: An AEC environment, reset already.

    Returns:
        The actions taken; the None that a seat of a finished game steps with is not counted.
    """
    steps = 0
    for agent in env.agent_iter():
        observation, _, termination, truncation, info = env.last()
        if termination or truncation:
            env.step(None)
            continue
        mask = _mask_of(observation, info)
        env.step(env.action_space(agent).sample(mask))
        steps += 1
    return steps


def _mask_of(observation: Any, info: dict[str, Any]) -> Any:
    """PettingZoo knows both places for the mask of legal actions."""
    if isinstance(observation, dict) and "action_mask" in observation:
        return observation["action_mask"]
    return info["action_mask"]


def aec_rate(make_env: Callable[[], Any], seconds: float) -> Rate:
    """Steps per second of a fresh AEC environment under random legal play, resets included.

    Args:
        make_env: Makes the environment.
        seconds: The wall-clock time of each of the two stretches, of which the faster counts.
    """
    env = make_env()
    env.reset(seed=0)

    def play() -> int:
        steps = play_aec_game(env)
        env.reset()
        return steps

    try:
        return best_rate(play, seconds)
    finally:
        env.close()
