"""Every kernel of the corpus is imported, or refused with the line that cannot be."""

from __future__ import annotations

import re

import pytest
from expectations import CORPUS, expectations

from maskpool_verify.constraints import UNCONSTRAINED
from maskpool_verify.errors import TraceError, UnsupportedError
from maskpool_verify.importer import import_program
from maskpool_verify.loading import load_function
from maskpool_verify.lowering import lowered
from maskpool_verify.manifest import Kernel, Shape, load_manifest
from maskpool_verify.tracing import Aval, trace

EXPECTATIONS = expectations()
KERNELS = load_manifest(CORPUS / "corpus.toml").kernels


def _import(kernel: Kernel, shape: Shape) -> int:
    """The number of equations."""
    inputs = [Aval(argument.dtype, argument.sizes(shape)) for argument in kernel.arguments]
    given = kernel.given if shape == kernel.open_shape else UNCONSTRAINED
    function = load_function(kernel, CORPUS)
    flat = lowered(trace(function, inputs, label="Kernel", root=CORPUS, given=given))
    return len(import_program(flat, kernel, shape).program.equations)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_kernel_is_imported_or_refused_as_expected(kernel: Kernel) -> None:
    for shape in kernel.shapes:
        if EXPECTATIONS[kernel.name].verdict == "unsupported":
            with pytest.raises((UnsupportedError, TraceError)) as refusal:
                _import(kernel, shape)
            file = kernel.function.split(":")[0]
            assert re.search(rf"{re.escape(file)}:\d+", str(refusal.value))
        else:
            assert _import(kernel, shape) > 0
