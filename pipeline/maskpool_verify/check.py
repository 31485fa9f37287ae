"""The whole check: trace again, compare with the certificates, build, audit, report.

Data flows one way: manifest -> traces -> certificates -> compiled artifacts -> audit -> report. Every theorem
in the report was asked for by the manifest; what the files contain beyond that is ignored.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from maskpool_verify import certificates, lock, provenance, refute, second_kernel, stress, workspace
from maskpool_verify.audit import TheoremAudit, audit
from maskpool_verify.engine.protocol import Artifacts, Engine, EngineInfo, ModuleResult, Progress
from maskpool_verify.errors import AuditError, MaskpoolError, TraceError, UnsupportedError
from maskpool_verify.failures import Failure, by_specification, errors, failures, goals, place
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.lean.bags import shape_name
from maskpool_verify.lean.properties import (
    PROPERTIES,
    ROOT,
    Property,
    Theorem,
    optional_module,
    optional_theorems,
    properties_module,
    proved_module,
    theorems,
    trace_module,
)
from maskpool_verify.lean.render import module_path, optional_file, properties_file, score_axes
from maskpool_verify.lean.selection import leaking_variable
from maskpool_verify.listing import listing
from maskpool_verify.loading import UserFiles, definition, load_function
from maskpool_verify.manifest import Kernel, Manifest
from maskpool_verify.program import digest
from maskpool_verify.report import (
    SCHEMA,
    AuditReport,
    KernelReport,
    Lack,
    Place,
    Report,
    TheoremReport,
    TraceReport,
    Verdict,
    trusted,
    worst,
)
from maskpool_verify.sources import require_clean, require_no_links, tree
from maskpool_verify.workspace import LAKE_FILES, LIBRARY

OPEN_NAMESPACES = ("MaskPool", "MaskPool.RealArith", ROOT)
"""Left out of the names in printed statements."""

SEARCH_SECONDS = 10.0
"""For a counterexample to one property."""
FURTHER_SECONDS = 2.0
"""For each property after one has been refuted."""

LEAN_SECONDS = 50.0
"""For Lean on the generated modules of one kernel, if the engine can limit that."""
INSTANCE_SECONDS = 5.0
"""For Lean in addition, for each listed shape of a kernel with theorems about all shapes."""
KERNEL_SECONDS = 60.0
"""For Lean and the searches of one kernel together, unless one search alone may take longer."""

_LINE_OF_PYTHON = re.compile(r"\.py:(?P<line>\d+)")
_LONGEST_NAME = 250
"""Of a file that is looked for; file systems refuse much longer ones."""

Stage: TypeAlias = Literal["trace", "build", "audit", "replay", "search", "stress"]


@dataclass(frozen=True)
class Step:
    """Progress: what is being done; ``build`` is set while Lean works."""

    stage: Stage
    subject: str
    build: Progress | None = None


@dataclass
class _Case:
    """One kernel on its way through the stages; ``verdict`` is set once it cannot be verified any more."""

    kernel: Kernel
    traces: tuple[TracedKernel, ...] = ()
    verdict: Verdict | None = None
    messages: list[str] = field(default_factory=list)
    apart: frozenset[str] = frozenset()
    """The theorems that were built without the others of their module, which has an error."""

    @property
    def modules(self) -> tuple[str, ...]:
        return _modules(self.kernel)

    def module(self, theorem: Theorem) -> str:
        """The module with a theorem."""
        return proved_module(theorem.module) if theorem.dotted in self.apart else theorem.module

    @cached_property
    def theorems(self) -> tuple[Theorem, ...]:
        """The theorems that are wanted of the kernel, once it has been traced."""
        return theorems(self.kernel, score_axes(self.kernel, self.traces))

    def compare(self, manifest: Manifest) -> None:
        """Compare the certificates on disk with what the kernel gives."""
        if stale := certificates.stale(manifest.root, self.kernel, self.traces):
            self.verdict, self.messages = "stale", stale

    def fail(self, verdict: Verdict, *messages: str) -> None:
        self.verdict = verdict
        self.messages += messages


def _modules(kernel: Kernel) -> tuple[str, ...]:
    """The generated modules of a kernel."""
    return (
        *(trace_module(kernel, shape) for shape in kernel.shapes),
        properties_module(kernel),
        *([optional_module(kernel)] if any(optional_theorems(kernel)) else []),
    )


def session(
    manifest: Manifest, kernels: Sequence[Kernel], engine: Engine, *, fresh: bool = False
) -> AbstractContextManager[None]:
    """Within it a :func:`check` of ``kernels`` may come; the engine starts if there seems to be work."""
    modules = [LIBRARY, *(module for kernel in kernels for module in _modules(kernel))]
    return engine.session(workspace.directory(manifest), modules, fresh=fresh)


def check(
    manifest: Manifest,
    kernels: Sequence[Kernel],
    engine: Engine,
    *,
    fresh: bool = False,
    second: second_kernel.Mode = "auto",
    lean_seconds: float = LEAN_SECONDS,
    search_seconds: float = SEARCH_SECONDS,
    stress_seconds: float = 0.0,
    require_accepted: bool = True,
    traced: Mapping[str, Sequence[TracedKernel]] = MappingProxyType({}),
    progress: Callable[[Step], None] = lambda _: None,
    on_wait: Callable[[], None] = lambda: None,
) -> Report:
    """Check ``kernels``, all of ``manifest`` or some, with one engine.

    ``second`` says whether a second kernel checks every proof again, ``lean_seconds`` how long Lean may be at
    work for one kernel, ``search_seconds`` how long to search for a counterexample to a property that is not
    proved, ``stress_seconds`` how long to run each kernel on
    adversarial inputs (0: not at all), ``require_accepted`` whether statements have to be
    those of the lock. ``traced`` are the kernels that the caller has just traced, at all of their shapes, by
    their names. ``on_wait`` is called once if another process is at work in the same project and has
    to end first.

    Raises:
        EnvironmentFault: the engine cannot be used, or files cannot be read or written.
        StaleError: there are Lean files below ``certificates/`` that belong to no kernel, or the lock is
            damaged.
        AuditError: a Lean source contains what could go around Lean's kernel.
        ManifestError: a function does not fit its arguments, or the project has a Lean library that would
            not be used.
    """
    workspace.require_one_library(manifest)
    with ExitStack() as building:
        building.enter_context(session(manifest, kernels, engine, fresh=fresh))
        with ThreadPoolExecutor() as pool:  # the checksums of the engine are computed while JAX traces
            described = pool.submit(engine.info)
            cases = [_trace(manifest, kernel, traced.get(kernel.name), progress) for kernel in kernels]
            described.result()
        artifacts = engine.artifacts(workspace.directory(manifest))
        with (
            second_kernel.Replaying(artifacts.own, artifacts.library, mode=second) as replaying,
            certificates.locked(manifest.root, on_wait),
        ):
            report = _check(
                manifest,
                cases,
                engine,
                building,
                artifacts,
                replaying,
                fresh=fresh,
                lean_seconds=lean_seconds,
                search_seconds=search_seconds,
                require_accepted=require_accepted,
                progress=progress,
            )
    if stress_seconds <= 0:
        return report
    return report.model_copy(update={"observed": _observed(manifest, cases, stress_seconds, progress)})


def _observed(
    manifest: Manifest, cases: Sequence[_Case], seconds: float, progress: Callable[[Step], None]
) -> stress.StressReport | None:
    """What the kernels that can be called do with adversarial inputs."""
    found = []
    for case in cases:
        progress(Step("stress", case.kernel.name))
        with suppress(TraceError):  # the report says so already
            found.append(stress.stress(case.kernel, root=manifest.root, budget_seconds=seconds))
    return stress.joined(found) if found else None


def _check(
    manifest: Manifest,
    cases: Sequence[_Case],
    engine: Engine,
    building: ExitStack,
    artifacts: Artifacts,
    replaying: second_kernel.Replaying,
    *,
    fresh: bool,
    lean_seconds: float,
    search_seconds: float,
    require_accepted: bool,
    progress: Callable[[Step], None],
) -> Report:
    """``building`` is the session that ends when all is built; ``replaying`` the second kernel."""
    certificates.require_no_orphans(manifest)
    accepted = lock.read(manifest.root) if require_accepted else None
    require_no_links(tree(manifest.root / ROOT), manifest.root)
    work = workspace.prepare(manifest)
    require_clean(
        work.root,
        (work.root / LIBRARY, work.root / ROOT),
        _lean_sources(work.root),
        [work.root / name for name in LAKE_FILES],
    )
    current = [case for case in cases if case.verdict is None]
    for case in current:
        case.compare(manifest)
    current = [case for case in current if case.verdict is None]
    info = engine.info()
    built: dict[str, ModuleResult] = {}
    limits = {case.kernel.name: _lean_seconds(case.kernel, lean_seconds) for case in cases}

    def told(step: Progress) -> None:
        if step.result is not None and _is_there(step.result):
            replaying.add([step.module])
        progress(Step("build", step.module, step))

    clock = _Clock(limits, told)
    if current:
        wanted = [LIBRARY, *(module for case in current for module in case.modules)]
        built = engine.build(work.root, wanted, fresh=fresh, seconds=clock.left, progress=clock.step)
        built |= _build_apart(work.root, current, built, engine, clock)
    building.close()
    audited = _audit(artifacts, info, current, built, replaying, progress)
    for case in current:
        case.compare(manifest)  # once more, for what was built is what the files held in between
    work.require_unchanged()
    reports = []
    for case in cases:
        left = max(search_seconds, KERNEL_SECONDS - clock.spent(case.kernel.name))
        search = _Search(manifest, case, search_seconds, left, progress)
        reports.append(_report(manifest, case, built, audited, accepted, search))
    library_theorems = max((t.library_theorems for t in audited.theorems.values()), default=None)
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
        second_kernel=audited.second,
        provenance=_provenance(manifest, work.root, info, artifacts, cases),
        definitions=dict(audited.definitions),
        trusted=trusted(info, library_theorems, audited.second),
    )


@dataclass
class _Clock:
    """How long Lean has been at work for each kernel, and how long it may be."""

    limits: Mapping[str, float]
    progress: Callable[[Progress], None]
    _spent: dict[str, float] = field(default_factory=dict)

    def spent(self, kernel: str) -> float:
        """Seconds so far, for the modules that have ended."""
        return self._spent.get(kernel, 0.0)

    def left(self, module: str) -> float:
        """Seconds that a module may take; as many as it likes if it is of none of the kernels."""
        kernel = _kernel_of(module)
        return self.limits.get(kernel, math.inf) - self.spent(kernel)

    def step(self, step: Progress) -> None:
        """A module has begun, or has ended."""
        kernel = _kernel_of(step.module)
        if step.result is not None:
            self._spent[kernel] = self.spent(kernel) + step.result.seconds
        self.progress(step)


def _lean_seconds(kernel: Kernel, seconds: float) -> float:
    """How long Lean may be at work for a kernel."""
    instances = len(kernel.shapes) - 1 if kernel.is_open else 0
    return seconds + INSTANCE_SECONDS * instances


def _is_there(result: ModuleResult) -> bool:
    """Whether the artifacts of a module are those of its source."""
    return result.status in ("built", "cached")


def _kernel_of(module: str) -> str:
    """The kernel of a generated module; nothing for another one."""
    top, *rest = module.split(".")
    return rest[0] if top == ROOT and rest else ""


def _build_apart(
    root: Path,
    cases: Sequence[_Case],
    built: Mapping[str, ModuleResult],
    engine: Engine,
    clock: _Clock,
) -> Mapping[str, ModuleResult]:
    """Build, for every module with an error, the theorems that do not rest on one.

    Lean writes no artifact of a module with an error, and what is not in an artifact is not proved.
    """
    texts: dict[str, str] = {}
    for case in cases:
        version = case.traces[0].program.jax_version
        for module, render in (
            (properties_module(case.kernel), properties_file),
            (optional_module(case.kernel), optional_file),
        ):
            if unharmed := _unharmed(case, module, built):
                case.apart |= unharmed
                texts[proved_module(module)] = render(case.kernel, case.traces, version, unharmed)
    if not texts:
        return {}
    with certificates.temporarily(root, {module_path(module): text for module, text in texts.items()}):
        return engine.build(root, [*texts], seconds=clock.left, progress=clock.step)


def _unharmed(case: _Case, module: str, built: Mapping[str, ModuleResult]) -> frozenset[str]:
    """The theorems of a module with an error that rest on no failed proof."""
    result = built.get(module)
    if result is None or result.status != "failed":
        return frozenset()
    text = certificates.files(case.kernel, case.traces)[module_path(module)]
    failed = {failure.theorem for failure in failures(text, result)}
    if not failed:
        return frozenset()  # Lean itself ended badly
    resting = by_specification(text, result)
    unmet = [t.shape for t in case.theorems if t.proves == "specification" and t.dotted in failed]
    return frozenset(
        t.dotted
        for t in case.theorems
        if t.module == module
        and t.dotted not in failed
        and not (t.dotted in resting and (t.shape in unmet or t.padded_shape in unmet))
    )


def _lean_sources(root: Path) -> list[Path]:
    """All Lean files that a build may read."""
    folders = (root / LIBRARY, root / ROOT)
    return [root / module_path(LIBRARY), *(f for d in folders for f in sorted(d.rglob("*.lean")))]


def _provenance(
    manifest: Manifest, work: Path, info: EngineInfo, artifacts: Artifacts, cases: Sequence[_Case]
) -> provenance.Provenance:
    """Checksums of everything that went into this check; ``work`` is where Lean was at work."""
    root = manifest.root
    places = {trace.place[0] for case in cases for trace in case.traces if trace.place is not None}
    kernels = {place: provenance.sha256(place) for place in places}
    named = {
        path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name: checksum
        for path, checksum in kernels.items()
    }
    built = provenance.checksums(work, [*_lean_sources(work), *(work / name for name in LAKE_FILES)])
    return provenance.Provenance(
        versions=provenance.versions(f"{info.lean_version} ({info.githash})"),
        sources=built | provenance.checksums(root, [manifest.path, root / lock.PATH]) | named,
        engine=info.files,
        artifacts=provenance.checksums(artifacts.own, artifacts.own.rglob("*.olean*")),
    )


def _trace(
    manifest: Manifest,
    kernel: Kernel,
    traced: Sequence[TracedKernel] | None,
    progress: Callable[[Step], None],
) -> _Case:
    """Trace a kernel at its shapes, unless that has been done."""
    if traced is not None:
        return _Case(kernel, tuple(traced))
    progress(Step("trace", kernel.name))
    case = _Case(kernel)
    try:
        case.traces = tuple(trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes)
    except UnsupportedError as error:
        case.fail("unsupported", str(error))
    except TraceError as error:
        case.fail("error", str(error))
    return case


# -- the audit


@dataclass(frozen=True)
class _Audited:
    """``general`` are the violations that belong to no theorem."""

    allowed: tuple[str, ...] = ()
    theorems: Mapping[str, TheoremAudit] = field(default_factory=dict)
    general: tuple[str, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)
    second: second_kernel.SecondKernelResult | None = None

    @property
    def violations(self) -> tuple[str, ...]:
        return (*self.general, *(v for found in self.theorems.values() for v in found.violations))


def _audit(
    artifacts: Artifacts,
    info: EngineInfo,
    cases: Sequence[_Case],
    built: Mapping[str, ModuleResult],
    replaying: second_kernel.Replaying,
    progress: Callable[[Step], None],
) -> _Audited:
    """Audit every wanted theorem whose module was built, while the second kernel is at work."""
    done = {module for module, result in built.items() if _is_there(result)}
    wanted = [t for case in cases for t in case.theorems if case.module(t) in done]
    modules = [
        part
        for case in cases
        for module in case.modules
        for part in (module, proved_module(module))
        if part in done
    ]
    if not wanted:
        return _Audited(general=("No theorem was audited.",))
    progress(Step("audit", f"{len(wanted)} theorems"))
    replaying.add(sorted(done))  # those that the engine has not told of
    try:
        names = [t.dotted for t in wanted]
        result = audit(artifacts.own, artifacts.library, modules, names, OPEN_NAMESPACES)
        progress(Step("replay", f"{len(done)} modules in a second kernel"))
        replayed = replaying.result()
    except AuditError as error:
        for case in cases:
            case.fail("error", f"The audit failed: {error}")
        return _Audited(general=(str(error),))
    general = list(result.violations)
    if (result.lean_version, result.githash) != (info.lean_version, info.githash):
        general.append(
            f"The artifacts are of Lean {result.lean_version} ({result.githash}), "
            f"the engine is Lean {info.lean_version} ({info.githash})."
        )
    if refusal := replayed.refusal:
        where = f" ({refusal.position})" if refusal.position else ""
        of_module = f"{refusal.declaration} of {refusal.module}{where}"
        what = of_module if refusal.declaration else "the artifacts"
        general.append(f"The second kernel refuses {what}: {refusal.error}. {refusal.meaning}")
    if replayed.status == "accepted":
        general += [
            f"The compiled files of {module} changed during the check; run it again."
            for module, digest in result.files.items()
            if replaying.files.get(module) != digest
        ]
    return _Audited(
        allowed=result.allowed_axioms,
        theorems={found.name: found for found in result.theorems},
        general=tuple(general),
        definitions=result.definitions,
        second=replayed,
    )


# -- the verdicts


@dataclass
class _Search:
    """Counterexamples to what was not proved, by the properties."""

    manifest: Manifest
    case: _Case
    seconds: float
    """For one property."""
    left: float
    """For all that are still to come."""
    progress: Callable[[Step], None]
    found: dict[Property, refute.Counterexample] = field(default_factory=dict)

    @cached_property
    def subject(self) -> refute.Subject:
        return refute.Subject.of_traces(self.case.kernel, self.case.traces, self.manifest.root)

    def run(self, open_: Collection[Property]) -> None:
        """Search for a counterexample to each property in ``open_``.

        A kernel that was not imported is only run.
        """
        for property_ in refute.properties(self.case.kernel):
            budget = min(self.seconds, self.left, FURTHER_SECONDS if self.found else math.inf)
            if property_ not in open_ or budget <= 0:
                continue
            self.progress(Step("search", f"{self.case.kernel.name}: {property_}"))
            begin = time.monotonic()
            outcome = refute.examine(self.subject, property_, budget=budget)
            self.left -= time.monotonic() - begin
            if outcome.counterexample is not None:
                self.found[property_] = outcome.counterexample

    def warnings(self) -> tuple[refute.FloatWarning, ...]:
        """Where floating point alone breaks a property."""
        return refute.float_warnings(self.subject, tuple(self.found))


def _report(
    manifest: Manifest,
    case: _Case,
    built: Mapping[str, ModuleResult],
    audited: _Audited,
    accepted: lock.Lock | None,
    search: _Search,
) -> KernelReport:
    """What is known about one kernel."""
    reports: tuple[TheoremReport, ...] = ()
    lacks: tuple[Lack, ...] = ()
    warnings: tuple[refute.FloatWarning, ...] = ()
    if case.verdict == "unsupported":
        search.run(PROPERTIES)
    if case.traces and case.verdict in (None, "error"):
        broken = [m for m, result in built.items() if result.status == "failed" and m not in case.modules]
        if library := [module for module in broken if module.split(".")[0] == LIBRARY]:
            case.fail("error", *(_does_not_build(built[module]) for module in library))
        failed = _failed_proofs(case, built)
        lacking = [t for t in case.theorems if not t.required and t.dotted in failed]
        lacks = tuple(_lack(case, theorem, failed.pop(theorem.dotted)) for theorem in lacking)
        untried = [t for t in case.theorems if not t.required and _is_untried(case, t, built)]
        reports = tuple(
            _theorem(case, theorem, built, audited, failed)
            for theorem in case.theorems
            if theorem not in (*lacking, *untried)
        )
        if case.verdict is None and (audited.general or any(r.status != "proved" for r in reports)):
            case.fail("unproved", *audited.general)
            search.run({r.property for r in reports if r.status != "proved"})
            warnings = search.warnings()
            reports = tuple(_refuted(r) if r.property in search.found else r for r in reports)
            if search.found and not audited.general:
                case.verdict = "refuted"
            else:
                shown = [f for f in failed.values() if leaking_variable(f.message.text) is None]
                case.messages += goals(shown, {t.dotted: t for t in case.theorems})  # others name an equation
        if case.verdict is None and accepted is not None:
            _compare_statements(manifest, case, reports, lacking, audited, accepted)
    return KernelReport(
        name=case.kernel.name,
        arithmetic=case.kernel.arithmetic,
        verdict=case.verdict or ("verified" if reports else "error"),
        place=_defined_at(case, manifest.root),
        problem=next(filter(None, (mentioned(message, manifest.root) for message in case.messages)), None),
        constraints=case.kernel.assumed.texts,
        witness=dict(case.kernel.assumed.witness or {}) or None,
        traces=tuple(
            TraceReport(
                shape=t.program.shape,
                equations=len(t.program.equations),
                digest=digest(t.program),
                listing=listing(t, manifest.root),
            )
            for t in case.traces
        ),
        theorems=reports,
        lacks=lacks,
        counterexamples=tuple(search.found.values()),
        warnings=warnings,
        messages=tuple(case.messages),
    )


def _is_untried(case: _Case, theorem: Theorem, built: Mapping[str, ModuleResult]) -> bool:
    """Whether the module of a theorem was passed over because a required one is not proved."""
    properties = built.get(properties_module(case.kernel))
    own = built.get(theorem.module)
    return (
        properties is not None
        and properties.status in ("failed", "skipped")
        and own is not None
        and own.status == "skipped"
    )


def _lack(case: _Case, theorem: Theorem, failure: Failure) -> Lack:
    """What is known of a theorem whose proof has failed."""
    variable = leaking_variable(failure.message.text)
    equation, source = None, None
    if variable is not None:
        (traced,) = [t for t in case.traces if t.program.shape == theorem.shape]
        number = variable - len(traced.program.arguments)
        equation = f"v#{variable} `{certificates.equation_text(traced.program, number)}`"
        source = traced.sources[number]
    return Lack(
        name=theorem.dotted, property=theorem.proves, shape=theorem.shape, equation=equation, source=source
    )


def _defined_at(case: _Case, root: Path) -> Place | None:
    """Where the function of a kernel is defined; ``None`` if it cannot be loaded, or is not Python."""
    try:
        place = case.traces[0].place if case.traces else definition(load_function(case.kernel, root))
    except MaskpoolError:
        return None
    return place and Place.of(f"{UserFiles(root, place[0]).name(str(place[0]))}:{place[1]}")


def mentioned(message: str, root: Path) -> Place | None:
    """The first line of a Python file that a message names, as all of them do, by ``file:line``.

    Only files that there are count. Names may contain blanks, so the longest one that fits is taken.
    """
    for found in _LINE_OF_PYTHON.finditer(message):
        before = message[: found.start("line") - 1].splitlines()[-1][-_LONGEST_NAME:]
        starts = [0, *(match.end() for match in re.finditer(r"[\s\"'`(]", before))]
        for name in (before[start:] for start in starts):
            if (root / name).is_file():
                return Place.of(f"{name}:{found['line']}")
    return None


def _refuted(report: TheoremReport) -> TheoremReport:
    if report.status == "proved":
        return report
    return report.model_copy(update={"status": "refuted", "reason": "see the counterexample"})


def _compare_statements(
    manifest: Manifest,
    case: _Case,
    reports: Sequence[TheoremReport],
    lacking: Sequence[Theorem],
    audited: _Audited,
    accepted: lock.Lock,
) -> None:
    """The statements have to be those that a person has accepted."""
    prefix = f"{ROOT}.{case.kernel.name}."
    definitions = {
        name: digest
        for name, digest in audited.definitions.items()
        if name.startswith(prefix) or not name.startswith(f"{ROOT}.")  # not of another kernel
    }
    now = lock.of_reports(reports, definitions)
    found = lock.differences(accepted, now)
    lost = {theorem.dotted for theorem in lacking}
    found += [
        f"{name} was accepted, and is not proved any more"
        if name in lost
        else f"{name} was accepted, and the manifest does not ask for it any more"
        for name in lock.disappeared(accepted, now.statements)
        if name.startswith(prefix)
    ]
    present = tuple(f"{ROOT}.{kernel.name}." for kernel in manifest.kernels)
    dropped = [name for name in accepted.statements if not name.startswith(present)]
    if dropped:
        more = f" (and {len(dropped) - 1} more)" if len(dropped) > 1 else ""
        found.append(f"{dropped[0]}{more} was accepted, and the manifest does not have its kernel any more")
    if found:
        case.fail(
            "stale", *(f"{sentence}." for sentence in found), f"{lock.PATH} does not fit; {lock.ADVICE}."
        )


def _does_not_build(result: ModuleResult) -> str:
    """A sentence about a module with an error."""
    if not (found := errors(result)):
        return f"{result.module} does not build."
    return f"{result.module} does not build: {place(found[0])}: {found[0].text.splitlines()[0]}"


def _failed_proofs(case: _Case, built: Mapping[str, ModuleResult]) -> dict[str, Failure]:
    """The declarations of a kernel's modules that have an error, by name."""
    texts = certificates.files(case.kernel, case.traces)
    results = [built[module] for module in case.modules if module in built]
    return {f.theorem: f for r in results for f in failures(texts[module_path(r.module)], r)}


def _theorem(
    case: _Case,
    theorem: Theorem,
    built: Mapping[str, ModuleResult],
    audited: _Audited,
    failed: Mapping[str, Failure],
) -> TheoremReport:
    """The state of one theorem: proved only if it was found, walked, and without a violation."""
    found = audited.theorems.get(theorem.dotted)
    reason: str | None = None
    if found is None:
        reason = _why_not_audited(case, theorem, built, failed)
    elif found.violations:
        reason = found.violations[0]
    elif found.module != (module := case.module(theorem)):
        reason = f"it is in {found.module}, and not in {module}"
    allowed = {axiom: number for number, axiom in enumerate(audited.allowed)}
    return TheoremReport(
        name=theorem.dotted,
        property=theorem.proves,
        shape=theorem.shape,
        padded_shape=theorem.padded_shape,
        statement=(found and found.statement) or theorem.statement,
        digest=found.digest if found else None,
        axioms=tuple(sorted(found.axioms, key=lambda a: (allowed.get(a, len(allowed)), a))) if found else (),
        library_theorems=found.library_theorems if found else 0,
        status="failed" if reason else "proved",
        reason=reason,
    )


def _advice(case: _Case, lack: Lack) -> str:
    """What may help: nothing is known of the maximum of no rows, which many kernels never see."""
    rows = case.kernel.rows
    unbounded = " reduce_max " in (lack.equation or "") and not case.kernel.given.implies_positive(rows)
    if lack.property != "padding" or not unbounded:
        return ""
    return f'; if every bag has a row, write constraints = ["{rows} >= 1"]'


def _why_not_audited(
    case: _Case, theorem: Theorem, built: Mapping[str, ModuleResult], failed: Mapping[str, Failure]
) -> str:
    """Why a theorem is in no artifact."""
    result = built.get(case.module(theorem))
    match result.status if result else None:
        case None:
            return "its module was not built"
        case "built" | "cached":
            return "the audit failed"
        case "skipped":
            return "a module that it imports did not build"
    if theorem.dotted in failed:
        lack = _lack(case, theorem, failed[theorem.dotted])
        if lack.equation is not None:
            if theorem.proves == "masked_irrelevance_any_arithmetic":
                return f"{lack.equation} lets a masked value through ({lack.source})"
            return f"two runs may begin to differ at {lack.equation} ({lack.source}){_advice(case, lack)}"
        return "its proof did not go through"
    shapes = [theorem.shape, theorem.padded_shape]
    for other in case.theorems:
        if other.proves == "specification" and other.shape in shapes and other.dotted in failed:
            return f"it rests on specification at {shape_name(other.shape)}"
    if result and not any(failure.theorem.startswith(ROOT) for failure in failed.values()):
        return _does_not_build(result)
    return "another proof in its module did not go through"
