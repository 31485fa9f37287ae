module

public import MaskPool.Invariance.Label
public import MaskPool.Tensor.Reading

/-!
# Readings of two bags

A slice, a reversal, a concatenation, and a reshape that merges or splits axes read the two bags alike if they
leave the axes of rows alone: these are followed, and positions are computed from other coordinates.
-/

@[expose] public noncomputable section

namespace MaskPool

/-- The position does not depend on rows: neither on their number nor on their coordinates. -/
def Position.free (r : Nat) (t : List Dim) : Position → Bool
  | coord k => t[k]?.all fun d => !d.isRows r
  | size n => n.free r
  | add p q | sub p q | mul p q | div p q | mod p q => p.free r t && q.free r t

/-- A literal position below a literal size. -/
def Position.isLess : Position → Dim → Bool
  | size (.lit k), .lit n => decide (k < n)
  | _, _ => false

theorem Position.eval_isLess {ν : Nat → Nat} {t : List Dim} {p : Position} {n : Dim} (h : p.isLess n = true)
    (j : IndexAt ν t) : p.eval j < n.eval ν := by
  unfold isLess at h
  split at h
  · exact of_decide_eq_true h
  · contradiction

namespace Reading

/-- The axes of rows are followed, and positions do not depend on rows. -/
def keepsRows (r : Nat) : {s t : List Dim} → Reading s t → Bool
  | _, _, nil => true
  | _, _, axis _ _ v => v.keepsRows r
  | n :: _, t, .at p v => n.free r && p.free r t && v.keepsRows r

/-- No entry is read outside, because positions are literals below literal sizes. -/
def inside : {s t : List Dim} → Reading s t → Bool
  | _, _, nil => true
  | _, _, axis _ _ v => v.inside
  | n :: _, _, .at p v => p.isLess n && v.inside

/-- The first axis of the source that follows the axis `q` of the target. -/
def follower : {s t : List Dim} → Reading s t → (q : Nat) → Option Nat
  | _, _, nil, _ => none
  | _, _, axis k _ v, q => if k = q then some 0 else (v.follower q).map (· + 1)
  | _, _, .at _ v, q => (v.follower q).map (· + 1)

/-- The index that is read, unless it is outside. -/
def index? {ν : Nat → Nat} : {s t : List Dim} → Reading s t → IndexAt ν t → Option (IndexAt ν s)
  | _, _, nil, _ => some ()
  | _, _, axis k h v, j => (v.index? j).map fun i => (j.axis k h, i)
  | n :: _, _, .at p v, j =>
    if h : p.eval j < n.eval ν then (v.index? j).map fun i => (⟨p.eval j, h⟩, i) else none

theorem read_eq {ν : Nat → Nat} {β : Type} {s t : List Dim} (v : Reading s t) (x : IndexAt ν s → β)
    (j : IndexAt ν t) (z : β) : v.read x j z = ((v.index? j).map x).getD z := by
  induction v with
  | nil => rfl
  | axis k h v ih =>
    rw [read, ih, index?]
    cases v.index? j <;> rfl
  | «at» p v ih =>
    rw [read, index?]
    split
    · rw [ih]; cases v.index? j <;> rfl
    · rfl

theorem index?_inside {ν : Nat → Nat} {s t : List Dim} {v : Reading s t} (h : v.inside = true)
    (j : IndexAt ν t) : ∃ i, v.index? j = some i := by
  induction v with
  | nil => exact ⟨(), rfl⟩
  | axis k hk v ih =>
    obtain ⟨i, hi⟩ := ih h j
    exact ⟨_, by rw [index?, hi]; rfl⟩
  | «at» p v ih =>
    have h := Bool.and_eq_true_iff.1 h
    obtain ⟨i, hi⟩ := ih h.2 j
    exact ⟨_, by rw [index?, dif_pos (p.eval_isLess h.1 j), hi]; rfl⟩

end Reading

namespace Overlap

variable {r : Nat} {ν ν' : Nat → Nat} {W : Overlap r ν ν'}

theorem position_eq {s : List Dim} {k : Nat} (h : (s[k]?.all fun d => !d.isRows r) = true) {j : IndexAt ν s}
    {j' : IndexAt ν' s} (hj : W.Match s j j') : j.position k = j'.position k := by
  cases hs : s[k]? with
  | some d =>
    have hd : ¬ d.isRows r = true := by simpa [hs] using h
    simpa [MatchAt, hd] using hj k d hs
  | none =>
    have out {ν : Nat → Nat} {s : List Dim} {k : Nat} (j : IndexAt ν s) (h : s[k]? = none) :
        j.position k = 0 := by
      induction s generalizing k with
      | nil => rfl
      | cons d s ih =>
        cases k with
        | zero => simp at h
        | succ k => exact ih j.2 (by simpa using h)
    rw [out j hs, out j' hs]

theorem eval_position {t : List Dim} {p : Position} (h : p.free r t = true) {j : IndexAt ν t}
    {j' : IndexAt ν' t} (hj : W.Match t j j') : p.eval j = p.eval j' := by
  induction p with
  | coord k => exact position_eq h hj
  | size n => exact Dim.eval_of_free W.same h
  | add p q ihp ihq | sub p q ihp ihq | mul p q ihp ihq | div p q ihp ihq | mod p q ihp ihq =>
    have h := Bool.and_eq_true_iff.1 h
    simp only [Position.eval, ihp h.1, ihq h.2]

theorem match_index? {s t : List Dim} {v : Reading s t} (h : v.keepsRows r = true) {j : IndexAt ν t}
    {j' : IndexAt ν' t} (hj : W.Match t j j') :
    (v.index? j = none ∧ v.index? j' = none) ∨
      ∃ i i', v.index? j = some i ∧ v.index? j' = some i' ∧ W.Match s i i' := by
  induction v with
  | nil => exact .inr ⟨(), (), rfl, rfl, match_nil⟩
  | axis k hk v ih =>
    rcases ih h hj with ⟨h1, h2⟩ | ⟨i, i', h1, h2, hi⟩
    · exact .inl ⟨by rw [Reading.index?, h1]; rfl, by rw [Reading.index?, h2]; rfl⟩
    · refine .inr ⟨_, _, by rw [Reading.index?, h1]; rfl, by rw [Reading.index?, h2]; rfl, ?_⟩
      refine match_cons.2 ⟨?_, hi⟩
      show W.MatchAt _ (IndexAt.axis k hk j).1 (IndexAt.axis k hk j').1
      rw [position_axis, position_axis]; exact hj k _ hk
  | @«at» n s t p v ih =>
    simp only [Reading.keepsRows, Bool.and_eq_true] at h
    have hp := eval_position h.1.2 hj
    have hn := Dim.eval_of_free W.same h.1.1
    by_cases hlt : p.eval j < n.eval ν
    · have hlt' : p.eval j' < n.eval ν' := by rw [← hp, ← hn]; exact hlt
      rcases ih h.2 hj with ⟨h1, h2⟩ | ⟨i, i', h1, h2, hi⟩
      · exact .inl ⟨by rw [Reading.index?, dif_pos hlt, h1]; rfl,
          by rw [Reading.index?, dif_pos hlt', h2]; rfl⟩
      · exact .inr ⟨_, _, by rw [Reading.index?, dif_pos hlt, h1]; rfl,
          by rw [Reading.index?, dif_pos hlt', h2]; rfl, match_cons.2 ⟨(matchAt_free h.1.1).2 hp, hi⟩⟩
    · have hlt' : ¬ p.eval j' < n.eval ν' := by rw [← hp, ← hn]; exact hlt
      exact .inl ⟨by rw [Reading.index?, dif_neg hlt], by rw [Reading.index?, dif_neg hlt']⟩

theorem aloneAt_index? {s t : List Dim} {v : Reading s t} {j : IndexAt ν t} {q p : Nat}
    (ho : W.AloneAt t q j) (hv : v.follower q = some p) {i : IndexAt ν s} (hi : v.index? j = some i) :
    W.AloneAt s p i := by
  induction v generalizing p with
  | nil => simp [Reading.follower] at hv
  | axis k hk v ih =>
    simp only [Reading.index?, Option.map_eq_some_iff] at hi
    obtain ⟨i, hi, rfl⟩ := hi
    simp only [Reading.follower] at hv
    split at hv
    · rename_i h; subst h
      injection hv with hv; subst hv
      obtain ⟨d, hq, hd, ho⟩ := ho
      cases Option.some.inj (hq.symm.trans hk)
      exact ⟨_, rfl, hd, by show W.Alone (IndexAt.axis _ hk j).1; rw [position_axis]; exact ho⟩
    · simp only [Option.map_eq_some_iff] at hv
      obtain ⟨p', hp, rfl⟩ := hv
      exact aloneAt_cons (ih ho hp hi)
  | «at» p v ih =>
    simp only [Reading.index?] at hi
    split at hi
    · simp only [Option.map_eq_some_iff] at hi
      obtain ⟨i, hi, rfl⟩ := hi
      simp only [Reading.follower, Option.map_eq_some_iff] at hv
      obtain ⟨p', hp, rfl⟩ := hv
      exact aloneAt_cons (ih ho hp hi)
    · contradiction

end Overlap

end MaskPool
