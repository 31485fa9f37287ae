module
/-!
# Finite sets

The declarations of `Mathlib.Data.Finset.Defs`, `Mathlib.Data.Finset.Filter` and `Mathlib.Data.Finset.Dedup`
that `real/` uses.
-/
@[expose] public noncomputable section

/-- `Finset`. In mathlib a structure, of a multiset without duplicates. -/
axiom Finset (α : Type u) : Type u

namespace Finset
variable {α : Type u}

/-- `Finset.instMembership`. -/
@[instance] axiom instMembership : Membership α (Finset α)

/-- `Finset.filter`. -/
axiom filter (p : α → Prop) [DecidablePred p] (s : Finset α) : Finset α

/-- `Finset.toList`. -/
axiom toList (s : Finset α) : List α

/-- `Finset.nodup_toList`. -/
axiom nodup_toList (s : Finset α) : s.toList.Nodup

/-- `Finset.mem_toList`. -/
axiom mem_toList {a : α} {s : Finset α} : a ∈ s.toList ↔ a ∈ s

end Finset
