"""Pictures: tiles lie as they were laid, all inside, and what is hidden changes nothing."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import fives_env
from fives_env import Games
from fives_env.rendering.frames import render_rgb
from fives_env.rendering.line import Placed, lay_out
from fives_env.rendering.picture import HEIGHT, WIDTH, Box, Dot, Words, draw
from fives_env.rendering.svg import render_svg
from fives_env.tiles import HIGH, LOW, tiles_in
from tests.core.material import ALL, BASIC


def ends_of_rounds(spec: str, num_games: int, seed: int) -> Iterator[np.void]:
    """The view before the last action of the first round, and where the match ended with it."""
    games, rng = Games(spec, num_games=num_games), np.random.default_rng(seed)
    games.reset(seed=seed)
    views = games.view(0)
    on = np.ones(num_games, bool)
    while on.any():
        masks = games.action_mask()
        actions = np.where(on, (masks * rng.random(masks.shape)).argmax(axis=1), -1)
        views[on] = games.view(0)[on]
        games.step(actions)
        over = (games.data["round_over"] > 0) | (games.data["match_over"] > 0)
        ended = on & (games.data["match_over"] > 0)
        views[ended] = games.view(0)[ended]
        on &= ~over
    yield from views


@pytest.mark.parametrize("spec", ALL)
def test_every_tile_lies_once_apart_from_others_and_inside(spec: str) -> None:
    for view in ends_of_rounds(spec, 60, seed=4):
        tiles = lay_out(view).tiles
        assert sorted(placed.tile for placed in tiles) == tiles_in(view["played"])
        boxes = np.array([placed.box for placed in tiles]).reshape(-1, 4)
        apart = (boxes[:, None, :2] >= boxes[None, :, 2:] - 1e-9).any(axis=2)
        assert (apart | apart.T | np.eye(len(tiles), dtype=bool)).all()
        for placed in tiles:
            assert sorted(placed.halves) == [LOW[placed.tile], HIGH[placed.tile]]
        for shape in draw(view):
            left, upper, right, lower = edges(shape)
            assert left >= 0
            assert upper >= 0
            assert right <= WIDTH
            assert lower <= HEIGHT


def edges(shape: Box | Dot | Words) -> tuple[float, float, float, float]:
    if isinstance(shape, Box):
        return shape.x, shape.y, shape.x + shape.wide, shape.y + shape.high
    if isinstance(shape, Dot):
        reach = shape.radius
        return shape.x - reach, shape.y - reach, shape.x + reach, shape.y + reach
    return shape.x, shape.y, shape.x, shape.y


@pytest.mark.parametrize("spec", BASIC)
def test_tiles_that_touch_show_the_same_value(spec: str) -> None:
    for view in ends_of_rounds(spec, 30, seed=5):
        tiles = lay_out(view).tiles
        joints = 0
        for first in tiles:
            for second in tiles:
                if second.x > first.x and second.y == first.y and touch(first, second, 0):
                    joints += 1
                    assert facing(first, 1, across=True) == facing(second, 0, across=True)
                if second.y > first.y and second.x == first.x and touch(first, second, 1):
                    joints += 1
                    assert facing(first, 1, across=False) == facing(second, 0, across=False)
        assert joints == max(0, len(tiles) - 1)


def touch(first: Placed, second: Placed, axis: int) -> bool:
    return abs(first.box[axis + 2] - second.box[axis]) < 1e-9


def facing(placed: Placed, side: int, across: bool) -> int:
    """The value on a side of a tile; a double shows one value on all sides."""
    assert placed.upright != across or placed.halves[0] == placed.halves[1]
    return placed.halves[side]


@pytest.mark.parametrize("spec", BASIC)
def test_what_is_hidden_changes_nothing(spec: str) -> None:
    games, rng = Games(spec, num_games=8), np.random.default_rng(3)
    games.reset(seed=9)
    for _ in range(12):
        masks = games.action_mask()
        games.step((masks * rng.random(masks.shape)).argmax(axis=1))
    for view in games.view(0):
        world = fives_env.belief.sample(view[None], np.array([5], np.uint64), worlds=1)
        seen = np.asarray(world).reshape(-1)[:1]
        other = Games(spec, num_games=1)
        other.reset(seed=1)
        other.data[:] = seen
        assert render_svg(other.view(0)[0]) == render_svg(view)
        assert render_rgb(other.view(0)[0]).tobytes() == render_rgb(view).tobytes()


def test_the_picture_is_xml_and_says_what_the_text_says() -> None:
    (view,) = ends_of_rounds("all-fives", 1, seed=0)
    root = ElementTree.fromstring(render_svg(view))
    said = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert said[0].startswith("All Fives, to 250, round 1")
    assert f"ends: {view['total']}" in said


@pytest.mark.parametrize("spec", BASIC)
def test_frames_have_one_size_and_change(spec: str) -> None:
    views = list(ends_of_rounds(spec, 2, seed=2))
    games = Games(spec, num_games=1)
    games.reset(seed=1)
    frames = [render_rgb(view) for view in [*views, games.view(0)[0]]]
    assert {(frame.shape, frame.dtype.name) for frame in frames} == {((640, 960, 3), "uint8")}
    assert len({frame.tobytes() for frame in frames}) == 3


WITHOUT_PYGAME = """
import sys
sys.modules["pygame"] = None  # as where it is not installed
import gymnasium, fives_env
env = gymnasium.make("fives_env/AllFives-v0", render_mode="{mode}")
env.reset(seed=1)
print(env.render())
"""


@pytest.mark.parametrize(
    ("mode", "rc", "says"),
    [
        ("rgb_array", 1, "pygame is not installed; run: pip install 'fives-env[render]'"),
        ("svg", 0, "<svg"),
        ("human", 0, "All Fives"),
    ],
)
def test_what_needs_pygame_says_what_to_install(mode: str, rc: int, says: str) -> None:
    command = [sys.executable, "-c", WITHOUT_PYGAME.format(mode=mode)]
    done: Any = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == rc, done.stderr
    assert says in done.stdout + done.stderr
