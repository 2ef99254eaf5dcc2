"""The speed of other libraries, measured on this machine beside our own.

The peers live in a venv of their own, since their pins must not decide ours: `venv` makes it and
runs `measure` in it, `aec_loop` is the driving loop that both sides share.
"""
