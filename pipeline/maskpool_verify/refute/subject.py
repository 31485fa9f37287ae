"""The kernel under search: its imported program at any sizes, and the user's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from maskpool_verify.errors import MaskpoolError
from maskpool_verify.evaluate import NumPy, returned, run
from maskpool_verify.frontend import TracedKernel
from maskpool_verify.loading import KernelFunction, load_function
from maskpool_verify.manifest import Kernel
from maskpool_verify.program import Program, RealLiteral, at
from maskpool_verify.refute.batching import batched
from maskpool_verify.refute.cases import NUMBERS, Run, Sizes

Array: TypeAlias = NDArray[Any]

FEW, LARGE, TOO_LARGE = 4, 100, 10**30
"""So many numbers of a program are tried as inputs; large ones that do not overflow are doubled too."""
BATCH = 64
"""So many inputs are evaluated at once."""


@dataclass(frozen=True)
class Located:
    """A program at concrete sizes; ``sources[k]`` is the ``"file:line"`` of its equation ``k``."""

    program: Program
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Subject:
    """A kernel to search counterexamples for.

    ``program_at`` gives the program at concrete sizes and raises ``MaskpoolError`` or ``ValueError`` where
    there is none; ``None`` for a kernel that cannot be imported. ``root`` is the directory of the manifest.
    """

    kernel: Kernel
    root: Path
    program_at: Callable[[Sizes], Located] | None
    function: KernelFunction
    _programs: dict[tuple[int, ...], Located | None] = field(default_factory=dict)
    _batches: dict[tuple[int, ...], Program | None] = field(default_factory=dict)
    _working: dict[tuple[int, ...], bool] = field(default_factory=dict)
    _compiled: dict[bool, Any] = field(default_factory=dict)
    _vectorized: dict[bool, Any] = field(default_factory=dict)

    @classmethod
    def of_traces(cls, kernel: Kernel, traces: Sequence[TracedKernel], root: Path) -> Subject:
        """With the programs of traces: one that leaves its sizes open is taken at any sizes."""

        def program_at(sizes: Sizes) -> Located:
            for traced in traces:
                if traced.program.symbols or traced.program.shape == sizes:
                    program = at(traced.program, sizes) if traced.program.symbols else traced.program
                    return Located(program, traced.sources)
            raise ValueError(f"the kernel was not traced at {dict(sizes)}")

        return cls(kernel, root, program_at if traces else None, load_function(kernel, root))

    def located(self, sizes: Sizes) -> Located | None:
        """The program at these sizes, if there is one."""
        key = tuple(sizes[symbol] for symbol in self.kernel.symbols)
        if key not in self._programs:
            try:
                self._programs[key] = self.program_at(sizes) if self.program_at else None
            except (MaskpoolError, ValueError):
                self._programs[key] = None
        return self._programs[key]

    def constants(self, sizes: Sizes) -> tuple[Fraction, ...]:
        """The numbers in the program, the largest ones first, that are not among the usual ones.

        Behind a large one stands its double, which is beyond it.
        """
        located = self.located(sizes)
        equations = located.program.equations if located else ()
        literals = [o for equation in equations for o in equation.operands if isinstance(o, RealLiteral)]
        values = {literal.value.fraction() for literal in literals} - set(NUMBERS)
        few = sorted(values, key=lambda x: (-abs(x), x))[:FEW]
        beyond = {x: (x, 2 * x) if LARGE < abs(x) < TOO_LARGE else (x,) for x in few}
        return tuple(number for x in few for number in beyond[x])

    def float64_of(self, runs: Sequence[Run]) -> list[Array] | None:
        """The results of at most :data:`BATCH` runs at the same sizes, in float64; ``None`` as below."""
        if not runs:
            return []
        stacks = [np.stack(arrays) for arrays in zip(*(run.inputs for run in runs), strict=True)]
        missing = BATCH - len(runs)
        stacks = [np.concatenate([s, np.repeat(s[-1:], missing, axis=0)]) for s in stacks]
        if self.program_at is None:
            inputs = jax_inputs(self.kernel, stacks, in_float64=True)
            results = self.call(inputs, in_float64=True, vectorized=True)
        else:
            program = self._batched(runs[0].sizes)
            if program is None:
                singly = [self.float64(run) for run in runs]
                return None if None in singly else [r for r in singly if r is not None]
            results = _run_float64(program, stacks)
        return None if results is None else list(results[: len(runs)])

    def _batched(self, sizes: Sizes) -> Program | None:
        key = tuple(sizes[symbol] for symbol in self.kernel.symbols)
        if key not in self._batches:
            located = self.located(sizes)
            try:
                self._batches[key] = batched(located.program, BATCH) if located else None
            except ValueError:
                self._batches[key] = None
        return self._batches[key]

    def works(self, case: Run) -> bool:
        """Whether there is a result at the sizes of a run."""
        key = tuple(case.sizes[symbol] for symbol in self.kernel.symbols)
        if key not in self._working:
            self._working[key] = self.float64(case) is not None
        return self._working[key]

    def float64(self, case: Run) -> Array | None:
        """The result in float64: of the program, or of the function where there is no program.

        ``None`` if neither works at these sizes.
        """
        if self.program_at is None:
            results = self.float64_of([case])
            return None if results is None else results[0]
        located = self.located(case.sizes)
        return _run_float64(located.program, case.inputs) if located else None

    def jax(self, case: Run, *, in_float64: bool) -> Array | None:
        """What the user's function gives, as float64; ``None`` if it raises.

        Floats have the dtypes of the manifest, or float64.
        """
        inputs = jax_inputs(self.kernel, case.inputs, in_float64=in_float64)
        return self.call(inputs, in_float64=in_float64)

    def call(self, inputs: Sequence[Array], *, in_float64: bool, vectorized: bool = False) -> Array | None:
        """The user's function on arrays; ``None`` if it raises or returns no array.

        ``vectorized``: on many inputs, along the first axes.
        """
        x64 = in_float64 or any(argument.dtype.endswith("64") for argument in self.kernel.arguments)
        function = self.function
        with jax.enable_x64(x64), jax.default_device(jax.devices("cpu")[0]):
            if not vectorized:
                function = self._compiled.setdefault(x64, jax.jit(self.function))
            else:
                function = self._vectorized.setdefault(x64, jax.jit(jax.vmap(self.function)))
            try:
                return np.asarray(function(*map(jax.numpy.asarray, inputs))).astype(np.float64)
            except Exception:  # the function is the user's: it may raise anything
                return None


def _run_float64(program: Program, inputs: Sequence[Array]) -> Array:
    """The result of a program in float64, on arrays of Python numbers."""
    arithmetic = NumPy(in_float64=True)
    arrays = [
        np.asarray(value).astype(arithmetic.dtype(argument.type))
        for value, argument in zip(inputs, program.arguments, strict=True)
    ]
    with np.errstate(all="ignore"):
        result = returned(program, run(program, arrays, arithmetic), arithmetic)
    return np.broadcast_to(result, tuple(map(int, program.type.shape)))


def jax_inputs(kernel: Kernel, inputs: Sequence[Array], *, in_float64: bool) -> list[Array]:
    """Arrays of Python numbers in the dtypes of the manifest, or with float64 for every float dtype."""
    found = []
    for spec, value in zip(kernel.arguments, inputs, strict=True):
        dtype: Any = jax.numpy.dtype("float64" if in_float64 and spec.is_float else spec.dtype)
        found.append(np.asarray(value).astype(np.float64 if spec.is_float else dtype).astype(dtype))
    return found
