module

public import MaskPool.Jaxpr.Eval

/-!
# Two bags with rows in common

The theorems about invariance compare two runs of one program, on bags that have rows in common: the same rows
in another order, or the same rows among further ones. Rows are recognized by their size: every axis whose
size is the variable number `r` is an axis of rows. An `Overlap` says which rows the two runs have in common.
It determines which indices of their tensors correspond (`Match`), and which have no partner (`Alone`).
-/

@[expose] public noncomputable section

namespace MaskPool

namespace Dim

/-- The size does not depend on the variable number `r`. -/
def free (r : Nat) : Dim → Bool
  | lit _ => true
  | var i => i != r
  | add a b | mul a b | sub a b | div a b | mod a b | max a b | min a b => a.free r && b.free r

/-- The size is the variable number `r`: the axis is an axis of rows. -/
def isRows (r : Nat) : Dim → Bool
  | var i => i == r
  | _ => false

/-- Either an axis of rows, or of a size that the rows have no part in. -/
def regular (r : Nat) (d : Dim) : Bool := d.isRows r || d.free r

theorem isRows_iff {r : Nat} {d : Dim} : d.isRows r = true ↔ d = var r := by
  cases d <;> simp [isRows]

theorem isRows_of_free {r : Nat} {d : Dim} (h : d.free r = true) : d.isRows r = false := by
  cases d <;> simp_all [isRows, free]

theorem eval_of_free {r : Nat} {ν ν' : Nat → Nat} (same : ∀ i, i ≠ r → ν i = ν' i) {d : Dim}
    (h : d.free r = true) : d.eval ν = d.eval ν' := by
  induction d with
  | lit n => rfl
  | var i => exact same i (by simpa [free] using h)
  | add a b iha ihb | mul a b iha ihb | sub a b iha ihb | div a b iha ihb | mod a b iha ihb
  | max a b iha ihb | min a b iha ihb =>
    simp only [free, Bool.and_eq_true] at h
    simp only [eval, iha h.1, ihb h.2]

end Dim

/-- The rows of two bags, of `ν r` and of `ν' r` rows: those in common, and those of one bag alone. All other
sizes agree. -/
structure Overlap (r : Nat) (ν ν' : Nat → Nat) where
  /-- The rows in common. -/
  Common : Type
  /-- The rows of the first bag alone. -/
  Left : Type
  /-- The rows of the second bag alone. -/
  Right : Type
  [enumCommon : Enum Common]
  [enumLeft : Enum Left]
  [enumRight : Enum Right]
  left : Common ⊕ Left ≃ Fin (ν r)
  right : Common ⊕ Right ≃ Fin (ν' r)
  same : ∀ i, i ≠ r → ν i = ν' i

attribute [instance] Overlap.enumCommon Overlap.enumLeft Overlap.enumRight

namespace Overlap

variable {r : Nat} {ν ν' : Nat → Nat} (W : Overlap r ν ν')

/-- The two bags the other way round. -/
def symm : Overlap r ν' ν where
  Common := W.Common
  Left := W.Right
  Right := W.Left
  left := W.right
  right := W.left
  same i hi := (W.same i hi).symm

/-- The row number `x` of the first bag is the row number `x'` of the second. -/
def Pair (x x' : Nat) : Prop := ∃ c : W.Common, (W.left (.inl c)).1 = x ∧ (W.right (.inl c)).1 = x'

/-- The row number `x` belongs to the first bag alone. -/
def Alone (x : Nat) : Prop := ∃ z : W.Left, (W.left (.inr z)).1 = x

/-- Corresponding coordinates along an axis of size `d`. -/
def MatchAt (d : Dim) (x x' : Nat) : Prop := if d.isRows r = true then W.Pair x x' else x = x'

/-- Corresponding indices: along axes of rows their coordinates are the same row, along other axes they are
equal. -/
def Match (s : List Dim) (j : IndexAt ν s) (j' : IndexAt ν' s) : Prop :=
  ∀ q d, s[q]? = some d → W.MatchAt d (j.position q) (j'.position q)

/-- The axis `q` is one of rows, and the row that `j` has there belongs to the first bag alone. -/
def AloneAt (s : List Dim) (q : Nat) (j : IndexAt ν s) : Prop :=
  ∃ d, s[q]? = some d ∧ d.isRows r = true ∧ W.Alone (j.position q)

variable {W}

theorem MatchAt.symm {d : Dim} {x x' : Nat} (h : W.MatchAt d x x') : W.symm.MatchAt d x' x := by
  by_cases hd : d.isRows r = true
  · simp only [MatchAt, hd, if_true] at h ⊢
    obtain ⟨c, hx, hx'⟩ := h
    exact ⟨c, hx', hx⟩
  · simp only [MatchAt, hd] at h ⊢
    exact Eq.symm h

theorem Match.symm {s : List Dim} {j : IndexAt ν s} {j' : IndexAt ν' s} (h : W.Match s j j') :
    W.symm.Match s j' j := fun q d hq => (h q d hq).symm

theorem matchAt_free {d : Dim} (hd : d.free r = true) {x x' : Nat} : W.MatchAt d x x' ↔ x = x' := by
  simp [MatchAt, Dim.isRows_of_free hd]

theorem matchAt_rows {d : Dim} (hd : d.isRows r = true) {x x' : Nat} : W.MatchAt d x x' ↔ W.Pair x x' := by
  simp [MatchAt, hd]

theorem match_nil {j : IndexAt ν []} {j' : IndexAt ν' []} : W.Match [] j j' := fun q d hq => by simp at hq

theorem match_cons {d : Dim} {s : List Dim} {j : IndexAt ν (d :: s)} {j' : IndexAt ν' (d :: s)} :
    W.Match (d :: s) j j' ↔ W.MatchAt d j.1.1 j'.1.1 ∧ W.Match s j.2 j'.2 := by
  constructor
  · intro h
    exact ⟨h 0 d rfl, fun q u hq => h (q + 1) u (by simpa using hq)⟩
  · rintro ⟨h0, h1⟩ q u hq
    cases q with
    | zero => simp at hq; subst hq; exact h0
    | succ q => exact h1 q u (by simpa using hq)

theorem aloneAt_cons {d : Dim} {s : List Dim} {q : Nat} {j : IndexAt ν (d :: s)} (h : W.AloneAt s q j.2) :
    W.AloneAt (d :: s) (q + 1) j := by
  obtain ⟨u, hq, hu, ho⟩ := h
  exact ⟨u, by simpa using hq, hu, ho⟩

theorem not_aloneAt_free {s : List Dim} (hs : s.all (Dim.free r) = true) {q : Nat} {j : IndexAt ν s} :
    ¬ W.AloneAt s q j := by
  rintro ⟨d, hq, hd, _⟩
  rw [Dim.isRows_of_free (List.all_eq_true.1 hs d (List.mem_of_getElem? hq))] at hd
  contradiction

/-! ### Views -/

theorem position_axis {ν : Nat → Nat} {t : List Dim} {n : Dim} {k : Nat}
    (h : t[k]? = some n) (j : IndexAt ν t) :
    (IndexAt.axis k h j).1 = j.position k := by
  induction t generalizing k with
  | nil => simp at h
  | cons m t ih =>
    cases k with
    | zero => rfl
    | succ k => exact ih (by simpa using h) j.2

theorem match_source {s t : List Dim} (v : View s t) {j : IndexAt ν t} {j' : IndexAt ν' t}
    (h : W.Match t j j') : W.Match s (v.source j) (v.source j') := by
  induction v with
  | nil => exact match_nil
  | axis k hk v ih =>
    refine match_cons.2 ⟨?_, ih h⟩
    show W.MatchAt _ (IndexAt.axis k hk j).1 (IndexAt.axis k hk j').1
    rw [position_axis, position_axis]; exact h k _ hk
  | one v ih => exact match_cons.2 ⟨(matchAt_free rfl).2 rfl, ih h⟩

end Overlap

/-- The first axis of the source that follows the axis `q` of the target. -/
def View.follower : {s t : List Dim} → View s t → (q : Nat) → Option Nat
  | _, _, .nil, _ => none
  | _, _, .axis k _ v, q => if k = q then some 0 else (v.follower q).map (· + 1)
  | _, _, .one v, q => (v.follower q).map (· + 1)

namespace Overlap

variable {r : Nat} {ν ν' : Nat → Nat} {W : Overlap r ν ν'}

theorem aloneAt_source {s t : List Dim} (v : View s t) {j : IndexAt ν t} {q p : Nat} (ho : W.AloneAt t q j)
    (hv : v.follower q = some p) : W.AloneAt s p (v.source j) := by
  induction v generalizing p with
  | nil => simp [View.follower] at hv
  | axis k hk v ih =>
    simp only [View.follower] at hv
    split at hv
    · rename_i h; subst h
      injection hv with hv; subst hv
      obtain ⟨d, hq, hd, ho⟩ := ho
      cases Option.some.inj (hq.symm.trans hk)
      exact ⟨_, rfl, hd, by show W.Alone (IndexAt.axis _ hk j).1; rw [position_axis]; exact ho⟩
    · simp only [Option.map_eq_some_iff] at hv
      obtain ⟨p', hp, rfl⟩ := hv
      exact aloneAt_cons (ih ho hp)
  | one v ih =>
    simp only [View.follower, Option.map_eq_some_iff] at hv
    obtain ⟨p', hp, rfl⟩ := hv
    exact aloneAt_cons (ih ho hp)

/-! ### Reduced axes before the others -/

theorem match_append {c t : List Dim} {k : IndexAt ν c} {k' : IndexAt ν' c} {j : IndexAt ν t}
    {j' : IndexAt ν' t} (hk : W.Match c k k') (hj : W.Match t j j') :
    W.Match (c ++ t) (IndexAt.append k j) (IndexAt.append k' j') := by
  induction c with
  | nil => exact hj
  | cons d c ih => exact match_cons.2 ⟨(match_cons.1 hk).1, ih (match_cons.1 hk).2⟩

theorem position_append_left {ν : Nat → Nat} {c t : List Dim} (k : IndexAt ν c) (j : IndexAt ν t) {q : Nat}
    (hq : q < c.length) : (IndexAt.append k j).position q = k.position q := by
  induction c generalizing q with
  | nil => simp at hq
  | cons d c ih =>
    cases q with
    | zero => rfl
    | succ q => exact ih k.2 (by simpa using hq)

theorem position_append_right {ν : Nat → Nat} {c t : List Dim} (k : IndexAt ν c) (j : IndexAt ν t) {q : Nat} :
    (IndexAt.append k j).position (c.length + q) = j.position q := by
  induction c with
  | nil => simp [IndexAt.append]
  | cons d c ih =>
    have h : (d :: c).length + q = (c.length + q) + 1 := by simp; omega
    rw [h]; exact ih k.2

theorem aloneAt_append_left {c t : List Dim} {q : Nat} {k : IndexAt ν c} (j : IndexAt ν t)
    (h : W.AloneAt c q k) : W.AloneAt (c ++ t) q (IndexAt.append k j) := by
  obtain ⟨d, hq, hd, ho⟩ := h
  have hlt := (List.getElem?_eq_some_iff.1 hq).1
  exact ⟨d, by rw [List.getElem?_append_left hlt]; exact hq, hd,
    by rw [position_append_left _ _ hlt]; exact ho⟩

theorem aloneAt_append_right {c t : List Dim} {q : Nat} (k : IndexAt ν c) {j : IndexAt ν t}
    (h : W.AloneAt t q j) : W.AloneAt (c ++ t) (c.length + q) (IndexAt.append k j) := by
  obtain ⟨d, hq, hd, ho⟩ := h
  exact ⟨d, by rw [List.getElem?_append_right (by omega)]; simpa using hq, hd,
    by rw [position_append_right]; exact ho⟩

/-! ### Partners -/

theorem exists_match (s : List Dim) (hs : s.all (Dim.regular r) = true) (j : IndexAt ν s) :
    (∃ j' : IndexAt ν' s, W.Match s j j') ∨ ∃ q, W.AloneAt s q j := by
  induction s with
  | nil => exact .inl ⟨(), match_nil⟩
  | cons d s ih =>
    simp only [List.all_cons, Bool.and_eq_true, Dim.regular, Bool.or_eq_true] at hs
    rcases ih hs.2 j.2 with ⟨j', hj⟩ | ⟨q, ho⟩
    · rcases hs.1 with hd | hd
      · have h := Dim.isRows_iff.1 hd; subst h
        have hi := W.left.right_inv j.1
        cases hc : W.left.inv j.1 with
        | inl c =>
          rw [hc] at hi
          exact .inl ⟨(W.right (.inl c), j'), match_cons.2
              ⟨(matchAt_rows hd).2 ⟨c, congrArg Fin.val hi, rfl⟩, hj⟩⟩
        | inr z =>
          rw [hc] at hi
          exact .inr ⟨0, .var r, rfl, hd, z, congrArg Fin.val hi⟩
      · exact .inl ⟨(Fin.cast (Dim.eval_of_free W.same hd) j.1, j'),
          match_cons.2 ⟨(matchAt_free hd).2 rfl, hj⟩⟩
    · exact .inr ⟨q + 1, aloneAt_cons ho⟩

end Overlap

end MaskPool
