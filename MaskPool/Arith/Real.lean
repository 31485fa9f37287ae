module
public import MaskPool.Arith.Ops
/-!
# Real arithmetic

`RealArith R` is an ordered field with an exponential: what the algebraic theorems assume of the scalars. The
reals are the intended model. Each `RealArith R` is an `Ops R`, in which rounding is the identity and a
contraction is the sum of the products. Nothing is assumed of the logarithm.

Some values are arbitrary, so that no theorem can depend on them: division by zero, the maximum and the
minimum of no values, the literals `inf` and `nan`, and which values are finite. So are the functions of
`Func` but for the absolute value, the sign, and `exp x - 1`.
-/
@[expose] public noncomputable section
namespace MaskPool

/-- An ordered field with an exponential. -/
class RealArith (R : Type) extends Lean.Grind.Field R, LE R, LT R, Std.IsLinearOrder R,
    Std.LawfulOrderLT R, Lean.Grind.OrderedRing R where
  decLE : DecidableLE R
  decLT : DecidableLT R
  decEq : DecidableEq R
  exp : R → R
  log : R → R
  /-- The value of `x / 0`. -/
  divZero : R → R
  /-- The maximum of no values. -/
  maxNil : R
  /-- The minimum of no values. -/
  minNil : R
  /-- The value of the literals `-inf` (`true`) and `inf` (`false`). -/
  infinity : Bool → R
  /-- The value of the literal `nan`. -/
  nan : R
  /-- JAX's `is_finite`: false of infinities and NaN, which are arbitrary values here. -/
  isFinite : R → Bool
  /-- The functions of `Func`. -/
  apply : Func → R → R
  exp_pos : ∀ x, 0 < exp x
  exp_add : ∀ x y, exp (x + y) = exp x * exp y

attribute [instance] RealArith.decLE RealArith.decLT RealArith.decEq

theorem not_zero_lt_zero {R : Type} [RealArith R] : ¬ (0 : R) < 0 := Std.not_lt.2 (Std.le_refl 0)

theorem ne_zero_of_pos {R : Type} [RealArith R] {c : R} (hc : 0 < c) : c ≠ 0 :=
  fun h => not_zero_lt_zero (h ▸ hc)

namespace RealArith
open Lean.Grind
attribute [local instance] Semiring.natCast Ring.intCast
variable {R : Type} [RealArith R]

/-- The hyperbolic tangent. Its denominator is positive. -/
def tanh (x : R) : R := (exp x - exp (-x)) / (exp x + exp (-x))

/-- The logistic function. Its denominator is positive. -/
def logistic (x : R) : R := 1 / (1 + exp (-x))

/-- The sum of a list. -/
def sumL : List R → R
  | [] => 0
  | x :: xs => x + sumL xs

/-- The maximum of a list; `maxNil` for the empty list. -/
def maxL : List R → R
  | [] => maxNil
  | [x] => x
  | x :: y :: xs => let m := maxL (y :: xs); if x ≤ m then m else x

/-- The minimum of a list; `minNil` for the empty list. -/
def minL : List R → R
  | [] => minNil
  | [x] => x
  | x :: y :: xs => let m := minL (y :: xs); if x ≤ m then x else m

/-- The product of a list. -/
def prodL : List R → R
  | [] => 1
  | x :: xs => x * prodL xs

/-- The absolute value. -/
def abs (x : R) : R := if x < 0 then -x else x

/-- `-1`, `0` or `1`. -/
def sign (x : R) : R := if x < 0 then -1 else if 0 < x then 1 else 0

/-- The reduction of a list. -/
def reduceL : Reduction → List R → R
  | .sum => sumL
  | .prod => prodL
  | .max => maxL
  | .min => minL

/-- The functions of `Func`, of which three are definite. -/
def func : Func → R → R
  | .abs, x => abs x
  | .sign, x => sign x
  | .expm1, x => exp x - 1
  | g, x => apply g x

/-- Real arithmetic as a model of `Ops`. -/
instance (priority := low) toOps : Ops R where
  lit num den := (num : R) / (den : R)
  infinity := infinity
  nan := nan
  add := (· + ·)
  sub := (· - ·)
  mul := (· * ·)
  div x y := if y = 0 then divZero x else x / y
  max x y := if x ≤ y then y else x
  min x y := if x ≤ y then x else y
  neg := (- ·)
  exp := exp
  log := log
  tanh := tanh
  logistic := logistic
  apply := func
  lt x y := decide (x < y)
  le x y := decide (x ≤ y)
  eq x y := decide (x = y)
  isFinite := isFinite
  sum := sumL
  maxOf := maxL
  minOf := minL
  prod := prodL
  cumulative g l i := reduceL g (l.take (i + 1))
  dot l := sumL (l.map fun p => p.1 * p.2)
  convert _ _ x := x

/-! ## From `Ops` to algebra

One lemma for each field of `Ops`, to rewrite it to the algebraic operation. -/

section bridge
variable (x y : R)

theorem ops_add : Ops.add x y = x + y := rfl
theorem ops_sub : Ops.sub x y = x - y := rfl
theorem ops_mul : Ops.mul x y = x * y := rfl
theorem ops_div : Ops.div x y = if y = 0 then divZero x else x / y := rfl
theorem ops_max : Ops.max x y = if x ≤ y then y else x := rfl
theorem ops_min : Ops.min x y = if x ≤ y then x else y := rfl
theorem ops_neg : Ops.neg x = -x := rfl
theorem ops_exp : Ops.exp x = exp x := rfl
theorem ops_log : Ops.log x = log x := rfl
theorem ops_tanh : Ops.tanh x = tanh x := rfl
theorem ops_logistic : Ops.logistic x = logistic x := rfl
theorem ops_abs : Ops.apply .abs x = abs x := rfl
theorem ops_sign : Ops.apply .sign x = sign x := rfl
theorem ops_expm1 : Ops.apply .expm1 x = exp x - 1 := rfl
theorem ops_apply (g : Func) : Ops.apply g x = func g x := rfl
theorem ops_infinity (negative : Bool) : (Ops.infinity negative : R) = infinity negative := rfl
theorem ops_nan : (Ops.nan : R) = nan := rfl
theorem ops_isFinite : Ops.isFinite x = isFinite x := rfl
theorem ops_lt : Ops.lt x y = decide (x < y) := rfl
theorem ops_le : Ops.le x y = decide (x ≤ y) := rfl
theorem ops_eq : Ops.eq x y = decide (x = y) := rfl
theorem ops_sum (l : List R) : Ops.sum l = sumL l := rfl
theorem ops_maxOf (l : List R) : Ops.maxOf l = maxL l := rfl
theorem ops_minOf (l : List R) : Ops.minOf l = minL l := rfl
theorem ops_prod (l : List R) : Ops.prod l = prodL l := rfl
theorem ops_cumulative (g : Reduction) (l : List R) (i : Nat) :
    Ops.cumulative g l i = reduceL g (l.take (i + 1)) := rfl
theorem ops_dot (l : List (R × R)) : Ops.dot l = sumL (l.map fun p => p.1 * p.2) := rfl
theorem ops_convert (s t : FloatType) : Ops.convert s t x = x := rfl
theorem ops_lit (num : Int) (den : Nat) : (Ops.lit num den : R) = (num : R) / (den : R) := rfl

theorem ops_lit_zero (den : Nat) : (Ops.lit 0 den : R) = 0 := by
  rw [ops_lit, Ring.intCast_zero, Field.div_eq_mul_inv, Semiring.zero_mul]

theorem ops_lit_one : (Ops.lit 1 1 : R) = 1 := by
  rw [ops_lit, Ring.intCast_one, Semiring.natCast_one, Field.div_eq_mul_inv, Field.inv_one, Semiring.one_mul]

end bridge

/-! ## The exponential -/

theorem exp_ne_zero (x : R) : exp x ≠ 0 := ne_zero_of_pos (exp_pos x)

theorem exp_sub (x c : R) : exp (x - c) = exp (-c) * exp x := by
  rw [Ring.sub_eq_add_neg, exp_add, CommSemiring.mul_comm]

theorem exp_zero : exp (0 : R) = 1 := by
  have h : exp (0 : R) * exp 0 = exp 0 := by rw [← exp_add, Semiring.add_zero]
  rw [← Semiring.mul_one (exp 0), ← Field.mul_inv_cancel (exp_ne_zero (0 : R)), ← Semiring.mul_assoc, h]

end RealArith
end MaskPool
