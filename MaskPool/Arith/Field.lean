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

/-! ## Comparisons of selections -/

section
variable {β : Type} (a b c : β) {p : Prop} [Decidable p]

theorem ite_eq_iff : (if p then a else b) = c ↔ if p then a = c else b = c := by split <;> rfl

section
variable [LT β]
theorem ite_lt_iff : (if p then a else b) < c ↔ if p then a < c else b < c := by split <;> rfl
theorem lt_ite_iff : c < (if p then a else b) ↔ if p then c < a else c < b := by split <;> rfl
end

section
variable [LE β]
theorem ite_le_iff : (if p then a else b) ≤ c ↔ if p then a ≤ c else b ≤ c := by split <;> rfl
theorem le_ite_iff : c ≤ (if p then a else b) ↔ if p then c ≤ a else c ≤ b := by split <;> rfl
end

end

theorem ite_true_false {p : Prop} [Decidable p] : (if p then True else False) ↔ p := by
  by_cases h : p <;> simp only [h, if_true, if_false]

theorem ite_false_true {p : Prop} [Decidable p] : (if p then False else True) ↔ ¬ p := by
  by_cases h : p <;> simp only [h, if_true, if_false, not_true_eq_false, not_false_eq_true]

theorem bool_not_iff (b : Bool) : (!b) = true ↔ ¬ b = true := by cases b <;> decide

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
theorem mul_mul_mul_comm (a b c d : R) : a * b * (c * d) = a * c * (b * d) := by
  rw [mul_assoc, mul_assoc, mul_left_comm b]
theorem add_left_comm : a + (b + c) = b + (a + c) := by
  rw [← Semiring.add_assoc, Semiring.add_comm a, Semiring.add_assoc]
theorem add_add_add_comm (a b c d : R) : a + b + (c + d) = a + c + (b + d) := by
  rw [Semiring.add_assoc, Semiring.add_assoc, add_left_comm b]
theorem div_eq_mul_inv : a / b = a * b⁻¹ := Field.div_eq_mul_inv a b
theorem zero_div : 0 / a = 0 := by rw [div_eq_mul_inv, zero_mul]
theorem div_one : a / 1 = a := by rw [div_eq_mul_inv, Field.inv_one, mul_one]
theorem le_zero_iff : a ≤ 0 ↔ ¬ 0 < a := Std.not_lt.symm
theorem sub_zero : a - 0 = a := by rw [Ring.sub_eq_add_neg, AddCommGroup.neg_zero, add_zero]
theorem zero_sub : 0 - a = -a := by rw [Ring.sub_eq_add_neg, zero_add]
theorem neg_zero {R : Type} [RealArith R] : -(0 : R) = 0 := AddCommGroup.neg_zero
theorem neg_neg : - -a = a := AddCommGroup.neg_neg a
theorem neg_mul : -a * b = -(a * b) := Ring.neg_mul a b
theorem mul_neg : a * -b = -(a * b) := Ring.mul_neg a b
theorem inv_one {R : Type} [RealArith R] : (1 : R)⁻¹ = 1 := Field.inv_one
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

theorem neg_ite_zero : -(if p then a else 0) = if p then -a else 0 := by
  split
  · rfl
  · exact AddCommGroup.neg_zero

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
variable (hc : 0 < c) (z : R)
include hc

theorem mul_pos_iff : 0 < c * z ↔ 0 < z := by
  have h := Field.IsOrdered.mul_lt_mul_iff_of_pos_left (a := 0) (b := z) hc
  rwa [mul_zero] at h

/-! A positive divisor `c` is the positive factor `c⁻¹`. -/

theorem inv_pos : 0 < c⁻¹ := Field.IsOrdered.inv_pos_iff.2 hc

theorem div_pos_iff : 0 < z / c ↔ 0 < z := by
  rw [div_eq_mul_inv, mul_comm, mul_pos_iff (inv_pos hc)]

end positive

end

/-! ## Signs -/

section
variable {R : Type} [RealArith R] {a b : R}

theorem one_pos {R : Type} [RealArith R] : (0 : R) < 1 := OrderedRing.zero_lt_one

theorem add_pos (ha : 0 < a) (hb : 0 < b) : 0 < a + b := by
  have h := OrderedAdd.add_lt_right b ha
  rw [add_zero, Semiring.add_comm] at h
  exact Std.lt_trans hb h

theorem mul_pos (ha : 0 < a) (hb : 0 < b) : 0 < a * b := (mul_pos_iff ha b).2 hb

theorem div_pos (ha : 0 < a) (hb : 0 < b) : 0 < a / b := (div_pos_iff hb a).2 ha

theorem le_of_pos (ha : 0 < a) : 0 ≤ a := Std.le_of_lt ha

theorem not_lt_zero_of_pos (ha : 0 < a) : ¬ a < 0 := Std.not_lt.2 (Std.le_of_lt ha)

theorem neg_pos_iff : 0 < -a ↔ a < 0 := by
  constructor <;> intro h
  · have h := OrderedAdd.add_lt_right a h
    rwa [add_zero, Semiring.add_comm, AddCommGroup.neg_add_cancel] at h
  · have h := OrderedAdd.add_lt_right (-a) h
    rwa [add_zero, AddCommGroup.neg_add_cancel] at h

theorem neg_lt_zero_iff : -a < 0 ↔ 0 < a := by
  rw [← neg_pos_iff, AddCommGroup.neg_neg]

theorem neg_eq_zero_iff : -a = 0 ↔ a = 0 :=
  ⟨fun h => by rw [← AddCommGroup.neg_neg a, h, AddCommGroup.neg_zero],
    fun h => by rw [h, AddCommGroup.neg_zero]⟩

theorem logistic_pos (a : R) : 0 < logistic a := div_pos one_pos (add_pos one_pos (exp_pos _))

end

theorem exp_neg {R : Type} [RealArith R] (a : R) : exp (-a) = (exp a)⁻¹ := by
  have h : exp (-a) * exp a = 1 := by rw [← exp_add, AddCommGroup.neg_add_cancel, exp_zero]
  rw [← mul_one (exp (-a)), ← Field.mul_inv_cancel (exp_ne_zero a), ← mul_assoc, h, one_mul]

instance {R : Type} [RealArith R] : Std.Associative (α := R) (· * ·) := ⟨mul_assoc⟩
instance {R : Type} [RealArith R] : Std.Commutative (α := R) (· * ·) := ⟨mul_comm⟩

/-! ## Quotients of products

Every product of quotients becomes one quotient. -/

section
variable {R : Type} [RealArith R] (a b c d : R)

theorem inv_eq_one_div : a⁻¹ = 1 / a := by rw [div_eq_mul_inv, one_mul]
theorem mul_div : a * (b / c) = a * b / c := by simp only [div_eq_mul_inv, mul_assoc]
theorem div_mul : a / b * c = a * c / b := by rw [mul_comm, mul_div, mul_comm]
theorem div_div : a / b / c = a / (b * c) := by simp only [div_eq_mul_inv, Field.inv_mul, mul_assoc]
theorem div_div_right : a / (b / c) = a * c / b := by
  simp only [div_eq_mul_inv, Field.inv_mul, Field.inv_inv, mul_assoc, mul_comm b⁻¹]
theorem neg_div : -(a / b) = -a / b := by simp only [div_eq_mul_inv, Ring.neg_mul]
theorem div_neg : a / -b = -a / b := by
  simp only [div_eq_mul_inv, Field.inv_neg, Ring.neg_mul, Ring.mul_neg]

variable {b c d}

theorem div_eq_div_iff (hb : b ≠ 0) (hd : d ≠ 0) : a / b = c / d ↔ a * d = c * b := by
  rw [div_eq_iff hb, div_mul, eq_comm, div_eq_iff hd, eq_comm]

end

/-! ## Literals -/

section
attribute [local instance] Semiring.natCast Ring.intCast
variable {R : Type} [RealArith R]

theorem natCast_pos {k : Nat} (h : 0 < k) : (0 : R) < (k : R) := by
  induction k with
  | zero => exact absurd h (Nat.lt_irrefl 0)
  | succ k ih =>
    rw [Semiring.natCast_succ]
    cases k with
    | zero => rw [Semiring.natCast_zero, zero_add]; exact one_pos
    | succ k => exact add_pos (ih (Nat.succ_pos k)) one_pos
theorem lit_pos {num : Int} {den : Nat} (hn : 0 < num) (hd : 0 < den) : (0 : R) < Ops.lit num den := by
  obtain ⟨k, rfl⟩ := Int.eq_ofNat_of_zero_le (Int.le_of_lt hn)
  rw [ops_lit, Ring.intCast_natCast]
  exact div_pos (natCast_pos (by omega)) (natCast_pos hd)
/-- A literal below `1`. -/
theorem lit_lt_one {num : Int} {den : Nat} (hn : 0 < num) (h : num.toNat < den) :
    (Ops.lit num den : R) < 1 := by
  obtain ⟨k, rfl⟩ := Int.eq_ofNat_of_zero_le (Int.le_of_lt hn)
  obtain ⟨j, rfl⟩ := Nat.exists_eq_add_of_lt (show k < den from h)
  have hk : (0 : R) < (k : R) := natCast_pos (by omega)
  have hj : (0 : R) < ((j + 1 : Nat) : R) := natCast_pos (Nat.succ_pos j)
  have hden : ((k + j + 1 : Nat) : R) = (k : R) + ((j + 1 : Nat) : R) := by
    rw [Nat.add_assoc, Semiring.natCast_add]
  have hlt : (k : R) < (k : R) + ((j + 1 : Nat) : R) := by
    have h := OrderedAdd.add_lt_right (k : R) hj
    rwa [add_zero] at h
  rw [ops_lit, Ring.intCast_natCast, hden]
  have hpos := add_pos hk hj
  rw [← Field.IsOrdered.mul_lt_mul_iff_of_pos_left hpos, mul_one, mul_div,
    mul_div_cancel_left (ne_zero_of_pos hpos)]
  exact hlt

theorem lit_ite {p : Prop} [Decidable p] (a b : Int) (den : Nat) :
    (Ops.lit (if p then a else b) den : R) = if p then Ops.lit a den else Ops.lit b den := by split <;> rfl

end

section
variable {R : Type} [RealArith R] (c y z : R)

theorem exp_mul_div_exp_mul : (exp c * y) / (exp c * z) = y / z := mul_div_mul_cancel (exp_ne_zero c) y z

end
end MaskPool
