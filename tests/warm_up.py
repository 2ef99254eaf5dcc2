"""Compiles the engine once, before several test processes would each do it: a `make test` step."""

import numpy as np

import fives_env
from agents import make_agent
from agents.registry import specs
from eval.arena import paired as arena
from eval.exact.game import build
from fives_env.envs.vector import FivesVectorEnv


def main() -> None:
    """Calls everything that is compiled."""
    rules = fives_env.Rules.preset("fives-and-threes", max_rounds=2)
    games = fives_env.Games("fives-and-threes", num_games=2, threads=2)
    games.rollout(200)
    games.step(games.action_mask().argmax(axis=1))
    views = games.view()
    fives_env.encode(views)
    fives_env.belief.sample(views, np.arange(2, dtype=np.uint64), worlds=2)
    envs = FivesVectorEnv(2, "fives-and-threes:mode=round", seat="random", reward="points")
    envs.reset(seed=0)
    for _ in range(40):
        envs.step(envs.action_masks().argmax(axis=1))
    env = fives_env.env()
    env.reset(seed=0)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    for spec in specs("tried"):
        arena.play(rules, make_agent(spec), make_agent("greedy"), 0, np.arange(2))
    build(fives_env.Rules.from_spec("fives-and-threes:max_pip=1,deal=1,mode=round"))


if __name__ == "__main__":
    main()
