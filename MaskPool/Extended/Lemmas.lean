module
public import MaskPool.Arith.Field
public import MaskPool.Extended.Basic
/-!
# Operations on numbers, infinities and NaN

Each operation of `Ops` on values in normal form, as a rewrite rule to a normal form. An operation on numbers
is the number that `RealArith` gives, where that is definite: a quotient asks for a divisor that is not zero,
and a logarithm for a positive number.
-/
@[expose] public noncomputable section
namespace MaskPool.Extended
open RealArith
variable {R : Type} [RealArith R] (x y : R) (s t : Bool) (a b c : Extended R)

/-! ## Literals -/

theorem infinity_eq : (Ops.infinity s : Extended R) = infinity s := rfl
theorem nan_literal : (Ops.nan : Extended R) = nan := rfl
theorem lit_eq (num : Int) (den : Nat) : (Ops.lit num den : Extended R) = finite (Ops.lit num den) := rfl
theorem lit_zero (den : Nat) : (Ops.lit 0 den : Extended R) = finite 0 :=
  congrArg finite (RealArith.ops_lit_zero den)
theorem lit_one : (Ops.lit 1 1 : Extended R) = finite 1 := congrArg finite RealArith.ops_lit_one
theorem convert_eq (f g : FloatType) : Ops.convert f g a = a := rfl

/-! ## Numbers -/

theorem add_finite : Ops.add (finite x) (finite y) = finite (x + y) := rfl
theorem neg_finite : Ops.neg (finite x) = finite (-x) := rfl
theorem sub_finite : Ops.sub (finite x) (finite y) = finite (x - y) :=
  congrArg finite (Lean.Grind.Ring.sub_eq_add_neg x y).symm
theorem mul_finite : Ops.mul (finite x) (finite y) = finite (x * y) := rfl
variable {x y} in
theorem div_finite (h : y ≠ 0) : Ops.div (finite x) (finite y) = finite (x / y) := if_neg h
theorem max_finite : Ops.max (finite x) (finite y) = finite (Ops.max x y) := rfl
theorem min_finite : Ops.min (finite x) (finite y) = finite (Ops.min x y) := rfl
theorem exp_finite : Ops.exp (finite x) = finite (RealArith.exp x) := rfl
variable {x} in
theorem log_finite (h : 0 < x) : Ops.log (finite x) = finite (RealArith.log x) := if_pos h
theorem tanh_finite : Ops.tanh (finite x) = finite (RealArith.tanh x) := rfl
theorem logistic_finite : Ops.logistic (finite x) = finite (RealArith.logistic x) := rfl
theorem abs_finite : Ops.apply .abs (finite x) = finite (RealArith.abs x) := rfl
theorem sign_finite : Ops.apply .sign (finite x) = finite (RealArith.sign x) := rfl
theorem expm1_finite : Ops.apply .expm1 (finite x) = finite (RealArith.exp x - 1) := rfl
/-- Whether a function is defined for all numbers. -/
def _root_.MaskPool.Func.isTotal : Func → Bool
  | .sqrt | .rsqrt | .log1p | .erf_inv | .asin | .acos | .acosh | .atanh => false
  | _ => true

theorem apply_finite {g : Func} (h : g.isTotal = true) : Ops.apply g (finite x) = finite (Ops.apply g x) := by
  cases g <;> first | rfl | nomatch h

theorem lt_finite : Ops.lt (finite x) (finite y) = decide (x < y) := rfl
theorem le_finite : Ops.le (finite x) (finite y) = decide (x ≤ y) := rfl
theorem eq_finite : Ops.eq (finite x) (finite y) = decide (x = y) := rfl
theorem isFinite_finite : Ops.isFinite (finite x) = true := rfl

/-! ## Division by zero -/

theorem zero_div_zero : Ops.div (finite (0 : R)) (finite 0) = nan := (if_pos rfl).trans (if_pos rfl)

variable {x} in
/-- The quotient of another number by zero is infinite, of one sign or the other. -/
theorem div_zero (h : x ≠ 0) : ∃ s, Ops.div (finite x) (finite 0) = infinity s :=
  ⟨_, (if_pos rfl).trans (if_neg h)⟩

variable {x} in
theorem log_of_neg (h : x < 0) : Ops.log (finite x) = nan :=
  (if_neg fun h' => not_zero_lt_zero (Std.lt_trans h' h)).trans
    (if_neg fun h' => not_zero_lt_zero (by rwa [h'] at h))

theorem log_zero : Ops.log (finite (0 : R)) = infinity true := (if_neg not_zero_lt_zero).trans (if_pos rfl)

/-! ## Infinities -/

theorem neg_infinity : Ops.neg (infinity s : Extended R) = infinity (!s) := rfl
theorem add_infinity_finite : Ops.add (infinity s) (finite x) = infinity s := rfl
theorem add_finite_infinity : Ops.add (finite x) (infinity s) = infinity s := rfl
theorem add_infinity_self : Ops.add (infinity s : Extended R) (infinity s) = infinity s := if_pos rfl
theorem add_infinity_not : Ops.add (infinity s : Extended R) (infinity (!s)) = nan := by cases s <;> rfl
theorem sub_infinity_finite : Ops.sub (infinity s) (finite x) = infinity s := rfl
theorem sub_finite_infinity : Ops.sub (finite x) (infinity s) = infinity (!s) := rfl
theorem sub_infinity_self : Ops.sub (infinity s : Extended R) (infinity s) = nan := by cases s <;> rfl
theorem mul_zero_infinity : Ops.mul (finite (0 : R)) (infinity s) = nan := if_pos rfl
theorem mul_infinity_zero : Ops.mul (infinity s) (finite (0 : R)) = nan := if_pos rfl
theorem mul_infinity : Ops.mul (infinity s : Extended R) (infinity t) = infinity (s != t) := rfl
variable {x} in
theorem mul_pos_infinity (h : 0 < x) : Ops.mul (finite x) (infinity s) = infinity s := by
  refine (if_neg (ne_zero_of_pos h)).trans ?_
  rw [decide_eq_false (not_lt_zero_of_pos h), Bool.bne_false]
theorem div_finite_infinity : Ops.div (finite x) (infinity s) = finite 0 := rfl
theorem div_infinity : Ops.div (infinity s : Extended R) (infinity t) = nan := rfl
theorem exp_infinity : Ops.exp (infinity s : Extended R) = if s then finite 0 else infinity false := rfl
theorem log_infinity : Ops.log (infinity s : Extended R) = if s then nan else infinity false := rfl
theorem isFinite_infinity : Ops.isFinite (infinity s : Extended R) = false := rfl
theorem lt_infinity_finite : Ops.lt (infinity s) (finite x) = s := rfl
theorem lt_finite_infinity : Ops.lt (finite x) (infinity s) = !s := rfl
theorem le_infinity_finite : Ops.le (infinity s) (finite x) = s := rfl
theorem le_finite_infinity : Ops.le (finite x) (infinity s) = !s := rfl
theorem eq_infinity_finite : Ops.eq (infinity s) (finite x) = false := rfl
theorem eq_finite_infinity : Ops.eq (finite x) (infinity s) = false := rfl
theorem eq_infinity : Ops.eq (infinity s : Extended R) (infinity t) = (s == t) := rfl

/-! ## Extrema with infinities

The importer leaves out `max(-inf, x)` and `min(inf, x)`. That is right for NaN as well. -/

theorem max_neg_infinity : Ops.max (infinity true) a = a := by cases a <;> rfl
theorem max_neg_infinity_right : Ops.max a (infinity true) = a := by
  rcases a with _ | s | _
  · rfl
  · cases s <;> rfl
  · rfl
theorem min_pos_infinity : Ops.min (infinity false) a = a := by cases a <;> rfl
theorem min_pos_infinity_right : Ops.min a (infinity false) = a := by
  rcases a with _ | s | _
  · rfl
  · cases s <;> rfl
  · rfl
theorem max_infinity_finite : Ops.max (infinity false) (finite x) = infinity false := rfl
theorem max_finite_infinity : Ops.max (finite x) (infinity false) = infinity false := rfl

/-! ## NaN -/

theorem neg_nan : Ops.neg (nan : Extended R) = nan := rfl
theorem add_nan : Ops.add a nan = nan := by cases a <;> rfl
theorem nan_add : Ops.add nan a = nan := by cases a <;> rfl
theorem sub_nan : Ops.sub a nan = nan := add_nan a
theorem nan_sub : Ops.sub nan a = nan := nan_add _
theorem mul_nan : Ops.mul a nan = nan := by cases a <;> rfl
theorem nan_mul : Ops.mul nan a = nan := by cases a <;> rfl
theorem div_nan : Ops.div a nan = nan := by cases a <;> rfl
theorem nan_div : Ops.div nan a = nan := by cases a <;> rfl
theorem max_nan : Ops.max a nan = nan := by cases a <;> rfl
theorem nan_max : Ops.max nan a = nan := by cases a <;> rfl
theorem min_nan : Ops.min a nan = nan := by cases a <;> rfl
theorem nan_min : Ops.min nan a = nan := by cases a <;> rfl
theorem exp_nan : Ops.exp (nan : Extended R) = nan := rfl
theorem log_nan : Ops.log (nan : Extended R) = nan := rfl
theorem tanh_nan : Ops.tanh (nan : Extended R) = nan := rfl
theorem logistic_nan : Ops.logistic (nan : Extended R) = nan := rfl
theorem apply_nan (g : Func) : Ops.apply g (nan : Extended R) = nan := rfl
theorem isFinite_nan : Ops.isFinite (nan : Extended R) = false := rfl
theorem lt_nan : Ops.lt a nan = false := by cases a <;> rfl
theorem nan_lt : Ops.lt nan a = false := by cases a <;> rfl
theorem le_nan : Ops.le a nan = false := by cases a <;> rfl
theorem nan_le : Ops.le nan a = false := by cases a <;> rfl
theorem eq_nan : Ops.eq a nan = false := by cases a <;> rfl
theorem nan_eq : Ops.eq nan a = false := by cases a <;> rfl

/-- JAX's `isnan` asks whether a value differs from itself. -/
theorem eq_self_iff : Ops.eq a a = true ↔ a ≠ nan := by
  cases a <;> simp [Ops.eq, eq]

/-- `is_finite` is true of numbers only. -/
theorem isFinite_iff : Ops.isFinite a = true ↔ ∃ x, a = finite x := by
  cases a <;> simp [Ops.isFinite, isFinite]

/-- Zero annihilates numbers only. -/
theorem zero_mul_eq : Ops.mul (finite (0 : R)) a = if Ops.isFinite a = true then finite 0 else nan := by
  cases a with
  | finite x => exact congrArg finite (zero_mul x)
  | infinity s => exact mul_zero_infinity s
  | nan => rfl

/-! ## Addition and multiplication -/

theorem add_comm : Ops.add a b = Ops.add b a := by
  rcases a with x | s | _ <;> rcases b with y | t | _ <;> try rfl
  · exact congrArg finite (Lean.Grind.Semiring.add_comm x y)
  · cases s <;> cases t <;> rfl

theorem add_assoc : Ops.add (Ops.add a b) c = Ops.add a (Ops.add b c) := by
  rcases a with x | s | _ <;> rcases b with y | t | _ <;> rcases c with z | u | _ <;> try rfl
  · exact congrArg finite (Lean.Grind.Semiring.add_assoc x y z)
  all_goals (try cases s) <;> (try cases t) <;> (try cases u) <;> rfl

theorem zero_add : Ops.add (finite 0) a = a := by
  cases a with
  | finite x => exact congrArg finite (MaskPool.zero_add x)
  | _ => rfl

theorem add_left_comm : Ops.add a (Ops.add b c) = Ops.add b (Ops.add a c) := by
  rw [← add_assoc, add_comm a, add_assoc]

end MaskPool.Extended
