"""How long Lean needs for certificates, by the number of equations and by the shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import jax
from jax import lax

from benchmarks.project import Workspace
from benchmarks.results import Measurement, MeasurementError
from maskpool_verify.engine.modules import source_file
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.importer import import_program
from maskpool_verify.lean.properties import trace_module
from maskpool_verify.lean.render import lean_files, trace_file
from maskpool_verify.loading import KernelFunction
from maskpool_verify.manifest import Kernel, Shape, load_manifest
from maskpool_verify.tracing import Aval, trace

EQUATIONS = (5, 10, 20, 40, 80)
ROWS = (1, 2, 3, 4, 7, 16, 33, 128, 1000, 8192)
FEATURES = (1, 2, 64, 513, 2048)
SHAPES: tuple[Shape, ...] = ({"n": 4, "d": 3}, {"n": 64, "d": 32}, {"n": 4096, "d": 1024})


def by_equations(workspace: Workspace) -> Iterator[Measurement]:
    """Translation certificates of synthetic programs."""
    project = workspace.built()
    medians: dict[int, float] = {}
    for count in EQUATIONS:
        files = _chain_certificate(project, count)
        target = 10.0 if count == EQUATIONS[-1] else None
        measured = _measured(workspace, project, files, f"{count} equations", target)
        if measured.samples:
            medians[count] = measured.median
        yield measured
    half, whole = EQUATIONS[-2:]
    if half in medians and whole in medians:
        each = (medians[whole] - medians[half]) / (whole - half)
        yield Measurement(what=f"each equation from {half} to {whole}", unit="s/equation", samples=(each,))
        yield Measurement(
            what=f"{whole} equations against {half} (linear: 2)",
            unit="times",
            samples=(medians[whole] / medians[half],),
            target=2.2,
        )


def manifest_with_shapes(number: int) -> str:
    """A manifest of one kernel, at all shapes and so many of the products of ``ROWS`` and ``FEATURES``."""
    sizes = [f"{{ n = {rows}, d = {features} }}" for rows in ROWS for features in FEATURES]
    shapes = ", ".join(['"all"', *sizes[:number]])
    name = "masked_attention_pool_stable"
    arguments = [
        ("features", "features", "float32", '["n", "d"]'),
        ("logits", "logits", "float32", '["n"]'),
        ("mask", "mask", "bool", '["n"]'),
    ]
    lines = [
        'library = "project"',
        "[[kernel]]",
        f'name = "{name}"',
        f'function = "kernels/{name}.py:{name}"',
        'spec = "attention"',
        'rows = "n"',
        f"shapes = [{shapes}]",
    ]
    for argument, role, dtype, shape in arguments:
        lines += ["[[kernel.arguments]]", f'name = "{argument}"', f'role = "{role}"']
        lines += [f'dtype = "{dtype}"', f"shape = {shape}"]
    return "\n".join(lines) + "\n"


def by_shape(workspace: Workspace) -> Iterator[Measurement]:
    """Whole certificates of the kernels of the manifest."""
    project = workspace.built()
    for kernel in load_manifest(project / "maskpool.toml").kernels:
        medians = []
        for shape in SHAPES:
            rows, size = int(shape[kernel.rows]), " × ".join(map(str, shape.values()))
            padded = {**shape, kernel.rows: rows + rows // 2}
            resized = kernel.model_copy(update={"shapes": (shape, padded)})
            traces = [trace_kernel(resized, each, project) for each in resized.shapes]
            files = lean_files(resized, traces, jax.__version__)
            measured = _measured(workspace, project, files, f"`{kernel.name}` at {size}")
            if measured.samples:
                medians.append(measured.median)
            yield measured
        if len(medians) == len(SHAPES):
            yield Measurement(
                what=f"`{kernel.name}`, largest shape against smallest (flat: 1)",
                unit="times",
                samples=(medians[-1] / medians[0],),
                target=1.2,
            )


def _measured(
    workspace: Workspace, project: Path, files: Mapping[str, str], what: str, target: float | None = None
) -> Measurement:
    """The time for ``files``; if Lean rejects one of them, that is the result."""
    try:
        seconds = _seconds(workspace, project, files)
    except MeasurementError as error:
        return Measurement(what=what, unit="s", target=target, failure=str(error))
    return Measurement(what=what, unit="s", target=target, samples=seconds)


def _seconds(workspace: Workspace, project: Path, files: Mapping[str, str]) -> tuple[float, ...]:
    """How long Lean works on ``files``, without its start and the loading of what they import.

    Of every file, a version with nothing but its imports is built too, and its time subtracted.
    """
    samples = []
    for repetition in range(workspace.repetitions):
        for path, source in files.items():
            (project / path).parent.mkdir(exist_ok=True)
            # A new comment makes the file new, and it is built again.
            (project / path).write_text(f"{source}\n-- {repetition}\n")
            (project / _imports_only(path)).write_text(f"{_header(source)}\n-- {repetition}\n")
        modules = [path.removesuffix(".lean").replace("/", ".") for path in files]
        with_proofs = workspace.build(project, *modules)
        empty = [_imports_only(path).removesuffix(".lean") for path in files]
        without = workspace.build(project, *empty)
        samples.append(sum(with_proofs[m].seconds for m in modules) - sum(without[m].seconds for m in empty))
    return tuple(samples)


def _imports_only(path: str) -> str:
    return f"Imports_{path.removesuffix('.lean').replace('/', '_')}.lean"


def _header(source: str) -> str:
    lines = source.splitlines()
    return "\n".join(line for line in lines if line == "module" or line.startswith("public import "))


# -- programs of any length


def _chain(length: int) -> KernelFunction:
    """A function whose Jaxpr has ``length`` equations, each using the one before."""
    steps: tuple[KernelFunction, ...] = (
        lambda x, features: x * features,
        lambda x, _: lax.transpose(x, (1, 0)),
        lambda x, _: lax.reshape(x, (1, *x.shape)),
        lambda x, _: lax.squeeze(x, (0,)),
        lambda x, _: lax.transpose(x, (1, 0)),
    )

    def chain(features: jax.Array, logits: jax.Array, mask: jax.Array) -> jax.Array:
        del logits, mask
        value = features
        for number in range(length):
            value = steps[number % len(steps)](value, features)
        return value

    return chain


def _chain_certificate(project: Path, length: int) -> Mapping[str, str]:
    """The Lean file with the program, its readable form and the translation theorem."""
    shape = SHAPES[0]
    like: Kernel = load_manifest(project / "maskpool.toml").kernels[0]
    name = f"chain_{length}"
    kernel = like.model_copy(update={"name": name, "function": f"benchmarks:{name}", "shapes": (shape,)})
    inputs = [Aval(argument.dtype, argument.sizes(shape)) for argument in kernel.arguments]
    flat = trace(_chain(length), inputs, label=name, root=project)
    imported = import_program(flat, kernel, shape)
    if len(imported.program.equations) != length:
        raise MeasurementError(f"{name} has {len(imported.program.equations)} equations.")
    traced = TracedKernel(flat, imported.program, tuple(map(str, imported.sources)))
    return {source_file(trace_module(kernel, shape)): trace_file(kernel, traced, jax.__version__)}
