"""``python -m eval benchmark``: how fast everything is.

command      measures, writes the file, draws, prints
timing       in turns, and the best of several
workloads/   what is measured: the library, agents, training
long_run     memory that grows, speed that falls
peers/       other libraries, in a venv of their own
ratios       the rows over one another that say whether it is fast enough
compare      an older file beside a new one
plots        the pictures
"""
