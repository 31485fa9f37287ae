module

public import MaskPool.Finite.Reduce

/-!
# Sums of integers

What is needed to see that a count of instances is zero exactly if there are none.
-/

@[expose] public noncomputable section

namespace MaskPool

variable {ι : Type} [Enum ι]

theorem isum_zero : isum (fun _ : ι => 0) = 0 := by
  unfold isum
  induction (Enum.elems : List ι) with
  | nil => rfl
  | cons a l ih => rw [List.map_cons, List.sum_cons, ih]; rfl

theorem isum_unit (f : Unit → Int) : isum f = f () := Int.add_zero _

theorem isum_fin_one (f : Fin 1 → Int) : isum f = f 0 := Int.add_zero _

theorem sum_append_int (l m : List Int) : (l ++ m).sum = l.sum + m.sum := by
  induction l with
  | nil => exact (Int.zero_add _).symm
  | cons a l ih => rw [List.cons_append, List.sum_cons, List.sum_cons, ih, Int.add_assoc]

theorem isum_prod {κ : Type} [Enum κ] (f : ι × κ → Int) : isum f = isum fun i => isum fun k => f (i, k) := by
  show (List.map f (Enum.elems.flatMap _)).sum = (List.map _ Enum.elems).sum
  generalize (Enum.elems : List ι) = l
  induction l with
  | nil => rfl
  | cons a l ih =>
    rw [List.flatMap_cons, List.map_append, sum_append_int, ih, List.map_map, List.map_cons, List.sum_cons]
    rfl

theorem isum_select_pos {p : ι → Prop} [d : ∀ i, Decidable (p i)] {f : ι → Int} (hp : ∃ i, p i)
    (hf : ∀ i, p i → 0 < f i) : 0 < isum fun i => @ite _ (p i) (d i) (f i) 0 := by
  obtain ⟨i, hi⟩ := hp
  have h := Enum.complete i
  have hg k : 0 ≤ @ite _ (p k) (d k) (f k) 0 := by
    split
    · exact Int.le_of_lt (hf k ‹_›)
    · exact Int.le_refl 0
  unfold isum
  generalize (Enum.elems : List ι) = l at h
  have hs (l : List ι) : 0 ≤ (l.map fun i => @ite _ (p i) (d i) (f i) 0).sum := by
    induction l with
    | nil => exact Int.le_refl 0
    | cons a l ih => rw [List.map_cons, List.sum_cons]; exact Int.add_nonneg (hg a) ih
  induction h with
  | head l =>
    rw [List.map_cons, List.sum_cons, if_pos hi]
    exact Int.add_pos_of_pos_of_nonneg (hf i hi) (hs l)
  | tail a _ ih => rw [List.map_cons, List.sum_cons]; exact Int.add_pos_of_nonneg_of_pos (hg a) ih
/-! ## Comparisons of positive integers -/

section

variable {x : Int}

theorem int_ne_zero_of_pos (h : 0 < x) : x ≠ 0 := by omega

theorem int_not_lt_one_of_pos (h : 0 < x) : ¬ x < 1 := by omega

theorem int_not_lt_zero_of_pos (h : 0 < x) : ¬ x < 0 := by omega

theorem int_le_iff (x y : Int) : x ≤ y ↔ ¬ y < x := Int.not_lt.symm

end

/-! ## The first rows -/

section

variable {n : Nat} {x : Int}

theorem pos_of_first_row (h : ∃ i : Fin n, (i.val : Int) < x) : 0 < x :=
  h.elim fun i hi => Int.lt_of_le_of_lt (Int.natCast_nonneg i.val) hi

theorem not_pos_of_no_row (h : ∀ i : Fin n, ¬ (i.val : Int) < x) (hn : 0 < n) : ¬ 0 < x := h ⟨0, hn⟩

end

end MaskPool
