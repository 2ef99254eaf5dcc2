"""The files of a training run that are read here too: `train` writes them under these names."""

CONFIG = "config.json"
VERSIONS = "versions.json"
PROGRESS = "progress.csv"
EVALUATIONS = "evaluations.csv"
EVALUATION_COLUMNS = (
    "decisions",
    "seconds",
    "opponent",
    "pairs",
    "win_rate",
    "low",
    "high",
    "points_per_round",
    "points_low",
    "points_high",
)
"""Of evaluations.csv."""
