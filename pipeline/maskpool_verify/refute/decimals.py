"""Numbers as text: fractions where they are exact, else all digits that are proved, up to twelve."""

from __future__ import annotations

from fractions import Fraction
from math import floor, isfinite, isnan
from typing import Any

from maskpool_verify.refute import dyadic
from maskpool_verify.refute.exact import Special
from maskpool_verify.refute.interval import Interval

DIGITS = 12
_READABLE = 24
"""Fractions with more characters are shown as decimals."""
_FAR = 4000
"""Exponents of 2 beyond it are shown as powers of ten only."""


def text(entry: Any) -> str:
    """One entry: ``1/2``, ``0.36787944117...`` (more digits follow), ``nan``, ``-inf``."""
    if isinstance(entry, Special):
        return str(entry.value)
    if isinstance(entry, Interval):
        return _interval(entry)
    if isinstance(entry, Fraction):
        return str(entry) if len(str(entry)) <= _READABLE else _digits(entry, entry)
    if isinstance(entry, float):
        return float_text(entry)
    return str(entry).lower() if isinstance(entry, bool) else str(entry)


def float_text(value: float) -> str:
    """A rounded result: at most nine digits."""
    if isnan(value):
        return "nan"
    return f"{value:.9g}" if isfinite(value) else ("inf" if value > 0 else "-inf")


def _interval(entry: Interval) -> str:
    ends = (entry.low, entry.high)
    magnitudes = [dyadic.magnitude(end) for end in ends if end[0]]
    if any(abs(magnitude) > _FAR for magnitude in magnitudes):
        tens = max(magnitudes, key=abs) * 30102999566398119521 // 10**20
        sign = "-" if dyadic.sign(entry.high) < 0 or entry.high == dyadic.ZERO else ""
        return f"about {sign}10^{tens}"
    return _digits(dyadic.to_fraction(entry.low), dyadic.to_fraction(entry.high))


def _digits(low: Fraction, high: Fraction) -> str:
    """The digits that all numbers from ``low`` to ``high`` begin with."""
    if high < 0 or (low < 0 and high == 0):
        return f"-{_digits(-high, -low)}"
    if low <= 0:
        return f"between {float(low):.3g} and {float(high):.3g}"
    exponent = _exponent(high)
    for digits in range(DIGITS, 0, -1):
        scale = Fraction(10) ** (digits - 1 - exponent)
        mantissa = floor(low * scale)
        if mantissa == floor(high * scale):
            exact = low == high and low * scale == mantissa
            return _placed(str(mantissa).zfill(digits), exponent, "" if exact else "...")
    return f"between {float(low):.9g} and {float(high):.9g}"


def _exponent(x: Fraction) -> int:
    """The number ``k`` with ``10**k <= x < 10**(k + 1)``."""
    guess = len(str(x.numerator)) - len(str(x.denominator))
    return guess if Fraction(10) ** guess <= x else guess - 1


def _placed(digits: str, exponent: int, more: str) -> str:
    """The number ``d.ddd * 10**exponent``; ``more`` follows the last digit."""
    if -5 < exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}{more}"
    if 0 <= exponent < len(digits):
        whole, rest = digits[: exponent + 1], digits[exponent + 1 :] + more
        return f"{whole}.{rest}" if rest else whole
    return f"{digits[0]}.{digits[1:] or '0'}{more}e{exponent}"
