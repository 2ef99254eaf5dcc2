"""Search agents, compiled: exact play with open hands, and what builds on it.

`solver` (alpha-beta for the rest of a round), `goals` (what the end of a line is worth), `pimc`
(many sampled worlds, each solved), `ismcts` (one tree over information sets),
`rollout` (fast policies play sampled worlds out).
"""
