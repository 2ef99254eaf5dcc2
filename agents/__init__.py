"""Agents of the lab: `make_agent` builds one from a spec text, `AGENTS` lists them all."""

from .registry import AGENTS, canonical, make_agent
from .specs import Entry

__all__ = ["AGENTS", "Entry", "canonical", "make_agent"]
