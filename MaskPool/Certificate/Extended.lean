module

public import MaskPool.Certificate.Normalize
public import MaskPool.Extended.Sum

/-!
# Recognizing attention pooling with infinities and NaN

`extended_pool` proves that the value of a kernel over `Extended R` is a number, the one of `pool`, where its
arguments are numbers. It looks at the bag without unmasked rows and at a bag with an unmasked row, as
`mask_pool` does. In both, `extended_normalize` brings operations to normal form: of numbers they are numbers,
and a selection of numbers is a number. A selection of an infinity moves outwards, until `exp` or a maximum
makes a number of it. What is left is an equation of numbers, for `mask_pool`.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

@[expose] public noncomputable section

namespace MaskPool

/-- A tensor of numbers, among infinities and NaN. -/
def Tensor.finite {R : Type} {s : List Nat} (x : Tensor R s) : Tensor (Extended R) s := fun j => .finite (x j)

namespace Extended

open RealArith

/-! ## Selections -/

section

variable {R : Type} [RealArith R] {p : Prop} [Decidable p] (x y : R) (s : Bool) (a b c : Extended R)

omit [RealArith R] in
theorem ite_finite : (if p then finite x else finite y) = finite (if p then x else y) := by split <;> rfl

omit [RealArith R] in
theorem dite_finite (f : p → R) (g : ¬ p → R) :
    (if h : p then finite (f h) else finite (g h)) = finite (if h : p then f h else g h) := by split <;> rfl

theorem add_ite : Ops.add c (if p then a else b) = if p then Ops.add c a else Ops.add c b := by split <;> rfl
theorem ite_add : Ops.add (if p then a else b) c = if p then Ops.add a c else Ops.add b c := by split <;> rfl
theorem sub_ite : Ops.sub c (if p then a else b) = if p then Ops.sub c a else Ops.sub c b := by split <;> rfl
theorem ite_sub : Ops.sub (if p then a else b) c = if p then Ops.sub a c else Ops.sub b c := by split <;> rfl
theorem mul_ite : Ops.mul c (if p then a else b) = if p then Ops.mul c a else Ops.mul c b := by split <;> rfl
theorem ite_mul : Ops.mul (if p then a else b) c = if p then Ops.mul a c else Ops.mul b c := by split <;> rfl
theorem div_ite : Ops.div c (if p then a else b) = if p then Ops.div c a else Ops.div c b := by split <;> rfl
theorem ite_div : Ops.div (if p then a else b) c = if p then Ops.div a c else Ops.div b c := by split <;> rfl
theorem neg_ite : Ops.neg (if p then a else b) = if p then Ops.neg a else Ops.neg b := by split <;> rfl
theorem exp_ite : Ops.exp (if p then a else b) = if p then Ops.exp a else Ops.exp b := by split <;> rfl

theorem isFinite_ite :
    (Ops.isFinite (if p then a else b) = true) ↔
      if p then Ops.isFinite a = true else Ops.isFinite b = true := by split <;> rfl

theorem eq_ite :
    (Ops.eq c (if p then a else b) = true) ↔ if p then Ops.eq c a = true else Ops.eq c b = true := by
  split <;> rfl

theorem ite_eq :
    (Ops.eq (if p then a else b) c = true) ↔ if p then Ops.eq a c = true else Ops.eq b c = true := by
  split <;> rfl

theorem exp_neg_infinity : Ops.exp (infinity true : Extended R) = finite 0 := rfl
theorem exp_pos_infinity : Ops.exp (infinity false : Extended R) = infinity false := rfl

omit [RealArith R] in
theorem finite_inj : finite x = finite y ↔ x = y := ⟨finite.inj, congrArg finite⟩

end

/-! ## What has to be shown -/

section

variable {R ι δ : Type} [RealArith R] [Enum ι]

/-- A sum over no indices. -/
theorem fsum_of_empty (h : ¬ Nonempty ι) (f : ι → Extended R) : fsum f = finite 0 := by
  have helems : (Enum.elems : List ι) = [] := List.eq_nil_iff_forall_not_mem.2 fun i _ => h ⟨i⟩
  show Ops.sum (List.map f Enum.elems) = _
  rw [helems]; rfl

theorem isum_of_empty (h : ¬ Nonempty ι) (f : ι → Int) : isum f = 0 := by
  have helems : (Enum.elems : List ι) = [] := List.eq_nil_iff_forall_not_mem.2 fun i _ => h ⟨i⟩
  show (List.map f Enum.elems).sum = _
  rw [helems]; rfl

theorem fany_of_empty (h : ¬ Nonempty ι) (p : ι → Bool) : fany p = false :=
  Bool.eq_false_iff.2 fun hp => h ((fany_iff.1 hp).elim fun i _ => ⟨i⟩)

theorem fdot_of_empty (h : ¬ Nonempty ι) (f g : ι → Extended R) : fdot f g = finite 0 := by
  rw [fdot_eq_fsum, fsum_of_empty h]

/-- What `extended_pool` has to show: zero on the bag without rows, and on those whose rows are all masked; on
every other bag, the number that `mask_pool` has to show. -/
theorem eq_pool {n : Nat} {l : Index [n] → R} {x : Index [n] → δ → R} {m : Index [n] → Bool} {d : δ}
    {v : Extended R} (none : ¬ Nonempty (Fin n) → ¬ Nonempty (Index [n]) → v = finite 0)
    (empty : (∀ r : Fin n, m (r, ()) = false) → Nonempty (Fin n) → Nonempty (Index [n]) → v = finite 0)
    (nonempty : (∃ r : Fin n, m (r, ()) = true) → (∃ r : Index [n], m (r.1, ()) = true) → Nonempty (Fin n) →
      Nonempty (Index [n]) →
      v = finite (
        fsum (fun r : Fin n => if m (r, ()) = true then RealArith.exp (l (r, ())) * x (r, ()) d else 0) /
        fsum fun r : Fin n => if m (r, ()) = true then RealArith.exp (l (r, ())) else 0)) :
    v = finite (pool l x m d) := by
  have hzero (hm : ∀ r : Fin n, m (r, ()) = false) : v = finite 0 := by
    by_cases hn : Nonempty (Fin n)
    · exact empty hm hn (hn.elim fun r => ⟨(r, ())⟩)
    · exact none hn fun h => hn (h.elim fun r => ⟨r.1⟩)
  by_cases hm : ∃ r : Fin n, m (r, ()) = true
  · obtain ⟨r, hr⟩ := hm
    have hv := nonempty ⟨r, hr⟩ ⟨(r, ()), hr⟩ ⟨r⟩ ⟨(r, ())⟩
    rw [hv]
    refine congrArg finite (MaskPool.eq_pool (fun hall => ?_) fun _ _ => rfl)
    rw [hall r] at hr; nomatch hr
  · have hall r : m (r, ()) = false := Bool.eq_false_iff.2 fun hr => hm ⟨r, hr⟩
    rw [hzero hall, pool_all_masked l x m fun r => hall r.1]

end

end Extended

open RealArith

-- the branches of a selection are normalized under its condition
attribute [local congr] ite_congr

/-- Operations on numbers, infinities and NaN in normal form. -/
syntax "extended_normalize" term:max term:max : tactic

macro_rules
  | `(tactic| extended_normalize $h $h') => `(tactic|
    simp (maxDischargeDepth := 12) only [
      $h:term, $h':term, Tensor.finite, Tensor.rows, Tensor.indicator,
      Extended.convert_eq, Extended.infinity_eq, Extended.nan_literal, Extended.lit_zero, Extended.lit_one,
      Extended.lit_eq, ops_lit_zero, ops_lit_one,
      -- numbers
      Extended.add_finite, Extended.sub_finite, Extended.mul_finite, Extended.div_finite, Extended.neg_finite,
      Extended.max_finite, Extended.min_finite, Extended.exp_finite, Extended.tanh_finite,
      Extended.logistic_finite, Extended.apply_finite, Func.isTotal,
      Extended.lt_finite, Extended.le_finite, Extended.eq_finite, Extended.isFinite_finite,
      Extended.fsum_finite, Extended.fdot_finite, Extended.fmax_finite, Extended.fmax_select,
      -- infinities
      Extended.sub_infinity_finite, Extended.add_infinity_finite, Extended.add_finite_infinity,
      Extended.sub_finite_infinity, Extended.exp_neg_infinity, Extended.exp_pos_infinity,
      Extended.div_finite_infinity, Extended.neg_infinity, Extended.max_neg_infinity,
      Extended.max_neg_infinity_right, Extended.min_pos_infinity, Extended.min_pos_infinity_right,
      Extended.isFinite_infinity, Extended.isFinite_nan, Extended.eq_infinity_finite,
      Extended.eq_finite_infinity, Extended.lt_infinity_finite, Extended.lt_finite_infinity,
      Extended.sub_infinity_self, Extended.fmax_neg_infinity, Extended.zero_div_zero,
      -- NaN
      Extended.add_nan, Extended.nan_add, Extended.sub_nan, Extended.nan_sub, Extended.mul_nan,
      Extended.nan_mul, Extended.div_nan, Extended.nan_div, Extended.neg_nan, Extended.exp_nan,
      Extended.eq_nan, Extended.nan_eq, Extended.lt_nan, Extended.nan_lt, Extended.le_nan, Extended.nan_le,
      -- selections
      Extended.ite_finite, Extended.dite_finite, Extended.add_ite, Extended.ite_add, Extended.sub_ite,
      Extended.ite_sub,
      Extended.mul_ite, Extended.ite_mul, Extended.div_ite, Extended.ite_div, Extended.neg_ite,
      Extended.exp_ite, Extended.isFinite_ite, Extended.eq_ite, Extended.ite_eq, Extended.finite_inj,
      ↓reduceIte, if_true, if_false, ite_self, ite_not, ite_decide, ite_bool_not, ite_then_ite, ite_else_ite,
      ite_true_false, ite_false_true,
      -- truth values
      decide_eq_true_eq, decide_eq_false_iff_not, decide_true, decide_false,
      Bool.false_eq_true, Bool.true_eq_false, Bool.not_false, Bool.not_true, Bool.not_not, bool_not_iff,
      Bool.and_eq_true, Bool.or_eq_true, Bool.true_and, Bool.and_true, Bool.false_and, Bool.and_false,
      Bool.true_or, Bool.or_true, Bool.false_or, Bool.or_false, Bool.and_self, Bool.or_self,
      and_true, true_and, and_false, false_and, or_true, true_or, or_false, false_or, and_self, or_self,
      not_false_eq_true, not_true_eq_false, Decidable.not_not, exists_false, exists_const, forall_const,
      implies_true, eq_self, fany_prod, fany_unit, fany_fin_one, fall_eq_not_fany, fany_iff, ne_eq,
      -- sums and their signs
      fsum_prod, fsum_unit, fsum_fin_one, fdot_eq_fsum, fsum_zero, zero_mul, mul_zero, zero_add, add_zero,
      ite_zero_mul, mul_ite_zero, ite_zero_div,
      one_ne_zero, not_zero_lt_zero, one_pos, exp_pos, add_pos, mul_pos, div_pos, inv_pos, logistic_pos,
      fsum_select_pos, fsum_all_pos, ne_zero_of_pos, le_of_pos, le_zero_iff, lit_pos, lit_lt_one,
      -- counts
      isum_prod, isum_unit, isum_fin_one, isum_zero, isum_select_pos, int_le_iff, int_ne_zero_of_pos,
      int_not_lt_one_of_pos, int_not_lt_zero_of_pos, Int.reduceLT, Int.reduceLE, Int.reduceEq,
      Int.reduceToNat,
      Nat.reduceLT, Int.zero_mul, Int.mul_zero, Int.one_mul, Int.mul_one, Int.zero_add, Int.add_zero])

/-- Brings the value of a kernel to normal form, in which it is a number. -/
syntax "extended_value" term:max term:max : tactic

macro_rules
  | `(tactic| extended_value $h $h') => `(tactic|
    (try plain_coordinates
     try extended_normalize $h $h'
     try mask_pool_unfold
     try mask_pool_select $h $h'
     -- with the guards decided, divisors are seen to be positive
     try extended_normalize $h $h'
     try mask_pool_select $h $h'))

/-- Proves `value = Extended.finite (pool …)`, for entries of tensors at explicit coordinates
(`tensor_ext`). -/
macro "extended_pool" : tactic => `(tactic|
  (refine Extended.eq_pool (fun h h' => ?_) (fun h hn hn' => ?_) (fun h h' hn hn' => ?_)
   · first
     | exact (h ⟨⟨0, by decide⟩⟩).elim
     | ((try plain_coordinates)
        (try simp only [fall_eq_not_fany, Extended.fsum_of_empty h', Extended.fdot_of_empty h',
          Extended.isum_of_empty h', Extended.fany_of_empty h'])
        extended_value h h'
        done)
     | fail "maskpool: cannot show that the kernel maps a bag without rows to zero"
   · mask_pool_condition h
     first
     | have h' := not_pos_of_no_row h (Fin.pos_iff_nonempty.2 hn)
     | have h' := trivial
     extended_value h h'
     first
     | done
     | (clear h' hn hn'
        fail "maskpool: cannot show that the kernel maps an all-masked bag to zero")
   · mask_pool_condition h
     mask_pool_condition h'
     extended_value h h'
     first
     | have h'' := pos_of_first_row h
       try mask_pool_select h h''
     | skip
     try mask_pool_factor
     try mask_pool_cancel h
     first
     | done
     | (ac_rfl; done)
     | (try clear h h' hn hn'
        fail "maskpool: cannot show that the kernel is masked attention pooling")))

end MaskPool
