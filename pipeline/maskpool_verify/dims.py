"""Sizes of axes: numbers, and polynomials in symbols and in operations on sizes.

A size is an ``int``, or the canonical text of a polynomial with integer coefficients that is no constant:
``"n"``, ``"2*n"``, ``"d*h + 1"``, ``"n - 1"``, ``"2*floordiv(n, 2)"``. Its indeterminates are the symbols of
the manifest and the operations of ``jax.export``: ``floordiv``, ``mod``, ``max`` and ``min``, with Python's
meaning. Sizes that are the same value of type :data:`Size` are equal for all values of the symbols; the
converse holds for polynomials in the symbols alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import prod
from typing import NoReturn, TypeAlias

Size: TypeAlias = int | str

_Polynomial: TypeAlias = Mapping[tuple[str, ...], int]
"""Coefficients of monomials; a monomial is the sorted tuple of its factors, with repetition.

A factor is a symbol, or the canonical text of an operation.
"""

OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "floordiv": int.__floordiv__,
    "mod": int.__mod__,
    "max": max,
    "min": min,
}
"""What ``jax.export`` can apply to sizes beside sums and products."""

_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|0|[1-9][0-9]*|[-+*^(),])")


def parse(text: str) -> Size:
    """The size that JAX, a manifest or a program writes as ``text``.

    Raises:
        ValueError: it is none, such as ``n / 2``.
    """
    return of_polynomial(_read(text))


def canonical(size: Size) -> bool:
    """Whether a text is the canonical one of its size; every int is."""
    try:
        return isinstance(size, int) or parse(size) == size
    except ValueError:
        return False


def add(*sizes: Size) -> Size:
    """The sum."""
    total: _Polynomial = {}
    for size in sizes:
        total = _sum(total, polynomial(size), 1)
    return of_polynomial(total)


def sub(left: Size, right: Size) -> Size:
    """The difference, which may be negative."""
    return of_polynomial(_sum(polynomial(left), polynomial(right), -1))


def mul(*sizes: Size) -> Size:
    """The product."""
    return of_polynomial(_product(*map(polynomial, sizes)))


def operation(name: str, left: Size, right: Size) -> Size:
    """``floordiv``, ``mod``, ``max`` or ``min`` of two sizes.

    Divisions that leave no remainder for any values are carried out, as JAX does.

    Raises:
        ValueError: a division by zero.
    """
    if name in ("floordiv", "mod") and right == 0:
        raise ValueError(f"{name}({left}, 0) divides by zero")
    if isinstance(left, int) and isinstance(right, int):
        return OPERATIONS[name](left, right)
    if name in ("floordiv", "mod") and isinstance(right, int):
        terms = polynomial(left)
        if all(coefficient % right == 0 for coefficient in terms.values()):
            whole = {monomial: coefficient // right for monomial, coefficient in terms.items()}
            return of_polynomial(whole) if name == "floordiv" else 0
    return f"{name}({left}, {right})"


def at(size: Size, values: Mapping[str, int]) -> int:
    """The number that a size is when the symbols have ``values``; ``KeyError`` names a symbol without one.

    Raises:
        ValueError: the size divides by zero there.
    """
    if isinstance(size, int):
        return size
    return sum(
        coefficient * prod(_factor_at(factor, values) for factor in monomial)
        for monomial, coefficient in polynomial(size).items()
    )


def _factor_at(factor: str, values: Mapping[str, int]) -> int:
    if (applied := applied_to(factor)) is None:
        return values[factor]
    name, left, right = applied
    return int(operation(name, at(left, values), at(right, values)))


def substitute(size: Size, values: Mapping[str, Size]) -> Size:
    """The size with other sizes in place of its symbols, or of operations; what has none stays."""

    def replaced(factor: str) -> Size:
        if factor in values or (applied := applied_to(factor)) is None:
            return values.get(factor, factor)
        name, left, right = applied
        return operation(name, substitute(left, values), substitute(right, values))

    terms = [mul(coefficient, *map(replaced, monomial)) for monomial, coefficient in polynomial(size).items()]
    return add(*terms)


def factors(size: Size) -> frozenset[str]:
    """The symbols and operations that a size is a polynomial in."""
    return frozenset(factor for monomial in polynomial(size) for factor in monomial)


def operations(size: Size) -> Iterator[str]:
    """The operations in a size, the inner ones first."""
    for factor in sorted(factors(size)):
        if (applied := applied_to(factor)) is not None:
            yield from operations(applied[1])
            yield from operations(applied[2])
            yield factor


def symbols(size: Size) -> frozenset[str]:
    """The symbols that occur in a size."""
    found: set[str] = set()
    for factor in factors(size):
        applied = applied_to(factor)
        found |= {factor} if applied is None else symbols(applied[1]) | symbols(applied[2])
    return frozenset(found)


def polynomial(size: Size) -> _Polynomial:
    """The coefficients of a size, by its monomials; none of them is 0."""
    return ({(): size} if size else {}) if isinstance(size, int) else _read(size)


def of_polynomial(coefficients: _Polynomial) -> Size:
    """The size with these coefficients, none of which is 0."""
    if set(coefficients) <= {()}:
        return coefficients.get((), 0)
    text = "".join(_terms(coefficients))
    return text.removeprefix(" + ") if text.startswith(" + ") else f"-{text.removeprefix(' - ')}"


@cache
def applied_to(factor: str) -> tuple[str, Size, Size] | None:
    """The name and the operands of an operation; ``None`` for a symbol."""
    name, bracket, rest = factor.partition("(")
    if not bracket:
        return None
    depth = 0
    for position, character in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            return name, parse(rest[:position]), parse(rest[position + 1 : -1])
    raise ValueError(f'"{factor}" is no operation on two sizes')


def _sum(left: _Polynomial, right: _Polynomial, sign: int) -> _Polynomial:
    result = dict(left)
    for monomial, coefficient in right.items():
        result[monomial] = result.get(monomial, 0) + sign * coefficient
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def _product(*polynomials: _Polynomial) -> _Polynomial:
    product: _Polynomial = {(): 1}
    for each in polynomials:
        result: dict[tuple[str, ...], int] = {}
        for left, a in product.items():
            for right, b in each.items():
                key = tuple(sorted((*left, *right)))
                result[key] = result.get(key, 0) + a * b
        product = _sum(result, {}, 1)
    return product


def assigned(sizes: Mapping[str, Size]) -> str:
    """The sizes of symbols in words: ``n = 2, d = 1``."""
    return ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())


# -- reading


class _Reader:
    """A recursive descent through the text of a size, in the grammar of ``jax.export``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            if (found := _TOKEN.match(text, position)) is None:
                self.fail()
            self.words.append(found[1])
            position = found.end()

    def fail(self) -> NoReturn:
        names = ", ".join(OPERATIONS)
        raise ValueError(f'"{self.text}" is not a sum of products of symbols, numbers, and {names} of those')

    def next(self, *allowed: str) -> str:
        """Take the next word if it is one of ``allowed``; else the empty one."""
        return self.words.pop(0) if self.words and self.words[0] in allowed else ""

    def require(self, word: str) -> None:
        if not self.next(word):
            self.fail()

    def number(self) -> int:
        if not (self.words and self.words[0].isdigit()):
            self.fail()
        return int(self.words.pop(0))

    def whole(self) -> _Polynomial:
        size = self.sum()
        if self.words:
            self.fail()
        return size

    def sum(self) -> _Polynomial:
        sign = -1 if self.next("+", "-") == "-" else 1
        total = _sum({}, self.product(), sign)
        while word := self.next("+", "-"):
            total = _sum(total, self.product(), -1 if word == "-" else 1)
        return total

    def product(self) -> _Polynomial:
        result = self.power()
        while self.next("*"):
            result = _product(result, self.power())
        return result

    def power(self) -> _Polynomial:
        base = self.factor()
        return _product(*[base] * self.number()) if self.next("^") else base

    def factor(self) -> _Polynomial:
        if self.next("-"):
            return polynomial(-self.number())
        if self.words and self.words[0].isdigit():
            return polynomial(self.number())
        word = self.words.pop(0) if self.words else ""
        if word in OPERATIONS:
            self.require("(")
            left = of_polynomial(self.sum())
            self.require(",")
            right = of_polynomial(self.sum())
            self.require(")")
            result = operation(word, left, right)
            applied = f"{word}({left}, {right})"
            return {(applied,): 1} if result == applied else polynomial(result)
        if not word.isidentifier():
            self.fail()
        return {(word,): 1}


@cache
def _read(text: str) -> _Polynomial:
    return _Reader(text).whole()


# -- writing


def _ordered(coefficients: _Polynomial) -> list[tuple[str, ...]]:
    """Negative terms last, since natural numbers are subtracted from; then by degree."""
    return sorted(coefficients, key=lambda monomial: (coefficients[monomial] < 0, -len(monomial), monomial))


def _terms(coefficients: _Polynomial) -> list[str]:
    result = []
    for monomial in _ordered(coefficients):
        coefficient = coefficients[monomial]
        powers = Counter(monomial)
        parts = [factor if power == 1 else f"{factor}^{power}" for factor, power in powers.items()]
        if abs(coefficient) != 1 or not monomial:
            parts.insert(0, str(abs(coefficient)))
        result.append(f" {'-' if coefficient < 0 else '+'} {'*'.join(parts)}")
    return result


_INFIX = {"floordiv": "/", "mod": "%"}


def lean(size: Size, *, as_value: bool = False) -> str:
    """The size in Lean, as a term of type ``Nat`` or ``Dim``: ``2 * (n / 2) + 1``.

    ``as_value``: as a term of type ``Int`` over variables of type ``Nat``. Lean takes variables in an
    arithmetic expression as integers, but not in ``max`` and ``min``, where ``n - 3`` would be cut off at
    zero; there the type is written: ``max (n - 3 : Int) d``.
    """
    if isinstance(size, int):
        return str(size)
    coefficients = polynomial(size)
    terms = []
    for number, monomial in enumerate(_ordered(coefficients)):
        coefficient = coefficients[monomial]
        alone = len(monomial) == 1 and (coefficient == 1 or (coefficient == -1 and number > 0))
        parts = [_lean_factor(factor, alone, as_value) for factor in monomial]
        if abs(coefficient) != 1 or not monomial:
            parts.insert(0, str(abs(coefficient)))
        sign = "-" if coefficient < 0 else "+"
        lead = ("-" if sign == "-" else "") if number == 0 else f" {sign} "
        terms.append(lead + " * ".join(parts))
    return "".join(terms)


def _lean_factor(factor: str, alone: bool, as_value: bool) -> str:
    """A factor; with brackets unless it stands ``alone``."""
    if (applied := applied_to(factor)) is None:
        return factor
    name, left, right = applied
    operands = [lean(operand, as_value=as_value) for operand in (left, right)]
    if as_value and name not in _INFIX:
        operands[0] += " : Int"
    operands = [f"({text})" if " " in text else text for text in operands]
    text = f" {_INFIX[name]} ".join(operands) if name in _INFIX else f"{name} {' '.join(operands)}"
    return text if alone else f"({text})"
