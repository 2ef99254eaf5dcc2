"""`collect`: plays a network at all seats of many games and returns every decision as a sample."""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from agents.heuristics.tactic import advise
from agents.memory_network import write_tokens
from fives_env.actions import NUM_ACTIONS
from fives_env.engine import loops
from fives_env.engine.features import NUM_FEATURES
from fives_env.envs.opponents import opponent_keys
from fives_env.games import Games
from fives_env.play import ask
from fives_env.records import VIEW
from train.league.league import League
from train.league.matchmaking import seat
from train.selfplay.rollout import steps
from train.selfplay.rollout.columns import Columns
from train.selfplay.rollout.payment import Payment

Array = npt.NDArray[Any]
Logits = Callable[[torch.Tensor], torch.Tensor]
_NONE = np.zeros((0, NUM_ACTIONS), np.float32)


class Tables:
    """Games in progress, each at a decision; with what is needed to go on, nothing else.

    Attributes:
        games: B games: single rounds or matches. Its threads share the work.
        columns: What is seen of them.
        payment: What rewards are.
        league: Whose policies sit at some seats, or None.
        seating: int8 [B, 4], -1 where the learner sits, else the index of a policy of the league.
        seating_next: The same for the match after this one.
        totals: float64 [B, S], what each side has been paid in the running match.
        scale: float64 [B], of the payments of the running round.
    """

    def __init__(
        self,
        games: Games,
        columns: Columns,
        payment: Payment,
        league: League | None = None,
        num_league: int = 0,
    ) -> None:
        """Takes a batch; `begin` seats everybody.

        Args:
            games: The batch, as it was reset.
            columns: What is seen.
            payment: What is paid.
            league: If given, it has somebody to draw when games begin.
            num_league: In so many of the games the league has the seats of all sides but one.
        """
        self.games, self.columns, self.payment, self.league = games, columns, payment, league
        self.seating = np.full((len(games), 4), steps.NOBODY, np.int8)
        self.seating_next = self.seating.copy()
        self.totals = np.zeros((len(games), games.rules.num_sides))
        self.scale = np.empty(len(games))
        steps.scales_at(games.data, payment.scales, payment.width, self.scale)
        self._shared = np.arange(len(games)) < num_league
        self._views = np.zeros(len(games), VIEW)

    def arrays(self) -> dict[str, Array]:
        """All that changes while they are played on, not copied: each [B, ...], games as bytes."""
        return {
            "games": self.games.data.view(np.uint8).reshape(len(self.games), -1),
            "seating": self.seating,
            "seating_next": self.seating_next,
            "totals": self.totals,
            "scale": self.scale,
        }

    def part(self, rows: slice) -> "Tables":
        """A copy of these tables that goes on like them; the league is left out."""
        part = copy.copy(self)
        part.games, part.league, part._shared = self.games[rows], None, self._shared[rows]
        part.games.threads, part._views = 1, self._views[rows].copy()
        for name in ("seating", "seating_next", "totals", "scale"):
            setattr(part, name, getattr(self, name)[rows].copy())
        return part

    def begin(self) -> None:
        """Seats everybody and plays to the learner's first decision in every game."""
        self._seat_next(self._shared)
        self.seating[:] = self.seating_next
        nobody_acts = np.full(len(self.games), steps.NOBODY)
        self.play(nobody_acts, np.zeros_like(self.totals), np.zeros(len(self.games), np.bool_))

    def play(self, actions: Array, paid: Array, ended: Array) -> None:
        """Plays one action in each game (-1: none), then on to the learner's next decision.

        Args:
            actions: int64 [B].
            paid: float64 [B, S], to which payments until then are added, up to a round's end.
            ended: bool [B], all False; set where a round ended.
        """
        games, seated = self.games, self.seating.copy()
        waiting = np.empty(len(games), np.int64)
        results, over = np.zeros_like(self.totals), np.zeros(len(games), np.bool_)
        payment = self.payment

        def play_on(part: slice, actions: Array) -> Any:
            return steps.play_on(
                games.params, games.data[part], games.script, games.start[part], actions[part],
                self.seating[part], self.seating_next[part],
                payment.table, payment.low, payment.scales, payment.width, self.scale[part],
                paid[part], self.totals[part], results[part], ended[part], over[part],
                waiting[part],
            )  # fmt: skip

        while sum(games.each(partial(play_on, actions=actions))):
            assert self.league is not None
            actions = np.full(len(games), steps.NOBODY)
            for index in np.unique(waiting[waiting >= 0]):
                rows = np.flatnonzero(waiting == index)
                actions[rows] = ask(self.league.policies[index], games, rows)
        if self.league is not None:
            over &= self._shared
            rows, sides = np.flatnonzero(over), seated[over].argmin(axis=1) % results.shape[1]
            won = np.sign(results[rows, sides]).astype(np.int8)
            self.league.book(seated[over].max(axis=1).astype(np.int64), won)
            self._seat_next(over)

    def _seat_next(self, rows: Array) -> None:
        """Draws the opponent and the learner's side of the next match of these rows, bool [B]."""
        if self.league is None:
            return
        seats, at = np.zeros(len(rows), np.int64), np.flatnonzero(rows)
        loops.draw_seats(self.games.data, rows, self.games.rules.players, seats)
        opponents = self.league.draw(opponent_keys(self.games, at))
        sides = seats[at] % self.totals.shape[1]
        self.seating_next[at] = seat(self.games.rules, opponents, sides)

    def observe(self, rows: Array, legal: Array, seats: Array) -> None:
        """Fills rows float32 [B, W], legal bool [B, N] and seats int64 [B]."""
        games, columns = self.games, self.columns
        views = games.view(out=self._views)

        def observe(part: slice) -> None:
            features = np.zeros(NUM_FEATURES + NUM_ACTIONS, np.float32)
            advice = _NONE if columns.advice is None else advise(views[part])
            steps.observe(
                games.params, games.data[part], views[part], advice,
                columns.features, columns.scale, columns.actions,
                (features, np.zeros(NUM_ACTIONS, bool)), rows[part], legal[part], seats[part],
            )  # fmt: skip

        games.each(observe)
        if columns.moves:
            write_tokens(games.data, seats, games.rules.players, rows[:, -columns.moves :])

    def choose(self, logits: Array, legal: Array, chosen: Array, log_chances: Array) -> None:
        """Draws an action in each game, as `steps.choose`."""
        data = self.games.data
        self.games.each(
            lambda part: steps.choose(
                data[part], logits[part], legal[part], chosen[part], log_chances[part]
            )
        )


@dataclass(frozen=True)
class Rollout:
    """T decisions in each of B games; the last row of the longer arrays is where they stopped.

    Attributes:
        rows: float32 [T + 1, B, W], live features, then the other hands, then tokens.
        legal: bool [T + 1, B, N].
        seats: int64 [T + 1, B], the seat that decides.
        chosen: int64 [T, B], the action, an index into the live ones.
        log_chances: float32 [T, B], of the action when it was chosen.
        rewards: float64 [T, B, S], paid to each side from this decision to the next.
        ended: bool [T, B], whether the round ended in between.
    """

    rows: Array
    legal: Array
    seats: Array
    chosen: Array
    log_chances: Array
    rewards: Array
    ended: Array

    @classmethod
    def empty(cls, tables: Tables, num_steps: int) -> "Rollout":
        """Memory for a rollout; `collect` fills it again and again."""
        games, columns = tables.games, tables.columns
        now, later = (num_steps, len(games)), (num_steps + 1, len(games))
        return cls(
            rows=np.zeros((*later, columns.width), np.float32),
            legal=np.zeros((*later, len(columns.actions)), np.bool_),
            seats=np.zeros(later, np.int64),
            chosen=np.zeros(now, np.int64),
            log_chances=np.zeros(now, np.float32),
            rewards=np.zeros((*now, games.rules.num_sides)),
            ended=np.zeros(now, np.bool_),
        )


def collect(tables: Tables, logits: Logits, out: Rollout, device: torch.device) -> float:
    """Plays on from where the tables stand, and fills `out`.

    Args:
        tables: Played on in place.
        logits: Rows float32 [B, W] on `device` to logits [B, N].
        out: Memory for T decisions a game.
        device: Of the network.

    Returns:
        The seconds that were spent in the network.
    """
    in_network = 0.0
    out.rewards[:] = 0
    out.ended[:] = False
    tables.observe(out.rows[0], out.legal[0], out.seats[0])
    for step in range(len(out.chosen)):
        asked = time.perf_counter()
        scores = logits(torch.from_numpy(out.rows[step]).to(device)).cpu().numpy()
        in_network += time.perf_counter() - asked
        tables.choose(scores, out.legal[step], out.chosen[step], out.log_chances[step])
        actions = tables.columns.actions[out.chosen[step]]
        tables.play(actions, out.rewards[step], out.ended[step])
        tables.observe(out.rows[step + 1], out.legal[step + 1], out.seats[step + 1])
    return in_network
