"""``explain`` on the bundled kernels and the library, as the embedded Lean has compiled them."""

from __future__ import annotations

from pathlib import Path

import pytest

NAME = "masked_attention_pool"


def test_a_theorem_about_a_kernel(built_project: Path, run):
    outcome = run(built_project, "explain", f"{NAME}.padding")
    assert outcome.status == 0
    says, statement, axioms, proof = outcome.out.split("\n\n")
    assert says == (
        f"certificates.{NAME}.symbolic.padding\n  Further masked rows do not matter, whatever they hold."
    )
    assert " ".join(statement.split()).startswith("∀ {R : Type} [RealArith R] {n d extra : Nat} (features")
    assert axioms.startswith("axioms: propext, Classical.choice\n")
    first, *tree = proof.splitlines()
    assert first == "its proof rests on"
    assert "  MaskPool.Kernel.padding" in tree
    assert any(line.startswith("    MaskPool.Kernel.padding_of") for line in tree), "two levels"
    assert not any(line.startswith("      MaskPool.") for line in tree)


def test_the_depth(built_project: Path, run):
    flat = run(built_project, "explain", f"{NAME}.padding", "--depth", "1").out
    assert "\n    MaskPool." not in flat
    deep = run(built_project, "explain", f"{NAME}.padding", "--depth", "4").out
    assert "\n        MaskPool." in deep


def test_a_lemma_of_the_library(built_project: Path, run):
    outcome = run(built_project, "explain", "pool_padding")
    assert outcome.status == 0
    says, statement, *_ = outcome.out.split("\n\n")
    assert says.splitlines()[0] == "MaskPool.pool_padding"
    assert len(says.splitlines()) > 1, "its documentation comment"
    assert "pool" in statement


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("padding", f'"padding" may be certificates.{NAME}.symbolic.padding or certificates.{NAME}_stable'),
        (f"{NAME}.paddin", f'There is no theorem "{NAME}.paddin"; did you mean'),
        ("MaskPool.pool", 'There is no theorem "MaskPool.pool"'),
    ],
)
def test_names_that_are_not_of_one_theorem(name: str, says: str, built_project: Path, run):
    outcome = run(built_project, "explain", name)
    assert outcome.status == 2
    assert outcome.sentence.startswith(says)


def test_a_theorem_that_lean_refuses(project: Path, run):
    file = project / "certificates" / NAME / "properties.lean"
    file.write_text(
        file.read_text().replace("theorem padding", "theorem padding_ : False := by simp\ntheorem padding")
    )
    outcome = run(project, "explain", f"{NAME}.padding")
    assert outcome.status == 1
    assert outcome.err.splitlines()[-1] == (
        f"maskpool-verify: certificates.{NAME}.symbolic.padding is not proved: "
        f"certificates.{NAME}.properties does not build; see maskpool-verify check."
    )
