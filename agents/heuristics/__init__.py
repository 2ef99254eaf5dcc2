"""Agents that follow rules of thumb: `Careful` and `Tactic`, compiled, on views alone."""

from agents.heuristics.careful import Careful
from agents.heuristics.tactic import RULES, Tactic

__all__ = ["RULES", "Careful", "Tactic"]
