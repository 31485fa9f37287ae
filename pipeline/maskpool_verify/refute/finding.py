"""From a case to a counterexample: exact results, JAX's results, the broken equation, and a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from maskpool_verify.manifest import Kernel
from maskpool_verify.refute import decimals
from maskpool_verify.refute.cases import Case, Run
from maskpool_verify.refute.counterexample import Counterexample, Evidence, Input, RunReport, Values
from maskpool_verify.refute.exact import Special
from maskpool_verify.refute.explain import first_broken, undefined_at
from maskpool_verify.refute.proof import Difference
from maskpool_verify.refute.search import apart, expected_float64
from maskpool_verify.refute.subject import Subject

Array: TypeAlias = NDArray[Any]

ROUNDING, FINE = 1e-6, 1e-12
"""Relative differences of two results of JAX in float64 that rounding does not explain: of any kernel, and of
one whose exact results differ on small rational inputs.
"""


def values(entries: Array) -> Values:
    """An array as text."""
    array = np.asarray(entries)
    return Values(shape=array.shape, entries=tuple(decimals.text(entry) for entry in array.ravel().tolist()))


def tolerance(dtype: str) -> float:
    """The same for a dtype: half of its digits."""
    epsilon = float(jax.numpy.finfo(dtype).eps)  # type: ignore[no-untyped-call]
    return max(ROUNDING, math.sqrt(epsilon))


def float_dtype(kernel: Kernel) -> str:
    """The float dtype of the manifest."""
    return next(argument.dtype for argument in kernel.arguments if argument.is_float)


def run_report(
    kernel: Kernel, run: Run, result: Array | None, jax_: Array | None, jax64: Array | None
) -> RunReport:
    """One run as data."""
    return RunReport(
        sizes=run.sizes,
        inputs=tuple(
            Input(name=spec.name, role=spec.role, row_axis=axis, values=values(value))
            for spec, value, axis in zip(kernel.arguments, run.inputs, kernel.row_axes, strict=True)
        ),
        result=None if result is None else values(result),
        jax=None if jax_ is None else values(jax_),
        jax_float64=None if jax64 is None else values(jax64),
    )


def counterexample(subject: Subject, case: Case, difference: Difference | None) -> Counterexample:
    """All about a case that fails; ``difference`` is its proof, ``None`` if JAX alone shows it."""
    kernel = subject.kernel
    evidence: Evidence = "observed" if difference is None else "proved"
    dtype = float_dtype(kernel)
    runs = [run for run in (case.left, case.right) if run is not None]
    native = [subject.jax(run, in_float64=False) for run in runs]
    double = [subject.jax(run, in_float64=True) for run in runs]
    exact: Sequence[Array | None] = (
        [None, None] if difference is None else [difference.left, difference.right]
    )
    reports = [
        run_report(kernel, run, result, jax_, jax64)
        for run, result, jax_, jax64 in zip(runs, exact, native, double, strict=False)
    ]
    expected: Array | None = None
    if case.right is None:
        shown = next((array for array in (*double, *native) if array is not None), None)
        if difference is not None:
            expected = difference.right
        elif shown is not None:
            expected = expected_float64(subject, case, shown)
    # A proved difference need not be a large one.
    rounding = ROUNDING if difference is None else FINE
    confirmed = _breaks(subject, case, native, tolerance(dtype)) or _breaks(subject, case, double, rounding)
    rows = _rows(kernel, case)
    undefined = broken = None
    if difference is not None:
        for run, result in zip(runs, (difference.left, difference.right), strict=False):
            if undefined is None and any(isinstance(entry, Special) for entry in result.flat):
                undefined = undefined_at(subject, run, difference.bits)
        broken = None if undefined and case.right is None else first_broken(subject, case, difference.bits)
    return Counterexample(
        property=case.claim,
        evidence=evidence,
        rows_symbol=kernel.rows,
        dtype=dtype,
        left=reports[0],
        right=reports[1] if case.right is not None else None,
        expected=None if expected is None else values(expected),
        orders=()
        if case.orders is None
        else tuple(tuple(order) for order in case.orders.reshape(-1, case.orders.shape[-1]).tolist()),
        rows=rows,
        undefined=undefined,
        broken=broken,
        confirmed_by_jax=confirmed,
        sentence=_sentence(case, rows),
    )


def _breaks(subject: Subject, case: Case, results: Sequence[Array | None], allowed: float) -> bool:
    """Whether results of JAX contradict the property."""
    left = results[0]
    if left is None:
        return False
    right = results[1] if case.right is not None else expected_float64(subject, case, left)
    return right is not None and apart(left, right, allowed)


def _rows(kernel: Kernel, case: Case) -> tuple[int, ...]:
    """The rows of the right run that are new or changed."""
    if case.right is None or case.claim == "permutation":
        return ()
    before, after = case.left.sizes[kernel.rows], case.right.sizes[kernel.rows]
    if case.claim == "padding":
        return tuple(range(before, after))
    changed = set()
    for old, new, axis in zip(case.left.inputs, case.right.inputs, kernel.row_axes, strict=True):
        if axis is not None:
            changed |= {index[axis] for index in np.ndindex(old.shape) if old[index] != new[index]}
    return tuple(sorted(changed))


def _sentence(case: Case, rows: Sequence[int]) -> str:
    named = f"row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows))}"
    match case.claim:
        case "permutation":
            return "Another order of the rows changes the result."
        case "padding":
            masked = "which are masked, change" if len(rows) > 1 else "which is masked, changes"
            return f"The new {named}, {masked} the result."
        case "masked_irrelevance":
            masked = (
                "are masked, and their values change" if len(rows) > 1 else "is masked, and its values change"
            )
            return f"The {named} {masked} the result."
        case "all_masked":
            return "No row of the bag counts, and its result is not zero."
    return "The result is not masked attention pooling."
