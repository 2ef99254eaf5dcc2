"""Prints the picture at the top of README.md: a match point in Fives and Threes."""

from fives_env import Games
from fives_env.rendering.svg import render_svg
from fives_env.tiles import NUM_TILES, parse_tile

OWN = ["3|5", "1|5", "3|6", "0|4", "2|2", "3|4", "4|4"]
OTHER = ["3|3", "5|5", "1|4", "6|6", "0|1", "0|2", "2|6"]
LAID = [(0, "3|3"), (1, "3|5"), (1, "5|5"), (1, "1|5"), (1, "1|4"), (0, "3|6"), (0, "6|6")]
"""From the first on, by arm."""

dealt = [parse_tile(tile) for tile in OWN + OTHER]
deck = dealt + [tile for tile in range(NUM_TILES) if tile not in dealt]
games = Games("fives-and-threes", num_games=1)
games.reset(seed=0, rounds=[{"deck": deck, "leader": 1}], scores=[51, 43])
for arm, tile in LAID:
    games.step([arm * NUM_TILES + parse_tile(tile)])
print(render_svg(games.view(0)[0]), end="")
