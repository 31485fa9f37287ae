"""The generated files: what they contain, and that Lean accepts them for awkward names and other ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from manifest_kernels import MATRICES, SCALARS, traces

from maskpool_verify.audit import audit
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.lean.properties import theorems
from maskpool_verify.lean.render import lean_files
from maskpool_verify.manifest import Kernel
from maskpool_verify.program import digest

KERNELS = pytest.mark.parametrize("kernel", [MATRICES, SCALARS], ids=lambda kernel: kernel.name)


@KERNELS
def test_one_file_for_each_shape_and_one_for_the_properties(kernel: Kernel) -> None:
    files = lean_files(kernel, traces(kernel), "1.2.3")
    shapes = ["_".join(f"{symbol}{size}" for symbol, size in shape.items()) for shape in kernel.shapes]
    assert list(files) == [f"certificates/{kernel.name}/{name}.lean" for name in (*shapes, "properties")]


@KERNELS
def test_files_say_what_they_are_made_from(kernel: Kernel) -> None:
    traced = traces(kernel)
    *trace_files, properties = lean_files(kernel, traced, "1.2.3").values()
    for text, trace in zip(trace_files, traced, strict=True):
        assert f"`{kernel.name}`" in text
        for file in (text, properties):
            assert kernel.function in file
            assert "JAX: 1.2.3\n" in file
            assert ", ".join(f"{symbol} = {size}" for symbol, size in trace.program.shape.items()) in file
            assert digest(trace.program) in file
            assert "do not edit" in file


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
    helpers = [(module, name) for module, name in declared if name.endswith(".isPool")]
    assert sorted(declared) == sorted([*wanted, *helpers])
    assert len(helpers) == len(kernel.shapes)


@KERNELS
def test_files_are_a_function_of_the_traces(kernel: Kernel) -> None:
    assert lean_files(kernel, traces(kernel), "1.2.3") == lean_files(kernel, traces(kernel), "1.2.3")


@KERNELS
def test_text_has_no_needless_blanks(kernel: Kernel) -> None:
    for text in lean_files(kernel, traces(kernel), "1.2.3").values():
        assert text.endswith("\n")
        assert "\n\n\n" not in text
        assert all(line == line.rstrip() for line in text.splitlines())


def test_lean_proves_them_for_awkward_names_and_other_ranks(engine: WasmEngine, lean_project: Path) -> None:
    kernels = (MATRICES.model_copy(update={"shapes": MATRICES.shapes[:2]}), SCALARS)
    modules = []
    for kernel in kernels:
        for path, text in lean_files(kernel, traces(kernel), "1.2.3").items():
            (lean_project / path).parent.mkdir(exist_ok=True)
            (lean_project / path).write_text(text, encoding="utf-8")
            modules.append(path.removesuffix(".lean").replace("/", "."))
    results = engine.build(lean_project, modules)
    assert {m: results[m].messages for m in modules} == dict.fromkeys(modules, ())
    artifacts = engine.artifacts(lean_project)
    wanted = [theorem.dotted for kernel in kernels for theorem in theorems(kernel)]
    found = audit(artifacts.own, artifacts.library, modules, wanted)
    assert found.all_violations == ()
    assert [theorem.name for theorem in found.theorems] == wanted
