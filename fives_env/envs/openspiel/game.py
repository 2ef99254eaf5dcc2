"""Our games as an OpenSpiel game, ``fives``; importing this registers it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from fives_env.actions import DRAW, NUM_ACTIONS, action_name
from fives_env.engine import chance, loops
from fives_env.engine.rewards import OUTCOME, reward_kind
from fives_env.engine.scoring import POINTS
from fives_env.envs.openspiel.observer import FivesObserver
from fives_env.envs.openspiel.resample import resample
from fives_env.records import GAME, MAX_MOVES, NOT_OVER, SCRIPT, START, VIEW, make_params
from fives_env.rules import CHOICES, Rules
from fives_env.tiles import NUM_TILES, VALUE_MASK, tile_name, tiles_in

Array = npt.NDArray[Any]
NAME = "fives"
LOT, DEAL, PLAY, TAKE, OVER = range(5)
"""What comes next: who leads, a tile for a hand, an action, the tile that is drawn, nothing."""
_MOST_SETTLED = 170
"""Points that the end of a round can add or take (A8)."""


def _parameters() -> dict[str, Any]:
    """The options of `Rules` with their defaults; where the preset decides, -1 or no text."""
    found: dict[str, Any] = {"game": "fives-and-threes", "reward": "points"}
    for field in fields(Rules)[1:]:
        by_preset = "" if field.name in CHOICES or field.name == "partners" else -1
        found[field.name] = by_preset if field.default is None else field.default
    return found


DEFAULTS = _parameters()

TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Fives and Threes, Threes and Fives, All Fives",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=4,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=DEFAULTS,
)


class FivesGame(pyspiel.Game):  # type: ignore[misc]
    """Any `Rules`, option by option, and the reward that the returns are summed from."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Takes OpenSpiel's parameters.

        Raises:
            ValueError: An option is out of range, or two of them clash.
        """
        given = {**DEFAULTS, **(params or {})}
        self.reward = reward_kind(given.pop("reward"))
        options = {name: value for name, value in given.items() if value not in ("", -1)}
        if "partners" in options:
            options["partners"] = options["partners"] == "yes"
        self.rules = Rules(**options)
        rounds = 1 if self.rules.mode == "round" else self.rules.max_rounds
        most = 1.0
        if self.reward != OUTCOME:
            most = float(rounds * (self.rules.num_tiles * int(POINTS.max()) + _MOST_SETTLED))
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=NUM_TILES,
            num_players=self.rules.players,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=rounds * MAX_MOVES,
        )
        super().__init__(TYPE, info, params or {})

    def new_initial_state(self) -> FivesState:
        """Before the first lot and the first tile."""
        return FivesState(self)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> FivesObserver:
        """What a seat knows: of the moment, or with perfect recall."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return FivesObserver(kind, params)


class FivesState(pyspiel.State):  # type: ignore[misc]
    """A game: a GAME record, and what chance has still to decide.

    Every attribute is small and plain: OpenSpiel copies a state by copying them.

    Attributes:
        params: PARAMS [1].
        data: GAME [1].
        reward: What returns are summed from.
        players: The number of seats.
        gained: float64 [4], the rewards so far.
        phase: What comes next.
        rounds: How many have been dealt.
        lot: The seat that leads by lot.
        dealt: The tiles of the round's hands, in the order of seats.
        drawn: Move and tile of each draw of the round.
        fitting: Before each move of the round, the tiles that could be joined, as a mask.
        seen: All that each seat has seen.
    """

    def __init__(self, game: FivesGame) -> None:
        """Before the first lot."""
        super().__init__(game)
        self.params = make_params(game.rules)
        self.data: Array = np.zeros(1, GAME)
        self.reward = game.reward
        self.players = game.rules.players
        self.gained: Array = np.zeros(4)
        self.phase = LOT
        self.rounds = 0
        self.lot = 0
        self.dealt: tuple[int, ...] = ()
        self.drawn: tuple[tuple[int, int], ...] = ()
        self.fitting: tuple[int, ...] = ()
        self.seen: list[tuple[str, ...]] = [()] * self.players

    def current_player(self) -> int:
        """The seat to move, or who stands for chance or the end."""
        if self.phase == OVER:
            return int(pyspiel.PlayerId.TERMINAL)
        if self.phase != PLAY:
            return int(pyspiel.PlayerId.CHANCE)
        return int(self.data["seat"][0])

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Seats for the lot; else tiles, those of a hand in ascending order, each hand once."""
        if self.phase == LOT:
            return [(seat, 1.0 / self.players) for seat in range(self.players)]
        if self.phase == TAKE:
            left = sorted(int(tile) for tile in self._left())
            return [(tile, 1.0 / len(left)) for tile in left]
        size = int(self.params["hand_size"][0])
        held = len(self.dealt) % size
        lowest = self.dealt[-1] if held else -1
        pool = [tile for tile in self._set() if tile > lowest and tile not in self.dealt]
        need, hands = size - held, math.comb(len(pool), size - held)
        return [
            (tile, math.comb(len(pool) - 1 - place, need - 1) / hands)
            for place, tile in enumerate(pool[: len(pool) - need + 1])
        ]

    def _legal_actions(self, player: int) -> list[int]:
        mask = np.empty((1, NUM_ACTIONS), np.bool_)
        loops.write_masks(self.params, self.data, mask)
        return [int(action) for action in np.flatnonzero(mask[0])]

    def _apply_action(self, action: int) -> None:
        if self.phase == LOT:
            self.lot = action
            self.phase = DEAL
        elif self.phase == DEAL:
            self.dealt = (*self.dealt, action)
            if len(self.dealt) == self.players * int(self.params["hand_size"][0]):
                self._deal()
        elif self.phase == TAKE:
            self._play(DRAW, tile=action)
        elif action == DRAW:
            self.phase = TAKE
        else:
            self._play(action)

    def _deal(self) -> None:
        script = np.zeros(self.rounds + 1, SCRIPT)
        script["has_deck"], script["leader"] = 1, self.lot
        rest = (tile for tile in self._set() if tile not in self.dealt)
        deck = np.array([*self.dealt, *rest], np.uint8)
        script["deck"][:, : len(deck)] = deck
        if self.rounds == 0:
            start = np.zeros(1, START)
            chance.start_deals(self.params, self.data, deck[None], script["leader"], script, start)
        else:
            chance.deal_round(self.params, self.data, script)
        self.rounds += 1
        self.phase = PLAY
        self.drawn, self.fitting = (), ()
        leader = f"lead {self.data['leader'][0]}"
        for seat in range(self.players):
            hand = " ".join(tile_name(tile) for tile in tiles_in(self.data["hands"][0, seat]))
            self.seen[seat] = (*self.seen[seat], leader, hand)

    def _play(self, action: int, tile: int = -1) -> None:
        seat, choice = int(self.data["seat"][0]), 0
        if action == DRAW:
            choice = self._left().tolist().index(tile)
            self.drawn = (*self.drawn, (int(self.data["num_moves"][0]), tile))
        fitting = np.bitwise_or.reduce(VALUE_MASK[self.data["arms"][0]])
        self.fitting = (*self.fitting, int(fitting))
        chance.play(self.params, self.data, action, choice, self.reward, self.gained)
        said = f"{seat}:{action_name(action)}"
        for viewer in range(self.players):
            own = f"{said} {tile_name(tile)}" if tile >= 0 and viewer == seat else said
            self.seen[viewer] = (*self.seen[viewer], own)
        if self.data["match_over"][0]:
            self.phase = OVER
        elif self.data["round_over"][0] != NOT_OVER:
            self.phase, self.dealt = LOT, ()
        else:
            self.phase = PLAY

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            return action_name(action)
        return f"seat {action}" if self.phase == LOT else tile_name(action)

    def is_terminal(self) -> bool:
        """Whether the match, or the one round, is over."""
        return self.phase == OVER

    def returns(self) -> list[float]:
        """The rewards of each seat, summed, once all is over; zeros before."""
        gained = self.gained if self.phase == OVER else np.zeros(4)
        return [float(points) for points in gained[: self.players]]

    def view(self, seat: int) -> Array:
        """What a seat may know, as our agents get it: VIEW [1]; only once hands are dealt."""
        view = np.zeros(1, VIEW)
        viewers = np.array([seat], np.uint8)
        loops.write_views(self.params, self.data, viewers, view)
        return view

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> FivesState:
        """A state that `player` cannot tell from this one, its hidden tiles drawn anew (resample).

        Args:
            player: A seat; any, not only the one to move.
            sampler: Gives numbers in [0, 1), such as `pyspiel.UniformProbabilitySampler`.

        Raises:
            ValueError: No seat is to move here, or there is no such seat.
        """
        return resample(self, player, sampler)

    def __str__(self) -> str:
        """All that happened, hidden tiles included."""
        return "\n".join(f"seat {seat} saw {', '.join(s)}" for seat, s in enumerate(self.seen))

    def _set(self) -> list[int]:
        return tiles_in(self.params["set"][0])

    def _left(self) -> Array:
        game = self.data[0]
        left: Array = game["deck"][int(game["next_draw"]) : int(self.params["num_tiles"][0])]
        return left


pyspiel.register_game(TYPE, FivesGame)
