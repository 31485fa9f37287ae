"""Where a kernel goes wrong: the first equation whose value breaks a property, on random inputs.

This is evidence, not proof. It runs the imported program in float64 on inputs that a property relates, and
compares the values of all variables where they have to agree. A finding names an equation and the line of the
kernel; finding nothing means nothing.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import jax
import numpy as np
import numpy.typing as npt

from maskpool_verify.certificates import equation_text
from maskpool_verify.errors import MaskpoolError
from maskpool_verify.evaluate import evaluate, result
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.lean.properties import Property, shape_name
from maskpool_verify.manifest import Kernel, Shape
from maskpool_verify.program import Var

Array: TypeAlias = npt.NDArray[Any]
Random: TypeAlias = np.random.Generator

TRIES = 8
TOLERANCE = 1e-5
"""Relative to the larger of 1 and the values; float64 rounding costs a kernel of ordinary size far less."""


@dataclass(frozen=True)
class _Bag:
    """One bag: features ``[n, ...]``, logits ``[n]`` and mask ``[n]``."""

    features: Array
    logits: Array
    mask: Array

    @property
    def rows(self) -> int:
        return len(self.mask)

    def permuted(self, order: Array) -> _Bag:
        return _Bag(self.features[order], self.logits[order], self.mask[order])

    def padded(self, junk_features: Array, junk_logits: Array) -> _Bag:
        return _Bag(
            np.concatenate([self.features, junk_features]),
            np.concatenate([self.logits, junk_logits]),
            np.concatenate([self.mask, np.zeros(len(junk_logits), bool)]),
        )

    def pooled(self) -> Array:
        """Masked attention pooling, by its definition."""
        if not self.mask.any():
            return np.zeros(self.features.shape[1:])
        weights = np.exp(self.logits[self.mask])
        pooled: Array = np.tensordot(weights / weights.sum(), self.features[self.mask], axes=1)
        return pooled


@dataclass(frozen=True)
class _Run:
    """The values of all variables of a program, by number, and of its result."""

    values: Sequence[Array]
    result: Array


def _differ(x: Array, y: Array) -> bool:
    """Whether two arrays of one shape differ by more than rounding; NaN agrees with NaN."""
    if x.dtype == np.bool_:
        return bool(np.any(x != y))
    scale = np.maximum(1, np.maximum(np.abs(x), np.abs(y)))
    with np.errstate(invalid="ignore"):
        agree = (np.abs(x - y) <= TOLERANCE * scale) | (x == y) | (np.isnan(x) & np.isnan(y))
    return not bool(agree.all())


def _shown(value: Array) -> str:
    """At most four entries."""
    flat = np.ravel(value)
    if flat.dtype == np.bool_:
        flat = flat.astype(int)
    entries = ", ".join(f"{entry:.4g}" for entry in flat[:4])
    return f"[{entries}{', …' if flat.size > 4 else ''}]"


class Diagnosis:
    """Runs of one kernel at all of its shapes, on random bags that are the same at every call.

    ``root`` is the directory of the manifest, where the kernel's source is read.
    """

    def __init__(self, kernel: Kernel, traces: Sequence[TracedKernel], root: Path) -> None:
        self._kernel = kernel
        self._traces = {shape_name(t.program.shape): t for t in traces}
        self._root = root
        self._checks: Mapping[Property, Callable[[Random, TracedKernel, Shape | None], str | None]] = {
            "specification": self._specification,
            "permutation": self._permutation,
            "padding": self._padding,
            "masked_irrelevance": self._masked_irrelevance,
            "all_masked": self._all_masked,
        }

    def finding(self, property_: Property, shape: Shape, padded: Shape | None) -> str | None:
        """What contradicts the property, in a few lines; ``None`` if nothing was found."""
        check = self._checks.get(property_)
        if check is None:
            return None
        traced = self._traces[shape_name(shape)]
        findings = (check(np.random.default_rng(seed), traced, padded) for seed in range(TRIES))
        return next((finding for finding in findings if finding is not None), None)

    # -- inputs and runs

    def _bag(self, random: Random, traced: TracedKernel) -> _Bag:
        """Random features and logits; about half of the rows, and at least one, are not masked."""
        shapes = {a.role: a.shape for a in traced.program.arguments}
        (rows,) = shapes["mask"]
        mask = random.permutation(np.arange(rows) < max(1, rows // 2))
        return _Bag(random.standard_normal(shapes["features"]), random.standard_normal(rows), mask)

    def _run(self, traced: TracedKernel, bag: _Bag) -> _Run:
        """Run the program on a bag; parameters are random, and the same in every run."""
        random = np.random.default_rng(0)
        of_role = {"features": bag.features, "logits": bag.logits, "mask": bag.mask}
        inputs = []
        for argument in traced.program.arguments:
            value = of_role.get(argument.role)
            value = random.standard_normal(argument.shape) if value is None else value
            inputs.append(np.asarray(value).astype(jax.numpy.dtype(argument.dtype)))
        values = evaluate(traced.program, inputs, in_float64=True)
        return _Run(values, result(traced.program, values).astype(np.float64))

    # -- words

    def _line(self, source: str) -> str:
        """``file:line`` with the code that stands there."""
        file, _, line = source.rpartition(":")
        code = linecache.getline(str(self._root / file), int(line)).strip() if line.isdecimal() else ""
        return f"{source}: {code}"

    def _origin(self, traced: TracedKernel, variable: int) -> str:
        """The equations of a variable and of those that it is computed from, below their lines of code."""
        first = len(traced.program.arguments)
        operands = traced.program.equations[variable - first].operands
        computed_from = [o.index for o in operands if isinstance(o, Var) and o.index >= first]
        by_line: dict[str, list[str]] = {}
        for index in dict.fromkeys([variable, *computed_from]):
            equation = f"v#{index} : {equation_text(traced.program, index - first)}"
            by_line.setdefault(traced.sources[index - first], []).append(f"    {equation}")
        return "\n".join(
            line for source, equations in by_line.items() for line in (f"  {self._line(source)}", *equations)
        )

    def _first_difference(
        self, claim: str, traced: TracedKernel, expected: Iterable[Sequence[Array]], found: Iterable[Array]
    ) -> str | None:
        """``claim``, and the first equation with a value that is none of the expected ones."""
        first = len(traced.program.arguments)
        for variable, (candidates, value) in enumerate(zip(expected, found, strict=True)):
            if variable >= first and all(c.shape == value.shape and _differ(c, value) for c in candidates):
                return f"{claim} v#{variable} first:\n{self._origin(traced, variable)}"
        return None

    # -- properties

    def _specification(self, random: Random, traced: TracedKernel, _: Shape | None) -> str | None:
        bag = self._bag(random, traced)
        found, expected = self._run(traced, bag).result, bag.pooled()
        if not _differ(found, expected):
            return None
        sentence = (
            f"It is not attention pooling: for a random bag with mask {_shown(bag.mask)} the program gives "
            f"{_shown(found)}, and attention pooling {_shown(expected)}."
        )
        where = None if self._kernel.padding_pairs() else self._one_more_row(random, traced)
        return f"{sentence}\n{where}" if where else sentence

    def _one_more_row(self, random: Random, traced: TracedKernel) -> str | None:
        """As for padding, which attention pooling allows, where the manifest has no larger shape."""
        shape, rows = traced.program.shape, self._kernel.rows
        larger = {**shape, rows: shape[rows] + 1}
        with suppress(MaskpoolError):  # the kernel need not be made for it
            self._traces[shape_name(larger)] = trace_kernel(self._kernel, larger, self._root)
            return self._padding(random, traced, larger)
        return None

    def _all_masked(self, random: Random, traced: TracedKernel, _: Shape | None) -> str | None:
        bag = self._bag(random, traced)
        found = self._run(traced, replace(bag, mask=np.zeros(bag.rows, bool))).result
        if not _differ(found, np.zeros_like(found)):
            return None
        return f"With all rows masked the program gives {_shown(found)}, and not zero."

    def _masked_irrelevance(self, random: Random, traced: TracedKernel, _: Shape | None) -> str | None:
        bag = self._bag(random, traced)
        keep = bag.mask.reshape(bag.rows, *[1] * (bag.features.ndim - 1))
        other = _Bag(
            np.where(keep, bag.features, 10 * random.standard_normal(bag.features.shape)),
            np.where(bag.mask, bag.logits, bag.logits + 5 * random.random(bag.rows)),
            bag.mask,
        )

        def unmasked(value: Array) -> Array:
            for axis, size in enumerate(value.shape):
                if size == bag.rows:
                    value = np.compress(bag.mask, value, axis=axis)
            return value

        expected = [[unmasked(value)] for value in self._run(traced, bag).values]
        found = map(unmasked, self._run(traced, other).values)
        return self._first_difference("Other values in masked rows change", traced, expected, found)

    def _permutation(self, random: Random, traced: TracedKernel, _: Shape | None) -> str | None:
        bag = self._bag(random, traced)
        order = random.permutation(bag.rows)

        arguments = traced.program.arguments
        other = {size for a in arguments for size in (a.shape if a.role == "parameter" else a.shape[1:])}

        def reordered(value: Array) -> list[Array]:
            """With its rows reordered; where an axis may be one of rows or not, either way."""
            results = [value]
            for axis, size in enumerate(value.shape):
                if size == bag.rows:
                    results += [np.take(result, order, axis=axis) for result in results]
            return results if bag.rows in other else results[-1:]

        expected = map(reordered, self._run(traced, bag).values)
        found = self._run(traced, bag.permuted(order)).values
        return self._first_difference("Another order of the rows changes", traced, expected, found)

    def _padding(self, random: Random, short: TracedKernel, padded: Shape | None) -> str | None:
        long = self._traces[shape_name(padded)] if padded else short
        extra = long.program.shape[self._kernel.rows] - short.program.shape[self._kernel.rows]
        if extra < 1 or len(long.program.equations) != len(short.program.equations):
            return None
        bag = self._bag(random, short)
        junk = random.standard_normal((extra, *bag.features.shape[1:]))
        padded_bag = bag.padded(junk, 3 * random.standard_normal(extra))

        def old_rows(value: Array) -> Array:
            for axis, size in enumerate(value.shape):
                if size == bag.rows + extra:
                    value = np.take(value, np.arange(bag.rows), axis=axis)
            return value

        expected = [[value] for value in self._run(short, bag).values]
        found = map(old_rows, self._run(long, padded_bag).values)
        return self._first_difference("Further masked rows change", short, expected, found)
