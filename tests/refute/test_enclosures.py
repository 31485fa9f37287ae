"""The functions: against `decimal` at high precision, against known constants, and by their laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskpool_verify.refute import functions
from maskpool_verify.refute.dyadic import to_fraction
from maskpool_verify.refute.interval import Interval, Real, Reals, Undecided

FRACTIONS = st.fractions(min_value=-60, max_value=60, max_denominator=10**4)
BITS = st.sampled_from((20, 53, 64, 130))

DIGITS_OF_PI = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803"


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def exactly(x: Decimal) -> Fraction:
    return Fraction(*x.as_integer_ratio())


def ends(x: Real) -> tuple[Fraction, Fraction]:
    return (to_fraction(x.low), to_fraction(x.high)) if isinstance(x, Interval) else (x, x)


def near(found: Real, wanted: Decimal | float, error: float) -> bool:
    """Whether the interval contains a number that is as near to ``wanted`` as that is precise."""
    low, high = ends(found)
    middle = exactly(Decimal(wanted))
    slack = Fraction(error) * max(1, abs(middle))
    return low - slack <= middle <= high + slack


@settings(deadline=None)
@given(FRACTIONS, BITS)
def test_exp_log_and_their_kin_by_decimal(x: Fraction, bits: int) -> None:
    reals = Reals(bits)
    with localcontext() as context:
        context.prec = 80
        e, one = decimal(x).exp(), Decimal(1)
        wanted = {
            "exp": e,
            "expm1": e - 1,
            "logistic": e / (1 + e),
            "tanh": (e * e - 1) / (e * e + 1),
            "sinh": (e - one / e) / 2,
            "cosh": (e + one / e) / 2,
        }
        positive = abs(x) + Fraction(1, 1000)
        roots = {"log": decimal(positive).ln(), "sqrt": decimal(positive).sqrt()}
        roots |= {"rsqrt": 1 / roots["sqrt"], "log1p": (1 + decimal(positive)).ln()}
        for name, value in wanted.items():
            found = getattr(functions, name)(reals, x)
            assert near(found, value, 1e-60), name
            low, high = ends(found)
            assert high - low <= Fraction(2) ** (12 - bits) * (1 + abs(exactly(value))), f"{name} is too wide"
        for name, value in roots.items():
            assert near(getattr(functions, name)(reals, positive), value, 1e-60), name


BY_MATH: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "atan": math.atan,
    "asinh": math.asinh,
    "erf": math.erf,
    "erfc": math.erfc,
    "exp2": lambda x: 2.0**x,
}


@settings(deadline=None)
@given(st.sampled_from(sorted(BY_MATH)), st.integers(-400, 400), BITS)
def test_the_other_ones_by_math(name: str, numerator: int, bits: int) -> None:
    x = Fraction(numerator, 16)  # so that the float is exact
    try:
        assert near(
            getattr(functions, name)(Reals(bits), x), BY_MATH[name](float(x)), 1e-13 * (1 + abs(x)) ** 2
        )
    except Undecided:
        assert name == "tan"


@settings(deadline=None)
@given(st.integers(-999, 999), BITS)
def test_the_inverse_ones_by_math(numerator: int, bits: int) -> None:
    x, reals = Fraction(numerator, 1000), Reals(bits)
    assert near(functions.asin(reals, x), math.asin(x), 1e-14)
    assert near(functions.acos(reals, x), math.acos(x), 1e-14)
    assert near(functions.atanh(reals, x), math.atanh(x), 1e-12)
    assert near(functions.acosh(reals, abs(x) + 1), math.acosh(abs(x) + 1), 1e-7)
    assert near(functions.cbrt(reals, x), math.copysign(abs(x) ** (1 / 3), x), 1e-14)


@settings(deadline=None)
@given(st.sampled_from(sorted(functions.FUNCTIONS)), FRACTIONS)
def test_more_bits_give_an_interval_that_meets_the_wider_one(name: str, x: Fraction) -> None:
    function = functions.FUNCTIONS[name]
    try:
        wide, narrow = ends(function(Reals(30), x)), ends(function(Reals(120), x))
    except Undecided:
        assert name == "tan"
        return
    assert wide[0] <= narrow[1]
    assert narrow[0] <= wide[1]
    assert narrow[1] - narrow[0] <= max(wide[1] - wide[0], Fraction(1, 2**90) * (1 + abs(wide[1])))


MONOTONE = ("exp", "tanh", "logistic", "expm1", "exp2", "sinh", "asinh", "atan", "erf", "cbrt")


@settings(deadline=None)
@given(
    st.sampled_from(MONOTONE), FRACTIONS, st.fractions(min_value=0, max_value=3, max_denominator=100), BITS
)
def test_monotone_on_intervals(name: str, x: Fraction, width: Fraction, bits: int) -> None:
    """The image of an interval contains the images of its ends."""
    reals = Reals(bits)
    whole = Interval(reals.interval(x).low, reals.interval(x + width).high)
    try:
        low, high = ends(functions.FUNCTIONS[name](reals, whole))
        for end in (x, x + width):
            below, above = ends(functions.FUNCTIONS[name](reals, end))
            assert low <= above
            assert below <= high
    except Undecided:
        assert name in ("asinh", "cbrt"), "these ask for a sign"


@pytest.mark.parametrize(
    ("found", "digits"),
    [
        (
            functions.exp(Reals(200), Fraction(1)),
            "2.71828182845904523536028747135266249775724709369995957496",
        ),
        (
            functions.log(Reals(200), Fraction(2)),
            "0.69314718055994530941723212145817656807550013436025525412",
        ),
        (
            functions.sqrt(Reals(200), Fraction(2)),
            "1.41421356237309504880168872420969807856967187537694807317",
        ),
        (
            functions.erf(Reals(150), Fraction(1)),
            "0.84270079294971486934122063508260925929606699796630290845",
        ),
        (
            functions.sin(Reals(200), Fraction(1)),
            "0.84147098480789650665250232163029899962256306079837106567",
        ),
        (functions.acos(Reals(200), Fraction(-1)), DIGITS_OF_PI[:50]),
    ],
    ids=["e", "log 2", "sqrt 2", "erf 1", "sin 1", "pi"],
)
def test_known_constants(found: Real, digits: str) -> None:
    low, high = ends(found)
    known = Fraction(digits)
    assert low <= known + Fraction(10) ** -(len(digits) - 3)
    assert known <= high
    assert high - low < Fraction(1, 10**40)


def test_rational_values_are_exact() -> None:
    reals, half = Reals(20), Fraction(1, 2)
    found = {name: function(reals, Fraction(0)) for name, function in functions.FUNCTIONS.items()}
    ones = {"exp", "exp2", "cos", "cosh", "erfc"}
    assert found == {name: half if name == "logistic" else Fraction(name in ones) for name in found}
    assert functions.sqrt(reals, Fraction(9, 16)) == Fraction(3, 4)
    assert functions.cbrt(reals, Fraction(-8, 27)) == Fraction(-2, 3)
    assert functions.log(reals, Fraction(1)) == 0
    assert functions.exp2(reals, Fraction(-3)) == Fraction(1, 8)


def test_exp_of_numbers_that_floats_cannot_tell_apart() -> None:
    """The exponential of float32's lowest number is positive, and less than that of the next one."""
    reals = Reals(64)
    lowest = -Fraction(2**128 - 2**104)
    tiny = functions.exp(reals, lowest)
    assert reals.sign(tiny) == 1
    assert reals.compare(functions.exp(reals, lowest + 1), tiny) == 1
    with pytest.raises(Undecided):
        functions.exp(reals, Fraction(2) ** 5000)


def test_the_comparison_of_these_tests_notices_a_wrong_digit() -> None:
    found = functions.exp(Reals(64), Fraction(1))
    assert near(found, Decimal("2.718281828459045235360287"), 1e-24)
    assert not near(found, Decimal("2.718281828459045335360287"), 1e-24)
