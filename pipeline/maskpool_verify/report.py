"""The report of a check: what was proved about which program, by which Lean, resting on what.

The JSON form is described in ``docs/report.md``; its schema name changes with its fields.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from errno import EACCES, EISDIR
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from maskpool_verify.engine.protocol import EngineInfo
from maskpool_verify.errors import UsageError
from maskpool_verify.files import disk_faults, write_whole
from maskpool_verify.lean.properties import Property
from maskpool_verify.listing import ListedEquation
from maskpool_verify.manifest import Arithmetic
from maskpool_verify.provenance import Provenance
from maskpool_verify.reals import ABSTRACT, RealsReport
from maskpool_verify.refute.counterexample import Counterexample, FloatWarning
from maskpool_verify.second_kernel import SecondKernelResult
from maskpool_verify.stress.report import StressReport

Verdict: TypeAlias = Literal["verified", "refuted", "unproved", "unsupported", "stale", "error"]

SCHEMA: Literal["maskpool-verify/report/3"] = "maskpool-verify/report/3"

_SEVERITY: tuple[Verdict, ...] = ("verified", "unproved", "refuted", "unsupported", "stale", "error")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True, populate_by_name=True)


class Place(_Model):
    """A line of the user's code; ``file`` is relative to the manifest's directory if it lies in there."""

    file: Annotated[str, Field(min_length=1)]
    line: Annotated[int, Field(ge=1)]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @classmethod
    def of(cls, source: str) -> Place | None:
        """From ``"file:line"``; ``None`` if it names no line of a file, as ``"<lambda>:0"``."""
        file, _, line = source.rpartition(":")
        known = file and not file.startswith("<") and line.isdecimal() and int(line) > 0
        return cls(file=file, line=int(line)) if known else None


class TraceReport(_Model):
    """One imported program: ``shape`` gives the size of each symbol, ``equations`` their number.

    A size that is left open is the name under which it is. ``listing`` shows the Jaxpr beside the program.
    """

    shape: dict[str, int | str]
    equations: int
    digest: str
    listing: tuple[ListedEquation, ...] = ()


class TheoremReport(_Model):
    """One theorem that the manifest asks for.

    ``statement`` is printed from the compiled term if there is one, else it is the text that was tried.
    ``padded_shape`` is the larger shape of a padding theorem. ``axioms`` are all that its proof reaches;
    ``library_theorems`` counts the theorems of Lean's own library below it whose proofs the engine does not
    ship.
    ``digest`` covers all that the statement means (see :mod:`maskpool_verify.meaning`).
    ``reason`` says why a theorem failed: itself, or the theorem that it rests on.
    """

    name: str
    property: Property
    shape: dict[str, int | str]
    padded_shape: dict[str, int | str] | None = None
    statement: str
    digest: str | None = None
    axioms: tuple[str, ...] = ()
    library_theorems: int = 0
    status: Literal["proved", "failed", "refuted"]
    reason: str | None = None


class Lack(_Model):
    """A property that was tried and is not proved, and that the manifest does not require.

    ``name`` is that of its theorem, and ``shape`` the shape of the kernel.
    ``equation`` is the first one that lets through what masked rows hold, ``source`` the user's line that it
    came from; both are ``None`` where Lean names no equation.
    """

    name: str
    property: Property
    shape: dict[str, int | str]
    equation: str | None = None
    source: str | None = None


class KernelReport(_Model):
    """What is known about one kernel.

    There is at most one counterexample for a property: ``proved`` ones are what ``refuted`` means, and those
    that are only ``observed`` belong to a kernel that cannot be imported. ``warnings`` say where floating
    point breaks what the reals do not. ``place`` is where the function is defined, and ``problem`` the first
    line of the user's code that ``messages`` name. ``constraints`` are those of the manifest, which the
    theorems for all sizes have as hypotheses; at the sizes ``witness`` they hold. ``arithmetic`` is what the
    theorems are about, but for those that hold over any.
    """

    name: str
    arithmetic: Arithmetic = "real"
    verdict: Verdict
    place: Place | None = None
    problem: Place | None = None
    constraints: tuple[str, ...] = ()
    witness: dict[str, int] | None = None
    traces: tuple[TraceReport, ...] = ()
    theorems: tuple[TheoremReport, ...] = ()
    lacks: tuple[Lack, ...] = ()
    counterexamples: tuple[Counterexample, ...] = ()
    warnings: tuple[FloatWarning, ...] = ()
    messages: tuple[str, ...] = ()


class AuditReport(_Model):
    """The audit over all kernels: ``audited`` theorems were found and walked."""

    allowed: tuple[str, ...]
    audited: int
    violations: tuple[str, ...]


class Report(_Model):
    """The result of ``maskpool-verify check``.

    ``definitions`` are the declarations of the project that the statements need, each with a digest.
    ``reals`` says whether the theorems were also proved of mathlib's real numbers. ``observed`` is what a
    stress run has shown in floating point, if one was asked for: evidence, which no verdict depends on.
    """

    schema_version: Literal["maskpool-verify/report/3"] = Field(alias="schema")
    verdict: Verdict
    engine: EngineInfo | None
    kernels: tuple[KernelReport, ...]
    audit: AuditReport
    second_kernel: SecondKernelResult | None
    definitions: dict[str, str]
    provenance: Provenance
    trusted: tuple[str, ...]
    reals: RealsReport = ABSTRACT
    observed: StressReport | None = None

    @property
    def exit_code(self) -> int:
        """0 if everything is verified, else 1."""
        return 0 if self.verdict == "verified" else 1


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the whole: the worst of its parts; ``error`` if there are none."""
    return max(verdicts, key=_SEVERITY.index, default="error")


def with_reals(report: Report, reals: RealsReport) -> Report:
    """The report with what is known about mathlib's real numbers, of which nothing may fail."""
    verdict = worst([report.verdict, "unproved" if reals.violations else "verified"])
    return report.model_copy(update={"verdict": verdict, "reals": reals})


def trusted(
    engine: EngineInfo | None, library_theorems: int | None, second: SecondKernelResult | None
) -> tuple[str, ...]:
    """What stays outside of the proofs, in words.

    ``library_theorems`` counts those of Lean's library without proofs; None if nothing was audited.
    """
    lean = f"Lean {engine.lean_version} ({engine.source})" if engine else "Lean"
    kernel = f"The kernel of {lean}, and the build of that engine."
    if second and second.status == "accepted" and second.kernel:
        kernel = (
            f"The kernel of native Lean {second.kernel.version} ({second.kernel.wheel}), which has checked "
            f"every proof that {lean} has built; and the terms that this program has given to it."
        )
    sentences = [
        "Floating point and XLA: the theorems are about exact real arithmetic, the compiled kernel rounds.",
        "JAX's tracer: the Jaxpr is taken to be what the kernel computes.",
        "The importer: that the imported program is the Jaxpr. A second, separate translation has to agree "
        "with it in Lean, and its values have to agree with JAX on random inputs.",
        kernel,
    ]
    if library_theorems:
        sentences.append(
            f"Lean's own library: this engine ships {library_theorems} of the theorems used here without "
            "their proofs, so that the axioms below them are not known from its files."
        )
    elif library_theorems == 0:
        sentences.append(
            "Of Lean's own library, nothing: the audit has walked its proofs too, down to the axioms."
        )
    return tuple(sentences)


def to_json(report: Report) -> str:
    """The report as JSON text."""
    return report.model_dump_json(indent=2, by_alias=True) + "\n"


def from_json(text: str) -> Report:
    """Read a report; pydantic's ``ValidationError`` if it is not one."""
    return Report.model_validate_json(text)


def read(path: Path) -> Report:
    """Read a report from a file.

    Raises:
        UsageError: there is none, or it is of another schema.
    """
    try:
        return from_json(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The report {path} cannot be read: {error}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(f"{path} is no report of this version: {first['msg']} at {where}.") from None


def require_writable(path: Path) -> None:
    """Make the directory of a report, so that a check does not end without its report.

    Raises:
        EnvironmentFault: there cannot be a file at ``path``.
    """
    with disk_faults("write the report to", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES), str(path.parent))


def write(text: str, path: Path) -> None:
    """Write a report in one of its formats.

    Raises:
        EnvironmentFault: the file cannot be written.
    """
    with disk_faults("write the report to", path):
        write_whole(path, text.encode())
