"""The sections of a report: `tournament`, `overview` (several of them), `run` (training, speed)."""
