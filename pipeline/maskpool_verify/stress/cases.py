"""The inputs of a stress run: bags, what their masked rows hold, and how they are padded and reordered.

A :class:`Case` is one property at one bag. Most properties compare the bag with another one, made from it by
a :class:`Change`. Arrays have the dtypes of the kernel's arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from maskpool_verify.manifest import ArgumentSpec, Kernel
from maskpool_verify.refute.cases import Run, masked_entries, reordered, selection_axes, valid_rows
from maskpool_verify.stress import ulps

Array: TypeAlias = NDArray[Any]

Property: TypeAlias = Literal[
    "specification", "permutation", "padding", "masked_irrelevance", "all_masked", "finite", "masked_gradient"
]
Part: TypeAlias = Literal["value", "gradient"]

_PARTS: dict[Property, tuple[Part, ...]] = {
    "specification": ("value",),
    "permutation": ("value", "gradient"),
    "padding": ("value", "gradient"),
    "masked_irrelevance": ("value", "gradient"),
    "all_masked": ("value",),
    "finite": ("value", "gradient"),
    "masked_gradient": ("gradient",),
}

PADDING = (1, 2, 3, 7, 64, 1024)
"""So many masked rows are added."""

Filling: TypeAlias = tuple[float | None, ...]
"""For each argument the number that all its masked entries hold; ``None``: as they are, or 0 in new rows."""


@dataclass(frozen=True)
class Change:
    """How the second bag of a case is made from the first: one of the three.

    ``filling`` alone: masked rows hold other numbers. ``extra``: there are so many further masked rows,
    with ``filling``. ``orders``: row ``r`` of a bag is row ``orders[bag, r]`` of the first; the axes before
    the last one are the batch axes of the kernel.
    """

    filling: Filling = ()
    extra: int = 0
    orders: Array | None = None


@dataclass(frozen=True)
class Case:
    """A property at a bag. ``about`` says what is unusual about the values of the bag."""

    property: Property
    run: Run
    change: Change | None = None
    about: str = ""


@dataclass(frozen=True)
class Step:
    """All cases of a kernel at one size; ``paddings`` are the numbers of rows that are added."""

    sizes: dict[str, int]
    paddings: tuple[int, ...]


# -- which sizes


_SIZES: tuple[tuple[int, int, tuple[int, ...]], ...] = (
    (1, 1, (1, 2)),
    (2, 1, (1,)),
    (3, 2, PADDING),
    (64, 8, (1,)),
)
"""Rows, the size of all other axes, and how many rows are added."""
_QUICK = (*_SIZES[:2], (3, 2, ()))


def steps(kernel: Kernel, *, quick: bool = False) -> tuple[Step, ...]:
    """Where a kernel is run, small sizes first: those of the manifest, and others if it leaves sizes open.

    ``quick``: at few and small ones.
    """
    listed = [s for s in kernel.shapes if s != kernel.open_shape]
    found = []
    if kernel.is_open:
        for rows, other, paddings in _QUICK if quick else _SIZES:
            sizes = {symbol: rows if symbol == kernel.rows else other for symbol in kernel.symbols}
            found.append(Step(sizes, paddings))
    for shape in listed[:1] if quick and not kernel.is_open else () if quick else listed:
        sizes = {symbol: int(size) for symbol, size in shape.items()}
        pairs = [int(long[kernel.rows]) for short, long in kernel.padding_pairs() if short == shape]
        found.append(Step(sizes, tuple(sorted(rows - sizes[kernel.rows] for rows in pairs))))
    return tuple(found) if kernel.is_open else tuple(sorted(found, key=lambda s: sorted(s.sizes.values())))


def parts(kernel: Kernel) -> dict[Property, tuple[Part, ...]]:
    """The properties that can be looked at, and of each whether the result, the gradient, or both.

    Where the specification says what the result is, that it is finite goes without saying.
    """
    found = dict(_PARTS)
    if kernel.spec == "none":
        del found["specification"], found["all_masked"]
    elif kernel.argument("logits") is None:
        del found["specification"]
    else:
        found["finite"] = ("gradient",)
    return found


# -- numbers


def unusual(dtype: str) -> dict[str, float]:
    """What masked rows hold, simplest first, by name; 1e30 is the largest number where that is less."""
    info = ulps.finfo(dtype)
    largest, tiny = float(info.max), float(info.smallest_subnormal)
    large = min(1e30, largest)
    shown = f"{large:g}".replace("e+", "e")
    named = {"1": 1.0, "1e4": 1e4, "-1e4": -1e4, shown: large, f"-{shown}": -large}
    named |= {"the smallest subnormal": tiny, "-0": -0.0}
    return named | {"inf": np.inf, "-inf": -np.inf, "NaN": np.nan}


def name_of(value: float, dtype: str) -> str:
    """The name of such a number."""
    for name, known in unusual(dtype).items():
        if np.array_equal([value, np.signbit(value)], [known, np.signbit(known)], equal_nan=True):
            return name
    return ulps.text(np.float64(value))


# -- bags


PATTERNS = ("all", "last masked", "first masked", "one valid", "alternating", "some bags empty", "none")
"""Which rows count."""


def pattern(name: str, rows: int, bag: int) -> Array:
    """Which rows of a bag count."""
    number = np.arange(rows)
    counts = {
        "all": number >= 0,
        "last masked": number < rows - 1,
        "first masked": number > 0,
        "one valid": number == bag % rows,
        "alternating": (number + bag) % 2 == 0,
        "some bags empty": (number >= 0) & (bag > 0),
        "none": number < 0,
    }
    return np.asarray(counts[name])


def with_pattern(kernel: Kernel, run: Run, name: str) -> Run:
    """The same bag with other rows masked; a length keeps the number of rows that count."""
    spec = kernel.selection
    position = kernel.arguments.index(spec)
    rows = run.sizes[kernel.rows]
    outer = tuple(int(n) for axis, n in zip(spec.shape, _shape(spec, run.sizes), strict=True)
                  if axis != kernel.rows)  # fmt: skip
    each = np.stack([pattern(name, rows, bag) for bag in range(int(np.prod(outer, dtype=int)))])
    each = each.reshape(*outer, rows)
    if spec.role == "length":
        selection = each.sum(axis=-1)
    else:
        selection = np.moveaxis(each, -1, spec.shape.index(kernel.rows))
    inputs = list(run.inputs)
    inputs[position] = np.asarray(selection).astype(run.inputs[position].dtype)
    return Run(run.sizes, tuple(inputs))


def ordinary(kernel: Kernel, sizes: dict[str, int], seed: int) -> Run:
    """A bag of random numbers of the size of 1, of which all rows count."""
    random = np.random.default_rng([seed, *sizes.values()])
    inputs = []
    for spec in kernel.arguments:
        shape, dtype = _shape(spec, sizes), jax.numpy.dtype(spec.dtype)
        drawn = random.standard_normal(shape) if spec.is_float else np.ones(shape)
        inputs.append(np.asarray(drawn).astype(dtype))
    return with_pattern(kernel, Run(sizes, tuple(inputs)), "all")


def _shape(spec: ArgumentSpec, sizes: dict[str, int]) -> tuple[int, ...]:
    return tuple(map(int, spec.sizes(sizes)))


def _patterns(kernel: Kernel, run: Run, names: Sequence[str] = PATTERNS) -> list[Run]:
    """The bag with each pattern; those that are the same at this size once."""
    found: dict[bytes, Run] = {}
    position = kernel.arguments.index(kernel.selection)
    for name in names:
        each = with_pattern(kernel, run, name)
        found.setdefault(each.inputs[position].tobytes(), each)
    return list(found.values())


def _unusual_bags(kernel: Kernel, run: Run) -> Iterator[tuple[str, Run]]:
    """Bags in which rows that count hold unusual values, with what is unusual about each."""
    yield "", run
    for number, spec in enumerate(kernel.arguments):
        if spec.role not in ("features", "logits"):
            continue
        value = run.inputs[number]
        large = min(1e30, float(ulps.finfo(spec.dtype).max))
        name = name_of(large, spec.dtype)
        levels = {"-1": -1.0, "0": 0.0, "1e4": 1e4}
        if spec.role == "logits":
            levels = {
                "0": 0.0,
                "10": 10.0,
                "-10": -10.0,
                "100": 100.0,
                "-100": -100.0,
                "1e4": 1e4,
                "-1e4": -1e4,
            }
            levels |= {
                name: large,
                f"-{name}": -large,
                "the smallest subnormal": unusual(spec.dtype)["the smallest subnormal"],
            }
        for level, number_ in levels.items():
            yield f"{level} as all {spec.name}", with_input(run, number, np.full_like(value, number_))
        if spec.role == "logits" and run.sizes[kernel.rows] > 1:
            axis = spec.shape.index(kernel.rows)
            for level in ("1e4", "-1e4", name, f"-{name}"):
                one = value.copy()
                np.moveaxis(one, axis, 0)[0] = levels[level]
                yield f"{level} as one of the {spec.name}", with_input(run, number, one)


def with_input(run: Run, position: int, value: Array) -> Run:
    """The bag with another array for one argument."""
    return Run(run.sizes, tuple(value if n == position else old for n, old in enumerate(run.inputs)))


# -- cases


def cases(kernel: Kernel, step: Step, seed: int) -> Iterator[Case]:
    """All cases of a step, the simplest of each property first."""
    wanted = parts(kernel)
    plain = ordinary(kernel, step.sizes, seed)
    bags = [(about, run) for about, bag in _unusual_bags(kernel, plain) for run in _patterns(kernel, bag)]
    for about, run in bags:
        if "specification" in wanted and not has_empty_bag(kernel, run):
            yield Case("specification", run, about=about)
        yield Case("finite", run, about=about)
        yield Case("masked_gradient", run, about=about)
    fillings = list(_fillings(kernel))
    if "all_masked" in wanted:
        for run in _patterns(kernel, plain, ("none", "some bags empty")):
            if has_empty_bag(kernel, run):
                yield Case("all_masked", run)
                for filling in fillings:
                    yield Case(
                        "all_masked", filled(kernel, run, filling), about=filling_text(kernel, filling)
                    )
    for run in _patterns(kernel, plain):
        if not valid_rows(kernel, run).all():
            for filling in fillings:
                yield Case("masked_irrelevance", run, Change(filling))
                yield Case(
                    "masked_gradient", filled(kernel, run, filling), about=filling_text(kernel, filling)
                )
    for extra in step.paddings[:1]:
        yield Case("masked_gradient", padded(kernel, plain, (None,) * len(kernel.arguments), extra))
    for about, bag in _unusual_bags(kernel, plain):
        if about and not about.startswith(("-1 as", "1e4 as one")):
            continue
        for extra, run in product(step.paddings, _patterns(kernel, bag, ("all", "first masked", "none"))):
            empty: Filling = (None,) * len(kernel.arguments)
            for filling in (empty, *(() if about else _few(kernel, fillings, extra))):
                yield Case("padding", run, Change(filling, extra=extra), about)
    for about, bag in _unusual_bags(kernel, plain):
        for run in _patterns(kernel, bag, ("all", "last masked", "alternating")):
            for orders in _orders(kernel, run, seed):
                yield Case("permutation", run, Change(orders=orders), about)


def has_empty_bag(kernel: Kernel, run: Run) -> bool:
    axis = selection_axes(kernel).index(kernel.rows)
    return not bool(valid_rows(kernel, run).any(axis=axis).all())


def _fillings(kernel: Kernel) -> Iterator[Filling]:
    """Unusual numbers in the masked rows of each float argument, and of all together."""
    places = [n for n, spec in enumerate(kernel.arguments) if spec.role in ("features", "logits")]
    for chosen in [[place] for place in places] + ([places] if len(places) > 1 else []):
        numbers = {place: list(unusual(kernel.arguments[place].dtype).values()) for place in chosen}
        for kind in range(len(numbers[chosen[0]])):
            yield tuple(numbers[n][kind] if n in chosen else None for n in range(len(kernel.arguments)))


def _few(kernel: Kernel, fillings: Sequence[Filling], extra: int) -> Iterator[Filling]:
    """The fillings for so many new rows: all for one row, those of all arguments for more."""
    places = [spec.role in ("features", "logits") for spec in kernel.arguments]
    for filling in fillings:
        if extra == 1 or [value is not None for value in filling] == places:
            yield filling


def _orders(kernel: Kernel, run: Run, seed: int) -> Iterator[Array]:
    """Orders of the rows: reversed, shifted by one, and at random in each bag; a length stays right."""
    rows = run.sizes[kernel.rows]
    bags = tuple(run.sizes[axis] for axis in kernel.batch_axes)
    counts = np.full(bags, rows)
    if kernel.selection.role == "length":
        axes = [axis for axis in selection_axes(kernel) if axis != kernel.rows]
        if not set(axes) <= set(kernel.batch_axes):
            return
        valid = valid_rows(kernel, run).sum(axis=-1)
        order = sorted(range(len(axes)), key=lambda n: kernel.batch_axes.index(str(axes[n])))
        sizes = [size if axis in axes else 1 for axis, size in zip(kernel.batch_axes, bags, strict=True)]
        counts = np.broadcast_to(valid.transpose(order).reshape(sizes), bags)
    random = np.random.default_rng([seed, rows])
    for kind in ("reversed", "shifted", "random"):
        orders = np.empty((*bags, rows), int)
        for bag in np.ndindex(bags):
            count = int(counts[bag])
            first = np.arange(count)
            if kind == "reversed":
                first = first[::-1]
            elif kind == "shifted":
                first = np.roll(first, 1)
            else:
                first = random.permutation(first)
            orders[bag] = np.concatenate([first, np.arange(count, rows)])
        if not (orders == np.arange(rows)).all():
            yield orders


# -- the other bag


def changed(kernel: Kernel, case: Case) -> Run | None:
    """The second bag of a case, if it has one."""
    change = case.change
    if change is None:
        return None
    if change.orders is not None:
        inputs = tuple(
            reordered(value, spec.shape, kernel, change.orders) if kernel.rows in spec.shape else value
            for spec, value in zip(kernel.arguments, case.run.inputs, strict=True)
        )
        return Run(case.run.sizes, inputs)
    if change.extra:
        return padded(kernel, case.run, change.filling, change.extra)
    return filled(kernel, case.run, change.filling)


def filled(kernel: Kernel, run: Run, filling: Filling) -> Run:
    """With other numbers in masked rows."""
    inputs = [
        value if number is None else np.where(
            masked_entries(kernel, run, spec), np.asarray(number).astype(value.dtype), value
        )
        for spec, value, number in zip(kernel.arguments, run.inputs, filling, strict=True)
    ]  # fmt: skip
    return Run(run.sizes, tuple(inputs))


def padded(kernel: Kernel, run: Run, filling: Filling, extra: int) -> Run:
    """With further masked rows at the end."""
    inputs = []
    for value, axis, number in zip(run.inputs, kernel.row_axes, filling, strict=True):
        if axis is None:
            inputs.append(value)
            continue
        shape = [extra if a == axis else size for a, size in enumerate(value.shape)]
        new = np.full(shape, 0 if number is None else number).astype(value.dtype)
        inputs.append(np.concatenate([value, new], axis=axis))
    return Run({**run.sizes, kernel.rows: run.sizes[kernel.rows] + extra}, tuple(inputs))


def filling_text(kernel: Kernel, filling: Filling) -> str:
    """``NaN in the features and logits``; empty if masked rows are left as they are."""
    by_name: dict[str, list[str]] = {}
    for spec, number in zip(kernel.arguments, filling, strict=True):
        if number is not None:
            by_name.setdefault(name_of(number, spec.dtype), []).append(spec.name)
    parts = [f"{name} in the {' and '.join(arguments)}" for name, arguments in by_name.items()]
    return " and ".join(parts)


def recast(kernel: Kernel, dtype: str) -> Kernel:
    """The kernel with another dtype for its float arguments."""
    arguments = tuple(
        spec.model_copy(update={"dtype": dtype}) if spec.is_float else spec for spec in kernel.arguments
    )
    return kernel.model_copy(update={"arguments": arguments})
