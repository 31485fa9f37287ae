module
public import Mathlib.Algebra.Field.Basic
public import Mathlib.Order.Defs.LinearOrder
/-!
# Ordered rings

The declarations of `Mathlib.Algebra.Order.Ring.Defs` that `real/` uses.
-/
@[expose] public noncomputable section
variable {R : Type u}

/-- `IsStrictOrderedRing`, for fields only. In mathlib it is for semirings, and its laws are
`IsOrderedCancelAddMonoid`, `ZeroLEOneClass`, `Nontrivial`, `PosMulStrictMono` and `MulPosStrictMono`, from
which these follow. -/
class IsStrictOrderedRing (R : Type u) [Field R] [PartialOrder R] : Prop where
  protected add_le_add_iff_right : ∀ a b c : R, a + c ≤ b + c ↔ a ≤ b
  protected zero_lt_one : (0 : R) < 1
  protected mul_lt_mul_of_pos_left : ∀ a b c : R, a < b → 0 < c → c * a < c * b
  protected mul_lt_mul_of_pos_right : ∀ a b c : R, a < b → 0 < c → a * c < b * c

/-- An instance without a name in mathlib. -/
instance [Field R] [PartialOrder R] [s : IsStrictOrderedRing R] : Lean.Grind.OrderedRing R where
  add_le_left_iff {a b} c := (s.add_le_add_iff_right a b c).symm
  zero_lt_one := s.zero_lt_one
  mul_lt_mul_of_pos_left {a b c} := s.mul_lt_mul_of_pos_left a b c
  mul_lt_mul_of_pos_right {a b c} := s.mul_lt_mul_of_pos_right a b c
