"""Measures the peers on one core, and prints one JSON document.

It is run by the Python of the peers' venv, and needs no more than the standard library to start:

    python measure.py --seconds 3

prints `{"cpu": 1, "rows": [...], "errors": [...]}`. A row has `what`, `rules`, `batch`, `threads`,
`version`, `counts` (what one step is), `per_second`, `unit` and `seconds`; a peer that cannot be
measured has an entry in `errors` instead, with `error` in place of the last three. Every peer has
a process of its own, so that one that crashes or hangs takes no other with it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from eval.speed.peers.aec_loop import Rate, aec_rate, best_rate
else:
    from aec_loop import Rate, aec_rate, best_rate

SEED = 1
# Imports and compilation, at their slowest; past it the peer is taken to hang.
SET_UP_SECONDS = 240
# One thread each, no GPU, and nothing said about their own upkeep.
PEER_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    "PYTHONWARNINGS": "ignore",
}


@dataclass(frozen=True)
class Peer:
    """One thing to measure: what it is, the packages whose versions tell, and how."""

    what: str
    rules: str
    counts: str
    packages: tuple[str, ...]
    measure: Callable[[float], Rate]
    batch: int = 1

    def row(self) -> dict[str, Any]:
        """The part of a row that is known before anything is measured."""
        return {
            "what": self.what,
            "rules": self.rules,
            "batch": self.batch,
            "threads": 1,
            "version": ", ".join(f"{name} {_version(name)}" for name in self.packages),
            "counts": self.counts,
        }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def open_spiel(name: str) -> Callable[[float], Rate]:
    """Random play of an OpenSpiel game, a whole game from the deal on at each call."""

    def measure(seconds: float) -> Rate:
        pyspiel = importlib.import_module("pyspiel")
        # OpenSpiel's games in Python register themselves when they are imported.
        importlib.import_module(f"open_spiel.python.games.{name.removeprefix('python_')}")
        game = pyspiel.load_game(name)
        choice = random.Random(SEED).choice

        def play() -> int:
            state = game.new_initial_state()
            steps = 0
            while not state.is_terminal():
                if state.is_chance_node():
                    # These deals are uniform, so the probabilities need no look.
                    state.apply_action(choice(state.chance_outcomes())[0])
                else:
                    state.apply_action(choice(state.legal_actions()))
                    steps += 1
            return steps

        return best_rate(play, seconds)

    return measure


def pgx_connect_four(batch: int) -> Callable[[float], Rate]:
    """Pgx's own random player and auto reset, in a compiled scan over a batch."""

    def measure(seconds: float) -> Rate:
        jax = importlib.import_module("jax")
        pgx = importlib.import_module("pgx")
        act_randomly = importlib.import_module("pgx.experimental.utils").act_randomly
        auto_reset = importlib.import_module("pgx.experimental.wrappers").auto_reset
        env = pgx.make("connect_four")
        step = jax.vmap(auto_reset(env.step, env.init))
        length = max(16, min(4096, 2**20 // batch))

        def one(carry: Any, _: None) -> tuple[Any, None]:
            state, key = carry
            key, act_key, step_key = jax.random.split(key, 3)
            action = act_randomly(act_key, state.legal_action_mask)
            return (step(state, action, jax.random.split(step_key, batch)), key), None

        scan = jax.jit(lambda carry: jax.lax.scan(one, carry, None, length=length)[0])
        keys = jax.random.split(jax.random.PRNGKey(SEED), batch)
        carry = (jax.jit(jax.vmap(env.init))(keys), jax.random.PRNGKey(SEED + 1))

        def play() -> int:
            nonlocal carry
            carry = jax.block_until_ready(scan(carry))
            return batch * length

        play()  # compiles
        return best_rate(play, seconds)

    return measure


def pettingzoo_connect_four(seconds: float) -> Rate:
    """PettingZoo's connect four, through the loop of its documentation."""
    pettingzoo = importlib.import_module("pettingzoo")
    return aec_rate(lambda: pettingzoo.make("aec", "classic/connect_four_v3"), seconds)


def rlcard_game(name: str) -> Callable[[float], Rate]:
    """A game of RLCard between its own random agents."""

    def measure(seconds: float) -> Rate:
        rlcard = importlib.import_module("rlcard")
        agents = importlib.import_module("rlcard.agents")
        env = rlcard.make(name, config={"seed": SEED})
        env.set_agents([agents.RandomAgent(env.num_actions) for _ in range(env.num_players)])

        def play() -> int:
            before = int(env.timestep)
            env.run(is_training=True)  # the quicker of its two ways
            return int(env.timestep) - before

        return best_rate(play, seconds)

    return measure


def pypi_dominoes(seconds: float) -> Rate:
    """A round of the PyPI package `dominoes` with random valid moves."""
    dominoes = importlib.import_module("dominoes")
    random.seed(SEED)  # its deals come from the module's generator

    def play() -> int:
        game = dominoes.Game.new()
        steps = 0
        while game.result is None:
            game.make_move(*random.choice(game.valid_moves))
            steps += 1
        return steps

    return best_rate(play, seconds)


DEALT = "player actions; the deal (chance nodes) is in the time, not in the count"
CONNECT_FOUR = "connect four, two players"
PEERS = {
    "open_spiel_block": Peer(
        "OpenSpiel python_block_dominoes",
        "block dominoes, two players, one round a game",
        DEALT,
        ("open_spiel",),
        open_spiel("python_block_dominoes"),
    ),
    "open_spiel_team": Peer(
        "OpenSpiel python_team_dominoes",
        "block dominoes, four players in partners, one round a game",
        DEALT,
        ("open_spiel",),
        open_spiel("python_team_dominoes"),
    ),
    **{
        f"pgx_{batch}": Peer(
            "Pgx connect_four",
            CONNECT_FOUR,
            "actions of all games of the batch; compilation is not in the time",
            ("pgx", "jax"),
            pgx_connect_four(batch),
            batch,
        )
        for batch in (1, 1024, 65536)
    },
    "pettingzoo": Peer(
        "PettingZoo connect_four_v3",
        CONNECT_FOUR,
        "actions, through agent_iter, last, sample(mask) and step; resets are in the time",
        ("pettingzoo",),
        pettingzoo_connect_four,
    ),
    "rlcard_uno": Peer(
        "RLCard uno",
        "UNO, two players",
        "actions of its random agents",
        ("rlcard",),
        rlcard_game("uno"),
    ),
    "rlcard_leduc": Peer(
        "RLCard leduc-holdem",
        "Leduc hold'em, two players",
        "actions of its random agents",
        ("rlcard",),
        rlcard_game("leduc-holdem"),
    ),
    "dominoes": Peer(
        "PyPI dominoes",
        "block dominoes, four players in partners, one round a game",
        "moves; passes are made by the library itself and not counted",
        ("dominoes",),
        pypi_dominoes,
    ),
}


def pin(cpu: int | None) -> int | None:
    """Keeps this process, and whatever it starts, to one core where the OS has a call for it.

    Args:
        cpu: The core; None takes the last one that this process may use.

    Returns:
        The core, or None where there is no such call (macOS, Windows).

    Raises:
        ValueError: This process may not use that core.
    """
    if sys.platform != "linux":
        return None
    allowed = os.sched_getaffinity(0)
    if cpu is None:
        cpu = max(allowed)
    if cpu not in allowed:
        raise ValueError(f"core {cpu} is not one of those at hand: {sorted(allowed)}")
    os.sched_setaffinity(0, {cpu})
    return cpu


def measure_here(peer: Peer, seconds: float) -> dict[str, Any]:
    """One peer's row, measured in this process; with `error` in it if that fails."""
    try:
        rate = peer.measure(seconds)
    except Exception as error:  # whatever a peer does wrong, the others are measured
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return {**peer.row(), "error": text}
    measured = {"per_second": rate.per_second, "unit": "steps/s", "seconds": rate.seconds}
    return {**peer.row(), **measured}


def measure_apart(name: str, seconds: float) -> dict[str, Any]:
    """One peer's row, measured in a process of its own."""
    peer = PEERS[name]
    command = [sys.executable, __file__, "--seconds", str(seconds), "--peer", name]
    print(f"measuring {peer.what}, batch {peer.batch:,}", file=sys.stderr, flush=True)
    limit = SET_UP_SECONDS + 10 * seconds
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=limit, check=False)
        row: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {**peer.row(), "error": f"not done after {limit:.0f} s"}
    except ValueError:
        return {**peer.row(), "error": f"its process ended with exit code {done.returncode}"}
    return row


@contextlib.contextmanager
def only_json() -> Iterator[TextIO]:
    """The real standard output, while whatever the peers print goes to standard error."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        yield out


def main() -> None:
    """Measures every peer and prints the document, or with `--peer` one peer and its row."""
    parser = argparse.ArgumentParser(description="Measures other libraries on one core.")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each of two stretches")
    parser.add_argument("--cpu", type=int, help="the core to run on (the last one by default)")
    parser.add_argument("--peer", choices=sorted(PEERS), help="this one only, in this process")
    args = parser.parse_args()
    if not 0 < args.seconds < float("inf"):
        parser.error(f"argument --seconds: must be more than 0, not {args.seconds:g}")
    try:
        cpu = pin(args.cpu)
    except ValueError as error:
        parser.error(f"argument --cpu: {error}")
    os.environ.update(PEER_ENVIRONMENT)
    document: dict[str, Any]
    with only_json() as out:
        if args.peer:
            document = measure_here(PEERS[args.peer], args.seconds)
        else:
            rows = [measure_apart(name, args.seconds) for name in PEERS]
            document = {
                "cpu": cpu,
                "rows": [row for row in rows if "error" not in row],
                "errors": [row for row in rows if "error" in row],
            }
        print(json.dumps(document, indent=1), file=out)


if __name__ == "__main__":
    main()
