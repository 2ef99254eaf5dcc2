"""Small games solved exactly: how much a best response makes of an agent.

`tree` walks a game with the engine, `game` is the result, `response` finds best responses to a
policy on it, `policies` turns agents into such policies, and `command` is ``python -m eval exact``.
"""
