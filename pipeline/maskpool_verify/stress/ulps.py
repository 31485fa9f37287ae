"""Floating-point numbers counted: how many lie between two of the same format.

Works for float16, bfloat16, float32 and float64 alike. Neighbours are one ulp apart, across powers of two,
subnormals and zero too; +0 and -0 are the same place, with other bits. The payload and the sign of a NaN say
nothing (neither IEEE 754 nor XLA specifies them): all NaNs count as one value.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


def bits(x: Array) -> NDArray[np.unsignedinteger[Any]]:
    """The encodings as unsigned integers of the same size; every NaN is the same one."""
    with np.errstate(invalid="ignore"):  # a signalling NaN
        one_nan = np.where(np.isnan(x), np.asarray(np.nan).astype(x.dtype), x)
    return np.ascontiguousarray(one_nan).reshape(x.shape).view(f"u{x.dtype.itemsize}")


def ordinals(x: Array) -> NDArray[np.int64]:
    """The place of each number in the order of its format: 0 for both zeros, 1 for the smallest subnormal."""
    sign = 1 << (8 * x.dtype.itemsize - 1)
    encoded = bits(x).astype(np.uint64)
    magnitude = (encoded & np.uint64(sign - 1)).astype(np.int64)
    return np.where(encoded & np.uint64(sign), -magnitude, magnitude)


def distance(left: Array, right: Array) -> NDArray[np.uint64]:
    """The number of steps from each entry to that of the other array, which has the same dtype and shape.

    An infinity is one step beyond the largest finite number; for a NaN the number means nothing.
    """
    a, b = ordinals(left), ordinals(right)
    # The difference may need 64 bits: modulo 2**64 it is right.
    found: NDArray[np.uint64] = np.maximum(a, b).view(np.uint64) - np.minimum(a, b).view(np.uint64)
    return found


def text(value: Any) -> str:
    """The fewest digits from which the number can be read back in its format."""
    number = float(value)
    if np.isnan(number):
        return "nan"
    for digits in range(1, 18):
        shown = f"{number:.{digits}g}"
        if type(value)(float(shown)) == value:
            return _plain(float(shown), shown)
    return repr(number)


def _plain(number: float, shown: str) -> str:
    """Without an exponent where that is as short: ``100`` for ``1e+02``."""
    positional = np.format_float_positional(number, trim="-")
    return positional if len(positional) <= 8 else shown.replace("e+", "e")


def finfo(dtype: str) -> Any:
    """Limits of a float dtype; bfloat16 included."""
    return jax.numpy.finfo(dtype)  # type: ignore[no-untyped-call]
