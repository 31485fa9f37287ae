"""Masked attention pooling by its definition: what ``spec = "attention"`` asks for."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.manifest import ArgumentSpec, Kernel
from maskpool_verify.refute import functions
from maskpool_verify.refute.cases import Run, selection_axes, valid_rows
from maskpool_verify.refute.exact import array
from maskpool_verify.refute.interval import Real, Reals

Array: TypeAlias = NDArray[Any]


def result_shape(kernel: Kernel, run: Run) -> tuple[int, ...]:
    """The shape of the pooled array."""
    return tuple(run.sizes[axis] if isinstance(axis, str) else axis for axis in kernel.result_axes)


def bags(kernel: Kernel, run: Run) -> Iterator[tuple[Array, Array]]:
    """For each entry of the result, the logits and the features of the rows that count."""
    features = kernel.features
    logits = kernel.argument("logits")
    assert logits is not None
    valid = valid_rows(kernel, run)

    def rows(axes: tuple[str | int, ...], value: Array, index: tuple[int, ...]) -> Array:
        coordinates = dict(zip(kernel.result_axes, index, strict=True))
        literal = (at for axis, at in zip(kernel.result_axes, index, strict=True) if isinstance(axis, int))
        return value[
            tuple(
                slice(None)
                if axis == kernel.rows
                else next(literal)
                if isinstance(axis, int)
                else coordinates[axis]
                for axis in axes
            )
        ]

    def of(spec: ArgumentSpec) -> Array:
        return run.inputs[kernel.arguments.index(spec)]

    for index in np.ndindex(result_shape(kernel, run)):
        kept = rows(selection_axes(kernel), valid, index)
        yield rows(logits.shape, of(logits), index)[kept], rows(features.shape, of(features), index)[kept]


def empty_bags(kernel: Kernel, run: Run) -> Array:
    """Which entries of the result are of a bag of which no row counts."""
    valid, axes = valid_rows(kernel, run), selection_axes(kernel)
    found = np.empty(result_shape(kernel, run), bool)
    for index in np.ndindex(found.shape):
        at: dict[Any, Any] = dict(zip(kernel.result_axes, index, strict=True)) | {kernel.rows: slice(None)}
        found[index] = not np.any(valid[tuple(at[axis] for axis in axes)])
    return found


def pool(kernel: Kernel, run: Run, reals: Reals) -> Array:
    """The exact result; zero where no row counts.

    The weights are divided by that of the first row, so that equal logits give fractions.
    """
    entries: list[Real] = []
    for logits, features in bags(kernel, run):
        if not len(logits):
            entries.append(Fraction(0))
            continue
        weights = [functions.exp(reals, reals.sub(each, logits[0])) for each in logits]
        weighted = [reals.mul(weight, x) for weight, x in zip(weights, features, strict=True)]
        entries.append(reals.div(reduce(reals.add, weighted), reduce(reals.add, weights)))
    return array(entries, result_shape(kernel, run))


def pool_float64(kernel: Kernel, run: Run) -> Array:
    """The same, rounded."""
    entries: list[float] = []
    for logits, features in bags(kernel, run):
        if not len(logits):
            entries.append(0.0)
            continue
        weights = np.exp(logits.astype(np.float64) - float(logits.max()))
        entries.append(float(weights @ features.astype(np.float64) / weights.sum()))
    return np.asarray(entries).reshape(result_shape(kernel, run))
