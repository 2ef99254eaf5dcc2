"""``python -m eval ladder``: strength against greedy and time of a move; `plot` is its picture."""
