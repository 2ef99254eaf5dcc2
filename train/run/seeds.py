"""Seeds of the parts of a run, so that no part plays the deals or uses the chances of another."""

import zlib

import numpy as np


def derive(seed: int, domain: str) -> int:
    """The seed of one part of the run with seed `seed`.

    Args:
        seed: Of the run.
        domain: What it is for: ``training``, ``evaluation``, ...

    Returns:
        A whole number below 2**62, so that one may be counted up for each env.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(domain.encode()),))
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(2))
