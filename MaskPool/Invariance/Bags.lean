module

public import MaskPool.Invariance.Sound

/-!
# The bags that the laws compare

A bag whose rows stand at given places of another one, and two bags of the same size that have some rows in
common.
-/

@[expose] public noncomputable section

namespace MaskPool

open Overlap

/-! ### Indices in the other bag -/

section

variable {r : Nat} {ν ν' : Nat → Nat}

/-- The rows that an index has along the axes of rows. -/
def rowsOf (r : Nat) : (s : List Dim) → IndexAt ν s → List (Fin (ν r))
  | [], _ => []
  | d :: s, (i, j) =>
    if h : d.isRows r = true then
      Fin.cast (congrArg (Dim.eval ν) (Dim.isRows_iff.1 h)) i :: rowsOf r s j
    else rowsOf r s j

/-- The coordinate along an axis, where rows are moved by `f`. -/
def Dim.move (f : Fin (ν r) → Fin (ν' r)) (same : ∀ i, i ≠ r → ν i = ν' i) (d : Dim)
    (h : d.regular r = true) (i : Fin (d.eval ν)) : Fin (d.eval ν') :=
  if hr : d.isRows r = true then
    Fin.cast (congrArg (Dim.eval ν') (Dim.isRows_iff.1 hr)).symm
      (f (Fin.cast (congrArg (Dim.eval ν) (Dim.isRows_iff.1 hr)) i))
  else Fin.cast (Dim.eval_of_free same (by simpa [Dim.regular, hr] using h)) i

/-- The index whose rows are moved by `f`. -/
def IndexAt.move (f : Fin (ν r) → Fin (ν' r)) (same : ∀ i, i ≠ r → ν i = ν' i) :
    (s : List Dim) → s.all (Dim.regular r) = true → IndexAt ν s → IndexAt ν' s
  | [], _, _ => ()
  | d :: s, h, (i, j) =>
    (d.move f same (Bool.and_eq_true_iff.1 h).1 i, IndexAt.move f same s (Bool.and_eq_true_iff.1 h).2 j)

/-- The same index, where there are no rows. -/
def IndexAt.retype (same : ∀ i, i ≠ r → ν i = ν' i) :
    (s : List Dim) → s.all (Dim.free r) = true → IndexAt ν s → IndexAt ν' s
  | [], _, _ => ()
  | _ :: s, h, (i, j) =>
    (Fin.cast (Dim.eval_of_free same (Bool.and_eq_true_iff.1 h).1) i,
      IndexAt.retype same s (Bool.and_eq_true_iff.1 h).2 j)

/-- The rows of the first bag stand at the places `place` of the second; the others are new. -/
def Overlap.placed {k : Nat} (place : Fin (ν r) ⊕ Fin k ≃ Fin (ν' r)) (same : ∀ i, i ≠ r → ν i = ν' i) :
    Overlap r ν ν' where
  Common := Fin (ν r)
  Left := Fin 0
  Right := Fin k
  left := .sumEmpty fun z => z.elim0
  right := place
  same := same

namespace Overlap

variable {k : Nat} {place : Fin (ν r) ⊕ Fin k ≃ Fin (ν' r)} {same : ∀ i, i ≠ r → ν i = ν' i}

theorem pair_unique {W : Overlap r ν ν'} {x y y' : Nat} (h : W.Pair x y) (h' : W.Pair x y') : y = y' := by
  obtain ⟨c, hx, rfl⟩ := h
  obtain ⟨c', hx', rfl⟩ := h'
  cases W.left.injective (Fin.ext (hx.trans hx'.symm))
  rfl

theorem match_move (W : Overlap r ν ν') {f : Fin (ν r) → Fin (ν' r)} (hf : ∀ i, W.Pair i.1 (f i).1)
    {s : List Dim}
    (h : s.all (Dim.regular r) = true) (j : IndexAt ν s) : W.Match s j (j.move f W.same s h) := by
  induction s with
  | nil => exact match_nil
  | cons d s ih =>
    refine match_cons.2 ⟨?_, ih _ j.2⟩
    show W.MatchAt d j.1.1 (d.move f W.same (Bool.and_eq_true_iff.1 h).1 j.1).1
    unfold Dim.move
    split
    · rename_i hd
      exact (matchAt_rows hd).2 (hf (Fin.cast (congrArg (Dim.eval ν) (Dim.isRows_iff.1 hd)) j.1))
    · rename_i hd; simp [MatchAt, hd]

theorem move_unique {W : Overlap r ν ν'} {f : Fin (ν r) → Fin (ν' r)} (hf : ∀ i, W.Pair i.1 (f i).1)
    {s : List Dim} (h : s.all (Dim.regular r) = true) {j : IndexAt ν s} {j' : IndexAt ν' s}
    (hj : W.Match s j j') : j' = j.move f W.same s h := by
  refine index_ext fun q d hq => ?_
  have h1 := hj q d hq
  have h2 := match_move W hf h j q d hq
  by_cases hd : d.isRows r = true
  · exact pair_unique ((matchAt_rows hd).1 h1) ((matchAt_rows hd).1 h2)
  · simp only [MatchAt, hd] at h1 h2
    exact h1.symm.trans h2

theorem placed_pair (i : Fin (ν r)) : (placed place same).Pair i.1 (place (.inl i)).1 := ⟨i, rfl, rfl⟩

theorem match_retype (W : Overlap r ν ν') {s : List Dim} (h : s.all (Dim.free r) = true) (j : IndexAt ν s) :
    W.Match s j (j.retype W.same s h) := by
  induction s with
  | nil => exact match_nil
  | cons d s ih =>
    exact match_cons.2 ⟨(matchAt_free (Bool.and_eq_true_iff.1 h).1).2 rfl, ih _ j.2⟩

theorem match_free {W : Overlap r ν ν} {s : List Dim} (h : s.all (Dim.free r) = true) (j : IndexAt ν s) :
    W.Match s j j := fun _ d hq =>
  (matchAt_free (List.all_eq_true.1 h d (List.mem_of_getElem? hq))).2 rfl

theorem placed_not_alone {s : List Dim} {q : Nat} {j : IndexAt ν s} :
    ¬ (placed place same).AloneAt s q j := by
  rintro ⟨_, _, _, z, _⟩; exact Fin.elim0 z

theorem mem_rowsOf {s : List Dim} {q : Nat} {j : IndexAt ν s} {d : Dim} (hq : s[q]? = some d)
    (hd : d.isRows r = true) : ∃ i ∈ rowsOf r s j, i.1 = j.position q := by
  induction s generalizing q with
  | nil => simp at hq
  | cons u s ih =>
    unfold rowsOf
    cases q with
    | zero =>
      simp at hq; subst hq
      rw [dif_pos hd]
      exact ⟨_, .head _, rfl⟩
    | succ q =>
      obtain ⟨i, hi, he⟩ := ih (j := j.2) (q := q) (by simpa using hq)
      split
      · exact ⟨i, .tail _ hi, he⟩
      · exact ⟨i, hi, he⟩

end Overlap

end

/-! ### Bags of the same size -/

section

variable {r : Nat} {ν : Nat → Nat}

/-- The elements with a property. -/
instance Enum.instSubtype {ι : Type} [Enum ι] (p : ι → Prop) [DecidablePred p] : Enum {i // p i} where
  elems := Enum.elems.filterMap fun i => if h : p i then some ⟨i, h⟩ else none
  nodup := by
    refine List.pairwise_filterMap.2 (List.Pairwise.imp (fun hab a ha b hb hne => hab ?_) Enum.nodup)
    split at ha <;> split at hb <;> cases ha <;> cases hb
    exact congrArg Subtype.val hne
  complete := fun ⟨i, h⟩ => List.mem_filterMap.2 ⟨i, Enum.complete i, by rw [dif_pos h]⟩

/-- Two bags of the same size, which have the rows in common where `live` is true. -/
def Overlap.ofLive (live : Fin (ν r) → Bool) : Overlap r ν ν :=
  let rows : {i // live i = true} ⊕ {i // live i = false} ≃ Fin (ν r) :=
    { toFun := fun | .inl i => i.1 | .inr i => i.1
      inv := fun i => if h : live i = true then .inl ⟨i, h⟩ else .inr ⟨i, Bool.eq_false_iff.2 h⟩
      left_inv := by
        rintro (⟨i, h⟩ | ⟨i, h⟩)
        · exact dif_pos h
        · exact dif_neg (Bool.eq_false_iff.1 h)
      right_inv := fun i => by by_cases h : live i = true <;> simp [h] }
  { Common := {i // live i = true}
    Left := {i // live i = false}
    Right := {i // live i = false}
    left := rows
    right := rows
    same := fun _ _ => rfl }

namespace Overlap

variable {live : Fin (ν r) → Bool}

theorem ofLive_aligned : (ofLive live).Aligned where
  sizes := rfl
  pair := by rintro _ _ ⟨c, rfl, rfl⟩; rfl
  alone _ h := h

theorem exists_axis {s : List Dim} {j : IndexAt ν s} {i : Fin (ν r)} (hi : i ∈ rowsOf r s j) :
    ∃ q d, s[q]? = some d ∧ d.isRows r = true ∧ j.position q = i.1 := by
  induction s with
  | nil => cases hi
  | cons d s ih =>
    unfold rowsOf at hi
    have tail (hi : i ∈ rowsOf r s j.2) :
        ∃ q u, (d :: s)[q]? = some u ∧ u.isRows r = true ∧ j.position q = i.1 := by
      obtain ⟨q, u, hq, hu, he⟩ := ih hi
      exact ⟨q + 1, u, by simpa using hq, hu, he⟩
    split at hi
    · rename_i hd
      cases hi with
      | head => exact ⟨0, d, rfl, hd, rfl⟩
      | tail _ hi => exact tail hi
    · exact tail hi

theorem ofLive_match {s : List Dim} {j j' : IndexAt ν s} (hj : (ofLive live).Match s j j') :
    j = j' ∧ ∀ i ∈ rowsOf r s j, live i = true := by
  refine ⟨ofLive_aligned.eq hj, fun i hi => ?_⟩
  obtain ⟨q, d, hq, hd, he⟩ := exists_axis hi
  obtain ⟨c, hc, _⟩ := (matchAt_rows hd).1 (hj q d hq)
  rw [← show c.1 = i from Fin.ext (hc.trans he)]
  exact c.2

theorem ofLive_alone {s : List Dim} {q : Nat} {j : IndexAt ν s} (hj : (ofLive live).AloneAt s q j) :
    ∃ i ∈ rowsOf r s j, live i = false := by
  obtain ⟨d, hq, hd, z, hz⟩ := hj
  obtain ⟨i, hi, he⟩ := mem_rowsOf hq hd
  exact ⟨i, hi, by rw [← show z.1 = i from Fin.ext (hz.trans he.symm)]; exact z.2⟩

end Overlap

end

end MaskPool
