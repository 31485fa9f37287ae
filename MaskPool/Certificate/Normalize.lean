module

public import MaskPool.Finite.Factor
public import MaskPool.Pool.Laws
public import MaskPool.Tensor.Index

/-!
# Recognizing attention pooling

`mask_pool` proves that the value of a kernel is `pool`. It looks at the bag without unmasked instances, where
the value has to be zero, and at a bag with an unmasked instance, where every normalizer is positive and
guards are decided. There both sides are brought to the normal form

    (Σ i, if m i then exp (l i) * x i d else 0) / (Σ i, if m i then exp (l i) else 0)

by a terminating rewrite system: operations of `Ops` become algebra; a selection of zero moves outwards
through products and quotients; nested selections by the same mask collapse; a factor that does not depend on
the instance leaves the sum, and a common positive factor of numerator and denominator cancels. The last step
compares products up to the order of their factors.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

@[expose] public noncomputable section

namespace MaskPool

open RealArith

section

variable {R ι δ : Type} [RealArith R] [Enum ι]

/-- The numerator of the normal form. -/
theorem fsum_weight_mul (l : ι → R) (x : ι → R) (m : ι → Bool) :
    fsum (fun i => weight l m i * x i) = fsum fun i => if m i = true then exp (l i) * x i else 0 := by
  simp only [weight, ite_zero_mul]

/-- What `mask_pool` has to show: zero on the bag without unmasked instances, the normal form on every other
bag. There the mask is true somewhere, and every normalizer is positive: the masked ones, and those over all
instances. -/
theorem eq_pool {l : ι → R} {x : ι → δ → R} {m : ι → Bool} {d : δ} {v : R}
    (empty : (∀ i, m i = false) → v = 0)
    (nonempty : (∀ l' : ι → R, 0 < fsum fun i => if m i = true then exp (l' i) else 0) →
      (∀ l' : ι → R, 0 < fsum fun i => exp (l' i)) → fany m = true →
      v = fsum (fun i => if m i = true then exp (l i) * x i d else 0) /
        fsum fun i => if m i = true then exp (l i) else 0) :
    v = pool l x m d := by
  by_cases h : ∃ i, m i = true
  · have hm (l' : ι → R) : 0 < mass l' m := (mass_pos_iff l' m).2 h
    have hs (l' : ι → R) : 0 < fsum fun i => exp (l' i) :=
      h.elim fun i _ => fsum_pos (fun i => Std.le_of_lt (exp_pos _)) i (exp_pos _)
    rw [nonempty hm hs (fany_eq_true h), pool_eq_pos_guard, if_pos (hm l), fsum_weight_mul]; rfl
  · have hm : ∀ i, m i = false := by simpa using h
    rw [empty hm, pool_all_masked _ _ _ hm]

/-- An index of rank one is its coordinate. -/
theorem index_one_eta {n : Nat} (i : Index [n]) : (i.1, ()) = i := rfl

theorem pair_eta {α β : Type} (p : α × β) : (p.1, p.2) = p := rfl

end

-- the branches of a selection are normalized under its condition
attribute [local congr] ite_congr

/-- One pass of the rewrite system; the four facts decide the guards. -/
syntax "mask_pool_normalize" term:max term:max term:max term:max : tactic

macro_rules
  | `(tactic| mask_pool_normalize $h $h' $hs $hm) => `(tactic|
    simp +contextual only [
      ops_add, ops_sub, ops_mul, ops_div, ops_neg, ops_exp, ops_log, ops_tanh, ops_logistic, ops_max, ops_min,
      ops_lt, ops_le, ops_eq, ops_convert, ops_lit_zero, ops_lit_one, fdot_eq_fsum,
      ite_decide, ite_bool_not, ite_then_ite, ite_else_ite, ite_self, ite_not, if_true, if_false,
      Bool.false_eq_true, Bool.not_false, Bool.not_true, Tensor.rows, index_one_eta, pair_eta,
      zero_mul, mul_zero, one_mul, mul_one, zero_add, add_zero, zero_div, div_one, mul_one_div, fsum_zero,
      one_ne_zero, not_zero_lt_zero, le_zero_iff, not_false_eq_true, not_true_eq_false, fany_false,
      ite_zero_mul, mul_ite_zero, ite_zero_div,
      fsum_ite_exp_sub, fsum_ite_exp_sub_mul, fsum_ite_mul_exp_sub,
      fsum_ite_mul_left, fsum_ite_mul_right, fsum_ite_mul_left_mul, fsum_ite_mul_right_mul,
      fsum_ite_div, fsum_ite_div_mul,
      exp_mul_pos_iff, exp_mul_eq_zero_iff, exp_mul_div_exp_mul,
      div_pos_iff, div_eq_zero_iff, div_div_div_cancel, ne_zero_of_pos,
      $h:term, $h':term, $hs:term, $hm:term])

/-- Proves `value = pool …`. -/
macro "mask_pool" : tactic => `(tactic|
  (refine eq_pool (fun h => ?_) (fun h hs hm => ?_)
   · first
     | (mask_pool_normalize h h h h; done)
     | (mask_pool_normalize h h h h
        fail "maskpool: cannot show that the kernel maps an all-masked bag to zero")
   · have h' := fun l' => ne_zero_of_pos (h l')
     first
     | (mask_pool_normalize h h' hs hm; done)
     | (mask_pool_normalize h h' hs hm; simp only [mul_comm, mul_left_comm, mul_assoc]; done)
     | (mask_pool_normalize h h' hs hm
        clear h h' hs hm
        fail "maskpool: cannot show that the kernel is masked attention pooling")))

end MaskPool
