module

public import MaskPool.Invariance.Laws

/-!
# Masks with further axes

A mask may have axes of batches or heads beside the rows: then every element of the batch has rows of its own
that do not matter, and an order of its own. A kernel that treats the elements of the batch alike and apart
(`Kernel.separates`) has at each of them the result that it has for this element alone, where the mask is one
of rows.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

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
    Program.invariant (.padding false .any) v kernel (arguments.map fun _ => .junk).reverse

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
  refine ⟨ha, ?_⟩
  rcases exists_match (W := (element i).symm) result.shape hr j with ⟨j', hm⟩ | ⟨q, d, hq, hd, z, hz⟩
  · refine ⟨j', hm.symm, fun ρ => ?_⟩
    have h := (Env.move_related (W := element i) (element_pair i) ha ρ).reverseOnto (Δ := []) (M := [])
      (σ := ()) (σ' := ()) trivial
    exact (Program.run_eq (law := .padding false .any) (fun h => by contradiction) trivial h hp hm.symm).symm
  · cases Dim.isRows_iff.1 hd
    exact absurd (Fin.ext (hz.trans (hj q hq))) z.2

/-- The coordinates of `q` along axes of the listed sizes are the listed ones. -/
def IndexAt.Fixed {ν : Nat → Nat} (fixed : List (Nat × Nat)) (s : List Dim) (q : IndexAt ν s) : Prop :=
  ∀ p ∈ fixed, ∀ k, s[k]? = some (.var p.1) → q.position k = p.2

/-- For the elements of the batch with the coordinates `fixed`, the arguments agree at the rows where `live`
is true, and the mask is false at the others. What is live may be given for each index. -/
def Env.AgreeAt (live : Fin (ν r) → Bool) (fixed : List (Nat × Nat)) (mask : Nat) :
    (position : Nat) → (Γ : List Ty) → Env α ν Γ → Env α ν Γ → Prop
  | _, [], _, _ => True
  | p, t :: Γ, (x, ρ), (x', ρ') =>
    (∀ q, IndexAt.Fixed fixed t.shape q →
      ∃ l, l = live ∧ ((∀ i ∈ rowsOf r t.shape q, l i = true) → x q = x' q)) ∧
      (if p = mask then ∀ q, IndexAt.Fixed fixed t.shape q → ∃ l, l = live ∧ ∀ i ∈ rowsOf r t.shape q,
        l i = false → t.dtype.IsFalsity (x q) ∧ t.dtype.IsFalsity (x' q) else True) ∧
      Env.AgreeAt live fixed mask (p + 1) Γ ρ ρ'

theorem Env.AgreeAt.agree {live : Fin (ν r) → Bool} {mask p : Nat} {Γ : List Ty} {ρ ρ' : Env α ν Γ}
    (h : Env.AgreeAt live [] mask p Γ ρ ρ') : Env.Agree live mask p Γ ρ ρ' := by
  have fixed {s : List Dim} {q : IndexAt ν s} : IndexAt.Fixed [] s q := fun p hp => by cases hp
  induction Γ generalizing p with
  | nil => trivial
  | cons t Γ ih =>
    refine ⟨fun q => ?_, ?_, ih h.2.2⟩
    · obtain ⟨_, rfl, hx⟩ := h.1 q fixed; exact hx
    have hm := h.2.1
    split at hm
    · rename_i hp; rw [if_pos hp]; intro q; obtain ⟨_, rfl, hx⟩ := hm q fixed; exact hx
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
    refine ⟨fun q hq => ⟨_, rfl, fun hl => ?_⟩, ?_, ih h.2.2 _⟩
    · obtain ⟨_, rfl, hx⟩ := h.1 _ (fixed_of_match hfixed (hm q) hq)
      refine hx fun x' hx' => ?_
      obtain ⟨x, hx, rfl⟩ := rowsOf_left hv (hm q) hx'
      exact hl x hx
    · have hmask := h.2.1
      split at hmask
      · rename_i hp
        rw [if_pos hp]
        refine fun q hq => ⟨_, rfl, fun x hx hl => ?_⟩
        obtain ⟨_, rfl, hf⟩ := hmask _ (fixed_of_match hfixed (hm q) hq)
        exact hf _ (rowsOf_right hv (hm q) hx) hl
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
    exact run_eq (law := .irrelevance k) ofLive_aligned hk hc (h.agree.related rfl)
      (match_free (free_of_check hc) j)
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

/-! ### An order for each element -/

/-- The bijection of the rows of one element of the batch. -/
def Equiv.atElement (hv : v ≠ r) (σ : Fin (ν r) ≃ Fin (ν r)) : Fin (oneAt v ν r) ≃ Fin (oneAt v ν r) :=
  (Equiv.finCast (oneAt_same hv.symm)).trans (σ.trans (Equiv.finCast (oneAt_same hv.symm).symm))

theorem Dim.move_atElement (hv : v ≠ r) (σ : Fin (ν r) ≃ Fin (ν r)) (i : Fin (ν v)) {d : Dim}
    (hr : d.regular r = true) (hd : d.regular v = true) (x : Fin (d.eval (oneAt v ν))) :
    d.move (fun _ => i) (fun _ h => oneAt_same h) hd (d.move (Equiv.atElement hv σ) (fun _ _ => rfl) hr x) =
      d.move σ (fun _ _ => rfl) hr (d.move (fun _ => i) (fun _ h => oneAt_same h) hd x) := by
  unfold Dim.move
  by_cases h : d.isRows r = true <;> by_cases h' : d.isRows v = true
  · exact absurd (Dim.var.inj ((Dim.isRows_iff.1 h').symm.trans (Dim.isRows_iff.1 h))) hv
  all_goals simp only [h, h', dif_pos]; rfl

theorem IndexAt.move_atElement (hv : v ≠ r) (σ : Fin (ν r) ≃ Fin (ν r)) (i : Fin (ν v)) {s : List Dim}
    (hr : s.all (Dim.regular r) = true) (hs : s.all (Dim.regular v) = true) (q : IndexAt (oneAt v ν) s) :
    (q.move (Equiv.atElement hv σ) (fun _ _ => rfl) s hr).move (fun _ => i) (fun _ h => oneAt_same h) s hs =
      (q.move (fun _ => i) (fun _ h => oneAt_same h) s hs).move σ (fun _ _ => rfl) s hr := by
  induction s with
  | nil => rfl
  | cons d s ih => exact Prod.ext (Dim.move_atElement hv σ i _ _ q.1) (ih _ _ q.2)

/-- For the elements of the batch with the coordinates `fixed`, the first arguments are the second ones with
their rows in the order `σ`. The order may be given for each index. -/
def Env.PermutedAt (σ : Fin (ν r) ≃ Fin (ν r)) (fixed : List (Nat × Nat)) :
    (Γ : List Ty) → regularTypes r Γ = true → Env R ν Γ → Env R ν Γ → Prop
  | [], _, _, _ => True
  | t :: Γ, h, (x, ρ), (x', ρ') =>
    (∀ q, IndexAt.Fixed fixed t.shape q →
      ∃ τ, τ = σ ∧ x q = x' (q.move τ (fun _ _ => rfl) t.shape (Bool.and_eq_true_iff.1 h).1)) ∧
      Env.PermutedAt σ fixed Γ (Bool.and_eq_true_iff.1 h).2 ρ ρ'

omit [RealArith R] in
theorem Env.PermutedAt.eq {σ : Fin (ν r) ≃ Fin (ν r)} {Γ : List Ty} {hΓ : regularTypes r Γ = true}
    {ρ ρ' : Env R ν Γ} (h : Env.PermutedAt σ [] Γ hΓ ρ ρ') : ρ = Env.permute σ Γ hΓ ρ' := by
  induction Γ with
  | nil => rfl
  | cons t Γ ih =>
    refine Prod.ext (funext fun q => ?_) (ih h.2)
    obtain ⟨τ, rfl, hx⟩ := h.1 q fun p hp => by cases hp
    exact hx

omit [RealArith R] in
theorem Env.PermutedAt.move {σ : Fin (ν r) ≃ Fin (ν r)} {i : Fin (ν v)} {fixed : List (Nat × Nat)}
    (hv : v ≠ r) (hfixed : ∀ p ∈ fixed, p.1 ≠ v) {Γ : List Ty} {hr : regularTypes r Γ = true}
    {ρ ρ' : Env R ν Γ} (h : Env.PermutedAt σ ((v, i.1) :: fixed) Γ hr ρ ρ') (hΓ : regularTypes v Γ = true) :
    Env.PermutedAt (Equiv.atElement hv σ) fixed Γ hr
      (Env.move (fun _ => i) (fun _ h => oneAt_same h) Γ hΓ ρ)
      (Env.move (fun _ => i) (fun _ h => oneAt_same h) Γ hΓ ρ') := by
  induction Γ with
  | nil => trivial
  | cons t Γ ih =>
    refine ⟨fun q hq => ⟨_, rfl, ?_⟩, ih h.2 _⟩
    obtain ⟨τ, rfl, hx⟩ := h.1 _ <| fixed_of_match hfixed
      (match_move (element i) (element_pair i) (Bool.and_eq_true_iff.1 hΓ).1 q) hq
    exact hx.trans (congrArg _ (IndexAt.move_atElement hv τ i _ _ q).symm)

theorem Kernel.run_permuted {arguments : List Ty} {result : Ty} {kernel : Kernel arguments result}
    {mask : Nat} (hc : kernel.check .permutation r mask = true) (fixed : List (Nat × Nat))
    (hd : distinct r (fixed.map (·.1)) = true) (hs : (fixed.all fun p => kernel.separates p.1) = true)
    (hlt : ∀ p ∈ fixed, p.2 < ν p.1) (j : IndexAt ν result.shape) (hj : j.Fixed fixed result.shape)
    (σ : Fin (ν r) ≃ Fin (ν r)) {ρ ρ' : Env R ν arguments}
    (h : Env.PermutedAt σ fixed arguments (regular_of_check hc) ρ ρ') :
    Program.run kernel ρ.reverse j = Program.run kernel ρ'.reverse j := by
  induction fixed generalizing ν with
  | nil =>
    rw [h.eq]
    exact run_eq (law := .permutation) ⟨⟨fun z => Fin.elim0 z, fun z => Fin.elim0 z⟩, rfl⟩ ⟨_, rfl⟩ hc
      ((Env.permute_placed σ _ ρ').related rfl) (match_free (free_of_check hc) j)
  | cons p fixed ih =>
    obtain ⟨v, i⟩ := p
    simp only [List.map_cons, distinct, Bool.and_eq_true, bne_iff_ne, List.all_eq_true, List.mem_map,
      forall_exists_index, and_imp, forall_apply_eq_imp_iff₂] at hd
    obtain ⟨⟨hv, hne⟩, hd⟩ := hd
    have hs := Bool.and_eq_true_iff.1 hs
    have hi : i < ν v := hlt _ (.head _)
    obtain ⟨hΓ, j', hm, he⟩ := run_element (α := R) hs.1 (⟨i, hi⟩ : Fin (ν v)) j (hj _ (.head _))
    rw [he, he]
    refine ih hd hs.2 (fun p hp => ?_) j' (fun p hp k hk => ?_) _
      (Env.PermutedAt.move (i := ⟨i, hi⟩) hv (fun p hp => hne p hp) h hΓ)
    · rw [oneAt_same (hne p hp)]; exact hlt p (.tail _ hp)
    · exact (position_of_match hm hk (hne p hp)).symm.trans (hj p (.tail _ hp) k hk)

/-! ### The laws -/

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

/-- A coordinate along an axis of the size number `v`, for an index that belongs to the element of `j`. -/
theorem IndexAt.Fixed.at {ν : Nat → Nat} {outer : List Nat} {s t : List Dim} {q : IndexAt ν s}
    {j : IndexAt ν t} (h : IndexAt.Fixed (coordinates outer j) s q) (v k : Nat)
    (hv : v ∈ outer := by decide) (hk : s[k]? = some (.var v) := by rfl) :
    q.position k = j.position (axisOf v t) :=
  h (v, _) (List.mem_map.2 ⟨v, hv, rfl⟩) k hk

/-- As `Kernel.check`, where the mask has axes of the sizes `outer` beside the rows. -/
def Kernel.checkBatch {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result) (law : Law)
    (rows mask : Nat) (outer : List Nat) : Bool :=
  kernel.check law rows mask && distinct rows outer &&
    outer.all fun v => kernel.separates v && hasAxis v result.shape

theorem Kernel.coordinates_of_checkBatch {arguments : List Ty} {result : Ty}
    {kernel : Kernel arguments result} {law : Law} {rows mask : Nat} {outer : List Nat}
    (hc : kernel.checkBatch law rows mask outer = true)
    (j : IndexAt ν result.shape) :
    distinct rows ((coordinates outer j).map (·.1)) = true ∧
      ((coordinates outer j).all fun p => kernel.separates p.1) = true ∧
      (∀ p ∈ coordinates outer j, p.2 < ν p.1) ∧ j.Fixed (coordinates outer j) result.shape := by
  simp only [checkBatch, Bool.and_eq_true, List.all_eq_true] at hc
  obtain ⟨⟨_, hd⟩, hs⟩ := hc
  refine ⟨?_, List.all_eq_true.2 fun p hp => ?_, fun p hp => ?_, fun p hp k hk => ?_⟩
  · rw [coordinates, List.map_map]; exact (List.map_id outer).symm ▸ hd
  all_goals obtain ⟨v, hv, rfl⟩ := List.mem_map.1 hp
  · exact (hs v hv).1
  · exact position_lt j (of_decide_eq_true (Bool.and_eq_true_iff.1 (hs v hv).2).1)
  · have hu := List.all_eq_true.1 (Bool.and_eq_true_iff.1 (hs v hv).2).2 k
      (List.mem_range.2 (List.getElem?_eq_some_iff.1 hk).1)
    rw [show k = axisOf v result.shape by simpa [hk] using hu]

theorem Kernel.check_of_checkBatch {arguments : List Ty} {result : Ty} {kernel : Kernel arguments result}
    {law : Law} {rows mask : Nat} {outer : List Nat} (hc : kernel.checkBatch law rows mask outer = true) :
    kernel.check law rows mask = true := by
  simp only [checkBatch, Bool.and_eq_true] at hc; exact hc.1.1

/-- The order of the rows of an element of a batch does not matter. At the index `j` of the result, `σ j` is
the order of the rows. -/
theorem Kernel.permutation_batch {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result)
    (sizes : List Nat) {rows mask : Nat} (outer : List Nat)
    (hc : kernel.checkBatch .permutation rows mask outer = true)
    (σ : IndexAt (valuation sizes) result.shape → Fin (valuation sizes rows) ≃ Fin (valuation sizes rows))
    {inputs inputs' : Env R (valuation sizes) arguments}
    (h : ∀ j, Env.PermutedAt (σ j) (coordinates outer j) arguments
      (Kernel.regular_of_check (Kernel.check_of_checkBatch hc)) inputs inputs') :
    kernel.eval sizes inputs = kernel.eval sizes inputs' := by
  funext j
  obtain ⟨hd, hs, hlt, hj⟩ := coordinates_of_checkBatch hc j
  exact run_permuted (check_of_checkBatch hc) (coordinates outer j) hd hs hlt j hj (σ j) (h j)

/-- As `Kernel.masked_irrelevance_batch`, in every arithmetic of a kind. -/
theorem Kernel.masked_irrelevance_batch_of {arguments : List Ty} {result : Ty}
    (kernel : Kernel arguments result) {k : Arithmetic} (hk : k.Admits α) (sizes : List Nat) {rows mask : Nat}
    (outer : List Nat) (hc : kernel.checkBatch (.irrelevance k) rows mask outer = true)
    (live : IndexAt (valuation sizes) result.shape → Fin (valuation sizes rows) → Bool)
    {inputs inputs' : Env α (valuation sizes) arguments}
    (h : ∀ j, Env.AgreeAt (live j) (coordinates outer j) mask 0 arguments inputs inputs') :
    kernel.eval sizes inputs = kernel.eval sizes inputs' := by
  funext j
  obtain ⟨hd, hs, hlt, hj⟩ := coordinates_of_checkBatch hc j
  exact run_irrelevant hk (check_of_checkBatch hc) (coordinates outer j) hd hs hlt j hj (live j) (h j)

/-- What the rows of an element of a batch hold where its mask is false does not matter. At the index `j` of
the result, `live j` is the mask. -/
theorem Kernel.masked_irrelevance_batch {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result)
    (sizes : List Nat) {rows mask : Nat} (outer : List Nat)
    (hc : kernel.checkBatch .irrelevance rows mask outer = true)
    (live : IndexAt (valuation sizes) result.shape → Fin (valuation sizes rows) → Bool)
    {inputs inputs' : Env R (valuation sizes) arguments}
    (h : ∀ j, Env.AgreeAt (live j) (coordinates outer j) mask 0 arguments inputs inputs') :
    kernel.eval sizes inputs = kernel.eval sizes inputs' :=
  kernel.masked_irrelevance_batch_of (Arithmetic.admits_real _) sizes outer hc live h

/-! ### The arguments of an element of a batch -/

/-- One argument of a theorem on the order of rows in a batch that has no rows. -/
macro "no_rows_at" : tactic => `(tactic| exact fun _ _ => ⟨_, rfl, rfl⟩)

/-- One argument of a theorem on masked irrelevance in a batch that is the same in both bags. -/
macro "same_rows_at" : tactic => `(tactic| first
  | trivial
  | exact fun _ _ => ⟨_, rfl, fun _ => rfl⟩)

/-- The mask of a theorem on masked irrelevance in a batch, at an element of the batch. -/
macro "masked_rows" : tactic => `(tactic|
  (intro i hi h
   cases List.mem_singleton.1 hi
   both_false h))

end MaskPool
