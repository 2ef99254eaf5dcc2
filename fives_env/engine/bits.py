"""Bits of a mask of tiles, as single machine instructions."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def popcount(typing_context: Any, mask: Any) -> Any:
    """How many tiles are in the mask: int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(context.cast(builder, args[0], signature.args[0], types.int64))

    return types.int64(types.int64), codegen


@intrinsic
def lowest(typing_context: Any, mask: Any) -> Any:
    """The lowest tile in a mask that is not empty: int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = context.cast(builder, args[0], signature.args[0], types.int64)
        return builder.cttz(value, ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen
