"""PPO of our own: one network plays all seats of many games at once.

- config.py: what it can be told
- trainer.py: learning, to be read first
- start.py: tables, network and device, as a run begins
- actor_critic.py, memory_network.py: the networks
- rollout/: plays, pays, credits
- workers.py, workers_ray.py: who plays
"""
