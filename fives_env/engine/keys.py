"""Random streams as pure functions of a key and an index (SplitMix64: Steele et al. 2014).

There is no generator state: whoever needs numbers derives them from a 64-bit key, so a result
depends on its own key alone and never on the order or the number of other draws.
"""

import numpy as np

from fives_env.jit import jit

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)

# What a match's key is used for; rounds take the indices from 0 up.
NEXT_MATCH = np.uint64(1 << 40)
START_SCORES = np.uint64(1 << 41)
LEARNER_SEAT = np.uint64(1 << 42)
POLICIES = np.uint64(1 << 43)


@jit
def mix(key, index):
    """Number `index` of the stream `key`: uint64."""
    z = np.uint64(key) + (np.uint64(index) + np.uint64(1)) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@jit
def row_key(seed, row):
    """The stream of row `row` under `seed`."""
    return mix(mix(seed, 0), row)


@jit
def below(number, bound):
    """An index in [0, bound) from a random uint64, by its high half."""
    return np.int64(((number >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@jit
def turn_key(game):
    """The key of whoever acts next in `game`: a function of the match and the place in it.

    Two streams are folded together, so that the key does not lead back to the match's own, from
    which the deals follow.
    """
    stream = mix(game.key, POLICIES) ^ mix(game.key, POLICIES + np.uint64(1))
    return mix(stream, np.int64(game.round) * 256 + game.num_moves)
