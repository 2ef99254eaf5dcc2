"""What is the same for every trainer: a run from its beginning to its end.

- settings.py: what a run can be told; pool.py: whom the learner meets; checks.py
- session.py: begins a run or goes on with it, measures and saves on the way
- clock.py, stopping.py: when it ends; progress.py: what is seen of it
- folder.py: the run's folder; config_file.py: settings read back; checkpoint.py, weights.py: what
  a run goes on from
- metrics.py, plots.py: numbers of every update; evaluation.py: strength
- init.py: starting from a trained model; seeds.py: one for each part of a run
"""
