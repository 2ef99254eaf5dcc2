"""A view as a frame of pixels, painted by pygame (the extra ``render``) without any window."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.extras import missing
from fives_env.rendering.picture import HEIGHT, WIDTH, Box, Dot, draw

_FINER = 2
"""Painted so many times as large, and made smaller, which smooths the edges."""


def render_rgb(view: np.void) -> npt.NDArray[np.uint8]:
    """What the viewer sees: uint8 [640, 960, 3], red, green, blue.

    Args:
        view: One VIEW record.

    Raises:
        ModuleNotFoundError: pygame is not installed; the message says what to install.
    """
    pixels = _pygame().surfarray.array3d(paint(view))
    return np.ascontiguousarray(pixels.transpose(1, 0, 2))


def paint(view: np.void) -> Any:
    """The same as a pygame surface."""
    pygame = _pygame()
    large = pygame.Surface((_FINER * WIDTH, _FINER * HEIGHT))
    for shape in draw(view):
        color = pygame.Color(shape.fill)
        if isinstance(shape, Box):
            sizes = (shape.x, shape.y, shape.wide, shape.high)
            box = pygame.Rect(*(round(_FINER * size) for size in sizes))
            pygame.draw.rect(large, color, box, border_radius=round(_FINER * shape.radius))
            if shape.edge:
                edge, round_by = pygame.Color(shape.edge), round(_FINER * shape.radius)
                pygame.draw.rect(large, edge, box, width=_FINER, border_radius=round_by)
        elif isinstance(shape, Dot):
            middle = (_FINER * shape.x, _FINER * shape.y)
            pygame.draw.circle(large, color, middle, _FINER * shape.radius)
        else:
            words = _font(round(_FINER * shape.size)).render(shape.text, True, color)
            place = words.get_rect(centery=round(_FINER * shape.y))
            side = {"start": "left", "middle": "centerx", "end": "right"}[shape.anchor]
            setattr(place, side, round(_FINER * shape.x))
            large.blit(words, place)
    return pygame.transform.smoothscale(large, (WIDTH, HEIGHT))


@cache
def _pygame() -> Any:
    try:
        import pygame
    except ModuleNotFoundError:
        raise missing("pygame", "render") from None
    return pygame


@cache
def _font(size: int) -> Any:
    pygame = _pygame()
    pygame.font.init()
    return pygame.font.Font(None, round(1.3 * size))  # its own font, whose height is in other units
