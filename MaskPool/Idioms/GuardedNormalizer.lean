module
public import MaskPool.Extended.Sum
public import MaskPool.Pool.LawFree
public import MaskPool.Pool.Laws
/-!
# The guarded normalizer

`selectedPool` selects logits, weights and features before it computes with them, and divides only if the
normalizer is positive. It is `pool` without any condition: whatever masked instances hold, infinities and NaN
among them, and for a bag without unmasked instances as well. `guardedPool` does not select the features; it
is `pool` as long as masked features are numbers, and over the reals always.
-/
@[expose] public noncomputable section
namespace MaskPool
open RealArith Extended
variable {R ι δ : Type} [RealArith R] [Enum ι]

/-- Weights that are selected by the mask, features that are not, and a guarded division. -/
def guardedPool {α : Type} [Ops α] (logit : ι → α) (feat : ι → δ → α) (mask : ι → Bool) (d : δ) : α :=
  let w := select mask (Ops.lit 0 1) fun i => Ops.exp (logit i)
  let z := fsum w
  if Ops.lt (Ops.lit 0 1) z then Ops.div (fdot w fun i => feat i d) z else Ops.lit 0 1

/-- Over the reals the features need no selection. -/
theorem guardedPool_eq_pool (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) :
    guardedPool logit feat mask = pool logit feat mask := by
  funext d
  have hw : select mask (0 : R) (fun i => RealArith.exp (logit i)) = weight logit mask := rfl
  rw [pool_eq_pos_guard]
  simp only [guardedPool, ops_lit_zero, ops_exp, hw, ops_lt, ops_div, MaskPool.fdot_eq_fsum,
    decide_eq_true_eq]
  exact ite_congr rfl (fun h => if_neg (ne_zero_of_pos h)) fun _ => rfl

/-- The guard and the division, for a numerator that is a number where the normalizer is positive. -/
theorem guard_eq_pool {l : ι → R} {x : ι → δ → R} {mask : ι → Bool} {d : δ} {v : Extended R}
    (hv : 0 < mass l mask → v = finite (fsum fun i => weight l mask i * x i d)) :
    (if Ops.lt (Ops.lit 0 1) (finite (mass l mask)) then Ops.div v (finite (mass l mask)) else Ops.lit 0 1) =
      finite (pool l x mask d) := by
  simp only [lit_zero, lt_finite, decide_eq_true_eq, pool_eq_pos_guard]
  by_cases hpos : 0 < mass l mask
  · rw [if_pos hpos, if_pos hpos, hv hpos, div_finite (ne_zero_of_pos hpos)]
  · rw [if_neg hpos, if_neg hpos]

section
variable {mask : ι → Bool} {L : ι → Extended R} {l : ι → R} (hlogit : ∀ i, mask i = true → L i = finite (l i))
include hlogit

omit [Enum ι] in
theorem select_exp_eq_weight :
    select mask (Ops.lit 0 1) (fun i => Ops.exp (L i)) = fun i => finite (weight l mask i) := by
  funext i
  cases h : mask i
  · simp only [select, h, Bool.false_eq_true, if_false, weight_of_masked h, lit_zero]
  · simp only [select, h, if_true, weight_of_unmasked h, hlogit i h, exp_finite]

/-- **The guarded normalizer is masked attention pooling, unconditionally**: masked logits and features may be
anything. -/
theorem selectedPool_eq_pool_of_finite {F : ι → δ → Extended R} {x : ι → δ → R} {d : δ}
    (hfeat : ∀ i, mask i = true → F i d = finite (x i d)) :
    selectedPool L F mask d = finite (pool l x mask d) := by
  unfold selectedPool
  simp only [select_exp_eq_weight hlogit, fsum_finite]
  refine guard_eq_pool fun _ => ?_
  rw [← fsum_finite]
  congr 1
  funext i
  cases h : mask i
  · simp only [select, h, Bool.false_eq_true, if_false, weight_of_masked h, lit_zero, mul_finite, zero_mul]
  · simp only [select, h, if_true, hfeat i h, mul_finite]

/-- Without a selection of the features: masked features have to be numbers, if some instance is unmasked. -/
theorem guardedPool_eq_pool_of_finite {F : ι → δ → Extended R} {x : ι → δ → R} {d : δ}
    (hfeat : ∀ i, F i d = finite (x i d)) : guardedPool L F mask d = finite (pool l x mask d) := by
  unfold guardedPool
  simp only [select_exp_eq_weight hlogit, fsum_finite, hfeat, fdot_finite, MaskPool.fdot_eq_fsum]
  exact guard_eq_pool fun _ => rfl

/-- A masked feature that is infinite or NaN makes the result NaN, if some instance is unmasked. -/
theorem guardedPool_of_not_finite {F : ι → δ → Extended R} {d : δ} (hmask : ∃ i, mask i = true) {k : ι}
    (hk : mask k = false) (hfeat : Ops.isFinite (F k d) = false) : guardedPool L F mask d = nan := by
  have hpos := (mass_pos_iff l mask).2 hmask
  have hdot : fdot (fun i => finite (weight l mask i)) (fun i => F i d) = nan := by
    rw [Extended.fdot_eq_fsum]
    refine fsum_nan k ?_
    rw [weight_of_masked hk, zero_mul_eq, hfeat]; rfl
  have hguard : Ops.lt (Ops.lit 0 1) (finite (mass l mask)) = true := by
    rw [lit_zero, lt_finite]; exact decide_eq_true hpos
  unfold guardedPool
  simp only [select_exp_eq_weight hlogit, fsum_finite, hdot, nan_div]
  exact if_pos hguard

end
end MaskPool
