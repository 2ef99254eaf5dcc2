"""``python -m train selfplay``: PPO in which one network plays all seats of many games at once.

A run (train/run/session.py) takes one turn after another (`SelfplayTrainer.update`): decisions are
collected and credited, then come gradient steps.
"""

import logging
import time
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from agents.network import Network
from eval.matches import Matches
from fives_env.rules import Rules
from train.league.league import league_of
from train.run import session
from train.run.clock import Clock
from train.run.seeds import derive
from train.run.session import Facts, Trainer
from train.run.settings import Resume
from train.run.weights import restore_weights, weight_arrays
from train.selfplay.actor_critic import ActorCritic
from train.selfplay.config import Learner, Selfplay
from train.selfplay.rollout.collector import Rollout
from train.selfplay.rollout.credit import credit_by_seat, credit_by_side
from train.selfplay.rollout.steps import choose
from train.selfplay.start import find_device, make_network, make_tables
from train.selfplay.workers import HERE, Workers, cluster_of, workers_of

Array = npt.NDArray[Any]
_CRITIC_WEIGHT, _VALUE_WEIGHT = 0.5, 0.25
_LARGEST_GRADIENT = 0.5
_CHUNK = 8192
"""Rows that the critic judges at once, so that its hidden values stay in the cache."""


def run(options: Selfplay | Resume) -> int:
    """Trains as told, or goes on with a run; as `train.run.session.run`."""
    return session.run(SelfplayTrainer, Selfplay, options)


class SelfplayTrainer(Trainer):
    """Self-play: what is learned so far, and the games in progress.

    Attributes:
        tables: The games.
        network: Policy and critic.
        optimizer: Adam with its moments.
        generator: Of the order in which decisions are learned from.
        device: Of the network.
        memory: The last rollout.
        workers: Who plays.
    """

    config: Selfplay
    measured_against = ("greedy",)
    algorithm = "self-play PPO"

    def __init__(self, config: Selfplay, pool: Facts | None = None) -> None:
        """A new one, all of which follows from the seed; `pool` is the league of one that goes on.

        Raises:
            ValueError: The rules, the opponents or the device cannot be used.
        """
        torch.set_num_threads(config.threads)
        rules, learner = Rules.from_spec(config.rules), config.learner
        self.config, self.rules = config, replace(rules, mode="match")
        self.clock = Clock(config.seconds, config.decisions)
        self.device = find_device(config.device)
        self.league = league_of(config, pool)
        self.tables = make_tables(config, self.league)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(config.seed, "learner"))
            network = make_network(self.tables.columns, rules.num_sides, learner)
        self.network = network.to(self.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)
        self.generator = torch.Generator().manual_seed(derive(config.seed, "order"))
        self.memory = Rollout.empty(self.tables, learner.num_steps)
        self.workers: Workers = HERE
        self._cluster = cluster_of(config)

    def __enter__(self) -> Self:
        """Connects to the cluster, where it plays on one."""
        self._ray = self._cluster.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """Leaves it."""
        self._cluster.__exit__(*error)

    def begin(self, log: logging.Logger, new: bool) -> None:
        """Compiles all loops, before time counts, and seats everybody in a new run."""
        log.info("the network is on %s", self.device)
        self.workers = workers_of(self.config, self._ray, log)
        if new:
            self.tables.begin()
        compile_loops(self)

    def update(self) -> dict[str, float]:
        """One turn: T decisions in every game are played, credited and learned from."""
        began = time.monotonic()
        memory = self.memory
        with torch.no_grad():
            in_network = self.workers.collect(self.tables, self.network, memory)
            outside = time.monotonic() - began - in_network
            rows = torch.from_numpy(memory.rows).to(self.device)
            chunks = torch.split(rows.flatten(0, 1), _CHUNK)
            judged = torch.cat([self.network.judge(chunk) for chunk in chunks])
            values = judged.view(*rows.shape[:2], -1).cpu().numpy()
        advantages, targets = credit_of(self.config.learner, memory, values)
        spread = np.mean(np.square(targets))
        explained = 1 - np.mean(np.square(targets - values[:-1])) / max(spread, 1e-9)
        gain = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        numbers = take_steps(self, rows, gain, targets)
        self.clock.decisions += advantages.size
        return {
            **numbers,
            "explained": float(explained),
            "advantage": float(np.abs(advantages).mean()),
            "outside_network": outside / (time.monotonic() - began),
        }

    def agent(self) -> Network:
        """Its values are in points, or about in chances to win the match."""
        return self.network.export(self.tables.columns, self.tables.payment.unit)

    def adopt(self, network: Network) -> None:
        """Takes up the policy and its value head; the critic's weights stay new."""
        self.network.adopt(network, self.tables.columns, self.tables.payment.unit)

    def in_play(self) -> Array:
        """Who sits in this match of each game, and in its next."""
        return np.stack([self.tables.seating, self.tables.seating_next])

    def capture(self) -> tuple[dict[str, Array], Facts]:
        """Games, weights, moments and the generator, not copied."""
        learned = weight_arrays(self.network, self.optimizer)
        return {
            **self.tables.arrays(),
            **learned,
            "generator": self.generator.get_state().numpy(),
        }, {}

    def restore(self, arrays: dict[str, Array], facts: Facts) -> None:
        """Puts them back."""
        tables = self.tables.arrays()
        if arrays["games"].shape != tables["games"].shape:
            raise ValueError("the checkpoint holds another number of games, or other records")
        restore_weights(self.network, self.optimizer, arrays)
        self.generator.set_state(torch.from_numpy(arrays["generator"]))
        for name, values in tables.items():
            values[:] = arrays[name]

    def play(self, *match: Any) -> Matches:
        """On the cluster too."""
        return self.workers.play(*match)


def compile_loops(trainer: SelfplayTrainer) -> None:
    """Compiles what `update` calls, on first use; changes nothing that lasts."""
    tables, memory = trainer.tables, trainer.memory
    tables.observe(memory.rows[0], memory.legal[0], memory.seats[0])
    logits = np.zeros(memory.legal[0].shape, np.float32)
    choose(tables.games.data, logits, memory.legal[0], memory.chosen[0], memory.log_chances[0])
    values = np.zeros((*memory.seats.shape, memory.rewards.shape[2]), np.float32)
    credit_of(trainer.config.learner, memory, values)


def credit_of(learner: Learner, memory: Rollout, values: Array) -> tuple[Array, Array]:
    """Advantages [T, B] and value targets [T, B, S] of a rollout whose rows the critic judged."""
    advantages = np.empty(memory.chosen.shape, np.float32)
    targets = np.empty_like(values[:-1])
    credit = credit_by_side if learner.credit == "side" else credit_by_seat
    credit(
        memory.rewards, memory.ended, values, memory.seats, learner.gae_lambda, advantages, targets
    )
    return advantages, targets


def take_steps(
    trainer: SelfplayTrainer, rows: torch.Tensor, gain: Array, targets: Array
) -> dict[str, float]:
    """The gradient steps of one turn; the means of what there is to log."""
    learner, network, memory = trainer.config.learner, trainer.network, trainer.memory
    left, optimizer = trainer.clock.annealed, trainer.optimizer
    for group in optimizer.param_groups:
        group["lr"] = learner.learning_rate * left
    played = memory.legal[:-1], memory.chosen, memory.log_chances, gain, targets
    parts = [rows[:-1], *(torch.from_numpy(part).to(trainer.device) for part in played)]
    flat = [part.flatten(0, 1) for part in parts]
    logged: list[torch.Tensor] = []
    for _ in range(learner.num_epochs):
        order = torch.randperm(len(flat[0]), generator=trainer.generator).to(trainer.device)
        for batch in torch.split(order, learner.batch_size):
            terms = loss_terms(network, learner, *(part[batch] for part in flat))
            policy, critic, value, entropy = terms[:4]
            loss = policy + _CRITIC_WEIGHT * critic + _VALUE_WEIGHT * value
            loss = loss - learner.ent_coef * left * entropy
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            norm = nn.utils.clip_grad_norm_(network.parameters(), _LARGEST_GRADIENT)
            optimizer.step()
            logged.append(torch.stack([loss.detach(), *(term.detach() for term in terms), norm]))
    means = torch.stack(logged).mean(dim=0).tolist()
    names = ("loss", "policy", "critic", "value", "entropy", "kl", "clipped", "gradient")
    return dict(zip(names, means, strict=True))


def loss_terms(
    network: ActorCritic,
    learner: Learner,
    rows: torch.Tensor,
    legal: torch.Tensor,
    chosen: torch.Tensor,
    log_chances: torch.Tensor,
    gain: torch.Tensor,
    targets: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """What PPO weighs against each other (Schulman et al. 2017), each a mean over the batch.

    Returns:
        The policy's loss, the critic's, that of the policy's own value head, the entropy; and to
        log, how far the policy has moved (KL) and the share of decisions that were clipped.
    """
    logits, values = network.act(rows)
    chances = log_softmax(logits, legal)
    ratio = (chances.gather(1, chosen[:, None])[:, 0] - log_chances).exp()
    within = ratio.clamp(1 - learner.clip_range, 1 + learner.clip_range)
    policy = -torch.min(ratio * gain, within * gain).mean()
    entropy = -(chances.exp() * chances).sum(dim=1).mean()
    critic = (network.judge(rows) - targets).square().mean()
    value = (values - targets).square().mean()
    kl = (ratio - 1 - ratio.log()).mean()
    clipped = (ratio != within).float().mean()
    return policy, critic, value, entropy, kl, clipped


def log_softmax(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Logarithms of the chances [B, N] of the legal actions; a huge negative number elsewhere.

    Finite everywhere, whatever the logits, so that neither it nor its gradient is ever NaN.
    """
    return torch.log_softmax(logits.masked_fill(~legal, -1e9), dim=1)
