"""What two results of a kernel, or one result and what it has to be, have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.manifest import Kernel
from maskpool_verify.refute.cases import Run, masked_entries, reordered
from maskpool_verify.refute.pooling import empty_bags, pool_float64
from maskpool_verify.stress import ulps
from maskpool_verify.stress.cases import Case, Part, changed, has_empty_bag
from maskpool_verify.stress.running import Compiled

Array: TypeAlias = NDArray[Any]

Kind: TypeAlias = Literal["nan", "infinite", "different", "nonzero", "shape"]
"""How a property is broken: a NaN or an infinity on one side, other numbers, a number that has to be zero."""


@dataclass(frozen=True)
class Comparison:
    """Two arrays: ``of`` names the argument of a gradient, and is empty for the result.

    ``left`` is that of the first bag, ``right`` that of the second one or what is required. ``kind`` is
    ``None`` where the difference may be rounding. Then ``ulps`` is the largest one of an entry, in steps, and
    ``epsilons`` the largest one relative to the scale of :func:`compare`, in machine epsilons.
    """

    of: str
    left: Array
    right: Array
    kind: Kind | None
    bitwise: bool
    ulps: int = 0
    epsilons: float = 0.0


def compare(of: str, left: Array, right: Array, scale: float) -> Comparison:
    """Compare two arrays of one dtype.

    They are ``different`` if half of the digits of the format are lost, relative to ``scale`` or to the
    larger one of the entries; with the scale 0, ``nonzero`` if they are not the same numbers.
    """
    if left.shape != right.shape:
        return Comparison(of, left, right, "shape", False)
    x, y = left.astype(np.float64), right.astype(np.float64)
    kind: Kind | None = None
    with np.errstate(all="ignore"):
        larger = np.maximum(np.abs(x), np.abs(y))
        epsilon = float(ulps.finfo(str(left.dtype)).eps)
        relative = np.where(x == y, 0.0, np.abs(x - y) / np.maximum(scale, larger)) / epsilon
        allowed = epsilon**-0.5 if scale else 0.0
        if (np.isnan(x) != np.isnan(y)).any():
            kind = "nan"
        elif ((x != y) & ~np.isfinite(larger) & ~np.isnan(x)).any():
            kind = "infinite"
        elif (relative > allowed).any():
            kind = "different" if scale else "nonzero"
    bitwise = bool((ulps.bits(left) == ulps.bits(right)).all())
    if kind is not None:
        return Comparison(of, left, right, kind, bitwise)
    far = np.where(np.isnan(x), 0, ulps.distance(left, right))
    near = np.where(np.isnan(x), 0.0, relative).max(initial=0.0)
    return Comparison(of, left, right, None, bitwise, int(far.max(initial=0)), float(near))


def comparisons(compiled: Compiled, case: Case, part: Part) -> Iterator[Comparison]:
    """All that a property demands of a case: one comparison of results, or one for each gradient."""
    kernel = compiled.kernel
    other = changed(kernel, case)
    if part == "value":
        left = compiled.value(case.run)
        if case.property == "finite":
            if not (kernel.spec == "attention" and has_empty_bag(kernel, case.run)):
                yield _finite("", left)
            return
        scale = largest(kernel, case.run)
        if other is not None:
            yield compare("", left, compiled.value(other), scale)
        elif case.property == "specification":
            if has_empty_bag(kernel, case.run):  # what is required there is said by all_masked
                return
            yield compare("", left, pool_float64(kernel, case.run).astype(left.dtype), scale)
        elif left.shape == (empty := empty_bags(kernel, case.run)).shape:
            yield compare("", left, np.where(empty, np.zeros_like(left), left), 0.0)
        return
    if case.property == "permutation" and _tied(kernel, case.run):
        return
    here = compiled.gradient(case.run)
    there = here if other is None else compiled.gradient(other)
    for number, first, second in zip(compiled.differentiated, here, there, strict=True):
        left, right = first, second
        spec = kernel.arguments[number]
        masked = masked_entries(kernel, case.run, spec) if kernel.rows in spec.shape else np.array(False)
        if case.property == "finite":
            yield _finite(spec.name, np.where(masked, np.zeros_like(left), left))
        elif case.property == "masked_gradient":
            yield compare(spec.name, left, np.where(masked, np.zeros_like(left), left), 0.0)
        else:
            assert case.change is not None
            if kernel.rows in spec.shape and case.change.orders is not None:
                left = reordered(left, spec.shape, kernel, case.change.orders)
                masked = reordered(masked, spec.shape, kernel, case.change.orders)
            if kernel.rows in spec.shape and case.change.extra:
                rows = case.run.sizes[kernel.rows]
                right = np.take(right, range(rows), axis=spec.shape.index(kernel.rows))
            zero = np.zeros_like(left)
            scale = 1.0 if spec.role == "features" else largest(kernel, case.run)
            yield compare(spec.name, np.where(masked, zero, left), np.where(masked, zero, right), scale)


def broken(compiled: Compiled, case: Case, part: Part) -> Comparison | None:
    """The first comparison that breaks the property."""
    return next((found for found in comparisons(compiled, case, part) if found.kind), None)


def largest(kernel: Kernel, run: Run) -> float:
    """The largest magnitude of the features of rows that count, or 1."""
    found = 1.0
    for spec, value in zip(kernel.arguments, run.inputs, strict=True):
        if spec.role == "features":
            kept = np.abs(value[~masked_entries(kernel, run, spec)].astype(np.float64))
            found = max(found, float(kept.max(initial=0.0)))
    return found


def _tied(kernel: Kernel, run: Run) -> bool:
    """Whether two rows hold the same number: where a kernel takes one of both, its gradient is a choice."""
    for spec, value, axis in zip(kernel.arguments, run.inputs, kernel.row_axes, strict=True):
        if axis is not None and spec.role in ("features", "logits"):
            ordered = np.sort(value.astype(np.float64), axis=axis)
            if (np.diff(ordered, axis=axis) == 0).any():
                return True
    return False


def _finite(of: str, left: Array) -> Comparison:
    """An array that has to be finite; in the place of other entries, 0 stands for any finite number."""
    right = np.where(np.isfinite(left), left, np.zeros_like(left))
    return compare(of, left, right, 1.0)
