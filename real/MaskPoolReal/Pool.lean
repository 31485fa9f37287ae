module
public import MaskPool.Pool.Laws
public import MaskPoolReal.Sum
public import Mathlib.Data.Fintype.Sum
/-!
# Masked attention pooling of real numbers

The specification is the formula of a textbook, in the terms of mathlib, and its laws hold of that formula.
-/
@[expose] public noncomputable section
namespace MaskPoolReal

/-- The mean of the features of the unmasked instances, weighted by `exp` of their logits. It is `0` if there
are none, as `x / 0 = 0` in mathlib. -/
def attentionPool {ι δ : Type} [Fintype ι] (logit : ι → ℝ) (feat : ι → δ → ℝ) (mask : ι → Bool) (d : δ) : ℝ :=
  (∑ i with mask i, Real.exp (logit i) * feat i d) / ∑ i with mask i, Real.exp (logit i)

/-! ## The specification -/

/-- In a field the guard of the specification is not needed, since `x / 0 = 0`. -/
theorem pool_eq_div {R ι δ : Type} [MaskPool.RealArith R] [MaskPool.Enum ι] (logit : ι → R) (feat : ι → δ → R)
    (mask : ι → Bool) (d : δ) :
    MaskPool.pool logit feat mask d =
      MaskPool.fsum (fun i => MaskPool.weight logit mask i * feat i d) / MaskPool.mass logit mask := by
  unfold MaskPool.pool
  split
  · rename_i h
    rw [h, Lean.Grind.Field.div_eq_mul_inv, Lean.Grind.Field.inv_zero, Lean.Grind.Semiring.mul_zero]
  · rfl

section specification
variable {ι δ : Type} [MaskPool.Enum ι] [Fintype ι]

/-- A sum of selected values is a sum over a filtered set. -/
theorem fsum_ite (mask : ι → Bool) (f : ι → ℝ) :
    MaskPool.fsum (fun i => if mask i then f i else 0) = ∑ i with mask i, f i :=
  (fsum_eq_sum _).trans (Finset.sum_filter (fun i => mask i = true) f).symm

variable (logit : ι → ℝ) (feat : ι → δ → ℝ) (mask : ι → Bool)

/-- The specification is the formula. -/
theorem pool_eq_attentionPool : MaskPool.pool logit feat mask = attentionPool logit feat mask := by
  funext d
  have hterm i : MaskPool.weight logit mask i * feat i d =
      if mask i then Real.exp (logit i) * feat i d else 0 := MaskPool.ite_zero_mul ..
  have hsum := (MaskPool.fsum_congr hterm).trans (fsum_ite mask fun i => Real.exp (logit i) * feat i d)
  have hmass : MaskPool.mass logit mask = ∑ i with mask i, Real.exp (logit i) := fsum_ite mask _
  exact (pool_eq_div logit feat mask d).trans (congr (congrArg HDiv.hDiv hsum) hmass)

end specification

/-! ## Its laws -/

section laws
variable {ι κ δ : Type} [Fintype ι] [Fintype κ]

/-- **Permutation.** The instances may be renamed by any equivalence. -/
theorem attentionPool_equiv (e : ι ≃ κ) (logit : κ → ℝ) (feat : κ → δ → ℝ) (mask : κ → Bool) :
    attentionPool (fun i => logit (e i)) (fun i => feat (e i)) (fun i => mask (e i)) =
      attentionPool logit feat mask := by
  have := enum ι
  have := enum κ
  rw [← pool_eq_attentionPool, ← pool_eq_attentionPool]
  exact MaskPool.pool_equiv logit feat mask (equiv e)

/-- **Padding.** Any number of masked instances, with any logits and features, changes nothing. -/
theorem attentionPool_padding (logit : ι ⊕ κ → ℝ) (feat : ι ⊕ κ → δ → ℝ) (mask : ι ⊕ κ → Bool)
    (hmask : ∀ k, mask (.inr k) = false) :
    attentionPool logit feat mask =
      attentionPool (fun i => logit (.inl i)) (fun i => feat (.inl i)) (fun i => mask (.inl i)) := by
  have := enum ι
  have := enum κ
  rw [← pool_eq_attentionPool, ← pool_eq_attentionPool]
  exact MaskPool.pool_padding logit feat mask hmask

/-- **Irrelevance.** What masked instances hold changes nothing. -/
theorem attentionPool_congr {logit logit' : ι → ℝ} {feat feat' : ι → δ → ℝ} {mask : ι → Bool}
    (hlogit : ∀ i, mask i = true → logit i = logit' i)
    (hfeat : ∀ i, mask i = true → ∀ d, feat i d = feat' i d) :
    attentionPool logit feat mask = attentionPool logit' feat' mask := by
  have := enum ι
  rw [← pool_eq_attentionPool, ← pool_eq_attentionPool]
  exact MaskPool.pool_congr logit feat mask hlogit hfeat

/-- **Empty bag.** The pool of an all-masked bag is `0`. -/
theorem attentionPool_all_masked (logit : ι → ℝ) (feat : ι → δ → ℝ) {mask : ι → Bool}
    (h : ∀ i, mask i = false) : attentionPool logit feat mask = fun _ => 0 := by
  have := enum ι
  rw [← pool_eq_attentionPool]
  exact MaskPool.pool_all_masked logit feat mask h

end laws
end MaskPoolReal
