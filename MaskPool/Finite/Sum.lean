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

theorem fany_false : fany (fun _ : ι => false) = false := by simp [fany]

theorem fany_eq_true {p : ι → Bool} (h : ∃ i, p i = true) : fany p = true :=
  List.any_eq_true.2 (h.elim fun i hi => ⟨i, Enum.complete i, hi⟩)

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

/-- A sum over pairs is a double sum. -/
theorem fsum_prod (f : ι × κ → R) : fsum f = fsum (fun i => fsum fun k => f (i, k)) := by
  show sumL (List.map f (Enum.elems.flatMap _)) = sumL (List.map _ Enum.elems)
  generalize (Enum.elems : List ι) = l
  induction l with
  | nil => rfl
  | cons a l ih => rw [List.flatMap_cons, List.map_append, sumL_append, ih, List.map_map]; rfl

theorem fdot_eq_fsum (f g : ι → R) : fdot f g = fsum fun i => f i * g i := by
  show sumL (List.map _ (List.map _ _)) = _
  rw [List.map_map]; rfl

end laws
end MaskPool
