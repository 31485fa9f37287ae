"""Constraints on sizes are hypotheses of the theorems, which need them and have no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskpool_verify import lock
from maskpool_verify.audit import AuditResult, audit
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.failures import BY_SPECIFICATION, by_specification, failures
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.lean.properties import (
    Theorem,
    optional_module,
    optional_theorems,
    properties_module,
    theorems,
    trace_module,
)
from maskpool_verify.lean.render import lean_files, module_path
from maskpool_verify.lock import EMPTY, SCHEMA, Lock, Statement
from maskpool_verify.manifest import ArgumentSpec, Kernel

CORPUS = Path(__file__).parents[1] / "corpus"
MASK = ArgumentSpec(name="mask", role="mask", dtype="bool", shape=("n",))
LOGITS = ArgumentSpec(name="logits", role="logits", dtype="float32", shape=("n",))


def kernel(function: str, axis: str, *constraints: str, logits: bool = False, **shape: int) -> Kernel:
    """A kernel of the corpus under other constraints, and at a listed shape as well."""
    features = ArgumentSpec(name="features", role="features", dtype="float32", shape=("n", axis))
    return Kernel(
        name=f"constrained_{function}",
        function=f"kernels/sizes.py:{function}",
        spec="attention" if logits else "none",
        rows="n",
        shapes=({"n": "n", axis: axis}, *([shape] if shape else [])),
        constraints=constraints,
        arguments=(features, LOGITS, MASK) if logits else (features, MASK),
    )


HEADS = kernel("heads_of_equal_width", "m", "mod(m, 4) == 0", "n >= 2", logits=True, n=3, m=8)
PAIRS = kernel("rows_in_pairs", "d", "mod(n, 2) == 0", "n <= 64", logits=True, n=4, d=3)
MAXIMUM = kernel("max_of_some_rows", "d", "n >= 1", n=2, d=3)
KERNELS = (HEADS, PAIRS, MAXIMUM)
RESTING = {
    HEADS.name: {"all_masked"},
    PAIRS.name: {"permutation", "padding", "all_masked"},
    MAXIMUM.name: set(),
}
"""The theorems that are proved from the specification.

No check follows rows into sums over pairs; where weights are 0, nothing of a row is left in them.
"""


def traces(kernel: Kernel) -> tuple[TracedKernel, ...]:
    return tuple(trace_kernel(kernel, shape, CORPUS) for shape in kernel.shapes)


def required(kernel: Kernel) -> list[Theorem]:
    return [theorem for theorem in theorems(kernel) if theorem.required]


def written(project: Path, kernel: Kernel) -> list[str]:
    for path, text in lean_files(kernel, traces(kernel), "1.2.3").items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    return [*(trace_module(kernel, shape) for shape in kernel.shapes), properties_module(kernel)]


@pytest.fixture(scope="module")
def audited(engine: WasmEngine, lean_project: Path) -> AuditResult:
    """The theorems that all kernels have to have; Lean says of none more than what its proof rests on."""
    modules = [module for kernel in KERNELS for module in written(lean_project, kernel)]
    results = engine.build(lean_project, modules)
    assert {results[m].status for m in modules} == {"built"}
    for kernel in KERNELS:
        module = properties_module(kernel)
        text = (lean_project / module_path(module)).read_text("utf-8")
        resting = by_specification(text, results[module])
        assert {name.rpartition(".")[2] for name in resting} == RESTING[kernel.name]
    said = [message.text for m in modules for message in results[m].messages]
    assert set(said) == {BY_SPECIFICATION}
    artifacts = engine.artifacts(lean_project)
    wanted = [theorem.dotted for kernel in KERNELS for theorem in required(kernel)]
    found = audit(artifacts.own, artifacts.library, modules, wanted, ("MaskPool", "certificates"))
    assert found.all_violations == ()
    return found


def test_every_property_has_the_constraints_as_hypotheses(audited: AuditResult) -> None:
    statements = {theorem.name.split(".", 1)[1]: theorem.statement for theorem in audited.theorems}
    for name, hypotheses in (
        ("constrained_heads_of_equal_width.symbolic.specification", ("m % 4 = 0 →", "2 ≤ n →")),
        ("constrained_heads_of_equal_width.symbolic.padding", ("m % 4 = 0 →", "2 ≤ n →")),
        ("constrained_rows_in_pairs.symbolic.permutation", ("n % 2 = 0 →", "n ≤ 64 →")),
        (
            "constrained_rows_in_pairs.symbolic.padding",
            ("n % 2 = 0 →", "n ≤ 64 →", "(n + extra) % 2 = 0 →", "n + extra ≤ 64 →"),
        ),
        ("constrained_rows_in_pairs.symbolic.all_masked", ("n % 2 = 0 →", "n ≤ 64 →")),
        ("constrained_max_of_some_rows.symbolic.padding", ("0 < n →",)),
        ("constrained_max_of_some_rows.symbolic.masked_irrelevance", ("0 < n →",)),
    ):
        for hypothesis in hypotheses:
            assert hypothesis in statements[name], statements[name]
        before = statements[name].partition("features")[0]
        assert before.count("→") == len(hypotheses)


def test_the_programs_are_compared_without_them(audited: AuditResult) -> None:
    """Over any arithmetic, a program is what it is at all sizes."""
    for theorem in audited.theorems:
        if theorem.name.endswith((".translation", ".instance_of_symbolic")):
            assert "%" not in theorem.statement.partition(" = ")[0]
            assert "≤" not in theorem.statement


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_theorems_over_any_arithmetic_need_no_constraint(kernel: Kernel) -> None:
    free = kernel.model_copy(update={"constraints": ()})
    assert [*optional_theorems(kernel)] == [*optional_theorems(free)] != []


def test_lean_proves_the_theorems_over_any_arithmetic_without_them(
    engine: WasmEngine, lean_project: Path, audited: AuditResult
) -> None:
    """The kernel of maxima selects before it computes; the others multiply masked features by 0."""
    results = engine.build(lean_project, [optional_module(kernel) for kernel in KERNELS])
    failed = {
        failure.theorem
        for kernel in KERNELS
        for failure in failures(
            (lean_project / module_path(optional_module(kernel))).read_text("utf-8"),
            results[optional_module(kernel)],
        )
    }
    wanted = [(kernel.name, theorem) for kernel in KERNELS for theorem in optional_theorems(kernel)]
    assert {(name, theorem.proves) for name, theorem in wanted if theorem.dotted not in failed} == {
        (MAXIMUM.name, "masked_irrelevance_any_arithmetic"),
        (HEADS.name, "all_masked_any_arithmetic"),
        (PAIRS.name, "all_masked_any_arithmetic"),
    }


def test_the_statements_of_the_manifest_are_those_that_are_proved(audited: AuditResult) -> None:
    for kernel in KERNELS:
        for theorem in required(kernel):
            shown = [text for text in theorem.binders if text.startswith("(h_") and " ∀" not in text]
            found = next(each for each in audited.theorems if each.name == theorem.dotted)
            for binder in shown:
                assert f"{binder[1:-1].partition(' : ')[2]} →" in found.statement


@pytest.mark.parametrize(
    ("kernel", "theorem", "hypothesis"),
    [
        (HEADS, "specification", "(h_m_mod_4_eq_0 : m % 4 = 0) "),
        (PAIRS, "specification", "(h_n_mod_2_eq_0 : n % 2 = 0) "),
        (MAXIMUM, "padding", "(h_n_pos : 0 < n) "),
    ],
)
def test_a_theorem_without_its_hypothesis_is_not_proved(
    engine: WasmEngine,
    lean_project: Path,
    audited: AuditResult,
    kernel: Kernel,
    theorem: str,
    hypothesis: str,
) -> None:
    source = lean_project / f"certificates/{kernel.name}/properties.lean"
    before, name, after = source.read_text("utf-8").partition(f"theorem {theorem} ")
    assert hypothesis in after.replace("\n    ", " ").partition(":=")[0]
    claim = after.replace(hypothesis.rstrip(), "", 1).partition("\n\n")[0]
    tampered = lean_project / f"without_{theorem}_{kernel.name}.lean"
    tampered.write_text(f"{before.partition('theorem')[0]}{name}{claim}\n\nend {kernel.name}\n", "utf-8")
    text = tampered.read_text("utf-8").replace(
        f"end {kernel.name}", f"end certificates.{kernel.name}.symbolic"
    )
    tampered.write_text(text, "utf-8")
    result = engine.build(lean_project, [tampered.stem])[tampered.stem]
    assert result.status == "failed"


def test_a_lost_constraint_shows_in_the_lock(audited: AuditResult) -> None:
    def accepted(kernel: Kernel) -> Lock:
        statements = {
            t.dotted: Statement(property=t.proves, statement=t.statement, digest=t.statement)
            for t in theorems(kernel)
        }
        return Lock(schema=SCHEMA, statements=statements, definitions={})

    lost = MAXIMUM.model_copy(update={"constraints": ()})
    found = lock.differences(accepted(MAXIMUM), accepted(lost))
    assert [sentence.split(" states something else")[0].rpartition(".")[2] for sentence in found] == [
        "permutation",
        "padding",
        "masked_irrelevance",
    ]
    assert all("(h_n_pos : 0 < n)" in sentence.partition("now:")[0] for sentence in found)
    assert all("0 < n" not in sentence.partition("now:")[2] for sentence in found)
    assert lock.differences(accepted(MAXIMUM), accepted(MAXIMUM)) == []
    assert lock.differences(EMPTY, accepted(lost)) != []
