module
public import Mathlib.Data.Fintype.Defs
/-!
# Finite types in use

The declarations of `Mathlib.Data.Fintype.Basic` that `real/` uses.
-/
@[expose] public noncomputable section

/-- `Fin.fintype`. -/
@[instance] axiom Fin.fintype (n : Nat) : Fintype (Fin n)
