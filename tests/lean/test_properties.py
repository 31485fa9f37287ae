"""The theorems that a manifest asks for: which there are, and what each states."""

from __future__ import annotations

import pytest
from manifest_kernels import MATRICES, SCALARS, kernel, spec

from maskpool_verify.lean.properties import PROPERTIES, WIDTH, declaration, theorems, wrapped

PLAIN = kernel(
    "bag",
    (
        spec("features", "features", "n", "d"),
        spec("tau", "parameter"),
        spec("logits", "logits", "n"),
        spec("mask", "mask", "n", dtype="bool"),
    ),
    ({"n": 2, "d": 3}, {"n": 5, "d": 3}),
)
AT_TWO = "(features : Tensor R [2, 3]) (tau : Tensor R []) (logits : Tensor R [2]) (mask : Tensor Bool [2])"
STATEMENTS = {
    "certificates.bag.n2_d3.translation": "∀ {α : Type} [Ops α] (features : Tensor α [2, 3])"
    " (tau : Tensor α []) (logits : Tensor α [2]) (mask : Tensor Bool [2]),"
    " program.eval [] (features, tau, logits, mask, ()) = readable features tau logits mask",
    "certificates.bag.n2_d3.specification": f"∀ {{R : Type}} [RealArith R] {AT_TWO},"
    " program.eval [] (features, tau, logits, mask, ()) = pool logits features.rows mask",
    "certificates.bag.n2_d3.permutation": f"∀ {{R : Type}} [RealArith R] (σ : Fin 2 ≃ Fin 2) {AT_TWO},"
    " program.eval [] (features.permute σ, tau, logits.permute σ, mask.permute σ, ())"
    " = program.eval [] (features, tau, logits, mask, ())",
    "certificates.bag.n2_d3.masked_irrelevance": "∀ {R : Type} [RealArith R]"
    " {features features' : Tensor R [2, 3]} (tau : Tensor R []) {logits logits' : Tensor R [2]}"
    " {mask : Tensor Bool [2]}"
    " (h_features : ∀ i, mask i = true → features.rows i = features'.rows i)"
    " (h_logits : ∀ i, mask i = true → logits i = logits' i),"
    " program.eval [] (features, tau, logits, mask, ())"
    " = program.eval [] (features', tau, logits', mask, ())",
    "certificates.bag.n2_d3.all_masked": "∀ {R : Type} [RealArith R]"
    " (features : Tensor R [2, 3]) (tau : Tensor R []) (logits : Tensor R [2]),"
    " program.eval [] (features, tau, logits, fun _ => false, ()) = fun _ => 0",
    "certificates.bag.padding_n2_d3_n5_d3": f"∀ {{R : Type}} [RealArith R] {AT_TWO}"
    " (junk_features : Tensor R [3, 3]) (junk_logits : Tensor R [3]),"
    " n5_d3.program.eval [] (features.pad junk_features, tau, logits.pad junk_logits,"
    " mask.pad (k := 3) fun _ => false, ())"
    " = n2_d3.program.eval [] (features, tau, logits, mask, ())",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str) -> None:
    (theorem,) = [theorem for theorem in theorems(PLAIN) if theorem.dotted == name]
    assert theorem.statement == STATEMENTS[name]


def test_every_shape_has_every_property_and_every_pair_its_padding() -> None:
    found = [(t.proves, t.shape["n"], t.padded_shape and t.padded_shape["n"]) for t in theorems(MATRICES)]
    single = [(proves, n, None) for n in (2, 3, 5) for proves in PROPERTIES if proves != "padding"]
    assert sorted(found, key=str) == sorted(
        [*single, ("padding", 2, 3), ("padding", 2, 5), ("padding", 3, 5)], key=str
    )
    assert len({theorem.name for theorem in theorems(MATRICES)}) == len(found)


def test_a_single_shape_has_no_padding() -> None:
    assert [theorem.proves for theorem in theorems(SCALARS)] == [p for p in PROPERTIES if p != "padding"]


def test_features_of_rank_one_and_three() -> None:
    specification = {t.proves: t for t in theorems(SCALARS)}["specification"]
    assert specification.statement == (
        "∀ {R : Type} [RealArith R]"
        " («fun» : Tensor R [3]) («at» : Tensor R [3]) (program_ : Tensor Bool [3]),"
        " program.eval [] («fun», «at», program_, ()) = pool «at» «fun».rows program_"
    )
    padding = next(t for t in theorems(MATRICES) if t.proves == "padding")
    assert padding.binders[-2:] == (
        "(junk_arg_junk_where : Tensor R [1])",
        "(junk_where : Tensor R [1, 3, 2])",
    )


@pytest.mark.parametrize("kernel", [PLAIN, MATRICES, SCALARS], ids=lambda kernel: kernel.name)
def test_modules_are_those_of_the_shape_or_of_the_kernel(kernel: object) -> None:
    for theorem in theorems(kernel):  # type: ignore[arg-type]
        *namespace, _ = theorem.name
        own = theorem.proves == "translation"
        assert theorem.module == ".".join(namespace[:2]) + (f".{namespace[2]}" if own else ".properties")


def test_declarations_have_the_binders_on_lines_of_limited_width() -> None:
    for theorem in theorems(PLAIN):
        head, _, body = declaration(theorem).partition(" :\n")
        assert head.split() == ["theorem", theorem.name[-1], *" ".join(theorem.binders).split()]
        assert all(len(line) <= WIDTH for line in head.splitlines())
        assert body.split()[: len(theorem.conclusion[0].split())] == theorem.conclusion[0].split()
        assert body.endswith(theorem.proof)


def test_wrapped_text_loses_no_word() -> None:
    words = [f"(x{number} : Tensor R [4, 3])" for number in range(30)]
    text = wrapped(words, "theorem t", "    ")
    assert text.split() == ["theorem", "t", *" ".join(words).split()]
    assert all(len(line) <= WIDTH for line in text.splitlines())
