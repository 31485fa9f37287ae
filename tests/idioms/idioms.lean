module

public import MaskPool.Certificate.Extended
public import MaskPool.Idioms.FillConstant
public import MaskPool.Idioms.GuardedNormalizer
public import MaskPool.Idioms.MinusInfinity
public import certificates.features_zeroed_only.symbolic
public import certificates.finite_fill.symbolic
public import certificates.minus_infinity_fill.symbolic
public import certificates.minus_infinity_guarded.symbolic
public import certificates.where_everything.symbolic
public import certificates.where_weights.symbolic

/-!
# The idioms in imported programs

What `MaskPool.Idioms` proves, of the programs that the tool imports from kernels of `tests/corpus`, for every
number of rows `n` and of features `d`. The modules `certificates.*.symbolic` are written by
`maskpool-verify trace`.

Over `Extended R`, logits and features of unmasked rows are numbers, and those of masked rows may be anything.
-/

@[expose] public noncomputable section

namespace idioms

open MaskPool certificates

variable {R : Type} [RealArith R] {n d : Nat}

/-! ## Zeroed features -/

section

variable (features : Tensor R [n, d]) (logits : Tensor R [n]) (mask : Tensor Bool [n]) (q : Index [d])

theorem features_zeroed_only_eq :
    features_zeroed_only.symbolic.program.eval [n, d] (features, logits, mask, ()) q =
      zeroFeaturePool logits features.rows mask q := by
  rw [features_zeroed_only.symbolic.translation, zeroFeaturePool, ← softmaxPool_eq_softmaxMean]
  refine congrArg (fdot _) (funext fun r => ?_)
  cases h : mask r
  · have h := Bool.eq_false_iff.1 h
    exact (if_neg h).trans ((RealArith.ops_lit_zero 1).trans (if_neg h).symm)
  · exact (if_pos h).trans (if_pos h).symm

/-- Masked pooling exactly without masked rows, or where the pooled value is zero. -/
theorem features_zeroed_only_eq_pool_iff :
    features_zeroed_only.symbolic.program.eval [n, d] (features, logits, mask, ()) q =
        pool logits features.rows mask q ↔
      (∀ r, mask r = true) ∨ pool logits features.rows mask q = 0 := by
  rw [features_zeroed_only_eq]
  exact zeroFeaturePool_eq_pool_iff ..

end

/-! ## A fill constant -/

section

variable (features : Tensor R [n, d]) (logits : Tensor R [n]) {mask : Tensor Bool [n]} (q : Index [d])

/-- The constant of `finite_fill`. -/
abbrev fill : R := Ops.lit (-1000000000) 1

theorem finite_fill_eq (e : R → R) :
    @Kernel.eval R (withExp e) _ _ finite_fill.symbolic.program [n, d] (features, logits, mask, ()) =
      fillPoolWith e fill logits features.rows mask := by
  rw [@finite_fill.symbolic.translation R (withExp e)]
  rfl

/-- With an exponential that underflows: masked pooling exactly if the masked weights underflow to zero, or
the masked features happen to have the pooled value as their mean. -/
theorem finite_fill_eq_pool_iff {e : R → R} (hmask : ∃ r, mask r = true)
    (he : ∀ r, mask r = true → e (logits r - fmax (select mask fill logits)) =
      RealArith.exp (logits r - fmax (select mask fill logits)))
    (hfill : 0 ≤ e (fill - fmax (select mask fill logits))) :
    @Kernel.eval R (withExp e) _ _ finite_fill.symbolic.program [n, d] (features, logits, mask, ()) q =
        pool logits features.rows mask q ↔
      e (fill - fmax (select mask fill logits)) = 0 ∨
        (fsum fun r => if mask r then 0 else features.rows r q) =
          (fsum fun r => if mask r then 0 else 1) * pool logits features.rows mask q := by
  rw [finite_fill_eq]
  exact fillPoolWith_eq_pool_iff features.rows q hmask he hfill

/-- Over the reals: in every bag with a masked row, other features in masked rows give another result. -/
theorem finite_fill_ne_pool (hmask : ∃ r, mask r = true) {k : Index [n]} (hk : mask k = false) :
    ∃ features' : Tensor R [n, d], (∀ r, mask r = true → features'.rows r = features.rows r) ∧
      ∀ q, finite_fill.symbolic.program.eval [n, d] (features', logits, mask, ()) q ≠
        pool logits features.rows mask q := by
  obtain ⟨x, hx, hne⟩ := fillPool_ne_pool fill logits features.rows hmask hk
  refine ⟨fun j => x (j.1, ()) j.2, hx, fun q h => hne q ?_⟩
  rw [← h, ← fillPoolWith_exp]
  exact (congrFun (finite_fill_eq (fun j : Index [n, d] => x (j.1, ()) j.2) logits RealArith.exp) q).symm

end

/-! ## Minus infinity -/

section

variable {features : Tensor (Extended R) [n, d]} {logits : Tensor (Extended R) [n]} {mask : Tensor Bool [n]}
  {x : Tensor R [n, d]} {l : Tensor R [n]}

theorem minus_infinity_fill_eq :
    minus_infinity_fill.symbolic.program.eval [n, d] (features, logits, mask, ()) =
      minusInfinityPool logits features.rows mask := by
  rw [minus_infinity_fill.symbolic.translation]
  rfl

/-- Where all logits and features are numbers, and some row is unmasked: masked pooling. -/
theorem minus_infinity_fill_eq_pool (features : Tensor R [n, d]) (logits : Tensor R [n])
    (hmask : ∃ r, mask r = true) :
    minus_infinity_fill.symbolic.program.eval [n, d] (features.finite, logits.finite, mask, ()) =
      Tensor.finite (pool logits features.rows mask) := by
  rw [minus_infinity_fill_eq]
  funext q
  exact minusInfinityPool_eq_pool hmask (fun _ _ => rfl) fun _ => rfl

/-- All rows masked: NaN. -/
theorem minus_infinity_fill_all_masked (hn : 0 < n) (hmask : ∀ r, mask r = false) :
    minus_infinity_fill.symbolic.program.eval [n, d] (features, logits, mask, ()) = fun _ => .nan := by
  have : Nonempty (Index [n]) := ⟨(⟨0, hn⟩, ())⟩
  rw [minus_infinity_fill_eq]
  funext q
  exact minusInfinityPool_all_masked _ _ hmask q

section

variable (h_logits : ∀ r, mask r = true → logits r = .finite (l r))
  (h_features : ∀ r, mask r = true → ∀ q, features.rows r q = .finite (x.rows r q)) (q : Index [d])
include h_logits h_features

/-- Masked pooling exactly if some row is unmasked and all masked features are numbers. -/
theorem minus_infinity_fill_eq_pool_iff (hn : 0 < n) :
    minus_infinity_fill.symbolic.program.eval [n, d] (features, logits, mask, ()) q =
        .finite (pool l x.rows mask q) ↔
      (∃ r, mask r = true) ∧ ∀ r, mask r = false → Ops.isFinite (features.rows r q) = true := by
  have : Nonempty (Index [n]) := ⟨(⟨0, hn⟩, ())⟩
  rw [minus_infinity_fill_eq]
  exact minusInfinityPool_eq_pool_iff h_logits fun r hr => h_features r hr q

/-- NaN in all other cases. -/
theorem minus_infinity_fill_eq_nan_iff (hn : 0 < n) :
    minus_infinity_fill.symbolic.program.eval [n, d] (features, logits, mask, ()) q = .nan ↔
      (∀ r, mask r = false) ∨ ∃ r, mask r = false ∧ Ops.isFinite (features.rows r q) = false := by
  have : Nonempty (Index [n]) := ⟨(⟨0, hn⟩, ())⟩
  rw [minus_infinity_fill_eq]
  exact minusInfinityPool_eq_nan_iff h_logits fun r hr => h_features r hr q

/-- With a guard on the mask: masked pooling exactly if all rows are masked, or all masked features are
numbers. -/
theorem minus_infinity_guarded_eq_pool_iff :
    minus_infinity_guarded.symbolic.program.eval [n, d] (features, logits, mask, ()) q =
        .finite (pool l x.rows mask q) ↔
      (∀ r, mask r = false) ∨ ∀ r, mask r = false → Ops.isFinite (features.rows r q) = true := by
  have hguard : minus_infinity_guarded.symbolic.program.eval [n, d] (features, logits, mask, ()) q =
      if fany mask then minusInfinityPool logits features.rows mask q else Ops.lit 0 1 := by
    rw [minus_infinity_guarded.symbolic.translation]
    rfl
  rw [hguard]
  by_cases hmask : ∃ r, mask r = true
  · have : Nonempty (Index [n]) := hmask.elim fun r _ => ⟨r⟩
    have hnot : ¬ ∀ r, mask r = false := fun h => hmask.elim fun r hr => by rw [h r] at hr; nomatch hr
    rw [if_pos (fany_iff.2 hmask), minusInfinityPool_eq_pool_iff h_logits fun r hr => h_features r hr q]
    exact ⟨fun h => .inr h.2, fun h => ⟨hmask, h.resolve_left hnot⟩⟩
  · have hall r : mask r = false := Bool.eq_false_iff.2 fun hr => hmask ⟨r, hr⟩
    rw [if_neg (mt fany_iff.1 hmask), pool_all_masked l x.rows mask hall]
    exact iff_of_true (Extended.lit_zero 1) (.inl hall)

end
end

/-! ## The guarded normalizer -/

section

variable {features : Tensor (Extended R) [n, d]} {logits : Tensor (Extended R) [n]} {mask : Tensor Bool [n]}
  {x : Tensor R [n, d]} {l : Tensor R [n]}

/-- Over the reals: unconditionally masked pooling. -/
theorem where_weights_eq_pool (features : Tensor R [n, d]) (logits : Tensor R [n]) :
    where_weights.symbolic.program.eval [n, d] (features, logits, mask, ()) =
      pool logits features.rows mask := by
  rw [where_weights.symbolic.translation, ← guardedPool_eq_pool]
  funext q
  exact ite_congr rfl (fun h => congrArg (Ops.div _) (if_pos h)) fun _ => rfl

theorem where_weights_eq :
    where_weights.symbolic.program.eval [n, d] (features, logits, mask, ()) =
      guardedPool logits features.rows mask := by
  rw [where_weights.symbolic.translation]
  funext q
  exact ite_congr rfl (fun h => congrArg (Ops.div _) (if_pos h)) fun _ => rfl

theorem where_everything_eq :
    where_everything.symbolic.program.eval [n, d] (features, logits, mask, ()) =
      selectedPool logits features.rows mask := by
  rw [where_everything.symbolic.translation]
  funext q
  let w : Index [n] → Extended R := fun r =>
    if mask r then Ops.exp (if mask r then logits r else Ops.lit 0 1) else Ops.lit 0 1
  let x : Index [n] → Extended R := fun r => if mask r then features.rows r q else Ops.lit 0 1
  have hw : w = select mask (Ops.lit 0 1) fun r => Ops.exp (logits r) := by
    funext r; simp only [w, select]; split <;> rfl
  have hx : x = fun r => select mask (fun _ => Ops.lit 0 1) features.rows r q := by
    funext r; simp only [x, select]; split <;> rfl
  show (if Ops.lt (Ops.lit 0 1) (fsum w) then
      Ops.div (fdot w x) (if Ops.lt (Ops.lit 0 1) (fsum w) then fsum w else Ops.lit 1 1) else Ops.lit 0 1) = _
  rw [hw, hx, Extended.fdot_eq_fsum]
  exact ite_congr rfl (fun h => congrArg (Ops.div _) (if_pos h)) fun _ => rfl

section

variable (h_logits : ∀ r, mask r = true → logits r = .finite (l r))
include h_logits

/-- Unselected features: masked pooling where they are numbers. -/
theorem where_weights_eq_pool_of_finite (h_features : ∀ r q, features.rows r q = .finite (x.rows r q)) :
    where_weights.symbolic.program.eval [n, d] (features, logits, mask, ()) =
      Tensor.finite (pool l x.rows mask) := by
  rw [where_weights_eq]
  funext q
  exact guardedPool_eq_pool_of_finite h_logits fun r => h_features r q

/-- Unselected features: NaN where a masked one is not a number, if some row is unmasked. -/
theorem where_weights_eq_nan {q : Index [d]} (hmask : ∃ r, mask r = true) {k : Index [n]}
    (hk : mask k = false) (h_features : Ops.isFinite (features.rows k q) = false) :
    where_weights.symbolic.program.eval [n, d] (features, logits, mask, ()) q = .nan := by
  rw [where_weights_eq]
  exact guardedPool_of_not_finite h_logits hmask hk h_features

/-- Everything selected: unconditionally masked pooling, whatever masked rows hold. -/
theorem where_everything_eq_pool
    (h_features : ∀ r, mask r = true → ∀ q, features.rows r q = .finite (x.rows r q)) :
    where_everything.symbolic.program.eval [n, d] (features, logits, mask, ()) =
      Tensor.finite (pool l x.rows mask) := by
  rw [where_everything_eq]
  funext q
  exact selectedPool_eq_pool_of_finite h_logits fun r hr => h_features r hr q

end
end

end idioms
