"""Which equation is the first at which two runs do not correspond, on the numbers of a counterexample.

Corresponding means: equal entries, where rows are compared with the rows that they come from, and masked or
new rows not at all. The row axes of a variable are those that grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.certificates import equation_text
from maskpool_verify.listing import source_line
from maskpool_verify.program import Program, Var
from maskpool_verify.refute.cases import Case, Layout, Run, selection_axes, valid_rows
from maskpool_verify.refute.counterexample import Broken
from maskpool_verify.refute.exact import Exact, Special
from maskpool_verify.refute.interval import Undecided
from maskpool_verify.refute.proof import different, evaluated
from maskpool_verify.refute.subject import Subject

Array: TypeAlias = NDArray[Any]
Axes: TypeAlias = tuple[int, ...] | None
"""The axes of a variable along a symbol; ``None`` if one depends on it in another way, such as ``2 * n``."""


def first_broken(subject: Subject, case: Case, bits: int) -> Broken | None:
    """The first equation at which the runs of a case do not correspond.

    Where the property has only one run, masked rows get other values for a second one.
    """
    if case.right is None:
        case = replace(case, claim="masked_irrelevance", right=_other_values(subject, case.left))
    assert case.right is not None
    try:
        exact = Exact(bits)
        left = evaluated(subject, case.left, exact).values
        right = evaluated(subject, case.right, exact).values
    except Undecided:
        return None
    along = [
        symbol_axes(subject, case.left, case.right, symbol)
        for symbol in (subject.kernel.rows, *subject.kernel.batch_axes)
    ]
    located = subject.located(case.left.sizes)
    assert located is not None
    if len(left) != len(right):
        return None
    broken: list[bool | None] = []
    for number in range(len(left)):
        rows, *bags = (axes[number] for axes in along)
        pair = None
        if rows is not None:
            pair = _corresponding(subject, case, rows, bags, left[number], right[number])
        broken.append(None if pair is None else different(exact, *pair) is True)
    origin = _origin(located.program, broken)
    return None if origin is None else broken_at(subject, case.left, origin)


def _origin(program: Program, broken: Sequence[bool | None]) -> int | None:
    """The first broken equation from which broken values, or unknown ones, lead to the result."""
    first = len(program.arguments)
    reaching = {program.result.index} if isinstance(program.result, Var) else set()
    for index in range(len(broken) - 1, first - 1, -1):
        if index in reaching and broken[index] is not False:
            operands = program.equations[index - first].operands
            reaching |= {operand.index for operand in operands if isinstance(operand, Var)}
    found = [index for index in sorted(reaching) if index >= first and broken[index]]
    return found[0] - first if found else None


def _other_values(subject: Subject, run: Run) -> Run:
    """The same run with other values in masked rows."""
    layout = Layout(subject.kernel, "masked_irrelevance", run.sizes)
    other = {slot: 2 + sum(slot.index) for slot in layout.slots if slot.what == "other"}
    return layout.changed(run, other)


def symbol_axes(subject: Subject, left: Run, right: Run, symbol: str) -> list[Axes]:
    """For each variable of the left run the axes along a symbol.

    Without a program for another size, all axes that are as long.
    """
    count = left.sizes[symbol]
    larger = {**left.sizes, symbol: max(right.sizes[symbol], count + 1)}
    here, there = subject.located(left.sizes), subject.located(larger)
    assert here is not None
    types = here.program.variable_types()
    if there is None or len(there.program.equations) != len(here.program.equations):
        return [tuple(axis for axis, size in enumerate(kind.shape) if size == count) for kind in types]
    found: list[Axes] = []
    for kind, other in zip(types, there.program.variable_types(), strict=True):
        changing = [axis for axis, size in enumerate(kind.shape) if other.shape[axis] != size]
        plain = all((kind.shape[a], other.shape[a]) == (count, larger[symbol]) for a in changing)
        found.append(tuple(changing) if plain else None)
    return found


def _corresponding(
    subject: Subject, case: Case, rows: Sequence[int], bags: Sequence[Axes], left: Array, right: Array
) -> tuple[Array, Array] | None:
    """The entries of two values that have to be equal; ``None`` if that cannot be told.

    ``rows`` are the axes along the rows, ``bags`` those along each batch axis of the kernel.
    """
    if case.claim == "permutation":
        assert case.orders is not None
        return _permuted(case.orders, rows, bags, left, right)
    for axis in rows:
        if case.claim == "padding":
            right = np.take(right, range(case.left.sizes[subject.kernel.rows]), axis=axis)
            continue
        valid = valid_rows(subject.kernel, case.left)
        position = selection_axes(subject.kernel).index(subject.kernel.rows)
        kept = np.moveaxis(valid, position, -1).reshape(-1, valid.shape[position]).all(axis=0)
        left, right = np.compress(kept, left, axis=axis), np.compress(kept, right, axis=axis)
    return (left, right) if left.shape == right.shape else None


def _permuted(
    orders: Array, rows: Sequence[int], bags: Sequence[Axes], left: Array, right: Array
) -> tuple[Array, Array] | None:
    """The left value with its rows in the order of the right one."""
    one = orders.reshape(-1, orders.shape[-1])
    if (one == one[0]).all():
        for axis in rows:
            left = np.take(left, one[0], axis=axis)
        return left, right
    if not rows:
        return left, right
    if len(rows) > 1 or any(axes is None or len(axes) != 1 for axes in bags):
        return None
    along = [axes[0] for axes in bags if axes]
    index = np.indices(left.shape)
    source = list(index)
    source[rows[0]] = orders[(*(index[axis] for axis in along), index[rows[0]])]
    return left[tuple(source)], right


def undefined_at(subject: Subject, run: Run, bits: int) -> Broken | None:
    """The equation that first makes an infinity or NaN of numbers, on the way to the result."""
    located = subject.located(run.sizes)
    assert located is not None
    try:
        values = evaluated(subject, run, Exact(bits)).values
    except Undecided:
        return None
    program = located.program
    first = len(program.arguments)

    def special(index: int) -> bool:
        return any(isinstance(entry, Special) for entry in values[index].flat)

    if not isinstance(program.result, Var) or not special(program.result.index):
        return None
    at = program.result.index
    while at >= first:
        operands = [o.index for o in program.equations[at - first].operands if isinstance(o, Var)]
        before = [index for index in operands if index >= first and special(index)]
        if not before:
            return broken_at(subject, run, at - first)
        at = before[0]
    return None


def broken_at(subject: Subject, run: Run, number: int) -> Broken:
    """An equation with its source."""
    located = subject.located(run.sizes)
    assert located is not None
    source = located.sources[number]
    variable = len(located.program.arguments) + number
    return Broken(
        equation=f"v#{variable} : {equation_text(located.program, number)}",
        source=source,
        code=source_line(subject.root, source),
    )
