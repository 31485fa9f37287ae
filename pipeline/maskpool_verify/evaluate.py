"""Run an imported program, with NumPy or with another arithmetic.

The evaluator shares no code with the importer or with JAX's interpreter, so that an error of the import shows
up as a difference in the numbers. It is a test, not a proof: the proofs are about the program that passes it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from maskpool_verify.program import (
    ArrayType,
    BoolLiteral,
    BoolReduce,
    BroadcastInDim,
    Concatenate,
    ConvertElementType,
    Cumulate,
    DimAsValue,
    DotGeneral,
    Equation,
    InfinityLiteral,
    IntLiteral,
    Iota,
    Literals,
    NanLiteral,
    Operand,
    Program,
    Reduce,
    Reshape,
    Reverse,
    Size,
    Slice,
    Squeeze,
    Transpose,
    Var,
)

Array: TypeAlias = NDArray[Any]


class Arithmetic(Protocol):
    """How to compute with entries. Layouts are the same in every arithmetic."""

    def literal(self, literal: Literals) -> Array:
        """A literal, as an array of rank 0."""
        ...

    def cast(self, value: Array, target: ArrayType) -> Array:
        """What an equation gives, as a value of its type: the conversions of ``convert_element_type``.

        Coordinates and sizes come as NumPy's integers.
        """
        ...

    def elementwise(self, primitive: str, operands: Sequence[Array]) -> Array:
        """An elementwise primitive; scalars are broadcast."""
        ...

    def reduce(self, primitive: str, value: Array, axes: tuple[int, ...]) -> Array:
        """A reduction over ``axes``."""
        ...

    def cumulate(self, primitive: str, value: Array, axis: int) -> Array:
        """A cumulative reduction along ``axis``."""
        ...

    def dot(self, left: Array, right: Array, dimension_numbers: Any) -> Array:
        """``dot_general``."""
        ...


def _divide(left: Array, right: Array) -> Array:
    """Integers are truncated, and ``x / 0`` is -1."""
    if left.dtype.kind != "i":
        return np.asarray(np.divide(left, right))
    magnitude = np.abs(left) // np.maximum(np.abs(right), 1)
    return np.where(right == 0, -1, np.sign(left) * np.sign(right) * magnitude)


def _entrywise(function: Callable[[float], float]) -> Callable[[Array], Array]:
    def apply(value: Array) -> Array:
        results = [function(float(entry)) for entry in value.flat]
        return np.asarray(results, np.float64).reshape(value.shape)

    return apply


def _erf_inv(y: float) -> float:
    if not -1 < y < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    return statistics.NormalDist().inv_cdf((1 + y) / 2) / math.sqrt(2)


_ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "neg": np.negative,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "logistic": lambda x: np.reciprocal(1 + np.exp(-x)),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: np.reciprocal(np.sqrt(x)),
    "cbrt": np.cbrt,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "erf": _entrywise(math.erf),
    "erfc": _entrywise(math.erfc),
    "erf_inv": _entrywise(_erf_inv),
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "is_finite": np.isfinite,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _divide,
    "max": np.maximum,
    "min": np.minimum,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "not": np.logical_not,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "select_n": lambda which, x, y: np.where(which, y, x),
}

_REDUCTIONS: Mapping[str, Callable[..., Any]] = {
    "reduce_sum": np.sum,
    "reduce_prod": np.prod,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_or": np.any,
    "reduce_and": np.all,
}

_CUMULATIVE: Mapping[str, Callable[..., Any]] = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
}


@dataclass(frozen=True)
class NumPy:
    """NumPy's arithmetic in the dtypes of the program, or with float64 for every float dtype."""

    in_float64: bool = False

    def dtype(self, kind: ArrayType) -> np.dtype[Any]:
        """The NumPy dtype to compute in; JAX brings bfloat16 to NumPy."""
        dtype: np.dtype[Any] = jax.numpy.dtype("float64" if self.in_float64 and kind.is_float else kind.dtype)
        return dtype

    def literal(self, literal: Literals) -> Array:
        match literal:
            case BoolLiteral():
                return np.asarray(literal.value)
            case IntLiteral():
                value: float = literal.value
            case InfinityLiteral():
                value = -math.inf if literal.is_negative else math.inf
            case NanLiteral():
                value = math.nan
            case _:
                value = float(literal.value.fraction())
        return np.asarray(value).astype(self.dtype(ArrayType(dtype=literal.dtype, shape=())))

    def cast(self, value: Array, target: ArrayType) -> Array:
        return np.asarray(value).astype(self.dtype(target))

    def elementwise(self, primitive: str, operands: Sequence[Array]) -> Array:
        value: Array = _ELEMENTWISE[primitive](*operands)
        return value

    def reduce(self, primitive: str, value: Array, axes: tuple[int, ...]) -> Array:
        reduced: Array = _REDUCTIONS[primitive](_accumulated(value), axis=axes)
        return reduced

    def cumulate(self, primitive: str, value: Array, axis: int) -> Array:
        cumulated: Array = _CUMULATIVE[primitive](_accumulated(value), axis=axis)
        return cumulated

    def dot(self, left: Array, right: Array, dimension_numbers: Any) -> Array:
        return _dot_general(_accumulated(left), _accumulated(right), dimension_numbers)


def evaluate(program: Program, inputs: Sequence[Array], *, in_float64: bool = False) -> list[Array]:
    """The values of all variables, by number: first ``inputs``, then the result of every equation.

    Computes in the dtypes of the program, or with every float dtype replaced by float64. ``ValueError`` if
    the inputs do not have the shapes and dtypes of the arguments.
    """
    if len(inputs) != len(program.arguments):
        raise ValueError(f"{len(inputs)} inputs for {len(program.arguments)} arguments")
    arithmetic = NumPy(in_float64)
    values: list[Array] = []
    for value, argument in zip(inputs, program.arguments, strict=True):
        array = np.asarray(value)
        if array.shape != argument.shape or str(array.dtype) != argument.dtype:
            raise ValueError(f"{argument.name}: {array.dtype}{array.shape} is not of type {argument.type}")
        values.append(arithmetic.cast(array, argument.type))
    with np.errstate(all="ignore"):
        return run(program, values, arithmetic)


def run(program: Program, inputs: Sequence[Array], arithmetic: Arithmetic) -> list[Array]:
    """The values of all variables in any arithmetic; ``inputs`` are values of that arithmetic."""
    values = list(inputs)
    for equation in program.equations:
        values.append(apply(equation, values, arithmetic))
    return values


def result(program: Program, values: Sequence[Array]) -> Array:
    """The value that the program returns, given the values of all variables."""
    return returned(program, values, NumPy()).astype(NumPy().dtype(program.type))


def returned(program: Program, values: Sequence[Array], arithmetic: Arithmetic) -> Array:
    """The value that the program returns, in any arithmetic."""
    return _read(program.result, values, arithmetic)


def _read(operand: Operand, values: Sequence[Array], arithmetic: Arithmetic) -> Array:
    """The value of an operand; a literal as a scalar."""
    return values[operand.index] if isinstance(operand, Var) else arithmetic.literal(operand)


def apply(equation: Equation, values: Sequence[Array], arithmetic: Arithmetic) -> Array:
    """The value of one equation of a program at concrete sizes."""
    operands = [_read(operand, values, arithmetic) for operand in equation.operands]
    match equation:
        case BroadcastInDim():
            value = _broadcast(operands[0], _numbers(equation.shape), equation.broadcast_dimensions)
        case Reshape():
            value = operands[0].reshape(_numbers(equation.new_sizes))
        case Squeeze():
            value = operands[0].squeeze(equation.dimensions)
        case Transpose():
            value = operands[0].transpose(equation.permutation)
        case Slice():
            starts, limits = _numbers(equation.start_indices), _numbers(equation.limit_indices)
            value = operands[0][tuple(map(slice, starts, limits, equation.strides or (1,) * len(starts)))]
        case Reverse():
            value = np.flip(operands[0], equation.dimensions)
        case Concatenate():
            value = np.concatenate(operands, axis=equation.dimension)
        case Iota():
            shape = _numbers(equation.shape)
            value = _broadcast(np.arange(shape[equation.dimension]), shape, (equation.dimension,))
        case DimAsValue():
            value = np.asarray(int(equation.dim))
        case ConvertElementType():
            value = operands[0]
        case DotGeneral():
            value = arithmetic.dot(operands[0], operands[1], equation.dimension_numbers)
        case Reduce() | BoolReduce():
            value = arithmetic.reduce(equation.primitive, operands[0], equation.axes)
        case Cumulate():
            value = arithmetic.cumulate(equation.primitive, operands[0], equation.axis)
        case _:
            value = arithmetic.elementwise(equation.primitive, operands)
    return arithmetic.cast(value, equation.result)


def _numbers(shape: Sequence[Size]) -> tuple[int, ...]:
    """A shape without symbols; ``ValueError`` if it has some."""
    return tuple(map(int, shape))


def _accumulated(value: Array) -> Array:
    """Half precision is summed in single precision, as XLA does on the CPU."""
    return value.astype(np.float32) if value.dtype.itemsize == 2 else value


def _broadcast(value: Array, shape: tuple[int, ...], dimensions: tuple[int, ...]) -> Array:
    placed = [1] * len(shape)
    for size, dimension in zip(value.shape, dimensions, strict=True):
        placed[dimension] = size
    return np.broadcast_to(value.reshape(placed), shape)


def _dot_general(left: Array, right: Array, dimension_numbers: Any) -> Array:
    """By ``einsum``: one letter per axis, the same letter for axes that are contracted or matched."""
    (left_sum, right_sum), (left_batch, right_batch) = dimension_numbers
    left_axes = list(range(left.ndim))
    right_axes = list(range(left.ndim, left.ndim + right.ndim))
    for i, j in zip(left_sum + left_batch, right_sum + right_batch, strict=True):
        right_axes[j] = left_axes[i]
    free_left = [axis for axis in left_axes if axis not in (*left_sum, *left_batch)]
    free_right = [axis for j, axis in enumerate(right_axes) if j not in (*right_sum, *right_batch)]
    value: Array = np.einsum(left, left_axes, right, right_axes, [*left_batch, *free_left, *free_right])
    return value
