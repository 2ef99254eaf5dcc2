"""The arena: agents play the same deals in every seating.

A pair is one stream of deals, played in all seatings of the agents who meet. Two agents: of two
sides, they change places; of three or four, the first takes each side in turn and the second all
the others. As many agents as sides: in every order, so that each takes each side, and has each
neighbour, equally often. So neither the luck of the deal nor the seat speaks for one of them.

Deals follow from (seed, pair), and agents' keys from (salt, who is which side, pair) and the place
in the match. So whoever plays, on whatever machine, in whatever order: pair 7 is the same pair.

In another seating an agent would meet the hands that it has held before. So every seat of every
seating is played by a copy of its own, with other keys, and is asked about its matches in an order
that is drawn anew each time: nothing that it is handed says which of them share deals.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from eval.arena import loops
from eval.matches import Matches
from fives_env.games import Games
from fives_env.play import Record, advance
from fives_env.policies import Policy
from fives_env.rules import Rules
from fives_env.salts import part_of, read_salt

Array = npt.NDArray[Any]
DOMAIN = int.from_bytes(b"arena", "big")
"""Part of every seed here, so that no tournament plays the deals of a training run."""


def pair_seeds(seed: int, pairs: Array) -> Array:
    """The seed of each pair's deals: uint64 [N]."""
    stream = np.random.SeedSequence((DOMAIN, seed)).generate_state(1, np.uint64)[0]
    seeds = np.empty(len(pairs), np.uint64)
    loops.mix_all(stream, np.asarray(pairs, np.int64), seeds)
    return seeds


def seatings(num_sides: int, num_agents: int = 2) -> Array:
    """Which agent is each side: int8 [M, D].

    Of two agents, agent 0 is side m in row m, and agent 1 all the others. As many agents as sides
    sit in every order around the table, so that nobody always plays after the same neighbour: in
    row `D * c + m`, agent 0 is side m, and the others follow in their c-th order.
    """
    shifts = (np.arange(num_sides) - np.arange(num_sides)[:, None]) % num_sides
    orders = [(0, *[1] * (num_sides - 1))]
    if num_agents > 2:
        orders = [(0, *others) for others in itertools.permutations(range(1, num_agents))]
    return np.array(orders, np.int8)[:, shifts].reshape(-1, num_sides)


def play(
    rules: Rules, a: Policy, b: Policy, seed: int, pairs: Array, salt: int | None = None
) -> Matches:
    """Plays these pairs of two agents, as `play_meeting` does."""
    return play_meeting(rules, (a, b), seed, pairs, salt)


def play_meeting(
    rules: Rules,
    agents: Sequence[Policy],
    seed: int,
    pairs: Array,
    salt: int | None = None,
    names: Sequence[str] | None = None,
) -> Matches:
    """Plays these pairs, each seating in one batch.

    Args:
        rules: What is played.
        agents: Two, or as many as there are sides. They stay as they are: copies play.
        seed: Of the deals.
        pairs: Numbers of the pairs, [N].
        salt: Of the keys (fives_env/salts.py); drawn if None.
        names: What the keys know the agents by; equal ones are one agent, and its matches with
            itself are played in one seating and counted in all. Numbers, if None.

    Raises:
        ValueError: An agent failed, returned an illegal action or cannot be copied; the message
            names it.
    """
    sides, salt = seatings(rules.num_sides, len(agents)), read_salt(salt)
    known_as = names or [str(index) for index in range(len(agents))]
    played: dict[tuple[str, ...], _Played] = {}
    lineups = [tuple(known_as[index] for index in row) for row in sides.tolist()]
    for lineup, row in zip(lineups, sides.tolist(), strict=True):
        if lineup not in played:
            of_sides = [agents[index] for index in row]
            own = lineup_salt(salt, rules.spec, lineup)
            played[lineup] = _play_lineup(rules, of_sides, seed, pairs, own)
    found = [played[lineup] for lineup in lineups]
    games = np.stack([each.games for each in found], axis=1)
    moves = np.stack([each.moves for each in found], axis=1)
    return Matches(
        pairs=np.asarray(pairs, np.int64),
        sides=sides,
        scores=games["scores"][..., : rules.num_sides].astype(np.int64),
        rounds=games["round"].astype(np.int64) + 1,
        winner=games["winner"].astype(np.int64),
        truncated=games["truncated"] == 1,
        leader=np.stack([each.leader for each in found], axis=1),
        deals=np.stack([each.deals for each in found], axis=1),
        lines=hash_rows(moves.ravel()).reshape(moves.shape),
        moves=moves,
    )


def lineup_salt(salt: int, rules: str, lineup: Sequence[str]) -> int:
    """The salt of the matches in which these agents are the sides, in this order."""
    return part_of(salt, rules, *lineup)


class _Played(NamedTuple):
    """Matches of one seating: by pair, the first leader, a hash of the first deal, all at the end.

    Attributes:
        leader: int64 [N].
        deals: int64 [N].
        games: GAME [N].
        moves: object [N].
    """

    leader: Array
    deals: Array
    games: Array
    moves: Array


def _play_lineup(
    rules: Rules, agents: Sequence[Policy], seed: int, pairs: Array, salt: int
) -> _Played:
    """Plays these pairs in one seating, with these agents as the sides."""
    games = Games(rules, num_games=len(pairs), salt=salt)
    games.reset(seed=pair_seeds(seed, pairs))
    leader, deals = games.data["leader"].astype(np.int64), deal_hashes(games)
    seats = [copy_of(agents[rules.side_of(seat)]) for seat in range(rules.players)]
    moves = play_out(games, seats, pairs, salt)
    return _Played(leader, deals, games.data, moves)


def copy_of(agent: Policy) -> Policy:
    """The agent once more, with a state of its own.

    Raises:
        ValueError: It cannot be copied.
    """
    try:
        return copy.deepcopy(agent)
    except Exception as error:  # other people's code
        raise ValueError(
            f"{agent!r} cannot be copied, and every seat is played by a copy of its own "
            f"(copy.deepcopy: {type(error).__name__}: {error})"
        ) from error


def joined(blocks: Sequence[Matches]) -> Matches:
    """Matches of one meeting that were played in several blocks of pairs."""
    fields = {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in vars(blocks[0])
        if name != "sides"
    }
    return Matches(sides=blocks[0].sides, **fields)


def play_out(games: Games, seats: Sequence[Policy], pairs: Array, salt: int) -> Array:
    """Plays every match to its end; returns all actions of each: bytes, object [B].

    As `fives_env.play.advance`, with a record; each seat is asked about the sub-batch of games in
    which it is to move, in an order that the salt draws.

    Args:
        games: Stepped in place; they stand at the start of a match.
        seats: Who plays each seat.
        pairs: Whole numbers [B], by which the keys tell the matches apart.
        salt: That of the games.

    Raises:
        ValueError: As for `advance`.
    """
    record = Record(len(games))
    seating = np.tile(np.arange(4, dtype=np.int8), (len(games), 1))
    order = np.random.default_rng(part_of(salt, "order"))
    matches = np.asarray(pairs).astype(np.uint64)
    advance(games, seats, seating, record=record, matches=matches, order=order)
    return record.lines()


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
