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

/-- `Real.instField`. In mathlib ℝ also has instances of its own for each operation, which agree with it. -/
@[instance] axiom instField : Field ℝ

/-- `Real.linearOrder`. -/
@[instance] axiom linearOrder : LinearOrder ℝ

/-- `Real.instIsStrictOrderedRing`. -/
@[instance] axiom instIsStrictOrderedRing : IsStrictOrderedRing ℝ

end Real
