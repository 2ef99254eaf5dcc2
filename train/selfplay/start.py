"""What self-play begins with, all of it from its settings and its seed: games, network, device."""

from dataclasses import replace

import torch

from agents.memory_network import NUM_MOVES
from fives_env.games import Games
from fives_env.rules import Rules
from train.league.league import League
from train.run.seeds import derive
from train.selfplay.actor_critic import ActorCritic
from train.selfplay.config import Learner, Selfplay
from train.selfplay.memory_network import MemoryActorCritic
from train.selfplay.rollout.collector import Tables
from train.selfplay.rollout.columns import Columns, columns_of
from train.selfplay.rollout.payment import make_payment


def make_tables(config: Selfplay, league: League | None) -> Tables:
    """The tables, at which nobody sits yet.

    Raises:
        ValueError: There is no equity table for the rules, or somebody in the league cannot play
            by them.
    """
    rules = Rules.from_spec(config.rules)
    moves = NUM_MOVES if config.learner.memory else 0
    columns = columns_of(rules, config.learner.advice, moves)
    games = make_games(config)
    if league is not None:
        league.check(games.rules)
    payment = make_payment(rules, config.value)
    return Tables(games, columns, payment, league, round(config.share * len(games)))


def make_games(config: Selfplay) -> Games:
    """The batch, dealt. Whole matches start from 0, but the first ones, so as not to be in step."""
    rules = Rules.from_spec(config.rules)
    mode = "match" if config.episodes == "matches" else "round"
    num_envs = config.learner.num_envs
    games = Games(replace(rules, mode=mode), num_envs, config.threads, config.salt)
    games.reset(
        seed=derive(config.seed, "training"), scores="random" if rules.mode == "match" else None
    )
    if config.episodes == "matches":
        games.script_matches()
    return games


def make_network(columns: Columns, num_sides: int, learner: Learner) -> ActorCritic:
    """New weights from torch's generator."""
    widths = learner.hidden, learner.critic_hidden
    if learner.memory:
        return MemoryActorCritic(columns, num_sides, *widths, learner.memory)
    return ActorCritic(columns, num_sides, *widths)


def find_device(name: str) -> torch.device:
    """The device of this name, which has to be there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device=cuda: there is no CUDA device here; cpu or auto would be right")
    return torch.device(name)
