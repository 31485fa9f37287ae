module
public import MaskPool.Arith.Real
public import Mathlib.Analysis.SpecialFunctions.Log.Basic
/-!
# mathlib's real numbers

They are a `RealArith`, with `Real.exp` and `Real.log`. What `RealArith` leaves open has values here that no
theorem about it can depend on.
-/
@[expose] public noncomputable section
namespace MaskPoolReal

/-- The real numbers, with `apply` for the functions of `MaskPool.Func`. -/
abbrev realArith (apply : MaskPool.Func → ℝ → ℝ) : MaskPool.RealArith ℝ where
  decLE := inferInstance
  decLT := inferInstance
  decEq := inferInstance
  exp := Real.exp
  log := Real.log
  divZero _ := 0
  maxNil := 0
  minNil := 0
  infinity _ := 0
  nan := 0
  isFinite _ := true
  apply
  exp_pos x := Real.exp_pos x
  exp_add x y := Real.exp_add x y

instance instRealArith : MaskPool.RealArith ℝ := realArith fun _ x => x

end MaskPoolReal
