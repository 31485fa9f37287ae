"""Words that several formats share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from maskpool_verify.dims import assigned
from maskpool_verify.lean.bags import OPEN, shape_name
from maskpool_verify.lean.properties import PROPERTIES, Property
from maskpool_verify.report import KernelReport, Lack, Report, TheoremReport, TraceReport
from maskpool_verify.stress import StressReport
from maskpool_verify.stress import text as stress_text

MEANING: Mapping[Property, str] = {
    "translation": "the imported program is the traced function, over any arithmetic",
    "instance": "the program at a listed shape is the one for all sizes, over any arithmetic",
    "specification": "it computes masked attention pooling",
    "permutation": "the order of the rows does not matter",
    "padding": "further masked rows do not matter, whatever they hold",
    "masked_irrelevance": "what masked rows hold does not matter",
    "all_masked": "with all rows masked the result is zero",
    "masked_irrelevance_any_arithmetic": "over any arithmetic, IEEE floats included, what masked rows hold "
    "cannot reach the result, be it infinite or NaN",
    "all_masked_any_arithmetic": "over any arithmetic in which zero and one behave as IEEE 754 says, the "
    "result is zero with all rows masked",
}
"""What each property says."""

ARITHMETICS = ("over any arithmetic", "over extended arithmetic", "over the reals", "without arithmetic")
"""What theorems hold over, the most general one first."""

CHECKSUM = re.compile(r"(sha512-[\w+/]{12})[\w+/=]+")
"""The part of a checksum that is shown."""


def place_of(theorem: TheoremReport) -> str:
    """The shapes that a theorem is about."""
    shapes = (theorem.shape, theorem.padded_shape)
    return " → ".join(shape_name(shape) for shape in shapes if shape)


def sizes_of(trace: TraceReport) -> str:
    """``for all sizes``, or ``at n = 4, d = 3``."""
    if shape_name(trace.shape) == OPEN:
        return "for all sizes"
    return f"at {assigned(trace.shape)}"


def assumptions(kernel: KernelReport) -> list[str]:
    """What the theorems of a kernel assume beyond the types of its arguments, in words."""
    assumed = []
    if kernel.witness is not None:
        assumed.append(f"assumed: {', '.join(kernel.constraints)} (as at {assigned(kernel.witness)})")
    if kernel.arithmetic == "extended":
        assumed.append("theorems among infinities and NaN, for arguments that are numbers")
    return assumed


def arithmetic(kernel: KernelReport, theorem: TheoremReport) -> str:
    """Over which arithmetic a theorem of a kernel holds, by what its statement quantifies over."""
    if "[Ops " in theorem.statement:
        return ARITHMETICS[0]
    if "[RealArith " in theorem.statement:
        return ARITHMETICS[1 if kernel.arithmetic == "extended" else 2]
    return ARITHMETICS[3]


def standing(kernel: KernelReport, observed: StressReport | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What is known of a kernel: properties by the strength of what is known.

    Proved ones by the arithmetic that they hold over, the most general one first; then those that the kernel
    need not have, with the equation that keeps it from them; ``only observed`` are those that a run of JAX
    breaks, of which nothing is proved, and last what a stress run has shown, if there was one.
    """
    groups: dict[str, tuple[str, ...]] = {}
    for words in ARITHMETICS:
        wanted = [theorem for theorem in kernel.theorems if arithmetic(kernel, theorem) == words]
        parts = tuple(filter(None, (_proved(wanted, name) for name in PROPERTIES)))
        if parts:
            groups[f"proved {words}"] = parts
    stressed = observed.kernels if observed else ()
    further = {
        "not proved over any arithmetic": tuple(map(lacking_property, kernel.lacks)),
        "only observed": tuple(
            f"{found.property} fails" for found in kernel.counterexamples if found.evidence == "observed"
        ),
        "observed in floating point": tuple(
            stress_text.summary(each) for each in stressed if each.name == kernel.name
        ),
    }
    return (*groups.items(), *((words, parts) for words, parts in further.items() if parts))


def lacking_property(lack: Lack) -> str:
    """A property that is not proved, and why."""
    if lack.equation is None:
        return lack.property
    return f"{lack.property}, because {lack.equation} lets a masked value through ({lack.source})"


def _proved(theorems: Sequence[TheoremReport], name: str) -> str:
    """The name of a property, with how many of its theorems are proved if not all are; empty if none is."""
    wanted = [theorem for theorem in theorems if theorem.property == name]
    proved = sum(theorem.status == "proved" for theorem in wanted)
    return name if 0 < proved == len(wanted) else f"{name} ({proved} of {len(wanted)})" if proved else ""


def second_kernel(report: Report) -> str | None:
    """What the second kernel says, in words; ``None`` if there was nothing to check."""
    if (second := report.second_kernel) is None:
        return None
    if second.status == "accepted" and second.kernel and second.counts:
        return (
            f"second kernel: native Lean {second.kernel.version} ({second.kernel.githash[:12]}) has checked "
            f"{second.counts.declared} declarations; of Lean's library, it took "
            f"{second.counts.assumptions} without their bodies"
        )
    return "second kernel: REFUSED" if second.status == "refused" else f"second kernel: none; {second.why}"


def facts(report: Report) -> list[str]:
    """Which Lean did the work, what a second kernel says, and which numbers the theorems are about."""
    engine = report.engine and f"engine: {report.engine.name}, Lean {report.engine.lean_version}"
    known = (engine, second_kernel(report), f"real numbers: {report.reals.sentence}")
    return [sentence for sentence in known if sentence]


def summary(report: Report) -> str:
    """The last line: the verdict, and how many theorems are proved."""
    theorems = [theorem for kernel in report.kernels for theorem in kernel.theorems]
    proved = sum(theorem.status == "proved" for theorem in theorems)
    allowed = ", ".join(report.audit.allowed) or "none"
    return (
        f"{report.verdict}: {proved} of {len(theorems)} proved, {report.audit.audited} audited; "
        f"axioms allowed: {allowed}"
    )


def trusted(report: Report) -> Iterator[str]:
    """What stays outside of the proofs, with checksums cut."""
    return (CHECKSUM.sub(r"\1…", sentence) for sentence in report.trusted)


def in_order(kernel: KernelReport) -> list[TheoremReport]:
    """The theorems of a kernel, in the order of their properties."""
    return sorted(kernel.theorems, key=lambda theorem: PROPERTIES.index(theorem.property))
