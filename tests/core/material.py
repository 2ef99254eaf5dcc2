"""Rules to run through, and games played on, as the tests of the core and of the envs use them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fives_env import Games
from fives_env.engine import keys
from fives_env.play import turn_keys
from fives_env.tiles import tiles_up_to
from tests.rules.positions import from_python, play_randomly, seeded, tile_bits

MIX = from_python(keys.mix)
Array = NDArray[Any]

BASIC = [
    f"{game}:players={players}"
    for game in ("fives-and-threes", "threes-and-fives", "all-fives")
    for players in ("2", "3", "4,partners=yes", "4,partners=no")
]
"""Every preset with every number of seats, with and without partners."""

VARIANTS = [
    "fives-and-threes:players=4,mode=round",
    "fives-and-threes:players=2,lead=highest-double,target=13,max_rounds=3",
    "fives-and-threes:players=4,partners=yes,deal=7",
    "fives-and-threes:players=3,max_pip=3,deal=2,target=20",
    "threes-and-fives:players=2,draw=optional,reserve=2",
    "threes-and-fives:players=3,lead=highest-double,draw=optional",
    "threes-and-fives:players=4,partners=yes,reserve=1,target_check=round-end,target=40",
    "threes-and-fives:players=2,spinner=none,mode=round",
    "threes-and-fives:players=4,deal=7,lead=winner,max_rounds=2",
    "all-fives:players=2,draw=optional,deal=1,max_rounds=4",
    "all-fives:players=3,lead=highest-double,reserve=1,target=60",
    "all-fives:players=4,partners=no,mode=round,deal=3",
    "all-fives:players=2,max_pip=2,deal=2,max_rounds=5",
    "all-fives:players=4,partners=yes,spinner=none,target_check=round-end,target=50",
]
"""Options in combinations that reach the rest of the rules."""

ALL = BASIC + VARIANTS


def seats_of(games: Games, rng: np.random.Generator) -> Array:
    """A seat for each game, any of those there are: int64 [B]."""
    return rng.integers(0, games.rules.players, len(games))


def restart(games: Games) -> None:
    """The next match in every row whose match is over."""
    games.restart(games.data["match_over"] == 1)


def played_on(
    spec: str, num_games: int, steps: int, seed: int = 1, scores: Any = None
) -> Iterator[tuple[Games, np.random.Generator]]:
    """Games under random legal play, `steps` actions on; matches that are over are seen, once."""
    games = seeded_from(spec, num_games, seed, scores)
    rng = np.random.default_rng(seed)
    yield games, rng
    for _ in range(steps):
        restart(games)
        play_randomly(games, rng)
        yield games, rng


def seeded_from(spec: str, num_games: int, seed: Any = 1, scores: Any = None) -> Games:
    """A batch on seeded deals, from start scores if any are given."""
    games = Games(spec, num_games)
    games.reset(seed=seed, scores=scores)
    return games


def mixed(spec: str, num_games: int = 200, steps: int = 60, seed: int = 3) -> Games:
    """Games whose seats are to move, from before the lead to late in a match.

    Row i has made about ``steps * i / num_games`` actions.
    """
    games = seeded_from(spec, num_games, seed)
    rng = np.random.default_rng(seed)
    stops = np.linspace(0, steps, num_games).astype(int)
    for number in range(steps):
        restart(games)
        mask = games.action_mask()
        choice = np.argmax(rng.random(mask.shape) * mask, axis=1)
        games.step(np.where(number < stops, choice, -1))
    restart(games)
    return games


def shuffle_hidden(games: Games, viewers: Array, rng: np.random.Generator) -> Games:
    """The same games with all that `viewers` cannot see dealt anew, hand sizes kept.

    Other hands, the boneyard, its order, the order of the deck before it and the match's key
    change; the viewer's hand and everything public stays.
    """
    other = games.clone()
    data, rows = other.data, np.arange(len(games))
    num_tiles = games.rules.num_tiles
    own = data["hands"][rows, viewers]
    in_set = np.isin(np.arange(28), tiles_up_to(games.rules.max_pip))
    hidden = in_set & ~tile_bits(own | data["played"])
    order = np.argsort(np.where(hidden, rng.random(hidden.shape), 2.0), axis=1)
    sizes = data["hand_sizes"].astype(np.int64)
    sizes[rows, viewers] = 0
    ends = np.cumsum(sizes, axis=1)
    positions = np.arange(28)
    owner = (positions[:, None] >= ends[:, None, :]).sum(axis=2)  # 4: the boneyard
    bits = np.uint32(1) << order.astype(np.uint32)
    count = hidden.sum(axis=1)
    there = positions < count[:, None]
    for seat in range(4):
        dealt = np.where((owner == seat) & there, bits, 0).sum(axis=1).astype(np.uint32)
        data["hands"][:, seat] = np.where(viewers == seat, own, dealt)
    place = np.where(in_set, rng.random(hidden.shape), 9.0)  # dealt tiles first, in any order
    in_boneyard = (owner == 4) & there
    row, position = np.nonzero(in_boneyard)
    place[row, order[row, position]] = 1.0 + position / 28
    data["deck"][:, :num_tiles] = np.argsort(place, axis=1)[:, :num_tiles]
    data["key"] = rng.integers(0, 2**64, len(games), dtype=np.uint64)
    if games.rules.lead == "highest-double":
        _fix_lead(data, viewers)
    return other


def _fix_lead(data: Array, viewers: Array) -> None:
    """T11: the leader must lead the best of its tiles; if it is the viewer, the tile stays."""
    for row in np.flatnonzero((data["played"] == 0) & (data["leader"] != viewers)):
        held = np.flatnonzero(tile_bits(data["hands"][row, data["leader"][row]]))
        data["lead_tile"][row] = held[-1]


def key_at(stream: int, index: int) -> int:
    """Number `index` of a stream, as a plain int."""
    return int(MIX(np.uint64(stream), np.uint64(index)))


def compiled_keys(games: Games, views: Array) -> Array:
    """The numbers by which a built-in policy chooses in those of the games that look like `views`.

    No policy is handed them; with them one in Python can play as its compiled twin does.
    """
    rows: dict[bytes, list[int]] = {}
    for row, view in enumerate(games.view()):
        rows.setdefault(view.tobytes(), []).append(row)
    found = [rows[view.tobytes()].pop(0) for view in views]
    return turn_keys(games, by_salt=False)[found]


def assert_uniform(counts: Array, expected: Any = None, least: float = 1e-5) -> None:
    """Chi-square: the counts are as near to `expected` (equal shares) as chance would have it."""
    from scipy.stats import chisquare

    counts = np.asarray(counts, float).ravel()
    shares = np.full(counts.size, counts.sum() / counts.size) if expected is None else expected
    assert np.min(shares) >= 5, "too few draws for a chi-square"
    assert chisquare(counts, shares).pvalue > least


__all__ = ["ALL", "BASIC", "VARIANTS", "assert_uniform", "compiled_keys", "key_at", "mixed"]
__all__ += ["play_randomly", "played_on", "restart", "seats_of", "seeded", "seeded_from"]
__all__ += ["shuffle_hidden", "tile_bits"]
