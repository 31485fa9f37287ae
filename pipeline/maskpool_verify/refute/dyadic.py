"""Numbers ``m * 2**e`` with directed rounding: the end points of intervals.

A :data:`Dyadic` is a pair of Python ints, so that neither a huge nor a tiny number overflows. Every function
takes the number of bits to keep and the direction: ``up`` gives a number that is not smaller than the exact
result, otherwise one that is not larger.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

Dyadic: TypeAlias = tuple[int, int]
"""``(m, e)`` is ``m * 2**e``; zero is ``(0, 0)``."""

ZERO: Dyadic = (0, 0)
ONE: Dyadic = (1, 0)


def rounded(x: Dyadic, bits: int, up: bool) -> Dyadic:
    """``x`` with at most ``bits`` bits."""
    m, e = x
    excess = m.bit_length() - bits
    if m == 0:
        return ZERO
    if excess <= 0:
        return x
    return (-(-m >> excess) if up else m >> excess), e + excess


def of_fraction(x: Fraction, bits: int, up: bool) -> Dyadic:
    """A rational number, rounded."""
    return quotient((x.numerator, 0), (x.denominator, 0), bits, up)


def to_fraction(x: Dyadic) -> Fraction:
    """The same number; the caller sees to it that the exponent is not huge."""
    m, e = x
    return Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)


def magnitude(x: Dyadic) -> int:
    """The number ``k`` with ``2**(k-1) <= |x| < 2**k``, for ``x`` that is not zero."""
    m, e = x
    return m.bit_length() + e


def negated(x: Dyadic) -> Dyadic:
    return -x[0], x[1]


def total(x: Dyadic, y: Dyadic, bits: int, up: bool) -> Dyadic:
    """The sum."""
    if x[0] == 0 or y[0] == 0:
        return rounded(y if x[0] == 0 else x, bits, up)
    if x[1] < y[1]:
        x, y = y, x
    gap = x[1] - magnitude(y)
    if gap > bits + 2:
        # |y| < 2**(x[1] - gap): too small to be written beside x, but its sign decides one direction.
        if (y[0] > 0) != up:
            return rounded(x, bits, up)
        m, e = x[0] << (bits + 2), x[1] - (bits + 2)
        return rounded((m + (1 if up else -1), e), bits, up)
    return rounded(((x[0] << (x[1] - y[1])) + y[0], y[1]), bits, up)


def product(x: Dyadic, y: Dyadic, bits: int, up: bool) -> Dyadic:
    """The product."""
    return rounded((x[0] * y[0], x[1] + y[1]), bits, up)


def quotient(x: Dyadic, y: Dyadic, bits: int, up: bool) -> Dyadic:
    """The quotient; ``y`` is not zero."""
    if x[0] == 0:
        return ZERO
    shift = max(0, bits + 2 + y[0].bit_length() - x[0].bit_length())
    m, rest = divmod(x[0] << shift, y[0])
    return rounded((m + 1 if up and rest else m, x[1] - y[1] - shift), bits, up)


def root(x: Dyadic, degree: int, bits: int, up: bool) -> Dyadic:
    """The root of a number that is not negative."""
    m, e = x
    if m == 0:
        return ZERO
    shift = max(0, degree * (bits + 2) - m.bit_length())
    shift += (e - shift) % degree
    scaled = m << shift
    found = integer_root(scaled, degree)
    if up and found**degree != scaled:
        found += 1
    return rounded((found, (e - shift) // degree), bits, up)


def integer_root(m: int, degree: int) -> int:
    """The largest integer whose power is not above ``m >= 0``, by Newton's method from above."""
    if m == 0:
        return 0
    guess = 1 << -(-m.bit_length() // degree)
    while (better := ((degree - 1) * guess + m // guess ** (degree - 1)) // degree) < guess:
        guess = better
    return guess


def sign(x: Dyadic) -> int:
    return (x[0] > 0) - (x[0] < 0)


def less(x: Dyadic, y: Dyadic) -> bool:
    """``x < y``."""
    if sign(x) != sign(y) or sign(x) == 0:
        return sign(x) < sign(y)
    if magnitude(x) != magnitude(y):
        return (magnitude(x) < magnitude(y)) == (sign(x) > 0)
    low = min(x[1], y[1])  # the magnitudes agree, so the exponents are near
    return x[0] << (x[1] - low) < y[0] << (y[1] - low)


def floor(x: Dyadic, scale: int) -> int:
    """The largest integer that is not above ``x * 2**scale``."""
    shift = x[1] + scale
    return x[0] << shift if shift >= 0 else x[0] >> -shift
