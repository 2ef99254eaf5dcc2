"""Match equity: the probability to win the match from its scores, as tables of their own.

`tables.load` reads one; ``python -m agents.equity`` makes them.
"""
