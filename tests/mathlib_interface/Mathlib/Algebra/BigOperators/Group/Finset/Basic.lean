module
public import Mathlib.Algebra.BigOperators.Group.Finset.Defs
/-!
# Sums over filtered sets

The declarations of `Mathlib.Algebra.BigOperators.Group.Finset.Basic` that `real/` uses.
-/
@[expose] public noncomputable section
namespace Finset
variable {ι : Type u} {M : Type v} {s : Finset ι} [AddCommMonoid M]

/-- `Finset.sum_filter`, in mathlib made from `Finset.prod_filter` by `to_additive`. -/
axiom sum_filter (p : ι → Prop) [DecidablePred p] (f : ι → M) :
    (s.filter p).sum f = s.sum fun a => if p a then f a else 0

end Finset
