"""Sizes as polynomials in the symbols."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import export

from maskpool_verify import dims
from maskpool_verify.dims import Size

VALUES = st.fixed_dictionaries({name: st.integers(0, 50) for name in ("n", "d", "h")})


def sizes() -> st.SearchStrategy[Size]:
    leaves = st.sampled_from(["n", "d", "h"]) | st.integers(-5, 5)
    operations = st.sampled_from([dims.add, dims.sub, dims.mul])
    return st.recursive(
        leaves, lambda inner: st.builds(lambda f, a, b: f(a, b), operations, inner, inner), max_leaves=6
    )


@given(sizes(), sizes(), VALUES)
def test_arithmetic_is_that_of_the_numbers(a: Size, b: Size, values: dict[str, int]) -> None:
    left, right = dims.at(a, values), dims.at(b, values)
    assert dims.at(dims.add(a, b), values) == left + right
    assert dims.at(dims.sub(a, b), values) == left - right
    assert dims.at(dims.mul(a, b), values) == left * right


@given(sizes(), sizes(), sizes())
def test_equal_polynomials_are_the_same_text(a: Size, b: Size, c: Size) -> None:
    assert dims.mul(a, dims.add(b, c)) == dims.add(dims.mul(c, a), dims.mul(a, b))
    assert dims.add(dims.sub(a, b), b) == a


@given(sizes())
def test_a_size_is_its_own_canonical_text(a: Size) -> None:
    assert dims.canonical(a)
    assert isinstance(a, int) or dims.parse(a) == a


@given(sizes(), VALUES)
def test_lean_reads_what_is_meant(a: Size, values: dict[str, int]) -> None:
    assert eval(dims.lean(a), {}, values) == dims.at(a, values)


@given(sizes(), sizes(), VALUES)
def test_substitution(a: Size, b: Size, values: dict[str, int]) -> None:
    assert dims.at(dims.substitute(a, {"n": b}), values) == dims.at(a, {**values, "n": dims.at(b, values)})


@given(sizes(), st.fixed_dictionaries({name: st.integers(1, 9) for name in ("n", "d", "h")}))
def test_what_jax_prints_is_read(a: Size, values: dict[str, int]) -> None:
    n, d, h = export.symbolic_shape("n, d, h")
    symbolic = eval(dims.lean(a), {}, {"n": n, "d": d, "h": h})
    assert dims.parse(str(symbolic)) == a


@pytest.mark.parametrize(
    "text", ["", "n+1", "floordiv(n, 2)", "mod(n, 2)", "n / 2", "2n", "n - ", "max(n, 1)"]
)
def test_what_is_no_polynomial_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a polynomial"):
        dims.parse(text)


@pytest.mark.parametrize("text", ["1 + n", "d*h + 0", "n*2", "h*d", "n + n", "0 + n", "1*n"])
def test_other_texts_of_a_polynomial_are_not_canonical(text: str) -> None:
    assert not dims.canonical(text)


def test_examples() -> None:
    assert dims.add("n", 1) == "n + 1"
    assert dims.sub(3, "n") == "3 - n"
    assert dims.sub("n", "n") == 0
    assert dims.mul("n", "n", "d", 2) == "2*d*n^2"
    assert dims.lean("2*d*n^2") == "2 * d * n * n"
    assert dims.symbols("2*d*n^2 + 1") == {"n", "d"}


@given(sizes(), st.fixed_dictionaries({name: st.integers(1, 9) for name in ("n", "d", "h")}))
def test_what_is_known_to_be_natural_is(a: Size, values: dict[str, int]) -> None:
    assert dims.at(a, values) >= 0 or not dims.nonnegative(a)


def test_examples_of_naturals() -> None:
    assert [dims.nonnegative(size) for size in (0, 3, "n", "n - 1", "d*n - d", "2*n - 2")] == [True] * 6
    assert [dims.nonnegative(size) for size in (-1, "n - 2", "n - d", "1 - n")] == [False] * 4
