"""Records as memory: compiled code copies them by bytes, since field by field takes far longer."""

from typing import Any

import numba.extending
from numba import types
from numba.core import cgutils as numba_cgutils

from fives_env.jit import jit_inline
from fives_env.records import GAME, PUBLIC_BYTES

cgutils: Any = numba_cgutils  # without types, as is the next
intrinsic: Any = numba.extending.intrinsic
_GAME_BYTES = GAME.itemsize


@intrinsic  # type: ignore[untyped-decorator]
def copy_bytes(_: Any, target: Any, at: Any, source: Any, start: Any, size: Any) -> Any:
    """Copies `size` bytes of the record `source`, from `start` on, into `target` from `at` on."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, at, source, start, size = arguments
        place = cgutils.pointer_add(builder, to, at)
        cgutils.raw_memcpy(builder, place, cgutils.pointer_add(builder, source, start), size, 1)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(target, whole, source, whole, whole), build


@intrinsic  # type: ignore[untyped-decorator]
def word_at(_: Any, record: Any, at: Any) -> Any:
    """The 8 bytes of a record from byte `at` on: uint64."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = cgutils.pointer_add(builder, *arguments)
        return builder.load(builder.bitcast(place, cgutils.ir.IntType(64).as_pointer()))

    return types.uint64(record, types.int64), build


@jit_inline
def copy_public(target, source):
    """Copies the public block, with which GAME and VIEW begin."""
    copy_bytes(target, 0, source, 0, PUBLIC_BYTES)


@jit_inline
def copy_game(target, source):
    """Copies a whole GAME."""
    copy_bytes(target, 0, source, 0, _GAME_BYTES)
