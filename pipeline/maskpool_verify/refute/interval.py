"""Real numbers as exact fractions or as intervals that contain them, with outward rounding.

A :data:`Real` is a ``Fraction``, which is the number itself, or an :class:`Interval`. Each object stands for
one real number; the same object always for the same one. :class:`Reals` computes with them: every result
contains the exact result, whatever numbers of the intervals are meant. What the intervals do not tell is
:class:`Undecided`, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from maskpool_verify.refute import dyadic
from maskpool_verify.refute.dyadic import Dyadic

LARGE = 1 << 16
"""Fractions of more bits are replaced by intervals."""


class Undecided(Exception):
    """The intervals are too wide, or the numbers too large, to tell."""


@dataclass(frozen=True, eq=False, slots=True)
class Interval:
    """Some real number between ``low`` and ``high``, including these."""

    low: Dyadic
    high: Dyadic

    def contains(self, x: Fraction) -> bool:
        """Whether the number could be ``x``."""
        return dyadic.to_fraction(self.low) <= x <= dyadic.to_fraction(self.high)


Real: TypeAlias = Fraction | Interval


class Reals:
    """Arithmetic with end points of ``bits`` bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def interval(self, x: Real) -> Interval:
        """``x`` as an interval."""
        if isinstance(x, Interval):
            return x
        return Interval(dyadic.of_fraction(x, self.bits, up=False), dyadic.of_fraction(x, self.bits, up=True))

    def _exact(self, x: Fraction) -> Real:
        return self.interval(x) if x.numerator.bit_length() + x.denominator.bit_length() > LARGE else x

    # -- field

    def neg(self, x: Real) -> Real:
        if isinstance(x, Fraction):
            return -x
        return Interval(dyadic.negated(x.high), dyadic.negated(x.low))

    def add(self, x: Real, y: Real) -> Real:
        if isinstance(x, Fraction) and isinstance(y, Fraction):
            return self._exact(x + y)
        if x == 0 or y == 0:
            return y if x == 0 else x
        a, b = self.interval(x), self.interval(y)
        return Interval(
            dyadic.total(a.low, b.low, self.bits, up=False), dyadic.total(a.high, b.high, self.bits, up=True)
        )

    def sub(self, x: Real, y: Real) -> Real:
        """The difference; zero if both are the same number."""
        return Fraction(0) if x is y else self.add(x, self.neg(y))

    def mul(self, x: Real, y: Real) -> Real:
        if isinstance(x, Fraction) and isinstance(y, Fraction):
            return self._exact(x * y)
        for one, other in ((x, y), (y, x)):
            if isinstance(one, Fraction) and one in (0, 1, -1):
                return {0: one, 1: other, -1: self.neg(other)}[int(one)]
        a, b = self.interval(x), self.interval(y)
        pairs = [(p, q) for p in (a.low, a.high) for q in (b.low, b.high)]
        return Interval(
            _least(dyadic.product(p, q, self.bits, up=False) for p, q in pairs),
            _greatest(dyadic.product(p, q, self.bits, up=True) for p, q in pairs),
        )

    def div(self, x: Real, y: Real) -> Real:
        """The quotient; ``y`` is not zero, or :class:`Undecided` if that cannot be told."""
        if isinstance(x, Fraction) and isinstance(y, Fraction):
            return self._exact(x / y)
        if x is y and self.sign(y):
            return Fraction(1)
        if x == 0 and self.sign(y):
            return Fraction(0)
        a, b = self.interval(x), self.interval(y)
        self.sign(b)
        pairs = [(p, q) for p in (a.low, a.high) for q in (b.low, b.high)]
        return Interval(
            _least(dyadic.quotient(p, q, self.bits, up=False) for p, q in pairs),
            _greatest(dyadic.quotient(p, q, self.bits, up=True) for p, q in pairs),
        )

    def power(self, x: Real, exponent: int) -> Real:
        """``x ** exponent``; for a negative exponent, ``x`` is not zero."""
        if exponent < 0:
            return self.div(Fraction(1), self.power(x, -exponent))
        if isinstance(x, Fraction):
            if exponent * max(x.numerator.bit_length(), x.denominator.bit_length()) > LARGE:
                x = self.interval(x)
            else:
                return x**exponent
        if exponent == 0:
            return Fraction(1)
        if exponent % 2 == 0:
            x = self.abs(x)
        return reduce(self.mul, [x] * exponent)

    # -- order

    def sign(self, x: Real) -> int:
        """-1, 0 or 1."""
        if isinstance(x, Fraction):
            return (x > 0) - (x < 0)
        if dyadic.sign(x.low) > 0 or dyadic.sign(x.high) < 0:
            return dyadic.sign(x.low)
        if x.low == x.high:
            return 0
        raise Undecided("the sign of a number")

    def compare(self, x: Real, y: Real) -> int:
        """-1, 0 or 1 for less, equal, greater."""
        if x is y:
            return 0
        if isinstance(x, Fraction) and isinstance(y, Fraction):
            return (x > y) - (x < y)
        a, b = self.interval(x), self.interval(y)
        if dyadic.less(a.high, b.low):
            return -1
        if dyadic.less(b.high, a.low):
            return 1
        if a.low == a.high == b.low == b.high:
            return 0
        raise Undecided("which of two numbers is greater")

    def apart(self, x: Real, y: Real) -> bool:
        """Whether the two numbers are certainly different."""
        try:
            return self.compare(x, y) != 0
        except Undecided:
            return False

    def max(self, x: Real, y: Real) -> Real:
        """The greater one; its interval if it is open which."""
        try:
            return y if self.compare(x, y) <= 0 else x
        except Undecided:
            a, b = self.interval(x), self.interval(y)
            return Interval(_greatest((a.low, b.low)), _greatest((a.high, b.high)))

    def min(self, x: Real, y: Real) -> Real:
        return self.neg(self.max(self.neg(x), self.neg(y)))

    def abs(self, x: Real) -> Real:
        try:
            return self.neg(x) if self.sign(x) < 0 else x
        except Undecided:
            a = self.interval(x)
            return Interval(dyadic.ZERO, _greatest((dyadic.negated(a.low), a.high)))

    def floor(self, x: Real) -> Real:
        if isinstance(x, Fraction):
            return Fraction(x.numerator // x.denominator)
        if max(dyadic.magnitude(end) for end in (x.low, x.high) if end[0]) > self.bits:
            raise Undecided("the integer part of a number")
        low, high = dyadic.floor(x.low, 0), dyadic.floor(x.high, 0)
        if low != high:
            raise Undecided("the integer part of a number")
        return Fraction(low)


def _least(values: Iterable[Dyadic]) -> Dyadic:
    return reduce(lambda x, y: y if dyadic.less(y, x) else x, values)


def _greatest(values: Iterable[Dyadic]) -> Dyadic:
    return reduce(lambda x, y: y if dyadic.less(x, y) else x, values)
