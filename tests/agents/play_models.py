"""Run by a test in a process of its own: plays the models in the folders 0, 1, ... of a folder."""

import json
import sys
from pathlib import Path

import numpy as np

from agents import make_agent
from fives_env.games import Games
from fives_env.play import advance
from tests.agents.material import ALL_RULES, positions

NUM_MATCHES = 500


def main(folder: Path) -> None:
    """Prints how many matches were played, and some actions of the first model."""
    matches = 0
    for index, rules in enumerate(ALL_RULES):
        for sample in ("no", "yes"):
            agent = make_agent(f"model:{folder / str(index)},sample={sample}")
            games = Games(f"{rules},mode=round", NUM_MATCHES)
            games.reset(seed=index)
            advance(games, [agent], np.zeros((NUM_MATCHES, 4), np.int8))
            matches += int(games.data["match_over"].sum())
    sampling = make_agent(f"model:{folder / '0'},sample=yes")
    actions = sampling.act(*positions(ALL_RULES[0]))
    print(json.dumps({"matches": matches, "actions": actions.tolist()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
