module
public import MaskPool.Finite.Sum
public import MaskPoolReal.Arith
public import Mathlib.Algebra.BigOperators.Group.Finset.Basic
public import Mathlib.Logic.Equiv.Defs
/-!
# Finite types and sums

mathlib's `Fintype` and `Equiv` are converted to those of `MaskPool`, and both libraries have the same sums.
-/
@[expose] public noncomputable section
namespace MaskPoolReal

/-- The elements of a `Fintype`, in some order. -/
abbrev enum (ι : Type) [Fintype ι] : MaskPool.Enum ι where
  elems := (Finset.univ : Finset ι).toList
  nodup := Finset.nodup_toList _
  complete i := Finset.mem_toList.2 (Finset.mem_univ i)

/-- mathlib's `Equiv` as one of `MaskPool`. -/
def equiv {ι κ : Type} (e : ι ≃ κ) : MaskPool.Equiv ι κ :=
  ⟨e, e.symm, e.symm_apply_apply, e.apply_symm_apply⟩

theorem sumL_eq_sum (l : List ℝ) : MaskPool.RealArith.sumL l = l.sum := by
  induction l with
  | nil => rfl
  | cons x l ih => exact congrArg (x + ·) ih

/-- However both libraries enumerate `ι`, its sums are the same. -/
theorem fsum_eq_sum {ι : Type} [MaskPool.Enum ι] [Fintype ι] (f : ι → ℝ) : MaskPool.fsum f = ∑ i, f i := by
  have h : (MaskPool.Enum.elems (ι := ι)).Perm (enum ι).elems :=
    MaskPool.perm_of_nodup MaskPool.Enum.nodup (enum ι).nodup
      fun i => ⟨fun _ => (enum ι).complete i, fun _ => MaskPool.Enum.complete i⟩
  exact ((MaskPool.RealArith.sumL_perm (h.map f)).trans (sumL_eq_sum _)).trans (Finset.sum_map_toList _ f)

end MaskPoolReal
