"""The render modes that all envs share."""

from typing import Any

import numpy as np

from fives_env.rendering.frames import render_rgb
from fives_env.rendering.svg import render_svg
from fives_env.rendering.text import render_text
from fives_env.rendering.window import close as close_window
from fives_env.rendering.window import show

__all__ = ["METADATA", "MODES", "checked_mode", "close_window", "render"]

MODES = ("human", "ansi", "svg", "rgb_array")
METADATA = {"render_modes": list(MODES), "render_fps": 4}
"""What the envs say of it in their `metadata`."""
_RENDER = {"ansi": render_text, "svg": render_svg, "rgb_array": render_rgb}


def checked_mode(mode: str | None) -> str | None:
    """The mode as it was given.

    Raises:
        ValueError: There is no such mode.
    """
    if mode is not None and mode not in MODES:
        raise ValueError(f"render_mode={mode!r} is none of {', '.join(MODES)}, nor None")
    return mode


def render(view: np.void, mode: str | None) -> Any:
    """One view in this mode.

    Args:
        view: VIEW record.
        mode: ``ansi`` or ``svg``: a text; ``rgb_array``: a frame, uint8 [H, W, 3]; ``human``: it is
            shown in a window or, where there is no display or no pygame, printed as text, and
            None is returned; None.

    Raises:
        ModuleNotFoundError: A frame is asked for and pygame is not installed; the message says what
            to install.
    """
    if mode == "human":
        if not show(view):
            print(render_text(view))
        return None
    return _RENDER[mode](view) if mode else None
