module
public import Mathlib.Algebra.Order.Ring.Defs
/-!
# Real numbers

The declarations of `Mathlib.Data.Real.Basic` that `real/` uses.
-/
set_option compiler.extract_closed false -- the embedded engine cannot import the notation otherwise
@[expose] public noncomputable section

/-- `Real`. In mathlib a structure, of Cauchy sequences of rational numbers. -/
axiom Real : Type

@[inherit_doc] notation "ℝ" => Real

namespace Real

/-- `Real.instField`. -/
@[instance] axiom instField : Field ℝ

/-- `Real.linearOrder`. -/
@[instance] axiom linearOrder : LinearOrder ℝ

/-- `Real.instIsStrictOrderedRing`. -/
@[instance] axiom instIsStrictOrderedRing : IsStrictOrderedRing ℝ

/-! In mathlib, ℝ has instances of its own for each operation and relation, from which those above are made.
Here they are made from those above. In both, an operation is found by these instances, and has to be seen
to be that of the field. -/

instance instZero : Zero ℝ := instField.toZero
instance instOne : One ℝ := instField.toOne
instance instAdd : Add ℝ := instField.toAdd
instance instMul : Mul ℝ := instField.toMul
instance instNeg : Neg ℝ := instField.toNeg
instance instSub : Sub ℝ := instField.toSub
instance instInv : Inv ℝ := instField.toInv
instance instLE : LE ℝ := linearOrder.toLE
instance instLT : LT ℝ := linearOrder.toLT
instance instAddCommMonoid : AddCommMonoid ℝ := Field.toAddCommMonoid

end Real
