"""Small games solved exactly: how much a best response makes of an agent.

`tree` walks a game with the engine, `response` finds best responses to a policy on it, `policies`
turns agents into such policies, and `command` is ``python -m eval exact``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # who only walks trees needs no command line
    from eval.commands import Exact


def run(options: Exact) -> None:
    """Carries out the command."""
    from eval.exact import command  # what only walks trees need not load agents and tables

    command.run(options)
