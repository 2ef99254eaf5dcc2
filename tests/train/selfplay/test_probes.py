"""Probe games: tiny made-up games, each of which fails for one class of learner bug.

After Jesson's and rejax's probe environments. Two seats take turns; a state is a few bits.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fives_env.games import Games
from train.selfplay.config import Learner, Selfplay
from train.selfplay.rollout.collector import Rollout, Tables
from train.selfplay.rollout.columns import Columns
from train.selfplay.rollout.payment import Payment
from train.selfplay.start import make_network
from train.selfplay.trainer import SelfplayTrainer

Array = Any
NUM_GAMES, BITS, CHOICES = 64, 2, 2
SEED_BITS = np.random.default_rng(5).integers(0, 2, (4096, NUM_GAMES))


class Probe(Tables):
    """A game of `length` decisions by turns; seen are a bit, if shown, and the turn's number.

    `pay(turn, bit, action)` is what side 0 gets and side 1 loses, as arrays [B].
    """

    def __init__(self, length: int, pay: Any, shown: tuple[int, ...] = (0, 1, 2)) -> None:
        games = Games("fives-and-threes:mode=round", NUM_GAMES)
        games.reset(seed=2)
        width = BITS + length
        columns = Columns(
            features=np.arange(width),
            scale=np.ones(width, np.float32),
            actions=np.arange(CHOICES),
            points=np.full(CHOICES, -1),
            advice=None,
            hidden=0,
        )
        self.length, self.pay, self.shown, self.width = length, pay, shown, width
        self.turn, self.match = 0, 0
        payment = Payment(np.zeros((0, 0, 0), np.float32), 0, np.ones((1, 1)), 1)
        super().__init__(games, columns, payment)

    @property
    def bit(self) -> Array:
        return SEED_BITS[self.match % len(SEED_BITS)]

    def observe(self, rows: Array, legal: Array, seats: Array) -> None:
        rows[:] = 0
        if self.turn in self.shown:
            rows[np.arange(NUM_GAMES), self.bit] = 1
        rows[:, BITS + self.turn] = 1
        legal[:] = True
        seats[:] = self.turn % 2

    def play(self, actions: Array, paid: Array, ended: Array) -> None:
        paid[:, 0] += self.pay(self.turn, self.bit, actions)
        paid[:, 1] = -paid[:, 0]
        self.turn += 1
        self.games.data["key"] += np.uint64(12345)  # new chances for the next choice
        if self.turn == self.length:
            self.turn, self.match = 0, self.match + 1
            ended[:] = True


def trained(probe: Probe, credit: str, updates: int = 40) -> SelfplayTrainer:
    torch.manual_seed(0)
    learner = Learner(
        num_envs=NUM_GAMES,
        num_steps=6,
        batch_size=128,
        num_epochs=2,
        learning_rate=1e-2,
        credit=credit,
        hidden=(16,),
        critic_hidden=(16,),
    )
    config = Selfplay("fives-and-threes", Path("unused"), decisions=10**9, learner=learner)
    config = replace(config, threads=1)
    trainer = SelfplayTrainer(replace(config, learner=replace(learner, num_envs=1)))
    trainer.config, trainer.tables = config, probe
    trainer.network = make_network(probe.columns, 2, learner)
    trainer.optimizer = torch.optim.Adam(trainer.network.parameters(), eps=1e-5)
    trainer.memory = Rollout.empty(probe, learner.num_steps)
    for _ in range(updates):
        trainer.update()
    return trainer


def looked_at(state: SelfplayTrainer, probe: Probe, turn: int) -> tuple[Array, Array, Array]:
    """The critic's values and the policy's values and chances at this turn, for bits 0 and 1."""
    rows = np.zeros((2, probe.width), np.float32)
    if turn in probe.shown:
        rows[[0, 1], [0, 1]] = 1
    rows[:, BITS + turn] = 1
    with torch.no_grad():
        seen = torch.from_numpy(rows)
        logits, values = state.network.act(seen)
        judged = state.network.judge(seen)
    return judged[:, 0].numpy(), values[:, 0].numpy(), torch.softmax(logits, 1).numpy()


CREDITS = pytest.mark.parametrize("credit", ["side", "seat"])


@CREDITS
def test_the_value_of_a_constant_reward(credit: str) -> None:
    """Fails where values are not learned at all, or regress to the wrong number."""
    probe = Probe(1, lambda turn, bit, action: np.ones(NUM_GAMES))
    state = trained(probe, credit)
    for values in looked_at(state, probe, 0)[:2]:
        np.testing.assert_allclose(values, 1, atol=0.1)


@CREDITS
def test_the_value_of_what_is_seen(credit: str) -> None:
    """Fails where rows and targets are shuffled apart."""
    probe = Probe(1, lambda turn, bit, action: 2.0 * bit - 1)
    state = trained(probe, credit)
    for values in looked_at(state, probe, 0)[:2]:
        np.testing.assert_allclose(values, [-1, 1], atol=0.15)


@CREDITS
def test_a_reward_that_comes_turns_later(credit: str) -> None:
    """Fails where a seat's credit stops at the other's turn: the bit pays two turns on."""
    probe = Probe(3, lambda turn, bit, action: (2.0 * bit - 1) * (turn == 2))
    state = trained(probe, credit, updates=60)
    np.testing.assert_allclose(looked_at(state, probe, 0)[0], [-1, 1], atol=0.25)
    np.testing.assert_allclose(looked_at(state, probe, 1)[0], [1, -1], atol=0.25)


@CREDITS
def test_an_action_that_pays_turns_later(credit: str) -> None:
    """Fails where advantages reach the wrong decision: turn 0 decides, turn 2 pays."""
    first = np.zeros(NUM_GAMES)

    def pay(turn: int, bit: Array, action: Array) -> Array:
        if turn == 0:
            first[:] = action == bit
        return (2 * first - 1) * (turn == 2)

    probe = Probe(3, pay, shown=(0,))
    state = trained(probe, credit, updates=60)
    chances = looked_at(state, probe, 0)[2]
    assert chances[0, 0] > 0.9
    assert chances[1, 1] > 0.9


@CREDITS
def test_a_policy_that_must_look(credit: str) -> None:
    """Fails where actions and rows do not belong together: the bit names the good action."""
    probe = Probe(1, lambda turn, bit, action: 2.0 * (action == bit) - 1)
    state = trained(probe, credit)
    chances = looked_at(state, probe, 0)[2]
    assert chances[0, 0] > 0.9
    assert chances[1, 1] > 0.9


@CREDITS
def test_what_one_side_gains_the_other_loses(credit: str) -> None:
    """Fails where the sign of the other side's reward is wrong: seat 1 chooses what seat 0 pays."""
    probe = Probe(2, lambda turn, bit, action: -1.0 * (action == 1) * (turn == 1))
    state = trained(probe, credit, updates=60)
    values, _, _ = looked_at(state, probe, 0)
    np.testing.assert_allclose(values, -1, atol=0.2)
    values, _, chances = looked_at(state, probe, 1)
    np.testing.assert_allclose(values, 1, atol=0.2)
    assert (chances[:, 1] > 0.9).all()
