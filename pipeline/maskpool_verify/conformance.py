"""Compare an imported program with the kernel that JAX compiles, on inputs that tell mistakes apart.

It is a test, not a proof: the proofs are about the program that passes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from maskpool_verify.dims import assigned
from maskpool_verify.errors import TraceError
from maskpool_verify.evaluate import evaluate, result
from maskpool_verify.program import Argument, Program

Array: TypeAlias = NDArray[Any]

RowAxes: TypeAlias = Sequence[int | None]
"""For each argument the number of its row axis."""


def agree_with_jax(program: Program, row_axes: RowAxes, function: Callable[..., Any], seed: int) -> None:
    """Compare the program with ``function`` compiled by JAX for the CPU; :class:`TraceError` if they differ.

    The inputs are random, with masks that keep all rows, no row and some rows, with large logits, and with
    NaN in the masked rows. NaN must occur at the same places. Values must agree in half of the digits of the
    dtype: rounding costs a kernel of ordinary size far less, and a wrong program is wrong in the leading
    digits of some random input.
    """
    x64 = any(kind.dtype.endswith("64") for kind in program.variable_types())
    tolerance = float(jax.numpy.finfo(program.type.dtype).eps) ** 0.5  # type: ignore[no-untyped-call]
    with jax.enable_x64(x64), jax.default_device(jax.devices("cpu")[0]):
        # XLA's simplifier makes a select of a product with a converted mask, which drops NaN in masked rows.
        compiled = jax.jit(function, compiler_options={"xla_disable_hlo_passes": "algsimp"})
        for case, inputs in _cases(program, row_axes, seed):
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
                f"at {assigned(program.shape)} with {case} (seed {seed}): {difference}; either the kernel is "
                "not a pure function, or this is a defect of the import to report."
            )


def _cases(program: Program, row_axes: RowAxes, seed: int) -> Iterator[tuple[str, list[Array]]]:
    """Descriptions and inputs; random numbers are standard normal, large logits about to overflow ``exp``."""
    random = np.random.default_rng(seed)
    shapes = [argument.shape for argument in program.arguments]
    rows = next(int(s[axis]) for s, axis in zip(shapes, row_axes, strict=True) if axis is not None)
    some = random.permutation(np.arange(rows) % 2 == 0)
    if any(argument.role == "length" for argument in program.arguments):
        some = np.arange(rows) < (rows + 1) // 2  # only such masks have a length
    masks = [
        ("no row masked", np.ones(rows, bool)),
        ("all rows masked", np.zeros(rows, bool)),
        ("some rows masked", some),
        ("other rows masked", None),
        ("large logits", some),
        ("NaN in masked rows", some),
        ("NaN everywhere and all rows masked", np.zeros(rows, bool)),
    ]
    for case, mask in masks:
        yield (
            case,
            [
                _input(argument, axis, rows, case, mask, random)
                for argument, axis in zip(program.arguments, row_axes, strict=True)
            ],
        )


def _input(
    argument: Argument,
    axis: int | None,
    rows: int,
    case: str,
    mask: Array | None,
    random: np.random.Generator,
) -> Array:
    """A value of one argument; ``mask`` is over the rows, and ``None`` for one that differs between bags."""
    dtype = jax.numpy.dtype(argument.dtype)
    shape = tuple(map(int, argument.shape))
    if argument.role == "length":
        return np.asarray(random.integers(0, rows + 1, shape) if mask is None else mask.sum()).astype(
            dtype
        ) + np.zeros(shape, dtype)
    kept = None
    if axis is not None:
        along = [-1 if number == axis else 1 for number in range(len(shape))]
        kept = np.broadcast_to(random.random(shape) < 0.5 if mask is None else mask.reshape(along), shape)
    if argument.role == "mask" and kept is not None:
        return kept.astype(dtype)
    if not argument.type.is_float:
        return random.integers(0, 2, shape).astype(dtype)
    value = random.standard_normal(shape)
    if case.startswith("NaN") and kept is not None:
        value[~kept] = np.nan
    if case == "large logits" and argument.role == "logits":
        # Not large negative ones: XLA flushes subnormal results of `exp` to zero, NumPy does not.
        value = np.abs(value) * np.log(float(jax.numpy.finfo(dtype).max))  # type: ignore[no-untyped-call]
    return value.astype(dtype)
