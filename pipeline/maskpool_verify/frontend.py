"""A kernel of the manifest at one shape, from its source to the imported program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from maskpool_verify.errors import TraceError
from maskpool_verify.evaluate import agree_with_jax
from maskpool_verify.importer import import_program
from maskpool_verify.loading import load_function
from maskpool_verify.manifest import Kernel, Shape
from maskpool_verify.program import Program
from maskpool_verify.tracing import Aval, FlatJaxpr, trace

SEED = 0
"""Of the random inputs on which every imported program is compared with JAX."""


@dataclass(frozen=True)
class TracedKernel:
    """``sources[k]`` is the ``"file:line"`` that equation ``k`` of ``program`` comes from."""

    flat: FlatJaxpr
    program: Program
    sources: tuple[str, ...]


def trace_kernel(kernel: Kernel, shape: Shape, root: Path) -> TracedKernel:
    """Load, trace and import ``kernel`` at ``shape``, and compare the program with JAX.

    ``root`` is the directory of the manifest. :class:`ManifestError`, :class:`TraceError` or
    :class:`UnsupportedError`, each naming the kernel.
    """
    function = load_function(kernel, root)
    inputs = [Aval(argument.dtype, argument.sizes(shape)) for argument in kernel.arguments]
    flat = trace(function, inputs, label=f'Kernel "{kernel.name}"', root=root)
    _require_pooled(flat, kernel, shape)
    imported = import_program(flat, kernel, shape)
    agree_with_jax(imported.program, function, SEED)
    return TracedKernel(flat, imported.program, tuple(map(str, imported.sources)))


def _require_pooled(flat: FlatJaxpr, kernel: Kernel, shape: Shape) -> None:
    """Attention pooling sums over the rows: the result is one row of features, in their dtype."""
    features = kernel.argument("features")
    pooled = Aval(features.dtype, features.sizes(shape)[1:])
    if flat.output_aval != pooled:
        raise TraceError(
            f'{flat.label}: it returns {flat.output_aval}, but spec "attention" demands {pooled} here, '
            "which is the type of the features without their first axis."
        )
