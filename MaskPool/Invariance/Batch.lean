module

public import MaskPool.Invariance.Laws

/-!
# Masks with further axes

A mask may have axes of batches or heads beside the rows: then every element of the batch has rows of its own
that do not matter. A kernel that treats the elements of the batch alike and apart (`Kernel.separates`) has at
each of them the result that it has for this element alone, where the mask is one of rows.
-/

@[expose] public noncomputable section

namespace MaskPool

open RealArith Overlap

variable {R : Type} [RealArith R] {α : Type} [Ops α] {r v : Nat} {ν : Nat → Nat}

/-- The valuation in which the variable number `v` is one. -/
def oneAt (v : Nat) (ν : Nat → Nat) (i : Nat) : Nat := if i = v then 1 else ν i

theorem oneAt_same {i : Nat} (h : i ≠ v) : oneAt v ν i = ν i := if_neg h

/-- The element number `i` of a batch of `ν v` elements. -/
def Overlap.element (i : Fin (ν v)) : Overlap v (oneAt v ν) ν where
  Common := Unit
  Left := Fin 0
  Right := {x : Fin (ν v) // x ≠ i}
  left := (Equiv.sumEmpty fun z => z.elim0).trans
    { toFun := fun _ => ⟨0, by simp [oneAt]⟩
      inv := fun _ => ()
      left_inv := fun _ => rfl
      right_inv := fun ⟨x, hx⟩ => Fin.ext (by simp [oneAt] at hx; exact hx.symm) }
  right :=
    { toFun := fun | .inl _ => i | .inr x => x.1
      inv := fun x => if h : x = i then .inl () else .inr ⟨x, h⟩
      left_inv := by
        rintro (u | ⟨x, h⟩)
        · exact dif_pos rfl
        · exact dif_neg h
      right_inv := fun x => by by_cases h : x = i <;> simp [h] }
  same _ h := oneAt_same h

namespace Overlap

theorem element_pair (i : Fin (ν v)) (x : Fin (oneAt v ν v)) : (element i).Pair x.1 i.1 := by
  refine ⟨(), ?_, rfl⟩
  have hx : x.1 < 1 := by have := x.2; simpa [oneAt] using this
  exact (Nat.lt_one_iff.1 hx).symm

theorem element_right {i : Fin (ν v)} {x y : Nat} (h : (element i).Pair x y) : y = i.1 := by
  obtain ⟨_, _, rfl⟩ := h; rfl

end Overlap

/-- Does the kernel treat elements along the axes of size number `v` apart? -/
def Kernel.separates {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result)
    (v : Nat) : Bool :=
  regularTypes v arguments && result.shape.all (Dim.regular v) &&
    (Program.check (.padding false .any) v kernel (arguments.map fun _ => .junk).reverse).isSome

theorem Env.move_related {r : Nat} {ν ν' : Nat → Nat} {W : Overlap r ν ν'} {f : Fin (ν r) → Fin (ν' r)}
    (hf : ∀ i, W.Pair i.1 (f i).1) {Γ : List Ty} (h : regularTypes r Γ = true) (ρ : Env α ν' Γ) :
    EnvRelated W (Γ.map fun _ => .junk) (Env.move f W.same Γ h ρ) ρ := by
  induction Γ with
  | nil => trivial
  | cons t Γ ih =>
    exact ⟨.junk fun j j' hj => by rw [move_unique hf (Bool.and_eq_true_iff.1 h).1 hj], ih _ _⟩

/-- At an element of the batch, a kernel has the result that it has for this element alone. -/
theorem Kernel.run_element {arguments : List Ty} {result : Ty} {kernel : Kernel arguments result}
    (hc : kernel.separates v = true) (i : Fin (ν v)) (j : IndexAt ν result.shape)
    (hj : ∀ k, result.shape[k]? = some (.var v) → j.position k = i.1) :
    ∃ (h : regularTypes v arguments = true) (j' : IndexAt (oneAt v ν) result.shape),
      (element i).Match result.shape j' j ∧ ∀ ρ : Env α ν arguments,
        Program.run kernel ρ.reverse j =
          Program.run kernel (Env.move (fun _ => i) (fun _ h => oneAt_same h) arguments h ρ).reverse j' := by
  simp only [separates, Bool.and_eq_true] at hc
  obtain ⟨⟨ha, hr⟩, hp⟩ := hc
  obtain ⟨l, hl⟩ := Option.isSome_iff_exists.1 hp
  refine ⟨ha, ?_⟩
  rcases exists_match (W := (element i).symm) result.shape hr j with ⟨j', hm⟩ | ⟨q, d, hq, hd, z, hz⟩
  · refine ⟨j', hm.symm, fun ρ => ?_⟩
    have h := (Env.move_related (W := element i) (element_pair i) ha ρ).reverseOnto (Δ := []) (M := [])
      (σ := ()) (σ' := ()) trivial
    exact ((Program.related (law := .padding false .any) (fun h => by contradiction) trivial h hl).agree j' j hm.symm).symm
  · cases Dim.isRows_iff.1 hd
    exact absurd (Fin.ext (hz.trans (hj q hq))) z.2

/-- The coordinates of `q` along axes of the listed sizes are the listed ones. -/
def IndexAt.Fixed {ν : Nat → Nat} (fixed : List (Nat × Nat)) (s : List Dim) (q : IndexAt ν s) : Prop :=
  ∀ p ∈ fixed, ∀ k, s[k]? = some (.var p.1) → q.position k = p.2

/-- The arguments agree at the rows where `live` is true, and the mask is false at the others, for the
elements of the batch with the coordinates `fixed`. -/
def Env.AgreeAt (live : Fin (ν r) → Bool) (fixed : List (Nat × Nat)) (mask : Nat) :
    (position : Nat) → (Γ : List Ty) → Env α ν Γ → Env α ν Γ → Prop
  | _, [], _, _ => True
  | p, t :: Γ, (x, ρ), (x', ρ') =>
    (∀ q, IndexAt.Fixed fixed t.shape q → (∀ i ∈ rowsOf r t.shape q, live i = true) → x q = x' q) ∧
      (if p = mask then ∀ q, IndexAt.Fixed fixed t.shape q → ∀ i ∈ rowsOf r t.shape q, live i = false →
        t.dtype.IsFalsity (x q) ∧ t.dtype.IsFalsity (x' q) else True) ∧
      Env.AgreeAt live fixed mask (p + 1) Γ ρ ρ'

theorem Env.AgreeAt.agree {live : Fin (ν r) → Bool} {mask p : Nat} {Γ : List Ty} {ρ ρ' : Env α ν Γ}
    (h : Env.AgreeAt live [] mask p Γ ρ ρ') : Env.Agree live mask p Γ ρ ρ' := by
  have fixed {s : List Dim} {q : IndexAt ν s} : IndexAt.Fixed [] s q := fun p hp => by cases hp
  induction Γ generalizing p with
  | nil => trivial
  | cons t Γ ih =>
    refine ⟨fun q => h.1 q fixed, ?_, ih h.2.2⟩
    have hm := h.2.1
    split at hm
    · rename_i hp; rw [if_pos hp]; exact fun q => hm q fixed
    · rename_i hp; rw [if_neg hp]; trivial

section element

variable {i : Fin (ν v)} {fixed : List (Nat × Nat)} (hv : v ≠ r) (hfixed : ∀ p ∈ fixed, p.1 ≠ v)
    {s : List Dim}
  {q : IndexAt (oneAt v ν) s} {q' : IndexAt ν s} (hq : (element i).Match s q q')

include hq in
theorem position_of_match {u k : Nat} (hk : s[k]? = some (.var u)) (hu : u ≠ v) :
    q'.position k = q.position k := by
  have h := hq k _ hk
  exact ((matchAt_free (by simpa [Dim.free] using hu)).1 h).symm

include hfixed hq in
theorem fixed_of_match (h : IndexAt.Fixed fixed s q) : IndexAt.Fixed ((v, i.1) :: fixed) s q' := by
  intro p hp k hk
  cases hp with
  | head => exact element_right ((matchAt_rows (by simp [Dim.isRows])).1 (hq k _ hk))
  | tail _ hp => exact (position_of_match hq hk (hfixed p hp)).trans (h p hp k hk)

include hv hq in
theorem rowsOf_left {x' : Fin (ν r)} (h : x' ∈ rowsOf r s q') :
    ∃ x ∈ rowsOf r s q, Fin.cast (oneAt_same hv.symm) x = x' := by
  obtain ⟨k, d, hk, hd, he⟩ := exists_axis h
  obtain ⟨x, hx, he'⟩ := mem_rowsOf (j := q) hk hd
  cases Dim.isRows_iff.1 hd
  exact ⟨x, hx, Fin.ext (he'.trans ((position_of_match hq hk hv.symm).symm.trans he))⟩

include hv hq in
theorem rowsOf_right {x : Fin (oneAt v ν r)} (h : x ∈ rowsOf r s q) :
    Fin.cast (oneAt_same hv.symm) x ∈ rowsOf r s q' := by
  obtain ⟨k, d, hk, hd, he⟩ := exists_axis h
  obtain ⟨x', hx, he'⟩ := mem_rowsOf (j := q') hk hd
  cases Dim.isRows_iff.1 hd
  rw [show Fin.cast (oneAt_same hv.symm) x = x' from
    Fin.ext (he.symm.trans ((position_of_match hq hk hv.symm).symm.trans he'.symm))]
  exact hx

end element

theorem Env.AgreeAt.move {live : Fin (ν r) → Bool} {i : Fin (ν v)} {fixed : List (Nat × Nat)} (hv : v ≠ r)
    (hfixed : ∀ p ∈ fixed, p.1 ≠ v) {mask p : Nat} {Γ : List Ty} {ρ ρ' : Env α ν Γ}
    (h : Env.AgreeAt live ((v, i.1) :: fixed) mask p Γ ρ ρ') (hΓ : regularTypes v Γ = true) :
    Env.AgreeAt (fun x => live (Fin.cast (oneAt_same hv.symm) x)) fixed mask p Γ
      (Env.move (fun _ => i) (fun _ h => oneAt_same h) Γ hΓ ρ)
      (Env.move (fun _ => i) (fun _ h => oneAt_same h) Γ hΓ ρ') := by
  induction Γ generalizing p with
  | nil => trivial
  | cons t Γ ih =>
    have hm (q : IndexAt (oneAt v ν) t.shape) :=
      match_move (element i) (element_pair i) (Bool.and_eq_true_iff.1 hΓ).1 q
    refine ⟨fun q hq hl => h.1 _ (fixed_of_match hfixed (hm q) hq) fun x' hx' => ?_, ?_, ih h.2.2 _⟩
    · obtain ⟨x, hx, rfl⟩ := rowsOf_left hv (hm q) hx'
      exact hl x hx
    · have hmask := h.2.1
      split at hmask
      · rename_i hp
        rw [if_pos hp]
        exact fun q hq x hx hl =>
          hmask _ (fixed_of_match hfixed (hm q) hq) _ (rowsOf_right hv (hm q) hx) hl
      · rename_i hp; rw [if_neg hp]; trivial

/-- The listed sizes are different, and none of them is the number of rows. -/
def distinct (r : Nat) : List Nat → Bool
  | [] => true
  | v :: l => v != r && l.all (· != v) && distinct r l

theorem Kernel.run_irrelevant {arguments : List Ty} {result : Ty} {kernel : Kernel arguments result}
    {mask : Nat} {k : Arithmetic} (hk : k.Admits α)
    (hc : kernel.check (.irrelevance k) r mask = true) (fixed : List (Nat × Nat))
    (hd : distinct r (fixed.map (·.1)) = true) (hs : (fixed.all fun p => kernel.separates p.1) = true)
    (hlt : ∀ p ∈ fixed, p.2 < ν p.1) (j : IndexAt ν result.shape) (hj : j.Fixed fixed result.shape)
    (live : Fin (ν r) → Bool) {ρ ρ' : Env α ν arguments} (h : Env.AgreeAt live fixed mask 0 arguments ρ ρ') :
    Program.run kernel ρ.reverse j = Program.run kernel ρ'.reverse j := by
  induction fixed generalizing ν with
  | nil =>
    exact run_eq (law := .irrelevance k) ofLive_aligned hk hc (h.agree.related rfl) (match_free (free_of_check hc) j)
  | cons p fixed ih =>
    obtain ⟨v, i⟩ := p
    simp only [List.map_cons, distinct, Bool.and_eq_true, bne_iff_ne, List.all_eq_true, List.mem_map,
      forall_exists_index, and_imp, forall_apply_eq_imp_iff₂] at hd
    obtain ⟨⟨hv, hne⟩, hd⟩ := hd
    have hs := Bool.and_eq_true_iff.1 hs
    have hi : i < ν v := hlt _ (.head _)
    obtain ⟨hΓ, j', hm, he⟩ := run_element (α := α) hs.1 (⟨i, hi⟩ : Fin (ν v)) j (hj _ (.head _))
    rw [he, he]
    refine ih hd hs.2 (fun p hp => ?_) j' (fun p hp k hk => ?_) _
      (Env.AgreeAt.move (i := ⟨i, hi⟩) hv (fun p hp => hne p hp) h hΓ)
    · rw [oneAt_same (hne p hp)]; exact hlt p (.tail _ hp)
    · exact (position_of_match hm hk (hne p hp)).symm.trans (hj p (.tail _ hp) k hk)

/-! ### The law -/

/-- The first axis whose size is the variable number `v`. -/
def axisOf (v : Nat) (s : List Dim) : Nat := s.findIdx fun d => d.isRows v

/-- Is there one axis whose size is the variable number `v`? -/
def hasAxis (v : Nat) (s : List Dim) : Bool :=
  decide (s[axisOf v s]? = some (.var v)) &&
    (List.range s.length).all fun k => decide (s[k]? ≠ some (.var v)) || k == axisOf v s

/-- The coordinates of `j` along the axes of the sizes `outer`, each with the number of its size. -/
def coordinates {ν : Nat → Nat} (outer : List Nat) {s : List Dim} (j : IndexAt ν s) : List (Nat × Nat) :=
  outer.map fun v => (v, j.position (axisOf v s))

theorem position_lt {ν : Nat → Nat} {s : List Dim} {k v : Nat} (j : IndexAt ν s) (h : s[k]? = some (.var v)) :
    j.position k < ν v := by
  rw [← position_axis h j]; exact (IndexAt.axis k h j).2

/-- As `Kernel.check` for masked irrelevance, where the mask has axes of the sizes `outer` beside the rows. -/
def Kernel.checkBatch {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result)
    (rows mask : Nat) (outer : List Nat) (arithmetic : Arithmetic := .real) : Bool :=
  kernel.check (.irrelevance arithmetic) rows mask && distinct rows outer &&
    outer.all fun v => kernel.separates v && hasAxis v result.shape

/-- As `Kernel.masked_irrelevance_batch`, in every arithmetic of a kind. -/
theorem Kernel.masked_irrelevance_batch_of {arguments : List Ty} {result : Ty}
    (kernel : Kernel arguments result) {k : Arithmetic} (hk : k.Admits α) (sizes : List Nat) {rows mask : Nat}
    (outer : List Nat) (hc : kernel.checkBatch rows mask outer k = true)
    (live : IndexAt (valuation sizes) result.shape → Fin (valuation sizes rows) → Bool)
    {inputs inputs' : Env α (valuation sizes) arguments}
    (h : ∀ j, Env.AgreeAt (live j) (coordinates outer j) mask 0 arguments inputs inputs') :
    kernel.eval sizes inputs = kernel.eval sizes inputs' := by
  simp only [checkBatch, Bool.and_eq_true, List.all_eq_true] at hc
  obtain ⟨⟨hc, hd⟩, hs⟩ := hc
  have axis (v : Nat) (hv : v ∈ outer) := hs v hv
  funext j
  refine run_irrelevant hk hc (coordinates outer j) ?_ ?_ ?_ j ?_ (live j) (h j)
  · rw [coordinates, List.map_map]; exact (List.map_id outer).symm ▸ hd
  · refine List.all_eq_true.2 fun p hp => ?_
    obtain ⟨v, hv, rfl⟩ := List.mem_map.1 hp
    exact (axis v hv).1
  · intro p hp
    obtain ⟨v, hv, rfl⟩ := List.mem_map.1 hp
    exact position_lt j (of_decide_eq_true (Bool.and_eq_true_iff.1 (axis v hv).2).1)
  · intro p hp k hk
    obtain ⟨v, hv, rfl⟩ := List.mem_map.1 hp
    have hu := List.all_eq_true.1 (Bool.and_eq_true_iff.1 (axis v hv).2).2 k
      (List.mem_range.2 (List.getElem?_eq_some_iff.1 hk).1)
    have hk' : k = axisOf v result.shape := by simpa [hk] using hu
    rw [hk']

/-- What the rows of an element of a batch hold where its mask is false does not matter. At the index `j` of
the result, `live j` is the mask. -/
theorem Kernel.masked_irrelevance_batch {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result)
    (sizes : List Nat) {rows mask : Nat} (outer : List Nat)
    (hc : kernel.checkBatch rows mask outer = true)
    (live : IndexAt (valuation sizes) result.shape → Fin (valuation sizes rows) → Bool)
    {inputs inputs' : Env R (valuation sizes) arguments}
    (h : ∀ j, Env.AgreeAt (live j) (coordinates outer j) mask 0 arguments inputs inputs') :
    kernel.eval sizes inputs = kernel.eval sizes inputs' :=
  kernel.masked_irrelevance_batch_of (Arithmetic.admits_real _) sizes outer hc live h

end MaskPool
