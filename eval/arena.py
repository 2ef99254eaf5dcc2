"""The arena: agents play the same deals in every seating.

A pair is one stream of deals, played in all seatings of the agents who meet. Two agents: of two
sides, they change places; of three or four, the first takes each side in turn and the second all
the others. As many agents as sides: all cyclic rotations of their line-up, so that each takes each
side once. So neither the luck of the deal nor the seat speaks for one of them. Deals follow from
(seed, pair) and agents' keys from the deals, so whoever plays, on whatever machine, in whatever
order: pair 7 is the same pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from eval.course import loops
from fives_env.actions import NUM_ACTIONS
from fives_env.games import Games, words
from fives_env.play import checked
from fives_env.policies import BuiltIn, Policy
from fives_env.records import VIEW
from fives_env.rules import Rules

Array = npt.NDArray[Any]
DOMAIN = int.from_bytes(b"arena", "big")
"""Part of every seed here, so that no tournament plays the deals of a training run."""

_ROOM = 512
"""Actions a match at first; a record grows where it takes more."""


@dataclass(frozen=True)
class Matches:
    """Finished matches of the agents of one meeting: N pairs, each in M seatings, of D sides.

    Agents are numbered in the order of the meeting. In seating m, agent 0 is side m; there are as
    many seatings as sides.

    Attributes:
        pairs: int64 [N], the numbers of the pairs.
        sides: int8 [M, D], the agent that each side is.
        scores: int64 [N, M, D], final, by side.
        rounds: int64 [N, M], rounds begun.
        winner: int64 [N, M], the winning side, or -1.
        truncated: bool [N, M], ended by `max_rounds`.
        leader: int64 [N, M], the seat that leads the first round.
        deals: int64 [N, M], a hash of the first deal.
        lines: int64 [N, M], a hash of all actions.
        moves: object [N, M], all actions as bytes.
    """

    pairs: Array
    sides: Array
    scores: Array
    rounds: Array
    winner: Array
    truncated: Array
    leader: Array
    deals: Array
    lines: Array
    moves: Array

    @property
    def num_agents(self) -> int:
        """How many agents met."""
        return int(self.sides.max()) + 1

    def swapped(self) -> Self:
        """The same matches with a and b exchanged; only two sides can be."""
        same = {"pairs": self.pairs, "sides": self.sides}
        turned = {name: values[:, ::-1] for name, values in vars(self).items() if name not in same}
        return type(self)(**same, **turned)


def pair_seeds(seed: int, pairs: Array) -> Array:
    """The seed of each pair's deals: uint64 [N]."""
    stream = np.random.SeedSequence((DOMAIN, seed)).generate_state(1, np.uint64)[0]
    seeds = np.empty(len(pairs), np.uint64)
    loops.mix_all(stream, np.asarray(pairs, np.int64), seeds)
    return seeds


def seatings(num_sides: int, num_agents: int = 2) -> Array:
    """Which agent is each side: int8 [M, D]; in row m, agent 0 is side m."""
    sides = (np.arange(num_sides) - np.arange(num_sides)[:, None]) % num_sides
    agents: Array = np.minimum(sides, num_agents - 1).astype(np.int8)
    return agents


def play(rules: Rules, a: Policy, b: Policy, seed: int, pairs: Array) -> Matches:
    """Plays these pairs of two agents, as `play_meeting` does."""
    return play_meeting(rules, (a, b), seed, pairs)


def play_meeting(rules: Rules, agents: Sequence[Policy], seed: int, pairs: Array) -> Matches:
    """Plays these pairs, all in one batch.

    Args:
        rules: What is played.
        agents: Two, or as many as there are sides.
        seed: Of the tournament.
        pairs: Numbers of the pairs, [N].

    Raises:
        ValueError: An agent failed or returned an illegal action; the message names it.
    """
    sides = seatings(rules.num_sides, len(agents))
    shape = (len(pairs), len(sides))
    games = Games(rules, num_games=len(pairs) * len(sides))
    games.reset(seed=np.repeat(pair_seeds(seed, pairs), len(sides)))
    leader, deals = games.data["leader"].astype(np.int64), deal_hashes(games)
    seats = sides[:, [rules.side_of(seat) % rules.num_sides for seat in range(4)]]
    moves = play_out(games, agents, np.tile(seats, (len(pairs), 1)))
    data = games.data
    return Matches(
        pairs=np.asarray(pairs, np.int64),
        sides=sides,
        scores=data["scores"][:, : rules.num_sides].astype(np.int64).reshape(*shape, -1),
        rounds=data["round"].astype(np.int64).reshape(shape) + 1,
        winner=data["winner"].astype(np.int64).reshape(shape),
        truncated=(data["truncated"] == 1).reshape(shape),
        leader=leader.reshape(shape),
        deals=deals.reshape(shape),
        lines=hash_rows(moves).reshape(shape),
        moves=moves.reshape(shape),
    )


def joined(blocks: Sequence[Matches]) -> Matches:
    """Matches of one meeting that were played in several blocks of pairs."""
    fields = {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in vars(blocks[0])
        if name != "sides"
    }
    return Matches(sides=blocks[0].sides, **fields)


def play_out(games: Games, agents: Sequence[Policy], seating: Array) -> Array:
    """Plays every match to its end; returns all actions of each: bytes, object [B].

    As `fives_env.play.advance`, with a record; each agent is asked about the sub-batch of games in
    which it is to move.

    Args:
        games: Stepped in place; they stand at the start of a match.
        agents: Who plays.
        seating: int8 [B, 4], for each seat an index into `agents`.

    Raises:
        ValueError: As for `advance`.
    """
    kinds = np.array([agent.kind if isinstance(agent, BuiltIn) else -1 for agent in agents])
    memory = games.params, words(games.params)[0], games.data, words(games.data)
    records = np.empty((len(games), _ROOM), np.uint8)
    lengths, waiting = np.zeros((2, len(games)), np.int64)
    actions = np.full(len(games), -1, np.int64)
    while loops.play_on(
        games.params, games.data, games.script, kinds, seating, actions, records, lengths, waiting
    ):
        actions[:] = -1
        if (waiting == loops.NO_ROOM).any():
            records = np.hstack([records, np.empty_like(records)])
        for index, agent in enumerate(agents):
            if len(rows := np.flatnonzero(waiting == index)):
                actions[rows] = _ask(agent, memory, rows)
    moves = np.empty(len(games), object)
    moves[:] = [row[:length].tobytes() for row, length in zip(records, lengths, strict=True)]
    return moves


def _ask(agent: Policy, memory: tuple[Array, ...], rows: Array) -> Array:
    """The agent's actions in these rows; as `fives_env.play.ask`, without copying the games.

    `memory` is PARAMS and GAME, each followed by the same as words.
    """
    views, keys = np.empty(len(rows), VIEW), np.empty(len(rows), np.uint64)
    masks = np.empty((len(rows), NUM_ACTIONS), np.bool_)
    loops.show(*memory, rows, views, words(views), masks, keys)
    answer = agent.act(views, masks, keys)
    as_wanted = isinstance(answer, np.ndarray) and answer.dtype == np.int64
    if as_wanted and answer.shape == rows.shape and loops.all_legal(masks, answer):
        return answer
    return checked(agent, answer, views, masks)


def deal_hashes(games: Games) -> Array:
    """A hash of the deal that each game has now: int64 [B]."""
    deals = np.column_stack([games.data["deck"], games.data["leader"]])
    return hash_rows([deal.tobytes() for deal in deals])


def hash_rows(rows: Sequence[bytes] | Array) -> Array:
    """A 64-bit hash of each of these bytes: int64 [B]."""
    ends = np.cumsum([len(row) for row in rows])
    hashes = np.empty(len(rows), np.uint64)
    loops.hash_rows(np.frombuffer(b"".join(rows), np.uint8), ends, hashes)
    return hashes.view(np.int64)
