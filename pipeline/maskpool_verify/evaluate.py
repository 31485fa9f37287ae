"""Run an imported program with NumPy, and compare it with JAX.

The evaluator shares no code with the importer or with JAX's interpreter, so that an error of the import shows
up as a difference in the numbers. It is a test, not a proof: the proofs are about the program that passes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from maskpool_verify.errors import TraceError
from maskpool_verify.program import (
    ArrayType,
    BoolLiteral,
    BoolReduce,
    BroadcastInDim,
    ConvertElementType,
    DotGeneral,
    Equation,
    FloatReduce,
    Operand,
    Program,
    RealLiteral,
    Reshape,
    Squeeze,
    Transpose,
    Var,
)

Array: TypeAlias = NDArray[Any]

_ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "neg": np.negative,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "logistic": lambda x: np.reciprocal(1 + np.exp(-x)),
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
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
    "select_n": lambda which, x, y: np.where(which, y, x),
}

_REDUCTIONS: Mapping[str, Callable[..., Any]] = {
    "reduce_sum": np.sum,
    "reduce_max": np.max,
    "reduce_or": np.any,
    "reduce_and": np.all,
}


def evaluate(program: Program, inputs: Sequence[Array], *, in_float64: bool = False) -> list[Array]:
    """The values of all variables, by number: first ``inputs``, then the result of every equation.

    Computes in the dtypes of the program, or with every float dtype replaced by float64. ``ValueError`` if
    the inputs do not have the shapes and dtypes of the arguments.
    """
    if len(inputs) != len(program.arguments):
        raise ValueError(f"{len(inputs)} inputs for {len(program.arguments)} arguments")
    values: list[Array] = []
    for value, argument in zip(inputs, program.arguments, strict=True):
        array = np.asarray(value)
        if array.shape != argument.shape or str(array.dtype) != argument.dtype:
            raise ValueError(f"{argument.name}: {array.dtype}{array.shape} is not of type {argument.type}")
        values.append(array.astype(_dtype(argument.type, in_float64)))
    with np.errstate(all="ignore"):
        for equation in program.equations:
            values.append(_apply(equation, values, in_float64))
    return values


def result(program: Program, values: Sequence[Array]) -> Array:
    """The value that the program returns, given the values of all variables."""
    dtype = _dtype(program.type, False)
    return _read(program.result, values, False).astype(dtype)


def agree_with_jax(program: Program, function: Callable[..., Any], seed: int) -> None:
    """Compare the program with ``function`` compiled by JAX for the CPU; :class:`TraceError` if they differ.

    The inputs are random, with masks that keep all rows, no row and some rows, with large logits, and with
    NaN in the masked rows. NaN must occur at the same places. Values must agree in half of the digits of the
    dtype: rounding costs a kernel of ordinary size far less, and a wrong program is wrong in the leading
    digits of some random input.
    """
    x64 = any(kind.dtype == "float64" for kind in program.variable_types())
    tolerance = float(jax.numpy.finfo(program.type.dtype).eps) ** 0.5  # type: ignore[no-untyped-call]
    with jax.enable_x64(x64), jax.default_device(jax.devices("cpu")[0]):
        compiled = jax.jit(function)
        for case, inputs in _cases(program, seed):
            expected = np.asarray(compiled(*inputs)).astype(np.float64)
            found = result(program, evaluate(program, inputs)).astype(np.float64)
            finite = np.abs(expected[np.isfinite(expected)])
            bound = tolerance * (1 + finite.max(initial=0.0))
            if expected.shape != found.shape:
                difference = f"the shape {found.shape} is not {expected.shape}"
            else:
                agree = np.isclose(found, expected, rtol=0, atol=bound, equal_nan=True)
                if agree.all():
                    continue
                index = tuple(int(i) for i in np.argwhere(~agree)[0])
                difference = f"the value {found[index]} at index {index} is not {expected[index]}"
            raise TraceError(
                f'Kernel "{program.kernel}": the imported program and JAX {program.jax_version} disagree '
                f"with {case} (seed {seed}): {difference}; either the kernel is not a pure function, "
                "or this is a defect of the import to report."
            )


def _cases(program: Program, seed: int) -> Iterator[tuple[str, list[Array]]]:
    """Descriptions and inputs; random numbers are standard normal, large logits about to overflow ``exp``."""
    random = np.random.default_rng(seed)
    rows = next(argument.shape[0] for argument in program.arguments if argument.role == "mask")
    some = random.permutation(np.arange(rows) % 2 == 0)
    masks = [
        ("no row masked", np.ones(rows, bool)),
        ("all rows masked", np.zeros(rows, bool)),
        ("some rows masked", some),
        ("other rows masked", random.random(rows) < random.random()),
        ("large logits", some),
        ("NaN in masked rows", some),
        ("NaN everywhere and all rows masked", np.zeros(rows, bool)),
    ]
    for case, mask in masks:
        inputs: list[Array] = []
        for argument in program.arguments:
            value = mask if argument.role == "mask" else random.standard_normal(argument.shape)
            if case.startswith("NaN") and argument.role in ("features", "logits"):
                value[~mask] = np.nan
            if case == "large logits" and argument.role == "logits":
                # Not large negative ones: XLA flushes subnormal results of `exp` to zero, NumPy does not.
                value = np.abs(value) * np.log(float(jax.numpy.finfo(argument.dtype).max))  # type: ignore[no-untyped-call]
            inputs.append(np.asarray(value).astype(_dtype(argument.type, False)))
        yield case, inputs


def _dtype(kind: ArrayType, in_float64: bool) -> np.dtype[Any]:
    """The NumPy dtype to compute in; JAX brings bfloat16 to NumPy."""
    dtype: np.dtype[Any] = jax.numpy.dtype("float64" if in_float64 and kind.is_float else kind.dtype)
    return dtype


def _read(operand: Operand, values: Sequence[Array], in_float64: bool) -> Array:
    """The value of an operand; a float literal as a scalar of its dtype."""
    match operand:
        case Var():
            return values[operand.index]
        case RealLiteral():
            dtype = _dtype(ArrayType(dtype=operand.dtype, shape=()), in_float64)
            return np.asarray(float(operand.value.fraction())).astype(dtype)
        case BoolLiteral():
            return np.asarray(operand.value)


def _apply(equation: Equation, values: Sequence[Array], in_float64: bool) -> Array:
    dtype = _dtype(equation.result, in_float64)
    operands = [_read(operand, values, in_float64) for operand in equation.operands]
    match equation:
        case BroadcastInDim():
            value = _broadcast(operands[0], equation.shape, equation.broadcast_dimensions)
        case Reshape():
            value = operands[0].reshape(equation.new_sizes)
        case Squeeze():
            value = operands[0].squeeze(equation.dimensions)
        case Transpose():
            value = operands[0].transpose(equation.permutation)
        case ConvertElementType():
            value = operands[0]
        case DotGeneral():
            value = _dot_general(
                _accumulated(operands[0]), _accumulated(operands[1]), equation.dimension_numbers
            )
        case FloatReduce() | BoolReduce():
            value = _REDUCTIONS[equation.primitive](_accumulated(operands[0]), axis=equation.axes)
        case _:
            value = _ELEMENTWISE[equation.primitive](*operands)
    return np.asarray(value).astype(dtype)


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
