module
public import Mathlib.Analysis.Complex.Exponential
/-!
# The logarithm

The declarations of `Mathlib.Analysis.SpecialFunctions.Log.Basic` that `real/` uses.
-/
@[expose] public noncomputable section

/-- `Real.log`. In mathlib the inverse of the exponential, with `log 0 = 0` and `log (-x) = log x`. -/
axiom Real.log (x : ℝ) : ℝ
