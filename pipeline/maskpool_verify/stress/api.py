"""The stress run of a kernel: what ``maskpool-verify stress``, the Python API and ``check --stress`` call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Any

import jax

from maskpool_verify.errors import MaskpoolError
from maskpool_verify.loading import KernelFunction, UserFiles, definition, load_function
from maskpool_verify.manifest import DType, Kernel
from maskpool_verify.refute.cases import Run
from maskpool_verify.stress.cases import Case, Part, Property, cases, changed, parts, recast, steps
from maskpool_verify.stress.explain import break_of, describe
from maskpool_verify.stress.judging import Comparison, broken, comparisons
from maskpool_verify.stress.report import (
    SCHEMA,
    Break,
    InDTypes,
    KernelStress,
    Observation,
    Platform,
    Raised,
    StressReport,
)
from maskpool_verify.stress.running import Compiled, flushed
from maskpool_verify.stress.shrinking import shrink

BUDGET = 60.0
"""Seconds for one kernel."""

FLOATS: tuple[DType, ...] = ("float16", "bfloat16", "float32", "float64")
"""The dtypes in which a kernel can be run besides its own."""


@dataclass(frozen=True)
class Progress:
    """How far a run is: in which dtype, at which sizes, and how many of the cases there are done."""

    dtype: str
    sizes: dict[str, int]
    done: int
    total: int


def stress(
    kernel: Kernel,
    *,
    root: Path = Path(),
    function: KernelFunction | None = None,
    dtypes: Sequence[DType] = (),
    quick: bool = False,
    budget_seconds: float = BUDGET,
    seed: int = 0,
    progress: Callable[[Progress], None] = lambda _: None,
) -> StressReport:
    """Run a kernel, as JAX compiles it, on adversarial inputs, forward and backward.

    Args:
        kernel: as the manifest describes it.
        root: the directory of the manifest, where the function is found.
        function: the function itself, instead of the one that the manifest names.
        dtypes: float dtypes to run it in besides those of the manifest, for all float arguments.
        quick: at few and small sizes alone.
        budget_seconds: after so much time no new cases are tried; making what breaks small takes at most half
            of it in addition.
        seed: of the ordinary numbers. Two reports that are complete, with the same seed, on the same
            platform, are the same.
        progress: called at every case.

    Raises:
        ManifestError: there is no such function, or it does not fit the manifest.
        TraceError: importing it raises, or it returns no array of floating-point numbers.
    """
    called = function or load_function(kernel, root)
    own = tuple(spec.dtype for spec in kernel.arguments if spec.is_float)
    wanted = [kernel, *(recast(kernel, dtype) for dtype in dict.fromkeys(dtypes) if {dtype} != set(own))]
    seconds = budget_seconds / len(wanted)
    found = [
        _Run(each, called, root, quick, seconds, seed, progress).result(each is kernel) for each in wanted
    ]
    device = jax.devices()[0]
    return StressReport(
        schema=SCHEMA,
        seed=seed,
        platform=Platform(
            jax=jax.__version__, jaxlib=version("jaxlib"), backend=device.platform, device=device.device_kind
        ),
        kernels=(KernelStress(name=kernel.name, rows_symbol=kernel.rows, in_dtypes=tuple(found)),),
    )


@dataclass
class _Seen:
    """What was seen of one property, of the result or of the gradient."""

    tried: int = 0
    bitwise: bool = True
    ulps: int = 0
    epsilons: float = 0.0
    at: str = ""
    broken: dict[tuple[Any, ...], list[Case]] = field(default_factory=dict)

    def add(self, kernel: Kernel, case: Case, found: Sequence[Comparison]) -> None:
        self.tried += 1
        if first := next((each for each in found if each.kind), None):
            filling = case.change.filling if case.change else ()
            targets = tuple(number for number, value in enumerate(filling) if value is not None)
            self.broken.setdefault((first.kind, first.of, targets), []).append(case)
            return
        self.bitwise &= all(each.bitwise for each in found)
        self.epsilons = max(self.epsilons, *(each.epsilons for each in found))
        if (largest := max(each.ulps for each in found)) > self.ulps:
            self.ulps, self.at = largest, describe(kernel, case)


class _Run:
    """A kernel in one choice of dtypes."""

    def __init__(
        self,
        kernel: Kernel,
        function: KernelFunction,
        root: Path,
        quick: bool,
        seconds: float,
        seed: int,
        progress: Callable[[Progress], None],
    ) -> None:
        self.kernel = kernel
        self.compiled = Compiled(kernel, function)
        place = definition(function)
        self.files = UserFiles(root, place[0] if place else None)
        self.quick, self.seconds, self.seed, self.progress = quick, seconds, seed, progress
        self.name = " and ".join(dict.fromkeys(spec.dtype for spec in kernel.arguments if spec.is_float))
        self.end = monotonic() + seconds
        self.complete = True
        self.result_dtype = ""
        self.sizes: list[dict[str, int]] = []
        self.raised: dict[tuple[int, ...], Raised] = {}
        self.seen: dict[tuple[Property, Part], _Seen] = {
            (property_, part): _Seen() for property_, both in parts(kernel).items() for part in both
        }

    def result(self, declared: bool) -> InDTypes:
        for step in steps(self.kernel, quick=self.quick):
            todo = list(cases(self.kernel, step, self.seed))
            for done, case in enumerate(todo):
                if self._over():
                    self.complete = False
                    break
                self.progress(Progress(self.name, step.sizes, done, len(todo)))
                self._try(case)
            self.compiled.forget()
        self.end = monotonic() + self.seconds / 2
        observations = tuple(self._observation(*key, seen) for key, seen in self.seen.items())
        floats = tuple(spec.dtype for spec in self.kernel.arguments if spec.is_float)
        return InDTypes(
            arguments=floats,
            result=self.result_dtype,
            declared=declared,
            quick=self.quick,
            subnormals_flushed=bool(flushed(tuple(dict.fromkeys(floats)))),
            complete=self.complete,
            sizes=tuple(self.sizes),
            observations=observations,
            raised=tuple(self.raised.values()),
        )

    def _over(self) -> bool:
        return monotonic() >= self.end

    def _try(self, case: Case) -> None:
        """Look at all that a case says something about, unless the function raises at its sizes."""
        runs = [run for run in (case.run, changed(self.kernel, case)) if run is not None]
        if not all(self._works(run) for run in runs):
            return
        for part in parts(self.kernel)[case.property]:
            if found := list(comparisons(self.compiled, case, part)):
                self.seen[case.property, part].add(self.kernel, case, found)

    def _works(self, run: Run) -> bool:
        if run.sizes in self.sizes:
            return True
        key = tuple(run.sizes.values())
        if key not in self.raised:
            try:
                self.result_dtype = str(self.compiled.value(run).dtype)
                self.compiled.gradient(run)
            except MaskpoolError:
                raise
            except Exception as error:  # the function is the user's: it may raise anything
                self.raised[key] = Raised(sizes=run.sizes, error=f"{self.files.describe(error)}.")
            else:
                self.sizes.append(run.sizes)
        return key not in self.raised

    def _observation(self, property_: Property, part: Part, seen: _Seen) -> Observation:
        breaks = tuple(self._breaks(property_, part, seen))
        equal = "equal" if seen.bitwise else "rounding"
        return Observation(
            property=property_,
            part=part,
            status="broken" if breaks else equal if seen.tried else "untried",  # type: ignore[arg-type]
            tried=seen.tried,
            ulps=seen.ulps,
            epsilons=ceil(10 * seen.epsilons) / 10,
            at=seen.at,
            breaks=breaks,
        )

    def _breaks(self, property_: Property, part: Part, seen: _Seen) -> Iterator[Break]:
        """The ways in which a property breaks, each with the smallest input found."""
        found: dict[tuple[str, ...], Break] = {}
        for (kind, *_), failing in seen.broken.items():

            def fails(case: Case, kind: str = kind) -> bool:
                comparison = self._broken(case, part)
                return comparison is not None and comparison.kind == kind

            smallest = shrink(self.kernel, failing[0], fails, self._over)
            self.complete &= smallest.minimal
            comparison = self._broken(smallest.case, part)
            assert comparison is not None
            shown = break_of(self.kernel, smallest, comparison, failing)
            key = (shown.cause, kind)
            if key in found:
                shown = found[key].model_copy(update={"cases": found[key].cases + shown.cases})
            found[key] = shown
            self.compiled.forget()
        yield from found.values()

    def _broken(self, case: Case, part: Part) -> Comparison | None:
        """How a case breaks; not at all where the function raises."""
        try:
            return broken(self.compiled, case, part)
        except Exception:  # a smaller size that the function does not take
            return None
