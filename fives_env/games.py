"""`Games`: a batch of games in one array, stepped together."""

import functools
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fives_env.actions import NUM_ACTIONS, action_name
from fives_env.engine import choose, loops
from fives_env.records import COUNTS, GAME, SCRIPT, START, VIEW, make_params
from fives_env.rules import Rules, as_rules
from fives_env.salts import read_salt, salt_words
from fives_env.scripts import read_scores, read_script, whole_numbers

Array = npt.NDArray[Any]


class Games:
    """`num_games` games under the same rules, stepped together.

    Attributes:
        rules: The rules of all of them.
        num_games: B.
        data: GAME [B], the games themselves (records.py names the fields).
        params: PARAMS [1], the rules as compiled code reads them.
        script: SCRIPT [R], the scripted rounds.
        start: START [B], the start scores.
        threads: Rows are split over this many threads; results do not depend on it.
        salt: uint64 [2], of the keys that policies are handed in these games (salts.py).
    """

    def __init__(
        self, rules: Rules | str, num_games: int = 1, threads: int = 1, salt: int | None = None
    ) -> None:
        """Makes the batch and deals it from fresh entropy; `reset` seeds it.

        Args:
            rules: `Rules` or their spec text.
            num_games: B.
            threads: As above.
            salt: From 0 to 2**128 - 1; drawn from the system's randomness if None.

        Raises:
            ValueError: The rules, the salt, or a number below 1.
        """
        self.rules = as_rules(rules)
        self.num_games = _at_least_one("num_games", num_games)
        self.threads = _at_least_one("threads", threads)
        self.salt = salt_words(read_salt(salt))
        self.params = make_params(self.rules)
        self.data: Array = np.zeros(self.num_games, GAME)
        self.script: Array = np.zeros(0, SCRIPT)
        self.start: Array = np.zeros(self.num_games, START)
        self.reset()

    def reset(
        self,
        seed: int | npt.ArrayLike | None = None,
        *,
        rounds: Sequence[Mapping[str, Any]] | None = None,
        scores: npt.ArrayLike | str | None = None,
    ) -> None:
        """Starts a new match in every row.

        Args:
            seed: An int gives row i its own stream (seed, i); an array of B ints gives row i the
                stream that a batch of one has under that seed; None takes fresh entropy.
            rounds: Scripted rounds of every match from here on, ``{"deck": ..., "leader": ...}``.
                `deck` is a permutation of the tile ids of the set; `leader` is where the lot
                falls, and counts only in rounds whose lead is by lot. Each may be left out. Rounds
                behind the script go on by the seed.
            scores: Start scores by side, [sides] or [B, sides], or ``"random"`` to draw them for
                each match evenly over the score plane. Giving them turns the target on (D7).

        Raises:
            ValueError: Names what is wrong; nothing has changed.
        """
        row_keys = self._row_keys(seed)
        self.script_matches(rounds=rounds, scores=scores)
        self.each(
            lambda rows: loops.start_matches(
                self.params, self.data[rows], self.script, self.start[rows], row_keys[rows]
            )
        )

    def script_matches(
        self,
        rounds: Sequence[Mapping[str, Any]] | None = None,
        scores: npt.ArrayLike | str | None = None,
    ) -> None:
        """Scripts the matches that start from here on, as `reset` does; deals nothing.

        Raises:
            ValueError: As for `reset`.
        """
        script = read_script(rounds, self.rules)
        self.start = read_scores(scores, self.rules, self.num_games)
        self.script = script

    def restart(
        self,
        rows: npt.ArrayLike,
        seed: int | npt.ArrayLike | None = None,
        start: Array | None = None,
    ) -> None:
        """Starts a match in these rows, as scripted; the others go on.

        Args:
            rows: bool [B].
            seed: As in `reset`; None goes on with the next match of each row's own stream.
            start: START [B], of which these rows take their start scores; None leaves them.

        Raises:
            ValueError: The seed; nothing has changed.
        """
        chosen = np.asarray(rows, bool)
        row_keys = None if seed is None else self._row_keys(seed)
        if start is not None:
            self.start = np.where(chosen, start, self.start)
        if row_keys is None:
            loops.start_next_matches(self.params, self.data, self.script, self.start, chosen)
            return
        some = self[chosen]
        loops.start_matches(self.params, some.data, self.script, some.start, row_keys[chosen])
        as_bytes(self.data)[chosen] = as_bytes(some.data)

    def action_mask(self, out: Array | None = None) -> Array:
        """The legal actions of the seat to move: bool [B, 114]; none once a match is over.

        Args:
            out: Written to and returned, if given.
        """
        mask = np.empty((self.num_games, NUM_ACTIONS), np.bool_) if out is None else out
        self.each(lambda rows: loops.write_masks(self.params, self.data[rows], mask[rows]))
        return mask

    def step(self, actions: npt.ArrayLike, *, every: bool = False) -> None:
        """Plays one action in every game; -1 leaves a game untouched.

        Where a round ends and the match goes on, the next round is dealt in the same step; the
        fields of the last action still describe the round that ended.

        Args:
            actions: Whole numbers [B].
            every: Every game must be played; -1 is refused like any illegal action.

        Raises:
            ValueError: An action is illegal, or not a whole number, or the match is over; the
                message names game, seat, action and the legal ones. Nothing has changed.
        """
        if self.threads > 1:
            checked = self.check(actions, every=every)
            self.each(
                lambda rows: loops.step(
                    self.params, self.data[rows], self.script, checked[rows], every
                )
            )
            return
        row = loops.step(self.params, self.data, self.script, self._as_actions(actions), every)
        if row >= 0:
            self._refuse(row, np.asarray(actions)[row].item(), "is illegal")

    def check(self, actions: npt.ArrayLike, *, every: bool = False) -> Array:
        """The actions as int64 [B], if `step` would play them.

        Raises:
            ValueError: As for `step`.
        """
        checked = self._as_actions(actions)
        row = loops.first_illegal(self.params, self.data, checked, every)
        if row >= 0:
            self._refuse(row, np.asarray(actions)[row].item(), "is illegal")
        return checked

    def view(self, seat: int | npt.ArrayLike | None = None, out: Array | None = None) -> Array:
        """What a seat may know: VIEW [B].

        Args:
            seat: One for all rows, or [B]; None is the seat to move.
            out: Written to and returned, if given.

        Raises:
            ValueError: There is no such seat.
        """
        viewers = self.data["seat"] if seat is None else self._seats(seat)
        views = np.zeros(self.num_games, VIEW) if out is None else out
        self.each(
            lambda rows: loops.write_views(self.params, self.data[rows], viewers[rows], views[rows])
        )
        return views

    def rollout(
        self,
        num_steps: int,
        policy: str = "random",
        seed: int = 0,
        threads: int | None = None,
    ) -> Any:
        """Plays `num_steps` actions in every game in compiled code, new matches included.

        Args:
            num_steps: Actions a game.
            policy: ``random`` or ``greedy``, for every seat.
            seed: Of the policy's choices; row i has the stream (seed, i).
            threads: Instead of the batch's own number.

        Returns:
            COUNTS record: ``steps``, ``rounds``, ``matches`` and ``wins`` (by side, [4]), as
            attributes or by name.

        Raises:
            ValueError: No such policy, or a number out of range.
        """
        if policy not in choose.BUILT_IN:
            raise ValueError(f"policy {policy!r} is not one of {', '.join(choose.BUILT_IN)}")
        kind = choose.BUILT_IN.index(policy)
        num_steps = _at_least_one("num_steps", num_steps)
        row_keys = self._row_keys(seed)
        chunks = self.each(
            lambda rows: loops.rollout(
                self.params,
                self.data[rows],
                self.script,
                self.start[rows],
                row_keys[rows],
                kind,
                num_steps,
            ),
            threads,
        )
        counts = np.zeros(1, COUNTS)
        for chunk in chunks:
            for name in counts.dtype.names or ():
                counts[name] += chunk[name]
        return counts.view(np.recarray)[0]

    def clone(self) -> Self:
        """A copy that goes on like the original and shares nothing with it."""
        return self[:]

    def __getitem__(self, index: Any) -> Self:
        """A copy of some of the games: by an int, a slice, a mask or indices."""
        chosen = np.atleast_1d(np.arange(self.num_games)[index])
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.num_games = _at_least_one("number of games chosen", len(chosen))
        copy.data = as_bytes(self.data)[chosen].view(GAME)
        copy.start = self.start[chosen]
        return copy

    def __len__(self) -> int:
        """B."""
        return self.num_games

    def each(self, work: Callable[[slice], Any], threads: int | None = None) -> list[Any]:
        """Runs `work` on slices of the rows, on threads of their own if there are several."""
        wanted = self.threads if threads is None else _at_least_one("threads", threads)
        if wanted == 1:
            return [work(slice(None))]
        bounds = np.linspace(0, self.num_games, min(wanted, self.num_games) + 1).astype(int)
        return list(_pool(len(bounds) - 1).map(work, map(slice, bounds[:-1], bounds[1:])))

    def _row_keys(self, seed: int | npt.ArrayLike | None) -> Array:
        """The stream of each row: uint64 [B]."""
        if seed is None:
            words_drawn = np.random.SeedSequence().generate_state(2 * self.num_games)
            drawn: Array = words_drawn.view(np.uint64)
            return drawn
        seeds = whole_numbers("seed", seed)
        if seeds.ndim == 0:
            of_rows: Array = loops.keys_of_rows(np.uint64(seeds), self.num_games)
            return of_rows
        if seeds.shape != (self.num_games,):
            raise ValueError(
                f"seed has shape {seeds.shape}; give one number, or one for each of the "
                f"{self.num_games} games"
            )
        of_seeds: Array = loops.keys_of_seeds(seeds)
        return of_seeds

    def _seats(self, seat: npt.ArrayLike) -> Array:
        """The seat that looks in each row: uint8 [B]."""
        seats = np.asarray(seat)
        last = self.rules.players - 1
        if seats.dtype.kind not in "iu" or seats.shape not in ((), (self.num_games,)):
            raise ValueError(f"seat={seat!r}; give one seat, or one for each of the games")
        if np.any((seats < 0) | (seats > last)):
            raise ValueError(f"seat={seat!r}; there are seats 0 to {last}")
        viewers = np.empty(self.num_games, np.uint8)
        viewers[:] = seats
        return viewers

    def _as_actions(self, actions: npt.ArrayLike) -> Array:
        """The actions as int64 [B]; not yet checked against the rules."""
        given = np.asarray(actions)
        if given.dtype.kind not in "iu":
            values = given.ravel().tolist() or [actions]
            whole = [isinstance(value, int) and not isinstance(value, bool) for value in values]
            row = whole.index(False) if False in whole else 0
            self._refuse(row % self.num_games, values[row], "is not a whole number")
        if given.shape != (self.num_games,):
            raise ValueError(
                f"actions have shape {given.shape}; there must be one for each of the "
                f"{self.num_games} games: ({self.num_games},)"
            )
        if given.dtype.kind == "u":
            given = np.minimum(given, NUM_ACTIONS)  # the highest would turn into -1
        return given.astype(np.int64, copy=False)

    def _refuse(self, row: int, action: object, what: str) -> None:
        game = self.data[row]
        if game["match_over"]:
            raise ValueError(
                f"game {row}: action {action!r} comes after the end of the match; reset first"
            )
        legal = np.flatnonzero(self[row].action_mask()[0]).tolist()
        named = ", ".join(f"{number} ({action_name(number)})" for number in legal)
        raise ValueError(
            f"game {row}, seat {game['seat']}: action {action!r} {what}; legal: {named}"
        )


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that wait for work; starting them anew at every step takes longer than the step."""
    return ThreadPoolExecutor(threads, "fives_env")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of the threads


def as_bytes(records: Array) -> Array:
    """The same memory without its fields, which NumPy would copy one by one: void [B]."""
    return records.view(f"V{records.itemsize}")


def _at_least_one(name: str, value: Any) -> int:
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < 1:
        raise ValueError(f"{name}={value!r} is not a whole number from 1 up")
    return number
