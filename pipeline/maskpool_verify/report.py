"""The report of a check: what was proved about which program, by which Lean, resting on what.

The JSON form is described in ``docs/report.md``; its schema name changes with its fields.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from maskpool_verify.engine.protocol import EngineInfo
from maskpool_verify.files import disk_faults, write_whole
from maskpool_verify.lean.properties import Property

Verdict: TypeAlias = Literal["verified", "refuted", "unproved", "unsupported", "stale", "error"]

SCHEMA: Literal["maskpool-verify/report/1"] = "maskpool-verify/report/1"

_SEVERITY: tuple[Verdict, ...] = ("verified", "unproved", "refuted", "unsupported", "stale", "error")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True, populate_by_name=True)


class TraceReport(_Model):
    """One imported program: ``shape`` gives the size of each symbol, ``equations`` their number."""

    shape: dict[str, int]
    equations: int
    digest: str


class TheoremReport(_Model):
    """One theorem that the manifest asks for.

    ``statement`` is printed from the compiled term if there is one, else it is the text that was tried.
    ``padded_shape`` is the larger shape of a padding theorem. ``axioms`` are all that its proof reaches;
    ``library_theorems`` counts the theorems of Lean's own library below it whose proofs the engine does not
    ship.
    ``reason`` says why a theorem failed: itself, or the theorem that it rests on.
    """

    name: str
    property: Property
    shape: dict[str, int]
    padded_shape: dict[str, int] | None = None
    statement: str
    axioms: tuple[str, ...] = ()
    library_theorems: int = 0
    status: Literal["proved", "failed"]
    reason: str | None = None


class KernelReport(_Model):
    """What is known about one kernel. ``counterexample`` is always null in this version of the schema."""

    name: str
    verdict: Verdict
    traces: tuple[TraceReport, ...] = ()
    theorems: tuple[TheoremReport, ...] = ()
    counterexample: None = None
    messages: tuple[str, ...] = ()


class AuditReport(_Model):
    """The audit over all kernels: ``audited`` theorems were found and walked."""

    allowed: tuple[str, ...]
    audited: int
    violations: tuple[str, ...]


class Report(_Model):
    """The result of ``maskpool-verify check``."""

    schema_version: Literal["maskpool-verify/report/1"] = Field(SCHEMA, alias="schema")
    verdict: Verdict
    engine: EngineInfo | None
    kernels: tuple[KernelReport, ...]
    audit: AuditReport
    trusted: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 if everything is verified, else 1."""
        return 0 if self.verdict == "verified" else 1


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the whole: the worst of its parts; ``error`` if there are none."""
    return max(verdicts, key=_SEVERITY.index, default="error")


def trusted(engine: EngineInfo | None, library_theorems: int) -> tuple[str, ...]:
    """What stays outside of the proofs, in words."""
    lean = f"Lean {engine.lean_version} ({engine.source})" if engine else "Lean"
    sentences = [
        "Floating point and XLA: the theorems are about exact real arithmetic, the compiled kernel rounds.",
        "JAX's tracer: the Jaxpr is taken to be what the kernel computes.",
        "The importer: that the imported program is the Jaxpr. A second, separate translation has to agree "
        "with it in Lean, and its values have to agree with JAX on random inputs.",
        f"The kernel of {lean}, and the build of that engine.",
    ]
    if library_theorems:
        sentences.append(
            f"Lean's own library: this engine ships {library_theorems} of the theorems used here without "
            "their proofs, so that the axioms below them are not known from its files."
        )
    return tuple(sentences)


def to_json(report: Report) -> str:
    """The report as JSON text."""
    return report.model_dump_json(indent=2, by_alias=True) + "\n"


def from_json(text: str) -> Report:
    """Read a report; pydantic's ``ValidationError`` if it is not one."""
    return Report.model_validate_json(text)


def write(report: Report, path: Path) -> None:
    """Write the JSON form.

    Raises:
        EnvironmentFault: the file cannot be written.
    """
    with disk_faults("write the report to", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, to_json(report).encode())
