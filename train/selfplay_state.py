"""A run of self-play at one moment: made from its settings, written to a checkpoint, read back."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy.typing as npt
import torch

from agents.cards import Card
from agents.memory_network import NUM_MOVES
from agents.model import save_model
from agents.network import Network
from fives_env.games import Games
from fives_env.rules import Rules
from train.actor_critic import ActorCritic
from train.checkpoint import write_checkpoint
from train.clock import Clock
from train.init import trained_model
from train.league import League
from train.memory_network import MemoryActorCritic
from train.rollout.collector import Tables
from train.rollout.columns import Columns, columns_of
from train.rollout.payment import make_payment
from train.run_folder import RunFolder
from train.seeds import derive
from train.selfplay_config import Learner, Selfplay

Array = npt.NDArray[Any]
POOL = "pool"
"""The folder of the league, in that of the run."""


@dataclass
class State:
    """A run at one moment.

    Attributes:
        config: Its settings.
        tables: The games in progress.
        network: Policy and critic.
        optimizer: Adam with its moments.
        generator: Of the order in which decisions are learned from.
        clock: Seconds and decisions so far.
        device: Of the network.
        strength: The last evaluation.
        seconds_outside: Spent so far on anything but the network.
        evaluated_at: Seconds on the clock at the last evaluation.
    """

    config: Selfplay
    tables: Tables
    network: ActorCritic
    optimizer: torch.optim.Adam
    generator: torch.Generator
    clock: Clock
    device: torch.device
    strength: dict[str, Any]
    seconds_outside: float = 0.0
    evaluated_at: float = 0.0


def prepare(config: Selfplay, league: League | None) -> State:
    """A new run, whose games have not begun: all of it follows from the seed.

    Raises:
        ValueError: There is no such device, no equity table for the rules, or somebody in the
            league cannot play by them.
    """
    torch.set_num_threads(config.threads)
    device = _device(config.device)
    rules = Rules.from_spec(config.rules)
    moves = NUM_MOVES if config.learner.memory else 0
    columns = columns_of(rules, config.learner.advice, moves)
    games = make_games(config)
    if league is not None:
        league.check(games.rules)
    payment = make_payment(rules, config.value)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(config.seed, "learner"))
        network = make_network(columns, rules.num_sides, config.learner).to(device)
    return State(
        config=config,
        tables=Tables(games, columns, payment, league, round(config.share * len(games))),
        network=network,
        optimizer=torch.optim.Adam(network.parameters(), eps=1e-5, fused=True),
        generator=torch.Generator().manual_seed(derive(config.seed, "order")),
        clock=Clock(config.seconds, config.decisions),
        device=device,
        strength={},
    )


def make_games(config: Selfplay) -> Games:
    """The batch, dealt. Whole matches start from 0, but the first ones, so as not to be in step."""
    rules = Rules.from_spec(config.rules)
    mode = "match" if config.episodes == "matches" else "round"
    num_games = config.learner.num_games
    games = Games(replace(rules, mode=mode), num_games, config.threads, config.salt)
    games.reset(
        seed=derive(config.seed, "training"), scores="random" if rules.mode == "match" else None
    )
    if config.episodes == "matches":
        games.script_matches()
    return games


def make_league(config: Selfplay, pool: dict[str, Any] | None = None) -> League | None:
    """Those who sit at some of the tables, as they were in `pool` if given; None for nobody."""
    folder = config.out / POOL
    if not config.opponents:
        return None
    if pool is None:
        return League(folder, config.opponents, config.pool)
    return League.restore(folder, config.opponents, config.pool, pool)


def make_network(columns: Columns, num_sides: int, learner: Learner) -> ActorCritic:
    """New weights from torch's generator."""
    widths = learner.hidden, learner.critic_hidden
    if learner.memory:
        return MemoryActorCritic(columns, num_sides, *widths, learner.memory)
    return ActorCritic(columns, num_sides, *widths)


def agent_of(state: State, versions: dict[str, str]) -> tuple[Network, Card]:
    """The agent as it is now; its values are in points, or about in chances to win the match."""
    config, clock = state.config, state.clock
    tables = state.tables
    network = state.network.export(tables.columns, tables.payment.unit)
    training = {
        "algorithm": "self-play PPO",
        "decisions": clock.decisions,
        "seconds": round(clock.seconds, 1),
        "settings": {**asdict(config), "out": str(config.out)},
    }
    spec = Rules.from_spec(config.rules).spec
    strength = [state.strength] if state.strength else []
    return network, Card(spec, network.shape, training, versions, strength)


def save(state: State, folder: RunFolder, done: bool = False) -> None:
    """Writes the model, and the checkpoint: everything that decides how the run goes on."""
    save_model(folder.model, *agent_of(state, folder.versions))
    tables, clock = state.tables, state.clock
    tensors: dict[str, Array] = {
        **tables.arrays(),
        "generator": state.generator.get_state().numpy(),
    }
    for name, weight in state.network.state_dict().items():
        tensors[f"network.{name}"] = weight.numpy(force=True)
    for index, moments in state.optimizer.state_dict()["state"].items():
        for name, values in moments.items():
            tensors[f"optimizer.{index}.{name}"] = values.numpy(force=True)
    facts = {
        "clock": clock.state(),
        "decisions": clock.decisions,
        "strength": state.strength,
        "seconds_outside": state.seconds_outside,
        "evaluated_at": state.evaluated_at,
        "pool": None if tables.league is None else tables.league.state(),
        "done": done,
    }
    write_checkpoint(folder.path, tensors, facts, state.config)
    if tables.league is not None:
        tables.league.save()  # behind the checkpoint, which may need what is taken away now


def restore(state: State, tensors: dict[str, Array], facts: dict[str, Any]) -> None:
    """Puts what `save` wrote into a run that has just begun with the same settings.

    Raises:
        ValueError: The checkpoint is of another trainer or another network.
    """
    weights = {
        name.removeprefix("network."): torch.from_numpy(values)
        for name, values in tensors.items()
        if name.startswith("network.")
    }
    expected = {name: value.shape for name, value in state.network.state_dict().items()}
    tables = state.tables.arrays()
    if {name: value.shape for name, value in weights.items()} != expected:
        raise ValueError("the checkpoint is of another network than the settings describe")
    if tensors["games"].shape != tables["games"].shape:
        raise ValueError("the checkpoint holds another number of games, or other records")
    state.network.load_state_dict(weights)
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, values in tensors.items():
        if name.startswith("optimizer."):
            _, index, kind = name.split(".")
            moments.setdefault(int(index), {})[kind] = torch.from_numpy(values)
    groups = state.optimizer.state_dict()["param_groups"]
    state.optimizer.load_state_dict({"state": moments, "param_groups": groups})
    state.generator.set_state(torch.from_numpy(tensors["generator"]))
    for name, values in tables.items():
        values[:] = tensors[name]
    state.clock.restore(facts["clock"])
    state.strength = facts["strength"]
    state.seconds_outside, state.evaluated_at = facts["seconds_outside"], facts["evaluated_at"]


def adopt(state: State, init: str) -> None:
    """Starts from the weights of a trained model instead of new ones; the critic's stay new.

    Args:
        state: A run that has not begun.
        init: The model's spec.

    Raises:
        ValueError: There is no such model, or its network is not what the settings describe.
    """
    agent = trained_model(init, Rules.from_spec(state.config.rules))
    try:
        state.network.adopt(agent.network, state.tables.columns, state.tables.payment.unit)
    except ValueError as error:
        raise ValueError(f"--init {init}: {error}") from None


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device=cuda: there is no CUDA device here; cpu or auto would be right")
    return torch.device(name)
