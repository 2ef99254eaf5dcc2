"""Our games in OpenSpiel, as a game of its own named ``fives``.

OpenSpiel is an extra (``pip install 'fives-env[openspiel]'``) and loaded only when asked for.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from fives_env.rules import Rules, as_rules


def load_game(rules: Rules | str, reward: str = "points") -> Any:
    """A game as a `pyspiel.Game`, the same as ``pyspiel.load_game("fives", {...})``.

    Deals and draws are explicit chance nodes: the lot for the lead, then the tiles of each hand in
    ascending order, so that each hand comes up once. Information states have perfect recall.

    Args:
        rules: Whatever `Rules` can say: whole matches or rounds, two to four seats.
        reward: What returns are summed from, ``points`` or ``outcome``, as in our envs.

    Raises:
        ValueError: OpenSpiel is not installed, or the rules or the reward do not exist.
    """
    pyspiel = load_pyspiel()
    checked = as_rules(rules)
    options = {field.name: getattr(checked, field.name) for field in fields(Rules)}
    options["partners"] = "yes" if checked.partners else "no"
    return pyspiel.load_game("fives", {**options, "reward": reward})


def load_pyspiel() -> Any:
    """OpenSpiel's module, with our games registered.

    Raises:
        ValueError: It is not installed.
    """
    try:
        import pyspiel
    except ImportError:
        raise ValueError(
            "OpenSpiel is not installed; run: pip install 'fives-env[openspiel]'"
        ) from None
    import eval.openspiel_game  # noqa: F401  registers the game

    return pyspiel
