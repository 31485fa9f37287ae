"""What the theorems of the library state, read from the compiled modules.

A weakened hypothesis, a lost generality or a changed definition shows here as another text.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from maskpool_verify.audit import AuditResult, World, audit
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.olean import parse_name, pretty
from maskpool_verify.olean.constants import Definition

OPEN = ("MaskPool", "MaskPool.RealArith")
BAG = "(logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool)"
ANY_BAG = f"∀ {{R ι δ : Type}} [RealArith R] [Enum ι] {BAG}"
EXTENDED_BAG = (
    "∀ {R ι δ : Type} [RealArith R] [Enum ι] [Nonempty ι] {mask : ι → Bool} {L : ι → Extended R} "
    "{l : ι → R} {F : ι → δ → Extended R} {x : ι → δ → R} {d : δ}, "
    "(∀ (i : ι), mask i = true → L i = Extended.finite (l i)) → "
    "(∀ (i : ι), mask i = true → F i d = Extended.finite (x i d)) →"
)

THEOREMS = {
    "pool_equiv": f"∀ {{R ι κ δ : Type}} [RealArith R] [Enum ι] [Enum κ] {BAG} (e : κ ≃ ι), "
    "pool (fun k => logit (Equiv.toFun e k)) (fun k => feat (Equiv.toFun e k)) "
    "(fun k => mask (Equiv.toFun e k)) = pool logit feat mask",
    "pool_padding": "∀ {R ι κ δ : Type} [RealArith R] [Enum ι] [Enum κ] "
    "(logit : Sum ι κ → R) (feat : Sum ι κ → δ → R) (mask : Sum ι κ → Bool), "
    "(∀ (k : κ), mask (Sum.inr k) = false) → pool logit feat mask = "
    "pool (fun i => logit (Sum.inl i)) (fun i => feat (Sum.inl i)) (fun i => mask (Sum.inl i))",
    "pool_congr": f"{ANY_BAG} {{logit' : ι → R}} {{feat' : ι → δ → R}}, "
    "(∀ (i : ι), mask i = true → logit i = logit' i) → "
    "(∀ (i : ι), mask i = true → ∀ (d : δ), feat i d = feat' i d) → "
    "pool logit feat mask = pool logit' feat' mask",
    "pool_all_masked": f"{ANY_BAG}, (∀ (i : ι), mask i = false) → pool logit feat mask = (fun _ => 0)",
    "pool_shift": f"{ANY_BAG} (c : R), pool (fun i => logit i - c) feat mask = pool logit feat mask",
    "pool_eq_pos_guard": f"{ANY_BAG} (d : δ), pool logit feat mask d = (if 0 < mass logit mask then "
    "fsum (fun i => weight logit mask i * feat i d) / mass logit mask else 0)",
    "mass_pos_iff": "∀ {R ι : Type} [RealArith R] [Enum ι] (logit : ι → R) (mask : ι → Bool), "
    "0 < mass logit mask ↔ (∃ i : ι, mask i = true)",
    # The counterexamples need some coordinate, and so a type of coordinates that is not empty.
    "fillPool_not_paddingInvariant": "∀ {R δ : Type} [RealArith R] (fill : R), δ → "
    "¬PaddingInvariant (fun {ι} [inst_1] => fillPool fill)",
    "zeroFeaturePool_not_paddingInvariant": "∀ {R δ : Type} [RealArith R], δ → "
    "¬PaddingInvariant (fun {ι} [inst_1] => zeroFeaturePool)",
    "pool_paddingInvariant": "∀ {R δ : Type} [RealArith R], PaddingInvariant (fun {ι} [inst_1] => pool)",
    "fillPool_pad_ne": "∀ {R ι δ : Type} [RealArith R] [Enum ι] [Nonempty ι] (fill : R) "
    f"{BAG} (l : R), ∃ x : δ → R, ∀ (d : δ), "
    "fillPool fill (snoc logit l) (snoc feat x) (snoc mask false) d ≠ fillPool fill logit feat mask d",
    "selectedPool_ignoresMasked": "∀ {α ι δ : Type} [Ops α] [Enum ι], IgnoresMasked selectedPool",
    "selectedPool_eq_pool": f"{ANY_BAG}, selectedPool logit feat mask = pool logit feat mask",
    # The idioms, among real numbers and with infinities and NaN.
    "zeroFeaturePool_eq_pool_iff": f"{ANY_BAG} (d : δ), zeroFeaturePool logit feat mask d = "
    "pool logit feat mask d ↔ (∀ (i : ι), mask i = true) ∨ pool logit feat mask d = 0",
    "fillPoolWith_eq_pool_iff": "∀ {R ι δ : Type} [RealArith R] [Enum ι] {e : R → R} {fill : R} "
    "{logit : ι → R} (feat : ι → δ → R) {mask : ι → Bool} (d : δ), (∃ i : ι, mask i = true) → "
    "(∀ (i : ι), mask i = true → e (logit i - fmax (select mask fill logit)) = "
    "RealArith.exp (logit i - fmax (select mask fill logit))) → "
    "0 ≤ e (fill - fmax (select mask fill logit)) → "
    "(fillPoolWith e fill logit feat mask d = pool logit feat mask d ↔ "
    "e (fill - fmax (select mask fill logit)) = 0 ∨ "
    "fsum (fun i => if mask i = true then 0 else feat i d) = "
    "fsum (fun i => if mask i = true then 0 else 1) * pool logit feat mask d)",
    "minusInfinityPool_eq_pool_iff": f"{EXTENDED_BAG} "
    "(minusInfinityPool L F mask d = Extended.finite (pool l x mask d) ↔ (∃ i : ι, mask i = true) ∧ "
    "(∀ (i : ι), mask i = false → Ops.isFinite (F i d) = true))",
    "minusInfinityPool_eq_nan_iff": f"{EXTENDED_BAG} (minusInfinityPool L F mask d = Extended.nan ↔ "
    "(∀ (i : ι), mask i = false) ∨ (∃ i : ι, mask i = false ∧ Ops.isFinite (F i d) = false))",
    "selectedPool_eq_pool_of_finite": "∀ {R ι δ : Type} [RealArith R] [Enum ι] {mask : ι → Bool} "
    "{L : ι → Extended R} {l : ι → R}, (∀ (i : ι), mask i = true → L i = Extended.finite (l i)) → "
    "∀ {F : ι → δ → Extended R} {x : ι → δ → R} {d : δ}, "
    "(∀ (i : ι), mask i = true → F i d = Extended.finite (x i d)) → "
    "selectedPool L F mask d = Extended.finite (pool l x mask d)",
    # The importer leaves out `max(-inf, x)`.
    "Extended.max_neg_infinity": "∀ {R : Type} [RealArith R] (a : Extended R), "
    "Ops.max (Extended.infinity true) a = a",
    "Extended.sum_perm": "∀ {R : Type} [RealArith R] {l m : List (Extended R)}, List.Perm l m → "
    "Ops.sum l = Ops.sum m",
    "pool_reorder": "∀ {R ι κ δ : Type} [RealArith R] [Enum ι] [Enum κ] (e : ι ≃ κ) "
    "{logit : ι → R} {logit' : κ → R} {feat : ι → δ → R} {feat' : κ → δ → R} "
    "{mask : ι → Bool} {mask' : κ → Bool}, "
    "(∀ (i : ι), logit i = logit' (Equiv.toFun e i)) → (∀ (i : ι), feat i = feat' (Equiv.toFun e i)) → "
    "(∀ (i : ι), mask i = mask' (Equiv.toFun e i)) → pool logit feat mask = pool logit' feat' mask'",
    "pool_append": "∀ {R δ : Type} [RealArith R] {n k : Nat} "
    "{logit : Index [n + k] → R} {logit' : Index [n] → R} "
    "{feat : Index [n + k] → δ → R} {feat' : Index [n] → δ → R} "
    "{mask : Index [n + k] → Bool} {mask' : Index [n] → Bool}, "
    "(∀ (i : Fin n), logit (Fin.castAdd k i, ()) = logit' (i, ())) → "
    "(∀ (i : Fin n), feat (Fin.castAdd k i, ()) = feat' (i, ())) → "
    "(∀ (i : Fin n), mask (Fin.castAdd k i, ()) = mask' (i, ())) → "
    "(∀ (i : Fin k), mask (Fin.natAdd n i, ()) = false) → "
    "pool logit feat mask = pool logit' feat' mask'",
}

# What the words in the statements mean.
DEFINITIONS = {
    "weight": "logit mask i => if mask i = true then RealArith.exp (logit i) else 0",
    "mass": "logit mask => fsum (weight logit mask)",
    "pool": "logit feat mask d => if mass logit mask = 0 then 0 "
    "else fsum (fun i => weight logit mask i * feat i d) / mass logit mask",
    "PaddingInvariant": "P => ∀ (ι κ : Type) [Enum ι] [Enum κ] (logit : Sum ι κ → R) "
    "(feat : Sum ι κ → δ → R) (mask : Sum ι κ → Bool), (∀ (k : κ), mask (Sum.inr k) = false) → "
    "P (Sum ι κ) Enum.instSum logit feat mask = "
    "P ι inst (fun i => logit (Sum.inl i)) (fun i => feat (Sum.inl i)) (fun i => mask (Sum.inl i))",
    "IgnoresMasked": "F => ∀ ⦃mask : ι → Bool⦄ ⦃logit logit' : ι → α⦄ ⦃feat feat' : ι → δ → α⦄, "
    "(∀ (i : ι), mask i = true → logit i = logit' i) → (∀ (i : ι), mask i = true → feat i = feat' i) → "
    "F logit feat mask = F logit' feat' mask",
    "Tensor.rows": "x i j => x (i.1, j)",
    "Tensor.permute": "σ x j => x (Equiv.toFun σ j.1, j.2)",
    "Tensor.pad": "x junk j => Fin.addCases (fun i => x (i, j.2)) (fun i => junk (i, j.2)) j.1",
    "Tensor.indicator": "m j => if m j = true then 1 else 0",
    "softmaxMean": "logit value => fsum (fun i => RealArith.exp (logit i) * value i) / "
    "fsum (fun i => RealArith.exp (logit i))",
    "zeroFeaturePool": "logit feat mask d => "
    "softmaxMean logit (fun i => if mask i = true then feat i d else 0)",
    "select": "mask fill x i => if mask i = true then x i else fill",
    "shiftedExp": "logit i => Ops.exp (Ops.sub (logit i) (fmax logit))",
    "softmax": "logit i => Ops.div (shiftedExp logit i) (fsum (shiftedExp logit))",
    "softmaxPool": "logit feat d => fdot (softmax logit) (fun i => feat i d)",
    "minusInfinityPool": "logit feat mask d => softmaxPool (select mask (Ops.infinity true) logit) feat d",
    "Tensor.finite": "x j => Extended.finite (x j)",
    "fillPool": "fill logit feat mask d => softmaxMean (select mask fill logit) (fun i => feat i d)",
}


@pytest.fixture(scope="module")
def audited(engine: WasmEngine, built_project: Path) -> AuditResult:
    artifacts = engine.artifacts(built_project)
    names = [f"MaskPool.{name}" for name in THEOREMS]
    return audit(artifacts.own, artifacts.library, ["MaskPool"], names, OPEN)


def test_no_theorem_of_the_library_rests_on_other_axioms(audited: AuditResult) -> None:
    assert audited.all_violations == ()
    allowed = {"propext", "Classical.choice", "Quot.sound"}
    assert all(set(theorem.axioms) <= allowed for theorem in audited.theorems)


@pytest.mark.parametrize("name", THEOREMS)
def test_theorems(name: str, audited: AuditResult) -> None:
    (theorem,) = [theorem for theorem in audited.theorems if theorem.name == f"MaskPool.{name}"]
    assert theorem.statement == THEOREMS[name]


@pytest.fixture(scope="module")
def world(engine: WasmEngine, built_project: Path) -> World:
    artifacts = engine.artifacts(built_project)
    return World(artifacts.own, artifacts.library, [parse_name("MaskPool")])


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions(name: str, world: World) -> None:
    constant = world.get(parse_name(f"MaskPool.{name}"))
    assert isinstance(constant, Definition)
    text = pretty(constant.value, world.get, OPEN)
    assert re.sub(r"^fun( \{[^}]*\}| \[[^]]*\])* ", "", text) == DEFINITIONS[name]
