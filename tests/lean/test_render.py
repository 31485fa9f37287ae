"""The generated files: what they contain, and that Lean accepts them for awkward names and other ranks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from manifest_kernels import (
    GRID,
    HEADS,
    MASKED_HEADS,
    MATRICES,
    SCALARS,
    SPECIAL,
    everywhere,
    traces,
)

from maskpool_verify.audit import audit
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.failures import by_specification
from maskpool_verify.lean.bags import shape_name
from maskpool_verify.lean.properties import (
    optional_module,
    optional_theorems,
    properties_module,
    theorems,
    trace_module,
)
from maskpool_verify.lean.render import lean_files, module_path
from maskpool_verify.lean.selection import leaking_variable
from maskpool_verify.manifest import Kernel
from maskpool_verify.program import digest

KERNELS = pytest.mark.parametrize(
    "kernel",
    [MATRICES, SCALARS, HEADS, everywhere(SCALARS)],
    ids=lambda kernel: f"{kernel.name}-{shape_name(kernel.shapes[0])}",
)


def test_a_further_listed_shape_changes_no_other_file() -> None:
    """So that nothing is proved again but that its program is an instance."""
    short, longer = MATRICES.shapes[:2]
    kernel, more = (
        MATRICES.model_copy(update={"shapes": (MATRICES.open_shape, *shapes)})
        for shapes in ((short,), (short, longer))
    )
    before, after = (lean_files(each, traces(each), "1.2.3") for each in (kernel, more))
    assert len(after) == len(before) + 1
    assert before.items() <= after.items()


def test_what_is_required_over_any_arithmetic_does_not_wait_for_the_reals() -> None:
    free = everywhere(SCALARS)
    required = free.model_copy(update={"require": ("masked_irrelevance_any_arithmetic",)})
    for kernel, imported in (
        (free, properties_module(free)),
        (required, trace_module(required, required.open_shape)),
    ):
        text = lean_files(kernel, traces(kernel), "1.2.3")[module_path(optional_module(kernel))]
        assert re.findall("^public import certificates.(.*)", text, re.MULTILINE) == [
            imported.removeprefix("certificates.")
        ]


@KERNELS
def test_one_file_for_each_shape_one_for_the_properties_and_one_over_any_arithmetic(kernel: Kernel) -> None:
    files = lean_files(kernel, traces(kernel), "1.2.3")
    shapes = [
        "symbolic"
        if shape == kernel.open_shape
        else "_".join(f"{symbol}{size}" for symbol, size in shape.items())
        for shape in kernel.shapes
    ]
    more = ["any_arithmetic"] if "symbolic" in shapes else []
    names = (*shapes, "properties", *more)
    assert list(files) == [f"certificates/{kernel.name}/{name}.lean" for name in names]


@KERNELS
def test_files_say_what_they_are_made_from(kernel: Kernel) -> None:
    files = lean_files(kernel, traces(kernel), "1.2.3")
    for text in files.values():
        assert f"`{kernel.name}`" in text
        assert kernel.function in text
        assert "JAX: 1.2.3\n" in text
        assert "do not edit" in text
    for trace in traces(kernel):
        shape = trace.program.shape
        modules = [trace_module(kernel, shape)]
        if trace.program.symbols or not kernel.is_open:
            modules.append(properties_module(kernel))
        place = f"at {', '.join(f'{symbol} = {size}' for symbol, size in shape.items())}"
        if trace.program.symbols:
            modules.append(optional_module(kernel))
            place = "for all sizes"
        saying = f"* program {place}: {digest(trace.program)}"
        assert [path for path, text in files.items() if saying in text] == [*map(module_path, modules)]


@KERNELS
def test_each_theorem_is_declared_once_in_its_module(kernel: Kernel) -> None:
    files = lean_files(kernel, traces(kernel), "1.2.3")
    declared = []
    for path, text in files.items():
        namespace = ""
        for line in text.replace("«", "").replace("»", "").splitlines():
            if line.startswith("namespace "):
                namespace = line.split()[1]
            elif line.startswith("theorem "):
                declared.append(
                    (path.removesuffix(".lean").replace("/", "."), f"{namespace}.{line.split()[1]}")
                )
    wanted = [(theorem.module, ".".join(theorem.name)) for theorem in theorems(kernel)]
    assert sorted(declared) == sorted(wanted)


@KERNELS
def test_files_are_a_function_of_the_traces(kernel: Kernel) -> None:
    assert lean_files(kernel, traces(kernel), "1.2.3") == lean_files(kernel, traces(kernel), "1.2.3")


@KERNELS
def test_text_has_no_needless_blanks(kernel: Kernel) -> None:
    for text in lean_files(kernel, traces(kernel), "1.2.3").values():
        assert text.endswith("\n")
        assert "\n\n\n" not in text
        assert all(line == line.rstrip() for line in text.splitlines())


def test_a_listed_shape_beside_all_sizes_has_no_readable_form_of_its_own() -> None:
    files = lean_files(everywhere(SCALARS), traces(everywhere(SCALARS)), "1.2.3")
    symbolic, instance, properties, *over_any_arithmetic = files.values()
    assert "def readable" in symbolic
    assert "abbrev n : Dim := .var 0" in symbolic
    assert "def readable" not in instance
    assert "public import certificates.scalar_pool.symbolic\n" in instance
    assert "scalar_pool.n3" not in properties.partition("open MaskPool")[2]
    assert not any("n3" in text for text in over_any_arithmetic)


def written(project: Path, kernel: Kernel) -> list[str]:
    """Write the certificates of a kernel; the modules."""
    modules = []
    for path, text in lean_files(kernel, traces(kernel), "1.2.3").items():
        (project / path).parent.mkdir(exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
        modules.append(path.removesuffix(".lean").replace("/", "."))
    return modules


RESTING = {
    MATRICES.name: {"permutation", "masked_irrelevance", "all_masked", "padding_n2_d3_n3_d3"},
}
"""The theorems that are proved from the specification: at listed sizes all, else what no check can give."""

SELECTING = (SCALARS.name,)
"""The kernels that select features and logits before they compute; the others multiply masked features by 0,
which leaves NaN and infinities NaN."""


def test_lean_proves_them_for_awkward_names_and_other_ranks(engine: WasmEngine, lean_project: Path) -> None:
    listed = MATRICES.model_copy(update={"shapes": MATRICES.shapes[:2]})
    kernels = (listed, everywhere(SCALARS), HEADS, GRID, MASKED_HEADS)
    modules = [module for kernel in kernels for module in written(lean_project, kernel)]
    leaking = {
        optional_module(kernel): kernel
        for kernel in kernels
        if any(optional_theorems(kernel)) and kernel.name not in SELECTING
    }
    results = engine.build(lean_project, modules)
    assert {m for m in modules if results[m].status != "built"} == set(leaking)
    for module, kernel in leaking.items():
        (message,) = results[module].messages
        variable = leaking_variable(message.text)
        assert variable is not None
        (trace,) = traces(kernel)
        assert trace.program.equations[variable - len(kernel.arguments)].primitive == "dot_general"
    for kernel in kernels:
        module = properties_module(kernel)
        text = (lean_project / module_path(module)).read_text("utf-8")
        resting = {name.rpartition(".")[2] for name in by_specification(text, results[module])}
        assert resting == RESTING.get(kernel.name, {"all_masked"})
    artifacts = engine.artifacts(lean_project)
    built = [module for module in modules if module not in leaking]
    proved = [theorem for kernel in kernels for theorem in theorems(kernel) if theorem.module in built]
    wanted = [theorem.dotted for theorem in proved]
    found = audit(artifacts.own, artifacts.library, built, wanted)
    assert found.all_violations == ()
    assert [theorem.name for theorem in found.theorems] == wanted


def test_a_program_that_differs_at_one_shape_is_no_instance(engine: WasmEngine, lean_project: Path) -> None:
    """What is proved for all sizes would be of no use for the kernel as it is at this shape."""
    written(lean_project, SPECIAL)
    modules = [trace_module(SPECIAL, shape) for shape in SPECIAL.shapes]
    results = engine.build(lean_project, modules)
    status = {module.rpartition(".")[2]: results[module].status for module in modules}
    assert status == {"symbolic": "built", "n2": "built", "n3": "failed", "n4": "failed"}
    for shape in ("n3", "n4"):
        (message, *_) = results[f"certificates.{SPECIAL.name}.{shape}"].messages
        assert message.severity == "error"
        lines = (lean_project / f"certificates/{SPECIAL.name}/{shape}.lean").read_text("utf-8").splitlines()
        start = next(number for number, line in enumerate(lines, 1) if line.startswith("theorem instance_of"))
        assert message.position is not None
        assert start <= message.position.line
