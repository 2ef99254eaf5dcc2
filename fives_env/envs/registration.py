"""The ids under which Gymnasium and PettingZoo make the envs, and what those ids call.

What is made by id, is made by somebody else's program: a checker, a learner without masks, a random
rollout, all of which play any action of the space. There an illegal action loses the episode
(``illegal="lose"``), as it does in PettingZoo's `env`; whoever makes the class is told by a
ValueError, unless `illegal` says otherwise.
"""

from typing import Any

import gymnasium
from pettingzoo import AECEnv
from pettingzoo.env_registry import registration as pettingzoo_registry

from fives_env.envs import aec
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from fives_env.rules import Rules, as_rules

IDS = {
    "fives_env/FivesAndThrees-v0": "fives-and-threes",
    "fives_env/ThreesAndFives-v0": "threes-and-fives",
    "fives_env/AllFives-v0": "all-fives",
}
"""Id to preset. The ids take `rules` too, as long as they are of that game."""


def register() -> None:
    """Registers every id, once."""
    for env_id, game in IDS.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(
                env_id,
                entry_point=f"{__name__}:make_single",
                vector_entry_point=f"{__name__}:make_vector",
                kwargs={"game": game, "illegal": "lose"},
                disable_env_checker=True,  # it warns about what is meant; our tests run check_env
            )
        if env_id not in pettingzoo_registry.aec_registry:
            pettingzoo_registry.register(
                "aec", env_id, entry_point=f"{__name__}:make_aec", kwargs={"game": game}
            )


def make_single(game: str, rules: Rules | str | None = None, **kwargs: Any) -> FivesEnv:
    """A `FivesEnv` of this game; arguments as for the class."""
    return FivesEnv(_rules(game, rules), **kwargs)


def make_vector(
    game: str, num_envs: int = 1, rules: Rules | str | None = None, **kwargs: Any
) -> FivesVectorEnv:
    """A `FivesVectorEnv` of this game; arguments as for the class."""
    return FivesVectorEnv(num_envs, _rules(game, rules), **kwargs)


def make_aec(game: str, rules: Rules | str | None = None, **kwargs: Any) -> AECEnv[Any, Any, Any]:
    """An AEC env of this game; arguments as for `raw_env`."""
    return aec.env(rules=_rules(game, rules), **kwargs)


def _rules(game: str, rules: Rules | str | None) -> Rules:
    given = Rules.preset(game) if rules is None else as_rules(rules)
    if given.game != game:
        raise ValueError(f"rules are of {given.game}, but this id is for {game}")
    return given
