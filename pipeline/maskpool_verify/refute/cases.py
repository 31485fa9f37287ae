"""Inputs on which a property of a kernel can fail.

A :class:`Layout` lists what is free in an input of one property at one shape, as slots: the entries of the
arguments, which rows are masked, the order of the rows, what new or masked rows hold. Giving each slot a
value makes a :class:`Case`: one or two runs of the kernel whose results have to agree. All values are small
rationals that every floating-point format represents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from random import Random
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.lean.properties import Property
from maskpool_verify.manifest import ArgumentSpec, Kernel

Array: TypeAlias = NDArray[Any]
Sizes: TypeAlias = Mapping[str, int]
"""A number for each symbol of the manifest."""

Index: TypeAlias = tuple[int, ...]

Value: TypeAlias = Fraction | int | bool | None
"""What a slot holds; ``None``: as in the other run."""

HALF = Fraction(1, 2)
NUMBERS: tuple[Fraction, ...] = tuple(
    Fraction(x) for x in (0, 1, -1, 2, HALF, -2, 3, -HALF, 4, -3, 10, -10, 100, -100, 1000)
)
"""The values that are tried, simplest first."""
LOGITS: tuple[Fraction, ...] = tuple(
    Fraction(x) for x in (0, 1, -1, -10, 2, 10, HALF, -2, 3, -HALF, 4, -3, -100, 100, 1000)
)
"""The same in another order: large logits make weights negligible."""


MOST_EXTRA = 16
"""So many further rows are tried at most, where constraints do not allow fewer."""


@dataclass(frozen=True)
class Stage:
    """How many of :data:`NUMBERS` are tried as features and parameters, and how many of :data:`LOGITS`.

    With ``constants``, the literals of the program are tried too: fills and thresholds.
    """

    values: int
    logits: int
    constants: bool = False


STAGES: tuple[Stage, ...] = (
    Stage(2, 1),
    Stage(3, 2),
    Stage(2, 1, constants=True),
    Stage(5, 4),
    Stage(8, 7),
    Stage(14, 14),
)
EVERYTHING = STAGES[-1]

ENTRIES: Final = 1 << 14
"""Of the cases that are made at once. A listed shape with more in one case is not searched: it would take
longer than a search may take."""


@dataclass(frozen=True)
class Slot:
    """Something free in an input.

    ``what`` is an entry of an argument (``value``, ``mask``, ``length``), the same entry in the other run
    (``other``), an entry of a new row (``new``), or the number of a reordering of the rows of a bag
    (``order``).
    """

    what: Literal["value", "mask", "length", "other", "new", "order"]
    argument: str
    index: Index


Assignment: TypeAlias = Mapping[Slot, Value]


@dataclass(frozen=True)
class Run:
    """The sizes and arguments of one run.

    Arrays hold Python objects: ``Fraction`` for float arguments, ``int`` for integer ones, and bools.
    """

    sizes: dict[str, int]
    inputs: tuple[Array, ...]


@dataclass(frozen=True)
class Case:
    """Two runs that have to agree, or one (``right`` is ``None``) that has to give what the property says.

    ``orders``: row ``r`` of a bag of the right run is row ``orders[bag, r]`` of the left one; the axes before
    the last one are the batch axes of the kernel.
    """

    claim: Property
    left: Run
    right: Run | None = None
    orders: Array | None = None


def properties(kernel: Kernel) -> tuple[Property, ...]:
    """The properties that can be searched, in the order of how easy they are to see."""
    if kernel.spec == "none":
        return ("masked_irrelevance", "permutation", "padding")
    named: tuple[Property, ...] = ("all_masked", "masked_irrelevance", "permutation", "padding")
    return named if kernel.argument("logits") is None else ("specification", *named)


def valid_rows(kernel: Kernel, run: Run) -> Array:
    """Which rows count: a bool array over the axes of :func:`selection_axes`."""
    spec = kernel.selection
    value = run.inputs[kernel.arguments.index(spec)]
    if spec.role == "length":
        found: Array = np.arange(run.sizes[kernel.rows]) < np.asarray(value).astype(int)[..., None]
        return found
    return np.asarray(value != 0).astype(bool)


def selection_axes(kernel: Kernel) -> tuple[str | int, ...]:
    """The axes of :func:`valid_rows`; the row axis is among them."""
    spec = kernel.selection
    return (*spec.shape, kernel.rows) if spec.role == "length" else spec.shape


def masked_entries(kernel: Kernel, run: Run, spec: ArgumentSpec) -> Array:
    """Which entries of an argument belong to a row that is masked for every bag that reads it."""
    valid, axes = valid_rows(kernel, run), selection_axes(kernel)
    away = tuple(number for number, axis in enumerate(axes) if axis not in spec.shape)
    read = np.asarray(valid.any(axis=away))
    kept = [axis for axis in axes if axis in spec.shape]
    # The axes in the order of the argument, with the size 1 where the selection does not depend on one.
    order = sorted(range(len(kept)), key=lambda number: spec.shape.index(kept[number]))
    shape = run.inputs[kernel.arguments.index(spec)].shape
    sizes = [size if axis in kept else 1 for axis, size in zip(spec.shape, shape, strict=True)]
    return np.broadcast_to(~read.transpose(order).reshape(sizes), shape)


def reordered(value: Array, axes: Sequence[str | int], kernel: Kernel, orders: Array) -> Array:
    """A value with the axes ``axes`` with the rows of each bag in another order."""
    axis = list(axes).index(kernel.rows)
    bags = [list(axes).index(batch) for batch in kernel.batch_axes]
    index: list[Array] = list(np.indices(value.shape, sparse=True))
    index[axis] = orders[(*(index[bag] for bag in bags), index[axis])]
    found: Array = value[tuple(index)]
    return found


@dataclass(frozen=True)
class Layout:
    """The slots of one property at one shape.

    ``constants`` are values to be tried besides :data:`NUMBERS`, ``extra`` is the number of new rows for
    padding. :attr:`possible` is false where there is nothing to vary.
    """

    kernel: Kernel
    claim: Property
    sizes: dict[str, int]
    constants: tuple[Fraction, ...] = ()
    extra: int = 1

    @property
    def rows(self) -> int:
        return self.sizes[self.kernel.rows]

    @property
    def possible(self) -> bool:
        if self.kernel.is_open and self.kernel.assumed.violated(self.sizes) is not None:
            return False
        if self.claim == "padding" and self.kernel.is_open:
            return self.kernel.assumed.violated(self.padded_sizes) is None
        return self.claim != "permutation" or self.rows > 1

    @property
    def padded_sizes(self) -> dict[str, int]:
        """The sizes of the bag with further rows."""
        return {**self.sizes, self.kernel.rows: self.rows + self.extra}

    def shape(self, spec: ArgumentSpec) -> Index:
        return tuple(map(int, spec.sizes(self.sizes)))

    @property
    def entries(self) -> int:
        """The entries of all arguments, with further rows."""
        return entries(self.kernel, self.padded_sizes if self.claim == "padding" else self.sizes)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        found: list[Slot] = []
        varied: list[Slot] = []
        for spec in self.kernel.arguments:
            indices = list(np.ndindex(self.shape(spec)))
            if spec.role in ("mask", "length"):
                role: Any = spec.role
                found += [Slot(role, spec.name, index) for index in indices]
                continue
            found += [Slot("value", spec.name, index) for index in indices]
            if self.kernel.rows not in spec.shape:
                continue
            if self.claim == "masked_irrelevance":
                varied += [Slot("other", spec.name, index) for index in indices]
            if self.claim == "padding":
                axis = spec.shape.index(self.kernel.rows)
                added = [self.extra if a == axis else size for a, size in enumerate(self.shape(spec))]
                varied += [Slot("new", spec.name, index) for index in np.ndindex(*added)]
        if self.claim == "permutation":
            bags = [self.sizes[axis] for axis in self.kernel.batch_axes]
            varied += [Slot("order", "", index) for index in np.ndindex(*bags)]
        return (*found, *varied)

    def domain(self, slot: Slot, stage: Stage) -> Sequence[Value]:
        """The values of a slot that are tried, simplest first."""
        match slot.what:
            case "mask":
                return (False, True) if self.claim == "all_masked" else (True, False)
            case "length":
                return range(self.rows + 1) if self.claim == "all_masked" else range(self.rows, -1, -1)
            case "order":
                return range(self.rows)
        spec = self._spec(slot.argument)
        if spec.dtype == "bool":
            return (False, True)
        known, count = (LOGITS, stage.logits) if spec.role == "logits" else (NUMBERS, stage.values)
        if slot.what in ("other", "new"):
            count = max(2, count)
        numbers: list[Value] = [*known[:count], *(self.constants if stage.constants else ())]
        if not spec.is_float:
            numbers = [int(x) for x in NUMBERS[: stage.values] if x.denominator == 1]
        return [None, *numbers] if slot.what == "other" else numbers

    def _spec(self, name: str) -> ArgumentSpec:
        return next(spec for spec in self.kernel.arguments if spec.name == name)

    def candidates(self, stage: Stage, limit: int, few: int, random: Random) -> Iterator[Assignment]:
        """All assignments of a stage, simplest first; ``few`` random ones if they are more than ``limit``."""
        domains = [self.domain(slot, stage) for slot in self.slots]
        if prod(map(len, domains)) <= limit:
            every = product(*(range(len(domain)) for domain in domains))
            ranks: Iterable[tuple[int, ...]] = sorted(every, key=lambda r: (sum(r), r))
        else:
            ranks = (tuple(random.randrange(len(domain)) for domain in domains) for _ in range(few))
        for each in ranks:
            chosen = (domain[rank] for domain, rank in zip(domains, each, strict=True))
            yield dict(zip(self.slots, chosen, strict=True))

    # -- from values to runs

    def case(self, assignment: Assignment) -> Case | None:
        """The case with these values, zero where there is none; ``None`` if it is not allowed."""
        left = Run(self.sizes, tuple(self._argument(spec, assignment) for spec in self.kernel.arguments))
        match self.claim:
            case "permutation":
                return self._permuted(left, assignment)
            case "padding":
                return Case(self.claim, left, self._padded(left, assignment))
            case "masked_irrelevance":
                return Case(self.claim, left, self.changed(left, assignment))
            case "all_masked":
                position = selection_axes(self.kernel).index(self.kernel.rows)
                if valid_rows(self.kernel, left).any(axis=position).all():
                    return None  # no bag is empty
        return Case(self.claim, left)

    def _argument(self, spec: ArgumentSpec, assignment: Assignment) -> Array:
        value = np.empty(self.shape(spec), object)
        for index in np.ndindex(value.shape):
            if spec.role == "mask":
                entry: Value = assignment.get(Slot("mask", spec.name, index), self.claim != "all_masked")
            elif spec.role == "length":
                full = 0 if self.claim == "all_masked" else self.rows
                entry = assignment.get(Slot("length", spec.name, index), full)
            else:
                entry = assignment.get(Slot("value", spec.name, index), 0)
            value[index] = _as(spec, entry)
        return value.astype(bool) if spec.dtype == "bool" else value

    def _permuted(self, left: Run, assignment: Assignment) -> Case | None:
        """Neighbouring rows exchanged, in each bag or in some; such exchanges generate all permutations."""
        batch = self.kernel.batch_axes
        orders = np.empty((*(self.sizes[axis] for axis in batch), self.rows), int)
        for bag in np.ndindex(orders.shape[:-1]):
            swapped = assignment.get(Slot("order", "", bag), 0)
            order = list(range(self.rows))
            if isinstance(swapped, int) and swapped:
                order[swapped - 1 : swapped + 1] = [swapped, swapped - 1]
            orders[bag] = order
        if self.kernel.selection.role == "length":
            valid = valid_rows(self.kernel, left)
            if not np.array_equal(valid, reordered(valid, selection_axes(self.kernel), self.kernel, orders)):
                return None
        inputs = tuple(
            reordered(value, spec.shape, self.kernel, orders) if self.kernel.rows in spec.shape else value
            for spec, value in zip(self.kernel.arguments, left.inputs, strict=True)
        )
        return Case(self.claim, left, Run(self.sizes, inputs), orders)

    def _padded(self, left: Run, assignment: Assignment) -> Run:
        """With further rows at the end, which are masked."""
        inputs = []
        for spec, value, axis in zip(self.kernel.arguments, left.inputs, self.kernel.row_axes, strict=True):
            if axis is None:
                inputs.append(value)
                continue
            shape = [self.extra if a == axis else size for a, size in enumerate(value.shape)]
            new = np.empty(shape, object)
            for index in np.ndindex(new.shape):
                entry = False if spec.role == "mask" else assignment.get(Slot("new", spec.name, index), 0)
                new[index] = _as(spec, entry)
            inputs.append(np.concatenate([value, new.astype(value.dtype)], axis=axis))
        return Run(self.padded_sizes, tuple(inputs))

    def changed(self, left: Run, assignment: Assignment) -> Run:
        """With other values where a row is masked for every bag that reads it."""
        inputs = []
        for spec, value in zip(self.kernel.arguments, left.inputs, strict=True):
            changed = value
            if self.kernel.rows in spec.shape and spec.role != "mask":
                changed = value.copy()
                for index in np.argwhere(masked_entries(self.kernel, left, spec)).tolist():
                    entry = assignment.get(Slot("other", spec.name, tuple(index)))
                    if entry is not None:
                        changed[tuple(index)] = _as(spec, entry)
            inputs.append(changed)
        return Run(self.sizes, tuple(inputs))

    # -- smaller layouts

    def smaller(self, assignment: Assignment) -> Iterator[tuple[Layout, Assignment]]:
        """The same without one coordinate of one axis, for each coordinate."""
        for symbol, size in self.sizes.items():
            if size > 1:
                layout = replace(self, sizes={**self.sizes, symbol: size - 1})
                for position in range(size):
                    kept = {}
                    for slot, value in assignment.items():
                        if moved := self._without(slot, symbol, position):
                            kept[moved] = layout.clipped(moved, value)
                    yield layout, kept

    def clipped(self, slot: Slot, value: Value) -> Value:
        """A value that fits this layout; lengths and orders get smaller with the number of rows."""
        if slot.what == "length" and isinstance(value, int):
            return min(value, self.rows)
        if slot.what == "order" and isinstance(value, int):
            return min(value, self.rows - 1)
        return value

    def _without(self, slot: Slot, symbol: str, position: int) -> Slot | None:
        """What becomes of a slot if one coordinate is left out; ``None`` if it goes with it."""
        if slot.what == "new" and symbol == self.kernel.rows:
            return slot
        axes: Sequence[str | int] = (
            self._spec(slot.argument).shape if slot.argument else self.kernel.batch_axes
        )
        if symbol not in axes:
            return slot
        axis = list(axes).index(symbol)
        at = slot.index[axis]
        if at == position:
            return None
        moved = (*slot.index[:axis], at - (at > position), *slot.index[axis + 1 :])
        return Slot(slot.what, slot.argument, moved)


def _as(spec: ArgumentSpec, value: Value) -> Any:
    """A value as an entry of an argument."""
    assert value is not None
    if spec.dtype == "bool":
        return bool(value)
    return Fraction(value) if spec.is_float else int(value)


def entries(kernel: Kernel, sizes: Sizes) -> int:
    """The entries of all arguments at these sizes, and one."""
    return 1 + sum(prod(map(int, spec.sizes(sizes))) for spec in kernel.arguments)


def listed_sizes(kernel: Kernel) -> list[dict[str, int]]:
    """The shapes of a manifest that leaves no size open, smallest first."""
    shapes = [{symbol: int(size) for symbol, size in shape.items()} for shape in kernel.shapes]
    return sorted(shapes, key=lambda sizes: prod(sizes.values()))


def any_too_large(kernel: Kernel) -> bool:
    """Whether a shape is not searched because of its size."""
    return not kernel.is_open and any(entries(kernel, sizes) > ENTRIES for sizes in listed_sizes(kernel))


def small_sizes(kernel: Kernel) -> Iterator[dict[str, int]]:
    """Sizes to search at, smallest first; those of the manifest if it leaves no size open."""
    if not kernel.is_open:
        yield from (sizes for sizes in listed_sizes(kernel) if entries(kernel, sizes) <= ENTRIES)
        return
    others = [symbol for symbol in kernel.symbols if symbol != kernel.rows]
    free = {**dict.fromkeys(others, (1, 2)), kernel.rows: (1, 2, 3)}
    bags: dict[tuple[int, ...], list[dict[str, int]]] = {}
    for sizes in kernel.assumed.solutions(kernel.symbols, free):
        bags.setdefault(tuple(sizes[symbol] for symbol in others), []).append(sizes)
    smallest = sorted(bags, key=lambda many: (sum(many), many))[: 2 ** len(others)]
    for many in smallest:
        yield from bags[many][:3]


def smallest_extra(kernel: Kernel, sizes: Sizes) -> int | None:
    """The smallest number of further rows that the constraints allow; ``None`` if none is found."""
    rows = kernel.rows
    for extra in range(1, MOST_EXTRA + 1):
        if kernel.assumed.violated({**sizes, rows: sizes[rows] + extra}) is None:
            return extra
    return None
