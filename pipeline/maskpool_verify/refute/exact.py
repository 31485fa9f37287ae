"""Programs over exact real arithmetic: one more arithmetic of :mod:`maskpool_verify.evaluate`.

Entries of float arrays are reals (see :mod:`~maskpool_verify.refute.interval`), entries of integer arrays are
Python ints, which do not overflow, and bool arrays are NumPy's. Where an operation has no real value, there
are two readings:

* As IEEE 754 does it, without rounding: ``1 / 0`` and ``log(0)`` are infinite, ``0 / 0`` is NaN. This is what
  a compiled kernel would compute if it did not round.
* As the theorems do it: division by zero, the logarithm of zero, an infinite literal have *some* real value.
  A :class:`Choice` fixes these values, and the laws of ``RealArith`` hold for any choice. A property that
  fails for one choice is not provable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.program import ArrayType, BoolLiteral, InfinityLiteral, IntLiteral, Literals, NanLiteral
from maskpool_verify.refute import functions
from maskpool_verify.refute.interval import Interval, Real, Reals, Undecided

Array: TypeAlias = NDArray[Any]


class Special(Enum):
    """What IEEE 754 has besides numbers."""

    INFINITY = "inf"
    MINUS_INFINITY = "-inf"
    NAN = "nan"


INFINITY, MINUS_INFINITY, NAN = Special.INFINITY, Special.MINUS_INFINITY, Special.NAN

Entry: TypeAlias = Fraction | Interval | Special
"""An entry of a float array."""


@dataclass(frozen=True)
class Choice:
    """The value of ``x / 0`` and of functions outside of their domain, and that of an infinite literal."""

    undefined: Fraction
    infinity: Fraction


CHOICES: tuple[Choice, ...] = tuple(
    Choice(Fraction(undefined), Fraction(infinity)) for undefined, infinity in ((1, 1), (-2, 5), (0, 0))
)

ZERO, ONE = Fraction(0), Fraction(1)

_LIMITS: dict[str, tuple[Entry, Entry]] = {
    "exp": (ZERO, INFINITY),
    "exp2": (ZERO, INFINITY),
    "expm1": (-ONE, INFINITY),
    "tanh": (-ONE, ONE),
    "logistic": (ZERO, ONE),
    "erf": (-ONE, ONE),
    "erfc": (Fraction(2), ZERO),
    "sinh": (MINUS_INFINITY, INFINITY),
    "cosh": (INFINITY, INFINITY),
    "asinh": (MINUS_INFINITY, INFINITY),
    "cbrt": (MINUS_INFINITY, INFINITY),
    "sin": (NAN, NAN),
    "cos": (NAN, NAN),
    "tan": (NAN, NAN),
    "atan": (NAN, NAN),
}
"""The values at minus infinity and infinity."""


class Exact:
    """Exact arithmetic with ``bits`` bits; ``choice`` says which reading, ``None`` is IEEE 754.

    :attr:`partial` tells whether the reading has mattered so far. Raises :class:`Undecided` where more bits
    are needed, or where a primitive has no exact counterpart.
    """

    def __init__(self, bits: int, choice: Choice | None = None) -> None:
        self.reals = Reals(bits)
        self.choice = choice
        self.partial = False
        self._known: dict[tuple[str, Real], Entry] = {}
        """Values of functions, so that the same number is the same object."""

    # -- the interface of the evaluator

    def literal(self, literal: Literals) -> Array:
        match literal:
            case BoolLiteral():
                return np.asarray(literal.value)
            case IntLiteral():
                return array([literal.value], ())
            case InfinityLiteral():
                return array([self._infinite(literal.is_negative)], ())
            case NanLiteral():
                return array([self._undefined(NAN)], ())
        return array([literal.value.fraction()], ())

    def cast(self, value: Array, target: ArrayType) -> Array:
        if target.dtype == "bool":
            return self._map(lambda x: bool(self._compare("ne", x, ZERO)), value, bool)
        if target.is_float:
            return self._map(lambda x: x if isinstance(x, Entry) else Fraction(int(x)), value)
        return self._map(int, value)

    def elementwise(self, primitive: str, operands: Sequence[Array]) -> Array:
        if primitive == "select_n":
            which, no, yes = operands
            return np.where(which, yes, no)
        if primitive in _CONNECTIVES:
            connected: Array = np.asarray(_CONNECTIVES[primitive](*operands))
            return connected
        scalar = self.scalar(primitive)
        truth = bool if primitive in ("lt", "le", "gt", "ge", "eq", "ne", "is_finite") else object
        return self._map(scalar, *operands, truth)

    def reduce(self, primitive: str, value: Array, axes: tuple[int, ...]) -> Array:
        if primitive in ("reduce_or", "reduce_and"):
            return np.asarray((np.any if primitive == "reduce_or" else np.all)(value, axis=axes))
        combine = self.scalar(_STEPS[primitive])
        kept = [axis for axis in range(value.ndim) if axis not in axes]
        shape = tuple(value.shape[axis] for axis in kept)
        rows = value.transpose([*kept, *axes]).reshape(int(np.prod(shape)), -1)
        return array([reduce(combine, row) for row in rows], shape)

    def cumulate(self, primitive: str, value: Array, axis: int) -> Array:
        combine = self.scalar(_STEPS[primitive])
        lines = np.moveaxis(value, axis, -1)
        entries = [
            entry for line in lines.reshape(-1, value.shape[axis]) for entry in accumulate(line, combine)
        ]
        return np.moveaxis(array(entries, lines.shape), -1, axis)

    def dot(self, left: Array, right: Array, dimension_numbers: Any) -> Array:
        (left_sum, right_sum), (left_batch, right_batch) = dimension_numbers
        mul, add = self.scalar("mul"), self.scalar("add")
        x, left_free = _grouped(left, left_batch, left_sum)
        y, right_free = _grouped(right, right_batch, right_sum)
        entries = [
            reduce(add, [mul(a, b) for a, b in zip(row, column, strict=True)])
            for rows, columns in zip(x, y, strict=True)
            for row in rows
            for column in columns
        ]
        return array(entries, (*(left.shape[axis] for axis in left_batch), *left_free, *right_free))

    # -- scalars

    def _map(self, function: Callable[..., Any], *arguments: Any) -> Array:
        """Apply a function entry by entry; the last argument may be the dtype of the result."""
        dtype = object
        if isinstance(arguments[-1], type):
            *arguments, dtype = arguments  # type: ignore[assignment]
        broadcast = np.broadcast_arrays(*arguments)
        entries = [function(*entry) for entry in zip(*(each.flat for each in broadcast), strict=True)]
        return array(entries, broadcast[0].shape, dtype)

    def scalar(self, primitive: str) -> Callable[..., Any]:
        """A primitive on single entries; ints where it is one of integers.

        Raises:
            Undecided: it has no exact counterpart.
        """
        if primitive in _COMPARISONS:
            return lambda x, y: self._compare(primitive, x, y)
        method = getattr(self, f"_{primitive}", None)
        if method is not None:
            found: Callable[..., Any] = method
            return found
        if primitive in functions.FUNCTIONS:
            return lambda x: self._function(primitive, x)
        raise Undecided(f'the primitive "{primitive}", which has no exact counterpart here')

    def _undefined(self, ieee: Special) -> Entry:
        self.partial = True
        return ieee if self.choice is None else self.choice.undefined

    def _infinite(self, negative: bool) -> Entry:
        """An infinite literal."""
        self.partial = True
        if self.choice is None:
            return MINUS_INFINITY if negative else INFINITY
        return -self.choice.infinity if negative else self.choice.infinity

    def _function(self, name: str, x: Entry) -> Entry:
        if isinstance(x, Special):
            if name == "atan" and x is not NAN:
                return self.reals.mul(Fraction(1 if x is INFINITY else -1, 2), functions.pi(self.reals.bits))
            return NAN if x is NAN else _LIMITS[name][x is INFINITY]
        return self._memo(name, x)

    def _sign(self, x: Any) -> Any:
        """The sign as a number of the same kind; not of NaN."""
        if isinstance(x, int):
            return (x > 0) - (x < 0)
        if isinstance(x, Special):
            return {INFINITY: ONE, MINUS_INFINITY: -ONE, NAN: NAN}[x]
        return Fraction(self.reals.sign(x))

    def _neg(self, x: Any) -> Any:
        if isinstance(x, int):
            return -x
        if isinstance(x, Special):
            return {INFINITY: MINUS_INFINITY, MINUS_INFINITY: INFINITY, NAN: NAN}[x]
        return self.reals.neg(x)

    def _add(self, x: Any, y: Any) -> Any:
        if isinstance(x, int):
            return x + y
        if isinstance(x, Special) or isinstance(y, Special):
            specials = {each for each in (x, y) if isinstance(each, Special)}
            return specials.pop() if len(specials) == 1 else NAN
        return self.reals.add(x, y)

    def _sub(self, x: Any, y: Any) -> Any:
        if isinstance(x, Interval) and x is y:
            return ZERO
        return self._add(x, self._neg(y))

    def _mul(self, x: Any, y: Any) -> Any:
        if isinstance(x, int):
            return x * y
        if isinstance(x, Special) or isinstance(y, Special):
            return _signed(NAN if x is NAN or y is NAN else self._sign(x) * self._sign(y))
        return self.reals.mul(x, y)

    def _div(self, x: Any, y: Any) -> Any:
        if isinstance(x, int):
            self.partial |= y == 0
            return -1 if y == 0 else (-1 if (x < 0) != (y < 0) else 1) * (abs(x) // abs(y))
        if isinstance(y, Special):
            return NAN if isinstance(x, Special) or y is NAN else ZERO
        if self.reals.sign(y) == 0:
            return self._undefined(NAN if x is NAN else _signed(self._sign(x)))
        if isinstance(x, Special):
            return _signed(NAN if x is NAN else self._sign(x) * self._sign(y))
        return self.reals.div(x, y)

    def _max(self, x: Any, y: Any) -> Any:
        if isinstance(x, int):
            return max(x, y)
        if x is NAN or y is NAN:
            return NAN
        if isinstance(x, Special) or isinstance(y, Special):
            if INFINITY in (x, y):
                return INFINITY
            return y if x is MINUS_INFINITY else x
        return self.reals.max(x, y)

    def _min(self, x: Any, y: Any) -> Any:
        return self._neg(self._max(self._neg(x), self._neg(y)))

    def _clamp(self, low: Any, x: Any, high: Any) -> Any:
        return self._min(self._max(low, x), high)

    def _abs(self, x: Any) -> Any:
        if isinstance(x, int):
            return abs(x)
        if isinstance(x, Special):
            return NAN if x is NAN else INFINITY
        return self.reals.abs(x)

    def _floor(self, x: Any) -> Any:
        return x if isinstance(x, Special) else self.reals.floor(x)

    def _ceil(self, x: Any) -> Any:
        return self._neg(self._floor(self._neg(x)))

    def _square(self, x: Any) -> Any:
        return self.integer_pow(x, 2)

    def integer_pow(self, x: Any, exponent: int) -> Any:
        """``x ** exponent``."""
        if isinstance(x, int):
            if exponent < 0:
                raise Undecided("a negative power of an integer")
            return x**exponent
        if exponent < 0:
            return self._div(ONE, self.integer_pow(x, -exponent))
        if isinstance(x, Special):
            return ONE if exponent == 0 else reduce(self._mul, [x] * exponent)
        return self.reals.power(x, exponent)

    def _on_domain(self, name: str, x: Entry, above: Fraction, at_bound: Special, closed: bool) -> Entry:
        """A function that is defined for numbers above a bound, or from it on."""
        if isinstance(x, Special):
            return self._undefined(NAN) if x is MINUS_INFINITY else x
        order = self.reals.compare(x, above)
        if order < 0 or (order == 0 and not closed):
            return self._undefined(NAN if order else at_bound)
        return self._memo(name, x)

    def _log(self, x: Any) -> Any:
        return self._on_domain("log", x, ZERO, MINUS_INFINITY, closed=False)

    def _log1p(self, x: Any) -> Any:
        return self._on_domain("log1p", x, -ONE, MINUS_INFINITY, closed=False)

    def _sqrt(self, x: Any) -> Any:
        return self._on_domain("sqrt", x, ZERO, NAN, closed=True)

    def _rsqrt(self, x: Any) -> Any:
        return ZERO if x is INFINITY else self._on_domain("rsqrt", x, ZERO, INFINITY, closed=False)

    def _asin(self, x: Any) -> Any:
        return self._between("asin", x, closed=True)

    def _acos(self, x: Any) -> Any:
        return self._between("acos", x, closed=True)

    def _atanh(self, x: Any) -> Any:
        return self._between("atanh", x, closed=False)

    def _acosh(self, x: Any) -> Any:
        return self._on_domain("acosh", x, ONE, NAN, closed=True)

    def _between(self, name: str, x: Entry, closed: bool) -> Entry:
        """A function that is defined from -1 to 1."""
        if isinstance(x, Special):
            return self._undefined(NAN)
        order = self.reals.compare(self.reals.abs(x), ONE)
        if order > 0 or (order == 0 and not closed):
            return self._undefined(NAN if order else _signed(Fraction(self.reals.sign(x))))
        return self._memo(name, x)

    def _memo(self, name: str, x: Real) -> Entry:
        if (name, x) not in self._known:
            self._known[name, x] = getattr(functions, name)(self.reals, x)
        return self._known[name, x]

    def _is_finite(self, x: Any) -> bool:
        return not isinstance(x, Special)

    def _compare(self, name: str, x: Any, y: Any) -> bool:
        if isinstance(x, int | np.bool_) and not isinstance(y, Special | Interval):
            return _COMPARISONS[name]((x > y) - (x < y) if not isinstance(x, np.bool_) else int(x) - int(y))
        if x is NAN or y is NAN:
            return name == "ne"
        if isinstance(x, Special) or isinstance(y, Special):
            ranks = [{INFINITY: 1, MINUS_INFINITY: -1}.get(each, 0) for each in (x, y)]
            return _COMPARISONS[name](ranks[0] - ranks[1])
        return _COMPARISONS[name](self.reals.compare(x, y))


_COMPARISONS: dict[str, Callable[[int], bool]] = {
    "lt": lambda order: order < 0,
    "le": lambda order: order <= 0,
    "gt": lambda order: order > 0,
    "ge": lambda order: order >= 0,
    "eq": lambda order: order == 0,
    "ne": lambda order: order != 0,
}
_CONNECTIVES: dict[str, Callable[..., Any]] = {
    "not": np.logical_not,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}
_STEPS = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "max",
    "reduce_min": "min",
    "cumsum": "add",
    "cumprod": "mul",
    "cummax": "max",
    "cummin": "min",
}


def _signed(sign: Fraction | Special) -> Special:
    """The infinity of a sign; NaN for zero or NaN."""
    if isinstance(sign, Special) or sign == 0:
        return NAN
    return INFINITY if sign > 0 else MINUS_INFINITY


def array(entries: Sequence[Any], shape: tuple[int, ...], dtype: Any = object) -> Array:
    """An array of these entries."""
    found = np.empty(len(entries), dtype)
    found[:] = entries
    return found.reshape(shape)


def _grouped(value: Array, batch: Sequence[int], summed: Sequence[int]) -> tuple[Array, tuple[int, ...]]:
    """The axes in three groups (batch, free, summed), each made one; and the sizes of the free ones."""
    free = [axis for axis in range(value.ndim) if axis not in (*batch, *summed)]
    sizes = [int(np.prod([value.shape[axis] for axis in group])) for group in (batch, free, summed)]
    return value.transpose([*batch, *free, *summed]).reshape(sizes), tuple(value.shape[a] for a in free)


def is_same(reals: Reals, x: Any, y: Any) -> bool | None:
    """Whether two entries are the same; ``None`` if the intervals do not tell."""
    if x is y:
        return True
    if isinstance(x, Special) or isinstance(y, Special):
        return False
    if isinstance(x, Interval) or isinstance(y, Interval):
        return False if reals.apart(x, y) else None
    return bool(x == y)
