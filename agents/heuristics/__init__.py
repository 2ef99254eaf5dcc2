"""Agents that follow rules of thumb: `Careful` and `Tactic`, compiled, on views alone."""

from .careful import Careful
from .tactic import RULES, Tactic

__all__ = ["RULES", "Careful", "Tactic"]
