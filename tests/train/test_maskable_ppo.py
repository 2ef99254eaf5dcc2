"""MaskablePPO on every kind of vector env (B18), and its masked distribution (B15)."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv

from fives_env.actions import NUM_ACTIONS
from fives_env.envs.single import FivesEnv
from fives_env.envs.vector import FivesVectorEnv
from train.sb3_vec_env import Sb3VecEnv

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
def test_B18_learns_2048_steps(make: Callable[[int], VecEnv], num_envs: int) -> None:
    torch.set_num_threads(1)
    envs = make(num_envs)
    try:
        model = MaskablePPO(
            "MlpPolicy", envs, n_steps=2048 // num_envs, batch_size=512, n_epochs=2, seed=1
        )
        before = [weight.clone() for weight in model.policy.parameters()]
        model.learn(2048 // num_envs * num_envs)
        masks = get_action_masks(envs)
        assert masks.shape == (num_envs, NUM_ACTIONS)
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
