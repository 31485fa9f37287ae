"""Where JAX's exponential underflows to zero: the differences at which a masked weight vanishes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from maskpool_verify.stress.ulps import finfo

Array = NDArray[Any]

FORMATS = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(jnp.bfloat16),
    "float32": np.dtype(np.float32),
}


def numbers(dtype: np.dtype[Any], magnitudes: Array) -> Array:
    """The numbers that are not positive, by their bits without the sign: 0 is ``-0``, the next one is nearest
    to it."""
    bits = np.dtype(f"u{dtype.itemsize}")
    sign = 1 << (8 * dtype.itemsize - 1)
    signed: Array = (np.asarray(magnitudes).astype(bits) | bits.type(sign)).view(dtype)
    return signed


def infinity(dtype: np.dtype[Any]) -> int:
    """The bits of ``inf``, which are those of ``-inf`` without the sign."""
    return int(np.asarray(np.inf, dtype).view(f"u{dtype.itemsize}"))


def compiled(x: Array) -> Array:
    """``exp``, as XLA compiles it for the processor."""
    return np.asarray(jax.jit(jnp.exp)(jnp.asarray(x)))


def rounded(x: Array) -> Array:
    """``exp``, computed in double precision and rounded to the format, subnormal numbers included."""
    return np.exp(x.astype(np.float64)).astype(x.dtype)


def flushed(x: Array) -> Array:
    """The same without subnormal numbers: they become zero."""
    value = rounded(x)
    smallest = np.asarray(finfo(str(x.dtype)).smallest_normal)
    return np.where(value < smallest, np.zeros_like(value), value)


def threshold(dtype: np.dtype[Any], exp: Callable[[Array], Array]) -> float:
    """The greatest number at which ``exp`` is zero, by bisection over all that are not positive."""
    low, high = 0, infinity(dtype)  # exp(-0) is one, exp(-inf) is zero
    while high - low > 1:
        middle = (low + high) // 2
        if exp(numbers(dtype, np.array([middle])))[0] == 0:
            high = middle
        else:
            low = middle
    return float(numbers(dtype, np.array([high]))[0])


@dataclass(frozen=True)
class Underflow:
    """The greatest ``x`` with ``exp(x) == 0`` in one format."""

    compiled: float
    rounded: float
    flushed: float


def underflow(name: str) -> Underflow:
    """The thresholds of the format ``name``."""
    dtype = FORMATS[name]
    return Underflow(threshold(dtype, compiled), threshold(dtype, rounded), threshold(dtype, flushed))


def table() -> str:
    """The thresholds of all formats, in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "| format | JAX, compiled for the CPU | rounded, with subnormal numbers | rounded, without them |"
    yield "|---|---|---|---|"
    for name in FORMATS:
        found = underflow(name)
        yield f"| {name} | {_text(found.compiled)} | {_text(found.rounded)} | {_text(found.flushed)} |"


def _text(value: float) -> str:
    return f"`{np.float32(value)}`"
