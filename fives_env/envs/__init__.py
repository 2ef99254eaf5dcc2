"""The environments: PettingZoo AEC (aec), Gymnasium single-agent (single) and vector (vector)."""
