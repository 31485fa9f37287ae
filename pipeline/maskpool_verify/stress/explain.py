"""A case in words, and a break as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.manifest import Kernel
from maskpool_verify.refute.cases import Run
from maskpool_verify.refute.counterexample import Input, Values
from maskpool_verify.refute.subject import sizes_text
from maskpool_verify.stress import ulps
from maskpool_verify.stress.cases import Case, changed, filling_text, unusual
from maskpool_verify.stress.judging import Comparison
from maskpool_verify.stress.report import Bag, Break
from maskpool_verify.stress.shrinking import Shrunk

Array: TypeAlias = NDArray[Any]

LARGEST = 4096
"""Arguments with more entries are not listed."""
ALSO = 6
"""So many further cases are named."""


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
    """What breaks the property, as a phrase: ``nan in the features of masked rows``."""
    if case.change is None:
        return _numbers(kernel, case.run)
    if case.change.orders is not None:
        return _joined("another order of the rows", _numbers(kernel, case.run))
    filling = filling_text(kernel, case.change.filling)
    if not case.change.extra:
        return filling
    rows = "1 further masked row" if case.change.extra == 1 else f"{case.change.extra} further masked rows"
    if filling:
        return f"{rows}, {filling}"
    return _joined(rows, _numbers(kernel, case.run))


def describe(kernel: Kernel, case: Case) -> str:
    """A case in a phrase, with its sizes."""
    phrase = cause(kernel, case)
    return f"{phrase}, {sizes_text(case.run.sizes)}" if phrase else sizes_text(case.run.sizes)


def _joined(phrase: str, numbers: str) -> str:
    return f"{phrase}, {numbers}" if numbers else phrase


def _numbers(kernel: Kernel, run: Run) -> str:
    """``1e4 in the logits``: the unusual numbers of a bag, if there are few; empty if it is ordinary."""
    phrases = []
    for spec, value in zip(kernel.arguments, run.inputs, strict=True):
        if spec.role not in ("features", "logits"):
            continue
        names = {**unusual(spec.dtype), "10": 10.0, "-10": -10.0, "100": 100.0, "-100": -100.0}
        encoded = {ulps.bits(np.asarray(x).astype(value.dtype)).item(): name for name, x in names.items()}
        entries = ulps.bits(value).ravel().tolist()
        found = list(dict.fromkeys(encoded[e] for e in entries if e in encoded and encoded[e] != "1"))
        if found:
            phrases.append(f"{' and '.join(found)} in the {spec.name}")
    return ", ".join(phrases)


def break_of(kernel: Kernel, shrunk: Shrunk, comparison: Comparison, failing: Sequence[Case]) -> Break:
    """A break as data; ``failing`` are all cases that break in this way."""
    case = shrunk.case
    other = changed(kernel, case)
    orders = case.change.orders if case.change else None
    phrase = cause(kernel, case)
    others = dict.fromkeys(cause(kernel, each) or "ordinary numbers" for each in failing)
    return Break(
        cause=phrase or "ordinary numbers",
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
        also=tuple(each for each in others if each != phrase)[:ALSO],
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
    if case.change is not None:
        new = {"nan": np.isnan, "infinite": np.isinf}.get(comparison.kind or "")
        if new is not None and new(comparison.right).any() and not new(comparison.left).any():
            effect = f"makes {what} {comparison.kind}"
        else:
            effect = f"changes the shape of {what}" if comparison.kind == "shape" else f"changes {what}"
        return f"{phrase[0].upper()}{phrase[1:]}, {effect}." if "," in phrase else f"{_up(phrase)} {effect}."
    with_ = f"With {phrase}, " if phrase else ""
    if case.property == "all_masked":
        with_ = f"With no row that counts, and {phrase}, " if phrase else "With no row that counts, "
    if case.property == "masked_gradient":
        what += " of masked rows"
    bad = {
        "nan": "is nan",
        "infinite": "is infinite",
        "nonzero": "is not zero",
        "shape": "has another shape than the specification says",
        "different": "is not masked attention pooling",
    }[comparison.kind or "different"]
    return _up(f"{with_}{what} {bad}.")


def _up(text: str) -> str:
    return text[0].upper() + text[1:]
