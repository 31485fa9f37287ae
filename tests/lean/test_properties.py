"""The theorems that a manifest asks for: which there are, and what each states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import pytest
from manifest_kernels import HEADS, MATRICES, SCALARS, everywhere, kernel, spec

from maskpool_verify.lean.bags import shape_name
from maskpool_verify.lean.lines import WIDTH, wrapped
from maskpool_verify.lean.properties import PROPERTIES, declaration, theorems
from maskpool_verify.manifest import Kernel, OptionalProperty

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
MASK = spec("mask", "mask", "n", dtype="bool")
OPTIONAL = get_args(OptionalProperty)


@dataclass(frozen=True)
class Stated:
    """What a theorem quantifies over, after the type of the numbers and the sizes, and its conclusion."""

    variables: str
    conclusion: str


AT_TWO = "(features : Tensor R [2, 3]) (tau : Tensor R []) (logits : Tensor R [2]) (mask : Tensor Bool [2])"
ALIKE = "program.eval [] (features, tau, logits, mask, ())"
STATEMENTS = {
    "n2_d3.translation": Stated(
        AT_TWO.replace("Tensor R", "Tensor α"), f"{ALIKE} = readable features tau logits mask"
    ),
    "n2_d3.specification": Stated(AT_TWO, f"{ALIKE} = pool logits features.rows mask"),
    "n2_d3.permutation": Stated(
        f"(σ : Fin 2 ≃ Fin 2) {AT_TWO}",
        f"program.eval [] (features.permute σ, tau, logits.permute σ, mask.permute σ, ()) = {ALIKE}",
    ),
    "n2_d3.masked_irrelevance": Stated(
        "{features features' : Tensor R [2, 3]} (tau : Tensor R []) {logits logits' : Tensor R [2]} "
        "{mask : Tensor Bool [2]} "
        "(h_features : ∀ (q : Index [2, 3]), mask (q.1, ()) = true → features q = features' q) "
        "(h_logits : ∀ (q : Index [2]), mask (q.1, ()) = true → logits q = logits' q)",
        f"{ALIKE} = program.eval [] (features', tau, logits', mask, ())",
    ),
    "n2_d3.all_masked": Stated(
        "(features : Tensor R [2, 3]) (tau : Tensor R []) (logits : Tensor R [2])",
        "program.eval [] (features, tau, logits, fun _ => false, ()) = fun _ => 0",
    ),
    "padding_n2_d3_n5_d3": Stated(
        f"{AT_TWO} (junk_features : Tensor R [3, 3]) (junk_logits : Tensor R [3])",
        "n5_d3.program.eval [] (features.pad junk_features, tau, logits.pad junk_logits, "
        "mask.pad (k := 3) fun _ => false, ()) = n2_d3." + ALIKE,
    ),
}

OPEN = "(features : Tensor R [n, d]) (tau : Tensor R []) (logits : Tensor R [n]) (mask : Tensor Bool [n])"
EVERYWHERE = "program.eval [n, d] (features, tau, logits, mask, ())"
AT_ALL_SIZES = {
    "symbolic.translation": Stated(
        OPEN.replace("Tensor R", "Tensor α"), f"{EVERYWHERE} = readable features tau logits mask"
    ),
    "symbolic.specification": Stated(OPEN, f"{EVERYWHERE} = pool logits features.rows mask"),
    "symbolic.permutation": Stated(
        f"(σ : Fin n ≃ Fin n) {OPEN}",
        f"program.eval [n, d] (features.permute σ, tau, logits.permute σ, mask.permute σ, ()) = {EVERYWHERE}",
    ),
    "symbolic.padding": Stated(
        f"{OPEN} (junk_features : Tensor R [extra, d]) (junk_logits : Tensor R [extra])",
        "program.eval [n + extra, d] (features.pad junk_features, tau, logits.pad junk_logits, "
        f"mask.pad fun _ => false, ()) = {EVERYWHERE}",
    ),
    "symbolic.masked_irrelevance": Stated(
        "{features features' : Tensor R [n, d]} (tau : Tensor R []) {logits logits' : Tensor R [n]} "
        "{mask : Tensor Bool [n]} "
        "(h_features : ∀ (q : Index [n, d]), mask (q.1, ()) = true → features q = features' q) "
        "(h_logits : ∀ (q : Index [n]), mask (q.1, ()) = true → logits q = logits' q)",
        f"{EVERYWHERE} = program.eval [n, d] (features', tau, logits', mask, ())",
    ),
    "symbolic.all_masked": Stated(
        "(features : Tensor R [n, d]) (tau : Tensor R []) (logits : Tensor R [n])",
        "program.eval [n, d] (features, tau, logits, fun _ => false, ()) = fun _ => 0",
    ),
    "symbolic.masked_irrelevance_any_arithmetic": Stated(
        "{features features' : Tensor α [n, d]} (tau : Tensor α []) {logits logits' : Tensor α [n]} "
        "{mask : Tensor Bool [n]} "
        "(h_features : ∀ (q : Index [n, d]), mask (q.1, ()) = true → features q = features' q) "
        "(h_logits : ∀ (q : Index [n]), mask (q.1, ()) = true → logits q = logits' q)",
        f"{EVERYWHERE} = program.eval [n, d] (features', tau, logits', mask, ())",
    ),
    "symbolic.all_masked_any_arithmetic": Stated(
        "(features : Tensor α [n, d]) (tau : Tensor α []) (logits : Tensor α [n])",
        "program.eval [n, d] (features, tau, logits, fun _ => false, ()) = fun _ => Ops.lit 0 1",
    ),
    "n2_d3.instance_of_symbolic": Stated(
        AT_TWO.replace("Tensor R", "Tensor α"),
        f"{ALIKE} = symbolic.program.eval [2, 3] (features, tau, logits, mask, ())",
    ),
}


def stated(kernel: Kernel, *score_axes: str) -> dict[str, str]:
    """The statements by the ends of their names."""
    prefix = f"certificates.{kernel.name}."
    return {t.dotted.removeprefix(prefix): t.statement for t in theorems(kernel, score_axes)}


def whole(name: str, wanted: Stated, sizes: str = "") -> str:
    law_free = name.endswith(("translation", "instance_of_symbolic", *OPTIONAL))
    numbers = "{α : Type} [Ops α]" if law_free else "{R : Type} [RealArith R]"
    if name.endswith("all_masked_any_arithmetic"):
        numbers += " (facts : FloatFacts α)"
    if sizes and name.endswith("padding"):
        sizes = f"{sizes} extra"
    bound = f"{{{sizes} : Nat}} " if sizes else ""
    return f"∀ {numbers} {bound}{wanted.variables}, {wanted.conclusion}"


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_at_listed_shapes(name: str) -> None:
    assert stated(PLAIN)[name] == whole(name, STATEMENTS[name])


@pytest.mark.parametrize("name", AT_ALL_SIZES)
def test_statements_at_all_sizes(name: str) -> None:
    sizes = "n d" if name.startswith("symbolic") else ""
    assert stated(everywhere(PLAIN))[name] == whole(name, AT_ALL_SIZES[name], sizes)


# -- bags that are parts of their tensors

BATCH = kernel(
    "batch",
    (
        spec("features", "features", "b", "n", "d"),
        spec("logits", "logits", "b", "n"),
        spec("mask", "mask", "b", "n", dtype="float32"),
    ),
)
BATCHES = (
    "(features : Tensor R [b, n, d]) (logits : Tensor R [b, n]) (mask : Tensor Bool [b, n])",
    "program.eval [b, n, d] (features, logits, mask.indicator, ())",
)
IN_A_BATCH = {
    "specification": Stated(
        BATCHES[0],
        f"{BATCHES[1]} = fun q => pool (fun r : Index [n] => logits (q.1, r.1, ())) "
        "(fun r (_ : Unit) => features (q.1, r.1, q.2.1, ())) (fun r => mask (q.1, r.1, ())) ()",
    ),
    # Each bag has an order of its own.
    "permutation": Stated(
        f"(σ : Fin b → Fin n ≃ Fin n) {BATCHES[0]}",
        "program.eval [b, n, d] (fun q => features (q.1, σ q.1 q.2.1, q.2.2.1, ()), "
        "fun q => logits (q.1, σ q.1 q.2.1, ()), Tensor.indicator (fun q => mask (q.1, σ q.1 q.2.1, ())), ())"
        f" = {BATCHES[1]}",
    ),
    "padding": Stated(
        f"{BATCHES[0]} (junk_features : Tensor R [b, extra, d]) (junk_logits : Tensor R [b, extra])",
        "program.eval [b, n + extra, d] ("
        "fun q => Fin.addCases (fun r => features (q.1, r, q.2.2.1, ())) "
        "(fun r => junk_features (q.1, r, q.2.2.1, ())) q.2.1, "
        "fun q => Fin.addCases (fun r => logits (q.1, r, ())) (fun r => junk_logits (q.1, r, ())) q.2.1, "
        "Tensor.indicator (fun q => Fin.addCases (fun r => mask (q.1, r, ())) (fun _ => false) q.2.1), ())"
        f" = {BATCHES[1]}",
    ),
    "masked_irrelevance": Stated(
        "{features features' : Tensor R [b, n, d]} {logits logits' : Tensor R [b, n]} "
        "{mask : Tensor Bool [b, n]} "
        "(h_features : ∀ (q : Index [b, n, d]), mask (q.1, q.2.1, ()) = true → features q = features' q) "
        "(h_logits : ∀ (q : Index [b, n]), mask (q.1, q.2.1, ()) = true → logits q = logits' q)",
        f"{BATCHES[1]} = program.eval [b, n, d] (features', logits', mask.indicator, ())",
    ),
    # One bag without valid rows gives zero, whatever the other bags hold.
    "all_masked": Stated(
        f"{BATCHES[0]} (q : Index [b, d]) (h_mask : ∀ r, mask (q.1, r, ()) = false)", f"{BATCHES[1]} q = 0"
    ),
}


@pytest.mark.parametrize("name", IN_A_BATCH)
def test_bags_in_a_batch_with_a_mask_of_floats(name: str) -> None:
    assert stated(BATCH)[f"symbolic.{name}"] == whole(name, IN_A_BATCH[name], "b n d")


def test_the_program_takes_floats_for_the_mask() -> None:
    """The translation is about the program as it is; only the other theorems are about truth values."""
    assert stated(BATCH)["symbolic.translation"] == (
        "∀ {α : Type} [Ops α] {b n d : Nat} (features : Tensor α [b, n, d]) (logits : Tensor α [b, n]) "
        "(mask : Tensor α [b, n]), program.eval [b, n, d] (features, logits, mask, ()) = "
        "readable features logits mask"
    )


def test_a_mask_of_integers_is_one() -> None:
    assert "(extra__ : Tensor Int [program_, t1_])" in stated(HEADS)["symbolic.translation"]
    assert "(extra__ : Tensor Bool [program_, t1_])" in stated(HEADS)["symbolic.specification"]


def test_heads_that_share_features_and_mask() -> None:
    heads = kernel(
        "heads", (spec("features", "features", "n", "d"), spec("logits", "logits", "n", "h"), MASK)
    )
    assert heads.result_axes == ("h", "d")
    assert stated(heads)["symbolic.specification"].endswith(
        "program.eval [n, d, h] (features, logits, mask, ()) = fun q => "
        "pool (fun r : Index [n] => logits (r.1, q.1, ())) "
        "(fun r (_ : Unit) => features (r.1, q.2.1, ())) mask ()"
    )


def test_the_result_may_have_its_axes_in_another_order() -> None:
    arguments = (spec("features", "features", "n", "d"), spec("logits", "logits", "n", "h"), MASK)
    heads = kernel("heads", arguments, result=("d", "h"))
    assert stated(heads)["symbolic.specification"].endswith(
        "= fun q => pool (fun r : Index [n] => logits (r.1, q.2.1, ())) "
        "(fun r (_ : Unit) => features (r.1, q.1, ())) mask ()"
    )


def test_a_mask_for_each_head_asks_for_features_that_agree_where_some_head_reads_them() -> None:
    heads = kernel(
        "heads",
        (
            spec("features", "features", "n", "d"),
            spec("logits", "logits", "n", "h"),
            spec("mask", "mask", "h", "n", dtype="bool"),
        ),
    )
    assert (
        "(h_features : ∀ (q : Index [n, d]) (i : Fin h), "
        "mask (i, q.1, ()) = true → features q = features' q) "
        "(h_logits : ∀ (q : Index [n, h]), mask (q.2.1, q.1, ()) = true → logits q = logits' q)"
    ) in stated(heads)["symbolic.masked_irrelevance"]


# -- lengths

LENGTH = kernel(
    "length",
    (
        spec("features", "features", "n", "d"),
        spec("logits", "logits", "n"),
        spec("length", "length", dtype="int32"),
    ),
)
LENGTHS = (
    "(features : Tensor R [n, d]) (logits : Tensor R [n]) (length : Tensor Int [])",
    "program.eval [n, d] (features, logits, length, ())",
)
WITH_A_LENGTH = {
    "specification": Stated(
        LENGTHS[0],
        f"{LENGTHS[1]} = pool logits features.rows (fun r => decide ((r.1.val : Int) < length ()))",
    ),
    # Only an order that moves valid rows among themselves keeps the bag.
    "permutation": Stated(
        f"(σ : Fin n ≃ Fin n) {LENGTHS[0]} "
        "(h_valid : ∀ (r : Fin n), (((σ r).val : Int) < length ()) ↔ (r.val : Int) < length ())",
        f"program.eval [n, d] (features.permute σ, logits.permute σ, length, ()) = {LENGTHS[1]}",
    ),
    "padding": Stated(
        f"{LENGTHS[0]} (junk_features : Tensor R [extra, d]) (junk_logits : Tensor R [extra]) "
        "(h_length : length () ≤ n)",
        "program.eval [n + extra, d] (features.pad junk_features, logits.pad junk_logits, length, ()) = "
        + LENGTHS[1],
    ),
    "masked_irrelevance": Stated(
        "{features features' : Tensor R [n, d]} {logits logits' : Tensor R [n]} {length : Tensor Int []} "
        "(h_features : ∀ (q : Index [n, d]), (q.1.val : Int) < length () → features q = features' q) "
        "(h_logits : ∀ (q : Index [n]), (q.1.val : Int) < length () → logits q = logits' q)",
        f"{LENGTHS[1]} = program.eval [n, d] (features', logits', length, ())",
    ),
    "all_masked": Stated(f"{LENGTHS[0]} (q : Index [d]) (h_length : length () ≤ 0)", f"{LENGTHS[1]} q = 0"),
}


@pytest.mark.parametrize("name", WITH_A_LENGTH)
def test_a_length_in_place_of_a_mask(name: str) -> None:
    assert stated(LENGTH)[f"symbolic.{name}"] == whole(name, WITH_A_LENGTH[name], "n d")


def test_a_length_for_each_bag() -> None:
    batch = kernel(
        "lengths",
        (
            spec("features", "features", "b", "n", "d"),
            spec("logits", "logits", "b", "n"),
            spec("length", "length", "b", dtype="int32"),
        ),
    )
    found = stated(batch)
    assert found["symbolic.specification"].endswith(
        "(fun r => decide ((r.1.val : Int) < length (q.1, ()))) ()"
    )
    assert "(h_length : ∀ q, length q ≤ n)" in found["symbolic.padding"]
    assert found["symbolic.all_masked"].endswith(
        "(q : Index [b, d]) (h_length : length (q.1, ()) ≤ 0), "
        "program.eval [b, n, d] (features, logits, length, ()) q = 0"
    )
    assert (
        "(h_valid : ∀ (q : Index [b]) (r : Fin n), "
        "(((σ q.1 r).val : Int) < length (q.1, ())) ↔ (r.val : Int) < length (q.1, ()))"
    ) in found["symbolic.permutation"]


# -- logits that the kernel computes


def test_the_score_is_one_of_the_own_row() -> None:
    scorer = kernel("scorer", (spec("features", "features", "n", "d"), spec("w", "parameter", "d"), MASK))
    assert stated(scorer)["symbolic.specification"].endswith(
        "program.eval [n, d] (features, w, mask, ()) = "
        "pool (fun r => score (features.rows r) w) features.rows mask"
    )


def test_a_score_for_each_head_and_bag() -> None:
    scorer = kernel(
        "scorer",
        (
            spec("features", "features", "b", "n", "d"),
            spec("w", "parameter", "d", "h"),
            spec("mask", "mask", "b", "n", dtype="bool"),
        ),
        result=("b", "h", "d"),
    )
    assert stated(scorer, "b", "h")["symbolic.specification"].endswith(
        "= fun q => pool "
        "(fun r : Index [n] => score (fun j => features (q.1, r.1, j.1, ())) w (q.2.1, ())) "
        "(fun r (_ : Unit) => features (q.1, r.1, q.2.2.1, ())) (fun r => mask (q.1, r.1, ())) ()"
    )


# -- which there are


def test_every_shape_has_every_property_and_every_pair_its_padding() -> None:
    found = [(t.proves, t.shape["n"], t.padded_shape and t.padded_shape["n"]) for t in theorems(MATRICES)]
    each = [proves for proves in PROPERTIES if proves not in ("padding", "instance", *OPTIONAL)]
    single = [(proves, n, None) for n in (2, 3, 5) for proves in each]
    assert sorted(found, key=str) == sorted(
        [*single, ("padding", 2, 3), ("padding", 2, 5), ("padding", 3, 5)], key=str
    )
    assert len({theorem.name for theorem in theorems(MATRICES)}) == len(found)


def test_all_sizes_have_every_property_and_every_shape_is_an_instance() -> None:
    found = [(t.proves, shape_name(t.shape), t.padded_shape) for t in theorems(everywhere(MATRICES))]
    once = [(proves, "symbolic", None) for proves in PROPERTIES if proves != "instance"]
    shapes = ("n2_d3", "n3_d3", "n5_d3")
    assert sorted(found) == sorted([*once, *(("instance", shape, None) for shape in shapes)])


def test_a_single_shape_has_no_padding() -> None:
    wanted = [proves for proves in PROPERTIES if proves not in ("padding", "instance", *OPTIONAL)]
    assert [theorem.proves for theorem in theorems(SCALARS)] == wanted


def test_features_of_rank_one_and_three() -> None:
    assert stated(SCALARS)["n3.specification"] == (
        "∀ {R : Type} [RealArith R]"
        " («fun» : Tensor R [3]) («at» : Tensor R [3]) (program_ : Tensor Bool [3]),"
        " program.eval [] («fun», «at», program_, ()) = pool «at» «fun».rows program_"
    )
    padding = next(t for t in theorems(MATRICES) if t.proves == "padding")
    assert padding.binders[-2:] == (
        "(junk_arg_junk_where : Tensor R [1])",
        "(junk_where : Tensor R [1, 3, 2])",
    )


@pytest.mark.parametrize(
    "kernel", [PLAIN, MATRICES, SCALARS, HEADS, everywhere(PLAIN)], ids=lambda kernel: kernel.name
)
def test_modules_are_those_of_the_shape_or_of_the_kernel(kernel: Kernel) -> None:
    for theorem in theorems(kernel):
        *namespace, _ = theorem.name
        own = theorem.proves in ("translation", "instance")
        module = namespace[2] if own else "any_arithmetic" if theorem.proves in OPTIONAL else "properties"
        assert theorem.module == ".".join((*namespace[:2], module))


@pytest.mark.parametrize("kernel", [PLAIN, BATCH, LENGTH, everywhere(PLAIN)], ids=lambda kernel: kernel.name)
def test_declarations_have_the_binders_on_lines_of_limited_width(kernel: Kernel) -> None:
    for theorem in theorems(kernel):
        text = declaration(theorem)
        head, _, body = text.partition(" :\n")
        assert head.split() == ["theorem", theorem.name[-1], *" ".join(theorem.binders).split()]
        left, right = theorem.conclusion
        assert " ".join(body.split()).startswith(f"{left} = {right} := ".replace("\n", " "))
        assert body.endswith(theorem.proof)


def test_wrapped_text_loses_no_word() -> None:
    words = [f"(x{number} : Tensor R [4, 3])" for number in range(30)]
    text = wrapped(words, "theorem t", "    ")
    assert text.split() == ["theorem", "t", *" ".join(words).split()]
    assert all(len(line) <= WIDTH for line in text.splitlines())


# -- infinities and NaN


def extended(declared: Kernel) -> Kernel:
    return declared.model_copy(update={"arithmetic": "extended"})


FINITE = "program.eval [n, d] (features.finite, tau.finite, logits.finite, mask, ())"
AMONG_INFINITIES = {
    "symbolic.translation": AT_ALL_SIZES["symbolic.translation"],
    "symbolic.specification": Stated(OPEN, f"{FINITE} = Tensor.finite (pool logits features.rows mask)"),
    "symbolic.permutation": Stated(
        f"(σ : Fin n ≃ Fin n) {OPEN}",
        "program.eval [n, d] (Tensor.finite (features.permute σ), tau.finite, "
        f"Tensor.finite (logits.permute σ), mask.permute σ, ()) = {FINITE}",
    ),
    "symbolic.padding": Stated(
        f"{OPEN} (junk_features : Tensor R [extra, d]) (junk_logits : Tensor R [extra])",
        "program.eval [n + extra, d] (Tensor.finite (features.pad junk_features), tau.finite, "
        f"Tensor.finite (logits.pad junk_logits), mask.pad fun _ => false, ()) = {FINITE}",
    ),
    "symbolic.all_masked": Stated(
        "(features : Tensor R [n, d]) (tau : Tensor R []) (logits : Tensor R [n])",
        "program.eval [n, d] (features.finite, tau.finite, logits.finite, fun _ => false, ()) = "
        "fun _ => Extended.finite 0",
    ),
}


@pytest.mark.parametrize("name", AMONG_INFINITIES)
def test_statements_among_infinities(name: str) -> None:
    assert stated(extended(everywhere(PLAIN)))[name] == whole(name, AMONG_INFINITIES[name], "n d")


def test_a_mask_of_floats_is_one_of_numbers() -> None:
    assert stated(extended(BATCH))["symbolic.specification"].endswith(
        "program.eval [b, n, d] (features.finite, logits.finite, Tensor.finite (mask.indicator), ()) = "
        "Tensor.finite (s := [b, d]) (fun q => pool (fun r : Index [n] => logits (q.1, r.1, ())) "
        "(fun r (_ : Unit) => features (q.1, r.1, q.2.1, ())) (fun r => mask (q.1, r.1, ())) ())"
    )
