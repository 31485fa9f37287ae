"""End points and intervals: what they contain, and that rounding goes outwards."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskpool_verify.refute import dyadic
from maskpool_verify.refute.dyadic import Dyadic, to_fraction
from maskpool_verify.refute.interval import Interval, Real, Reals, Undecided

FRACTIONS = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)
BITS = st.integers(4, 80)
DYADICS = st.builds(
    lambda m, e: (m, e) if m else dyadic.ZERO, st.integers(-(10**9), 10**9), st.integers(-90, 90)
)


@st.composite
def enclosed(draw: st.DrawFn) -> tuple[Fraction, Interval]:
    """A number, and an interval that contains it."""
    x, below, above = draw(FRACTIONS), draw(FRACTIONS), draw(FRACTIONS)
    bits = draw(BITS)
    return x, Interval(
        dyadic.of_fraction(x - abs(below), bits, up=False), dyadic.of_fraction(x + abs(above), bits, up=True)
    )


def contains(found: Real, x: Fraction) -> bool:
    return found == x if isinstance(found, Fraction) else found.contains(x)


@settings(deadline=None)
@given(FRACTIONS, BITS)
def test_a_fraction_lies_between_its_roundings(x: Fraction, bits: int) -> None:
    low, high = (dyadic.of_fraction(x, bits, up=up) for up in (False, True))
    assert to_fraction(low) <= x <= to_fraction(high)
    assert to_fraction(high) - to_fraction(low) <= abs(x) * Fraction(2) ** (2 - bits)
    assert max(abs(low[0]).bit_length(), abs(high[0]).bit_length()) <= bits + 1


@settings(deadline=None)
@given(DYADICS, DYADICS, BITS)
def test_directed_rounding(x: Dyadic, y: Dyadic, bits: int) -> None:
    a, b = to_fraction(x), to_fraction(y)
    results = [(dyadic.total, a + b), (dyadic.product, a * b)]
    if b:
        results.append((dyadic.quotient, a / b))
    for operation, exact in results:
        low, high = operation(x, y, bits, False), operation(x, y, bits, True)
        assert to_fraction(low) <= exact <= to_fraction(high)
        assert to_fraction(high) - to_fraction(low) <= abs(exact) * Fraction(2) ** (3 - bits)
    assert dyadic.less(x, y) == (a < b)


@settings(deadline=None)
@given(st.integers(0, 10**12), st.integers(-40, 40), st.sampled_from((2, 3)), BITS)
def test_roots(m: int, e: int, degree: int, bits: int) -> None:
    low, high = (to_fraction(dyadic.root((m, e), degree, bits, up)) for up in (False, True))
    assert low**degree <= to_fraction((m, e)) <= high**degree
    assert high - low <= high * Fraction(2) ** (2 - bits)


@settings(deadline=None)
@given(DYADICS, st.integers(-200, 200))
def test_floor(x: Dyadic, scale: int) -> None:
    found = dyadic.floor(x, scale)
    assert found <= to_fraction(x) * Fraction(2) ** scale < found + 1


def test_a_sum_with_a_number_that_is_too_small_to_write_down() -> None:
    tiny = (1, -(10**30))
    for sign in (1, -1):
        low, high = (to_fraction(dyadic.total(dyadic.ONE, (sign, tiny[1]), 20, up)) for up in (False, True))
        assert low <= 1 <= high
        assert low < high <= low + Fraction(1, 2**17)
        assert (high if sign > 0 else low) != 1, "the sum is not 1"


@settings(deadline=None)
@given(enclosed(), enclosed(), BITS)
def test_operations_contain_the_exact_result(
    one: tuple[Fraction, Interval], other: tuple[Fraction, Interval], bits: int
) -> None:
    (x, a), (y, b) = one, other
    reals = Reals(bits)
    for p, q in ((a, b), (x, b), (a, y), (x, y)):
        assert contains(reals.add(p, q), x + y)
        assert contains(reals.sub(p, q), x - y)
        assert contains(reals.mul(p, q), x * y)
        assert contains(reals.max(p, q), max(x, y))
        assert contains(reals.min(p, q), min(x, y))
        try:
            assert contains(reals.div(p, q), x / y)
        except (Undecided, ZeroDivisionError):
            assert contains(q, Fraction(0))
        try:
            assert reals.compare(p, q) == (x > y) - (x < y)
        except Undecided:
            assert isinstance(p, Interval) or isinstance(q, Interval)
    for exponent in range(4):
        assert contains(reals.power(a, exponent), x**exponent)
    assert contains(reals.abs(a), abs(x))
    assert contains(reals.neg(a), -x)


@settings(deadline=None)
@given(FRACTIONS, FRACTIONS)
def test_fractions_stay_exact(x: Fraction, y: Fraction) -> None:
    reals = Reals(4)
    assert (reals.add(x, y), reals.mul(x, y), reals.max(x, y)) == (x + y, x * y, max(x, y))


def test_what_intervals_do_not_tell_is_undecided() -> None:
    reals = Reals(32)
    about_zero, about_zero_too = (Interval((-1, -30), (1, -30)) for _ in range(2))
    for question in (reals.sign, reals.floor, lambda x: reals.div(Fraction(1), x)):
        with pytest.raises(Undecided):
            question(about_zero)
    with pytest.raises(Undecided):
        reals.compare(about_zero, about_zero_too)
    assert not reals.apart(about_zero, about_zero_too)
    assert reals.compare(about_zero, about_zero) == 0, "one object is one number"
    assert reals.sub(about_zero, about_zero) == 0


def test_a_corrupted_interval_is_noticed() -> None:
    """The check of these tests rejects intervals that were rounded inwards."""
    x = Fraction(1, 3)
    inwards = Interval(dyadic.of_fraction(x, 20, up=True), dyadic.of_fraction(x, 20, up=False))
    assert not contains(inwards, x)
