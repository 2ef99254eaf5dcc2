"""Bits of a mask of tiles, as single machine instructions."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _popcount(typing_context: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


def _lowest(typing_context: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


popcount: Any = intrinsic(_popcount)
"""How many tiles are in the mask: int64."""
lowest: Any = intrinsic(_lowest)
"""The lowest tile in a mask that is not empty: int64."""
