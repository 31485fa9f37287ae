module
public import MaskPool.Arith.Real
/-!
# Facts about floating-point zeros

What the theorems about bags without unmasked rows assume of an arithmetic that is not the one of real
numbers. IEEE 754 has all of it, in every format and rounding mode to nearest: the numbers zero and one are
exact, and so are these results.
-/
@[expose] public noncomputable section
namespace MaskPool

section
variable (α : Type) [Ops α]

local notation "zero" => (Ops.lit 0 1 : α)
local notation "one" => (Ops.lit 1 1 : α)

/-- Zero and one, as they come out of arithmetic without further numbers. -/
structure FloatFacts : Prop where
  zero_add_zero : Ops.add zero zero = zero
  zero_add_one : Ops.add zero one = one
  zero_sub_zero : Ops.sub zero zero = zero
  zero_mul_zero : Ops.mul zero zero = zero
  zero_div_one : Ops.div zero one = zero
  max_zero_zero : Ops.max zero zero = zero
  max_zero_one : Ops.max zero one = one
  min_zero_zero : Ops.min zero zero = zero
  not_zero_lt_zero : Ops.lt zero zero = false
  zero_le_zero : Ops.le zero zero = true
  zero_eq_zero : Ops.eq zero zero = true
  one_ne_zero : Ops.eq one zero = false
  convert_zero (f g : FloatType) : Ops.convert f g zero = zero
  convert_one (f g : FloatType) : Ops.convert f g one = one
  sum_zero (k : Nat) : Ops.sum (List.replicate k zero) = zero
  dot_zero (k : Nat) : Ops.dot (List.replicate k (zero, zero)) = zero

end

namespace RealArith
open Lean.Grind
variable {R : Type} [RealArith R]

theorem sumL_replicate_zero (k : Nat) : sumL (List.replicate k (0 : R)) = 0 := by
  induction k with
  | zero => rfl
  | succ k ih => rw [List.replicate_succ]; show 0 + sumL _ = (0 : R); rw [ih, Semiring.add_zero]

/-- Real numbers have the facts as well. -/
theorem floatFacts : FloatFacts R := by
  have zero_le_one : (0 : R) ≤ 1 := Std.le_of_lt OrderedRing.zero_lt_one
  constructor <;> (try intros) <;> simp only [ops_lit_zero, ops_lit_one, ops_add, ops_sub, ops_mul, ops_div,
    ops_max, ops_min, ops_lt, ops_le, ops_eq, ops_convert, ops_sum, ops_dot, List.map_replicate,
    Semiring.zero_mul, sumL_replicate_zero, Semiring.add_zero, AddCommMonoid.zero_add, AddCommGroup.sub_self,
    Field.div_eq_mul_inv, if_false, if_pos zero_le_one, ite_self, decide_eq_true_eq, decide_eq_false_iff_not,
    not_zero_lt_zero, not_false_eq_true, Std.le_refl, Ne.symm Field.zero_ne_one]

end RealArith
end MaskPool
