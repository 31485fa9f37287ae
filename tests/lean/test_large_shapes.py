"""No proof depends on the numerals of a shape: what holds at small listed shapes is proved at large ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.lean.properties import properties_module
from maskpool_verify.lean.render import lean_files
from maskpool_verify.manifest import ArgumentSpec, Kernel

CORPUS = Path(__file__).parents[1] / "corpus"
FEATURES = ArgumentSpec(name="features", role="features", dtype="float32", shape=("n", "d"))
LOGITS = ArgumentSpec(name="logits", role="logits", dtype="float32", shape=("n",))
SELECTIONS = {
    "masking.py:where_weights": ArgumentSpec(name="mask", role="mask", dtype="bool", shape=("n",)),
    "lengths.py:length_mask": ArgumentSpec(name="length", role="length", dtype="int32", shape=()),
}


@pytest.mark.parametrize("function", SELECTIONS)
def test_large_shapes_have_every_property(function: str, engine: WasmEngine, lean_project: Path) -> None:
    kernel = Kernel(
        name=f"large_{function.partition(':')[2]}",
        function=f"kernels/{function}",
        spec="attention",
        rows="n",
        shapes=({"n": 4096, "d": 1024}, {"n": 6144, "d": 1024}),
        arguments=(FEATURES, LOGITS, SELECTIONS[function]),
    )
    traces = [trace_kernel(kernel, shape, CORPUS) for shape in kernel.shapes]
    for path, text in lean_files(kernel, traces, "1.2.3").items():
        (lean_project / path).parent.mkdir(parents=True, exist_ok=True)
        (lean_project / path).write_text(text, encoding="utf-8")
    result = engine.build(lean_project, [properties_module(kernel)])[properties_module(kernel)]
    assert [m.text for m in result.messages if m.severity == "error"] == []
    assert result.status == "built"
