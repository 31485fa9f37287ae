module

public import MaskPool.Invariance.Overlap

/-!
# Reductions over the rows of two bags

When do two runs agree on a sum, a maximum or a quantifier? They do if corresponding entries are equal, and
the entries of rows without a partner are neutral; or if every row has a partner.
-/

@[expose] public noncomputable section

namespace MaskPool

open RealArith

/-! ### Bijections -/

namespace Equiv

variable {A B C D : Type}

/-- The bijection of pairs. -/
def prod (e : A ≃ B) (f : C ≃ D) : A × C ≃ B × D where
  toFun p := (e p.1, f p.2)
  inv p := (e.inv p.1, f.inv p.2)
  left_inv p := by simp [e.left_inv, f.left_inv]
  right_inv p := by simp [e.right_inv, f.right_inv]

/-- Equal sizes. -/
def finCast {m n : Nat} (h : m = n) : Fin m ≃ Fin n :=
  ⟨Fin.cast h, Fin.cast h.symm, fun _ => rfl, fun _ => rfl⟩

/-- A disjoint union with nothing. -/
def sumEmpty (h : B → False) : A ⊕ B ≃ A where
  toFun := fun | .inl a => a | .inr b => (h b).elim
  inv := .inl
  left_inv := by intro i; rcases i with a | b; rfl; exact (h b).elim
  right_inv _ := rfl

end Equiv

namespace Overlap

/-! ### Reductions by a commutative operation -/

/-- `op` is associative and commutative, and `e` combines with itself to `e`. -/
structure Absorbs {A : Type} (op : A → A → A) (e : A) : Prop where
  assoc : ∀ x y z, op (op x y) z = op x (op y z)
  comm : ∀ x y, op x y = op y x
  self : op e e = e

/-- All values combined by `op`, from `e`. -/
def ffold {A ι : Type} [Enum ι] (op : A → A → A) (e : A) (f : ι → A) : A := (Enum.elems.map f).foldr op e

section

variable {A ι κ : Type} [Enum ι] [Enum κ] {op : A → A → A} {e : A}

theorem foldr_perm (h : Absorbs op e) {l m : List A} (hlm : l.Perm m) : l.foldr op e = m.foldr op e :=
  hlm.foldr_eq' (fun x _ y _ z => by rw [← h.assoc, h.comm y x, h.assoc]) e

omit [Enum κ] in
theorem foldr_const (h : Absorbs op e) (l : List κ) : (l.map fun _ => e).foldr op e = e := by
  induction l with
  | nil => rfl
  | cons x l ih => rw [List.map_cons, List.foldr_cons, ih, h.self]

theorem foldr_absorb (h : Absorbs op e) (l : List A) : op (l.foldr op e) e = l.foldr op e := by
  induction l with
  | nil => exact h.self
  | cons x l ih => rw [List.foldr_cons, h.assoc, ih]

theorem foldr_from (h : Absorbs op e) (l : List A) (x : A) (hx : op x e = x) :
    l.foldr op x = op (l.foldr op e) x := by
  induction l with
  | nil => exact hx.symm.trans (h.comm x e)
  | cons y l ih => rw [List.foldr_cons, ih, List.foldr_cons, h.assoc]

theorem ffold_equiv (h : Absorbs op e) (b : ι ≃ κ) (f : κ → A) :
    ffold op e (fun i => f (b i)) = ffold op e f := by
  have := foldr_perm h ((Enum.perm_map b).map f)
  rw [List.map_map] at this
  exact this

theorem ffold_const (h : Absorbs op e) : ffold op e (fun _ : ι => e) = e := foldr_const h _

theorem ffold_sum (f : ι ⊕ κ → A) :
    ffold op e f = (Enum.elems.map fun i => f (.inl i)).foldr op (ffold op e fun k => f (.inr k)) := by
  show ((_ ++ _ : List (ι ⊕ κ)).map f).foldr op e = _
  rw [List.map_append, List.foldr_append, List.map_map, List.map_map]
  rfl

theorem ffold_prod (h : Absorbs op e) (f : ι × κ → A) :
    ffold op e f = ffold op e fun i => ffold op e fun k => f (i, k) := by
  show ((Enum.elems.flatMap _).map f).foldr op e = (List.map _ Enum.elems).foldr op e
  generalize (Enum.elems : List ι) = l
  induction l with
  | nil => rfl
  | cons a l ih =>
    rw [List.flatMap_cons, List.map_append, List.foldr_append, ih, foldr_from h _ _ (foldr_absorb h _),
      List.map_map]
    rfl

end

section

variable {R ι : Type} [RealArith R] [Enum ι]

open Lean.Grind

theorem absorbs_add : Absorbs (fun x y : R => x + y) 0 :=
  ⟨Semiring.add_assoc, Semiring.add_comm, Semiring.add_zero 0⟩

theorem absorbs_mul : Absorbs (fun x y : R => x * y) 1 :=
  ⟨Semiring.mul_assoc, CommSemiring.mul_comm, Semiring.mul_one 1⟩

theorem fsum_eq_ffold (f : ι → R) : fsum f = ffold (· + ·) 0 f := by
  show sumL (List.map f Enum.elems) = (List.map f Enum.elems).foldr _ _
  generalize List.map f Enum.elems = l
  induction l with
  | nil => rfl
  | cons x l ih => exact congrArg (x + ·) ih

theorem fprod_eq_ffold (f : ι → R) : fprod f = ffold (· * ·) 1 f := by
  show prodL (List.map f Enum.elems) = (List.map f Enum.elems).foldr _ _
  generalize List.map f Enum.elems = l
  induction l with
  | nil => rfl
  | cons x l ih => exact congrArg (x * ·) ih

theorem absorbs_int_add : Absorbs (fun x y : Int => x + y) 0 := ⟨Int.add_assoc, Int.add_comm, rfl⟩

theorem absorbs_int_mul : Absorbs (fun x y : Int => x * y) 1 := ⟨Int.mul_assoc, Int.mul_comm, rfl⟩

theorem absorbs_int_max (least : Int) : Absorbs max least :=
  ⟨Int.max_assoc, Int.max_comm, Int.max_self least⟩

theorem absorbs_int_min (greatest : Int) : Absorbs min greatest :=
  ⟨Int.min_assoc, Int.min_comm, Int.min_self greatest⟩

end

/-! ### Maxima -/

section

variable {R ι κ : Type} [RealArith R] [Enum ι] [Enum κ]

theorem maxL_spec : ∀ (l : List R), l ≠ [] → maxL l ∈ l ∧ ∀ x ∈ l, x ≤ maxL l
  | [], h => absurd rfl h
  | [x], _ => ⟨by simp [maxL], fun z hz => by cases List.mem_singleton.1 hz; exact Std.le_refl x⟩
  | x :: y :: l, _ => by
    obtain ⟨hm, hle⟩ := maxL_spec (y :: l) (by simp)
    rw [show maxL (x :: y :: l) = if x ≤ maxL (y :: l) then maxL (y :: l) else x from rfl]
    split
    · rename_i h
      refine ⟨List.mem_cons_of_mem _ hm, fun z hz => ?_⟩
      rcases List.mem_cons.1 hz with rfl | hz
      · exact h
      · exact hle z hz
    · rename_i h
      refine ⟨List.mem_cons_self .., fun z hz => ?_⟩
      rcases List.mem_cons.1 hz with rfl | hz
      · exact Std.le_refl z
      · exact Std.le_trans (hle z hz) (Std.le_of_lt (Std.not_le.1 h))

theorem le_fmax (f : ι → R) (i : ι) : f i ≤ fmax f :=
  (maxL_spec (Enum.elems.map f) fun e => by
    have := Enum.complete i; rw [List.map_eq_nil_iff.1 e] at this; cases this).2 _
      (List.mem_map.2 ⟨i, Enum.complete i, rfl⟩)

/-- A maximum is attained. -/
theorem exists_eq_fmax (f : ι → R) (i : ι) : ∃ i, f i = fmax f := by
  obtain ⟨i, _, hi⟩ := List.mem_map.1 (maxL_spec (Enum.elems.map f) fun e => by
    have := Enum.complete i; rw [List.map_eq_nil_iff.1 e] at this; cases this).1
  exact ⟨i, hi⟩

theorem maxL_perm {l m : List R} (h : l.Perm m) : maxL l = maxL m := by
  by_cases hl : l = []
  · subst hl; rw [List.nil_perm.1 h]
  · have hm : m ≠ [] := fun hm => hl (by subst hm; exact List.perm_nil.1 h)
    have h1 := maxL_spec l hl
    have h2 := maxL_spec m hm
    exact Std.le_antisymm (h2.2 _ (h.mem_iff.1 h1.1)) (h1.2 _ (h.mem_iff.2 h2.1))

theorem fmax_equiv (e : ι ≃ κ) (f : κ → R) : fmax (fun i => f (e i)) = fmax f := by
  have := maxL_perm ((Enum.perm_map e).map f)
  rw [List.map_map] at this
  exact this

theorem minL_spec : ∀ (l : List R), l ≠ [] → minL l ∈ l ∧ ∀ x ∈ l, minL l ≤ x
  | [], h => absurd rfl h
  | [x], _ => ⟨by simp [minL], fun z hz => by cases List.mem_singleton.1 hz; exact Std.le_refl x⟩
  | x :: y :: l, _ => by
    obtain ⟨hm, hle⟩ := minL_spec (y :: l) (by simp)
    rw [show minL (x :: y :: l) = if x ≤ minL (y :: l) then x else minL (y :: l) from rfl]
    split
    · rename_i h
      refine ⟨List.mem_cons_self .., fun z hz => ?_⟩
      rcases List.mem_cons.1 hz with rfl | hz
      · exact Std.le_refl z
      · exact Std.le_trans h (hle z hz)
    · rename_i h
      refine ⟨List.mem_cons_of_mem _ hm, fun z hz => ?_⟩
      rcases List.mem_cons.1 hz with rfl | hz
      · exact Std.le_of_lt (Std.not_le.1 h)
      · exact hle z hz

theorem minL_perm {l m : List R} (h : l.Perm m) : minL l = minL m := by
  by_cases hl : l = []
  · subst hl; rw [List.nil_perm.1 h]
  · have hm : m ≠ [] := fun hm => hl (by subst hm; exact List.perm_nil.1 h)
    have h1 := minL_spec l hl
    have h2 := minL_spec m hm
    exact Std.le_antisymm (h1.2 _ (h.mem_iff.2 h2.1)) (h2.2 _ (h.mem_iff.1 h1.1))

theorem fmin_equiv (e : ι ≃ κ) (f : κ → R) : fmin (fun i => f (e i)) = fmin f := by
  have := minL_perm ((Enum.perm_map e).map f)
  rw [List.map_map] at this
  exact this

end

variable {r : Nat} {ν ν' : Nat → Nat} {W : Overlap r ν ν'} {c : List Dim}

/-! ### Every row has a partner -/

/-- The two bags have the same rows. -/
structure Full (W : Overlap r ν ν') : Prop where
  left : W.Left → False
  right : W.Right → False

theorem Full.not_aloneAt (h : W.Full) {s : List Dim} {q : Nat} {j : IndexAt ν s} : ¬ W.AloneAt s q j := by
  rintro ⟨_, _, _, z, _⟩; exact h.left z

theorem Full.symm (h : W.Full) : W.symm.Full := ⟨h.right, h.left⟩

/-- The bijection between the rows. -/
def Full.rows (h : W.Full) : Fin (ν r) ≃ Fin (ν' r) :=
  W.left.symm.trans ((Equiv.sumEmpty h.left).trans ((Equiv.sumEmpty h.right).symm.trans W.right))

theorem Full.pair_rows (h : W.Full) (i : Fin (ν r)) : W.Pair i.1 (h.rows i).1 := by
  show W.Pair i.1 (W.right (.inl (Equiv.sumEmpty h.left (W.left.inv i)))).1
  have hi := W.left.right_inv i
  cases hc : W.left.inv i with
  | inl c => rw [hc] at hi; exact ⟨c, congrArg Fin.val hi, rfl⟩
  | inr z => exact (h.left z).elim

theorem exists_equiv (hc : c.all (Dim.regular r) = true) (h : W.Full ∨ c.all (Dim.free r) = true) :
    ∃ e : IndexAt ν c ≃ IndexAt ν' c, ∀ j, W.Match c j (e j) := by
  induction c with
  | nil => exact ⟨.refl _, fun j => match_nil⟩
  | cons d c ih =>
    simp only [List.all_cons, Bool.and_eq_true, Dim.regular, Bool.or_eq_true] at hc h
    obtain ⟨e, he⟩ := ih hc.2 (h.imp id And.right)
    by_cases hd : d.free r = true
    · exact ⟨.prod (.finCast (Dim.eval_of_free W.same hd)) e,
        fun j => match_cons.2 ⟨(matchAt_free hd).2 rfl, he _⟩⟩
    · have full : W.Full := h.resolve_right fun h => hd h.1
      have hd' := hc.1.resolve_right hd
      cases Dim.isRows_iff.1 hd'
      exact ⟨.prod full.rows e, fun j => match_cons.2 ⟨(matchAt_rows hd').2 (full.pair_rows j.1), he _⟩⟩

/-! ### Sums, maxima, quantifiers -/

variable {R : Type} [RealArith R]

theorem ffold_rows {A ι κ : Type} {op : A → A → A} {e : A} (h : Absorbs op e) [Enum ι] [Enum κ] {n : Nat}
    (rows : ι ⊕ κ ≃ Fin n) (f : Fin n → A) (h0 : ∀ b, f (rows (.inr b)) = e) :
    ffold op e f = ffold op e fun a => f (rows (.inl a)) := by
  rw [← ffold_equiv h rows, ffold_sum, show (fun b => f (rows (.inr b))) = fun _ => e from funext h0,
    ffold_const h]
  rfl

/-- Two runs agree on a reduction to which rows without a partner do not contribute. -/
theorem ffold_eq {A : Type} {op : A → A → A} {e : A} (ho : Absorbs op e) (hc : c.all (Dim.regular r) = true)
    {f : IndexAt ν c → A} {f' : IndexAt ν' c → A} (h : ∀ k k', W.Match c k k' → f k = f' k')
    (h0 : ∀ k q, W.AloneAt c q k → f k = e) (h0' : ∀ k' q, W.symm.AloneAt c q k' → f' k' = e) :
    ffold op e f = ffold op e f' := by
  induction c with
  | nil =>
    show @ffold _ _ Enum.instUnit op e f = @ffold _ _ Enum.instUnit op e f'
    exact congrArg (op · e) (h _ _ match_nil)
  | cons d c ih =>
    simp only [List.all_cons, Bool.and_eq_true, Dim.regular, Bool.or_eq_true] at hc
    have h₁ : ffold op e f =
        ffold op e fun i : Fin (d.eval ν) => ffold op e fun j : IndexAt ν c => f (i, j) :=
      ffold_prod ho f
    have h₂ : ffold op e f' =
        ffold op e fun i : Fin (d.eval ν') => ffold op e fun j : IndexAt ν' c => f' (i, j) :=
      ffold_prod ho f'
    have tail (i : Fin (d.eval ν)) (i' : Fin (d.eval ν')) (hi : W.MatchAt d i.1 i'.1) :
        (ffold op e fun j => f (i, j)) = ffold op e fun j => f' (i', j) :=
      ih hc.2 (fun k k' hk => h _ _ (match_cons.2 ⟨hi, hk⟩)) (fun k q hk => h0 _ _ (aloneAt_cons hk))
        fun k' q hk => h0' _ _ (aloneAt_cons hk)
    rw [h₁, h₂]
    rcases hc.1 with hd | hd
    · cases Dim.isRows_iff.1 hd
      rw [ffold_rows ho W.left, ffold_rows (n := ν' r) ho W.right]
      · exact congrArg (ffold op e) (funext fun z => tail _ _ ((matchAt_rows hd).2 ⟨z, rfl, rfl⟩))
      · intro z
        rw [show (fun j => f' (W.right (.inr z), j)) = fun _ => e from
          funext fun j => h0' _ 0 ⟨.var r, rfl, hd, z, rfl⟩]
        exact ffold_const ho
      · intro z
        rw [show (fun j => f (W.left (.inr z), j)) = fun _ => e from
          funext fun j => h0 _ 0 ⟨.var r, rfl, hd, z, rfl⟩]
        exact ffold_const ho
    · rw [← ffold_equiv ho (.finCast (Dim.eval_of_free W.same hd))]
      exact congrArg (ffold op e) (funext fun i => tail _ _ ((matchAt_free hd).2 rfl))

theorem fmax_eq_full (hc : c.all (Dim.regular r) = true) (hW : W.Full ∨ c.all (Dim.free r) = true)
    {f : IndexAt ν c → R} {f' : IndexAt ν' c → R} (h : ∀ k k', W.Match c k k' → f k = f' k') :
    fmax f = fmax f' := by
  obtain ⟨e, he⟩ := exists_equiv (W := W) hc hW
  rw [← fmax_equiv e f']
  exact congrArg fmax (funext fun k => h k (e k) (he k))

theorem fmin_eq_full (hc : c.all (Dim.regular r) = true) (hW : W.Full ∨ c.all (Dim.free r) = true)
    {f : IndexAt ν c → R} {f' : IndexAt ν' c → R} (h : ∀ k k', W.Match c k k' → f k = f' k') :
    fmin f = fmin f' := by
  obtain ⟨e, he⟩ := exists_equiv (W := W) hc hW
  rw [← fmin_equiv e f']
  exact congrArg fmin (funext fun k => h k (e k) (he k))

theorem ffold_eq_full {A : Type} {op : A → A → A} {e : A} (ho : Absorbs op e)
    (hc : c.all (Dim.regular r) = true) (hW : W.Full ∨ c.all (Dim.free r) = true)
    {f : IndexAt ν c → A} {f' : IndexAt ν' c → A} (h : ∀ k k', W.Match c k k' → f k = f' k') :
    ffold op e f = ffold op e f' := by
  obtain ⟨b, hb⟩ := exists_equiv (W := W) hc hW
  rw [← ffold_equiv ho b f']
  exact congrArg (ffold op e) (funext fun k => h k (b k) (hb k))

theorem fmax_le (hc : c.all (Dim.regular r) = true) {f : IndexAt ν c → R} {f' : IndexAt ν' c → R}
    (h : ∀ k k', W.Match c k k' → f k = f' k') {v : R} (hv : ∀ k', v ≤ f' k')
    (h0 : ∀ k q, W.AloneAt c q k → f k = v) (k₀ : IndexAt ν c) (k₀' : IndexAt ν' c) : fmax f ≤ fmax f' := by
  obtain ⟨k, hk⟩ := exists_eq_fmax f k₀
  rw [← hk]
  rcases exists_match (W := W) c hc k with ⟨k', hm⟩ | ⟨q, ho⟩
  · rw [h k k' hm]; exact le_fmax f' k'
  · rw [h0 k q ho]; exact Std.le_trans (hv k₀') (le_fmax f' k₀')

/-- Rows without a partner do not raise a maximum if they hold a lower bound of all entries. -/
theorem fmax_eq (hc : c.all (Dim.regular r) = true) {f : IndexAt ν c → R} {f' : IndexAt ν' c → R}
    (h : ∀ k k', W.Match c k k' → f k = f' k') {v : R} (hv : ∀ k, v ≤ f k) (hv' : ∀ k', v ≤ f' k')
    (h0 : ∀ k q, W.AloneAt c q k → f k = v) (h0' : ∀ k' q, W.symm.AloneAt c q k' → f' k' = v)
    (k₀ : IndexAt ν c) (k₀' : IndexAt ν' c) : fmax f = fmax f' :=
  Std.le_antisymm (fmax_le hc h hv' h0 k₀ k₀')
    (fmax_le (W := W.symm) hc (fun k k' hk => (h k' k hk.symm).symm) hv h0' k₀' k₀)

theorem nonempty_index (hc : c.all (Dim.regular r) = true) (hW : Nonempty W.Common) (k : IndexAt ν c) :
    Nonempty (IndexAt ν' c) := by
  induction c with
  | nil => exact ⟨()⟩
  | cons d c ih =>
    simp only [List.all_cons, Bool.and_eq_true, Dim.regular, Bool.or_eq_true] at hc
    obtain ⟨j⟩ := ih hc.2 k.2
    rcases hc.1 with hd | hd
    · cases Dim.isRows_iff.1 hd
      exact hW.elim fun z => ⟨(W.right (.inl z), j)⟩
    · exact ⟨(Fin.cast (Dim.eval_of_free W.same hd) k.1, j)⟩

theorem fmax_empty {ι : Type} [Enum ι] (h : ¬ Nonempty ι) (f : ι → R) : fmax f = maxNil := by
  have e : (Enum.elems : List ι) = [] := List.eq_nil_iff_forall_not_mem.2 fun i _ => h ⟨i⟩
  show maxL (List.map f Enum.elems) = _
  rw [e]; rfl

/-- As `fmax_eq`, for two bags with a row in common. -/
theorem fmax_eq_nonempty (hc : c.all (Dim.regular r) = true) (hW : Nonempty W.Common) {f : IndexAt ν c → R}
    {f' : IndexAt ν' c → R} (h : ∀ k k', W.Match c k k' → f k = f' k') {v : R} (hv : ∀ k, v ≤ f k)
    (hv' : ∀ k', v ≤ f' k') (h0 : ∀ k q, W.AloneAt c q k → f k = v)
    (h0' : ∀ k' q, W.symm.AloneAt c q k' → f' k' = v) : fmax f = fmax f' := by
  by_cases hk : Nonempty (IndexAt ν c)
  · obtain ⟨k₀⟩ := hk
    obtain ⟨k₀'⟩ := nonempty_index hc hW k₀
    exact fmax_eq hc h hv hv' h0 h0' k₀ k₀'
  · rw [fmax_empty hk, fmax_empty fun ⟨k'⟩ => hk (nonempty_index (W := W.symm) hc hW k')]

theorem max_comm (x y : R) : Ops.max x y = Ops.max y x := by
  simp only [ops_max]
  split <;> split
  · rename_i h h'; exact Std.le_antisymm h' h
  · rfl
  · rfl
  · rename_i h h'; exact absurd (Std.le_of_lt (Std.not_le.1 h)) h'

theorem max_mono {x y : R} (h : x ≤ y) (v : R) : Ops.max x v ≤ Ops.max y v := by
  simp only [ops_max]
  split <;> split
  · exact Std.le_refl v
  · rename_i hy; exact Std.le_of_lt (Std.not_le.1 hy)
  · rename_i hx hy; exact absurd (Std.le_trans h hy) hx
  · exact h

theorem le_max_right (x v : R) : v ≤ Ops.max x v := by
  simp only [ops_max]
  split
  · exact Std.le_refl v
  · rename_i h; exact Std.le_of_lt (Std.not_le.1 h)

theorem max_self (v : R) : Ops.max v v = v := by simp only [ops_max]; split <;> rfl

/-- The maximum of some values, raised to `v`, is the maximum of the values that are raised. -/
theorem max_fmax {ι : Type} [Enum ι] (i : ι) (f : ι → R) (v : R) :
    Ops.max (fmax f) v = fmax fun i => Ops.max (f i) v := by
  obtain ⟨j, hj⟩ := exists_eq_fmax f i
  obtain ⟨k, hk⟩ := exists_eq_fmax (fun i => Ops.max (f i) v) i
  refine Std.le_antisymm ?_ ?_
  · rw [← hj]; exact le_fmax (fun i => Ops.max (f i) v) j
  · rw [← hk]; exact max_mono (le_fmax f k) v

/-- Rows without a partner do not matter for a maximum that is raised to what they hold. -/
theorem max_fmax_eq (hc : c.all (Dim.regular r) = true) (hW : Nonempty W.Common) {f : IndexAt ν c → R}
    {f' : IndexAt ν' c → R} (h : ∀ k k', W.Match c k k' → f k = f' k') {v : R}
    (h0 : ∀ k q, W.AloneAt c q k → f k = v) (h0' : ∀ k' q, W.symm.AloneAt c q k' → f' k' = v) :
    Ops.max (fmax f) v = Ops.max (fmax f') v := by
  by_cases hk : Nonempty (IndexAt ν c)
  · obtain ⟨k₀⟩ := hk
    obtain ⟨k₀'⟩ := nonempty_index hc hW k₀
    rw [max_fmax k₀, max_fmax k₀']
    exact fmax_eq (W := W) hc (fun k k' hk => by rw [h k k' hk]) (fun k => le_max_right _ v)
      (fun k => le_max_right _ v) (fun k q hk => by rw [h0 k q hk, max_self])
      (fun k q hk => by rw [h0' k q hk, max_self]) k₀ k₀'
  · rw [fmax_empty hk, fmax_empty fun ⟨k'⟩ => hk (nonempty_index (W := W.symm) hc hW k')]

theorem fany_imp (hc : c.all (Dim.regular r) = true) {f : IndexAt ν c → Bool} {f' : IndexAt ν' c → Bool}
    (h : ∀ k k', W.Match c k k' → f k = f' k') (h0 : ∀ k q, W.AloneAt c q k → f k = false)
    (hf : fany f = true) : fany f' = true := by
  obtain ⟨k, hk⟩ := fany_iff.1 hf
  rcases exists_match (W := W) c hc k with ⟨k', hm⟩ | ⟨q, ho⟩
  · exact fany_iff.2 ⟨k', (h k k' hm).symm.trans hk⟩
  · rw [h0 k q ho] at hk; contradiction

theorem fany_eq (hc : c.all (Dim.regular r) = true) {f : IndexAt ν c → Bool} {f' : IndexAt ν' c → Bool}
    (h : ∀ k k', W.Match c k k' → f k = f' k') (h0 : ∀ k q, W.AloneAt c q k → f k = false)
    (h0' : ∀ k' q, W.symm.AloneAt c q k' → f' k' = false) : fany f = fany f' := by
  rw [Bool.eq_iff_iff]
  exact ⟨fany_imp hc h h0, fany_imp (W := W.symm) hc (fun k k' hk => (h k' k hk.symm).symm) h0'⟩

theorem fall_eq (hc : c.all (Dim.regular r) = true) {f : IndexAt ν c → Bool} {f' : IndexAt ν' c → Bool}
    (h : ∀ k k', W.Match c k k' → f k = f' k') (h0 : ∀ k q, W.AloneAt c q k → f k = true)
    (h0' : ∀ k' q, W.symm.AloneAt c q k' → f' k' = true) : fall f = fall f' := by
  rw [fall_eq_not_fany, fall_eq_not_fany]
  exact congrArg (!·) (fany_eq hc (fun k k' hk => congrArg (!·) (h k k' hk))
    (fun k q hk => congrArg (!·) (h0 k q hk)) fun k q hk => congrArg (!·) (h0' k q hk))

end Overlap

end MaskPool
