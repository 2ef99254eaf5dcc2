"""Salts: what the keys of policies follow from, and nothing else does.

A salt is a whole number below 2**128. It is drawn from the system's randomness and says nothing
about deals; whoever keeps it can have policies handed the same keys again.
"""

import hashlib
import operator
import secrets
from typing import Any

import numpy as np
import numpy.typing as npt

BITS = 128


def read_salt(salt: Any = None) -> int:
    """`salt` itself; a new one if it is None.

    Raises:
        ValueError: It is not a whole number from 0 to 2**128 - 1.
    """
    if salt is None:
        return secrets.randbits(BITS)
    try:
        number = -1 if isinstance(salt, bool) else operator.index(salt)
    except TypeError:
        number = -1
    if not 0 <= number < 1 << BITS:
        raise ValueError(f"salt={salt!r} is not a whole number from 0 to 2**{BITS} - 1")
    return number


def part_of(salt: int, *names: str) -> int:
    """The salt of one part of what `salt` is for, by its names; it tells nothing of the others."""
    digest = hashlib.blake2b(key=salt.to_bytes(BITS // 8, "little"), digest_size=BITS // 8)
    for name in names:
        digest.update(len(name.encode()).to_bytes(8, "little") + name.encode())
    return int.from_bytes(digest.digest(), "little")


def salt_words(salt: int) -> npt.NDArray[Any]:
    """The salt as compiled code takes it: uint64 [2]."""
    return np.frombuffer(salt.to_bytes(BITS // 8, "little"), "<u8").astype(np.uint64)
