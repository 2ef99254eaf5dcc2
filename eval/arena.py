"""The arena: two agents play the same deals in every seating.

A pair is one stream of deals, played once for each side that agent a can take: of two sides, a and
b change places; of three or four, a takes each in turn and b all the others. So neither the luck
of the deal nor the seat speaks for one of them. Deals follow from (seed, pair) and agents' keys
from the deals, so whoever plays, on whatever machine, in whatever order: pair 7 is the same pair.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fives_env.games import Games
from fives_env.play import advance
from fives_env.policies import Policy
from fives_env.rules import Rules

Array = npt.NDArray[Any]
DOMAIN = int.from_bytes(b"arena", "big")
"""Part of every seed here, so that no tournament plays the deals of a training run."""


@dataclass(frozen=True)
class Matches:
    """Finished matches of agent a against b: N pairs, each in M seatings, between D sides.

    In seating m, a is side m and b is every other side.

    Attributes:
        pairs: int64 [N], the numbers of the pairs.
        scores: int64 [N, M, D], final, by side.
        rounds: int64 [N, M], rounds begun.
        winner: int64 [N, M], the winning side, or -1.
        truncated: bool [N, M], ended by `max_rounds`.
        deals: int64 [N, M], a hash of the first deal.
        lines: int64 [N, M], a hash of the final scores and the last round, deal and moves.
    """

    pairs: Array
    scores: Array
    rounds: Array
    winner: Array
    truncated: Array
    deals: Array
    lines: Array

    def swapped(self) -> Self:
        """The same matches with a and b exchanged; only two sides can be."""
        fields = {name: values[:, ::-1] for name, values in vars(self).items() if name != "pairs"}
        return type(self)(pairs=self.pairs, **fields)


def pair_seeds(seed: int, pairs: Array) -> Array:
    """The seed of each pair's deals: uint64 [N]."""
    seeds = [np.random.SeedSequence(seed, spawn_key=(DOMAIN, int(pair))) for pair in pairs]
    return np.array([one.generate_state(1, np.uint64)[0] for one in seeds], np.uint64)


def seatings(rules: Rules) -> Array:
    """Who sits where: int8 [M, 4], 0 for a and 1 for b; in row m, a is side m."""
    sides = np.array([rules.side_of(seat) for seat in range(4)])
    of_b: Array = sides != np.arange(rules.num_sides)[:, None]
    return of_b.astype(np.int8)


def play(rules: Rules, a: Policy, b: Policy, seed: int, pairs: Array) -> Matches:
    """Plays these pairs, all in one batch.

    Args:
        rules: What is played.
        a: One agent.
        b: The other, or the same.
        seed: Of the tournament.
        pairs: Numbers of the pairs, [N].

    Raises:
        ValueError: An agent failed or returned an illegal action; the message names it.
    """
    seats = seatings(rules)
    shape = (len(pairs), len(seats))
    games = Games(rules, num_games=len(pairs) * len(seats))
    games.reset(seed=np.repeat(pair_seeds(seed, pairs), len(seats)))
    deals = _hashes(games.data, ("deck", "leader"))
    advance(games, [a, b], np.tile(seats, (len(pairs), 1)))
    data = games.data
    return Matches(
        pairs=np.asarray(pairs, np.int64),
        scores=data["scores"][:, : rules.num_sides].astype(np.int64).reshape(*shape, -1),
        rounds=data["round"].astype(np.int64).reshape(shape) + 1,
        winner=data["winner"].astype(np.int64).reshape(shape),
        truncated=(data["truncated"] == 1).reshape(shape),
        deals=deals.reshape(shape),
        lines=_hashes(data, ("deck", "scores", "round", "moves")).reshape(shape),
    )


def _hashes(games: Array, fields: tuple[str, ...]) -> Array:
    """A 64-bit hash of these fields of each record: int64 [B]."""
    columns = [np.ascontiguousarray(games[name]).reshape(len(games), -1) for name in fields]
    rows = np.hstack([column.view(np.uint8) for column in columns])
    digests = b"".join(hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows)
    return np.frombuffer(digests, np.int64)
