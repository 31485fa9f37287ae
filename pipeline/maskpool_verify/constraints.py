"""What is assumed of the sizes that are left open: ``n >= 1``, ``mod(n, 2) == 0``, ``n <= 4096``.

A user writes constraints in the manifest, as ``jax.export.symbolic_shape`` takes them. JAX traces under them,
the theorems have them as hypotheses, and sizes that are tried satisfy them. JAX takes every symbol to be at
least one; the theorems do not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal, TypeAlias, get_args

from maskpool_verify import dims
from maskpool_verify.dims import Size

Comparison: TypeAlias = Literal["==", ">=", "<="]

SMALL = 12
"""All sizes up to this one are tried where constraints need sizes that satisfy them."""

_STEPS = 20
"""So many equations are used at most to bring a size to its normal form."""


@dataclass(frozen=True)
class Constraint:
    """A comparison of two sizes."""

    left: Size
    comparison: Comparison
    right: Size

    @classmethod
    def parse(cls, text: str) -> Constraint:
        """Read ``"n >= 1"``; ``ValueError`` says what is wrong."""
        parts = re.split("(==|>=|<=)", text)
        if len(parts) != 3:
            raise ValueError(f'"{text}" is not a comparison of two sizes by ==, >= or <=')
        left, comparison, right = parts
        return cls(dims.parse(left), _comparison(comparison), dims.parse(right))

    def __str__(self) -> str:
        return f"{self.left} {self.comparison} {self.right}"

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols that occur."""
        return dims.symbols(self.left) | dims.symbols(self.right)

    @property
    def differences(self) -> tuple[Size, ...]:
        """Sizes that are not negative exactly if the constraint holds."""
        above, below = dims.sub(self.left, self.right), dims.sub(self.right, self.left)
        return {"==": (above, below), ">=": (above,), "<=": (below,)}[self.comparison]

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether the symbols may have these values."""
        try:
            return all(dims.at(difference, values) >= 0 for difference in self.differences)
        except ValueError:  # a division by zero
            return False

    def substitute(self, values: Mapping[str, Size]) -> Constraint:
        """The constraint with other sizes in place of its symbols."""
        left, right = dims.substitute(self.left, values), dims.substitute(self.right, values)
        return Constraint(left, self.comparison, right)

    def lean(self, terms: Mapping[str, str] | None = None) -> str:
        """The constraint as a proposition on natural numbers, in which no difference is taken.

        ``terms`` are terms of Lean in place of some symbols.
        """

        def text(size: Size) -> str:
            shown = dims.lean(size)
            for symbol, term in (terms or {}).items():
                shown = term if shown == symbol else re.sub(rf"\b{symbol}\b", f"({term})", shown)
            return shown

        left, right = self._without_differences()
        if self.comparison == ">=":
            return f"0 < {text(left)}" if right == 1 else f"{text(right)} ≤ {text(left)}"
        return f"{text(left)} {'=' if self.comparison == '==' else '≤'} {text(right)}"

    def grows_with(self, symbol: str) -> bool:
        """Whether the constraint stays true when ``symbol`` grows, as is plain from its terms."""
        if self.comparison == "==":
            return False
        (difference,) = self.differences
        return all(
            monomial == (symbol,) and coefficient > 0
            for monomial, coefficient in dims.polynomial(difference).items()
            if any(symbol in dims.symbols(factor) for factor in monomial)
        )

    @property
    def name(self) -> str:
        """The name of the hypothesis, made of its words: ``h_n_mod_2_eq_0``; ``h_n_pos`` for ``n >= 1``."""
        left, right = self._without_differences()
        if (self.comparison, right) == (">=", 1):
            return f"h_{_words(left)}_pos"
        word = {"==": "eq", ">=": "ge", "<=": "le"}[self.comparison]
        return f"h_{_words(left)}_{word}_{_words(right)}"

    def _without_differences(self) -> tuple[Size, Size]:
        """Both sides, where what is subtracted from one is added to the other."""

        def part(size: Size, sign: int) -> Size:
            terms = {m: sign * c for m, c in dims.polynomial(size).items() if sign * c > 0}
            return dims.of_polynomial(terms)

        left, right = self.left, self.right
        return dims.add(part(left, 1), part(right, -1)), dims.add(part(right, 1), part(left, -1))


def _comparison(word: str) -> Comparison:
    return next(comparison for comparison in get_args(Comparison) if comparison == word)


_WORDS = {"/": "div", "%": "mod", "*": "mul", "+": "add", "-": "sub"}


def _words(size: Size) -> str:
    found = re.findall(r"\w+|[-+*/%]", dims.lean(size))
    return "_".join(_WORDS.get(word, word) for word in found)


@dataclass(frozen=True)
class Constraints:
    """Constraints that hold together."""

    items: tuple[Constraint, ...] = ()

    @classmethod
    def parse(cls, texts: Sequence[str]) -> Constraints:
        """Read all; ``ValueError`` says what is wrong with the first one that is none."""
        return cls(tuple(map(Constraint.parse, texts)))

    @property
    def texts(self) -> tuple[str, ...]:
        """The constraints as JAX takes them."""
        return tuple(map(str, self.items))

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols that occur in some constraint."""
        return frozenset(symbol for constraint in self.items for symbol in constraint.symbols)

    def substitute(self, values: Mapping[str, Size]) -> Constraints:
        """The constraints with other sizes in place of their symbols."""
        return Constraints(tuple(constraint.substitute(values) for constraint in self.items))

    def violated(self, values: Mapping[str, int]) -> Constraint | None:
        """The first constraint that does not hold at these values."""
        return next((constraint for constraint in self.items if not constraint.holds(values)), None)

    # -- what follows from them

    @cached_property
    def _rules(self) -> tuple[tuple[Counter[str], int, Size], ...]:
        """Equations ``coefficient * product of factors = size``, to be used from left to right.

        As in JAX, ``mod(e, k) == 0`` gives ``k * floordiv(e, k) = e`` too.
        """
        rules: list[tuple[Counter[str], int, Size]] = []
        for constraint in self.items:
            terms = dims.polynomial(constraint.left)
            if constraint.comparison != "==" or len(terms) != 1:
                continue
            ((monomial, coefficient),) = terms.items()
            rules.append((Counter(monomial), coefficient, constraint.right))
            applied = dims.applied_to(monomial[0]) if len(monomial) == 1 else None
            if applied and (applied[0], coefficient, constraint.right) == ("mod", 1, 0):
                _, dividend, divisor = applied
                if isinstance(divisor, int):
                    quotient = str(dims.operation("floordiv", dividend, divisor))
                    rules.append((Counter([quotient]), divisor, dividend))
        return tuple(rules)

    def normal(self, size: Size) -> Size:
        """An equal size, by the equations among the constraints."""
        for _ in range(_STEPS):
            if (simpler := self._rewritten(size)) is None:
                break
            size = simpler
        return size

    def _rewritten(self, size: Size) -> Size | None:
        for monomial, coefficient in dims.polynomial(size).items():
            term = Counter(monomial)
            for factors, divisor, equal in self._rules:
                if factors <= term and coefficient % divisor == 0:
                    rest = dims.mul(coefficient // divisor, *(term - factors).elements())
                    old = dims.of_polynomial({monomial: coefficient})
                    return dims.add(dims.sub(size, old), dims.mul(rest, equal))
        return None

    def nonnegative(self, size: Size) -> bool:
        """Whether a size is at least 0 for all positive values that satisfy the constraints.

        ``False`` if in doubt.
        """
        return self._decide(self.normal(size), 2)

    def _decide(self, size: Size, depth: int) -> bool:
        """By subtracting what is not negative, ``depth`` times at most."""
        if _plainly_nonnegative(size, 1):
            return True
        known = [d for constraint in self.items for d in constraint.differences]
        return depth > 0 and any(self._decide(dims.sub(size, each), depth - 1) for each in known)

    def implies_positive(self, symbol: str) -> bool:
        """Whether one of the constraints says that ``symbol`` is not 0, which it may be otherwise."""
        known = [d for constraint in self.items for d in constraint.differences]
        return any(_plainly_nonnegative(dims.sub(dims.sub(symbol, 1), each), 0) for each in known)

    def require_exact(self, size: Size) -> None:
        """Refuse operations that Lean's natural numbers compute differently from JAX's integers.

        Raises:
            ValueError: an operand may be negative, or a divisor may not be positive.
        """
        for factor in dims.operations(size):
            name, left, right = _applied(factor)
            if name in ("floordiv", "mod"):
                if not self.nonnegative(dims.sub(right, 1)):
                    raise ValueError(f"in {factor} the divisor {right} may not be positive")
                exact = self.nonnegative(left)
            else:
                exact = (any if name == "max" else all)(map(self.nonnegative, (left, right)))
            if not exact:
                raise ValueError(f"in {factor} an operand may be negative")

    # -- sizes that satisfy them

    @cached_property
    def _candidates(self) -> tuple[int, ...]:
        """Small sizes, and sizes around the numbers in the constraints and around multiples of those."""
        numbers = {int(word) for text in self.texts for word in re.findall(r"\d+", text)}
        near = {number + step for number in numbers for step in (-1, 0, 1, number)}
        near |= {m * (c // m + step) for c in numbers for m in numbers if m for step in (0, 1)}
        return tuple(sorted({*range(1, SMALL + 1), *(number for number in near if number > 0)}))

    def examples(self, symbols: Sequence[str], least: int) -> list[dict[str, int]]:
        """One or two choices of sizes that satisfy the constraints; none if none is found.

        Where possible, each tells all symbols apart, by sizes from ``least`` on, and they have no size in
        common.
        """
        free = {symbol: (size, 2 * size + 1) for size, symbol in enumerate(symbols, least)}
        found = list(self.solutions(symbols, free))

        def merged(values: Mapping[str, int]) -> int:
            return len(symbols) - len({size for size in values.values() if size >= least})

        first = min(found, key=merged, default=None)
        if first is None:
            return []
        others = [values for values in found if values != first]
        return [first, *sorted(others, key=lambda v: (merged(v), sum(v[s] == first[s] for s in symbols)))[:1]]

    def solutions(
        self, symbols: Sequence[str], free: Mapping[str, Sequence[int]]
    ) -> Iterator[dict[str, int]]:
        """Sizes of ``symbols`` that satisfy the constraints, those with a small sum first.

        Symbols that no constraint restricts have the sizes ``free``.
        """
        axes = [self._candidates if symbol in self.symbols else free[symbol] for symbol in symbols]
        for sizes in sorted(product(*axes), key=lambda sizes: (sum(sizes), sizes)):
            values = dict(zip(symbols, sizes, strict=True))
            if self.violated(values) is None:
                yield values

    @cached_property
    def witness(self) -> Mapping[str, int] | None:
        """The smallest sizes that satisfy the constraints; ``None`` if there are none among those tried."""
        return next(self.solutions(sorted(self.symbols), {}), None)

    def redundant(self) -> Constraint | None:
        """The first constraint that holds for all natural numbers, or follows from one of the others."""
        for number, constraint in enumerate(self.items):
            others = [other for k, other in enumerate(self.items) if k != number]
            if constraint in self.items[:number] or _always(constraint, others):
                return constraint
        return None


UNCONSTRAINED = Constraints()


def _applied(factor: str) -> tuple[str, Size, Size]:
    applied = dims.applied_to(factor)
    assert applied is not None
    return applied


def _always(constraint: Constraint, others: Sequence[Constraint]) -> bool:
    known: list[Size] = [0, *(d for other in others for d in other.differences)]
    return all(
        any(_plainly_nonnegative(dims.sub(difference, each), 0) for each in known)
        for difference in constraint.differences
    )


def _plainly_nonnegative(size: Size, least: int) -> bool:
    """Whether a size is at least 0 where all symbols are at least ``least``; ``False`` if in doubt."""
    return any(_has_no_negative_term(each, least) for each in (size, *_divided(size), *_chosen(size)))


def _has_no_negative_term(size: Size, least: int) -> bool:
    shifted: dict[str, Size] = {}
    for factor in dims.factors(size):
        bound = least if dims.applied_to(factor) is None else _least_value(factor, least)
        if bound is None:
            return False
        shifted[factor] = dims.add(factor, bound)
    return all(coefficient >= 0 for coefficient in dims.polynomial(dims.substitute(size, shifted)).values())


def _least_value(factor: str, least: int) -> int | None:
    """A lower bound of an operation, 0 or 1; ``None`` if it may be negative."""
    name, left, right = _applied(factor)
    low = [_plainly_nonnegative(operand, least) for operand in (left, right)]
    high = [_plainly_nonnegative(dims.sub(operand, 1), least) for operand in (left, right)]
    match name:
        case "floordiv" if low[0] and high[1]:
            return int(_plainly_nonnegative(dims.sub(left, right), least))
        case "mod" if high[1]:
            return 0
        case "max" if any(low):
            return int(any(high))
        case "min" if all(low):
            return int(all(high))
    return None


def _divided(size: Size) -> Iterator[Size]:
    """The size without a symbol ``n``, where ``n + e = k * floordiv(n + e, k) + mod(n + e, k)``."""
    factors = dims.factors(size)
    for factor in factors:
        match dims.applied_to(factor):
            case (("floordiv" | "mod"), dividend, int(divisor)) if divisor > 0:
                whole = dims.mul(divisor, dims.operation("floordiv", dividend, divisor))
                parts = dims.add(whole, dims.operation("mod", dividend, divisor))
                for symbol in dims.factors(dividend) & factors:
                    rest = dims.sub(dividend, symbol)
                    if dims.applied_to(symbol) is None and symbol not in dims.factors(rest):
                        equal = dims.sub(parts, rest)
                        yield dims.substitute(size, {**{each: each for each in factors}, symbol: equal})


def _chosen(size: Size) -> Iterator[Size]:
    """Sizes that are no greater: an operand of a maximum that is added, of a minimum that is subtracted."""
    factors = dims.factors(size)
    for factor in factors:
        applied = dims.applied_to(factor)
        (monomial, coefficient), *others = [t for t in dims.polynomial(size).items() if factor in t[0]]
        name = "max" if coefficient > 0 else "min"
        if applied and applied[0] == name and monomial == (factor,) and not others:
            for operand in applied[1:]:
                yield dims.substitute(size, {**{each: each for each in factors}, factor: operand})
