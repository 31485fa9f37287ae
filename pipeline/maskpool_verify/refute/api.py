"""Refutation, observation, and warnings about floating point: what the check calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict, Unpack

from maskpool_verify.lean.properties import Property
from maskpool_verify.refute.cases import properties
from maskpool_verify.refute.counterexample import Counterexample
from maskpool_verify.refute.finding import ROUNDING, counterexample
from maskpool_verify.refute.proof import Difference, prove
from maskpool_verify.refute.search import Progress, Search, search
from maskpool_verify.refute.subject import Subject

BUDGET = 10.0
"""Seconds for each property."""


@dataclass(frozen=True)
class Outcome:
    """What the search for one property gave after ``tried`` cases.

    ``complete`` is false if the time was over before all planned cases were tried. ``doubtful``: floating
    point breaks the property on some case, and over the reals that could not be proved.
    """

    property: Property
    counterexample: Counterexample | None
    tried: int
    complete: bool
    doubtful: bool


def refute(
    subject: Subject,
    property_: Property,
    *,
    budget: float = BUDGET,
    seed: int = 0,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Outcome:
    """Search a counterexample over the reals; one that is given is proved.

    Raises:
        ValueError: the kernel has no program, or the property is none of ``properties(subject.kernel)``.
    """
    if subject.program_at is None:
        raise ValueError("the kernel was not imported; use observe")
    _require(subject, property_)
    found: Search[Difference] = search(
        subject,
        property_,
        lambda case: prove(subject, case),
        budget=budget,
        seed=seed,
        progress=progress,
    )
    shown = counterexample(subject, found.case, found.evidence) if found.case else None
    return Outcome(property_, shown, found.tried, found.complete, found.doubtful is not None)


def observe(
    subject: Subject,
    property_: Property,
    *,
    budget: float = BUDGET,
    seed: int = 0,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Outcome:
    """The same with JAX in float64 alone, for a kernel that cannot be imported: observed, not proved."""
    _require(subject, property_)
    alone = Subject(subject.kernel, subject.root, None, subject.function)
    found: Search[bool] = search(
        alone,
        property_,
        lambda case: True,
        budget=budget,
        seed=seed,
        progress=progress,
        tolerance=ROUNDING,
    )
    shown = counterexample(alone, found.case, None) if found.case else None
    return Outcome(property_, shown, found.tried, found.complete, False)


class Effort(TypedDict, total=False):
    """What :func:`refute` and :func:`observe` take, with their defaults."""

    budget: float
    seed: int
    progress: Callable[[Progress], None]


def examine(subject: Subject, property_: Property, **effort: Unpack[Effort]) -> Outcome:
    """Refute a kernel that has a program, and observe one that cannot be imported."""
    return (observe if subject.program_at is None else refute)(subject, property_, **effort)


def _require(subject: Subject, property_: Property) -> None:
    if property_ not in properties(subject.kernel):
        raise ValueError(f"{property_} cannot be searched for this kernel")
