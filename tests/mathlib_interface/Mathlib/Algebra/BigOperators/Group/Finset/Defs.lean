module
public import Mathlib.Algebra.Group.Defs
public import Mathlib.Data.Fintype.Defs
/-!
# Sums over finite sets

The declarations of `Mathlib.Algebra.BigOperators.Group.Finset.Defs` that `real/` uses.
-/
set_option compiler.extract_closed false -- macros are run by the interpreter
@[expose] public noncomputable section
namespace Finset
variable {ι : Type u} {M : Type v} [AddCommMonoid M]

/-- `Finset.sum`, in mathlib made from `Finset.prod` by `to_additive`. -/
protected axiom sum (s : Finset ι) (f : ι → M) : M

/-- `Finset.sum_map_toList`, in mathlib made from `Finset.prod_map_toList` by `to_additive`. -/
axiom sum_map_toList (s : Finset ι) (f : ι → M) : (s.toList.map f).sum = s.sum f

end Finset

/-- `∑ x, f x` is `Finset.sum Finset.univ fun x => f x`. In mathlib the case of one binder of
`BigOperators.bigsum`. -/
macro "∑ " x:ident ", " f:term:67 : term => `(Finset.sum Finset.univ fun $x => $f)

/-- `∑ x with p x, f x` is `Finset.sum (Finset.filter (fun x => p x) Finset.univ) fun x => f x`. In mathlib
the case of one binder of `BigOperators.bigsum`. -/
macro "∑ " x:ident " with " p:term ", " f:term:67 : term =>
  `(Finset.sum (Finset.filter (fun $x => $p) Finset.univ) fun $x => $f)
