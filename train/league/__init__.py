"""Opponents that a learner meets in training, snapshots of itself among them.

- league.py: the pool, and who is drawn from it
- matchmaking.py: how likely each is, where it sits, what a result was
"""
