module
public import Mathlib.Data.Finset.Dedup
/-!
# Finite types

The declarations of `Mathlib.Data.Fintype.Defs` that `real/` uses.
-/
@[expose] public noncomputable section

/-- `Fintype`. -/
class Fintype (α : Type u) where
  elems : Finset α
  complete : ∀ x : α, x ∈ elems

namespace Finset
variable {α : Type u} [Fintype α]

/-- `Finset.univ`. -/
def univ : Finset α := Fintype.elems

/-- `Finset.mem_univ`. -/
theorem mem_univ (x : α) : x ∈ (univ : Finset α) := Fintype.complete x

end Finset
