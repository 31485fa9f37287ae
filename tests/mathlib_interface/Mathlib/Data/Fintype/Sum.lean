module
public import Mathlib.Data.Fintype.Defs
/-!
# Finite disjoint unions

The declarations of `Mathlib.Data.Fintype.Sum` that `real/` uses.
-/
@[expose] public noncomputable section

/-- `instFintypeSum`. -/
@[instance] axiom instFintypeSum (α : Type u) (β : Type v) [Fintype α] [Fintype β] : Fintype (α ⊕ β)
