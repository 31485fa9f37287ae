module

public import MaskPool.Certificate.Layout
public import MaskPool.Finite.Count
public import MaskPool.Finite.Factor
public import MaskPool.Pool.Laws

/-!
# Recognizing attention pooling

`mask_pool` proves that the value of a kernel, at explicit coordinates, is `pool` of a bag of `n` rows. It
looks at the bag without unmasked rows, where the value has to be zero, and at a bag with an unmasked row,
where every normalizer is positive. There both sides become products of sums over products of sums, in passes:

1. `plain_coordinates`: computed coordinates become plain ones.
2. `mask_pool_unfold`: operations of `Ops` become algebra, and sums run over `Fin n`.
3. `mask_pool_select`: guards are decided, by the signs of the sums in them. Selections of zero move outwards
   through products, quotients and negations, and nested selections by one condition collapse. Now the sums of
   the kernel are `Σ r, if m r then w r else 0`.
4. `mask_pool_factor`: each sum becomes `c * Σ r, if m r then exp (l r) * g r else 0`, where all that does not
   depend on the row is in `c` (`Factors`).
5. `mask_pool_cancel`: one quotient on each side, which are multiplied out.
6. `mask_pool_blocks`, if the sides still differ: sums over rows become sums over blocks of rows.

What is left are products of the same factors, up to their order. Logits and features are opaque terms
throughout, as are the maxima and whatever else is subtracted from the logits. No pass searches: each is a
terminating rewrite system, and a kernel that is not attention pooling is left with an equation that says why.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

@[expose] public noncomputable section

namespace MaskPool

open RealArith

section

variable {R ι δ : Type} [RealArith R] [Enum ι]

/-- The numerator of the specification. -/
theorem fsum_weight_mul (l : ι → R) (x : ι → R) (m : ι → Bool) :
    fsum (fun i => weight l m i * x i) = fsum fun i => if m i = true then exp (l i) * x i else 0 := by
  simp only [weight, ite_zero_mul]

/-- What `mask_pool` has to show: zero on the bag without unmasked rows, a quotient of two sums on every other
bag. -/
theorem eq_pool {n : Nat} {l : Index [n] → R} {x : Index [n] → δ → R} {m : Index [n] → Bool} {d : δ} {v : R}
    (empty : (∀ r : Fin n, m (r, ()) = false) → v = 0)
    (nonempty : (∃ r : Fin n, m (r, ()) = true) → Nonempty (Fin n) →
      v = fsum (fun r : Fin n => if m (r, ()) = true then exp (l (r, ())) * x (r, ()) d else 0) /
        fsum fun r : Fin n => if m (r, ()) = true then exp (l (r, ())) else 0) :
    v = pool l x m d := by
  by_cases h : ∃ i, m i = true
  · rw [nonempty (h.elim fun i hi => ⟨i.1, hi⟩) (h.elim fun i _ => ⟨i.1⟩), pool_eq_pos_guard,
      if_pos ((mass_pos_iff l m).2 h), fsum_weight_mul, mass]
    simp only [fsum_prod, fsum_unit]
    rfl
  · have hm : ∀ i, m i = false := by simpa using h
    rw [empty fun r => hm (r, ()), pool_all_masked _ _ _ hm]

end

-- the branches of a selection are normalized under its condition
attribute [local congr] ite_congr

/-- What the mask says, where it is a comparison. -/
macro "mask_pool_condition" h:ident : tactic => `(tactic|
  try simp only [decide_eq_true_eq, decide_eq_false_iff_not, Fin.exists_fin_one, Fin.forall_fin_one]
    at $h:ident)

/-- Pass 2: operations become algebra, and sums run over coordinates. -/
macro "mask_pool_unfold" : tactic => `(tactic|
  simp only [
    ops_add, ops_sub, ops_mul, ops_div, ops_neg, ops_exp, ops_log, ops_tanh, ops_logistic,
    ops_lt, ops_le, ops_eq, ops_convert, ops_lit_zero, ops_lit_one, fdot_eq_fsum, Tensor.rows,
    fsum_prod, fsum_unit, fsum_fin_one, isum_prod, isum_unit, isum_fin_one,
    fany_prod, fany_unit, fany_fin_one, fall_eq_not_fany])

/-- Pass 3: decides guards, and moves selections outwards. The facts say which rows the mask selects. -/
syntax "mask_pool_select" term:max term:max : tactic

macro_rules
  | `(tactic| mask_pool_select $h $h') => `(tactic|
    simp (maxDischargeDepth := 12) +contextual only [
      $h:term, $h':term,
      -- selections by a condition that is known, and nested selections
      ↓reduceIte, if_true, if_false, ite_self, ite_not, ite_decide, ite_bool_not, ite_then_ite, ite_else_ite,
      ite_true_false, ite_false_true,
      -- truth values
      decide_eq_true_eq, decide_eq_false_iff_not, decide_true, decide_false,
      Bool.false_eq_true, Bool.true_eq_false, Bool.not_false, Bool.not_true, Bool.not_not, bool_not_iff,
      Bool.and_eq_true, Bool.or_eq_true, Bool.true_and, Bool.and_true, Bool.false_and, Bool.and_false,
      Bool.true_or, Bool.or_true, Bool.false_or, Bool.or_false, Bool.and_self, Bool.or_self,
      Bool.true_xor, Bool.xor_true, Bool.false_xor, Bool.xor_false,
      and_true, true_and, and_false, false_and, or_true, true_or, or_false, false_or, and_self, or_self,
      not_false_eq_true, not_true_eq_false, Decidable.not_not, exists_false, exists_const, forall_const,
      implies_true, fany_iff,
      -- selections of zero move outwards, comparisons inwards
      ite_zero_mul, mul_ite_zero, ite_zero_div, neg_ite_zero, lit_ite,
      ite_eq_iff, ite_lt_iff, lt_ite_iff, ite_le_iff, le_ite_iff,
      -- units and signs
      zero_mul, mul_zero, one_mul, mul_one, zero_add, add_zero, sub_zero, zero_div, div_one, neg_zero,
      neg_mul, mul_neg, fsum_zero, fsum_neg, fsum_select_neg, ops_lit_zero, ops_lit_one,
      -- guards on numbers
      one_ne_zero, not_zero_lt_zero, le_zero_iff, one_pos, exp_pos, add_pos, mul_pos, div_pos, inv_pos,
      logistic_pos, lit_pos, lit_lt_one, fsum_select_pos, fsum_all_pos, ne_zero_of_pos, not_lt_zero_of_pos,
      le_of_pos, neg_pos_iff, neg_lt_zero_iff, neg_eq_zero_iff,
      -- guards on counts
      isum_zero, isum_select_pos, int_le_iff, int_ne_zero_of_pos, int_not_lt_one_of_pos,
      int_not_lt_zero_of_pos, Int.reduceLT, Int.reduceLE, Int.reduceEq, Int.reduceToNat, Nat.reduceLT,
      Int.zero_mul, Int.mul_zero, Int.one_mul, Int.mul_one, Int.zero_add, Int.add_zero])

/-- Pass 4: what does not depend on the row leaves the sums. -/
macro "mask_pool_factor" : tactic => `(tactic|
  simp only [fsum_eq_mul_bareSum, ite_zero_mul, mul_ite_zero, ite_zero_div,
    zero_mul, mul_zero, one_mul, mul_one, zero_add, add_zero, zero_div, div_one, sub_zero, zero_sub, neg_zero,
    exp_zero, inv_one])

/-- Pass 5: one quotient on each side, multiplied out. -/
syntax "mask_pool_cancel" term:max : tactic

macro_rules
  | `(tactic| mask_pool_cancel $h) => `(tactic|
    simp (maxDischargeDepth := 12) only [
      $h:term,
      inv_eq_one_div, mul_div, div_mul, div_div, div_div_right, neg_div, div_neg, div_one, one_mul, mul_one,
      neg_mul, mul_neg, neg_neg, div_eq_div_iff, ne_eq, not_false_eq_true, implies_true,
      bareSum_select_pos, bareSum_all_pos, ne_zero_of_pos, one_pos, exp_pos, mul_pos, div_pos, add_pos,
      lit_pos, Int.reduceLT, Nat.reduceLT])

/-- Both sides sum over blocks of rows, where a hypothesis says that there are only whole ones. -/
macro "mask_pool_blocks" : tactic => `(tactic|
  (simp only [bareSum_fin_blocks ‹_ % _ = 0›, Equiv.finBlocks]
   first | done | (ac_rfl; done)))

/-- Proves `value = pool …`, for entries of tensors at explicit coordinates (`tensor_ext`). -/
macro "mask_pool" : tactic => `(tactic|
  (refine eq_pool (fun h => ?_) (fun h hn => ?_)
   · mask_pool_condition h
     first -- a bag of some rows of which the first `length ()` count: then `length ()` is not positive
     | have h' := not_pos_of_no_row h
         (by first | assumption | exact Nat.pos_of_ne_zero (NeZero.ne _) | decide)
     | have h' := trivial
     try plain_coordinates
     try mask_pool_unfold
     first
     | (mask_pool_select h h'; done)
     | (try mask_pool_select h h'
        clear h'
        fail "maskpool: cannot show that the kernel maps an all-masked bag to zero")
   · mask_pool_condition h
     first
     | have h' := pos_of_first_row h
     | have h' := trivial
     try plain_coordinates
     try mask_pool_unfold
     try mask_pool_select h h'
     try mask_pool_factor
     try mask_pool_cancel h
     first
     | done
     | (ac_rfl; done)
     | mask_pool_blocks
     | (try clear h h' hn
        fail "maskpool: cannot show that the kernel is masked attention pooling")))

end MaskPool
