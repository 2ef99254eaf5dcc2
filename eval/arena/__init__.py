"""Where matches are played; nothing is judged here.

contenders   agents by their spec, each with an identity that changes when it does
schedule     who meets whom
paired       pairs: the same deals in every seating, no agent knowing which are the same
loops        the course of whole matches in compiled code: played and recorded, or replayed
workers      blocks of pairs, played here or in several processes
cluster      the same on a Ray cluster
"""
