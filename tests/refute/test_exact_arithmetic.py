"""Programs over exact numbers: primitives against NumPy, the two readings of partial operations."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from maskpool_verify import evaluate
from maskpool_verify.program import ArrayType, InfinityLiteral, NanLiteral
from maskpool_verify.refute import decimals
from maskpool_verify.refute.dyadic import to_fraction
from maskpool_verify.refute.exact import CHOICES, Exact, Special, array
from maskpool_verify.refute.interval import Interval, Undecided

INFINITY, MINUS_INFINITY, NAN = Special.INFINITY, Special.MINUS_INFINITY, Special.NAN
NUMBERS = (0, 1, -1, Fraction(1, 2), Fraction(-3, 4), 3)
SPECIALS = {float("inf"): INFINITY, -float("inf"): MINUS_INFINITY}
WITHOUT = {"erf_inv"}
"""Primitives that have no exact counterpart: a program with one is never refuted, it is undecided."""

ELEMENTWISE = sorted(evaluate._ELEMENTWISE.keys() - WITHOUT)


def vector(*entries: Any) -> Any:
    return array([Fraction(e) if isinstance(e, int) else e for e in entries], (len(entries),))


def as_float(entry: Any) -> float:
    if isinstance(entry, Special):
        return float(entry.value)
    if isinstance(entry, Interval):
        assert to_fraction(entry.high) - to_fraction(entry.low) < Fraction(1, 10**12)
        return float((to_fraction(entry.low) + to_fraction(entry.high)) / 2)
    return float(entry)


def arity(primitive: str) -> int:
    binary = "add sub mul div max min lt le gt ge eq ne and or xor"
    return 2 if primitive in binary.split() else 3 if primitive == "select_n" else 1


@pytest.mark.parametrize("primitive", ELEMENTWISE)
def test_elementwise_primitives_agree_with_numpy(primitive: str) -> None:
    """On numbers, infinities and NaN; so every primitive of the evaluator has an exact counterpart."""
    logical = primitive in ("not", "and", "or", "xor")
    entries: list[Any] = [False, True] if logical else [*NUMBERS, *SPECIALS.values(), NAN]
    grid = np.array(np.meshgrid(*[range(len(entries))] * min(arity(primitive), 2))).reshape(
        min(arity(primitive), 2), -1
    )
    exactly = [[entries[i] for i in row] for row in grid]
    operands: list[Any] = [np.array(row) if logical else vector(*row) for row in exactly]
    floats: list[Any] = [np.array([e if logical else as_float(e) for e in row]) for row in exactly]
    if primitive == "select_n":
        which = np.arange(operands[0].size) % 3 == 0
        operands, floats = [which, *operands], [which, *floats]
    with np.errstate(all="ignore"):
        expected = np.asarray(evaluate._ELEMENTWISE[primitive](*floats))
    found = Exact(64).elementwise(primitive, operands)
    for number, (entry, value) in enumerate(zip(found, expected, strict=True)):
        case = f"{primitive} of {[row[number] for row in exactly]}"
        if expected.dtype == bool:
            assert bool(entry) == bool(value), case
        else:
            np.testing.assert_allclose(as_float(entry), value, rtol=1e-12, atol=1e-12, err_msg=case)


@pytest.mark.parametrize("primitive", sorted(evaluate._REDUCTIONS))
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1), (2, 0)])
def test_reductions_agree_with_numpy(primitive: str, axes: tuple[int, ...]) -> None:
    numbers = np.arange(-11, 13).reshape(2, 3, 4)
    logical = primitive in ("reduce_or", "reduce_and")
    value = numbers > 0 if logical else numbers
    exact: Any = value if logical else vector(*numbers.ravel().tolist()).reshape(2, 3, 4)
    expected = evaluate._REDUCTIONS[primitive](value, axis=axes)
    np.testing.assert_array_equal(Exact(64).reduce(primitive, exact, axes).astype(int), expected.astype(int))


@pytest.mark.parametrize("primitive", sorted(evaluate._CUMULATIVE))
@pytest.mark.parametrize("axis", [0, 1])
def test_cumulative_reductions_agree_with_numpy(primitive: str, axis: int) -> None:
    numbers = np.array([[3, -1, 2], [1, 4, -2]])
    found = Exact(64).cumulate(primitive, vector(*numbers.ravel().tolist()).reshape(2, 3), axis)
    np.testing.assert_array_equal(found.astype(int), evaluate._CUMULATIVE[primitive](numbers, axis=axis))


@pytest.mark.parametrize(
    "numbers",
    [(((1,), (0,)), ((), ())), (((0,), (1,)), ((), ())), (((1,), (1,)), ((0,), (0,))), (((), ()), ((), ()))],
)
def test_contractions_agree_with_numpy(numbers: Any) -> None:
    left, right = np.arange(9).reshape(3, 3) - 4, np.arange(9).reshape(3, 3) ** 2
    exact = [vector(*x.ravel().tolist()).reshape(3, 3) for x in (left, right)]
    expected = evaluate._dot_general(left, right, numbers)
    np.testing.assert_array_equal(Exact(64).dot(exact[0], exact[1], numbers).astype(int), expected)


def test_integers_are_exact_and_truncate() -> None:
    exact, big = Exact(64), 2**40
    left, right = array([7, -7, big], (3,)), array([2, 2, big], (3,))
    assert exact.elementwise("div", [left, right]).tolist() == [3, -3, 1]
    assert exact.elementwise("mul", [left, right]).tolist() == [14, -14, big * big]
    assert exact.elementwise("lt", [left, right]).tolist() == [False, True, False]


def test_conversions() -> None:
    exact = Exact(64)
    assert exact.cast(np.array([True, False]), ArrayType(dtype="float32", shape=(2,))).tolist() == [1, 0]
    assert exact.cast(vector(0, 2), ArrayType(dtype="bool", shape=(2,))).tolist() == [False, True]
    assert exact.cast(np.arange(2), ArrayType(dtype="int32", shape=(2,))).tolist() == [0, 1]


def test_division_by_zero_in_both_readings() -> None:
    zero, two = vector(0, 2), vector(0, 0)
    ieee = Exact(64)
    assert ieee.elementwise("div", [zero, two]).tolist() == [NAN, INFINITY]
    assert ieee.partial
    nan = NanLiteral.model_validate({"nan": True, "dtype": "float32"})
    assert Exact(64).literal(nan).item() is NAN
    for choice in CHOICES:
        chosen = Exact(64, choice)
        assert chosen.elementwise("div", [zero, two]).tolist() == [choice.undefined] * 2
        assert chosen.elementwise("log", [vector(0, -1)]).tolist() == [choice.undefined] * 2
        minus_infinity = InfinityLiteral.model_validate({"infinity": "negative", "dtype": "float32"})
        assert chosen.literal(minus_infinity).item() == -choice.infinity
        assert chosen.literal(nan).item() == choice.undefined
        assert chosen.partial
    assert len({choice.undefined for choice in CHOICES}) > 1


def test_a_branch_that_is_not_taken_does_not_matter() -> None:
    exact = Exact(64)
    quotient = exact.elementwise("div", [vector(0, 1), vector(0, 2)])
    taken = exact.elementwise("select_n", [np.array([True, False]), quotient, vector(5, 5)])
    assert taken.tolist() == [5, Fraction(1, 2)]


def test_a_primitive_without_counterpart_is_undecided() -> None:
    for primitive in WITHOUT:
        with pytest.raises(Undecided, match=primitive):
            Exact(64).elementwise(primitive, [vector(0)])


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (Fraction(1, 3), "1/3"),
        (Fraction(-2), "-2"),
        (Fraction(10**30 + 1, 10**30), "1.00000000000..."),
        (Interval((1, -1), (1, -1)), "0.500000000000"),
        (Interval((5, -3), (6, -3)), "between 0.625 and 0.75"),
        (Interval((2**70 // 3, -70), (2**70 // 3 + 1, -70)), "0.333333333333..."),
        (Interval((-(2**70) // 3, -80), (-(2**70) // 3 + 1, -80)), "-0.000325520833333..."),
        (Interval((1, 100), (1, 100)), "1.26765060022...e30"),
        (Interval((1, -(10**9)), (3, -(10**9))), "about 10^-301029996"),
        (NAN, "nan"),
        (1.5, "1.5"),
        (float("-inf"), "-inf"),
        (True, "true"),
    ],
)
def test_numbers_as_text(entry: Any, text: str) -> None:
    assert decimals.text(entry) == text
