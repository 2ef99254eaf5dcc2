"""Agents of the lab: `make_agent` builds one from a spec text, `AGENTS` lists them all."""

import importlib
import sys

if __name__ == "agents":  # in a checkout: a second name of what fives_env/lab.py imports
    sys.modules[__name__] = importlib.import_module("fives_env.agents")

from .registry import AGENTS, canonical, make_agent
from .specs import Entry

__all__ = ["AGENTS", "Entry", "canonical", "make_agent"]
