"""Distances in ulps, against NumPy's own neighbours, for every float format."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskpool_verify.stress import ulps
from maskpool_verify.stress.judging import compare

DTYPES = ("float16", "bfloat16", "float32", "float64")
NATIVE = ("float16", "float32", "float64")
SIZES = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}


def from_bits(dtype: str, *encoded: int) -> Any:
    size = SIZES[dtype]
    return np.asarray([e % 2**size for e in encoded], f"u{size // 8}").view(jax.numpy.dtype(dtype))


encodings = st.integers(0, 2**64 - 1)
dtypes = st.sampled_from(DTYPES)


def finite(dtype: str, *encoded: int) -> Any:
    found = from_bits(dtype, *encoded)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(found), found, np.asarray(1.5, found.dtype))


@given(st.sampled_from(NATIVE), encodings, st.integers(1, 20))
def test_neighbours_of_numpy_are_one_step_apart(dtype: str, encoded: int, count: int) -> None:
    start = finite(dtype, encoded)
    reached = start
    for _ in range(count):
        reached = np.nextafter(reached, np.asarray(np.inf, dtype))
    if np.isfinite(reached).all():
        # NumPy counts both zeros as one place too.
        assert ulps.distance(start, reached).item() == count


@given(encodings, st.integers(1, 100))
def test_neighbours_in_bfloat16(encoded: int, count: int) -> None:
    """bfloat16 is the upper half of float32."""
    start = finite("bfloat16", encoded & 0x7FFF)
    bits = int(start.view("u2").item())
    if bits + count < 0x7F80:
        assert ulps.distance(start, from_bits("bfloat16", bits + count)).item() == count
        wide = np.asarray([bits << 16, (bits + count) << 16], "u4").view("f4")
        assert np.array_equal(np.concatenate([start, from_bits("bfloat16", bits + count)]).astype("f4"), wide)


@given(st.sampled_from(NATIVE), encodings)
def test_spacing(dtype: str, encoded: int) -> None:
    x = np.abs(finite(dtype, encoded))
    with np.errstate(over="ignore"):
        assert ulps.distance(x, x + np.spacing(x)).item() == 1


@given(dtypes, encodings, encodings, encodings)
def test_it_is_a_distance(dtype: str, a: int, b: int, c: int) -> None:
    x, y, z = (finite(dtype, e) for e in (a, b, c))
    there = ulps.distance(x, y).item()
    assert there == ulps.distance(y, x).item()
    assert (there == 0) == (x == y).item()
    assert ulps.distance(x, z).item() <= there + ulps.distance(y, z).item()


@given(dtypes, encodings, encodings)
def test_the_order_is_that_of_the_numbers(dtype: str, a: int, b: int) -> None:
    x, y = finite(dtype, a), finite(dtype, b)
    assert (ulps.ordinals(x) < ulps.ordinals(y)).item() == (x < y).item()


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values(dtype: str) -> None:
    info = jax.numpy.finfo(dtype)
    largest, tiny = np.asarray([info.max]), np.asarray([info.smallest_subnormal])
    infinite = np.asarray([np.inf]).astype(largest.dtype)
    zeros = np.asarray([0.0, -0.0]).astype(largest.dtype)
    assert ulps.ordinals(zeros).tolist() == [0, 0]
    assert ulps.bits(zeros)[0] != ulps.bits(zeros)[1]
    assert ulps.ordinals(tiny).item() == 1
    assert ulps.distance(largest, infinite).item() == 1
    whole = ulps.distance(-infinite, infinite).item()
    assert whole == 2 * (ulps.ordinals(largest).item() + 1)  # more than an int64 holds, for float64
    not_numbers = from_bits(dtype, -1, ulps.bits(infinite).item() + 1)
    with np.errstate(invalid="ignore"):
        assert np.isnan(not_numbers).all()
    assert len(set(ulps.bits(not_numbers).tolist())) == 1  # payload and sign are left out


@given(dtypes, encodings)
def test_text_can_be_read_back(dtype: str, encoded: int) -> None:
    (x,) = finite(dtype, encoded)
    again = np.asarray(float(ulps.text(x))).astype(jax.numpy.dtype(dtype))
    assert ulps.bits(again[None]).item() == ulps.bits(np.asarray([x])).item()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (100.0, "100"),
        (0.1, "0.1"),
        (-0.0, "-0"),
        (1e30, "1e30"),
        (np.inf, "inf"),
        (np.nan, "nan"),
        (1e-5, "0.00001"),
    ],
)
def test_text(value: float, text: str) -> None:
    assert ulps.text(np.float32(value)) == text


# -- what counts as broken


@pytest.mark.parametrize(
    ("left", "right", "scale", "kind", "bitwise", "steps"),
    [
        ([1.0, np.nan], [1.0, np.nan], 1.0, None, True, 0),
        ([np.inf], [np.inf], 1.0, None, True, 0),
        ([0.0], [-0.0], 1.0, None, False, 0),
        ([0.0], [-0.0], 0.0, None, False, 0),
        ([1.0], [1.0 + 2**-23], 1.0, None, False, 1),
        ([1.0], [1.0 + 2**-11], 1.0, "different", False, 0),  # more than half of the digits of float32
        ([2**-14], [0.0], 1.0, None, False, 113 << 23),  # little against 1
        ([2**-14], [0.0], 0.0, "nonzero", False, 0),
        ([np.nan], [1.0], 1.0, "nan", False, 0),
        ([np.inf], [3.4e38], 1.0, "infinite", False, 0),
        ([np.inf], [-np.inf], 1.0, "infinite", False, 0),
        ([np.inf], [np.nan], 1.0, "nan", False, 0),
        ([1.0, 2.0], [1.0], 1.0, "shape", False, 0),
    ],
)
def test_comparison(left: Any, right: Any, scale: float, kind: Any, bitwise: bool, steps: int) -> None:
    found = compare("", np.asarray(left, np.float32), np.asarray(right, np.float32), scale)
    assert (found.kind, found.bitwise, found.ulps) == (kind, bitwise, steps)


def test_half_of_the_digits_depends_on_the_dtype() -> None:
    for dtype, half in (
        ("float16", 2**-5),
        ("bfloat16", 2**-3.5),
        ("float32", 2**-11.5),
        ("float64", 2**-26),
    ):
        one = np.asarray([1.0]).astype(jax.numpy.dtype(dtype))
        near, far = ((one.astype(float) - half * f).astype(one.dtype) for f in (0.9, 1.1))
        assert compare("", one, near, 1.0).kind is None
        assert compare("", one, far, 1.0).kind == "different"
