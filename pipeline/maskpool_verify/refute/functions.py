"""Enclosures of exp, log and their relatives: series with proved bounds of the remainder.

Every function maps a real to a real that contains the exact value. Where the value is rational and known,
such as ``exp(0)``, it is that fraction. Arguments outside of the domain are the caller's business. Monotone
functions are computed at both ends of an interval; sine and cosine at the middle, as they never grow faster
than their argument.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from maskpool_verify.refute import dyadic
from maskpool_verify.refute.dyadic import Dyadic
from maskpool_verify.refute.interval import Interval, Real, Reals, Undecided

HUGE = 1 << 12
"""An argument of exp, sin or cos that is ``2**HUGE`` or more is left undecided."""

_GUARD = 32
ZERO, ONE, TWO = Fraction(0), Fraction(1), Fraction(2)


@lru_cache
def _ln2(scale: int) -> int:
    """The integer part of ``log(2) * 2**scale``, or one less: ``2 * (1/3 + 1/(3 * 3**3) + ...)``."""
    precise = scale + _GUARD
    total, power, number = 0, (2 << precise) // 3, 1
    while power:
        total += power // number
        power //= 9
        number += 2
    # Each of the fewer than `precise` terms is too small by less than 2 units, the rest is below 1 unit.
    return total >> _GUARD


def exp(reals: Reals, x: Real) -> Real:
    """The exponential; :class:`Undecided` for arguments of more than ``HUGE`` bits."""
    if x == 0:
        return ONE
    size = max(0, x.numerator.bit_length() - x.denominator.bit_length()) if isinstance(x, Fraction) else 0
    a = Reals(reals.bits + min(size, HUGE)).interval(x)  # an error of the argument is absolute here
    low, high = _exp(a.low, reals.bits)
    return Interval(low, high if a.low == a.high else _exp(a.high, reals.bits)[1])


@lru_cache(maxsize=4096)
def _exp(x: Dyadic, bits: int) -> tuple[Dyadic, Dyadic]:
    """Bounds of the exponential: ``exp(x) = 2**k * exp(r)`` with ``r`` from 0 to about log 2."""
    if x[0] == 0:
        return dyadic.ONE, dyadic.ONE
    size = max(0, dyadic.magnitude(x))
    if size > HUGE:
        raise Undecided(f"the exponential of a number with {size} bits before the point")
    if dyadic.magnitude(x) < -bits:  # 1 + x <= exp(x) <= 1 + x + x**2
        beyond = dyadic.total(x, dyadic.product(x, x, bits, up=True), bits, up=True)
        return dyadic.total(dyadic.ONE, x, bits, up=False), dyadic.total(dyadic.ONE, beyond, bits, up=True)
    unit = bits + _GUARD  # results have this scale, the reduction a finer one
    fine = unit + size + 2
    scaled, ln2 = dyadic.floor(x, fine), _ln2(fine)
    k = scaled // ln2
    # Between scaled and scaled + 1 lies x, between ln2 and ln2 + 2 lies log 2, in fine units.
    r_low = scaled - k * ln2 - 2 * max(k, 0)
    if r_low < 0:
        k -= 1
        r_low = scaled - k * ln2 - 2 * max(k, 0)
    r_high = scaled + 1 - k * ln2 - 2 * min(k, 0)
    low, slack = r_low >> (size + 2), 0
    slack = -(-r_high >> (size + 2)) - low
    total, term, number = 1 << unit, 1 << unit, 0
    while term:
        number += 1
        term = (term * low >> unit) // number
        total += term
    # Each term is too small by less than 2 units and the rest is below 4, as r < 1; exp grows by less than
    # 3 units for each unit of its argument there.
    upper = total + 2 * number + 4 + 3 * (slack + 1)
    return (
        dyadic.rounded((total, k - unit), bits, up=False),
        dyadic.rounded((upper, k - unit), bits, up=True),
    )


def log(reals: Reals, x: Real) -> Real:
    """The logarithm of a positive number."""
    if x == 1:
        return ZERO
    a = reals.interval(x)
    if dyadic.sign(a.low) <= 0:
        raise Undecided("the logarithm of a number that may be zero")
    low = _log(a.low, reals.bits)
    return Interval(low.low, low.high if a.low == a.high else _log(a.high, reals.bits).high)


@lru_cache(maxsize=4096)
def _log(x: Dyadic, bits: int) -> Interval:
    """``log x = k * log 2 + 2 * atanh(z)`` with ``z = (y - 1) / (y + 1)`` for ``x = 2**k * y``, y near 1."""
    k = dyadic.magnitude(x)
    y = Fraction(x[0], 1 << x[0].bit_length())  # from 1/2 to 1
    if 4 * y < 3:
        k, y = k - 1, 2 * y
    z = (y - 1) / (y + 1)  # from -1/7 to 1/5
    unit = bits + _GUARD
    step = (abs(z.numerator) << unit) // z.denominator
    square = step * step >> unit
    total, power, number = 0, step, 1
    while power:
        total += power // number
        power = power * square >> unit
        number += 2
    # Each of the fewer than `number` terms is too small by less than 3 units, the rest is below 4 units, and
    # the first rounding costs less than 2.
    series = Interval((total, 1 - unit), (total + 3 * number + 6, 1 - unit))
    ln2 = Interval((_ln2(unit), -unit), (_ln2(unit) + 2, -unit))
    wide = Reals(unit)
    return _rounded(Reals(bits), wide.add(wide.mul(Fraction(k), ln2), series if z > 0 else wide.neg(series)))


def _widest(x: Real) -> Dyadic:
    """The larger end point by absolute value; not zero."""
    assert isinstance(x, Interval)
    return max((x.low, x.high), key=lambda end: dyadic.magnitude(end) if end[0] else -(1 << 62))


def _widened(reals: Reals, x: Real, by: Real) -> Real:
    """All numbers that differ from ``x`` by at most ``|by|``."""
    radius = reals.interval(reals.abs(by)).high
    return reals.add(x, Interval(dyadic.negated(radius), radius))


def _rounded(reals: Reals, x: Real) -> Interval:
    a = reals.interval(x)
    return Interval(dyadic.rounded(a.low, reals.bits, up=False), dyadic.rounded(a.high, reals.bits, up=True))


def sqrt(reals: Reals, x: Real) -> Real:
    """The square root of a number that is not negative."""
    return _root(reals, x, 2)


def cbrt(reals: Reals, x: Real) -> Real:
    """The cube root."""
    return reals.neg(_root(reals, reals.neg(x), 3)) if reals.sign(x) < 0 else _root(reals, x, 3)


def _root(reals: Reals, x: Real, degree: int) -> Real:
    if isinstance(x, Fraction):
        exact = Fraction(*(dyadic.integer_root(part, degree) for part in (x.numerator, x.denominator)))
        if exact**degree == x:
            return exact
    a = reals.interval(x)
    if dyadic.sign(a.low) < 0:
        raise Undecided("the root of a number that may be negative")
    return Interval(
        dyadic.root(a.low, degree, reals.bits, up=False), dyadic.root(a.high, degree, reals.bits, up=True)
    )


def rsqrt(reals: Reals, x: Real) -> Real:
    """``1 / sqrt(x)`` of a positive number."""
    return reals.div(ONE, sqrt(reals, x))


def logistic(reals: Reals, x: Real) -> Real:
    """``1 / (1 + exp(-x))``."""
    return reals.div(ONE, reals.add(ONE, exp(reals, reals.neg(x))))


def tanh(reals: Reals, x: Real) -> Real:
    """``1 - 2 / (exp(2 x) + 1)``, which shows its only ``x`` once."""
    if x == 0:
        return ZERO
    wide = Reals(reals.bits + _GUARD)
    double = exp(wide, wide.mul(TWO, x))
    return wide.sub(ONE, wide.div(TWO, wide.add(double, ONE)))


def expm1(reals: Reals, x: Real) -> Real:
    """``exp(x) - 1``."""
    wide = Reals(reals.bits + _GUARD)
    return wide.sub(exp(wide, x), ONE)


def log1p(reals: Reals, x: Real) -> Real:
    """``log(1 + x)`` for ``x`` above -1."""
    return log(reals, reals.add(ONE, x))


def exp2(reals: Reals, x: Real) -> Real:
    """``2**x``."""
    if isinstance(x, Fraction) and x.denominator == 1 and abs(x) < HUGE:
        return TWO ** int(x)
    scale = reals.bits + _GUARD + max(0, dyadic.magnitude(_widest(reals.interval(x))))
    ln2 = Interval((_ln2(scale), -scale), (_ln2(scale) + 2, -scale))
    return exp(reals, Reals(scale).mul(x, ln2))


def sinh(reals: Reals, x: Real) -> Real:
    """``(exp(x) - exp(-x)) / 2``."""
    if x == 0:
        return ZERO
    return reals.div(reals.sub(exp(reals, x), exp(reals, reals.neg(x))), TWO)


def cosh(reals: Reals, x: Real) -> Real:
    """``(exp(x) + exp(-x)) / 2``."""
    return reals.div(reals.add(exp(reals, x), exp(reals, reals.neg(x))), TWO)


def asinh(reals: Reals, x: Real) -> Real:
    """``log(x + sqrt(x**2 + 1))`` for ``x >= 0``; odd."""
    if x == 0:
        return ZERO
    if reals.sign(x) < 0:
        return reals.neg(asinh(reals, reals.neg(x)))
    return log(reals, reals.add(x, sqrt(reals, reals.add(reals.power(x, 2), ONE))))


# -- circular functions


@lru_cache
def pi(bits: int) -> Interval:
    """By Machin: ``16 atan(1/5) - 4 atan(1/239)``."""
    reals = Reals(bits + _GUARD)
    found = reals.sub(
        reals.mul(Fraction(16), _atan_inverse(5, reals)), reals.mul(Fraction(4), _atan_inverse(239, reals))
    )
    return reals.interval(found)


def _atan_inverse(n: int, reals: Reals) -> Interval:
    """``atan(1 / n)``: an alternating series with decreasing terms lies between neighbouring partial sums."""
    total, number = Fraction(0), 0
    while n ** (2 * number + 1) >> (reals.bits + 1) == 0 or number % 2:
        total += Fraction((-1) ** number, (2 * number + 1) * n ** (2 * number + 1))
        number += 1
    beyond = total + Fraction(1, (2 * number + 1) * n ** (2 * number + 1))  # an even number of terms: below
    return Interval(
        dyadic.of_fraction(total, reals.bits, up=False), dyadic.of_fraction(beyond, reals.bits, up=True)
    )


def sin(reals: Reals, x: Real) -> Real:
    """The sine."""
    return ZERO if x == 0 else _circular(reals, x, 1)


def cos(reals: Reals, x: Real) -> Real:
    """The cosine."""
    return ONE if x == 0 else _circular(reals, x, 0)


def _circular(reals: Reals, x: Real, odd: int) -> Real:
    """Sine (``odd`` is 1) or cosine, by Taylor's series of the middle, less the nearest multiple of 2 pi."""
    a = reals.interval(x)
    size = max(0, *(dyadic.magnitude(end) for end in (a.low, a.high) if end[0]))
    if size > HUGE:
        raise Undecided(f"a circular function of a number with {size} bits before the point")
    wide = Reals(reals.bits + _GUARD + 2 * size)
    half_turn = pi(wide.bits)
    turns = dyadic.floor(
        dyadic.quotient(a.low, wide.interval(wide.mul(TWO, half_turn)).low, wide.bits, up=False), 0
    )
    rest = wide.interval(wide.sub(a, wide.mul(Fraction(2 * turns), half_turn)))
    unit = wide.bits
    low, high = dyadic.floor(rest.low, unit), dyadic.floor(rest.high, unit) + 1
    middle, radius = (low + high) // 2, (high - low) // 2 + 1
    if abs(middle) >> unit > 8 or radius >> unit:
        return Interval((-1, 0), dyadic.ONE)
    total, term, number = 0, (middle if odd else 1 << unit), odd
    while term not in (0, -1) or number < 16:
        total += term if number % 4 < 2 else -term
        term = (term * middle >> unit) * middle >> unit
        term //= (number + 1) * (number + 2)
        number += 2
    # Taylor's remainder is at most the first term left out. An error of a term grows at most as the terms do,
    # and their sum for x = 8 is below exp(8) < 3000.
    radius += 3000 * 4 * (number + 1)
    one = 1 << unit
    return Interval(
        dyadic.rounded((max(total - radius, -one), -unit), reals.bits, up=False),
        dyadic.rounded((min(total + radius, one), -unit), reals.bits, up=True),
    )


def tan(reals: Reals, x: Real) -> Real:
    """The tangent; :class:`Undecided` if the cosine may be zero."""
    return reals.div(sin(reals, x), cos(reals, x))


def atan(reals: Reals, x: Real) -> Real:
    """The arc tangent."""
    if x == 0:
        return ZERO
    a = reals.interval(x)
    return Interval(_atan(a.low, reals.bits).low, _atan(a.high, reals.bits).high)


@lru_cache(maxsize=256)
def _atan(x: Dyadic, bits: int) -> Interval:
    """Of a number, by ``atan(x) = 2 atan(x / (1 + sqrt(1 + x**2)))``, which makes the argument small."""
    if x[0] == 0:
        return Interval(dyadic.ZERO, dyadic.ZERO)
    wide = Reals(bits + _GUARD)
    small: Real = Interval(x, x)
    for _ in range(3):
        small = wide.div(small, wide.add(ONE, sqrt(wide, wide.add(ONE, wide.power(small, 2)))))
    square = wide.power(small, 2)
    total: Real = ZERO
    power, number = wide.interval(small), 0
    while dyadic.magnitude(_widest(power)) > -wide.bits:
        total = wide.add(total, wide.mul(Fraction((-1) ** number, 2 * number + 1), power))
        power, number = wide.interval(wide.mul(power, square)), number + 1
    # |small| < tan(pi / 16) < 1 / 5: an alternating series with decreasing terms.
    return _rounded(Reals(bits), wide.mul(Fraction(8), _widened(wide, total, power)))


def asin(reals: Reals, x: Real) -> Real:
    """The arc sine of a number from -1 to 1."""
    if isinstance(x, Fraction) and abs(x) == 1:
        return reals.mul(x / 2, pi(reals.bits))
    return atan(reals, reals.div(x, sqrt(reals, reals.sub(ONE, reals.power(x, 2)))))


def acos(reals: Reals, x: Real) -> Real:
    """The arc cosine of a number from -1 to 1."""
    return ZERO if x == 1 else reals.sub(reals.div(pi(reals.bits), TWO), asin(reals, x))


def acosh(reals: Reals, x: Real) -> Real:
    """``log(x + sqrt(x**2 - 1))`` for ``x >= 1``."""
    return log(reals, reals.add(x, sqrt(reals, reals.sub(reals.power(x, 2), ONE))))


def atanh(reals: Reals, x: Real) -> Real:
    """``log((1 + x) / (1 - x)) / 2`` for x between -1 and 1."""
    return reals.div(log(reals, reals.div(reals.add(ONE, x), reals.sub(ONE, x))), TWO)


# -- the error function


def erf(reals: Reals, x: Real) -> Real:
    """The error function."""
    if x == 0:
        return ZERO
    a = reals.interval(x)
    return Interval(_erf(a.low, reals.bits).low, _erf(a.high, reals.bits).high)


def erfc(reals: Reals, x: Real) -> Real:
    """``1 - erf(x)``."""
    return reals.sub(ONE, erf(reals, x))


@lru_cache(maxsize=256)
def _erf(x: Dyadic, bits: int) -> Interval:
    """Of a number: ``2 exp(-x**2) / sqrt(pi) * (x + 2 x**3 / 3 + 4 x**5 / (3 * 5) + ...)``, or its tail."""
    if x[0] == 0:
        return Interval(dyadic.ZERO, dyadic.ZERO)
    if x[0] < 0:
        positive = _erf(dyadic.negated(x), bits)
        return Interval(dyadic.negated(positive.high), dyadic.negated(positive.low))
    if dyadic.magnitude(x) > 12 or dyadic.floor(dyadic.product(x, x, 64, up=False), 0) > bits:
        # erfc(x) <= exp(-x**2) < 2**-bits
        return Interval(dyadic.total(dyadic.ONE, (-1, -bits), bits + 1, up=False), dyadic.ONE)
    wide = Reals(bits + _GUARD)
    square = wide.power(Interval(x, x), 2)
    term: Real = Interval(x, x)
    total: Real = term
    number = 1
    enough = 4 * (dyadic.floor(wide.interval(square).high, 0) + 1)
    while number < enough or dyadic.magnitude(_widest(term)) > -wide.bits:
        number += 2
        term = wide.div(wide.mul(term, wide.mul(TWO, square)), Fraction(number))
        total = wide.add(total, term)
    # From here on each term is less than half of the one before.
    total = _widened(wide, total, term)
    factor = wide.div(wide.mul(TWO, exp(wide, wide.neg(square))), sqrt(wide, pi(wide.bits)))
    return _rounded(Reals(bits), wide.mul(factor, total))


FUNCTIONS: dict[str, Callable[[Reals, Real], Real]] = {
    "exp": exp,
    "tanh": tanh,
    "logistic": logistic,
    "expm1": expm1,
    "exp2": exp2,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "sinh": sinh,
    "cosh": cosh,
    "asinh": asinh,
    "atan": atan,
    "erf": erf,
    "erfc": erfc,
    "cbrt": cbrt,
}
"""The functions that are defined everywhere (the tangent wherever it is decided), by JAX's names."""
