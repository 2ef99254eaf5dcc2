"""Our games in OpenSpiel, as a game of its own named ``fives`` (extra ``openspiel``).

`game` has the game and its states, `observer` what a seat is told, `resample` other states that a
seat cannot tell from the one it is in. Importing this registers the game with OpenSpiel.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from fives_env.extras import missing
from fives_env.rules import Rules, as_rules

try:
    import pyspiel
except ModuleNotFoundError:
    raise missing("OpenSpiel", "openspiel") from None

from fives_env.envs.openspiel.game import NAME, FivesGame, FivesState

__all__ = ["FivesGame", "FivesState", "load_game", "pyspiel"]


def load_game(rules: Rules | str, reward: str = "points") -> Any:
    """A game as a `pyspiel.Game`, the same as ``pyspiel.load_game("fives", {...})``.

    Deals and draws are explicit chance nodes: the lot for the lead, then the tiles of each hand in
    ascending order, so that each hand comes up once. Information states have perfect recall.

    Args:
        rules: Whatever `Rules` can say: whole matches or rounds, two to four seats.
        reward: What returns are summed from, ``points`` or ``outcome``, as in our envs.

    Raises:
        ValueError: The rules or the reward do not exist.
    """
    checked = as_rules(rules)
    options = {field.name: getattr(checked, field.name) for field in fields(Rules)}
    options["partners"] = "yes" if checked.partners else "no"
    return pyspiel.load_game(NAME, {**options, "reward": reward})
