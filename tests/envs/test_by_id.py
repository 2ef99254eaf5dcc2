"""What users of other libraries write, by id, unchanged: X01, X02, X03, X07."""

import os
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pygame
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import AddRenderObservation, HumanRendering, RenderCollection
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from stable_baselines3.common.env_util import make_vec_env

import fives_env
from fives_env.envs.registration import IDS

FRAME = (640, 960, 3)
ALL_RULES = [
    (env_id, f"{game}:players={players}")
    for env_id, game in IDS.items()
    for players in ("2", "3", "4,partners=yes")
]


@pytest.mark.parametrize(("env_id", "rules"), ALL_RULES)
def test_X02_both_checkers_pass_on_what_a_user_makes(env_id: str, rules: str) -> None:
    check_env(gymnasium.make(env_id, rules=rules).unwrapped, skip_render_check=True)
    sb3_check_env(gymnasium.make(env_id, rules=rules))


def test_X02_checkers_pass_with_frames() -> None:
    check_env(gymnasium.make("fives_env/AllFives-v0", render_mode="rgb_array").unwrapped)


SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}


@pytest.mark.parametrize("env_id", IDS)
def test_X01_X03_learners_take_the_id(env_id: str) -> None:
    learned = (
        MaskablePPO("MlpPolicy", env_id, **SMALL).learn(16),
        PPO("MlpPolicy", env_id, **SMALL).learn(16),
        DQN("MlpPolicy", env_id, learning_starts=8, buffer_size=64).learn(24),
    )
    assert [model.num_timesteps for model in learned] == [16, 16, 24]


def test_X01_make_vec_env_of_sb3() -> None:
    envs = make_vec_env("fives_env/AllFives-v0", n_envs=2)
    A2C("MlpPolicy", envs, n_steps=4).learn(16)
    assert envs.env_method("action_masks")[0].shape == (114,)
    frame = envs.render()
    assert frame is not None
    assert frame.dtype == np.uint8


@pytest.mark.parametrize("mode", ["sync", "async", None])
def test_X07_frames_of_a_vector_env(mode: str | None) -> None:
    made = {"vectorization_mode": mode} if mode else {}
    envs = gymnasium.make_vec("fives_env/AllFives-v0", 2, render_mode="rgb_array", **made)
    envs.reset(seed=1)
    frames = envs.render()
    assert frames is not None
    assert [frame.shape for frame in frames] == [FRAME, FRAME]
    envs.close()


def test_X07_frames_of_single_and_aec_envs() -> None:
    env = gymnasium.make("fives_env/FivesAndThrees-v0", render_mode="rgb_array")
    assert env.metadata["render_fps"] > 0
    env.reset(seed=1)
    assert env.render().shape == FRAME  # type: ignore[union-attr]
    aec = pettingzoo.make("aec", "fives_env/AllFives-v0", render_mode="rgb_array")
    aec.reset(seed=1)
    assert aec.render().shape == FRAME
    assert aec.metadata["render_fps"] > 0


def test_X07_gymnasiums_rendering_wrappers() -> None:
    def made() -> Any:
        return gymnasium.make("fives_env/ThreesAndFives-v0", render_mode="rgb_array")

    for wrap in (AddRenderObservation, RenderCollection):
        env = wrap(made())
        _, info = env.reset(seed=1)
        env.step(int(info["action_mask"].argmax()))
        env.close()
    assert AddRenderObservation(made()).observation_space.shape == FRAME


HUMAN = """
import gymnasium, fives_env
env = gymnasium.make("fives_env/AllFives-v0", render_mode="human")
vec = gymnasium.make_vec("fives_env/AllFives-v0", 2, render_mode="human")
aec = fives_env.env(render_mode="human")
for one in (env, vec, aec):
    one.reset(seed=1)
    one.render()
import pygame
print("window", pygame.display.get_surface().get_size())
for one in (env, vec, aec):
    one.close()
    one.close()
print("open", pygame.display.get_init())
"""


def test_X07_human_mode_shows_a_window_where_there_is_a_display() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HUMAN],
        env=os.environ | {"SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "window (960, 640)\nopen False\n", done.stderr


def test_X07_gymnasium_opens_a_window_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = HumanRendering(gymnasium.make("fives_env/AllFives-v0", render_mode="rgb_array"))
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))
    assert pygame.display.get_init()
    env.close()
    assert not pygame.display.get_init()


@pytest.mark.parametrize("make", [fives_env.env, fives_env.raw_env])
def test_svg_by_every_env(make: Any) -> None:
    aec = make(render_mode="svg")
    aec.reset(seed=1)
    envs = gymnasium.make_vec("fives_env/AllFives-v0", 2, render_mode="svg")
    envs.reset(seed=1)
    single = gymnasium.make("fives_env/AllFives-v0", render_mode="svg")
    single.reset(seed=1)
    for text in (aec.render(), *envs.render(), single.render()):  # type: ignore[misc]
        assert text.startswith("<svg")
        assert text.endswith("</svg>\n")
