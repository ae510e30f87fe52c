"""A row of small whole numbers into a row of features, by vectors: for kernels."""

from __future__ import annotations

from typing import Any, Final

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

LANES: Final = 16
"""How many numbers `widen` writes."""


def _widen(typing: Any, to: Any, of: Any) -> Any:
    """What Numba is to write for a call of `widen`. Raises `TypingError`."""
    if (to.dtype, of.dtype, to.layout, of.layout) != (types.float32, types.int8, "C", "C"):
        raise numba.TypingError(f"widen of {of} to {to} is not accepted; accepted: contiguous arrays, int8 to float32")

    def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
        )
        small, wide = ir.VectorType(ir.IntType(8), LANES), ir.VectorType(ir.FloatType(), LANES)
        numbers = builder.load(builder.bitcast(source.data, small.as_pointer()), align=1)
        builder.store(builder.sitofp(numbers, wide), builder.bitcast(target.data, wide.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(to, of), written


widen: Final[Any] = intrinsic(_widen)
"""`widen(to, of)` inside kernels: write the first `LANES` numbers of an int8 array to a float32 array; both have so many.

LLVM does not make vectors of the loop over rows that start anywhere: it takes three times as long.
"""
