"""`Tables`: a batch of games with a learner at each table and policies at its other seats.

The single env is one table and the vector env is many; both are thin, and all that they do in
common is here, so that they cannot differ.
"""

import copy
import functools
import logging
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.actions import NUM_ACTIONS
from fives_env.engine import loops
from fives_env.engine.features import NUM_FEATURES
from fives_env.engine.rewards import reward_kind
from fives_env.envs.opponents import Opponents, as_opponents, draw_opponents
from fives_env.games import Games
from fives_env.play import LEARNER, advance
from fives_env.policies import Policy, as_policy
from fives_env.records import VIEW
from fives_env.rules import Rules, as_rules
from fives_env.scripts import read_scores

Array = npt.NDArray[Any]
OPTIONS = ("rounds", "scores")
ILLEGAL = ("raise", "lose")
_MOST_RESTARTS = 1000
_MASKS = (
    "Masks are in info['action_mask'] and env.action_masks(). With sb3-contrib, evaluate through "
    "its own evaluate_policy or MaskableEvalCallback, and give predict action_masks=."
)


class Tables:
    """`num_tables` tables, at each of which the learner is to move (or the match is over).

    Attributes:
        games: The games.
        seats: uint8 [B], the learner's seat at each table.
        opponents: int64 [B], which of several opponents plays at each table, at all seats that are
            neither the learner's nor those of a `partner`; zeros where there is only one.
        several: Whether there are several.
        lost_by: int64 [B], the illegal action by which the learner lost its match; -1: by none.
    """

    def __init__(
        self,
        num_tables: int,
        rules: Rules | str,
        opponent: Policy | str | Sequence[Policy | str] | Opponents,
        partner: Policy | str | None,
        seat: int | str,
        reward: str,
        start_scores: npt.ArrayLike | str | None,
        illegal: str,
        salt: int | None,
    ) -> None:
        """Checks the arguments, which the envs document.

        Raises:
            ValueError: One of them is wrong.
        """
        self.games = Games(as_rules(rules), num_tables, salt=salt)
        rules = self.games.rules
        if partner is not None and not rules.partners:
            raise ValueError("partner is given, but the rules have no partners (C9)")
        if illegal not in ILLEGAL:
            raise ValueError(f"illegal={illegal!r} is not 'raise' or 'lose'")
        self._others = as_opponents(opponent)
        self._partner = [] if partner is None else [as_policy(partner)]
        self.several = isinstance(opponent, list | tuple) or self._others is opponent
        self._reward = reward_kind(reward)
        self._start_scores = copy.copy(start_scores)  # the caller may change an array later
        self._given_seat = _read_seat(seat, rules.players)
        self.illegal = illegal
        self._seeded = False
        self._rows, self._all = np.arange(num_tables), np.ones(num_tables, bool)
        self._seating = np.full((num_tables, 4), LEARNER, np.int8)
        self._paid = np.zeros((num_tables, 4))
        self.seats = np.zeros(num_tables, np.uint8)
        self.opponents = np.zeros(num_tables, np.int64)
        self.lost_by = np.full(num_tables, -1)
        self.games.script_matches(scores=start_scores)

    def reset(self, seed: int | Array | None, options: Mapping[str, Any] | None) -> None:
        """Starts a match at every table and plays to the learner's first turn.

        Without a seed the tables go on with their next matches (the first time, from fresh
        entropy); with neither seed nor options, under the options of the last reset.

        Raises:
            ValueError: An option is unknown or wrong, or the seed is.
        """
        if seed is None and options is None and self._seeded:
            self.restart(self._all)
            return
        script = read_options(options)
        script.setdefault("scores", self._start_scores)
        if seed is not None or not self._seeded:
            self.games.reset(seed, **script)
            self._seeded = True
            self._sit(self._all)
            return
        self.games.script_matches(**script)
        self.restart(self._all)

    def reset_some(self, rows: Array, seed: Array | None, options: Mapping[str, Any]) -> None:
        """As `reset`, at these tables (bool [B]) only.

        Raises:
            ValueError: As for `reset`; or rounds are scripted, which holds for all tables.
        """
        script = read_options(options)
        if "rounds" in script:
            raise ValueError("rounds are scripted for all tables: give them without a reset_mask")
        if not self._seeded:
            raise ValueError("reset all tables before some of them")
        start = None
        if seed is not None or script:
            scores = script.get("scores", self._start_scores)
            start = read_scores(scores, self.games.rules, len(rows))
        self.games.restart(rows, seed, start)
        self._sit(rows)

    def restart(self, rows: Array) -> None:
        """Starts the next match at these tables (bool [B]), under the options of the last reset."""
        self.games.restart(rows)
        self._sit(rows)

    def step(self, actions: npt.ArrayLike, waiting: Array | None = None) -> Array:
        """Plays the learner's actions, then everybody else to its next turn.

        Args:
            actions: Whole numbers [B].
            waiting: bool [B], tables whose match is over, which stay as they are; None: none.

        Returns:
            float64 [B]: what the learner's seat was paid since its last action.

        Raises:
            ValueError: As for `Games.step`; nothing has changed.
        """
        given = actions if waiting is None else _leave(actions, waiting)
        try:
            played = self.games.check(given, every=waiting is None)
        except ValueError as error:
            played = self._forfeit(given, waiting, error)
        self._advance(played)
        rewards: Array = self._paid[self._rows, self.seats]
        self._paid[:] = 0
        return rewards

    def _forfeit(self, actions: npt.ArrayLike, waiting: Array | None, error: ValueError) -> Array:
        """Where an action is not legal, the match is over, at -1.

        Returns:
            int64 [B]: the legal actions, and -1 for the others.

        Raises:
            ValueError: Illegal actions are to raise, or `error` has another cause.
        """
        lost = self._illegal(np.asarray(actions))
        if not lost.any():
            raise error
        if self.illegal == "raise":
            raise ValueError(f"{error}. {_MASKS}") from None
        legal = self.games.check(_leave(actions, lost if waiting is None else lost | waiting))
        self.games.data["match_over"][lost] = 1
        self.lost_by[lost] = np.asarray(actions)[lost]
        self._paid[lost, self.seats[lost]] = -1
        _say_once()
        return legal

    def _illegal(self, actions: Array) -> Array:
        """Where an action of the space is illegal in a match that goes on: bool [B]."""
        if actions.shape != self._rows.shape or actions.dtype.kind not in "iu":
            return ~self._all
        known = (actions >= 0) & (actions < NUM_ACTIONS)
        legal = self.games.action_mask()[self._rows, np.where(known, actions, 0)]
        illegal: Array = known & ~legal & (self.games.data["match_over"] == 0)
        return illegal

    def save_games(self) -> dict[str, Array]:
        """Copies of the games in progress, their random streams, and who sits where."""
        return {name: place.copy() for name, place in self._progress().items()}

    def load_games(self, saved: Mapping[str, Array]) -> None:
        """Goes on from what `save_games` gave at tables like these.

        Raises:
            ValueError: Something is missing or of another shape; nothing has changed.
        """
        progress = self._progress()
        for name, place in progress.items():
            if name not in saved or saved[name].shape != place.shape:
                raise ValueError(f"saved games: {name} does not fit {len(self.seats)} tables")
        for name, place in progress.items():
            place[...] = saved[name]
        self.lost_by[:] = -1
        self._seeded = True

    def _progress(self) -> dict[str, Array]:
        """All that a step changes; a match that has just begun may have paid something already."""
        return {
            "games": self.games.data.view(np.uint64).reshape(len(self.seats), -1),
            "seats": self.seats,
            "opponents": self.opponents,
            "seating": self._seating,
            "paid": self._paid,
        }

    def observe(self, rows: Array | None = None) -> tuple[Array, Array]:
        """What the learner sees at these tables (all, if None), R of them.

        Returns:
            Features float32 [R, F] and legal actions bool [R, 114], none where the match is over.
        """
        return look(self.games, self.seats, self._rows if rows is None else rows)

    def info(self) -> dict[str, Array]:
        """Public facts of each table, [B] in front: what the envs put beside the mask in `info`."""
        data, sides = self.games.data, self.games.rules.num_sides
        return {
            **self.extra_info(),
            "seat": self.seats.astype(np.int64),
            "round": data["round"].astype(np.int64),
            "leader": data["leader"].astype(np.int64),
            "scores": data["scores"][:, :sides].astype(np.int64),
            "winner": data["winner"].astype(np.int64),
        }

    def extra_info(self) -> dict[str, Array]:
        """That part of `info` which depends on how the tables were made."""
        some = {"opponent": self.opponents.copy()} if self.several else {}
        if self.illegal == "lose":
            some["illegal_action"] = self.lost_by.copy()
        return some

    def _sit(self, rows: Array) -> None:
        """Seats everybody for a new match and plays to the learner's first turn.

        A match that ends before the learner has had a turn is not an episode; the next one starts.
        """
        data, rules = self.games.data, self.games.rules
        for _ in range(_MOST_RESTARTS):
            if self._given_seat is None:
                loops.draw_seats(data, rows, rules.players, self.seats)
            else:
                self.seats[:] = self._given_seat
            where = np.flatnonzero(rows)
            if self.several:
                self.opponents[where] = draw_opponents(self._others, self.games, where)
            self._seating[where] = self.opponents[where, None] + len(self._partner)
            self._seating[where, self.seats[where]] = LEARNER
            if self._partner:
                self._seating[where, self.seats[where] ^ 2] = 0
            self._paid[rows] = 0
            self.lost_by[rows] = -1
            self._advance()
            rows = rows & (data["match_over"] == 1)
            if not rows.any():
                return
            self.games.restart(rows)
        raise ValueError(
            f"{_MOST_RESTARTS} matches in a row ended before the learner's first turn; "
            "the scripted rounds and scores leave it nothing to do"
        )

    def _advance(self, actions: Array | None = None) -> None:
        policies = [*self._partner, *self._others.policies]
        advance(self.games, policies, self._seating, self._paid, self._reward, actions)


def _leave(actions: npt.ArrayLike, rows: Array) -> Array:
    """The actions, with the -1 that `Games.step` takes for "leave it" in these rows only."""
    given = np.asarray(actions)
    if given.shape != rows.shape or given.dtype.kind not in "iu":
        return given  # which `Games.step` refuses
    given = given.astype(np.int64)
    if (given[~rows] == -1).any():
        raise ValueError(f"action -1 is none; there are 0 to {NUM_ACTIONS - 1}")
    return np.where(rows, -1, given)


@functools.cache
def _say_once() -> None:
    logging.getLogger("fives_env").warning(
        "an illegal action has lost its episode (illegal='lose'; said once). %s", _MASKS
    )


def look(games: Games, viewers: Array, rows: Array) -> tuple[Array, Array]:
    """What a seat sees in each of these games, R of them.

    Args:
        games: The games.
        viewers: uint8 [B], the seat that looks.
        rows: Indices [R].

    Returns:
        Features float32 [R, F], and the legal actions of the seat to move, bool [R, 114].
    """
    features = np.empty((len(rows), NUM_FEATURES), np.float32)
    masks = np.zeros((len(rows), NUM_ACTIONS), np.bool_)
    loops.look(games.params, games.data, rows, viewers, np.empty(1, VIEW), features, masks)
    return features, masks


def read_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of a `reset`, as arguments of `Games.reset`.

    Raises:
        ValueError: There is no such option.
    """
    unknown = set(options or ()) - set(OPTIONS)
    if unknown:
        raise ValueError(
            f"unknown reset options {sorted(unknown)}; there are: {', '.join(OPTIONS)}"
        )
    return {name: value for name, value in (options or {}).items() if value is not None}


def _read_seat(seat: int | str, players: int) -> int | None:
    """The learner's seat; None where it is drawn for each match."""
    if isinstance(seat, str) and seat == "random":
        return None
    try:
        number = -1 if isinstance(seat, bool | str) else operator.index(seat)
    except TypeError:
        number = -1
    if not 0 <= number < players:
        raise ValueError(f"seat={seat!r} is not 'random' or a seat from 0 to {players - 1}")
    return number
