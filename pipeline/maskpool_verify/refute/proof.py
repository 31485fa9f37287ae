"""From a suspicious case to a proved difference."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.evaluate import returned, run
from maskpool_verify.refute.cases import Case, Run
from maskpool_verify.refute.exact import CHOICES, Choice, Exact, is_same
from maskpool_verify.refute.interval import Undecided
from maskpool_verify.refute.pooling import empty_bags, pool
from maskpool_verify.refute.subject import Subject

Array: TypeAlias = NDArray[Any]

BITS = (64, 128, 256)
"""The precisions that are tried, one after the other."""


@dataclass(frozen=True)
class Evaluated:
    """The exact values of all variables of a run, in the reading of IEEE 754, and of its result."""

    values: tuple[Array, ...]
    result: Array


@dataclass(frozen=True)
class Difference:
    """A proved difference; ``right`` is what the specification gives where there is only one run.

    ``partial`` is set if some operation had no real value: the difference is one for some choice of it.
    """

    left: Array
    right: Array
    bits: int
    partial: bool


def evaluated(subject: Subject, case: Run, exact: Exact) -> Evaluated:
    """Run the program in exact arithmetic.

    Raises:
        Undecided: more bits are needed, or a primitive has no exact counterpart.
    """
    located = subject.located(case.sizes)
    assert located is not None
    inputs = [
        exact.cast(value, argument.type)
        for value, argument in zip(case.inputs, located.program.arguments, strict=True)
    ]
    values = run(located.program, inputs, exact)
    result = returned(located.program, values, exact)
    return Evaluated(tuple(values), np.broadcast_to(result, tuple(map(int, located.program.type.shape))))


def both(subject: Subject, case: Case, exact: Exact) -> tuple[Array, Array]:
    """The two results that have to agree."""
    left = evaluated(subject, case.left, exact).result
    if case.right is not None:
        return left, evaluated(subject, case.right, exact).result
    if case.claim == "specification":
        return left, pool(subject.kernel, case.left, exact.reals)
    right = left.copy()
    right[empty_bags(subject.kernel, case.left)] = Fraction(0)
    return left, right


def prove(subject: Subject, case: Case) -> Difference | None:
    """The difference, if there is certainly one: both as IEEE 754 reads partial operations, and for some
    values of these, which is what the theorems are about. ``None`` if it cannot be proved.
    """
    for bits in BITS:
        try:
            exact = Exact(bits)
            left, right = both(subject, case, exact)
            found = different(exact, left, right)
            if found is None:
                continue
            if not found:
                return None
            if not exact.partial or any(_differs_for(subject, case, bits, choice) for choice in CHOICES):
                return Difference(left, right, bits, exact.partial)
            return None
        except Undecided:
            continue
    return None


def _differs_for(subject: Subject, case: Case, bits: int, choice: Choice) -> bool:
    exact = Exact(bits, choice)
    return different(exact, *both(subject, case, exact)) is True


def different(exact: Exact, left: Array, right: Array) -> bool | None:
    """Whether some entries are different; ``None`` if that is open for some and certain for none."""
    same = [is_same(exact.reals, x, y) for x, y in zip(left.flat, right.flat, strict=True)]
    if False in same:
        return True
    return None if None in same else False
