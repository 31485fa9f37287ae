"""Sizes of axes: numbers, or polynomials in the symbols of the manifest.

A size is an ``int``, or the canonical text of a polynomial with integer coefficients that is no constant:
``"n"``, ``"2*n"``, ``"d*h + 1"``, ``"n - 1"``. Two sizes are equal for all values of the symbols exactly if
they are the same value of type :data:`Size`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import TypeAlias

Size: TypeAlias = int | str

_Polynomial: TypeAlias = dict[tuple[str, ...], int]
"""Coefficients of monomials; a monomial is the sorted tuple of its symbols, with repetition."""

_TERM = re.compile(r"(?:0|[1-9][0-9]*|[A-Za-z_][A-Za-z0-9_]*(?:\^[1-9][0-9]*)?)")


def parse(text: str) -> Size:
    """The size that JAX or a program writes as ``text``.

    Raises:
        ValueError: it is no polynomial, such as ``floordiv(n, 2)``.
    """
    return _size(_read(text))


def canonical(size: Size) -> bool:
    """Whether a text is the canonical one of its polynomial; every int is."""
    try:
        return isinstance(size, int) or parse(size) == size
    except ValueError:
        return False


def add(*sizes: Size) -> Size:
    """The sum."""
    total: _Polynomial = {}
    for size in sizes:
        total = _sum(total, _polynomial(size), 1)
    return _size(total)


def sub(left: Size, right: Size) -> Size:
    """The difference, which may be negative."""
    return _size(_sum(_polynomial(left), _polynomial(right), -1))


def mul(*sizes: Size) -> Size:
    """The product."""
    product: _Polynomial = {(): 1}
    for size in sizes:
        factor = _polynomial(size)
        result: _Polynomial = {}
        for left, a in product.items():
            for right, b in factor.items():
                key = tuple(sorted((*left, *right)))
                result[key] = result.get(key, 0) + a * b
        product = _sum(result, {}, 1)
    return _size(product)


def at(size: Size, values: Mapping[str, int]) -> int:
    """The number that a size is when the symbols have ``values``; ``KeyError`` names a symbol without one."""
    total = 0
    for monomial, coefficient in _polynomial(size).items():
        total += coefficient * prod(values[symbol] for symbol in monomial)
    return total


def substitute(size: Size, values: Mapping[str, Size]) -> Size:
    """The size with other sizes in place of its symbols; symbols without one stay."""
    terms = [
        mul(coefficient, *(values.get(symbol, symbol) for symbol in monomial))
        for monomial, coefficient in _polynomial(size).items()
    ]
    return add(*terms)


def nonnegative(size: Size) -> bool:
    """Whether a size is at least 0 for all positive values of the symbols; ``False`` if in doubt."""
    shifted = substitute(size, {symbol: add(symbol, 1) for symbol in symbols(size)})
    return all(coefficient >= 0 for coefficient in _polynomial(shifted).values())


def symbols(size: Size) -> frozenset[str]:
    """The symbols that occur in a size."""
    return frozenset(symbol for monomial in _polynomial(size) for symbol in monomial)


def _polynomial(size: Size) -> _Polynomial:
    return ({(): size} if size else {}) if isinstance(size, int) else _read(size)


def _sum(left: _Polynomial, right: _Polynomial, sign: int) -> _Polynomial:
    result = dict(left)
    for monomial, coefficient in right.items():
        result[monomial] = result.get(monomial, 0) + sign * coefficient
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def _read(text: str) -> _Polynomial:
    result: _Polynomial = {}
    sign = 1
    for number, word in enumerate(re.split(r" ([+-]) ", re.sub("^- ", "-", text))):
        if number % 2:
            sign = 1 if word == "+" else -1
            continue
        negative = number == 0 and word.startswith("-")
        coefficient, monomial = -sign if negative else sign, []
        for factor in word.removeprefix("-" if negative else "").split("*"):
            if not _TERM.fullmatch(factor):
                raise ValueError(f'"{text}" is not a polynomial in the symbols')
            if factor.isdigit():
                coefficient *= int(factor)
            else:
                symbol, _, power = factor.partition("^")
                monomial += [symbol] * int(power or 1)
        key = tuple(sorted(monomial))
        result[key] = result.get(key, 0) + coefficient
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def _size(polynomial: _Polynomial) -> Size:
    if set(polynomial) <= {()}:
        return polynomial.get((), 0)
    text = "".join(_terms(polynomial))
    return text.removeprefix(" + ") if text.startswith(" + ") else f"-{text.removeprefix(' - ')}"


def _ordered(polynomial: _Polynomial) -> list[tuple[str, ...]]:
    """Negative terms last, since natural numbers are subtracted from; then by degree."""
    return sorted(polynomial, key=lambda monomial: (polynomial[monomial] < 0, -len(monomial), monomial))


def _terms(polynomial: _Polynomial) -> list[str]:
    result = []
    for monomial in _ordered(polynomial):
        coefficient = polynomial[monomial]
        powers = Counter(monomial)
        factors = [symbol if power == 1 else f"{symbol}^{power}" for symbol, power in powers.items()]
        if abs(coefficient) != 1 or not monomial:
            factors.insert(0, str(abs(coefficient)))
        result.append(f" {'-' if coefficient < 0 else '+'} {'*'.join(factors)}")
    return result


def lean(size: Size) -> str:
    """The size in Lean, as a term of type ``Nat`` or ``Dim``: ``2 * n + 1``."""
    if isinstance(size, int):
        return str(size)
    return re.sub(r"\b([A-Za-z_]\w*)\^(\d+)", lambda m: "*".join([m[1]] * int(m[2])), size).replace(
        "*", " * "
    )
