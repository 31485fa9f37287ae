"""Where a kernel goes wrong: the first equation whose value breaks a property, on random inputs.

This is evidence, not proof. It runs the imported program twice in float64, on inputs that a property
relates, and compares the values of all variables where they have to agree. A finding names an equation and
the line of the kernel; finding nothing means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import jax
import numpy as np
import numpy.typing as npt

from maskpool_verify.certificates import equation_text
from maskpool_verify.evaluate import evaluate
from maskpool_verify.frontend import TracedKernel
from maskpool_verify.lean.properties import Property
from maskpool_verify.manifest import Kernel, Shape

Array: TypeAlias = npt.NDArray[Any]

TRIES = 8
TOLERANCE = 1e-6
"""Relative to the larger of 1 and the values; float64 rounding costs a kernel of ordinary size far less."""


@dataclass(frozen=True)
class _Bag:
    """One bag; ``of`` arranges features, logits and mask, with fixed parameters, as the kernel takes them."""

    features: Array
    logits: Array
    mask: Array


def _differ(x: Array, y: Array) -> bool:
    if x.dtype == np.bool_:
        return bool(np.any(x != y))
    nan = np.isnan(x) | np.isnan(y)
    if np.any(np.isnan(x) != np.isnan(y)):
        return True
    x, y = np.where(nan, 0, x), np.where(nan, 0, y)
    with np.errstate(invalid="ignore"):
        close = np.abs(x - y) <= TOLERANCE * np.maximum(1, np.maximum(np.abs(x), np.abs(y)))
    return not bool(np.all(close | (x == y)))


class Diagnosis:
    """Runs of one kernel at all of its shapes, on random bags that are the same at every call."""

    def __init__(self, kernel: Kernel, traces: Sequence[TracedKernel]) -> None:
        self.kernel = kernel
        self.traces = {tuple(t.program.shape.items()): t for t in traces}

    def finding(self, property_: Property, shape: Shape, padded: Shape | None) -> str | None:
        """What contradicts the property, as the rest of a sentence; ``None`` if nothing was found."""
        checks: dict[Property, Callable[[], str | None]] = {
            "permutation": lambda: self._first(shape, self._permutation),
            "masked_irrelevance": lambda: self._first(shape, self._masked_irrelevance),
            "all_masked": lambda: self._first(shape, self._all_masked),
            "padding": lambda: self._first(shape, partial(self._padding, padded=padded)),
        }
        return checks[property_]() if property_ in checks else None

    def _first(
        self, shape: Shape, check: Callable[[TracedKernel, np.random.Generator], str | None]
    ) -> str | None:
        traced = self.traces[tuple(shape.items())]
        for seed in range(TRIES):
            if sentence := check(traced, np.random.default_rng(seed)):
                return sentence
        return None

    # -- inputs and runs

    def _bag(self, traced: TracedKernel, random: np.random.Generator) -> _Bag:
        by_role = {a.role: a for a in traced.program.arguments}
        rows = by_role["mask"].shape[0]
        mask = random.permutation(np.arange(rows) < max(1, rows // 2))
        return _Bag(
            random.standard_normal(by_role["features"].shape),
            random.standard_normal(by_role["logits"].shape),
            mask,
        )

    def _run(self, traced: TracedKernel, bag: _Bag) -> list[Array]:
        parameters = np.random.default_rng(0)
        inputs = []
        for argument in traced.program.arguments:
            values = {"features": bag.features, "logits": bag.logits, "mask": bag.mask}
            value = values.get(argument.role)
            if value is None:
                value = parameters.standard_normal(argument.shape)
            inputs.append(np.asarray(value).astype(jax.numpy.dtype(argument.dtype)))
        return evaluate(traced.program, inputs, in_float64=True)

    def _name(self, traced: TracedKernel, variable: int) -> str:
        number = variable - len(traced.program.arguments)
        return f"v#{variable}, `{equation_text(traced.program, number)}` ({traced.sources[number]})"

    def _compare(
        self,
        traced: TracedKernel,
        first: list[Array],
        second: list[Array],
        matching: Callable[[Array], Array | None],
    ) -> int | None:
        """The first equation where ``matching`` of the values differs; ``matching`` is None to skip one."""
        for variable in range(len(traced.program.arguments), len(first)):
            x, y = matching(first[variable]), second[variable]
            if x is not None and x.shape == y.shape and _differ(x, y):
                return variable
        return None

    # -- properties

    def _masked_irrelevance(self, traced: TracedKernel, random: np.random.Generator) -> str | None:
        bag = self._bag(traced, random)
        rows = len(bag.mask)
        keep = bag.mask.reshape(rows, *[1] * (bag.features.ndim - 1))
        other = _Bag(
            np.where(keep, bag.features, 10 * random.standard_normal(bag.features.shape)),
            np.where(bag.mask, bag.logits, bag.logits + 5 * random.random(rows)),
            bag.mask,
        )
        first, second = self._run(traced, bag), self._run(traced, other)

        def unmasked(value: Array) -> Array:
            for axis, size in enumerate(value.shape):
                if size == rows:
                    value = np.compress(bag.mask, value, axis=axis)
            return value

        second = [unmasked(value) for value in second]
        variable = self._compare(traced, first, second, unmasked)
        if variable is None:
            return None
        return f"what masked rows hold first reaches the others in {self._name(traced, variable)}"

    def _permutation(self, traced: TracedKernel, random: np.random.Generator) -> str | None:
        bag = self._bag(traced, random)
        order = random.permutation(len(bag.mask))
        first = self._run(traced, bag)
        second = self._run(traced, _Bag(bag.features[order], bag.logits[order], bag.mask[order]))

        def reordered(value: Array) -> Array | None:
            axes = [axis for axis, size in enumerate(value.shape) if size == len(order)]
            if len(axes) > 1:
                return None  # another axis may have the same size by accident
            return np.take(value, order, axis=axes[0]) if axes else value

        variable = self._compare(traced, first, second, reordered)
        if variable is None:
            return None
        return f"the order of the rows first matters in {self._name(traced, variable)}"

    def _padding(
        self, short: TracedKernel, random: np.random.Generator, *, padded: Shape | None
    ) -> str | None:
        if padded is None:
            return None
        long = self.traces[tuple(padded.items())]
        if len(long.program.equations) != len(short.program.equations):
            return None
        bag = self._bag(short, random)
        rows = len(bag.mask)
        extra = padded[self.kernel.rows] - rows
        junk = random.standard_normal((extra, *bag.features.shape[1:]))
        first = self._run(short, bag)
        second = self._run(
            long,
            _Bag(
                np.concatenate([bag.features, junk]),
                np.concatenate([bag.logits, 3 * random.standard_normal(extra)]),
                np.concatenate([bag.mask, np.zeros(extra, bool)]),
            ),
        )

        def old_rows(value: Array) -> Array:
            for axis, size in enumerate(value.shape):
                if size == rows + extra:
                    value = np.take(value, np.arange(rows), axis=axis)
            return value

        variable = self._compare(short, first, [old_rows(value) for value in second], lambda value: value)
        if variable is None:
            return None
        return f"further masked rows first matter in {self._name(short, variable)}"

    def _all_masked(self, traced: TracedKernel, random: np.random.Generator) -> str | None:
        bag = self._bag(traced, random)
        values = self._run(traced, _Bag(bag.features, bag.logits, np.zeros_like(bag.mask)))
        if not values or not _differ(values[-1], np.zeros_like(values[-1])):
            return None
        shown = np.array2string(np.ravel(values[-1])[:4], precision=3, separator=", ")
        return f"with all rows masked the result is {shown}, not zero"
