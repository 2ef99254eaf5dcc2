"""What the benchmark measures of our own: rollouts, batch steps, views, features, environments."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.speed.peers.aec_loop import play_aec_game
from eval.speed.timing import Piece, Workload, timed
from fives_env.encoding import encode
from fives_env.engine.features import NUM_FEATURES
from fives_env.engine.keys import below, mix
from fives_env.envs.aec import env as make_aec
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from fives_env.games import Games
from fives_env.jit import jit
from fives_env.play import turn_keys
from fives_env.policies import BuiltIn
from fives_env.rules import Rules

Array = npt.NDArray[Any]

FIVES_AND_THREES = Rules.preset("fives-and-threes").spec
PARTNERS = Rules.preset("all-fives", players=4, partners=True).spec
GAMES = (
    FIVES_AND_THREES,
    Rules.preset("threes-and-fives").spec,
    Rules.preset("all-fives").spec,
    PARTNERS,
)
BATCH = 4096
"""Of the rows that compare games."""
FEW, MANY = 64, 65536
"""Batches that `BATCH` is compared with."""
BATCHES = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
ENVS = 1024
ROLLOUT, STEP = "random rollout", "batch step"
VIEWS, MASKS, FEATURES, CLONE = "views", "masks", "encode", "clone"
VECTOR, AEC, SINGLE = "vector env", "AEC env", "single env"

_STEPS_A_CALL = 64
_SEED = 1


def all_workloads(threads: tuple[int, ...]) -> Iterator[Workload]:
    """Everything, in the order of the table.

    Args:
        threads: Numbers of threads to measure beside one.
    """
    for spec in GAMES:
        yield rollout(spec, BATCH)
    for batch in BATCHES:
        if batch != BATCH:
            yield rollout(FIVES_AND_THREES, batch)
    for number in threads:
        yield rollout(FIVES_AND_THREES, BATCHES[-1], number)
    for batch in BATCHES:
        yield batch_step(batch)
    for number in threads:
        yield batch_step(BATCHES[-1], number)
    for make in (views, masks, features):
        yield from (make(spec, BATCH) for spec in GAMES)
        yield from (make(FIVES_AND_THREES, batch) for batch in (FEW, MANY))
    for number in threads:
        yield from (make(FIVES_AND_THREES, MANY, number) for make in (views, masks))
    yield clone(FIVES_AND_THREES, 1)
    yield from (clone(spec, BATCH) for spec in GAMES)
    yield vector_env()
    yield aec_env()
    yield single_env()


def rollout(spec: str, batch: int, threads: int = 1) -> Workload:
    """Random play in compiled code."""
    games = _started(spec, batch, threads)
    numbers = iter(range(1 << 62))

    def work() -> int:
        return int(games.rollout(_STEPS_A_CALL, seed=next(numbers)).steps)

    counts = f"actions, chosen and played in compiled code, {_STEPS_A_CALL} a game and call; deals"
    return Workload(ROLLOUT, spec, batch, "steps/s", f"{counts} in the time", timed(work), threads)


def batch_step(batch: int, threads: int = 1) -> Workload:
    """One action in each game through `Games`, masks and views written out every time."""
    games = _started(FIVES_AND_THREES, batch, threads)
    policy = BuiltIn("random")
    masks, views = games.action_mask(), games.view()
    now = time.perf_counter

    def play() -> Piece:
        times = [now()]
        actions = policy.act(views, masks, turn_keys(games))
        times.append(now())
        games.step(actions)
        times.append(now())
        over = games.data["match_over"] == 1
        if over.any():
            games.restart(over)
        times.append(now())
        games.action_mask(out=masks)
        times.append(now())
        games.view(out=views)
        times.append(now())
        names = ("choose", "step", "restart", "mask", "view")
        return batch, dict(zip(names, map(float, np.diff(times)), strict=True))

    counts = "actions: step, restart of finished matches, action_mask(out=), view(out=); the choice"
    return Workload(
        STEP,
        FIVES_AND_THREES,
        batch,
        "steps/s",
        f"{counts} of random actions (keys, BuiltIn.act) apart",
        play,
        threads,
        ("choose",),
    )


def views(spec: str, batch: int, threads: int = 1) -> Workload:
    """What the seat to move may know, written out."""
    games = in_play(spec, batch, threads)
    out = games.view()

    def work() -> int:
        return len(games.view(out=out))

    counts = "views of the seat to move, view(out=)"
    return Workload(VIEWS, spec, batch, "views/s", counts, timed(work), threads)


def masks(spec: str, batch: int, threads: int = 1) -> Workload:
    """The legal actions, written out."""
    games = in_play(spec, batch, threads)
    out = games.action_mask()

    def work() -> int:
        return len(games.action_mask(out=out))

    counts = "masks of the seat to move, action_mask(out=)"
    return Workload(MASKS, spec, batch, "masks/s", counts, timed(work), threads)


def features(spec: str, batch: int) -> Workload:
    """Views to feature vectors."""
    views = in_play(spec, batch).view()
    out = np.empty((batch, NUM_FEATURES), np.float32)

    def work() -> int:
        return len(encode(views, out=out))

    counts = f"views, to {NUM_FEATURES} features each"
    return Workload(FEATURES, spec, batch, "views/s", counts, timed(work))


def clone(spec: str, batch: int) -> Workload:
    """Copies of games, as a search makes them."""
    games = in_play(spec, batch)

    def work() -> int:
        return len(games.clone())

    return Workload(CLONE, spec, batch, "games/s", "games copied", timed(work))


def vector_env() -> Workload:
    """The learner's steps through the Gymnasium vector env, greedy opponents in compiled code."""
    envs = FivesVectorEnv(ENVS, FIVES_AND_THREES, opponent="greedy")
    envs.reset(seed=_SEED)
    games = in_play(FIVES_AND_THREES, ENVS)
    views, masks = games.view(), games.action_mask()
    out = np.empty((ENVS, NUM_FEATURES), np.float32)
    actions = np.empty(ENVS, np.int64)
    numbers = iter(range(1 << 62))
    # The parts of a step cannot be timed inside it; these do as much on as many games beside it.
    beside: dict[str, Callable[[], object]] = {
        "features": lambda: encode(views, out=out),
        "masks": lambda: games.action_mask(out=masks),
        "views": lambda: games.view(out=views),
    }

    def play() -> Piece:
        _choose(envs.action_masks(), next(numbers), actions)
        parts = {"step": _seconds(lambda: envs.step(actions))}
        return ENVS, parts | {name: _seconds(work) for name, work in beside.items()}

    counts = "learner's steps, the opponent's moves, restarts, features, masks and infos included;"
    return Workload(
        VECTOR,
        FIVES_AND_THREES,
        ENVS,
        "learner steps/s",
        f"{counts} the choice of random actions apart",
        play,
        apart=tuple(beside),
    )


def aec_env() -> Workload:
    """The PettingZoo env under the loop that drives the peer's."""
    env = make_aec(rules=FIVES_AND_THREES)
    env.reset(seed=_SEED)

    def work() -> int:
        steps = play_aec_game(env)
        env.reset()
        return steps

    counts = "actions, through agent_iter, last, sample(mask) and step; resets are in the time"
    return Workload(AEC, FIVES_AND_THREES, 1, "steps/s", counts, timed(work))


def single_env() -> Workload:
    """The Gymnasium env, driven likewise, a random opponent at the table."""
    env = FivesEnv(FIVES_AND_THREES, opponent="random")
    env.action_space.seed(_SEED)
    state = {"info": env.reset(seed=_SEED)[1]}

    def work() -> int:
        action = env.action_space.sample(state["info"]["action_mask"])
        _, _, terminated, truncated, state["info"] = env.step(action)
        if terminated or truncated:
            state["info"] = env.reset()[1]
        return 1

    counts = "learner's steps, the opponent's moves, sample(mask) and resets in the time"
    return Workload(SINGLE, FIVES_AND_THREES, 1, "learner steps/s", counts, timed(work))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _started(spec: str, batch: int, threads: int = 1) -> Games:
    games = Games(Rules.from_spec(spec), batch, threads)
    games.reset(seed=_SEED)
    return games


def in_play(spec: str, batch: int, threads: int = 1) -> Games:
    """Games in the midst of play."""
    games = _started(spec, batch, threads)
    games.rollout(5, seed=_SEED)
    return games


@jit
def _choose(masks: Array, number: int, actions: Array) -> None:
    """One legal action a row, each equally likely."""
    for row in range(len(masks)):
        left = below(mix(number, row), masks[row].sum())
        for action in range(masks.shape[1]):
            if masks[row, action]:
                if left == 0:
                    actions[row] = action
                    break
                left -= 1
