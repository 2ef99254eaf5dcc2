"""fives."""
from fives_env.rules import Rules
from fives_env.games import Games
