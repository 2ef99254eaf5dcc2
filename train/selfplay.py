"""``python -m train selfplay``: PPO in which one network plays all seats of many games at once.

Read from top to bottom: a run begins or goes on (`run`, `resume`), trains (`train`), and one turn
of that (`learn`) collects decisions, credits them, and takes gradient steps. What a run is at any
moment is a `State` (selfplay_state.py), of which a checkpoint holds all.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from agents.model import ModelAgent
from fives_env.policies import BuiltIn
from fives_env.rules import Rules
from fives_env.salts import read_salt
from train.actor_critic import ActorCritic
from train.checkpoint import read_checkpoint
from train.config import Resume
from train.evaluation import describe, measure
from train.metrics import Metrics
from train.plots import draw_speed, draw_strength
from train.progress import ProgressBar
from train.rollout.collector import Rollout
from train.rollout.credit import credit_by_seat, credit_by_side
from train.rollout.steps import choose
from train.run_folder import RunFolder, check_new, only_begun, tell
from train.seeds import derive
from train.selfplay_config import Learner, Selfplay
from train.selfplay_state import State, adopt, agent_of, make_league, prepare, restore, save
from train.settings import read_settings
from train.stopping import Interruption
from train.workers import HERE, Workers, cluster_of, workers_of

Array = npt.NDArray[Any]
MEASURED_AGAINST = "greedy"
_CRITIC_WEIGHT, _VALUE_WEIGHT = 0.5, 0.25
_LARGEST_GRADIENT = 0.5
_CHUNK = 8192
"""Rows that the critic judges at once, so that its hidden values stay in the cache."""


def run(config: Selfplay) -> int:
    """Trains as told and leaves a run folder with the model.

    Returns:
        The exit code: 0, or 130 after Ctrl-C; the model and a checkpoint are saved in both cases.

    Raises:
        ValueError: The rules, the opponents, the device or the run folder cannot be used.
    """
    check_new(config.out)
    config = replace(config, salt=read_salt(config.salt))
    state = prepare(config, make_league(config))
    if config.init is not None:
        adopt(state, config.init)
    with cluster_of(config) as ray, RunFolder(config.out, config) as folder:
        folder.log.info("training on %s, seed %s, on %s", config.rules, config.seed, state.device)
        add_snapshot(state, folder)
        state.tables.begin()
        return train(state, folder, workers_of(config, ray, folder.log))


def resume(order: Resume) -> int:
    """Goes on with a run from its last checkpoint.

    Returns:
        As `run`.

    Raises:
        ValueError: There is no run or no checkpoint, or it is of other rules or another version.
    """
    config = order.limited(read_settings(Selfplay, order.resume))
    if only_begun(config.out):  # killed before there was anything to go on from
        return run(config)
    tensors, facts = read_checkpoint(config.out, config)
    state = prepare(config, make_league(config, facts.get("pool")))
    restore(state, tensors, facts)
    told = order.extend(state.clock, facts["settings"], config, config.learner.learning_rate)
    if facts["done"] and state.clock.part >= 1:
        print(f"{config.out} is done; --minutes or --decisions would take it further")
        return 0
    reopened = RunFolder.reopen(config.out, config, state.clock.decisions)
    with cluster_of(config) as ray, reopened as folder:
        tell(folder, told)
        return train(state, folder, workers_of(config, ray, folder.log))


def add_snapshot(state: State, folder: RunFolder) -> None:
    """Adds the agent as it is now to the league, where one is due."""
    league, tables = state.tables.league, state.tables
    if league is None or not league.takes_snapshots:
        return
    if state.clock.decisions >= league.num_snapshots * state.config.pool.every:
        in_play = np.stack([tables.seating, tables.seating_next])
        if name := league.add(*agent_of(state, folder.versions), in_play):
            folder.log.info("added %s at %s", name, f"{state.clock.decisions:,}")


def train(state: State, folder: RunFolder, workers: Workers) -> int:
    """Trains until the clock or somebody says stop; evaluates and saves on the way and at the end.

    Returns:
        The exit code.
    """
    config, clock = state.config, state.clock
    memory = Rollout.empty(state.tables, config.learner.num_steps)
    metrics = Metrics(folder.path, clock.decisions)
    update_took = 0.0
    with Interruption() as interruption, ProgressBar(clock) as bar:
        compile_loops(state, memory)  # before time counts
        if clock.decisions == 0:
            evaluate(state, folder, metrics, bar, config.pairs, workers)
            save(state, folder)
        clock.start()
        saved_at = clock.seconds
        while not (interruption.asked or clock.ends_within(update_took / 2)):
            began = time.monotonic()
            numbers = learn(state, memory, workers)
            metrics.add(numbers)
            bar.update(numbers)
            add_snapshot(state, folder)
            update_took = time.monotonic() - began
            if clock.seconds - state.evaluated_at >= config.evaluate_every:
                evaluate(state, folder, metrics, bar, config.pairs, workers)
            if clock.seconds - saved_at >= config.checkpoint_every:
                saved_at = clock.seconds
                save(state, folder)
        clock.stop()
        done = not interruption.asked
        if done:
            evaluate(state, folder, metrics, bar, config.final_pairs, workers)
        save(state, folder, done)
    metrics.close()
    draw_strength(folder.path)
    draw_speed(folder.path)
    summary = f"{clock.decisions:,} decisions in {clock.seconds:.0f} s, {describe(state.strength)}"
    folder.log.info("%s after %s", "done" if done else "interrupted", summary)
    print(f"{summary}; play it as model:{config.out}")
    return 0 if done else interruption.exit_code


def compile_loops(state: State, memory: Rollout) -> None:
    """Compiles what `learn` calls, on first use; changes nothing that lasts."""
    tables = state.tables
    tables.observe(memory.rows[0], memory.legal[0], memory.seats[0])
    logits = np.zeros(memory.legal[0].shape, np.float32)
    choose(tables.games.data, logits, memory.legal[0], memory.chosen[0], memory.log_chances[0])
    values = np.zeros((*memory.seats.shape, memory.rewards.shape[2]), np.float32)
    credit_of(state.config.learner, memory, values)


def learn(state: State, memory: Rollout, workers: Workers = HERE) -> dict[str, float]:
    """One turn: T decisions in every game are played, credited and learned from.

    Returns:
        What there is to log.
    """
    began = time.monotonic()
    learner, clock = state.config.learner, state.clock
    network, device = state.network, state.device
    with torch.no_grad():
        in_network = workers.collect(state, memory)
        collected = time.monotonic()
        rows = torch.from_numpy(memory.rows).to(device)
        judged = [network.judge(chunk) for chunk in torch.split(rows.flatten(0, 1), _CHUNK)]
        values = torch.cat(judged).view(*rows.shape[:2], -1).cpu().numpy()
    advantages, targets = credit_of(learner, memory, values)
    spread = np.mean(np.square(targets))
    explained = 1 - np.mean(np.square(targets - values[:-1])) / max(spread, 1e-9)
    gain = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    numbers = _take_steps(state, memory, rows, gain, targets)
    clock.decisions += advantages.size
    took = time.monotonic() - began
    state.seconds_outside += collected - began - in_network
    return {
        "decisions": clock.decisions,
        "seconds": clock.seconds,
        **numbers,
        "explained": float(explained),
        "advantage": float(np.abs(advantages).mean()),
        "per_second": advantages.size / took,
        "outside_network": (collected - began - in_network) / took,
    }


def credit_of(learner: Learner, memory: Rollout, values: Array) -> tuple[Array, Array]:
    """Advantages [T, B] and value targets [T, B, S] of a rollout whose rows the critic judged."""
    advantages = np.empty(memory.chosen.shape, np.float32)
    targets = np.empty_like(values[:-1])
    credit = credit_by_side if learner.credit == "side" else credit_by_seat
    credit(memory.rewards, memory.ended, values, memory.seats, learner.decay, advantages, targets)
    return advantages, targets


def _take_steps(
    state: State, memory: Rollout, rows: torch.Tensor, gain: Array, targets: Array
) -> dict[str, float]:
    """The gradient steps of one turn; the means of what there is to log."""
    learner, network, device = state.config.learner, state.network, state.device
    left = state.clock.anneal()
    for group in state.optimizer.param_groups:
        group["lr"] = learner.learning_rate * left
    flat = [
        part.to(device).flatten(0, 1)
        for part in (
            rows[:-1],
            torch.from_numpy(memory.legal[:-1]),
            torch.from_numpy(memory.chosen),
            torch.from_numpy(memory.log_chances),
            torch.from_numpy(gain),
            torch.from_numpy(targets),
        )
    ]
    logged: list[torch.Tensor] = []
    for _ in range(learner.num_epochs):
        order = torch.randperm(len(flat[0]), generator=state.generator).to(device)
        for batch in torch.split(order, learner.batch_size):
            terms = loss_terms(network, learner, *(part[batch] for part in flat))
            policy, critic, value, entropy = terms[:4]
            loss = policy + _CRITIC_WEIGHT * critic + _VALUE_WEIGHT * value
            loss = loss - learner.entropy * left * entropy
            state.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            norm = nn.utils.clip_grad_norm_(network.parameters(), _LARGEST_GRADIENT)
            state.optimizer.step()
            logged.append(torch.stack([loss.detach(), *(term.detach() for term in terms), norm]))
    means = torch.stack(logged).mean(dim=0).tolist()
    names = ("loss", "policy", "critic", "value", "entropy", "kl", "clipped", "gradient")
    return {**dict(zip(names, means, strict=True)), "learning_rate": learner.learning_rate * left}


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
    within = ratio.clamp(1 - learner.clip, 1 + learner.clip)
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


def evaluate(
    state: State,
    folder: RunFolder,
    metrics: Metrics,
    bar: ProgressBar,
    pairs: int,
    workers: Workers,
) -> None:
    """Measures the agent, best action always, in whole matches against greedy."""
    config, clock = state.config, state.clock
    began = time.monotonic()
    state.evaluated_at = clock.seconds
    rules = replace(Rules.from_spec(config.rules), mode="match")
    seed = derive(config.seed, "evaluation")
    agent = ModelAgent(*agent_of(state, folder.versions))
    opponent = BuiltIn(MEASURED_AGAINST)
    numbers = measure(rules, agent, opponent, seed, pairs, config.salt, workers.play)
    state.strength = {
        "decisions": clock.decisions,
        "seconds": round(clock.seconds, 1),
        "opponent": MEASURED_AGAINST,
        **numbers,
    }
    folder.add_evaluation(state.strength)
    metrics.show("strength/win_rate", numbers["win_rate"], clock.decisions)
    metrics.show("strength/points_per_round", numbers["points_per_round"], clock.decisions)
    bar.update({"greedy": numbers["win_rate"], "points": numbers["points_per_round"]})
    state.seconds_outside += time.monotonic() - began
