"""What is measured. A topic's function yields each measurement when it is done."""

from __future__ import annotations

import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks import processes
from benchmarks.project import ROOT, Workspace
from benchmarks.results import Measurement

_CHECK = (sys.executable, "-m", "maskpool_verify.main", "check", "--engine", "wasm", "--quiet")


@dataclass(frozen=True)
class Plan:
    """A topic before it is measured; see :class:`~benchmarks.results.Topic`."""

    name: str
    title: str
    method: str
    measure: Callable[[Workspace], Iterator[Measurement]]


def _engine(workspace: Workspace) -> Iterator[Measurement]:
    project = workspace.copy()
    (project / "Trivial.lean").write_text("module\n\ntheorem two : 1 + 1 = 2 := rfl\n")
    seconds, peaks = [], []
    for _ in range(workspace.repetitions):
        shutil.rmtree(project / ".maskpool", ignore_errors=True)
        used = processes.run(_child("build", str(project), "Trivial"), ROOT)
        seconds.append(float(used.stdout))
        peaks.append(used.peak_mb)
    yield Measurement(what="seconds", unit="s", samples=tuple(seconds), target=3)
    yield Measurement(what="peak memory", unit="MB", samples=tuple(peaks), target=700)


def _check(workspace: Workspace) -> Iterator[Measurement]:
    fresh, unchanged = [], []
    for _ in range(workspace.repetitions):
        manifest = str(workspace.copy() / "maskpool.toml")
        command = (*_CHECK, "--manifest", manifest)
        fresh.append(processes.run(command, ROOT))
        unchanged.append(processes.run(command, ROOT))
    for what, target, used in (("nothing built", 60, fresh), ("nothing changed", 3, unchanged)):
        yield Measurement(what=what, unit="s", samples=tuple(u.seconds for u in used), target=target)
        yield Measurement(what=f"{what}, peak memory", unit="MB", samples=tuple(u.peak_mb for u in used))


def _audit(workspace: Workspace) -> Iterator[Measurement]:
    project = str(workspace.built())
    for task, what, target in (("read", "read all modules", None), ("audit", "read and audit", 3)):
        runs = [processes.run(_child(task, project), ROOT) for _ in range(workspace.repetitions)]
        samples = tuple(float(used.stdout) for used in runs)
        yield Measurement(what=what, unit="s", samples=samples, target=target)


def _second_kernel(workspace: Workspace) -> Iterator[Measurement]:
    project = str(workspace.built())
    runs = [processes.run(_child("replay", project), ROOT) for _ in range(workspace.repetitions)]
    seconds, megabytes = zip(*(map(float, used.stdout.split()) for used in runs), strict=True)
    yield Measurement(what="check every declaration", unit="s", samples=seconds, target=5)
    yield Measurement(what="peak memory", unit="MB", samples=megabytes, target=500)


def _library(workspace: Workspace) -> Iterator[Measurement]:
    samples: dict[str, list[float]] = defaultdict(list)
    for _ in range(workspace.repetitions):
        for module, result in workspace.build_all(workspace.copy()).items():
            samples[module].append(result.seconds)
    measured = [Measurement(what=f"`{m}`", unit="s", samples=tuple(s)) for m, s in samples.items()]
    yield from sorted(measured, key=lambda each: -each.median)
    totals = tuple(map(sum, zip(*samples.values(), strict=True)))
    yield Measurement(what="all, one after another", unit="s", samples=totals)


def _equations(workspace: Workspace) -> Iterator[Measurement]:
    from benchmarks.certificates import by_equations  # noqa: PLC0415 - JAX only once memory is measured

    yield from by_equations(workspace)


def _shapes(workspace: Workspace) -> Iterator[Measurement]:
    from benchmarks.certificates import by_shape  # noqa: PLC0415

    yield from by_shape(workspace)


def _instances(workspace: Workspace) -> Iterator[Measurement]:
    from benchmarks.certificates import manifest_with_shapes  # noqa: PLC0415

    project = workspace.copy()

    def run(number: int) -> float:
        """Trace and check with so many concrete shapes; what does not change is built already."""
        (project / "maskpool.toml").write_text(manifest_with_shapes(number), "utf-8")
        return processes.run(_child("verdict", str(project)), ROOT).seconds

    shutil.rmtree(project / "certificates")
    run(0)
    before = run(0)
    further = tuple(run(number + 1) - before for number in range(workspace.repetitions))
    yield Measurement(what="one further shape", unit="s", samples=further, target=2)
    ten = (run(workspace.repetitions + 10) - before) / 10
    yield Measurement(what="each of ten further shapes", unit="s", samples=(ten,), target=2)
    shutil.rmtree(project / "certificates")
    run(0)
    yield Measurement(what="fifty shapes, 1 × 1 to 8192 × 2048", unit="s", samples=(run(50),), target=90)


def _corpus(workspace: Workspace) -> Iterator[Measurement]:
    from benchmarks.corpus import by_kernel  # noqa: PLC0415

    yield from by_kernel(workspace)


def _child(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "benchmarks.child", *arguments)


PLANS: tuple[Plan, ...] = (
    Plan(
        "engine",
        "The embedded Lean",
        "A module with one theorem, `1 + 1 = 2`. The memory is that of the largest process.",
        _engine,
    ),
    Plan(
        "check",
        "`maskpool-verify check`",
        "Both kernels of the manifest, as a process. The memory is that of the largest process; "
        "up to two of Lean run at once.",
        _check,
    ),
    Plan(
        "audit",
        "The audit",
        "All theorems of both kernels, from compiled files, in a new Python process.",
        _audit,
    ),
    Plan(
        "replay",
        "The second kernel",
        "Every declaration of the project, checked again by native Lean in a process of its own.",
        _second_kernel,
    ),
    Plan(
        "equations",
        "Certificates by number of equations",
        "The file with the program, its readable form and the translation theorem, for a chain of products, "
        "transpositions and reshapes at 4 × 3. The time of a file with the same imports and nothing else is "
        "subtracted.",
        _equations,
    ),
    Plan(
        "shapes",
        "Certificates by shape",
        "All files of a kernel at a shape n × d and at 3n/2 × d, so that every property is proved. The time "
        "of files with the same imports and nothing else is subtracted.",
        _shapes,
    ),
    Plan(
        "instances",
        "Concrete shapes beside all shapes",
        "Tracing and checking `masked_attention_pool_stable`, as a process, with the certificate for all "
        "shapes built before. A further shape: what it adds to a run in which nothing has changed; for one "
        "alone, Lean has to be started.",
        _instances,
    ),
    Plan(
        "corpus",
        "The corpus",
        "One run over all kernels of the test corpus, right and wrong, with nothing but the library built: "
        "tracing, Lean, the audit, the second kernel, the search for counterexamples. The time of one "
        "verdict is that of tracing the kernel, of Lean on its modules, and of the search.",
        _corpus,
    ),
    Plan(
        "modules",
        "The modules",
        "Every module alone, with the start of Lean and the loading of its imports.",
        _library,
    ),
)
"""In the order in which they are measured."""
