"""Where floating point goes another way than the reals: warnings, not refutations.

A property can hold over the reals and fail in a compiled kernel: a NaN in a masked row survives a product by
zero, weights underflow, a guard comes after the division. A few typical inputs are tried, with JAX, in the
dtypes of the manifest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.lean.properties import Property
from maskpool_verify.refute.cases import (
    Assignment,
    Layout,
    Run,
    masked_entries,
    properties,
    small_sizes,
)
from maskpool_verify.refute.counterexample import FloatWarning, Values
from maskpool_verify.refute.finding import float_dtype, run_report, tolerance, values
from maskpool_verify.refute.pooling import pool_float64
from maskpool_verify.refute.search import apart
from maskpool_verify.refute.subject import Subject, jax_inputs

Array: TypeAlias = NDArray[Any]

IN_MASKED_ROWS = (1e4, -1e4, float("inf"), float("nan"))
"""What masked rows may hold; of each argument, the first one that matters is reported."""
LOGITS = (-1e4, 1e4)
"""Common logits of all rows that count."""


@dataclass(frozen=True)
class _Probe:
    """Two inputs that differ in floating point, or one with the result that it has to have."""

    claim: Property
    case: str
    left: list[Array]
    right: list[Array] | None
    expected: Array | None
    group: str


def float_warnings(subject: Subject, refuted: Collection[Property] = ()) -> tuple[FloatWarning, ...]:
    """What is worth a warning; properties that are ``refuted`` anyway are left out."""
    run = _ordinary(subject)
    if run is None:
        return ()
    kernel, dtype = subject.kernel, float_dtype(subject.kernel)
    found: dict[str, FloatWarning] = {}
    for probe in _probes(subject, run):
        if probe.claim in refuted or probe.group in found:
            continue
        left = subject.call(probe.left, in_float64=False)
        right = probe.expected
        if probe.right is not None:
            right = subject.call(probe.right, in_float64=False)
            left, right = right, left
        if left is None or right is None or not apart(left, right, tolerance(dtype)):
            continue
        reports = [
            run_report(kernel, Run(run.sizes, tuple(inputs)), None, result, None)
            for inputs, result in ((probe.left, left if probe.right is None else right), (probe.right, left))
            if inputs is not None
        ]
        found[probe.group] = FloatWarning(
            property=probe.claim,
            case=probe.case,
            dtype=dtype,
            left=reports[0],
            right=reports[1] if probe.right is not None else None,
            found=values(left),
            expected=values(right),
            sentence=f"In {dtype}, with {probe.case}, JAX gives {_short(values(left))} where "
            f"{_short(values(right))} is right.",
        )
    return tuple(found.values())


def _short(shown: Values) -> str:
    """At most four entries."""
    more = ", ..." if len(shown.entries) > 4 else ""
    text = ", ".join(shown.entries[:4]) + more
    return f"[{text}]" if shown.shape else text


def _ordinary(subject: Subject) -> Run | None:
    """An input with some masked and some other rows, at the smallest sizes at which the function works."""
    kernel = subject.kernel
    for sizes in small_sizes(kernel):
        rows = sizes[kernel.rows]
        if rows < 2 or (kernel.is_open and any(size < 2 for size in sizes.values())):
            continue
        layout = Layout(kernel, "specification", sizes)
        chosen: Assignment = {
            slot: rows - 1
            if slot.what == "length"
            else slot.index[kernel.selection.shape.index(kernel.rows)] < rows - 1
            if slot.what == "mask"
            else Fraction(1 + sum(slot.index))
            if slot.argument in [spec.name for spec in kernel.having("features")]
            else Fraction(1, 2)
            for slot in layout.slots
        }
        case = layout.case(chosen)
        if case and subject.jax(case.left, in_float64=False) is not None:
            return case.left
    return None


def _probes(subject: Subject, run: Run) -> Iterator[_Probe]:
    kernel = subject.kernel
    ordinary = jax_inputs(kernel, run.inputs, in_float64=False)
    for number, spec in enumerate(kernel.arguments):
        if spec.role not in ("features", "logits") or not spec.is_float:
            continue
        for value in IN_MASKED_ROWS:
            changed = [*ordinary]
            changed[number] = np.where(masked_entries(kernel, run, spec), value, ordinary[number]).astype(
                ordinary[number].dtype
            )
            case = f"{value:g} in the {spec.name} of a masked row"
            yield _Probe("masked_irrelevance", case, ordinary, changed, None, spec.name)
    if "all_masked" in properties(kernel):
        empty = [*ordinary]
        selection = kernel.arguments.index(kernel.selection)
        empty[selection] = np.zeros_like(ordinary[selection])
        result = subject.call(empty, in_float64=False)
        if result is not None:
            yield _Probe("all_masked", "all rows masked", empty, None, np.zeros(result.shape), "all masked")
    if "specification" in properties(kernel):
        (spec,) = kernel.having("logits")
        number = kernel.arguments.index(spec)
        for value in LOGITS:
            changed = [*ordinary]
            changed[number] = np.full_like(ordinary[number], value)
            case = f"{value:g} as the {spec.name} of all rows"
            expected = pool_float64(kernel, Run(run.sizes, tuple(changed)))
            yield _Probe("specification", case, changed, None, expected, f"logits {value}")
