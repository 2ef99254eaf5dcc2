"""The league: frozen snapshots of the learner and scripted agents, of whom each game meets one.

A snapshot is a model folder in the pool's folder, written once and loaded from there: what is
trained on later cannot reach it. A game draws its opponent by its own random stream and keeps it to
its end, and the result is booked to that opponent. Who is drawn depends on the game's stream and on
the results so far alone, so that a run that goes on from a saved state draws the same.

One opponent fills all seats of the other sides, of which there may be one, two or three: a result
is then about that opponent and no other.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from agents import make_agent
from agents.cards import Card
from agents.files import replace_file
from agents.model import load_model, save_model
from agents.network import Network
from fives_env.games import Games
from fives_env.play import ask
from fives_env.policies import Policy
from fives_env.rules import Rules
from train.league.matchmaking import Opponent, weights
from train.run.pool import SELF, Pool, canonical_opponents
from train.run.settings import Settings

Array = npt.NDArray[Any]
FORMAT = 1
STATE = "pool.json"
POOL = "pool"
"""The folder of a run's league, in that of the run."""


def league_of(config: Settings, state: dict[str, Any] | None = None) -> "League | None":
    """Those whom the learner of this run meets, as they were in `state` if given; None for nobody.

    Raises:
        ValueError: As for `League` and `League.restore`.
    """
    if not config.opponents:
        return None
    given = config.out / POOL, config.opponents, config.pool
    return League(*given) if state is None else League.restore(*given, state)


class League:
    """A pool of opponents (fives_env.envs.opponents.Opponents), and who of them is met.

    An opponent's index in `policies` is its slot. Those that were named come first, snapshots
    behind them. A snapshot that is no longer among the newest is met no more, and keeps its slot
    until its last game is over; a later one then takes it.

    Attributes:
        policies: By slot.
        opponents: `Opponent` by slot.
        num_snapshots: How many were added so far.
        totals: The learner's wins, draws and losses against each of those named, earlier snapshots
            too.
    """

    def __init__(self, folder: Path, names: Sequence[str], settings: Pool) -> None:
        """Makes a pool without snapshots; nothing is written yet.

        Args:
            folder: Of the pool.
            names: Specs of agents, and ``self`` for snapshots of the learner.
            settings: Of the pool.

        Raises:
            ValueError: A name is no agent's, stands twice, or there is none or too many.
        """
        self.policies: list[Policy] = []
        self.opponents: list[Opponent] = []
        self.num_snapshots = 0
        self._folder, self._settings = folder, settings
        self._names = canonical_opponents(names)
        self.totals = {name: [0, 0, 0] for name in self._names}
        for name in self._names:
            if name != SELF:
                self.policies.append(make_agent(name))
                self.opponents.append(Opponent(name, name))
        self._num_scripted = len(self.policies)
        self._update()

    @classmethod
    def restore(
        cls, folder: Path, names: Sequence[str], settings: Pool, state: dict[str, Any]
    ) -> Self:
        """The pool as it was when its `state` was taken; its snapshots are loaded from the folder.

        Raises:
            ValueError: The state is of another pool or version, or a snapshot cannot be loaded.
        """
        league = cls(folder, names, settings)
        try:
            if state["format"] != FORMAT or state["names"] != league._names:
                raise ValueError(
                    f"the pool in {folder} is format {state['format']} of {state['names']}; "
                    f"asked for is format {FORMAT} of {league._names}"
                )
            opponents = [Opponent(**fields) for fields in state["opponents"]]
            league.num_snapshots = int(state["num_snapshots"])
            league.totals = {name: list(state["totals"][name]) for name in league._names}
        except (KeyError, TypeError):
            raise ValueError(f"the state of the pool in {folder} is not that of a pool") from None
        for opponent in opponents[league._num_scripted :]:
            league.policies.append(league._load(opponent.name))
        league.opponents = opponents
        league._update()
        return league

    def due(self, decisions: int) -> bool:
        """Whether a snapshot is to be added after so many decisions of the learner."""
        return SELF in self._names and decisions >= self.num_snapshots * self._settings.every

    @property
    def summary(self) -> str:
        """Games with each of those named, and the part that the learner won; draws count half."""
        parts = []
        for name, (wins, draws, losses) in self.totals.items():
            games = wins + draws + losses
            won = (wins + draws / 2) / max(games, 1)
            parts.append(f"{name} {games:,} games, {won:.1%} won")
        return "; ".join(parts)

    @property
    def chances(self) -> Array:
        """How likely each slot is in the next draw: float64 [slots]."""
        return self._chances.copy()

    def check(self, rules: Rules) -> None:
        """Asks each of those named for an action in a game by these rules.

        Raises:
            ValueError: One cannot play it.
        """
        for policy in self.policies:
            ask(policy, Games(rules))

    def draw(self, keys: Array) -> Array:
        """The slot of each game's opponent: int64 [N].

        Args:
            keys: uint64 [N], each game's own randomness (fives_env.envs.opponents.opponent_keys).

        Raises:
            ValueError: Nobody is in the pool.
        """
        if not len(self._chances):
            raise ValueError("the pool is empty: add a snapshot before the first game")
        bounds = np.cumsum(self._chances)
        points = (keys >> np.uint64(11)) * (bounds[-1] / 2.0**53)
        last = np.flatnonzero(self._chances)[-1]
        drawn: Array = np.minimum(np.searchsorted(bounds, points, side="right"), last)
        return drawn

    def add(self, network: Network, card: Card, in_play: Array) -> str | None:
        """Adds a snapshot of the learner, copied to a file and loaded from there.

        Args:
            network: The learner as it is now.
            card: Its card.
            in_play: The slots of all games that are not over, of any shape.

        Returns:
            Its name; None if no slot is free yet, so that it has to be added later.
        """
        number, slot = self.num_snapshots, self._free_slot(in_play)
        if slot is None:
            return None
        name = f"snapshot-{number:06}"
        save_model(self._folder / name, network, card)
        policy, opponent = self._load(name), Opponent(name, SELF, number)
        self.policies[slot : slot + 1] = [policy]
        self.opponents[slot : slot + 1] = [opponent]
        self.num_snapshots += 1
        self._update()
        return name

    def book(self, slots: Array, results: Array) -> None:
        """Books finished games to their opponents.

        Args:
            slots: Of the opponents [N].
            results: Of the learner [N]: 1 won, 0 drawn, -1 lost.
        """
        for slot in np.unique(slots):
            ours = results[slots == slot]
            counts = [int((ours == result).sum()) for result in (1, 0, -1)]
            self.opponents[slot].book(*counts)
            total = self.totals[self.opponents[slot].group]
            total[:] = (sum(pair) for pair in zip(total, counts, strict=True))
        if len(slots):
            self._update()

    def state(self) -> dict[str, Any]:
        """All that is not in the snapshots' files, for JSON."""
        return {
            "format": FORMAT,
            "names": self._names,
            "num_snapshots": self.num_snapshots,
            "totals": self.totals,
            "opponents": [asdict(opponent) for opponent in self.opponents],
        }

    def save(self) -> None:
        """Writes the state beside the snapshots, atomically; then takes away what nobody needs."""
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_file(self._folder / STATE, (json.dumps(self.state(), indent=2) + "\n").encode())
        kept = {opponent.name for opponent in self.opponents}
        for path in self._folder.glob("snapshot-*"):
            if path.name not in kept and int(path.name.split("-")[1]) < self.num_snapshots:
                shutil.rmtree(path)

    def __repr__(self) -> str:
        """Names them."""
        return f"League({', '.join(self._names)})"

    def _free_slot(self, in_play: Array) -> int | None:
        """Of a snapshot that is met no more and not in play; else one behind the last."""
        oldest_met = self.num_snapshots - self._settings.size
        for slot in range(self._num_scripted, len(self.opponents)):
            if self.opponents[slot].number < oldest_met and not (in_play == slot).any():
                return slot
        room = self._num_scripted + 2 * self._settings.size
        return len(self.opponents) if len(self.opponents) < room else None

    def _load(self, name: str) -> Policy:
        return load_model(self._folder / name, sample=self._settings.actions == "sample")

    def _update(self) -> None:
        """Sets the chances anew: those of snapshots that are not among the newest are zero."""
        numbers = np.array([opponent.number for opponent in self.opponents], int)
        ages = np.where(numbers < 0, 0, self.num_snapshots - 1 - numbers)
        met = np.flatnonzero(ages < self._settings.size)
        groups = [self._names.index(self.opponents[slot].group) for slot in met]
        rates = np.array([self.opponents[slot].loss_rate for slot in met])
        self._chances = np.zeros(len(self.opponents))
        if len(met):
            named = np.unique(groups, return_inverse=True)[1]
            chances = weights(self._settings.matchmaking, named, ages[met], rates)
            self._chances[met] = chances
