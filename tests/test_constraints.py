"""What is assumed of sizes: reading, deciding what follows, and sizes that satisfy it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import export
from test_dims import sizes

from maskpool_verify import dims
from maskpool_verify.constraints import UNCONSTRAINED, Constraint, Constraints
from maskpool_verify.dims import Size

POSITIVE = st.fixed_dictionaries({name: st.integers(1, 40) for name in ("n", "d", "h")})
TEXTS = (
    "n >= 1",
    "n >= 6",
    "n <= 12",
    "mod(n, 2) == 0",
    "mod(d, 4) == 0",
    "d >= n",
    "2*n <= 3*d + 1",
    "n - d >= 2",
    "max(n, d) >= 5",
    "floordiv(n, 3) >= 2",
    "d*h == 12",
)
SETS = st.lists(st.sampled_from(TEXTS), max_size=3, unique=True).map(Constraints.parse)


@pytest.mark.parametrize(
    ("text", "lean", "name"),
    [
        ("n >= 1", "0 < n", "h_n_pos"),
        ("n>=4", "4 ≤ n", "h_n_ge_4"),
        ("n <= 4096", "n ≤ 4096", "h_n_le_4096"),
        ("mod(n, 2) == 0", "n % 2 = 0", "h_n_mod_2_eq_0"),
        ("d == 4*h", "d = 4 * h", "h_d_eq_4_mul_h"),
        ("n - d >= 1", "d + 1 ≤ n", "h_n_ge_d_add_1"),
        ("n - 5 <= d - h", "h + n ≤ d + 5", "h_h_add_n_le_d_add_5"),
        ("floordiv(n, 2) >= d", "d ≤ n / 2", "h_n_div_2_ge_d"),
        ("max(n, 2) <= 7", "max n 2 ≤ 7", "h_max_n_2_le_7"),
    ],
)
def test_in_lean(text: str, lean: str, name: str) -> None:
    constraint = Constraint.parse(text)
    assert (constraint.lean(), constraint.name) == (lean, name)


def test_with_more_rows() -> None:
    more = {"n": "n + extra"}
    assert Constraint.parse("n <= 8").lean(more) == "n + extra ≤ 8"
    assert Constraint.parse("mod(n, 2) == 0").lean(more) == "(n + extra) % 2 = 0"
    grows = [text for text in TEXTS if Constraint.parse(text).grows_with("n")]
    assert grows == ["n >= 1", "n >= 6", "n - d >= 2"]


@pytest.mark.parametrize("text", ["n", "n > 1", "n != 1", "n >= 1 >= 0", "n = 1", ""])
def test_what_is_no_comparison_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a comparison of two sizes by ==, >= or <="):
        Constraint.parse(text)


@given(st.sampled_from(TEXTS), POSITIVE)
def test_a_constraint_holds_where_lean_and_python_say_so(text: str, values: dict[str, int]) -> None:
    constraint = Constraint.parse(text)
    named: dict[str, Any] = {"floordiv": lambda x, y: x // y, "mod": lambda x, y: x % y}
    assert constraint.holds(values) is eval(text, {**named, "max": max}, values)
    lean = constraint.lean().replace("≤", "<=").replace(" = ", " == ").replace("/", "//")
    assert constraint.holds(values) is eval(lean.replace("max n d", "max(n, d)"), {"max": max}, values)


@given(SETS, sizes(), POSITIVE)
def test_what_is_said_to_follow_is_true(given: Constraints, size: Size, values: dict[str, int]) -> None:
    if given.violated(values) is None:
        assert dims.at(given.normal(size), values) == dims.at(size, values)
        assert dims.at(size, values) >= 0 or not given.nonnegative(size)


@given(SETS, sizes(), POSITIVE)
def test_what_is_exact_is_computed_by_natural_numbers(
    given: Constraints, size: Size, values: dict[str, int]
) -> None:
    try:
        given.require_exact(size)
    except ValueError:
        return
    if given.violated(values) is None and dims.at(size, values) >= 0:
        assert natural(size, values) == dims.at(size, values)


def natural(size: Size, values: dict[str, int]) -> int:
    """The value in Lean: negative terms are subtracted at the end, and differences are truncated."""
    total = 0
    for monomial, coefficient in sorted(dims.polynomial(size).items(), key=lambda term: term[1] < 0):
        term = coefficient
        for factor in monomial:
            term *= natural_factor(factor, values)
        total = max(0, total + term)
    return total


def natural_factor(factor: str, values: dict[str, int]) -> int:
    applied = dims.applied_to(factor)
    if applied is None:
        return values[factor]
    name, left, right = applied
    x, y = natural(left, values), natural(right, values)
    if name in ("floordiv", "mod") and y == 0:
        return 0 if name == "floordiv" else x
    return dims.OPERATIONS[name](x, y)


@pytest.mark.parametrize(
    ("texts", "size"),
    [
        ((), "n"),
        ((), "n - 1"),
        ((), "d*n - d"),
        ((), "n - floordiv(n, 2)"),
        ((), "n - mod(n, 3)"),
        ((), "n + 1 - 2*floordiv(n + 1, 2)"),
        ((), "max(n - 5, 1) - 1"),
        ((), "n - min(n, 7)"),
        (("n >= 4",), "n - 4"),
        (("n >= 4",), "2*n - 8"),
        (("n >= d", "d >= 3"), "n - 3"),
        (("n <= 8",), "8 - n"),
        (("mod(n, 2) == 0",), "n - 2*floordiv(n, 2)"),
    ],
)
def test_what_follows_is_found(texts: tuple[str, ...], size: str) -> None:
    given = Constraints.parse(texts)
    assert given.nonnegative(dims.parse(size))
    assert not given.nonnegative(dims.sub(-1, size))


@pytest.mark.parametrize("size", [-1, "n - 2", "n - d", "1 - n", "mod(n, 2) - 1", "2*floordiv(n, 2) - n"])
def test_what_may_be_negative_is_not_said_to_be_natural(size: Size) -> None:
    assert not UNCONSTRAINED.nonnegative(size)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("mod(n - 5, 3)", r"in mod\(n - 5, 3\) an operand may be negative"),
        ("floordiv(n, d - 1)", r"the divisor d - 1 may not be positive"),
        ("floordiv(n, -2)", r"the divisor -2 may not be positive"),
        ("min(n - 5, 3) + 4", "an operand may be negative"),
        ("max(n - 5, d - 5)", "an operand may be negative"),
        ("floordiv(mod(n - 3, 2) + 1, 2)", r"in mod\(n - 3, 2\) an operand may be negative"),
    ],
)
def test_what_lean_would_compute_differently_is_refused(size: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        UNCONSTRAINED.require_exact(dims.parse(size))
    Constraints.parse(("n >= 5", "d >= 5")).require_exact(dims.parse(size.replace("-2", "2")))


def test_equations_are_used_as_by_jax() -> None:
    texts = ("mod(n, 2) == 0", "mod(d, 4) == 0", "d*h == 12")
    given = Constraints.parse(texts)
    n, d, h = export.symbolic_shape("n, d, h", constraints=texts)
    for symbolic, size in (
        (2 * (n // 2), "2*floordiv(n, 2)"),
        (6 * (n // 2) * h, "6*h*floordiv(n, 2)"),
        (n // 2, "floordiv(n, 2)"),
        (n % 2 + 4 * (d // 4), "mod(n, 2) + 4*floordiv(d, 4)"),
        (d * h + n, "d*h + n"),
    ):
        assert given.normal(size) == given.normal(dims.parse(str(symbolic))) == dims.parse(str(symbolic))


def test_sizes_that_satisfy_them() -> None:
    given = Constraints.parse(("mod(n, 2) == 0", "n >= 512", "d <= 3"))
    assert given.witness == {"d": 1, "n": 512}
    assert Constraints.parse(("mod(n, 7) == 0", "n >= 100")).witness == {"n": 105}
    assert UNCONSTRAINED.witness == {}
    assert UNCONSTRAINED.examples(("n", "d"), 2) == [{"n": 2, "d": 3}, {"n": 5, "d": 7}]
    first, second = Constraints.parse(("mod(n, 4) == 0",)).examples(("n", "d"), 2)
    assert first["n"] % 4 == second["n"] % 4 == 0
    assert len({*first.values(), *second.values()}) == 4


@pytest.mark.parametrize(
    "texts",
    [("n >= 5", "n <= 3"), ("mod(n, 2) == 0", "n <= 1"), ("n*n == 3",), ("mod(n, 2) == 1", "mod(n, 4) == 2")],
)
def test_contradictions_have_no_solution(texts: tuple[str, ...]) -> None:
    assert Constraints.parse(texts).witness is None


@pytest.mark.parametrize(
    ("texts", "needless"),
    [
        (("n >= 0",), "n >= 0"),
        (("n >= 1", "n >= 2"), "n >= 1"),
        (("n <= 8", "n <= 8"), "n <= 8"),
        (("mod(n, 2) <= 2", "mod(n, 3) >= 0"), "mod(n, 3) >= 0"),
        (("n + d >= d",), "n + d >= d"),
        (("n >= 1", "n <= 8", "mod(n, 2) == 0"), None),
    ],
)
def test_needless_constraints_are_found(texts: tuple[str, ...], needless: str | None) -> None:
    found = Constraints.parse(texts).redundant()
    assert (None if found is None else str(found)) == (needless and str(Constraint.parse(needless)))


def test_that_there_is_a_row() -> None:
    positive = [text for text in TEXTS if Constraints.parse((text,)).implies_positive("n")]
    assert positive == ["n >= 1", "n >= 6", "n - d >= 2", "floordiv(n, 3) >= 2"]
