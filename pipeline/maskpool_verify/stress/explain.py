"""A case in words, and a break as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.dims import assigned
from maskpool_verify.manifest import Kernel
from maskpool_verify.refute.cases import Run
from maskpool_verify.refute.counterexample import Input, Values
from maskpool_verify.stress import ulps
from maskpool_verify.stress.cases import Case, changed, filling_text, unusual
from maskpool_verify.stress.judging import Comparison
from maskpool_verify.stress.report import Bag, Break
from maskpool_verify.stress.shrinking import Shrunk

Array: TypeAlias = NDArray[Any]

LARGEST = 4096
"""Arguments with more entries are not listed."""
ALSO = 6
"""So many further causes are named."""
USUAL = "ordinary numbers"


def values(array: Array) -> Values | None:
    """An array as text; ``None`` if it is too large."""
    if array.size > LARGEST:
        return None
    if array.dtype.kind in "bui":
        entries = [str(entry).lower() for entry in array.ravel().tolist()]
    else:
        entries = [ulps.text(entry) for entry in array.ravel()]
    return Values(shape=array.shape, entries=tuple(entries))


def cause(kernel: Kernel, case: Case) -> str:
    """What breaks the property: ``NaN in the features of masked rows``; empty if nothing is unusual."""
    if case.change is None:
        return _numbers(kernel, case.run)
    if case.change.orders is not None:
        return _joined("another order of the rows", _numbers(kernel, case.run))
    filling = filling_text(kernel, case.change.filling)
    match case.change.extra:
        case 0:
            return f"{filling} of masked rows"
        case 1:
            rows, hold = "1 further masked row", "that holds"
        case extra:
            rows, hold = f"{extra} further masked rows", "that hold"
    return f"{rows} {hold} {filling}" if filling else _joined(rows, _numbers(kernel, case.run))


def describe(kernel: Kernel, case: Case) -> str:
    """A case in a phrase, with its sizes."""
    phrase = cause(kernel, case)
    return f"{phrase}, {assigned(case.run.sizes)}" if phrase else assigned(case.run.sizes)


def _joined(phrase: str, numbers: str) -> str:
    return f"{phrase}, {numbers}" if numbers else phrase


def _numbers(kernel: Kernel, run: Run) -> str:
    """``1e4 in the logits``: the unusual numbers of a bag; empty if there are none."""
    arguments: dict[str, list[str]] = {}
    for spec, value in zip(kernel.arguments, run.inputs, strict=True):
        if spec.role not in ("features", "logits"):
            continue
        names = {**unusual(spec.dtype), "10": 10.0, "-10": -10.0, "100": 100.0, "-100": -100.0}
        del names["1"]
        encoded = {ulps.bits(np.asarray(x).astype(value.dtype)).item(): name for name, x in names.items()}
        found = [encoded[entry] for entry in ulps.bits(value).ravel().tolist() if entry in encoded]
        if found:
            arguments.setdefault(" and ".join(dict.fromkeys(found)), []).append(spec.name)
    return ", ".join(f"{numbers} in the {' and '.join(names)}" for numbers, names in arguments.items())


def break_of(kernel: Kernel, shrunk: Shrunk, comparison: Comparison, failing: Sequence[Case]) -> Break:
    """A break as data; ``failing`` are all cases that break in this way."""
    case = shrunk.case
    other = changed(kernel, case)
    orders = case.change.orders if case.change else None
    phrase = cause(kernel, case)
    others = dict.fromkeys(cause(kernel, each) or USUAL for each in failing)
    return Break(
        cause=phrase or USUAL,
        kind=comparison.kind or "different",
        of=comparison.of,
        left=_bag(kernel, case.run),
        right=None if other is None else _bag(kernel, other),
        orders=()
        if orders is None
        else tuple(tuple(order) for order in orders.reshape(-1, orders.shape[-1]).tolist()),
        found=values(comparison.left),
        required=None if case.property == "finite" else values(comparison.right),
        sentence=_sentence(case, phrase, comparison),
        minimal=shrunk.minimal,
        cases=len(failing),
        also=tuple(each for each in others if each != (phrase or USUAL))[:ALSO],
    )


def _bag(kernel: Kernel, run: Run) -> Bag:
    inputs = [
        Input(name=spec.name, role=spec.role, row_axis=axis, values=shown)
        for spec, value, axis in zip(kernel.arguments, run.inputs, kernel.row_axes, strict=True)
        if (shown := values(value)) is not None
    ]
    return Bag(sizes=run.sizes, inputs=tuple(inputs) if len(inputs) == len(kernel.arguments) else None)


def _sentence(case: Case, phrase: str, comparison: Comparison) -> str:
    what = f"the gradient in the {comparison.of}" if comparison.of else "the result"
    kind = {"nan": "NaN", "infinite": "infinite"}.get(comparison.kind or "", "")
    if case.change is not None:
        test = {"nan": np.isnan, "infinite": np.isinf}.get(comparison.kind or "")
        worse = test is not None and test(comparison.right).any() and not test(comparison.left).any()
        if comparison.kind == "shape":
            what = f"the shape of {what}"
        return f"With {phrase}, {what} {f'becomes {kind}' if worse else 'changes'}."
    if case.property == "masked_gradient":
        what += " of masked rows"
    if case.property == "all_masked":
        phrase = f"no row that counts and {phrase}" if phrase else "no row that counts"
    wrong = {
        "nonzero": "is not zero",
        "shape": "has another shape than the specification says",
        "different": "is not masked attention pooling",
    }.get(comparison.kind or "", f"is {kind}")
    return f"With {phrase or USUAL}, {what} {wrong}."
