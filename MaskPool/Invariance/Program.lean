module

public import MaskPool.Invariance.Sound

/-!
# Programs that pass the check

What `Op.label` says of an equation holds of its value, and so what `Program.check` says of a program holds of
its result. There is one case for each constructor of `Op`, in each of three lemmas: what is known of one run,
how two runs agree, and when they are the same.
-/

@[expose] public noncomputable section

namespace MaskPool

open RealArith Overlap

variable {R : Type} [RealArith R] {r : Nat} {ν ν' : Nat → Nat} {W : Overlap r ν ν'} {Γ : List Ty}
  {L : List Label} {ρ : Env R ν Γ} {ρ' : Env R ν' Γ} {law : Law}

theorem Label.guard_some {b : Bool} {l l' : Label} (h : guard b l = some l') : b = true ∧ l = l' := by
  unfold guard at h
  split at h
  · rename_i hb; exact ⟨hb, Option.some.inj h⟩
  · contradiction

theorem Label.Holds.junk {t : Ty} {x : t.denote R ν} : Label.junk.Holds W x :=
  ⟨fun p c hc => by simp at hc, fun c hc => by simp at hc⟩

/-! ### One run -/

theorem dot_zero {f f' : FloatType} {s : List Dim} {l l' : Label} {p : Part}
    (hz : (Lit.isZero (l.value p) || Lit.isZero (l'.value p)) = true) {x : Ty.denote R ν ⟨.float f, s⟩}
    {y : Ty.denote R ν ⟨.float f', s⟩} (hx : l.Holds W (t := ⟨.float f, s⟩) x)
    (hy : l'.Holds W (t := ⟨.float f', s⟩) y) {j : IndexAt ν s} (hj : W.InPart s p j) : x j * y j = 0 := by
  rcases Bool.or_eq_true_iff.1 hz with hz | hz
  · rw [Lit.is_zero_float hz fun a ha => hx.value p a ha j hj]; exact Lean.Grind.Semiring.zero_mul _
  · rw [Lit.is_zero_float hz fun a ha => hy.value p a ha j hj]; exact Lean.Grind.Semiring.mul_zero _

theorem Op.holds (h : EnvHolds W L ρ) {t : Ty} {op : Op Γ t} {l : Label} (hl : op.rule law r L = some l) :
    l.Holds W (op.eval ρ) := by
  cases op with
  | unary g x =>
    cases hl
    exact ⟨fun p c hc j hj => g.onLit_is (fun a ha => (h x).value p a ha j hj) hc,
        fun c hc j => g.lower_le hc⟩
  | is_finite x => cases hl; exact .junk
  | binary g x y =>
    cases hl
    exact ⟨fun p c hc j hj => g.onLit_is (fun a ha => (h x).value p a ha j hj)
        (fun a ha => (h y).value p a ha j hj) (fun a ha => (h y).lower a ha j) hc,
      fun c hc j => g.lower_le (fun a ha => (h x).lower a ha j) (fun a ha => (h y).lower a ha j) hc⟩
  | compare g x y =>
    cases hl
    exact ⟨fun p c hc j hj => g.onLit_is (fun a ha => (h x).value p a ha j hj)
      (fun a ha => (h y).value p a ha j hj) hc, fun c hc => by simp at hc⟩
  | not x =>
    cases hl
    exact ⟨fun p c hc j hj => Lit.not_is (R := R) (fun a ha => (h x).value p a ha j hj) hc,
      fun c hc => by simp at hc⟩
  | logical g x y =>
    cases hl
    exact ⟨fun p c hc j hj => g.onLit_is (R := R) (fun a ha => (h x).value p a ha j hj)
      (fun a ha => (h y).value p a ha j hj) hc, fun c hc => by simp at hc⟩
  | select_n p x y =>
    cases hl
    refine ⟨fun q c hc j hj => Lit.select_is (fun a ha => (h p).value q a ha j hj)
      (fun a ha => (h x).value q a ha j hj) (fun a ha => (h y).value q a ha j hj) hc, fun c hc j => ?_⟩
    simp only at hc
    split at hc
    · rename_i hxy
      show c.Le (if p.eval ρ j = true then y.eval ρ j else x.eval ρ j)
      split
      · exact (h y).lower c (hxy ▸ hc) j
      · exact (h x).lower c hc j
    · contradiction
  | convert_element_type e x =>
    cases hl
    exact ⟨fun p c hc j hj => Lit.convert_is (fun a ha => (h x).value p a ha j hj) hc,
      fun c hc j => DType.lower_le (fun a ha => (h x).lower a ha j) hc⟩
  | dim_as_value n => obtain ⟨_, rfl⟩ := Label.guard_some hl; exact .junk
  | iota s k => obtain ⟨_, rfl⟩ := Label.guard_some hl; exact .junk
  | broadcast_in_dim _ _ x layout | squeeze _ x _ layout | transpose _ x _ layout =>
    cases hl; exact (h x).view _
  | reindex v x => obtain ⟨_, rfl⟩ := Label.guard_some hl; exact (h x).read v _ Lit.zero_falsity
  | join v v' x y =>
    obtain ⟨_, rfl⟩ := Label.guard_some hl
    refine ⟨fun p c hc j hj => Lit.onlyIf_is (fun hf => ?_) hc, fun c hc => by simp at hc⟩
    have hf := Bool.and_eq_true_iff.1 hf
    have hy := Lit.falsity_is hf.2 fun a ha => ((h y).read v' _ Lit.zero_falsity).value p a ha j hj
    exact Lit.falsity_is hf.1 fun a ha => ((h x).read v _ hy).value p a ha j hj
  | cumulate g a x layout => obtain ⟨_, rfl⟩ := Label.guard_some hl; exact .junk
  | reduce g axes x _ layout => obtain ⟨_, rfl⟩ := Label.guard_some hl; exact g.holds ((h x).view _)
  | quantify g axes x _ layout => obtain ⟨_, rfl⟩ := Label.guard_some hl; exact .junk
  | dot_general dn x y _ left right =>
    obtain ⟨_, rfl⟩ := Label.guard_some hl
    refine ⟨fun p c hc j hj => Lit.onlyIf_is (fun hz => Lit.zero_is_float.2 ?_) hc, fun c hc => by simp at hc⟩
    refine (fdot_eq_fsum _ _).trans ((fsum_congr fun k => ?_).trans fsum_zero)
    exact dot_zero hz ((h x).view _) ((h y).view _) (Overlap.inPart_append hj k)

/-! ### Agreement of two runs -/

theorem Dim.toInt_of_free (same : ∀ i, i ≠ r → ν i = ν' i) {d : Dim} (h : d.free r = true) :
    d.toInt ν = d.toInt ν' := by
  induction d with
  | lit n => rfl
  | var i => exact congrArg _ (same i (by simpa [free] using h))
  | add a b iha ihb | mul a b iha ihb | sub a b iha ihb | div a b iha ihb | mod a b iha ihb
  | max a b iha ihb | min a b iha ihb =>
    simp only [free, Bool.and_eq_true] at h
    simp only [toInt, iha h.1, ihb h.2]

theorem not_rows_of_free {s : List Dim} {k : Nat} (h : (sizesAt s [k]).all (Dim.free r) = true) :
    (s[k]?.all fun d => !d.isRows r) = true := by
  cases hd : s[k]? with
  | none => rfl
  | some d =>
    have hf : d.free r = true := by simpa [sizesAt, List.getD, hd] using h
    simp [Dim.isRows_of_free hf]

theorem flatMap_fin {A : Type} {a b : Nat} (e : a = b) {f : Fin a → List A} {f' : Fin b → List A}
    (h : ∀ i i', i.1 = i'.1 → f i = f' i') :
    (Enum.elems : List (Fin a)).flatMap f = (Enum.elems : List (Fin b)).flatMap f' := by
  subst e
  rw [show f = f' from funext fun i => h i i rfl]

/-- Over sizes that the rows have no part in, the values come in the same order. -/
theorem map_elems_eq {A : Type} {c : List Dim} (hc : c.all (Dim.free r) = true) {f : IndexAt ν c → A}
    {f' : IndexAt ν' c → A} (h : ∀ k k', W.Match c k k' → f k = f' k') :
    Enum.elems.map f = Enum.elems.map f' := by
  induction c with
  | nil => exact congrArg (fun x => [x]) (h () () Overlap.match_nil)
  | cons d c ih =>
    simp only [List.all_cons, Bool.and_eq_true] at hc
    show (List.flatMap _ _).map f = (List.flatMap _ _).map f'
    rw [List.map_flatMap, List.map_flatMap]
    refine flatMap_fin (Dim.eval_of_free W.same hc.1) fun i i' hi => ?_
    rw [List.map_map, List.map_map]
    exact ih hc.2 fun k k' hk => h _ _ (Overlap.match_cons.2 ⟨(Overlap.matchAt_free hc.1).2 hi, hk⟩)

theorem Reduction.cumulative_eq (g : Reduction) (n : NumType) {c : List Dim} (hc : c.all (Dim.free r) = true)
    {f : IndexAt ν c → n.denote R} {f' : IndexAt ν' c → n.denote R}
    (h : ∀ k k', W.Match c k k' → f k = f' k') (i : Nat) : g.cumulative n f i = g.cumulative n f' i := by
  cases n with
  | float f => exact congrArg (Ops.cumulative g · i) (map_elems_eq (W := W) hc h)
  | int format => exact congrArg (fun l => g.ofInts format (List.take (i + 1) l)) (map_elems_eq (W := W) hc h)

theorem Law.reduces_alone (hW : W.Admits law) {c : List Dim} {f : Nat → Bool}
    (h : law.reduces r c f = true) : c.all (Dim.regular r) = true ∧
      (∀ k q, W.AloneAt c q k → f q = true) ∧ ∀ k q, W.symm.AloneAt c q k → f q = true := by
  obtain ⟨hc, (hf | hf) | hf⟩ := reduces_cases hW h
  · exact ⟨hc, fun k q hk => absurd hk hf.not_aloneAt, fun k q hk => absurd hk hf.symm.not_aloneAt⟩
  · exact ⟨hc, fun k q hk => absurd hk (Overlap.not_aloneAt_free hf),
      fun k q hk => absurd hk (Overlap.not_aloneAt_free hf)⟩
  · exact ⟨hc, fun k q hk => onRows_alone hf hk, fun k q hk => onRows_alone hf hk⟩

theorem Op.agree (hW : W.Admits law) (h : EnvRelated W L ρ ρ') {t : Ty} {op : Op Γ t} {l : Label}
    (hl : op.rule law r L = some l) {j : IndexAt ν t.shape} {j' : IndexAt ν' t.shape}
    (hj : W.Match t.shape j j') : op.eval ρ j = op.eval ρ' j' := by
  cases op with
  | unary g x => exact congrArg g.eval ((x.related h).agree j j' hj)
  | is_finite x => exact congrArg Ops.isFinite ((x.related h).agree j j' hj)
  | binary g x y =>
    show g.eval _ _ _ = g.eval _ _ _
    rw [(x.related h).agree j j' hj, (y.related h).agree j j' hj]
  | compare g x y =>
    show g.eval _ _ _ = g.eval _ _ _
    rw [(x.related h).agree j j' hj, (y.related h).agree j j' hj]
  | not x => exact congrArg (!·) ((x.related h).agree j j' hj)
  | logical g x y =>
    show g.eval _ _ = g.eval _ _
    rw [(x.related h).agree j j' hj, (y.related h).agree j j' hj]
  | select_n p x y =>
    show (if p.eval ρ j = true then _ else _) = if p.eval ρ' j' = true then _ else _
    rw [(p.related h).agree j j' hj, (x.related h).agree j j' hj, (y.related h).agree j j' hj]
  | convert_element_type e x => exact congrArg (DType.convert _ e) ((x.related h).agree j j' hj)
  | dim_as_value n =>
    obtain ⟨hg, _⟩ := Label.guard_some hl
    show n.toInt ν = n.toInt ν'
    rcases Bool.or_eq_true_iff.1 hg with hg | hg
    · exact Dim.toInt_of_free W.same hg
    · rw [(Law.isPermutation_full hW hg).2]
  | iota s k =>
    obtain ⟨hg, _⟩ := Label.guard_some hl
    show NumType.ofNat _ _ = NumType.ofNat _ _
    rw [Overlap.position_eq hg hj]
  | broadcast_in_dim _ _ x layout | squeeze _ x _ layout | transpose _ x _ layout =>
    exact (x.related h).agree _ _ (Overlap.match_source _ hj)
  | reindex v x =>
    obtain ⟨hg, _⟩ := Label.guard_some hl
    exact Overlap.read_agree hg (x.related h).agree hj rfl
  | join v v' x y =>
    obtain ⟨hg, _⟩ := Label.guard_some hl
    have hg := Bool.and_eq_true_iff.1 hg
    exact Overlap.read_agree hg.1 (x.related h).agree hj (Overlap.read_agree hg.2 (y.related h).agree hj rfl)
  | cumulate g a x layout =>
    obtain ⟨hg, _⟩ := Label.guard_some hl
    have hp := Overlap.position_eq (not_rows_of_free hg) hj
    show g.cumulative _ _ (j.position a) = g.cumulative _ _ (j'.position a)
    rw [hp]
    exact g.cumulative_eq (W := W) _ hg (fun k k' hk =>
      (x.related h).agree _ _ (Overlap.match_source _ (Overlap.match_append hk hj))) _
  | reduce g axes x _ layout =>
    obtain ⟨hg, _⟩ := Label.guard_some hl
    exact g.agree hW (fun j j' hj => (x.related h).agree _ _ (Overlap.match_source _ hj)) ((h.left x).view _)
      ((h.right x).view _) hg j j' hj
  | quantify g axes x _ layout =>
    obtain ⟨hg, _⟩ := Label.guard_some hl
    obtain ⟨hc, ha, ha'⟩ := Law.reduces_alone hW hg
    have hx := (h.left x).view (Option.get _ layout)
    have hx' := (h.right x).view (Option.get _ layout)
    cases g with
    | or =>
      exact Overlap.fany_eq (W := W) hc
        (fun k k' hk => (x.related h).agree _ _ (Overlap.match_source _ (Overlap.match_append hk hj)))
        (fun k q hk => Lit.is_bool (R := R) (ha k q hk) fun b hb =>
          hx.value (.alone q) b hb _ (Overlap.aloneAt_append_left j hk))
        fun k q hk => Lit.is_bool (R := R) (ha' k q hk) fun b hb =>
          hx'.value (.alone q) b hb _ (Overlap.aloneAt_append_left j' hk)
    | and =>
      exact Overlap.fall_eq (W := W) hc
        (fun k k' hk => (x.related h).agree _ _ (Overlap.match_source _ (Overlap.match_append hk hj)))
        (fun k q hk => Lit.is_bool (R := R) (ha k q hk) fun b hb =>
          hx.value (.alone q) b hb _ (Overlap.aloneAt_append_left j hk))
        fun k q hk => Lit.is_bool (R := R) (ha' k q hk) fun b hb =>
          hx'.value (.alone q) b hb _ (Overlap.aloneAt_append_left j' hk)
  | dot_general dn x y _ left right =>
    obtain ⟨hg, _⟩ := Label.guard_some hl
    obtain ⟨hc, ha, ha'⟩ := Law.reduces_alone hW hg
    refine (fdot_eq_fsum _ _).trans (Eq.trans ?_ (fdot_eq_fsum _ _).symm)
    rw [fsum_eq_ffold, fsum_eq_ffold]
    refine Overlap.ffold_eq (W := W) absorbs_add hc (fun k k' hk => ?_) (fun k q hk => ?_) fun k q hk => ?_
    · have hm := Overlap.match_append hk hj
      rw [(x.related h).agree _ _ (Overlap.match_source (Option.get _ left) hm),
        (y.related h).agree _ _ (Overlap.match_source (Option.get _ right) hm)]
    · exact dot_zero (ha k q hk) ((h.left x).view _) ((h.left y).view _) (Overlap.aloneAt_append_left j hk)
    · exact dot_zero (ha' k q hk) ((h.right x).view _) ((h.right y).view _)
        (Overlap.aloneAt_append_left j' hk)

/-! ### Equal runs -/

theorem Op.eval_same {ν : Nat → Nat} {W : Overlap r ν ν} {ρ ρ' : Env R ν Γ} (h : EnvRelated W L ρ ρ') {t : Ty}
    {op : Op Γ t} (hs : op.same L = true) : op.eval ρ = op.eval ρ' := by
  have e {t : Ty} (x : Arg Γ t) (hx : x.same L = true) : x.eval ρ = x.eval ρ' := Arg.eval_same h hx
  cases op <;> simp only [Op.same, Bool.and_eq_true] at hs <;> simp only [Op.eval] <;>
    first
    | rfl
    | rw [e _ hs]
    | rw [e _ hs.1, e _ hs.2]
    | rw [e _ hs.1.1, e _ hs.1.2, e _ hs.2]

/-- Between aligned bags, a value whose rows without a partner hold literals is the same. -/
theorem eq_of_alone {ν : Nat → Nat} {W : Overlap r ν ν} (hW : W.Aligned) {t : Ty} {l : Label}
    {x x' : t.denote R ν} (ha : ∀ j j', W.Match t.shape j j' → x j = x' j') (hx : l.Holds W x)
    (hx' : l.Holds W.symm x') (h : onRows r t.shape (fun q => (l.value (.alone q)).isSome) = true) :
    x = x' := by
  funext j
  rcases hW.match_self j with hj | ⟨q, hj⟩
  · exact ha j j hj
  · obtain ⟨c, hc⟩ := Option.isSome_iff_exists.1 (onRows_alone h hj)
    obtain ⟨d, hq, hd, ho⟩ := hj
    exact Lit.Is.unique (hx.value _ c hc j ⟨d, hq, hd, ho⟩) (hx'.value _ c hc j ⟨d, hq, hd, hW.alone _ ho⟩)

/-! ### Programs -/

theorem Law.isAligned_aligned (hW : W.Admits law) (h : law.isAligned = true) : W.Aligned := by
  cases law <;> first | exact hW | contradiction

theorem Op.related (hW : W.Admits law) (h : EnvRelated W L ρ ρ') {t : Ty} {op : Op Γ t} {l : Label}
    (hl : op.label law r L = some l) : Related W l (op.eval ρ) (op.eval ρ') := by
  unfold Op.label at hl
  split at hl
  · rename_i k hk
    cases hl
    have hx := op.holds h.left hk
    have hx' := op.holds h.right hk
    refine ⟨fun j j' hj => op.agree hW h hk hj, ⟨hx.value, hx.lower⟩, ⟨hx'.value, hx'.lower⟩, fun hs hν => ?_⟩
    simp only [Bool.and_eq_true, Bool.or_eq_true] at hs
    have aligned := Law.isAligned_aligned hW hs.1
    subst hν
    rcases hs.2 with hs | hs
    · exact heq_of_eq (op.eval_same h hs)
    · exact heq_of_eq (eq_of_alone aligned (fun j j' hj => op.agree hW h hk hj) hx hx' hs)
  · obtain ⟨hs, rfl⟩ := Label.guard_some hl
    have hs := Bool.and_eq_true_iff.1 hs
    have aligned := Law.isAligned_aligned hW hs.1
    obtain hν := aligned.sizes
    subst hν
    have e := op.eval_same h hs.2
    exact ⟨fun j j' hj => by rw [aligned.eq hj, e], ⟨fun p c hc => by simp at hc, fun c hc => by simp at hc⟩,
      ⟨fun p c hc => by simp at hc, fun c hc => by simp at hc⟩, fun _ _ => heq_of_eq e⟩

/-! ### Programs -/

theorem Lit.force_eq {β : Type} (c : Option Lit) (k : Option Lit → β) : Lit.force c k = k c := by
  match c with
  | none | some (.real ..) | some (.int _) => rfl
  | some (.infinity b) | some (.bool b) => cases b <;> rfl

theorem Label.forceAxes_eq {β : Type} (rank : Nat) (f : Nat → Option Lit) (k : List (Option Lit) → β) :
    forceAxes rank f k = k ((List.range rank).map f) := by
  induction rank generalizing f k with
  | zero => rfl
  | succ n ih =>
    rw [forceAxes, Lit.force_eq, ih, List.range_succ_eq_map, List.map_cons, List.map_map]
    rfl

/-- The evaluated label says no more than the label. -/
theorem Label.force_eq {β : Type} (l : Label) (rank : Nat) (k : Label → β) : l.force rank k =
    k (ofValues (l.value .all) ((List.range rank).map fun q => l.value (.alone q)) l.lower l.same) := by
  rw [force, Lit.force_eq, Lit.force_eq, forceAxes_eq]
  cases l.same <;> rfl

theorem Related.force {t : Ty} {l : Label} {x : t.denote R ν} {x' : t.denote R ν'} (h : Related W l x x')
    (rank : Nat) : Related W
      (.ofValues (l.value .all) ((List.range rank).map fun q => l.value (.alone q)) l.lower l.same) x x' := by
  have value {p : Part} {c : Lit} (hc : (Label.ofValues (l.value .all)
      ((List.range rank).map fun q => l.value (.alone q)) l.lower l.same).value p = some c) :
      l.value p = some c := by
    cases p with
    | all => exact hc
    | alone q =>
      simp only [Label.ofValues, Option.join_eq_some_iff, List.getElem?_map, Option.map_eq_some_iff] at hc
      obtain ⟨i, hi, hc⟩ := hc
      obtain ⟨_, rfl⟩ := List.getElem?_eq_some_iff.1 hi
      simpa using hc
  exact ⟨h.agree, ⟨fun p c hc => h.left.value p c (value hc), h.left.lower⟩,
    ⟨fun p c hc => h.right.value p c (value hc), h.right.lower⟩, h.same⟩

/-- The values of a program that passes the check, in two runs on bags that compare as the law asks, are
related as its label says. -/
theorem Program.related (hW : W.Admits law) {Γ : List Ty} {t : Ty} {program : Program Γ t} {L : List Label}
    {ρ : Env R ν Γ} {ρ' : Env R ν' Γ} (h : EnvRelated W L ρ ρ') {l : Label}
    (hl : program.check law r L = some l) : Related W l (program.run ρ) (program.run ρ') := by
  induction program generalizing L l with
  | ret x => cases hl; exact x.related h
  | eqn u op rest ih =>
    simp only [check] at hl
    split at hl
    · rename_i k hk
      rw [Label.force_eq] at hl
      exact ih (L := _ :: L) (ρ := (op.eval ρ, ρ)) (ρ' := (op.eval ρ', ρ'))
        ⟨(op.related hW h hk).force _, h⟩ hl
    · contradiction

end MaskPool
