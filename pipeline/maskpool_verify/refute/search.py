"""The search: cases from small to large, a fast test in float64, a proof, and shrinking.

The order of the cases depends on the kernel, the property and the seed alone. The clock only ends the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from random import Random
from time import monotonic
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from maskpool_verify.lean.properties import Property
from maskpool_verify.manifest import Kernel
from maskpool_verify.refute.cases import (
    ENTRIES,
    EVERYTHING,
    NUMBERS,
    STAGES,
    Assignment,
    Case,
    Layout,
    Slot,
    Stage,
    Value,
    any_too_large,
    small_sizes,
    smallest_extra,
)
from maskpool_verify.refute.pooling import empty_bags, pool_float64
from maskpool_verify.refute.subject import BATCH, Subject

Array: TypeAlias = NDArray[Any]
Evidence = TypeVar("Evidence")

CASES, SAMPLE = 300, 60
"""In each stage and at one shape, all cases are tried if there are no more than ``CASES``, else a sample."""

RANDOM = 40
"""The number of batches of random cases at the end."""

SUSPICIOUS, VISIBLE = 1e-11, 1e-3
"""Relative differences of two results in float64: worth a proof, and one that nobody takes for rounding.

After a case with a smaller difference, the search goes on for a visible one.
"""


@dataclass(frozen=True)
class Progress:
    """How far a search is."""

    claim: Property
    sizes: dict[str, int]
    tried: int


@dataclass(frozen=True)
class Search(Generic[Evidence]):
    """What a search has given: a case with its evidence, or nothing after ``tried`` cases.

    ``complete`` is false if the clock ended the search before all cases were tried, or a shape was too large.
    ``doubtful`` is the first case that differs in float64 but not provably over the reals.
    """

    case: Case | None
    evidence: Evidence | None
    tried: int
    complete: bool
    doubtful: Case | None = None


class _Clock:
    def __init__(self, seconds: float) -> None:
        self.end = monotonic() + seconds

    @property
    def over(self) -> bool:
        return monotonic() >= self.end


def layouts(kernel: Kernel, property_: Property) -> list[Layout]:
    """Where a property is searched, smallest first."""
    if property_ == "padding" and not kernel.is_open:
        pairs = [
            ({symbol: int(size) for symbol, size in short.items()}, int(long[kernel.rows]))
            for short, long in kernel.padding_pairs()
        ]
        found = [Layout(kernel, property_, short, extra=rows - short[kernel.rows]) for short, rows in pairs]
    else:
        found = [
            Layout(kernel, property_, sizes, extra=smallest_extra(kernel, sizes) or 1)
            for sizes in small_sizes(kernel)
        ]
    return [layout for layout in found if layout.possible and layout.entries <= ENTRIES]


def search(
    subject: Subject,
    property_: Property,
    confirm: Callable[[Case], Evidence | None],
    *,
    budget: float,
    seed: int = 0,
    progress: Callable[[Progress], None] = lambda _: None,
    tolerance: float = 0.0,
) -> Search[Evidence]:
    """Search for a case on which a property fails, and shrink it.

    ``confirm`` gives the evidence that it fails, or ``None``. ``budget`` is in seconds; shrinking takes at
    most half of it in addition.
    """
    clock = _Clock(budget)
    tried = 0
    doubtful: Case | None = None
    faint: tuple[Layout, Assignment, Case, Evidence] | None = None
    complete = False

    def shrunk(layout: Layout, assignment: Assignment, case: Case, evidence: Evidence) -> Search[Evidence]:
        visible = max(tolerance, SUSPICIOUS if faint else VISIBLE)
        small, found = _shrunk(subject, layout, assignment, case, evidence, confirm, budget / 2, visible)
        return Search(small, found, tried, complete, doubtful)

    for chunk in _chunks(subject, property_, seed):
        if clock.over or (chunk is None and faint):
            break
        if chunk is None:
            continue
        layout, assignments = chunk
        progress(Progress(property_, layout.sizes, tried))
        cases = [layout.case(assignment) for assignment in assignments]
        allowed = max(tolerance, VISIBLE if faint else SUSPICIOUS)
        for number in _suspicious(subject, cases, allowed):
            assignment, case = assignments[number], cases[number]
            assert case is not None
            evidence = confirm(case)
            if evidence is None:
                doubtful = doubtful or case
            elif differs(subject, case, max(tolerance, VISIBLE)):
                faint, tried = None, tried + number + 1
                return shrunk(layout, assignment, case, evidence)
            else:
                faint = faint or (layout, assignment, case, evidence)
            if clock.over:
                break
        tried += len(assignments)
    else:
        complete = not any_too_large(subject.kernel)
    return shrunk(*faint) if faint else Search(None, None, tried, complete, doubtful)


def _chunks(
    subject: Subject, property_: Property, seed: int
) -> Iterator[tuple[Layout, list[Assignment]] | None]:
    """Stage after stage, then random ones; ``None`` in between. A chunk has one layout."""
    random = Random(seed)
    everywhere = layouts(subject.kernel, property_)
    for stage in STAGES:
        for plain in everywhere:
            if not _works(subject, plain):
                continue
            layout = replace(plain, constants=subject.constants(plain.sizes))
            if stage.constants and not layout.constants:
                continue
            assignments = layout.candidates(stage, CASES, SAMPLE, random)
            while chunk := list(islice(assignments, _at_once(layout))):
                yield layout, chunk
    yield None
    if subject.kernel.is_open:
        everywhere += [
            replace(layout, sizes={**layout.sizes, subject.kernel.rows: layout.rows + 2}, extra=extra)
            for layout in everywhere
            for extra in (1, 2)
            if layout.rows > 1
        ]
    everywhere = [layout for layout in everywhere if layout.possible and _works(subject, layout)]
    for _ in range(RANDOM if everywhere else 0):
        layout = random.choice(everywhere)
        layout = replace(layout, constants=subject.constants(layout.sizes))
        count = random.randint(2, EVERYTHING.values)
        stage = Stage(count, random.randint(1, EVERYTHING.logits), constants=random.random() < 0.2)
        yield layout, list(layout.candidates(stage, 0, _at_once(layout), random))


def _at_once(layout: Layout) -> int:
    """How many cases are made and run together."""
    return max(1, min(BATCH, ENTRIES // layout.entries))


def _works(subject: Subject, layout: Layout) -> bool:
    """Whether the kernel runs at these sizes."""
    case = layout.case({})
    runs = (case.left, case.right) if case else ()
    return all(run is None or subject.works(run) for run in runs)


def _suspicious(subject: Subject, cases: Sequence[Case | None], tolerance: float) -> list[int]:
    """The numbers of the cases whose results differ in float64; all are at the same sizes."""
    numbers = [number for number, case in enumerate(cases) if case is not None]
    present = [case for case in cases if case is not None]
    left = subject.float64_of([case.left for case in present])
    if left is None:
        return []
    right: Sequence[Array] | None
    if present and present[0].right is not None:
        right = subject.float64_of([case.right for case in present if case.right is not None])
    else:
        right = [_demanded(subject, case, result) for case, result in zip(present, left, strict=True)]
    if right is None:
        return []
    return [n for n, x, y in zip(numbers, left, right, strict=True) if apart(x, y, tolerance)]


def differs(subject: Subject, case: Case, tolerance: float) -> bool:
    """Whether the results differ in float64."""
    left = subject.float64(case.left)
    if left is None:
        return False
    right = expected_float64(subject, case, left)
    return right is not None and apart(left, right, tolerance)


def expected_float64(subject: Subject, case: Case, left: Array) -> Array | None:
    """What the result of the left run has to be."""
    if case.right is not None:
        return subject.float64(case.right)
    return _demanded(subject, case, left)


def _demanded(subject: Subject, case: Case, left: Array) -> Array:
    """What a property with one run demands of its result."""
    if case.claim == "specification":
        return pool_float64(subject.kernel, case.left)
    return np.where(empty_bags(subject.kernel, case.left), 0.0, left)


def apart(left: Array, right: Array, tolerance: float) -> bool:
    """Whether two float arrays differ by more than a relative tolerance; NaN agrees with NaN."""
    if left.shape != right.shape:
        return True
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(1, np.maximum(np.abs(left), np.abs(right)))
        same = (np.abs(left - right) <= tolerance * scale) | (left == right)
        return not bool(np.all(same | (np.isnan(left) & np.isnan(right))))


# -- shrinking


def _shrunk(
    subject: Subject,
    layout: Layout,
    assignment: Assignment,
    case: Case,
    evidence: Evidence,
    confirm: Callable[[Case], Evidence | None],
    seconds: float,
    tolerance: float,
) -> tuple[Case, Evidence]:
    """The case with fewer rows and simpler values, as long as there is evidence that it fails."""
    clock = _Clock(seconds)

    def accepted(smaller_layout: Layout, smaller: Assignment) -> bool:
        nonlocal layout, assignment, case, evidence
        attempt = None if clock.over or not smaller_layout.possible else smaller_layout.case(smaller)
        if attempt is None or not differs(subject, attempt, tolerance):
            return False
        found = confirm(attempt)
        if found is not None:
            layout, assignment, case, evidence = smaller_layout, smaller, attempt, found
        return found is not None

    changed = True
    while changed and not clock.over:
        changed = False
        while any(accepted(*each) for each in _smaller(layout, assignment)):
            changed = True
        for block in _blocks(layout.slots):
            simplest = {slot: _values(layout, slot)[0] for slot in block}
            if any(not _same(assignment.get(slot), value) for slot, value in simplest.items()):
                changed |= accepted(layout, {**assignment, **simplest})
        for slot in layout.slots:
            for value in _values(layout, slot):
                if _same(assignment.get(slot), value):
                    break
                if accepted(layout, {**assignment, slot: value}):
                    changed = True
                    break
    return case, evidence


def _smaller(layout: Layout, assignment: Assignment) -> Iterator[tuple[Layout, Assignment]]:
    """Without one coordinate of one axis, or with fewer new rows; not where the manifest lists the sizes."""
    if not layout.kernel.is_open:
        return
    yield from layout.smaller(assignment)
    if layout.extra > 1:
        kept = {slot: value for slot, value in assignment.items() if slot.what != "new"}
        yield replace(layout, extra=layout.extra - 1), kept


def _blocks(slots: Sequence[Slot]) -> Iterator[Sequence[Slot]]:
    """Groups of slots to simplify at once: those of one argument, their halves, and so on."""
    for _, group in groupby(slots, key=lambda slot: (slot.what, slot.argument)):
        waiting = [list(group)]
        while waiting:
            block = waiting.pop(0)
            if len(block) > 1:
                yield block
                waiting += [block[: len(block) // 2], block[len(block) // 2 :]]


def _values(layout: Layout, slot: Slot) -> Sequence[Value]:
    """All values of a slot, simplest first."""
    return layout.domain(slot, Stage(len(NUMBERS), len(NUMBERS), constants=True))


def _same(x: Value, y: Value) -> bool:
    return x == y and (x is None) == (y is None)
