"""Credit: the compiled passes against slow loops, and payments against the games themselves."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from fives_env.engine import loops
from fives_env.engine.rewards import POINTS
from fives_env.games import Games
from fives_env.rules import Rules
from train.selfplay.rollout.collector import Rollout, Tables, collect
from train.selfplay.rollout.columns import columns_of
from train.selfplay.rollout.credit import credit_by_seat, credit_by_side
from train.selfplay.rollout.payment import make_payment

Array = Any
CPU = torch.device("cpu")
RULES = (
    "fives-and-threes",
    "fives-and-threes:players=3",
    "fives-and-threes:players=4",  # partners
    "threes-and-fives:players=4,partners=no",
    "all-fives",
    "all-fives:players=4,partners=yes",
    "threes-and-fives:draw=optional",
)


def rollout(spec: str, num_steps: int = 24, num_games: int = 12, seed: int = 1) -> Rollout:
    """Random decisions."""
    rules = replace(Rules.from_spec(spec), mode="round")
    games = Games(rules, num_games)
    games.reset(seed=seed, scores="random")
    payment = replace(make_payment(Rules.from_spec(spec), "points"), scales=np.ones((1, 1)))
    tables = Tables(games, columns_of(rules, advice=False), payment)
    tables.begin()
    out = Rollout.empty(tables, num_steps)
    actions = len(tables.columns.actions)
    collect(tables, lambda rows: torch.zeros(len(rows), actions), out, CPU)
    return out


@pytest.mark.parametrize("spec", RULES)
def test_payments_are_what_the_games_paid_from_each_decision_to_the_next(spec: str) -> None:
    """Replays the decisions action by action; knocks, draws and lone placements come between."""
    rules = replace(Rules.from_spec(spec), mode="round")
    out = rollout(spec)
    games = Games(rules, 12)
    games.reset(seed=1, scores="random")
    actions = columns_of(rules, advice=False).actions
    passed = 0
    for game in range(12):
        alone = games[game]
        passed += _skip(alone, None)
        for step in range(24):
            assert alone.data["seat"][0] == out.seats[step, game]
            mask = alone.action_mask()[0]
            assert out.legal[step, game].sum() == mask.sum() >= 2
            np.testing.assert_array_equal(out.legal[step, game], mask[actions])
            paid = np.zeros(4)
            alone.step(actions[out.chosen[step, game : game + 1]])
            loops.pay(alone.params, alone.data, paid[None], POINTS)
            ended = bool(alone.data["match_over"][0])
            if not ended:
                passed += _skip(alone, paid)
                ended = bool(alone.data["match_over"][0])
            sides = [rules.side_of(seat) for seat in range(rules.players)]
            by_side = [paid[sides.index(side)] for side in range(rules.num_sides)]
            np.testing.assert_allclose(out.rewards[step, game], by_side)
            assert out.ended[step, game] == ended
            while alone.data["match_over"][0]:
                alone.restart([True])
                passed += _skip(alone, None)
    assert passed > 20
    assert out.ended.sum() > 5


def test_equity_of_a_round_adds_up_to_what_it_changed() -> None:
    """In whole matches: from one round to the next, and at last to the win."""
    rules = Rules.from_spec("fives-and-threes")
    games = Games(rules, 4)
    games.reset(seed=1)
    payment, columns = make_payment(rules, "equity"), columns_of(rules, advice=False)
    tables = Tables(games, columns, payment)
    tables.begin()
    out = Rollout.empty(tables, 1)
    paid, scale = np.zeros(4), tables.scale.copy()
    rounds, wins, start = 0, 0, [(0, 0)] * 4
    for _ in range(400):
        leaders = games.data["leader"].copy()
        collect(tables, lambda rows: 9 * rows[:, columns.points], out, CPU)  # so that matches end
        paid += out.rewards[0, :, 0] / scale
        for game in np.flatnonzero(out.ended[0]):
            next_leads = leaders[game]  # by side 0: 1 if it leads next
            own, other = games.data["scores"][game, :2].astype(int)
            before = payment.table[(next_leads, *start[game])]
            won = games.data["round"][game] == 0
            after = float(paid[game] > 0) if won else payment.table[next_leads, own, other]
            assert paid[game] == pytest.approx(after - before, abs=1e-5)
            assert out.rewards[0, game, 0] == -out.rewards[0, game, 1]
            start[game], paid[game] = (own, other), 0
            rounds, wins = rounds + 1, wins + won
        scale = tables.scale.copy()
    assert rounds > 100
    assert wins > 4


def test_rounds_of_equity_bring_about_the_same_wherever_they_start() -> None:
    payment = make_payment(Rules.from_spec("fives-and-threes"), "equity")
    assert payment.scales.shape == (8, 8)
    np.testing.assert_array_equal(payment.scales, payment.scales.T)
    brings = 1 / payment.scales
    assert brings[7, 7] > 3 * brings[0, 0]  # much is at stake near the target
    assert brings[0, 0] > 2 * brings[7, 0] == 2 * brings.min()  # and little once it is decided
    assert brings.min() < payment.unit < brings.max()


def _skip(alone: Games, paid: Array | None) -> int:
    """Plays on while one action is legal; how many were played."""
    played = 0
    while not alone.data["match_over"][0] and (mask := alone.action_mask()).sum() == 1:
        alone.step(mask.argmax(axis=1))
        if paid is not None:
            loops.pay(alone.params, alone.data, paid[None], POINTS)
        played += 1
    return played


@pytest.mark.parametrize("spec", RULES)
@pytest.mark.parametrize("decay", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("form", ["side", "seat"])
def test_advantages_are_those_of_a_slow_loop(spec: str, decay: float, form: str) -> None:
    out = rollout(spec)
    num_steps, num_games, num_sides = out.rewards.shape
    values = np.random.default_rng(3).normal(size=(num_steps + 1, num_games, num_sides))
    values = (values - values.mean(axis=2, keepdims=True)).astype(np.float32)
    advantages = np.empty((num_steps, num_games), np.float32)
    targets = np.empty_like(values[:-1])
    credit = credit_by_side if form == "side" else credit_by_seat
    credit(out.rewards, out.ended, values, out.seats, decay, advantages, targets)
    for game in range(num_games):
        for step in range(num_steps):
            seat = out.seats[step, game]
            expected = _slow(out, values, decay, game, step, seat, form)
            np.testing.assert_allclose(advantages[step, game], expected, atol=1e-4)
            own = values[step, game, 0] + expected
            np.testing.assert_allclose(targets[step, game, 0], own, atol=1e-4)
    np.testing.assert_allclose(targets.sum(axis=2), 0, atol=1e-3)


def _slow(
    out: Rollout, values: Array, decay: float, game: int, first: int, seat: int, form: str
) -> float:
    """The sum over later decisions of decay^k x (paid until the next + its value - value)."""
    num_steps, num_sides = len(out.chosen), values.shape[2]
    side = seat % num_sides

    def value(step: int) -> float:
        return float(values[step, game, (side - out.seats[step, game]) % num_sides])

    total, weight, step = 0.0, 1.0, first
    while True:
        paid, here = 0.0, value(step)
        over = False
        while True:
            paid += out.rewards[step, game, side]
            over = bool(out.ended[step, game])
            step += 1
            stops = over or step == num_steps
            if stops or form == "side" or out.seats[step, game] == seat:
                break
        total += weight * (paid + (0 if over else value(step)) - here)
        if over or step == num_steps:
            return total
        weight *= decay


@pytest.mark.parametrize("spec", RULES)
@pytest.mark.parametrize("form", ["side", "seat"])
def test_without_values_a_return_is_all_that_reaches_the_side_to_the_end(
    spec: str, form: str
) -> None:
    out = rollout(spec, num_steps=60)
    shape = out.rewards.shape
    values = np.zeros((shape[0] + 1, *shape[1:]), np.float32)
    advantages, targets = np.empty(shape[:2], np.float32), np.empty(shape, np.float32)
    credit = credit_by_side if form == "side" else credit_by_seat
    credit(out.rewards, out.ended, values, out.seats, 1.0, advantages, targets)
    for game in range(shape[1]):
        for step in range(shape[0]):
            ends = np.flatnonzero(out.ended[step:, game])
            last = step + ends[0] if len(ends) else shape[0] - 1
            side = out.seats[step, game] % shape[2]
            expected = out.rewards[step : last + 1, game, side].sum()
            np.testing.assert_allclose(advantages[step, game], expected, atol=1e-3)
