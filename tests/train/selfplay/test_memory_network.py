"""Self-play with a memory: what it reads, that the agent is the same network, and that it helps."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from agents.memory_network import NUM_MOVES, NUM_TOKENS, MemoryNetwork
from agents.model import ModelAgent, load_model
from tests.agents.material import random_card
from train.run.checkpoint import read_checkpoint
from train.run.pool import Pool
from train.run.settings import Resume
from train.selfplay.actor_critic import ActorCritic
from train.selfplay.config import Learner, Selfplay
from train.selfplay.memory_network import MemoryActorCritic
from train.selfplay.rollout.collector import Rollout, collect
from train.selfplay.rollout.columns import Columns
from train.selfplay.trainer import SelfplayTrainer, log_softmax, run

WIDTH, LIVE = 16, 5
TINY = Learner(
    num_envs=32,
    num_steps=8,
    batch_size=64,
    num_epochs=1,
    hidden=(32,),
    critic_hidden=(32,),
    memory=WIDTH,
)


def tiny(out: Path, **options: Any) -> Selfplay:
    """A run of a second."""
    settings = {"rules": "fives-and-threes", "decisions": 1024, "pairs": 2, "final_pairs": 2}
    return Selfplay(**{**settings, "out": out, "threads": 1, "learner": TINY, **options})


def small(cls: type[ActorCritic], *memory: int) -> Any:
    """A network over 5 features, with 2 actions to choose from."""
    columns = Columns(
        features=np.arange(LIVE),
        scale=np.ones(LIVE, np.float32),
        actions=np.arange(2),
        points=np.full(2, -1),
        advice=None,
        hidden=0,
        moves=NUM_MOVES if memory else 0,
    )
    torch.manual_seed(0)
    return cls(columns, 2, (32,), (8,), *memory)


def random_tokens(num_rows: int, seed: int = 0) -> torch.Tensor:
    """Rows of all lengths, zeros behind."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, NUM_TOKENS + 1, (num_rows, NUM_MOVES))
    lengths = np.arange(num_rows) % (NUM_MOVES + 1)
    rng.shuffle(lengths)
    tokens[np.arange(NUM_MOVES) >= lengths[:, None]] = 0
    return torch.from_numpy(tokens.astype(np.float32))


def test_many_rows_at_once_are_read_as_pytorch_reads_each_alone() -> None:
    network = small(MemoryActorCritic, WIDTH)
    network.start.data.normal_()
    unit = nn.GRU(network.inward.in_features, WIDTH)
    unit.weight_ih_l0.data, unit.bias_ih_l0.data = network.inward.weight, network.inward.bias
    unit.weight_hh_l0.data, unit.bias_hh_l0.data = network.inner.weight, network.inner.bias
    tokens = random_tokens(100)
    with torch.no_grad():
        found = network.remember(tokens)
        for row, state in zip(tokens.long(), found, strict=True):
            read = row[row > 0] - 1
            expected = network.start[None]
            if len(read):
                inputs = network.deeds(network.deed[read]) + network.arms(network.arm[read])
                expected = unit(inputs, expected)[1]
            np.testing.assert_allclose(state, expected[0], atol=1e-5)


def test_order_matters_and_every_weight_learns() -> None:
    network = small(MemoryActorCritic, WIDTH)
    tokens = random_tokens(128)
    tokens = tokens[(tokens[:, 1] > 0) & (tokens[:, 8] == 0)]  # two to eight; more fade
    rows = torch.cat([torch.ones(len(tokens), LIVE), tokens], dim=1)
    swapped = rows.clone()
    swapped[:, [LIVE, LIVE + 1]] = rows[:, [LIVE + 1, LIVE]]
    ours, theirs = network.look(rows), network.look(swapped)
    assert ((ours - theirs).abs().amax(dim=1) > 1e-5).all()
    network.act(rows)[0].square().sum().backward()
    for name in ("start", "deeds.weight", "arms.weight", "inward.weight", "inner.bias"):
        assert network.get_parameter(name).grad.abs().max() > 0, name


def test_an_action_is_known_by_who_did_what_and_where() -> None:
    network = small(MemoryActorCritic, WIDTH)
    pairs = set(zip(network.deed.tolist(), network.arm.tolist(), strict=True))
    assert len(pairs) == NUM_TOKENS
    assert (max(network.deed), max(network.arm)) == (4 * 30 - 1, 4)


@pytest.mark.parametrize("advice", [False, True])
@pytest.mark.parametrize("rules", ["fives-and-threes", "all-fives:players=4,partners=yes"])
def test_the_exported_network_is_the_trained_one(rules: str, advice: bool) -> None:
    learner = replace(TINY, advice=advice)
    state = SelfplayTrainer(tiny(Path("unused"), rules=rules, learner=learner))
    network, tables = state.network, state.tables
    for weights in network.parameters():
        weights.data += 0.05 * torch.randn(weights.shape)
    tables.begin()
    rollout = Rollout.empty(tables, 6)
    with torch.no_grad():
        collect(tables, lambda rows: network.act(rows)[0], rollout, state.device)
    views = tables.games.view()
    assert (views["num_moves"] > 2).any()
    with torch.no_grad():
        logits, values = network.act(torch.from_numpy(rollout.rows[-1]))
    exported = network.export(tables.columns, unit=3.0)
    assert isinstance(exported, MemoryNetwork)
    inputs = ModelAgent(exported, random_card(rules, exported)).inputs(views)
    ours = exported.logits(inputs)[:, tables.columns.actions]
    # What is constant in training is left out; the rows are those of training.
    np.testing.assert_allclose(ours, logits.numpy(), atol=1e-4)
    np.testing.assert_allclose(exported.values(inputs), 3 * values[:, 0].numpy(), atol=1e-3)


def test_what_only_the_moves_tell_is_learned_with_a_memory_alone() -> None:
    """Equal features, the same moves in another order: which came first names the good action."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 512)
    tokens = np.zeros((512, NUM_MOVES), np.float32)
    tokens[:, :2] = np.array([[31, 150], [150, 31]])[first]
    tokens[:, 2] = rng.integers(1, NUM_TOKENS + 1, 512)  # what tells nothing
    rows = torch.cat([torch.ones(512, LIVE), torch.from_numpy(tokens)], dim=1)
    good = torch.from_numpy(first)
    legal = torch.ones(512, 2, dtype=torch.bool)
    shares = {}
    for network in (small(ActorCritic), small(MemoryActorCritic, WIDTH)):
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
        for _ in range(80):
            optimizer.zero_grad()
            chances = log_softmax(network.act(rows)[0], legal)
            nn.functional.nll_loss(chances, good).backward()
            optimizer.step()
        with torch.no_grad():
            best = network.act(rows)[0].argmax(dim=1)
        shares[type(network)] = float((best == good).float().mean())
    assert shares[MemoryActorCritic] > 0.99
    assert shares[ActorCritic] < 0.6


def test_trains_with_snapshots_and_leaves_a_model_with_a_memory(tmp_path: Path) -> None:
    pool = Pool(every=256, size=2)
    run(tiny(tmp_path, rules="all-fives", opponents=("self",), share=0.5, pool=pool))
    agent = load_model(tmp_path)
    assert agent.network.shape["kind"] == MemoryNetwork.KINDS[TINY.advice]
    assert agent.network.shape["memory"] == WIDTH
    tensors, facts = read_checkpoint(tmp_path)
    assert facts["league"]["num_snapshots"] >= 2
    assert np.abs(tensors["network.start"]).max() > 0


def test_a_run_that_broke_off_goes_on_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(tiny(whole, checkpoint_every=0.0))
    left, update = [2], SelfplayTrainer.update

    def break_off(trainer: SelfplayTrainer) -> dict[str, float]:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("the machine went down")
        return update(trainer)

    with monkeypatch.context() as patch:
        patch.setattr(SelfplayTrainer, "update", break_off)
        with pytest.raises(OSError, match="went down"):
            run(tiny(broken, checkpoint_every=0.0))
    assert read_checkpoint(broken)[1]["clock"]["decisions"] == 512
    assert run(Resume(broken)) == 0
    ours, theirs = (read_checkpoint(folder)[0] for folder in (whole, broken))
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name], err_msg=name)
    text = (broken / "config.json").read_text()
    (broken / "config.json").write_text(text.replace('"memory": 16', '"memory": 0'))
    with pytest.raises(ValueError, match=r"learner\.memory=16, config.json says 0"):
        run(Resume(broken, decisions=2048))


def test_a_memory_of_less_than_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="memory=-1 is not a number from 0 up"):
        Learner(memory=-1)
