"""Reinforcement-learning environments for the fives family of dominoes.

Three games (Fives and Threes, Threes and Fives, All Fives), two to four players, one compiled
engine. `Games` is the batch, `env` the PettingZoo env; importing this registers the ids
``fives_env/FivesAndThrees-v0``, ``fives_env/ThreesAndFives-v0`` and ``fives_env/AllFives-v0`` with
Gymnasium and PettingZoo.
"""

from fives_env import belief
from fives_env.encoding import encode
from fives_env.engine.features import OBS_VERSION
from fives_env.envs.aec import env, raw_env
from fives_env.envs.registration import register
from fives_env.games import Games
from fives_env.policies import BuiltIn, Policy
from fives_env.rules import Rules
from fives_env.version import __version__

__all__ = [
    "OBS_VERSION",
    "BuiltIn",
    "Games",
    "Policy",
    "Rules",
    "__version__",
    "belief",
    "encode",
    "env",
    "raw_env",
]

register()
