"""MaskablePPO of sb3-contrib on the native vector env.

- config.py: what it can be told
- trainer.py: the envs, the model and what it does in a run
- networks.py: the network
- state.py: what a run goes on from
"""
