"""The rules of RULES.md in plain Python: slow, naive, and shared with nothing of the library.

Nothing is kept that can be found again: open ends, counts, the spinner and what a seat is known not
to hold are worked out from the tiles on the table and the actions so far, each time anyone asks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .layout import Layout, Tile

TILES: list[Tile] = [(low, high) for low in range(7) for high in range(low, 7)]
TILE_ID = {tile: number for number, tile in enumerate(TILES)}
DRAW, PASS = 112, 113

PRESETS: dict[str, dict[str, Any]] = {
    "fives-and-threes": {  # F1, F2, F3, F4, F12, D15
        "partners": True,
        "deal": (7, 5, 5),
        "draw": "none",
        "spinner": "none",
        "lead": "rotation",
        "target": (61, 61, 61),
    },
    "threes-and-fives": {  # T1, T3, D1, D5, T8, D15
        "partners": False,
        "deal": (7, 5, 5),
        "draw": "forced",
        "spinner": "first-double",
        "lead": "rotation",
        "target": (251, 251, 251),
    },
    "all-fives": {  # A1, A3, A4, A5, A9, D15
        "partners": True,
        "deal": (9, 7, 5),
        "draw": "forced",
        "spinner": "first-double",
        "lead": "winner",
        "target": (250, 200, 200),
    },
}


@dataclass
class Event:
    """What one action led to. `settlement` is None where nothing was settled."""

    points: int = 0
    refused: bool = False
    round_over: str | None = None
    settlement: list[int] | None = None
    match_over: bool = False
    truncated: bool = False
    winner: int | None = None


def of_players(option: int | Sequence[int], players: int) -> int:
    """An option that is one number, or one each for two, three and four players."""
    return option if isinstance(option, int) else option[players - 2]


def points_of(game: str, total: int) -> int:
    """The points of an end total (F5, T4, A6)."""
    if total <= 0:
        return 0
    threes = total if total % 3 == 0 else 0
    fives = total if total % 5 == 0 else 0
    if game == "fives-and-threes":
        return threes // 3 + fives // 5
    return threes + fives if game == "threes-and-fives" else fives


def nearest_five(pips: int) -> int:
    """A8: 7 is 5, 8 is 10."""
    return min(range(0, pips + 5, 5), key=lambda five: abs(five - pips))


class Referee:
    """One match, from its start to its end, told which deck and which lot each round gets."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Reads the rules.

        Args:
            options: `game` and whatever else RULES.md names (players, partners, deal, draw,
                reserve, spinner, lead, target, target_check, max_rounds, mode, max_pip). A set
                smaller than the double-six needs its `deal`.
        """
        self.game: str = options["game"]
        preset = PRESETS[self.game]
        self.players: int = options.get("players", 2)
        self.partners: bool = self.players == 4 and options.get("partners", preset["partners"])
        self.hand_size = of_players(options.get("deal", preset["deal"]), self.players)
        self.draw: str = options.get("draw", preset["draw"])
        reserve = options.get("reserve", 0)
        self.reserve: int = of_players((2, 1, 1), self.players) if reserve is True else reserve
        self.spinner: str = options.get("spinner", preset["spinner"])
        self.lead: str = options.get("lead", preset["lead"])
        self.target = of_players(options.get("target", preset["target"]), self.players)
        self.target_check: str = options.get("target_check", "immediate")
        self.max_rounds: int = options.get("max_rounds", 100)
        self.mode: str = options.get("mode", "match")
        max_pip = options.get("max_pip", 6)
        self.tiles = [tile for tile in TILES if tile[1] <= max_pip]
        self.num_sides = 2 if self.partners else self.players
        self.start_match()

    def side_of(self, seat: int) -> int:
        """C9: seats 0 and 2 against 1 and 3, or each seat its own side."""
        return seat % 2 if self.partners else seat

    # The start of a match and of a round

    def start_match(self, scores: Sequence[int] | None = None) -> None:
        """A new match; scores given turn the target on in a single round (D7)."""
        self.scores = list(scores) if scores is not None else [0] * self.num_sides
        self.target_on = self.mode == "match" or scores is not None
        self.round = -1
        self.leader: int | None = None
        self.went_out: int | None = None
        self.event = Event()

    def may_lead(self) -> list[int]:
        """The seats that may lead the coming round; empty where the deal decides (T11)."""
        everyone = list(range(self.players))
        if self.lead == "highest-double":
            return []
        if self.leader is None:
            return everyone  # F3, T2, A3
        if self.lead == "rotation":
            return [(self.leader + 1) % self.players]  # F3, D1
        return everyone if self.went_out is None else [self.went_out]  # A3

    def start_round(self, deck: Sequence[int], lot: int = 0) -> None:
        """Deals a deck; `lot` is the seat on which the lot falls, where the lead is by lot."""
        tiles = [TILES[tile] for tile in deck]
        if sorted(tiles) != self.tiles:
            raise ValueError("a deck has every tile of the set once")
        size = self.hand_size
        self.hands = [tiles[seat * size : (seat + 1) * size] for seat in range(self.players)]
        self.boneyard = tiles[self.players * size :]
        self.layout = Layout(self.spinner == "first-double")
        self.history: list[tuple[int, int, set[int]]] = []
        may_lead = self.may_lead()
        self.lead_tile: Tile | None = None
        if self.lead == "highest-double":
            self.lead_tile = self.heaviest_lead()
            self.leader = [self.lead_tile in hand for hand in self.hands].index(True)
        else:
            self.leader = may_lead[0] if len(may_lead) == 1 else lot
        self.seat = self.leader
        self.round += 1
        self.event = Event()

    def heaviest_lead(self) -> Tile:
        """T11 and D4: the highest double dealt, or else the heaviest tile."""
        dealt = [tile for hand in self.hands for tile in hand]
        doubles = [tile for tile in dealt if tile[0] == tile[1]]
        return max(doubles or dealt, key=lambda tile: (sum(tile), tile[1]))

    # What anyone at the table can see

    def arms(self) -> list[int | None]:
        """The open value of arms 0 to 3, None where there is no such arm."""
        values: list[int | None] = [*self.layout.values()]
        return values + [None] * (4 - len(values))

    def counts(self) -> list[int]:
        """What arms 0 to 3 add to the end total."""
        counts = self.layout.counts()
        return counts + [0] * (4 - len(counts))

    def total(self) -> int | None:
        """The end total (C5), None on an empty table."""
        return sum(self.layout.counts()) if self.layout.tiles else None

    def hand_sizes(self) -> list[int]:
        """Tiles in each hand (C1)."""
        return [len(hand) for hand in self.hands]

    def absent(self) -> list[int]:
        """The values each seat is publicly known not to hold, as 7-bit masks."""
        known: list[set[int]] = [set() for _ in range(self.players)]
        drawing = [False] * self.players
        for seat, action, open_values in self.history:
            if action == DRAW:
                known[seat] = set()
                drawing[seat] = self.draw == "forced"
                continue
            if action == PASS:
                known[seat] = known[seat] | open_values
            elif drawing[seat]:
                known[seat] = open_values
            drawing[seat] = False
        return [sum(1 << value for value in values) for values in known]

    # What may be done

    def over(self) -> bool:
        """Whether the round in play has ended, by itself or with the match."""
        return self.event.round_over is not None or self.event.match_over

    def num_drawable(self) -> int:
        """Tiles that may still be drawn (F2, T12)."""
        return 0 if self.draw == "none" else max(0, len(self.boneyard) - self.reserve)

    def placements(self, hand: list[Tile]) -> list[int]:
        """The placements that a hand has on this table, as actions."""
        if not self.layout.tiles:
            return [TILE_ID[tile] for tile in hand if self.lead_tile in (None, tile)]
        values = self.layout.values()
        return [
            arm * 28 + TILE_ID[tile]
            for arm, value in enumerate(values)
            for tile in hand
            if value in tile
        ]

    def legal(self) -> list[int]:
        """The actions of the seat to move, sorted (C7, T3, T13); none once the round is over."""
        if self.over():
            return []
        actions = sorted(self.placements(self.hands[self.seat]))
        if self.num_drawable() > 0 and (self.draw == "optional" or not actions):
            actions.append(DRAW)
        return actions or [PASS]

    def blocked(self) -> bool:
        """C8: nobody can draw, and no hand holds a tile that fits (an empty one cannot, F8)."""
        if not self.layout.tiles or self.num_drawable() > 0:
            return False
        values = self.layout.values()
        return not any(v in tile for hand in self.hands for tile in hand for v in values)

    def play(self, action: int) -> Event:
        """Plays an action of the seat to move; ends and settles a round, deals no other.

        Raises:
            ValueError: the action is not legal.
        """
        if action not in self.legal():
            raise ValueError(f"seat {self.seat} may not play {action}, only {self.legal()}")
        self.history.append((self.seat, action, set(self.layout.values())))
        self.event = Event()
        if action == DRAW:
            self.hands[self.seat].append(self.boneyard.pop(0))
        elif action != PASS:
            self.place(TILES[action % 28], action // 28)
        if not self.over() and self.blocked():
            self.end_round("blocked")
        if not self.over() and action != DRAW:
            self.seat = self.next_seat()
        return self.event

    def next_seat(self) -> int:
        """The next seat clockwise that holds a tile (C6, F7)."""
        seat = (self.seat + 1) % self.players
        while not self.hands[seat]:
            seat = (seat + 1) % self.players
        return seat

    def place(self, tile: Tile, arm: int) -> None:
        """Lays a tile, scores the event (F11), and ends what it ends."""
        side = self.side_of(self.seat)
        self.hands[self.seat].remove(tile)
        self.layout.lay(tile, arm)
        goes_out = self.goes_out()
        points = points_of(self.game, sum(self.layout.counts()))
        if self.game == "fives-and-threes" and goes_out:
            points += 1  # F9
        if self.target_is_exact() and self.scores[side] + points > self.target:
            self.event.refused, points = True, 0  # F12
        self.event.points = points
        self.scores[side] += points
        if self.target_on and self.target_check == "immediate" and self.reached(side):
            self.event.winner = side  # F13, D2, D13
            self.event.match_over = True
            self.event.round_over = "out" if goes_out else None
        elif goes_out:
            self.end_round("out")

    def target_is_exact(self) -> bool:
        """F12, where the target is on."""
        return self.target_on and self.game == "fives-and-threes"

    def reached(self, side: int) -> bool:
        """Whether a side's score has come to the target or, in T and A, past it (T8, A9)."""
        return self.scores[side] >= self.target

    def goes_out(self) -> bool:
        """Whether the mover's empty hand completes the going-out (F6, F7, T6, A7)."""
        if self.game == "fives-and-threes" and self.partners:
            return not self.hands[self.seat] and not self.hands[(self.seat + 2) % 4]
        return not self.hands[self.seat]

    # The end of a round

    def end_round(self, how: str) -> None:
        """Settles the round, and the match if that or the number of rounds ends it."""
        self.went_out = self.seat if how == "out" else None
        event = self.event
        event.round_over = how
        if self.game == "threes-and-fives":
            event.settlement = self.settle_threes_and_fives()
        elif self.game == "all-fives":
            event.settlement = self.settle_all_fives()
        if event.settlement is not None:
            pairs = zip(self.scores, event.settlement, strict=True)
            self.scores = [score + change for score, change in pairs]
        event.winner = self.winner_at_round_end()
        out_of_rounds = self.mode == "match" and self.round + 1 >= self.max_rounds
        event.truncated = event.winner is None and out_of_rounds  # D6
        event.match_over = event.winner is not None or self.mode == "round" or out_of_rounds

    def pips(self, seat: int) -> int:
        """The pips left in a hand."""
        return sum(low + high for low, high in self.hands[seat])

    def settle_threes_and_fives(self) -> list[int]:
        """T7 and D3: the winning side scores the pips of the other sides."""
        pips = [self.pips(seat) for seat in range(self.players)]
        fewest = [seat for seat in range(self.players) if pips[seat] == min(pips)]
        winners = [self.went_out] if self.went_out is not None else fewest
        sides = {self.side_of(seat) for seat in winners}
        settlement = [0] * self.num_sides
        if len(sides) == 1:
            side = sides.pop()
            others = [p for seat, p in enumerate(pips) if self.side_of(seat) != side]
            settlement[side] = sum(others)
        return settlement

    def settle_all_fives(self) -> list[int]:
        """A8 and D17: each hand, rounded by itself, is charged to its side."""
        settlement = [0] * self.num_sides
        for seat in range(self.players):
            settlement[self.side_of(seat)] -= nearest_five(self.pips(seat))
        return settlement

    def winner_at_round_end(self) -> int | None:
        """D2: the highest score at or over the target; nobody if two are level there."""
        best = max(self.scores)
        if not self.target_on or best < self.target or self.scores.count(best) > 1:
            return None
        return self.scores.index(best)
