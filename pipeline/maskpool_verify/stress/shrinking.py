"""The smallest case that is broken in the same way: fewer rows, fewer columns, simpler numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.manifest import Kernel
from maskpool_verify.refute.cases import Run
from maskpool_verify.stress.cases import Case, Change, unusual, with_input

Array: TypeAlias = NDArray[Any]

SIMPLE = (0.0, 1.0, -1.0)
"""The numbers that are tried, simplest first."""
ENTRIES = 64
"""In larger arrays, only all entries at once are made simple."""


@dataclass(frozen=True)
class Shrunk:
    """A case, and whether nothing smaller was left to try; else the time was over."""

    case: Case
    minimal: bool


def shrink(kernel: Kernel, case: Case, fails: Callable[[Case], bool], over: Callable[[], bool]) -> Shrunk:
    """Make a case smaller as long as it ``fails``; ``over`` says that the time is over.

    A kernel whose sizes are listed keeps its sizes.
    """
    changing = True
    while changing:
        changing = False
        for attempts in (_plainer, _smaller, _simpler):
            again = True
            while again:
                again = False
                for attempt in attempts(kernel, case):
                    if over():
                        return Shrunk(case, False)
                    if fails(attempt):
                        case, changing, again = attempt, True, True
                        break
    return Shrunk(case, True)


def _plainer(kernel: Kernel, case: Case) -> Iterator[Case]:
    """With simpler numbers in masked rows, argument by argument, and fewer new rows."""
    change = case.change
    if change is None:
        return
    for number, value in enumerate(change.filling):
        if value is not None and (change.extra or sum(v is not None for v in change.filling) > 1):
            yield _filling(case, change, number, None)
    for number, spec in enumerate(kernel.arguments):
        value = change.filling[number] if change.filling else None
        if value is not None:
            for simpler in unusual(spec.dtype).values():
                if np.array_equal(simpler, value, equal_nan=True):
                    break
                yield _filling(case, change, number, simpler)
    if change.extra > 1 and kernel.is_open:
        for extra in dict.fromkeys((1, change.extra // 2, change.extra - 1)):
            yield replace(case, change=replace(change, extra=extra))


def _filling(case: Case, change: Change, number: int, value: float | None) -> Case:
    """The case with another number in the masked rows of one argument."""
    filling = tuple(value if n == number else v for n, v in enumerate(change.filling))
    return replace(case, change=replace(change, filling=filling))


def _smaller(kernel: Kernel, case: Case) -> Iterator[Case]:
    """Without half of an axis, or without one coordinate of it."""
    if not kernel.is_open:
        return
    for symbol, size in case.run.sizes.items():
        if size > 3:
            for kept in (range(size // 2), range(size // 2, size)):
                if smaller := _restricted(kernel, case, symbol, list(kept)):
                    yield smaller
        if 1 < size <= 8:
            for left_out in range(size):
                kept_ = [n for n in range(size) if n != left_out]
                if smaller := _restricted(kernel, case, symbol, kept_):
                    yield smaller


def _restricted(kernel: Kernel, case: Case, symbol: str, kept: list[int]) -> Case | None:
    """The case with some coordinates of an axis alone."""
    inputs = []
    for spec, old in zip(kernel.arguments, case.run.inputs, strict=True):
        value = old
        if spec.role == "length" and symbol == kernel.rows:
            # As many of the rows that count as are kept.
            value = np.asarray(sum(row < old for row in kept)).astype(old.dtype).reshape(old.shape)
        for axis, name in enumerate(spec.shape):
            if name == symbol:
                value = np.take(value, kept, axis=axis)
        inputs.append(value)
    run = Run({**case.run.sizes, symbol: len(kept)}, tuple(inputs))
    change = case.change
    if change is not None and change.orders is not None:
        orders = _restricted_orders(kernel, change.orders, symbol, kept)
        if (orders == np.arange(orders.shape[-1])).all():
            return None
        change = Change(orders=orders)
    return replace(case, run=run, change=change)


def _restricted_orders(kernel: Kernel, orders: Array, symbol: str, kept: list[int]) -> Array:
    if symbol in kernel.batch_axes:
        return np.take(orders, kept, axis=kernel.batch_axes.index(symbol))
    if symbol != kernel.rows:
        return orders
    places = {row: n for n, row in enumerate(kept)}
    flat = [[places[row] for row in order if row in places] for order in orders.reshape(-1, orders.shape[-1])]
    return np.asarray(flat, int).reshape(*orders.shape[:-1], len(kept))


def _simpler(kernel: Kernel, case: Case) -> Iterator[Case]:
    """With 0, 1 or -1 in the place of other numbers: everywhere in an argument, then entry by entry."""
    for number, spec in enumerate(kernel.arguments):
        value = case.run.inputs[number]
        if spec.is_float and spec.role != "mask":
            for rank, simple in enumerate(SIMPLE):
                if not _at_most(value, rank).all():
                    yield _with(case, number, np.full_like(value, simple))
            if value.size <= ENTRIES:
                for index in np.ndindex(value.shape):
                    for rank, simple in enumerate(SIMPLE):
                        if not _at_most(value[index], rank):
                            changed = value.copy()
                            changed[index] = simple
                            yield _with(case, number, changed)
        if spec.role == "mask" and value.size <= ENTRIES:
            for index in np.ndindex(value.shape):
                if not value[index]:
                    changed = value.copy()
                    changed[index] = 1
                    yield _with(case, number, changed)


def _at_most(value: Array, rank: int) -> NDArray[np.bool_]:
    """Which entries are as simple as the number of a rank: equal to it, or to a simpler one."""
    numbers = value.astype(np.float64)
    found = np.zeros(numbers.shape, bool)
    for simple in SIMPLE[: rank + 1]:
        found |= (numbers == simple) & ~np.signbit(numbers if simple == 0 else 0.0)
    return found


def _with(case: Case, position: int, value: Array) -> Case:
    return replace(case, run=with_input(case.run, position, value))
