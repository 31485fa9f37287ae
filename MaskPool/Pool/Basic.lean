module
public import MaskPool.Finite.Sum
/-!
# Masked attention pooling

The specification. A bag is a finite type `ι` of instances, of which the mask selects some. Instance `i` has a
logit and a feature vector, with coordinates in any type `δ`. Nothing here depends on how a bag is laid out as
an array: `ι` may be `Fin n`, a product of axes, or the disjoint union of a bag and its padding.
-/
@[expose] public noncomputable section
namespace MaskPool
open RealArith

section specification
variable {R ι δ : Type} [RealArith R] [Enum ι]

/-- The weight of an instance before normalization: `exp` of its logit, and `0` where it is masked. -/
def weight (logit : ι → R) (mask : ι → Bool) (i : ι) : R := if mask i then exp (logit i) else 0

/-- The normalizer: the sum of the weights. -/
def mass (logit : ι → R) (mask : ι → Bool) : R := fsum (weight logit mask)

/-- Masked attention pooling: the weighted mean of the features of the unmasked instances, and `0` if there
are none. -/
def pool (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (d : δ) : R :=
  if mass logit mask = 0 then 0
  else fsum (fun i => weight logit mask i * feat i d) / mass logit mask

end specification

/-! ## The weights -/

section weight
variable {R ι : Type} [RealArith R] {logit : ι → R} {mask : ι → Bool}

theorem weight_of_masked {i : ι} (h : mask i = false) : weight logit mask i = 0 := by rw [weight, h]; rfl

theorem weight_of_unmasked {i : ι} (h : mask i = true) : weight logit mask i = exp (logit i) := if_pos h

variable (logit mask)

theorem weight_nonneg (i : ι) : 0 ≤ weight logit mask i := by
  cases h : mask i
  · rw [weight_of_masked h]; exact Std.le_refl 0
  · rw [weight_of_unmasked h]; exact Std.le_of_lt (exp_pos _)

theorem weight_shift (c : R) (i : ι) :
    weight (fun i => logit i - c) mask i = exp (-c) * weight logit mask i := by
  simp only [weight, exp_sub]; split
  · rfl
  · exact (Lean.Grind.Semiring.mul_zero _).symm

end weight

/-! ## The normalizer -/

section mass
variable {R ι δ : Type} [RealArith R] [Enum ι] (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool)

theorem mass_nonneg : 0 ≤ mass logit mask := fsum_nonneg (weight_nonneg logit mask)

/-- The normalizer is positive exactly if some instance is unmasked. -/
theorem mass_pos_iff : 0 < mass logit mask ↔ ∃ i, mask i = true := by
  constructor
  · intro hpos
    refine Classical.byContradiction fun hall => ?_
    have hw i : weight logit mask i = 0 := weight_of_masked (Bool.not_eq_true _ ▸ fun h => hall ⟨i, h⟩)
    rw [mass, fsum_congr hw, fsum_zero] at hpos
    exact not_zero_lt_zero hpos
  · rintro ⟨i, hi⟩
    refine fsum_pos (weight_nonneg logit mask) i ?_
    rw [weight_of_unmasked hi]; exact exp_pos _

theorem mass_eq_zero_iff : mass logit mask = 0 ↔ ¬ 0 < mass logit mask :=
  ⟨fun h hpos => ne_zero_of_pos hpos h, fun h => Std.le_antisymm (Std.not_lt.1 h) (mass_nonneg logit mask)⟩

/-- The guards `Z = 0` and `0 < Z` on the normalizer agree. -/
theorem pool_eq_pos_guard (d : δ) : pool logit feat mask d =
    if 0 < mass logit mask then fsum (fun i => weight logit mask i * feat i d) / mass logit mask else 0 := by
  simp only [pool, mass_eq_zero_iff, ite_not]

end mass
end MaskPool
