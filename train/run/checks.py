"""Checks of settings by their names; each says in one line what is wrong with which."""

import math
from typing import Any


def one_of(settings: Any, name: str, known: tuple[str, ...]) -> None:
    """Refuses a word that is not known."""
    if (value := getattr(settings, name)) not in known:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(known)}")


def at_least(settings: Any, least: float, *names: str) -> None:
    """Refuses what is below `least`, infinite or no number."""
    for name in names:
        if not least <= (value := getattr(settings, name)) < math.inf:
            raise ValueError(f"{name}={value} is not a number from {least} up")


def from_0_to_1(settings: Any, *names: str) -> None:
    """Refuses what is no share."""
    for name in names:
        if not 0 <= (value := getattr(settings, name)) <= 1:
            raise ValueError(f"{name}={value} is not from 0 to 1")


def are_widths(settings: Any, *names: str) -> None:
    """Refuses what are no widths of layers."""
    for name in names:
        if not (value := getattr(settings, name)) or min(value) < 1:
            raise ValueError(f"{name}={value} must be one or more widths from 1 up")
