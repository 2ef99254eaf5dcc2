"""MaskablePPO on every kind of vector env (B18), and its masked distribution (B15)."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv

from fives_env.actions import NUM_ACTIONS
from fives_env.encoding import encode
from fives_env.envs.sb3 import Sb3VecEnv
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from tests.agents.material import positions
from train.league.league import league_of
from train.run.clock import Clock
from train.sb3.config import Learner, Sb3
from train.sb3.trainer import make_envs, make_model

ROUNDS = "fives-and-threes:mode=round"
make_single = partial(FivesEnv, ROUNDS, opponent="random", reward="points")


def _native(num_envs: int) -> VecEnv:
    return Sb3VecEnv(FivesVectorEnv(num_envs, ROUNDS, opponent="random", reward="points"))


def _dummy(num_envs: int) -> VecEnv:
    return DummyVecEnv([make_single] * num_envs)


def _processes(method: str, num_envs: int) -> VecEnv:
    return SubprocVecEnv([make_single] * num_envs, start_method=method)


@pytest.mark.parametrize(
    ("make", "num_envs"),
    [
        (_native, 1),
        (_native, 2),
        (_native, 5),
        (_dummy, 1),
        (_dummy, 5),
        (partial(_processes, "fork"), 2),
        (partial(_processes, "spawn"), 2),
    ],
)
def test_B18_learns_2048_steps_with_the_masks_of_its_rows(
    make: Callable[[int], VecEnv], num_envs: int
) -> None:
    torch.set_num_threads(1)
    envs = make(num_envs)
    try:
        model = MaskablePPO(
            "MlpPolicy", envs, n_steps=2048 // num_envs, batch_size=512, n_epochs=2, seed=1
        )
        before = [weight.clone() for weight in model.policy.parameters()]
        model.learn(2048 // num_envs * num_envs)
        _masks_follow_their_rows(envs)
        taken = model.rollout_buffer.action_masks[
            np.arange(len(model.rollout_buffer.action_masks)),
            model.rollout_buffer.actions.ravel().astype(int),
        ]
        assert (taken == 1).all()
        after = list(model.policy.parameters())
        assert any(not torch.equal(old, new) for old, new in zip(before, after, strict=True))
        assert all(bool(torch.isfinite(weight).all()) for weight in after)
    finally:
        envs.close()


def _masks_follow_their_rows(envs: VecEnv) -> None:
    """Also right behind an automatic reset: against the native env, which is tested row by row."""
    native = _native(envs.num_envs)
    for each in (native, envs):
        each.seed(5)
    observations = [native.reset(), envs.reset()]
    rng, ended = np.random.default_rng(0), 0
    for _ in range(40):
        assert np.array_equal(*observations)
        masks = get_action_masks(envs)
        assert masks.shape == (envs.num_envs, NUM_ACTIONS)
        assert (masks == get_action_masks(native)).all()
        actions = np.asarray((rng.random(masks.shape) * masks).argmax(axis=1))
        left, right = native.step(actions), envs.step(actions)
        assert (left[2] == right[2]).all()
        ended += int(left[2].sum())
        observations = [left[0], right[0]]
    assert ended >= 3


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("num_legal", [1, 2, 3])
def test_B15_the_masked_distribution_stays_finite(size: float, num_legal: int) -> None:
    """With the real number of actions, checks on, in float32."""
    rng = np.random.default_rng(num_legal)
    num_rows = 500
    masks = np.zeros((num_rows, NUM_ACTIONS), bool)
    for row in range(num_rows):
        masks[row, rng.choice(NUM_ACTIONS, num_legal, replace=False)] = True
    logits = torch.tensor(rng.normal(0, size, masks.shape), dtype=torch.float32, requires_grad=True)
    distribution = MaskableCategorical(logits=logits, validate_args=True, masks=masks)
    actions = distribution.sample()
    assert masks[np.arange(num_rows), actions.numpy()].all()
    log_chances, entropy = distribution.log_prob(actions), distribution.entropy()
    sums = (distribution.probs * torch.from_numpy(masks)).sum(dim=1)
    assert torch.allclose(sums, torch.ones(num_rows), atol=1e-5)
    assert torch.isfinite(log_chances).all()
    assert torch.isfinite(entropy).all()
    (log_chances.sum() + entropy.sum()).backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("num_legal", [1, 2, 3])
def test_B15_our_policy_stays_finite(size: float, num_legal: int) -> None:
    """Logits of any size in the network that `python -m train sb3` trains, checks on."""
    torch.manual_seed(num_legal)
    config = Sb3("fives-and-threes", Path("unused"), learner=Learner(num_envs=8, hidden=(32,)))
    model = make_model(config, make_envs(config, league_of(config)), Clock(1, None))
    policy, rng = model.policy, np.random.default_rng(num_legal)
    views, _, _ = positions("fives-and-threes")
    features = torch.from_numpy(encode(views))
    with torch.no_grad():
        logits = policy.get_distribution(features).distribution.logits
        policy.action_net.dense.weight *= size / logits.std()
        policy.action_net.step += size / 10
    masks = np.zeros((len(views), NUM_ACTIONS), bool)
    for row in range(len(views)):
        masks[row, rng.choice(NUM_ACTIONS, num_legal, replace=False)] = True
    actions, _, chances = policy(features, action_masks=masks)
    assert masks[np.arange(len(views)), actions.numpy()].all()
    assert torch.isfinite(chances).all()
    values, log_chances, entropy = policy.evaluate_actions(features, actions, action_masks=masks)
    for numbers in (values, log_chances, entropy):
        assert numbers.dtype == torch.float32
        assert torch.isfinite(numbers).all()
    assert entropy.min() >= -1e-6
    assert entropy.max() <= np.log(num_legal) + 1e-5
    distribution = policy.get_distribution(features, action_masks=masks).distribution
    assert torch.allclose(distribution.probs.sum(dim=1), torch.ones(len(views)), atol=1e-5)
    (log_chances.sum() + entropy.sum() + values.sum()).backward()
    for weight in policy.parameters():
        assert weight.grad is not None
        assert torch.isfinite(weight.grad).all()
