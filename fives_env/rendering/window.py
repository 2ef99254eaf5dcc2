"""A window that shows a view, by pygame (the extra ``render``), where there is a display."""

import os
import sys
from typing import Any

import numpy as np

from fives_env.rendering.frames import paint
from fives_env.rendering.picture import HEIGHT, WIDTH

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
_open: dict[str, Any] = {}
"""The window, while there is one; a program has one for all its envs."""


def show(view: np.void) -> bool:
    """Shows what the viewer sees, in a window that opens at the first call.

    Args:
        view: One VIEW record.

    Returns:
        False where no window can be: pygame is not installed, or there is no display.
    """
    if not _has_display():
        return False
    try:
        import pygame
    except ModuleNotFoundError:
        return False
    try:
        if "window" not in _open:
            pygame.display.init()
            pygame.display.set_caption("fives")
            _open["window"] = pygame.display.set_mode((WIDTH, HEIGHT))
        pygame.event.pump()  # or the system takes the window for dead
        _open["window"].blit(paint(view), (0, 0))
        pygame.display.flip()
    except pygame.error:
        close()
        return False
    return True


def close() -> None:
    """Closes the window, if there is one."""
    if _open.pop("window", None) is not None:
        import pygame

        pygame.display.quit()


def _has_display() -> bool:
    return not sys.platform.startswith("linux") or any(map(os.environ.get, _DISPLAYS))
