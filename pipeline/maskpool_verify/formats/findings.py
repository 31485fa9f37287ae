"""What a report finds wrong, each at one line of the user's code: what annotations and alerts are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from maskpool_verify.formats.wording import MEANING, place_of
from maskpool_verify.lean.properties import PROPERTIES, Property
from maskpool_verify.refute import Counterexample, render
from maskpool_verify.report import KernelReport, Place, Report, TheoremReport
from maskpool_verify.stress import StressReport
from maskpool_verify.stress import text as stress_text

Level: TypeAlias = Literal["error", "warning"]

OBSERVED = "observed"
"""The rule of what a stress run has shown."""

RULES: Mapping[str, str] = {
    "unproved": "Some proof did not go through, or the audit found a violation.",
    "unsupported": "The kernel contains something outside of what can be imported.",
    "stale": "What is committed is not what the kernel gives now.",
    "error": "The kernel cannot be traced, or the library does not build.",
    "floating-point": "Floating point breaks what exact real arithmetic does not.",
    OBSERVED: "A run on adversarial inputs breaks a property in floating point: evidence, and no proof.",
}
"""What is found of a whole kernel; every property is a rule of its own."""

THE_WHOLE = "the whole"
"""In place of the name of a kernel, which never has a blank."""


@dataclass(frozen=True)
class Finding:
    """``rule`` is a property or a key of :data:`RULES`, ``title`` one line, ``text`` all that is known."""

    kernel: str
    rule: str
    level: Level
    title: str
    text: str
    place: Place | None


def findings(report: Report) -> tuple[Finding, ...]:
    """One for each property that failed, one for each kernel that has none, and one for each warning.

    A kernel that a stress run has broken has a warning for that. What belongs to no kernel is found of
    ``the whole``.
    """
    found = [
        finding
        for kernel in report.kernels
        for finding in (*_of_kernel(kernel), *_of_stress(kernel, report.observed))
    ]
    if report.reals.violations:
        text = "\n".join(report.reals.violations)
        found.append(Finding(THE_WHOLE, "unproved", "error", "mathlib's real numbers", text, None))
    return tuple(found)


def _of_kernel(kernel: KernelReport) -> Iterator[Finding]:
    if kernel.verdict == "verified":
        return
    refuted = {found.property: found for found in kernel.counterexamples}
    failed: dict[Property, list[TheoremReport]] = {}
    for theorem in kernel.theorems:
        if theorem.status != "proved":
            failed.setdefault(theorem.property, []).append(theorem)
    further = [m for m in kernel.messages if not m.startswith(tuple(failed))]
    if further or not (failed or refuted):
        title = f"{kernel.name}: {kernel.verdict}"
        rule = kernel.verdict if kernel.verdict in RULES else "unproved"
        text = "\n\n".join(further) or RULES[rule]
        yield Finding(kernel.name, rule, "error", title, text, kernel.problem or kernel.place)
    for property_ in [p for p in PROPERTIES if p in failed or p in refuted]:
        yield _of_property(kernel, property_, failed.get(property_, []), refuted.get(property_))
    for warning in kernel.warnings:
        title = f"{kernel.name}: {warning.property} in {warning.dtype}"
        yield Finding(kernel.name, "floating-point", "warning", title, warning.sentence, kernel.place)


def _of_stress(kernel: KernelReport, observed: StressReport | None) -> Iterator[Finding]:
    for seen in observed.kernels if observed else ():
        if seen.name != kernel.name or not seen.broken:
            continue
        title = f"{kernel.name}: {stress_text.summary(seen)}"
        text = "\n".join([RULES[OBSERVED], "", *stress_text.observed(seen)]).rstrip()
        yield Finding(kernel.name, OBSERVED, "warning", title, text, kernel.place)


def _of_property(
    kernel: KernelReport, property_: Property, failed: list[TheoremReport], found: Counterexample | None
) -> Finding:
    title = f"{kernel.name}: {property_} {'refuted' if found else 'not proved'}"
    if found:
        origin = found.broken or found.undefined
        place = (origin and Place.of(origin.source)) or kernel.place
        return Finding(kernel.name, property_, "error", title, render(found), place)
    reasons = dict.fromkeys(f"{place_of(t)}: {t.reason or t.status}" for t in failed)
    goals = [message for message in kernel.messages if message.startswith(property_)]
    text = "\n".join([f"It is not proved that {MEANING[property_]}.", *reasons, *goals])
    return Finding(kernel.name, property_, "error", title, text, kernel.place)


def within(place: Place, base: str) -> Place:
    """A place whose file is named from a directory above the manifest's; ``base`` leads from there to it."""
    file = PurePosixPath(place.file)
    return place if file.is_absolute() or not base else Place(file=str(base / file), line=place.line)
