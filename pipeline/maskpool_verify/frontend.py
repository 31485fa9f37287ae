"""A kernel of the manifest at one shape, from its source to the imported program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from maskpool_verify import dims
from maskpool_verify.conformance import agree_with_jax
from maskpool_verify.constraints import UNCONSTRAINED
from maskpool_verify.errors import TraceError
from maskpool_verify.importer import import_program
from maskpool_verify.loading import definition, load_function
from maskpool_verify.lowering import lowered
from maskpool_verify.manifest import Kernel, Shape
from maskpool_verify.program import Program, at
from maskpool_verify.scoring import find_scores
from maskpool_verify.tracing import Aval, FlatJaxpr, restricted, trace

SEED = 0
"""Of the random inputs on which every imported program is compared with JAX."""


@dataclass(frozen=True)
class TracedKernel:
    """``sources[k]`` is the ``"file:line"`` that equation ``k`` of ``program`` comes from.

    ``origins[k]`` is the number of the equation of ``flat`` that became equation ``k``.
    ``scores`` is the part of ``flat`` that gives the logits, where the kernel computes them itself; ``place``
    is the file and line that define the function, if it is written in Python.
    """

    flat: FlatJaxpr
    program: Program
    sources: tuple[str, ...]
    scores: FlatJaxpr | None = None
    origins: tuple[int, ...] = ()
    place: tuple[Path, int] | None = None


def trace_kernel(kernel: Kernel, shape: Shape, root: Path) -> TracedKernel:
    """Load, trace and import ``kernel`` at ``shape``, and compare the program with JAX.

    ``root`` is the directory of the manifest. :class:`ManifestError`, :class:`TraceError` or
    :class:`UnsupportedError`, each naming the kernel.
    """
    function = load_function(kernel, root)
    inputs = [Aval(argument.dtype, argument.sizes(shape)) for argument in kernel.arguments]
    given = kernel.given if shape == kernel.open_shape else UNCONSTRAINED
    flat = lowered(trace(function, inputs, label=f'Kernel "{kernel.name}"', root=root, given=given))
    _require_result(flat, kernel, shape)
    imported = import_program(flat, kernel, shape)
    for program in _closed(imported.program):
        agree_with_jax(program, kernel.row_axes, function, SEED)
    scores = None
    if imported.program.symbols and kernel.computes_logits:
        scores = restricted(flat, find_scores(flat, kernel, shape))
    sources = tuple(map(str, imported.sources))
    return TracedKernel(flat, imported.program, sources, scores, imported.origins, definition(function))


def _closed(program: Program) -> tuple[Program, ...]:
    """The program at numbers that tell its symbols apart; the program itself if it has none."""
    if not program.symbols:
        return (program,)
    names = {str(name): symbol for symbol, name in program.shape.items()}
    found = program.given.examples(tuple(names), 2)
    return tuple(at(program, {names[name]: size for name, size in each.items()}) for each in found)


def _require_result(flat: FlatJaxpr, kernel: Kernel, shape: Shape) -> None:
    """The result has the axes that the manifest says, and the dtype of the features."""
    sizes = tuple(shape[axis] if isinstance(axis, str) else axis for axis in kernel.result_axes)
    dtypes = {argument.dtype for argument in kernel.having("features")}
    if kernel.spec == "none":
        if shape[kernel.rows] in [s for size in flat.output_aval.shape for s in dims.symbols(size)]:
            raise TraceError(
                f"{flat.label}: it returns {flat.output_aval}, whose shape depends on the number of rows "
                f'"{kernel.rows}"; a kernel must return a pooled array.'
            )
        return
    if flat.output_aval.shape != sizes or flat.output_aval.dtype not in dtypes:
        wanted = Aval(kernel.features.dtype, sizes)
        axes = ", ".join(f'"{axis}"' if isinstance(axis, str) else str(axis) for axis in kernel.result_axes)
        raise TraceError(
            f'{flat.label}: it returns {flat.output_aval}, but spec "attention" demands {wanted} here; '
            f"the axes of its result are [{axes}] unless the manifest says otherwise with the key result."
        )
