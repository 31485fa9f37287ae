module
public import MaskPool.Arith.Real
/-!
# Identities of an ordered field, for rewriting

The identities by which a pooling kernel is brought to a normal form: units, selections by a condition, and
common positive factors that cancel.
-/
@[expose] public noncomputable section
namespace MaskPool

/-! ## Selections -/

section select
variable {β : Type} (a b c : β)

/-- The two conditions are equal, their decision procedures need not be. -/
theorem ite_then_ite {p : Prop} {h h' : Decidable p} :
    @ite _ p h (@ite _ p h' a b) c = @ite _ p h a c := by
  by_cases hp : p <;> simp only [hp, if_true, if_false]

/-- The two conditions are equal, their decision procedures need not be. -/
theorem ite_else_ite {p : Prop} {h h' : Decidable p} :
    @ite _ p h a (@ite _ p h' b c) = @ite _ p h a c := by
  by_cases hp : p <;> simp only [hp, if_true, if_false]

theorem ite_bool_not (t : Bool) : (if (!t) = true then a else b) = if t = true then b else a := by
  cases t <;> rfl

theorem ite_decide {p : Prop} {h : Decidable p} :
    (if decide p = true then a else b) = if p then a else b := by
  simp only [decide_eq_true_eq]

end select

open RealArith Lean.Grind

section
variable {R : Type} [RealArith R] (a b c : R)

/-! ## Units -/

theorem zero_mul : 0 * a = 0 := Semiring.zero_mul a
theorem mul_zero : a * 0 = 0 := Semiring.mul_zero a
theorem one_mul : 1 * a = a := Semiring.one_mul a
theorem mul_one : a * 1 = a := Semiring.mul_one a
theorem zero_add : 0 + a = a := AddCommMonoid.zero_add a
theorem add_zero : a + 0 = a := Semiring.add_zero a
theorem mul_comm : a * b = b * a := CommSemiring.mul_comm a b
theorem mul_assoc : a * b * c = a * (b * c) := Semiring.mul_assoc a b c
theorem mul_left_comm : a * (b * c) = b * (a * c) := by rw [← mul_assoc, mul_comm a, mul_assoc]
theorem div_eq_mul_inv : a / b = a * b⁻¹ := Field.div_eq_mul_inv a b
theorem zero_div : 0 / a = 0 := by rw [div_eq_mul_inv, zero_mul]
theorem div_one : a / 1 = a := by rw [div_eq_mul_inv, Field.inv_one, mul_one]
theorem mul_one_div : a * (1 / b) = a / b := by rw [div_eq_mul_inv, one_mul, ← div_eq_mul_inv]
theorem le_zero_iff : a ≤ 0 ↔ ¬ 0 < a := Std.not_lt.symm
theorem one_ne_zero {R : Type} [RealArith R] : (1 : R) ≠ 0 := Ne.symm Field.zero_ne_one

/-! ## Selections of `0` -/

variable {p : Prop} [Decidable p]

theorem ite_zero_mul : (if p then a else 0) * b = if p then a * b else 0 := by
  split
  · rfl
  · exact zero_mul b

theorem mul_ite_zero : b * (if p then a else 0) = if p then b * a else 0 := by
  rw [mul_comm, ite_zero_mul, mul_comm]

theorem ite_zero_div : (if p then a else 0) / b = if p then a / b else 0 := by
  simp only [div_eq_mul_inv, ite_zero_mul]

end

/-! ## A factor -/

section
variable {R : Type} [RealArith R] {c : R}

section nonzero
variable (hc : c ≠ 0) (y z : R)
include hc

theorem mul_div_cancel_left : c * y / c = y := by
  rw [div_eq_mul_inv, mul_comm c, mul_assoc, Field.mul_inv_cancel hc, mul_one]

theorem div_eq_iff : y / c = z ↔ y = z * c := by
  constructor <;> intro h
  · rw [← h, div_eq_mul_inv, mul_assoc, Field.inv_mul_cancel hc, mul_one]
  · rw [h, mul_comm, mul_div_cancel_left hc]

theorem mul_left_inj : y * c = z * c ↔ y = z :=
  ⟨fun h => by rw [← mul_div_cancel_left hc y, mul_comm, h, mul_comm, mul_div_cancel_left hc],
    congrArg (· * c)⟩

theorem mul_eq_zero_iff : c * z = 0 ↔ z = 0 := by
  refine ⟨fun h => ?_, fun h => by rw [h, mul_zero]⟩
  rw [← mul_div_cancel_left hc z, h, zero_div]

theorem mul_div_mul_cancel : c * y / (c * z) = y / z := by
  rw [div_eq_mul_inv, Field.inv_mul, ← mul_assoc, ← div_eq_mul_inv (c * y), mul_div_cancel_left hc,
    div_eq_mul_inv]

end nonzero

section positive
variable (hc : 0 < c) (y z : R)
include hc

theorem mul_pos_iff : 0 < c * z ↔ 0 < z := by
  have h := Field.IsOrdered.mul_lt_mul_iff_of_pos_left (a := 0) (b := z) hc
  rwa [mul_zero] at h

/-! A positive divisor `c` is the positive factor `c⁻¹`. -/

theorem inv_pos : 0 < c⁻¹ := Field.IsOrdered.inv_pos_iff.2 hc

theorem div_pos_iff : 0 < z / c ↔ 0 < z := by
  rw [div_eq_mul_inv, mul_comm, mul_pos_iff (inv_pos hc)]

theorem div_eq_zero_iff : z / c = 0 ↔ z = 0 := by
  rw [div_eq_mul_inv, mul_comm, mul_eq_zero_iff (ne_zero_of_pos (inv_pos hc))]

theorem div_div_div_cancel : (y / c) / (z / c) = y / z := by
  rw [div_eq_mul_inv y, div_eq_mul_inv z, mul_comm y, mul_comm z,
    mul_div_mul_cancel (ne_zero_of_pos (inv_pos hc))]

end positive

end

section
variable {R : Type} [RealArith R] (c y z : R)

theorem exp_mul_pos_iff : 0 < exp c * z ↔ 0 < z := mul_pos_iff (exp_pos c) z
theorem exp_mul_eq_zero_iff : exp c * z = 0 ↔ z = 0 := mul_eq_zero_iff (exp_ne_zero c) z
theorem exp_mul_div_exp_mul : (exp c * y) / (exp c * z) = y / z := mul_div_mul_cancel (exp_ne_zero c) y z

end
end MaskPool
