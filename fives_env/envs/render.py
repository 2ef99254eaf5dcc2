"""The render modes that all envs share."""

from typing import Any

import numpy as np

from fives_env.rendering.text import render_text

MODES = ("human", "ansi")
METADATA = {"render_modes": list(MODES), "render_fps": 4}
"""What the envs say of it in their `metadata`."""


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
        mode: ``ansi``: text; ``human``: it is printed, and None is returned; None.
    """
    if mode == "ansi":
        return render_text(view)
    if mode == "human":
        print(render_text(view))
    return None
