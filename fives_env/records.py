"""The records: GAME (everything), VIEW (what one seat may know), and the small ones beside them.

A batch of B games is an array GAME [B]; every field is then a NumPy array with B in front, as in
``games.data["scores"]``, int16 [B, 4]. Axes: S = 4 seats or sides (those that do not exist stay 0),
A = 4 arms. GAME and VIEW begin with the same public block, so a view is a copy of it. There is
no padding between fields: equal games are equal byte by byte.

Public fields, in both:
    played           uint32      mask of the tiles on the table
    scores           int16 [S]   by side
    settlement       int16 [S]   last action: what the end of the round changed, by side (T7, A8)
    points           int16       last action: credited to the mover's side, after refusal (F12)
    total            int16       end total of the layout (C5)
    round            uint16      from 0
    seat             uint8       the seat to move; once the match is over, the last that moved
    leader           uint8       the seat that leads (led) this round
    boneyard         uint8       number of undrawn tiles, reserve included
    hand_sizes       uint8 [S]
    arms             uint8 [A]   open value; 7 where there is no such arm
    counts           uint8 [A]   what each arm adds to the total (a lone opening double: on arm 0)
    spinner          uint8       the spinner's value; 7 while there is none
    spinner_ends     uint8       mask of the arms 0 and 1 that the spinner still ends
    absent           uint8 [S]   mask of the values each seat is publicly known not to hold
    num_moves        uint8       actions of this round so far
    mover            uint8       last action: who made it (255: nothing played yet)
    action           uint8       last action: which it was (255: nothing played yet)
    refused          uint8       last action: its event was refused whole (F12)
    round_over       uint8       last action: 0 no, 1 ended by going out, 2 blocked
    match_over       uint8       last action: the match is over, truncated or not
    truncated        uint8       last action: max_rounds was reached without a winner (D6)
    winner           int8        side, or -1
    target_on        uint8       whether the target counts (off in a single round, D7)
    moves            uint8 [136, 2]  (seat, action) of each action of this round; zeros behind
When a round ends and the match goes on, the next is dealt at once; the fields of the last action
then still describe the round that ended.

Hidden fields, in GAME alone:
    key              uint64      the random stream of this match
    hands            uint32 [S]  masks
    deck             uint8 [28]  seat s was dealt deck[s*h:(s+1)*h]; the rest is the boneyard
    next_draw        uint8       index into deck of the next tile to draw
    lead_tile        uint8       the only tile that may be led (T11), 28: any

VIEW has beside the public block:
    rules            PARAMS
    hand             uint32      mask of the viewer's tiles
    viewer           uint8       the seat that looks
    lead_tile        uint8       as in GAME, for the leader alone
"""

import numpy as np

from fives_env.rules import CHOICES, PRESETS, Rules
from fives_env.tiles import mask_of, tiles_up_to

MAX_MOVES = 136
"""No round is longer: 28 placements, 24 draws, and 3 knocks before each placement but the first."""
NO_SEAT = 255
NO_ACTION = 255
NOT_OVER, OUT, BLOCKED = 0, 1, 2
"""Values of `round_over`."""

NO_DRAW, FORCED_DRAW, OPTIONAL_DRAW = range(3)
LEAD_ROTATES, WINNER_LEADS, HIGHEST_DOUBLE_LEADS = range(3)
FIVES_AND_THREES, THREES_AND_FIVES, ALL_FIVES = range(3)

PARAMS = np.dtype(
    [
        ("set", "u4"),  # mask of the tiles of the set
        ("target", "i2"),
        ("max_rounds", "u2"),
        ("game", "u1"),  # 0, 1, 2 in the order of rules.PRESETS
        ("num_players", "u1"),
        ("num_sides", "u1"),
        ("partners", "u1"),
        ("hand_size", "u1"),
        ("draw", "u1"),  # the index of the option in rules.CHOICES, as for lead
        ("reserve", "u1"),
        ("spinner", "u1"),  # whether the first double is one
        ("lead", "u1"),
        ("check_at_round_end", "u1"),
        ("single_round", "u1"),
        ("num_tiles", "u1"),
        ("_", "u1", (4,)),
    ],
    align=True,
)
"""The rules as data, for compiled code."""

_PUBLIC = [
    ("played", "u4"),
    ("scores", "i2", (4,)),
    ("settlement", "i2", (4,)),
    ("points", "i2"),
    ("total", "i2"),
    ("round", "u2"),
    ("seat", "u1"),
    ("leader", "u1"),
    ("boneyard", "u1"),
    ("hand_sizes", "u1", (4,)),
    ("arms", "u1", (4,)),
    ("counts", "u1", (4,)),
    ("spinner", "u1"),
    ("spinner_ends", "u1"),
    ("absent", "u1", (4,)),
    ("num_moves", "u1"),
    ("mover", "u1"),
    ("action", "u1"),
    ("refused", "u1"),
    ("round_over", "u1"),
    ("match_over", "u1"),
    ("truncated", "u1"),
    ("winner", "i1"),
    ("target_on", "u1"),
    ("moves", "u1", (MAX_MOVES, 2)),
]
_HIDDEN = [
    ("key", "u8"),
    ("hands", "u4", (4,)),
    ("deck", "u1", (28,)),
    ("next_draw", "u1"),
    ("lead_tile", "u1"),
    ("_", "u1", (2,)),
]
_OWN = [("rules", PARAMS), ("hand", "u4"), ("viewer", "u1"), ("lead_tile", "u1"), ("_", "u1", (2,))]

GAME = np.dtype(_PUBLIC + _HIDDEN, align=True)
VIEW = np.dtype(_PUBLIC + _OWN, align=True)
PUBLIC_BYTES = GAME.fields["key"][1]  # type: ignore[index]
"""The size of the public block."""

START = np.dtype([("given", "u1"), ("drawn", "u1"), ("scores", "i2", (4,))], align=True)
"""Start scores of one row: none given, given, or drawn anew for each match over the score plane."""

SCRIPT = np.dtype([("deck", "u1", (28,)), ("has_deck", "u1"), ("leader", "i1")], align=True)
"""One scripted round: its deck if it has one, and where the lot falls (-1: by the seed)."""

COUNTS = np.dtype([("steps", "i8"), ("rounds", "i8"), ("matches", "i8"), ("wins", "i8", (4,))])
"""What a rollout counts: actions, finished rounds, finished matches, matches won by each side."""


def make_params(rules: Rules) -> np.ndarray:
    """`rules` as data: PARAMS [1]."""
    params = np.zeros(1, PARAMS)
    params["game"] = list(PRESETS).index(rules.game)
    params["num_players"] = rules.players
    params["num_sides"] = rules.num_sides
    params["partners"] = rules.partners
    params["hand_size"] = rules.deal
    params["draw"] = CHOICES["draw"].index(rules.draw)
    params["reserve"] = rules.reserve
    params["spinner"] = rules.spinner == "first-double"
    params["lead"] = CHOICES["lead"].index(rules.lead)
    params["check_at_round_end"] = rules.target_check == "round-end"
    params["single_round"] = rules.mode == "round"
    params["max_rounds"] = rules.max_rounds
    params["target"] = rules.target
    params["set"] = mask_of(tiles_up_to(rules.max_pip))
    params["num_tiles"] = rules.num_tiles
    return params
