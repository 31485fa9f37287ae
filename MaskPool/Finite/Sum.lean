module
public import MaskPool.Arith.ListSum
public import MaskPool.Finite.Enum
/-!
# Finite sums

Sums, maxima and contractions over a finite type, for any `Ops`; quantifiers; and the laws of sums over
`RealArith`.
-/
@[expose] public noncomputable section
namespace MaskPool

section reductions
variable {α ι : Type} [Ops α] [Enum ι]

/-- `Σ i, f i` -/
def fsum (f : ι → α) : α := Ops.sum (Enum.elems.map f)

/-- `max i, f i` -/
def fmax (f : ι → α) : α := Ops.maxOf (Enum.elems.map f)

/-- `Σ i, f i * g i`, as one contraction -/
def fdot (f g : ι → α) : α := Ops.dot (Enum.elems.map fun i => (f i, g i))

end reductions

section truth
variable {ι : Type} [Enum ι]

/-- Does some index satisfy `p`? -/
def fany (p : ι → Bool) : Bool := Enum.elems.any p

/-- Do all indices satisfy `p`? -/
def fall (p : ι → Bool) : Bool := Enum.elems.all p

theorem fany_iff {p : ι → Bool} : fany p = true ↔ ∃ i, p i = true := by
  simp [fany, Enum.complete]

theorem fany_prod {κ : Type} [Enum κ] (p : ι × κ → Bool) : fany p = fany fun i => fany fun k => p (i, k) := by
  rw [Bool.eq_iff_iff]; simp only [fany_iff]
  exact ⟨fun ⟨i, h⟩ => ⟨i.1, i.2, h⟩, fun ⟨i, j, h⟩ => ⟨(i, j), h⟩⟩

theorem fany_unit (p : Unit → Bool) : fany p = p () := by
  rw [Bool.eq_iff_iff, fany_iff]
  exact ⟨fun ⟨_, h⟩ => h, fun h => ⟨(), h⟩⟩

theorem fany_fin_one (p : Fin 1 → Bool) : fany p = p 0 := Bool.or_false _

/-- No index fails `p`. -/
theorem fall_eq_not_fany (p : ι → Bool) : fall p = !fany fun i => !p i := by
  simp [fall, fany, List.all_eq_not_any_not]

end truth

section laws
variable {R ι κ : Type} [RealArith R] [Enum ι] [Enum κ]
open RealArith Lean.Grind

theorem fsum_congr {f g : ι → R} (h : ∀ i, f i = g i) : fsum f = fsum g := by rw [funext h]

@[simp] theorem fsum_zero : fsum (fun _ : ι => (0 : R)) = 0 := sumL_map_zero _

theorem fsum_add (f g : ι → R) : fsum (fun i => f i + g i) = fsum f + fsum g := sumL_map_add ..

theorem fsum_mul_left (c : R) (f : ι → R) : fsum (fun i => c * f i) = c * fsum f := sumL_map_mul_left ..

theorem fsum_mul_right (c : R) (f : ι → R) : fsum (fun i => f i * c) = fsum f * c := by
  simp only [CommSemiring.mul_comm _ c]; exact fsum_mul_left c f

theorem fsum_nonneg {f : ι → R} (h : ∀ i, 0 ≤ f i) : 0 ≤ fsum f := sumL_map_nonneg h _

theorem fsum_pos {f : ι → R} (h : ∀ i, 0 ≤ f i) (i : ι) (hp : 0 < f i) : 0 < fsum f :=
  sumL_map_pos h (Enum.complete i) hp

/-- A sum of selected values is positive if some index is selected and all selected values are positive. -/
theorem fsum_select_pos {p : ι → Prop} [d : ∀ i, Decidable (p i)] {f : ι → R} (hp : ∃ i, p i)
    (hf : ∀ i, p i → 0 < f i) : 0 < fsum fun i => @ite _ (p i) (d i) (f i) 0 := by
  obtain ⟨i, hi⟩ := hp
  refine fsum_pos (fun k => ?_) i (by rw [if_pos hi]; exact hf i hi)
  split
  · exact Std.le_of_lt (hf k ‹_›)
  · exact Std.le_refl 0

/-- A sum of positive values is positive if there is any. -/
theorem fsum_all_pos [hι : Nonempty ι] {f : ι → R} (hf : ∀ i, 0 < f i) : 0 < fsum f :=
  hι.elim fun i => fsum_pos (fun k => Std.le_of_lt (hf k)) i (hf i)

theorem fsum_neg (f : ι → R) : fsum (fun i => -f i) = -fsum f := by
  have h := fsum_mul_left (-1) f
  simpa only [Ring.neg_mul, Semiring.one_mul] using h

theorem fsum_select_neg {p : ι → Prop} [d : ∀ i, Decidable (p i)] (f : ι → R) :
    fsum (fun i => @ite _ (p i) (d i) (-f i) 0) = -fsum fun i => @ite _ (p i) (d i) (f i) 0 := by
  rw [← fsum_neg]
  refine fsum_congr fun i => ?_
  split
  · rfl
  · exact AddCommGroup.neg_zero.symm

/-- A sum may be indexed by any type in bijection. -/
theorem fsum_equiv (e : ι ≃ κ) (f : κ → R) : fsum (fun i => f (e i)) = fsum f := by
  have h := sumL_perm ((Enum.perm_map e).map f)
  rw [List.map_map] at h
  exact h

/-- A sum over a disjoint union. -/
theorem fsum_sum (f : ι ⊕ κ → R) : fsum f = fsum (fun i => f (.inl i)) + fsum (fun k => f (.inr k)) := by
  show sumL (List.map f (_ ++ _)) = _
  rw [List.map_append, List.map_map, List.map_map, sumL_append]
  rfl

theorem fsum_fin_add (n k : Nat) (f : Fin (n + k) → R) :
    fsum f = fsum (fun i : Fin n => f (i.castAdd k)) + fsum (fun j : Fin k => f (j.natAdd n)) := by
  rw [← fsum_equiv (Equiv.finSum n k), fsum_sum]; rfl

@[simp] theorem fsum_unit (f : Unit → R) : fsum f = f () := Semiring.add_zero _

theorem fsum_fin_one (f : Fin 1 → R) : fsum f = f 0 := Semiring.add_zero _

/-- A sum over pairs is a double sum. -/
theorem fsum_prod (f : ι × κ → R) : fsum f = fsum (fun i => fsum fun k => f (i, k)) := by
  show sumL (List.map f (Enum.elems.flatMap _)) = sumL (List.map _ Enum.elems)
  generalize (Enum.elems : List ι) = l
  induction l with
  | nil => rfl
  | cons a l ih => rw [List.flatMap_cons, List.map_append, sumL_append, ih, List.map_map]; rfl

/-- A sum over blocks of `k` indices. -/
theorem fsum_fin_blocks {n k : Nat} (h : n % k = 0) (f : Fin n → R) :
    fsum f = fsum fun i : Fin (n / k) => fsum fun j : Fin k => f (Equiv.finBlocks n k h (i, j)) := by
  rw [← fsum_equiv (Equiv.finBlocks n k h), fsum_prod]

theorem fdot_eq_fsum (f g : ι → R) : fdot f g = fsum fun i => f i * g i := by
  show sumL (List.map _ (List.map _ _)) = _
  rw [List.map_map]; rfl

end laws
end MaskPool
