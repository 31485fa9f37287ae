module
public import Mathlib.Algebra.Group.Defs
/-!
# Fields

The declarations of `Mathlib.Algebra.Field.Defs`, `Mathlib.Algebra.Field.Basic` and
`Mathlib.Algebra.Ring.GrindInstances` that `real/` uses.
-/
@[expose] public noncomputable section

/-- `Field`, flattened: in mathlib it extends `CommRing` and `DivisionRing`, and some of these laws are
theorems that follow from its own. What it has beyond them, such as the casts of rational numbers, is left
out. -/
class Field (K : Type u) extends Zero K, One K, Add K, Mul K, Neg K, Sub K, Inv K, Div K, NatCast K,
    IntCast K where
  nsmul : Nat → K → K
  zsmul : Int → K → K
  npow : Nat → K → K
  zpow : Int → K → K
  protected add_assoc : ∀ a b c : K, a + b + c = a + (b + c)
  protected zero_add : ∀ a : K, 0 + a = a
  protected add_zero : ∀ a : K, a + 0 = a
  protected add_comm : ∀ a b : K, a + b = b + a
  protected left_distrib : ∀ a b c : K, a * (b + c) = a * b + a * c
  protected right_distrib : ∀ a b c : K, (a + b) * c = a * c + b * c
  protected zero_mul : ∀ a : K, 0 * a = 0
  protected mul_zero : ∀ a : K, a * 0 = 0
  protected mul_assoc : ∀ a b c : K, a * b * c = a * (b * c)
  protected one_mul : ∀ a : K, 1 * a = a
  protected mul_one : ∀ a : K, a * 1 = a
  protected mul_comm : ∀ a b : K, a * b = b * a
  protected neg_add_cancel : ∀ a : K, -a + a = 0
  protected sub_eq_add_neg : ∀ a b : K, a - b = a + -b
  protected div_eq_mul_inv : ∀ a b : K, a / b = a * b⁻¹
  protected zero_ne_one : (0 : K) ≠ 1
  protected mul_inv_cancel : ∀ a : K, a ≠ 0 → a * a⁻¹ = 1
  protected inv_zero : (0 : K)⁻¹ = 0
  protected natCast_zero : NatCast.natCast 0 = (0 : K)
  protected natCast_succ : ∀ n : Nat, NatCast.natCast (n + 1) = (NatCast.natCast n + 1 : K)
  protected intCast_ofNat : ∀ n : Nat, IntCast.intCast (n : Int) = (NatCast.natCast n : K)
  protected intCast_neg : ∀ i : Int, IntCast.intCast (-i) = -(IntCast.intCast i : K)
  protected nsmul_eq_mul : ∀ (n : Nat) (a : K), nsmul n a = NatCast.natCast n * a
  protected natCast_zsmul : ∀ (n : Nat) (a : K), zsmul (n : Int) a = nsmul n a
  protected neg_zsmul : ∀ (i : Int) (a : K), zsmul (-i) a = -zsmul i a
  protected pow_zero : ∀ a : K, npow 0 a = 1
  protected pow_succ : ∀ (a : K) (n : Nat), npow (n + 1) a = npow n a * a
  protected zpow_zero : ∀ a : K, zpow 0 a = 1
  protected zpow_succ : ∀ (a : K) (n : Nat), zpow (n + 1 : Int) a = zpow (n : Int) a * a
  protected zpow_neg : ∀ (a : K) (i : Int), zpow (-i) a = (zpow i a)⁻¹

/-- In place of mathlib's path from `Field` to `AddCommMonoid`. -/
instance (priority := 100) Field.toAddCommMonoid {K : Type u} [Field K] : AddCommMonoid K where
  add_assoc := Field.add_assoc
  zero_add := Field.zero_add
  add_zero := Field.add_zero
  add_comm := Field.add_comm

/-- The numerals of a field: in mathlib `Semiring.toGrindSemiring` has them in this way. -/
@[reducible] def Field.grindOfNat (K : Type u) [Field K] : (n : Nat) → OfNat K n
  | 0 => inferInstance
  | 1 => inferInstance
  | n + 2 => ⟨NatCast.natCast (n + 2)⟩

/-- `Field.toGrindField`. In mathlib its parts are `Semiring.toGrindSemiring`, `Ring.toGrindRing` and
`CommRing.toGrindCommRing`. -/
instance (priority := 100) Field.toGrindField {K : Type u} [s : Field K] : Lean.Grind.Field K where
  natCast := inferInstance
  intCast := inferInstance
  ofNat := Field.grindOfNat K
  nsmul := ⟨s.nsmul⟩
  zsmul := ⟨s.zsmul⟩
  npow := ⟨fun a n => s.npow n a⟩
  zpow := ⟨fun a i => s.zpow i a⟩
  add_zero := s.add_zero
  add_comm := s.add_comm
  add_assoc := s.add_assoc
  mul_assoc := s.mul_assoc
  mul_one := s.mul_one
  one_mul := s.one_mul
  left_distrib := s.left_distrib
  right_distrib := s.right_distrib
  zero_mul := s.zero_mul
  mul_zero := s.mul_zero
  mul_comm := s.mul_comm
  pow_zero := s.pow_zero
  pow_succ := s.pow_succ
  ofNat_succ
    | 0 => (s.zero_add 1).symm
    | 1 => by
      show NatCast.natCast 2 = (1 + 1 : K)
      rw [s.natCast_succ 1, s.natCast_succ 0, s.natCast_zero, s.zero_add]
    | n + 2 => s.natCast_succ (n + 2)
  ofNat_eq_natCast
    | 0 => s.natCast_zero.symm
    | 1 => by
      show (1 : K) = NatCast.natCast 1
      rw [s.natCast_succ 0, s.natCast_zero, s.zero_add]
    | n + 2 => rfl
  nsmul_eq_natCast_mul := s.nsmul_eq_mul
  neg_add_cancel := s.neg_add_cancel
  sub_eq_add_neg := s.sub_eq_add_neg
  neg_zsmul := s.neg_zsmul
  zsmul_natCast_eq_nsmul := s.natCast_zsmul
  intCast_ofNat
    | 0 => (s.intCast_ofNat 0).trans s.natCast_zero
    | 1 => by
      show IntCast.intCast ((1 : Nat) : Int) = (1 : K)
      rw [s.intCast_ofNat, s.natCast_succ 0, s.natCast_zero, s.zero_add]
    | n + 2 => s.intCast_ofNat (n + 2)
  intCast_neg := s.intCast_neg
  div_eq_mul_inv := s.div_eq_mul_inv
  zero_ne_one := s.zero_ne_one
  inv_zero := s.inv_zero
  mul_inv_cancel := @fun a => s.mul_inv_cancel a
  zpow_zero := s.zpow_zero
  zpow_succ := s.zpow_succ
  zpow_neg := s.zpow_neg
