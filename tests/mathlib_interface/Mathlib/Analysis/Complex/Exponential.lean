module
public import Mathlib.Data.Real.Basic
/-!
# The exponential

The declarations of `Mathlib.Analysis.Complex.Exponential` that `real/` uses.
-/
@[expose] public noncomputable section
namespace Real

/-- `Real.exp`. In mathlib the real part of the complex exponential. -/
axiom exp (x : ℝ) : ℝ

/-- `Real.exp_add`. -/
axiom exp_add (x y : ℝ) : exp (x + y) = exp x * exp y

/-- `Real.exp_pos`. -/
axiom exp_pos (x : ℝ) : 0 < exp x

end Real
