"""The whole check: trace again, compare with the certificates, build, audit, report.

Data flows one way: manifest -> traces -> certificates -> compiled artifacts -> audit -> report. Every theorem
in the report was asked for by the manifest; what the files contain beyond that is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from maskpool_verify import certificates
from maskpool_verify.audit import AuditResult, TheoremAudit, audit
from maskpool_verify.diagnose import Diagnosis
from maskpool_verify.engine.protocol import Engine, Message, ModuleResult, Progress
from maskpool_verify.errors import AuditError, EnvironmentFault, TraceError, UnsupportedError
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.lean.properties import Theorem, properties_module, theorems, trace_module
from maskpool_verify.lean.render import module_path
from maskpool_verify.manifest import Kernel, Manifest
from maskpool_verify.program import digest
from maskpool_verify.report import (
    SCHEMA,
    AuditReport,
    KernelReport,
    Report,
    TheoremReport,
    TraceReport,
    Verdict,
    trusted,
    worst,
)

LIBRARY = "MaskPool"
"""The module that imports the whole library."""

OPEN_NAMESPACES = ("MaskPool", "MaskPool.RealArith")
"""Left out of the names in printed statements."""

Stage: TypeAlias = Literal["trace", "build", "audit"]


@dataclass(frozen=True)
class Step:
    """Progress: what is being done; ``build`` is set while Lean works."""

    stage: Stage
    subject: str
    build: Progress | None = None


@dataclass
class _Case:
    """One kernel on its way through the stages."""

    kernel: Kernel
    traces: tuple[TracedKernel, ...] = ()
    verdict: Verdict | None = None
    messages: list[str] = field(default_factory=list)

    @property
    def modules(self) -> tuple[str, ...]:
        shapes = self.kernel.shapes
        return (*(trace_module(self.kernel, shape) for shape in shapes), properties_module(self.kernel))


def check(
    manifest: Manifest,
    kernels: Sequence[Kernel],
    engine: Engine,
    *,
    fresh: bool = False,
    progress: Callable[[Step], None] = lambda _: None,
) -> Report:
    """Check ``kernels``, all of ``manifest`` or some, with one engine.

    Raises:
        EnvironmentFault: the engine cannot be used, or files cannot be read or written.
        StaleError: there are Lean files below ``certificates/`` that belong to no kernel.
        ManifestError: a function does not fit its arguments.
    """
    certificates.require_no_orphans(manifest)
    if not (manifest.root / module_path(LIBRARY)).is_file():
        raise EnvironmentFault(
            f"{manifest.root} has no {module_path(LIBRARY)}; the manifest has to lie beside the Lean library."
        )
    cases = [_trace(manifest, kernel, progress) for kernel in kernels]
    current = [case for case in cases if case.verdict is None]
    info = engine.info()
    built: Mapping[str, ModuleResult] = {}
    if current:
        wanted = [LIBRARY, *(module for case in current for module in case.modules)]
        built = engine.build(
            manifest.root,
            wanted,
            fresh=fresh,
            progress=lambda step: progress(Step("build", step.module, step)),
        )
        for case in current:
            _library_failures(case, built)
    audited = _audit(manifest, engine, current, built, progress)
    reports = [_report(case, built, audited) for case in cases]
    library_theorems = max((t.library_theorems for t in audited.theorems.values()), default=0)
    return Report(
        schema=SCHEMA,
        verdict=worst([report.verdict for report in reports]),
        engine=info,
        kernels=tuple(reports),
        audit=AuditReport(
            allowed=audited.allowed,
            audited=sum(t.kind != "missing" for t in audited.theorems.values()),
            violations=audited.violations,
        ),
        trusted=trusted(info, library_theorems),
    )


def _trace(manifest: Manifest, kernel: Kernel, progress: Callable[[Step], None]) -> _Case:
    """Trace a kernel at its shapes, and compare with the committed certificates."""
    progress(Step("trace", kernel.name))
    case = _Case(kernel)
    try:
        case.traces = tuple(trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes)
        case.messages += certificates.stale(manifest.root, kernel, case.traces)
    except UnsupportedError as error:
        case.verdict, case.messages = "unsupported", [str(error)]
    except TraceError as error:
        case.verdict, case.messages = "error", [str(error)]
    if case.messages and case.verdict is None:
        case.verdict = "stale"
    return case


def _errors(result: ModuleResult) -> list[Message]:
    return [message for message in result.messages if message.severity == "error"]


def _place(message: Message) -> str:
    position = message.position
    return f"{message.file}:{position.line}:{position.column}" if position else message.file


def _library_failures(case: _Case, built: Mapping[str, ModuleResult]) -> None:
    """A module of the library that does not build is an error of the project, not of a kernel."""
    for module, result in built.items():
        if module not in case.modules and result.status == "failed" and module.split(".")[0] == LIBRARY:
            case.verdict = "error"
            case.messages += [
                f"The library module {module} does not build: {_place(m)}: {m.text.splitlines()[0]}"
                for m in _errors(result)[:1]
            ]


# -- the audit


@dataclass(frozen=True)
class _Audited:
    """``general`` are the violations that belong to no theorem."""

    allowed: tuple[str, ...] = ()
    theorems: Mapping[str, TheoremAudit] = field(default_factory=dict)
    general: tuple[str, ...] = ()

    @property
    def violations(self) -> tuple[str, ...]:
        return (*self.general, *(v for found in self.theorems.values() for v in found.violations))


def _audit(
    manifest: Manifest,
    engine: Engine,
    cases: Sequence[_Case],
    built: Mapping[str, ModuleResult],
    progress: Callable[[Step], None],
) -> _Audited:
    """Audit every wanted theorem whose module was built."""
    done = {module for module, result in built.items() if result.status in ("built", "cached")}
    modules = [module for case in cases for module in case.modules if module in done]
    wanted = [t for case in cases for t in theorems(case.kernel) if t.module in done]
    if not wanted:
        return _Audited(general=("No theorem was audited.",))
    progress(Step("audit", f"{len(wanted)} theorems"))
    artifacts = engine.artifacts(manifest.root)
    try:
        result: AuditResult = audit(
            artifacts.own, artifacts.library, modules, [t.dotted for t in wanted], OPEN_NAMESPACES
        )
    except AuditError as error:
        for case in cases:
            case.verdict = "error"
            case.messages.append(f"The audit failed: {error}")
        return _Audited(general=(str(error),))
    general = list(result.violations)
    info = engine.info()
    if (result.lean_version, result.githash) != (info.lean_version, info.githash):
        general.append(
            f"The artifacts are of Lean {result.lean_version} ({result.githash}), "
            f"the engine is Lean {info.lean_version} ({info.githash})."
        )
    return _Audited(result.allowed_axioms, {found.name: found for found in result.theorems}, tuple(general))


# -- the verdicts


def _report(case: _Case, built: Mapping[str, ModuleResult], audited: _Audited) -> KernelReport:
    """What is known about one kernel."""
    traces = tuple(
        TraceReport(shape=t.program.shape, equations=len(t.program.equations), digest=digest(t.program))
        for t in case.traces
    )
    wanted = theorems(case.kernel) if case.verdict in (None, "error") and case.traces else ()
    reports = tuple(_theorem(case, theorem, built, audited) for theorem in wanted)
    verdict: Verdict = case.verdict or "verified"
    if verdict == "verified" and (
        audited.general or any(r.status == "failed" for r in reports) or not reports
    ):
        verdict = "unproved"
        case.messages += [*audited.general, *_remaining(case, reports, built)]
    return KernelReport(
        name=case.kernel.name,
        verdict=verdict,
        traces=traces,
        theorems=reports,
        messages=tuple(case.messages),
    )


def _theorem(
    case: _Case, theorem: Theorem, built: Mapping[str, ModuleResult], audited: _Audited
) -> TheoremReport:
    """The state of one theorem: proved only if it was found, walked, and without a violation."""
    found = audited.theorems.get(theorem.dotted)
    reason: str | None = None
    if found is None:
        reason = _why_not_built(case, theorem, built)
    elif found.violations:
        reason = found.violations[0]
    elif found.module != theorem.module:
        reason = f"it is in {found.module}, and not in {theorem.module}"
    return TheoremReport(
        name=theorem.dotted,
        property=theorem.proves,
        shape=theorem.shape,
        padded_shape=theorem.padded_shape,
        statement=(found and found.statement) or theorem.statement,
        axioms=found.axioms if found else (),
        library_theorems=found.library_theorems if found else 0,
        status="failed" if reason else "proved",
        reason=reason,
    )


_OTHER = "its module did not build, since another proof in it failed"


def _why_not_built(case: _Case, theorem: Theorem, built: Mapping[str, ModuleResult]) -> str:
    """Why a theorem is in no artifact."""
    result = built.get(theorem.module)
    if result is None:
        return "it was not built"
    if result.status == "skipped":
        return "a module that it imports did not build"
    failed = _failed_theorems(case, result)
    if theorem.dotted in failed:
        return "its proof did not go through"
    if not failed:
        errors = _errors(result)
        return (
            f"its module did not build: {errors[0].text.splitlines()[0]}"
            if errors
            else "its module did not build"
        )
    if theorem.proves in ("specification", "translation"):
        return _OTHER
    shapes = [shape for shape in (theorem.shape, theorem.padded_shape) if shape]
    needed = [
        t.dotted
        for t in theorems(case.kernel)
        if t.proves == "specification" and t.shape in shapes and t.dotted in failed
    ]
    return (
        f"it rests on {needed[0]}" if needed else "its module did not build, since another proof in it failed"
    )


def _failed_theorems(case: _Case, result: ModuleResult) -> dict[str, Message]:
    """The theorems of a module whose proofs have an error, with the first one, by the lines of the file."""
    text = certificates.files(case.kernel, case.traces).get(module_path(result.module), "")
    lines = text.splitlines()
    starts: list[tuple[int, str]] = []
    namespace = ""
    for number, line in enumerate(lines, 1):
        if line.startswith("namespace "):
            namespace = line.removeprefix("namespace ")
        elif line.startswith(("theorem ", "def ")):
            starts.append((number, f"{namespace}.{line.split()[1]}"))
    failed: dict[str, Message] = {}
    for message in _errors(result):
        if message.position:
            owner = [name for number, name in starts if number <= message.position.line]
            if owner:
                failed.setdefault(owner[-1], message)
    return failed


def _remaining(case: _Case, reports: Sequence[TheoremReport], built: Mapping[str, ModuleResult]) -> list[str]:
    """For each proof that failed: the goal that remained, and what runs of the program show."""
    diagnosis = Diagnosis(case.kernel, case.traces)
    sentences: list[str] = []
    for module in case.modules:
        result = built.get(module)
        if result is None or result.status != "failed":
            continue
        for name, message in _failed_theorems(case, result).items():
            sentences.append(f"{name} failed at {_place(message)}:\n{message.text}")
    seen: set[str] = set()
    for report in reports:
        if report.status == "failed" and report.property != "translation":
            finding = diagnosis.finding(report.property, report.shape, report.padded_shape)
            if finding is not None and finding not in seen:
                seen.add(finding)
                sentences.append(f"Running the program at random inputs: {finding}.")
    return sentences
