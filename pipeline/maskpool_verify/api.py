"""The Python interface: what the commands do, as functions.

    from maskpool_verify import api

    manifest = api.load_manifest(Path("maskpool.toml"))
    api.trace(manifest)
    report = api.check(manifest)
    assert report.verdict == "verified"

:func:`verify` takes a function object instead of a manifest. Every error is a
:class:`~maskpool_verify.errors.MaskpoolError` with a sentence that says what to do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from maskpool_verify import certificates, changes, lock, second_kernel
from maskpool_verify import refute as refutation
from maskpool_verify import stress as stressing
from maskpool_verify.changes import Change
from maskpool_verify.check import LEAN_SECONDS, SEARCH_SECONDS, Step, session
from maskpool_verify.check import check as _check
from maskpool_verify.engine.lake import LakeEngine
from maskpool_verify.engine.protocol import Engine
from maskpool_verify.engine.select import choose
from maskpool_verify.errors import MaskpoolError, StaleError, TraceError, UnsupportedError, UsageError
from maskpool_verify.files import disk_faults
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.git import Commit
from maskpool_verify.lean.properties import ROOT, Property, theorems
from maskpool_verify.loading import KernelFunction, given
from maskpool_verify.manifest import (
    Arithmetic,
    DType,
    Kernel,
    Manifest,
    OptionalProperty,
    Role,
    load_manifest,
    validated_kernel,
)
from maskpool_verify.reals import check_reals
from maskpool_verify.refute import Counterexample, Outcome, Progress
from maskpool_verify.report import Report, with_reals
from maskpool_verify.stress import StressReport

__all__ = [
    "LEAN_SECONDS",
    "SEARCH_SECONDS",
    "Accepted",
    "Argument",
    "Change",
    "Counterexample",
    "Described",
    "Kernel",
    "Manifest",
    "MaskpoolError",
    "Outcome",
    "Refutation",
    "Report",
    "StressReport",
    "Traced",
    "accept",
    "changed",
    "check",
    "kernel_of",
    "load_manifest",
    "refute",
    "stress",
    "trace",
    "verify",
]

EngineChoice: TypeAlias = Engine | Literal["auto", "wasm", "lake"]


def _nothing(*_: object) -> None:
    """Neither progress nor waiting is shown."""


@dataclass(frozen=True)
class Traced:
    """A kernel with its traces, one for each shape of the manifest, and the files that were written for it.

    ``changed`` are paths relative to the project.
    """

    kernel: Kernel
    traces: tuple[TracedKernel, ...]
    changed: tuple[str, ...]


def trace(
    manifest: Manifest, kernels: Sequence[Kernel] | None = None, *, on_wait: Callable[[], None] = _nothing
) -> tuple[Traced, ...]:
    """Write the certificates of ``kernels``, by default all of ``manifest``.

    All kernels are traced before anything is written. ``on_wait`` is called once if another process is at
    work in the same project and has to end first.

    Raises:
        ManifestError: a function does not fit its arguments.
        TraceError: a kernel cannot be loaded or traced.
        UnsupportedError: a kernel has a primitive, dtype or effect that is not supported.
        EnvironmentFault: the certificates cannot be written.
    """
    traced = [
        (kernel, tuple(trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes))
        for kernel in _selected(manifest, kernels)
    ]
    with certificates.locked(manifest.root, on_wait):
        return tuple(
            Traced(kernel, traces, tuple(certificates.write(manifest.root, kernel, traces)))
            for kernel, traces in traced
        )


def check(
    manifest: Manifest,
    kernels: Sequence[Kernel] | None = None,
    *,
    engine: EngineChoice = "auto",
    mathlib: bool = False,
    fresh: bool = False,
    second: second_kernel.Mode = "auto",
    lean_seconds: float = LEAN_SECONDS,
    search_seconds: float = SEARCH_SECONDS,
    stress_seconds: float = 0.0,
    progress: Callable[[Step], None] = _nothing,
    on_wait: Callable[[], None] = _nothing,
) -> Report:
    """Have Lean check the certificates of ``kernels``, by default all of ``manifest``, and audit the proofs.

    Args:
        engine: which Lean; it has to be installed (``maskpool-verify setup``).
        mathlib: also build and audit the theorems about mathlib's real numbers; needs native Lean.
        fresh: build everything again, even if nothing has changed.
        second: whether a second kernel checks every proof again.
        lean_seconds: how long Lean may be at work for one kernel, if the engine is the embedded one.
        search_seconds: how long to search for a counterexample to a property that is not proved.
        stress_seconds: how long to run each kernel on adversarial inputs; 0: not at all.

    Raises:
        UsageError: mathlib is asked for without native Lean, or in a project without the package ``real/``.
        EnvironmentFault: the engine cannot be used, or files cannot be read or written.
        StaleError: Lean files belong to no kernel, or the accepted statements are damaged.
        AuditError: a Lean source contains what could go around Lean's kernel.
        ManifestError: a function does not fit its arguments, or the project has a Lean library that would
            not be used.
    """
    lean = choose(engine) if isinstance(engine, str) else engine
    native = lean if isinstance(lean, LakeEngine) else None
    if mathlib and native is None:
        raise UsageError("mathlib needs native Lean: install elan and its toolchain, and use --engine lake.")
    report = _check(
        manifest,
        _selected(manifest, kernels),
        lean,
        fresh=fresh,
        second=second,
        lean_seconds=lean_seconds,
        search_seconds=search_seconds,
        stress_seconds=stress_seconds,
        progress=progress,
        on_wait=on_wait,
    )
    if mathlib and native is not None:
        reals = check_reals(manifest.root, native, lambda step: progress(Step("build", step.module, step)))
        report = with_reals(report, reals)
    return report


def changed(manifest: Manifest, revision: str, kernels: Sequence[Kernel] | None = None) -> tuple[Change, ...]:
    """Those of ``kernels`` that need another check since the merge base of HEAD and a git revision.

    If a check passed there, one of these kernels alone has the verdict of a whole one. The kernels are
    traced, and Lean is not needed.

    Raises:
        UsageError: the project is in no git repository, or there is no such revision.
        EnvironmentFault: git is not installed, or fails.
    """
    commit = Commit.merge_base(manifest.root, revision)
    return changes.changed(manifest, _selected(manifest, kernels), commit)


@dataclass(frozen=True)
class Accepted:
    """``changes`` are sentences; ``statements`` those that were not accepted before, by theorem."""

    changes: tuple[str, ...]
    statements: Mapping[str, str]


def accept(
    manifest: Manifest,
    kernels: Sequence[Kernel] | None = None,
    *,
    engine: EngineChoice = "auto",
    progress: Callable[[Step], None] = _nothing,
    on_wait: Callable[[], None] = _nothing,
) -> Accepted:
    """Write what the theorems say now into ``certificates/statements.lock``, if every theorem is proved.

    Raises:
        StaleError: a theorem is not proved, or the audit found something.
    """
    report = check(manifest, kernels, engine=engine, progress=progress, on_wait=on_wait)
    found = [theorem for kernel in report.kernels for theorem in kernel.theorems]
    unproved = [
        k.name for k in report.kernels if not k.theorems or any(t.status != "proved" for t in k.theorems)
    ]
    if unproved or report.audit.violations:
        what = unproved[0] if unproved else "the audit"
        raise StaleError(f"Nothing is accepted, since {what} does not pass; run maskpool-verify check.")
    lacking = {lack.name for kernel in report.kernels for lack in kernel.lacks}
    asked = [theorem.dotted for kernel in manifest.kernels for theorem in theorems(kernel)]
    wanted = [name for name in asked if name not in lacking]
    old, new = lock.read(manifest.root), lock.of_reports(found, report.definitions)
    changes = [*lock.differences(old, new), *(f"{name} is dropped" for name in lock.disappeared(old, wanted))]
    lock.write(manifest.root, lock.merged(old, new, wanted))
    said = {name: s.statement for name, s in new.statements.items() if name not in old.statements}
    return Accepted(tuple(changes), said)


@dataclass(frozen=True)
class Refutation:
    """What the search gave for each property of a kernel.

    ``unsupported`` says why the kernel could not be imported; its outcomes are then observations of JAX.
    """

    kernel: Kernel
    outcomes: tuple[Outcome, ...]
    unsupported: str | None = None

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """Those that were found."""
        return tuple(o.counterexample for o in self.outcomes if o.counterexample is not None)


def refute(
    manifest: Manifest,
    kernels: Sequence[Kernel] | None = None,
    *,
    budget: float = refutation.BUDGET,
    seed: int = 0,
    progress: Callable[[Kernel, Property, Progress], None] = _nothing,
) -> tuple[Refutation, ...]:
    """Search the smallest inputs on which properties of ``kernels`` fail, without Lean.

    A counterexample is proved over the reals, or observed in JAX where the kernel cannot be imported. That
    none is found proves nothing.

    Args:
        budget: seconds for each property.
        seed: of the random inputs; the same seed finds the same.

    Raises:
        ManifestError: a function does not fit its arguments.
        TraceError: a kernel cannot be loaded or traced.
    """
    return tuple(_refute(manifest, kernel, budget, seed, progress) for kernel in _selected(manifest, kernels))


def _refute(
    manifest: Manifest,
    kernel: Kernel,
    budget: float,
    seed: int,
    progress: Callable[[Kernel, Property, Progress], None],
) -> Refutation:
    unsupported: str | None = None
    traces: list[TracedKernel] = []
    try:
        traces = [trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes]
    except UnsupportedError as error:
        unsupported = str(error)
    subject = refutation.Subject.of_traces(kernel, traces, manifest.root)

    def shown(property_: Property) -> Callable[[Progress], None]:
        return lambda step: progress(kernel, property_, step)

    outcomes = [
        refutation.examine(subject, property_, budget=budget, seed=seed, progress=shown(property_))
        for property_ in refutation.properties(kernel)
    ]
    return Refutation(kernel, tuple(outcomes), unsupported)


def _selected(manifest: Manifest, kernels: Sequence[Kernel] | None) -> tuple[Kernel, ...]:
    return manifest.kernels if kernels is None else tuple(kernels)


def stress(
    manifest: Manifest,
    kernels: Sequence[Kernel] | None = None,
    *,
    dtypes: Sequence[DType] = (),
    quick: bool = False,
    budget: float = stressing.BUDGET,
    seed: int = 0,
    progress: Callable[[Kernel, stressing.Progress], None] = _nothing,
) -> StressReport:
    """Run ``kernels``, as JAX compiles them, on adversarial inputs, forward and backward.

    What is observed in floating point is evidence and no proof; no verdict of :func:`check` depends on it.

    Args:
        dtypes: float dtypes to run in besides those of the manifest.
        quick: at few and small sizes alone.
        budget: seconds for each kernel.
        seed: of the random inputs; the same seed finds the same.

    Raises:
        ManifestError: a function does not fit its arguments.
        TraceError: a kernel cannot be loaded, or returns no array of floating-point numbers.
    """

    def shown(kernel: Kernel) -> Callable[[stressing.Progress], None]:
        return lambda step: progress(kernel, step)

    return stressing.joined(
        [
            stressing.stress(
                kernel,
                root=manifest.root,
                dtypes=dtypes,
                quick=quick,
                budget_seconds=budget,
                seed=seed,
                progress=shown(kernel),
            )
            for kernel in _selected(manifest, kernels)
        ]
    )


# -- a function instead of a manifest


class Argument(TypedDict):
    """What an argument is; as in the manifest."""

    role: Role
    dtype: DType
    shape: Sequence[str | int]


class Described(TypedDict, total=False):
    """What else :func:`kernel_of` takes, with its defaults; as in the manifest."""

    rows: str
    spec: Literal["attention", "none"]
    shapes: str | Sequence[str | Mapping[str, int]]
    constraints: Sequence[str]
    result: Sequence[str | int] | None
    arithmetic: Arithmetic
    require: Sequence[OptionalProperty]


def verify(
    function: KernelFunction,
    *,
    arguments: Mapping[str, Argument],
    project: Path,
    engine: EngineChoice = "auto",
    second: second_kernel.Mode = "auto",
    search_seconds: float = SEARCH_SECONDS,
    progress: Callable[[Step], None] = _nothing,
    on_wait: Callable[[], None] = _nothing,
    **described: Unpack[Described],
) -> Report:
    """Trace and check a function that is in no manifest, such as one that a test has made.

    There is nothing committed to compare with, and no statement that a person has accepted: the report is
    about the function as it is now.

    Args:
        function: takes the arguments by position, and returns the pooled array.
        arguments: what the arguments are, in call order, as in the manifest.
        project: a directory to work in, which keeps what Lean has built; it is made if it is not there.
        engine, second, search_seconds, progress, on_wait: as for :func:`check`.
        described: as for :func:`kernel_of`.

    Raises:
        MaskpoolError: as for :func:`trace` and :func:`check`.
    """
    with kernel_of(function, arguments=arguments, **described) as kernel:
        with disk_faults("write in", project):
            project.mkdir(parents=True, exist_ok=True)
        manifest = Manifest(project / "maskpool.toml", (kernel, *_others(project, kernel)))
        chosen = choose(engine) if isinstance(engine, str) else engine
        with session(manifest, [kernel], chosen):
            traced: tuple[Traced, ...] = ()
            with suppress(UnsupportedError, TraceError):  # the check will say so
                traced = trace(manifest, [kernel], on_wait=on_wait)
            return _check(
                manifest,
                [kernel],
                chosen,
                second=second,
                search_seconds=search_seconds,
                require_accepted=False,
                traced={each.kernel.name: each.traces for each in traced},
                progress=progress,
                on_wait=on_wait,
            )


@contextmanager
def kernel_of(
    function: KernelFunction,
    *,
    arguments: Mapping[str, Argument],
    rows: str = "n",
    spec: Literal["attention", "none"] = "attention",
    shapes: str | Sequence[str | Mapping[str, int]] = "all",
    constraints: Sequence[str] = (),
    result: Sequence[str | int] | None = None,
    arithmetic: Arithmetic = "real",
    require: Sequence[OptionalProperty] = (),
) -> Iterator[Kernel]:
    """A function object as a kernel, which has its function within this block only.

    The name of the kernel is that of the function, with a checksum of what is said about it.

    Args:
        function: takes the arguments by position, and returns the pooled array.
        arguments: what the arguments are, in call order, as in the manifest.
        rows: the symbol of the instance axis.
        spec, shapes, constraints, result, arithmetic, require: as in the manifest.

    Raises:
        ManifestError: what is said contradicts itself.
    """
    table: dict[str, Any] = {
        "spec": spec,
        "rows": rows,
        "constraints": list(constraints),
        "arithmetic": arithmetic,
        "require": list(require),
        "shapes": shapes if isinstance(shapes, str) else list(map(_plain, shapes)),
        "arguments": [{"name": name, **_plain(argument)} for name, argument in arguments.items()],
    }
    if result is not None:
        table["result"] = list(result)
    called = getattr(function, "__name__", type(function).__name__)
    place = [getattr(function, "__module__", ""), getattr(function, "__qualname__", called)]
    code = hashlib.sha256(json.dumps([*place, table]).encode()).hexdigest()[:8]
    letters = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in called)
    name = f"kernel_{letters}_{code}" if not letters[0].isalpha() else f"{letters}_{code}"
    with given(name, function) as key:
        yield validated_kernel(called, {"name": name, "function": key, **table})


def _plain(table: Any) -> Any:
    """Sequences as lists, as TOML has them."""
    if isinstance(table, Mapping):
        return {key: _plain(value) for key, value in table.items()}
    return list(table) if isinstance(table, Sequence) and not isinstance(table, str) else table


def _others(project: Path, kernel: Kernel) -> list[Kernel]:
    """The kernels that the project has seen before: their certificates may stay."""
    folder = project / ROOT
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return [kernel.model_copy(update={"name": name}) for name in names if name != kernel.name]
