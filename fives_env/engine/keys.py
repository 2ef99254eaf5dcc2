"""Random streams as pure functions of a key and an index (SplitMix64: Steele et al. 2014).

There is no generator state: whoever needs numbers derives them from a 64-bit key, so a result
depends on its own key alone and never on the order or the number of other draws.

A number of such a stream leads back to its key, from which all deals follow: none leaves compiled
code. What policies are handed comes from a secret salt instead, through SipHash-2-4 (Aumasson and
Bernstein 2012), of which outputs tell nothing about salt, input or each other.
"""

import numpy as np

from fives_env.jit import jit_part

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SIXTEEN_BYTES = np.uint64(16 << 56)
"""SipHash's last word: the length of what is hashed."""

# What a match's key is used for; rounds take the indices from 0 up.
NEXT_MATCH = np.uint64(1 << 40)
START_SCORES = np.uint64(1 << 41)
LEARNER_SEAT = np.uint64(1 << 42)
POLICIES = np.uint64(1 << 43)


@jit_part
def mix(key, index):
    """Number `index` of the stream `key`: uint64."""
    z = np.uint64(key) + (np.uint64(index) + np.uint64(1)) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@jit_part
def row_key(seed, row):
    """The stream of row `row` under `seed`."""
    return mix(mix(seed, 0), row)


@jit_part
def below(number, bound):
    """An index in [0, bound) from a random uint64, by its high half."""
    return np.int64(((number >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@jit_part
def turn_key(game):
    """The number by which compiled code chooses next in `game`; never for a policy to see."""
    stream = mix(game.key, POLICIES) ^ mix(game.key, POLICIES + np.uint64(1))
    return mix(stream, np.int64(game.round) * 256 + game.num_moves)


@jit_part
def policy_key(salt, match, game):
    """What the policy that acts next in `game` is handed: a function of salt, match and place.

    `salt` is uint64 [2]; `match` is a uint64 that no other match under this salt has.
    """
    place = np.int64(game.round) << 16 | np.int64(game.num_moves) << 8 | np.int64(game.seat)
    return sip_hash(salt, match, np.uint64(place))


@jit_part
def sip_hash(salt, first, second):
    """SipHash-2-4 of two words under a 128-bit key, uint64 [2]."""
    a = salt[0] ^ np.uint64(0x736F6D6570736575)
    b = salt[1] ^ np.uint64(0x646F72616E646F6D)
    c = salt[0] ^ np.uint64(0x6C7967656E657261)
    d = salt[1] ^ np.uint64(0x7465646279746573)
    for word in (np.uint64(first), np.uint64(second), _SIXTEEN_BYTES):
        d ^= word
        for _ in range(2):
            a, b, c, d = _sip_round(a, b, c, d)
        a ^= word
    c ^= np.uint64(0xFF)
    for _ in range(4):
        a, b, c, d = _sip_round(a, b, c, d)
    return a ^ b ^ c ^ d


@jit_part
def _sip_round(a, b, c, d):
    a += b
    c += d
    b = _rotated(b, np.uint64(13)) ^ a
    d = _rotated(d, np.uint64(16)) ^ c
    a = _rotated(a, np.uint64(32)) + d
    c += b
    d = _rotated(d, np.uint64(21)) ^ a
    b = _rotated(b, np.uint64(17)) ^ c
    return a, b, _rotated(c, np.uint64(32)), d


@jit_part
def _rotated(word, bits):
    return word << bits | word >> (np.uint64(64) - bits)
