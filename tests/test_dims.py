"""Sizes as polynomials in symbols and in operations on sizes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import export
from jax.core import max_dim, min_dim

from maskpool_verify import dims
from maskpool_verify.dims import Size

VALUES = st.fixed_dictionaries({name: st.integers(0, 50) for name in ("n", "d", "h")})


LEAVES = st.sampled_from(["n", "d", "h"]) | st.integers(-5, 5)
SUMS = st.sampled_from([dims.add, dims.sub, dims.mul])


def polynomials() -> st.SearchStrategy[Size]:
    return st.recursive(
        LEAVES, lambda inner: st.builds(lambda f, a, b: f(a, b), SUMS, inner, inner), max_leaves=6
    )


def sizes() -> st.SearchStrategy[Size]:
    """With quotients by numbers, so that no valuation divides by zero."""

    def larger(inner: st.SearchStrategy[Size]) -> st.SearchStrategy[Size]:
        divided = st.builds(
            dims.operation, st.sampled_from(["floordiv", "mod"]), inner, st.integers(-3, 5).filter(bool)
        )
        chosen = st.builds(dims.operation, st.sampled_from(["max", "min"]), inner, inner)
        return st.builds(lambda f, a, b: f(a, b), SUMS, inner, inner) | divided | chosen

    return st.recursive(LEAVES, larger, max_leaves=6)


@given(sizes(), sizes(), VALUES)
def test_arithmetic_is_that_of_the_numbers(a: Size, b: Size, values: dict[str, int]) -> None:
    left, right = dims.at(a, values), dims.at(b, values)
    assert dims.at(dims.add(a, b), values) == left + right
    assert dims.at(dims.sub(a, b), values) == left - right
    assert dims.at(dims.mul(a, b), values) == left * right


@given(polynomials(), polynomials(), polynomials())
def test_equal_polynomials_are_the_same_text(a: Size, b: Size, c: Size) -> None:
    assert dims.mul(a, dims.add(b, c)) == dims.add(dims.mul(c, a), dims.mul(a, b))
    assert dims.add(dims.sub(a, b), b) == a


@given(sizes())
def test_a_size_is_its_own_canonical_text(a: Size) -> None:
    assert dims.canonical(a)
    assert isinstance(a, int) or dims.parse(a) == a


@given(sizes(), VALUES)
def test_the_operations_are_those_of_python(a: Size, values: dict[str, int]) -> None:
    named = {"floordiv": int.__floordiv__, "mod": int.__mod__, "max": max, "min": min}
    assert eval(str(a).replace("^", "**"), named, values) == dims.at(a, values)


@given(polynomials(), VALUES)
def test_lean_reads_what_is_meant(a: Size, values: dict[str, int]) -> None:
    assert eval(dims.lean(a), {}, values) == dims.at(a, values)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        ("floordiv(n, 2)", "n / 2"),
        ("floordiv(n + 1, 2) + 1", "(n + 1) / 2 + 1"),
        ("2*floordiv(n, 2)^2 - mod(n, 2)", "2 * (n / 2) * (n / 2) - n % 2"),
        ("-floordiv(n, 2)", "-(n / 2)"),
        ("max(n - 5, 1)", "max (n - 5) 1"),
        ("d*min(mod(n, 3), d)", "d * (min (n % 3) d)"),
    ],
)
def test_operations_in_lean(size: Size, text: str) -> None:
    assert dims.canonical(size)
    assert dims.lean(size) == text


@given(sizes(), sizes(), VALUES)
def test_substitution(a: Size, b: Size, values: dict[str, int]) -> None:
    assert dims.at(dims.substitute(a, {"n": b}), values) == dims.at(a, {**values, "n": dims.at(b, values)})


@given(sizes(), st.fixed_dictionaries({name: st.integers(1, 9) for name in ("n", "d", "h")}))
def test_what_jax_prints_is_read(a: Size, values: dict[str, int]) -> None:
    """JAX simplifies more than we do, so that the values are compared: ours, and those that JAX computes."""
    n, d, h = export.symbolic_shape("n, d, h")
    named = {"floordiv": lambda x, y: x // y, "mod": lambda x, y: x % y, "max": max_dim, "min": min_dim}
    symbolic: Any = eval(str(a).replace("^", "**"), named, {"n": n, "d": d, "h": h})
    read = dims.parse(str(symbolic))
    assert dims.canonical(read)
    known = symbolic if isinstance(symbolic, int) else int(symbolic._evaluate(values))
    assert dims.at(read, values) == known == dims.at(a, values)


@pytest.mark.parametrize(
    "text",
    ["", "n / 2", "n // 2", "2n", "n - ", "max(n)", "ceil(n)", "mod(n, 2, 3)", "n^d", "(n)", "n)", "n, d"],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a sum of products of symbols, numbers, and floordiv, mod"):
        dims.parse(text)


@pytest.mark.parametrize("size", ["floordiv(n, 0)", "mod(n, 0)", "mod(3, n - n)"])
def test_a_division_by_zero_is_refused(size: str) -> None:
    with pytest.raises(ValueError, match="divides by zero"):
        dims.parse(size)
    with pytest.raises(ValueError, match="divides by zero"):
        dims.at("floordiv(n, d)", {"n": 1, "d": 0})


@pytest.mark.parametrize(
    "text",
    [
        "1 + n",
        "d*h + 0",
        "n*2",
        "h*d",
        "n + n",
        "0 + n",
        "1*n",
        "n+1",
        "floordiv(n,2)",
        "max(1 + n, 2)",
        "floordiv(4*n, 2)",
        "mod(4*n, 2)",
        "floordiv(7, 2)",
    ],
)
def test_other_texts_of_a_polynomial_are_not_canonical(text: str) -> None:
    assert not dims.canonical(text)


def test_examples() -> None:
    assert dims.add("n", 1) == "n + 1"
    assert dims.sub(3, "n") == "3 - n"
    assert dims.sub("n", "n") == 0
    assert dims.mul("n", "n", "d", 2) == "2*d*n^2"
    assert dims.lean("2*d*n^2") == "2 * d * n * n"
    assert dims.lean("max(n - 3, d)", as_value=True) == "max (n - 3 : Int) d"
    assert dims.symbols("2*d*n^2 + floordiv(h, 2)") == {"n", "d", "h"}
    assert list(dims.operations("n + max(floordiv(n, 2), 1)")) == ["floordiv(n, 2)", "max(floordiv(n, 2), 1)"]
    assert dims.substitute("floordiv(n, 2) + n", {"n": "4*d"}) == "6*d"
    assert dims.substitute("floordiv(n, 2) + n", {"n": 7}) == 10
