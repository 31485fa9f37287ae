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

variable {R : Type} [RealArith R] {α : Type} [Ops α] {r : Nat} {ν ν' : Nat → Nat} {W : Overlap r ν ν'}
  {Γ : List Ty}
  {L : List Label} {ρ : Env α ν Γ} {ρ' : Env α ν' Γ} {law : Law}

theorem Label.Holds.junk {t : Ty} {x : t.denote α ν} : Label.junk.Holds W x :=
  ⟨fun p c hc => by simp at hc, fun c hc => by simp at hc⟩

/-! ### One run -/

theorem dot_zero {f f' : FloatType} {s : List Dim} {l l' : Label} {p : Part}
    (hz : (Lit.isZero (l.value p) || Lit.isZero (l'.value p)) = true) {x : Ty.denote R ν ⟨.float f, s⟩}
    {y : Ty.denote R ν ⟨.float f', s⟩} (hx : l.Holds W (t := ⟨.float f, s⟩) x)
    (hy : l'.Holds W (t := ⟨.float f', s⟩) y) {j : IndexAt ν s} (hj : W.InPart s p j) : x j * y j = 0 := by
  rcases Bool.or_eq_true_iff.1 hz with hz | hz
  · rw [Lit.is_zero_float hz fun a ha => hx.value p a ha j hj]; exact Lean.Grind.Semiring.zero_mul _
  · rw [Lit.is_zero_float hz fun a ha => hy.value p a ha j hj]; exact Lean.Grind.Semiring.mul_zero _

theorem Op.holds (h : EnvHolds W L ρ) {k : Arithmetic} (hk : k.Admits α) {t : Ty} (op : Op Γ t) :
    (op.known k L).Holds W (op.eval ρ) := by
  cases op with
  | unary g x =>
    exact ⟨fun p c hc j hj => Arithmetic.unary_is hk g (fun a ha => (h x).value p a ha j hj) hc,
        fun c hc j => g.lower_le hc⟩
  | is_finite x => exact .junk
  | binary g x y =>
    exact ⟨fun p c hc j hj => Arithmetic.binary_is hk g (fun a ha => (h x).value p a ha j hj)
        (fun a ha => (h y).value p a ha j hj) (fun a ha => (h y).lower a ha j) hc,
      fun c hc j => g.lower_le (fun a ha => (h x).lower a ha j) (fun a ha => (h y).lower a ha j) hc⟩
  | compare g x y =>
    exact ⟨fun p c hc j hj => Arithmetic.compare_is hk g (fun a ha => (h x).value p a ha j hj)
      (fun a ha => (h y).value p a ha j hj) hc, fun c hc => by simp [known] at hc⟩
  | not x =>
    exact ⟨fun p c hc j hj => Lit.not_is (α := α) (fun a ha => (h x).value p a ha j hj) hc,
      fun c hc => by simp [known] at hc⟩
  | logical g x y =>
    exact ⟨fun p c hc j hj => g.onLit_is (α := α) (fun a ha => (h x).value p a ha j hj)
      (fun a ha => (h y).value p a ha j hj) hc, fun c hc => by simp [known] at hc⟩
  | select_n p x y =>
    refine ⟨fun q c hc j hj => Lit.select_is (fun a ha => (h p).value q a ha j hj)
      (fun a ha => (h x).value q a ha j hj) (fun a ha => (h y).value q a ha j hj) hc, fun c hc j => ?_⟩
    simp only [known] at hc
    split at hc
    · rename_i hxy
      show c.Le (if p.eval ρ j = true then y.eval ρ j else x.eval ρ j)
      split
      · exact (h y).lower c (hxy ▸ hc) j
      · exact (h x).lower c hc j
    · contradiction
  | convert_element_type e x =>
    exact ⟨fun p c hc j hj => Arithmetic.convert_is hk (fun a ha => (h x).value p a ha j hj) hc,
      fun c hc j => DType.lower_le (fun a ha => (h x).lower a ha j) hc⟩
  | dim_as_value n => exact .junk
  | iota s k => exact .junk
  | broadcast_in_dim _ _ x layout | squeeze _ x _ layout | transpose _ x _ layout => exact (h x).view _
  | reindex v x => exact (h x).read v _ Lit.zero_falsity
  | join v v' x y =>
    refine ⟨fun p c hc j hj => Lit.onlyIf_is (fun hf => ?_) hc, fun c hc => by simp [known] at hc⟩
    have hf := Bool.and_eq_true_iff.1 hf
    have hy := Lit.falsity_is hf.2 fun a ha => ((h y).read v' _ Lit.zero_falsity).value p a ha j hj
    exact Lit.falsity_is hf.1 fun a ha => ((h x).read v _ hy).value p a ha j hj
  | cumulate g a x layout => exact .junk
  | reduce g axes x _ layout =>
    exact ⟨fun p c hc j hj => Arithmetic.reduce_is hk g
      (fun k b hb => ((h x).view (Option.get _ layout)).value _ b hb _ (Overlap.inPart_append hj k)) hc,
      fun c hc => by simp [known] at hc⟩
  | quantify g axes x _ layout => exact .junk
  | dot_general dn x y _ left right =>
    exact ⟨fun p c hc j hj => Arithmetic.dot_is hk
      (fun k b hb => ((h x).view (Option.get _ left)).value _ b hb _ (Overlap.inPart_append hj k))
      (fun k b hb => ((h y).view (Option.get _ right)).value _ b hb _ (Overlap.inPart_append hj k)) hc,
      fun c hc => by simp [known] at hc⟩

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
    {f : IndexAt ν c → n.denote α} {f' : IndexAt ν' c → n.denote α}
    (h : ∀ k k', W.Match c k k' → f k = f' k') (i : Nat) : g.cumulative n f i = g.cumulative n f' i := by
  cases n with
  | float f => exact congrArg (Ops.cumulative g · i) (map_elems_eq (W := W) hc h)
  | int format => exact congrArg (fun l => g.ofInts format (List.take (i + 1) l)) (map_elems_eq (W := W) hc h)

theorem Reduction.eval_eq (g : Reduction) (n : NumType) {c : List Dim} (hc : c.all (Dim.free r) = true)
    {f : IndexAt ν c → n.denote α} {f' : IndexAt ν' c → n.denote α}
    (h : ∀ k k', W.Match c k k' → f k = f' k') : g.eval n f = g.eval n f' := by
  have h := map_elems_eq (W := W) hc h
  match g, n with
  | .sum, .float _ => exact congrArg Ops.sum h
  | .prod, .float _ => exact congrArg Ops.prod h
  | .max, .float _ => exact congrArg Ops.maxOf h
  | .min, .float _ => exact congrArg Ops.minOf h
  | .sum, .int _ => exact congrArg List.sum h
  | .prod, .int _ => exact congrArg (List.foldr (· * ·) 1) h
  | .max, .int f => exact congrArg (List.foldr Max.max f.lowest) h
  | .min, .int f => exact congrArg (List.foldr Min.min f.greatest) h

theorem Law.reduces_alone (hW : W.Admits law) {c : List Dim} {f : Nat → Bool}
    (h : law.reduces r c f = true) : c.all (Dim.regular r) = true ∧
      (∀ k q, W.AloneAt c q k → f q = true) ∧ ∀ k q, W.symm.AloneAt c q k → f q = true := by
  obtain ⟨hc, (hf | hf) | hf⟩ := reduces_cases hW h
  · exact ⟨hc, fun k q hk => absurd hk hf.not_aloneAt, fun k q hk => absurd hk hf.symm.not_aloneAt⟩
  · exact ⟨hc, fun k q hk => absurd hk (Overlap.not_aloneAt_free hf),
      fun k q hk => absurd hk (Overlap.not_aloneAt_free hf)⟩
  · exact ⟨hc, fun k q hk => onRows_alone hf hk, fun k q hk => onRows_alone hf hk⟩

theorem Op.agree (hW : W.Admits law) (hk : law.arithmetic.Admits α) (h : EnvRelated W L ρ ρ') {t : Ty}
    {op : Op Γ t} (hx : op.exact L = true) (hg : op.agrees law r L = true)
    {j : IndexAt ν t.shape} {j' : IndexAt ν' t.shape} (hj : W.Match t.shape j j') :
    op.eval ρ j = op.eval ρ' j' := by
  cases op with
  | unary g x => exact congrArg g.eval (x.agree h hx j j' hj)
  | is_finite x => exact congrArg Ops.isFinite (x.agree h hx j j' hj)
  | binary g x y =>
    obtain ⟨hx, hy⟩ := Bool.and_eq_true_iff.1 hx
    show g.eval _ _ _ = g.eval _ _ _
    rw [x.agree h hx j j' hj, y.agree h hy j j' hj]
  | compare g x y =>
    obtain ⟨hx, hy⟩ := Bool.and_eq_true_iff.1 hx
    show g.eval _ _ _ = g.eval _ _ _
    rw [x.agree h hx j j' hj, y.agree h hy j j' hj]
  | not x => exact congrArg (!·) (x.agree h hx j j' hj)
  | logical g x y =>
    obtain ⟨hx, hy⟩ := Bool.and_eq_true_iff.1 hx
    show g.eval _ _ = g.eval _ _
    rw [x.agree h hx j j' hj, y.agree h hy j j' hj]
  | select_n p x y =>
    obtain ⟨hpx, hy⟩ := Bool.and_eq_true_iff.1 hx
    obtain ⟨hp, hx⟩ := Bool.and_eq_true_iff.1 hpx
    show (if p.eval ρ j = true then _ else _) = if p.eval ρ' j' = true then _ else _
    rw [p.agree h hp j j' hj, x.agree h hx j j' hj, y.agree h hy j j' hj]
  | convert_element_type e x => exact congrArg (DType.convert _ e) (x.agree h hx j j' hj)
  | dim_as_value n =>
    show n.toInt ν = n.toInt ν'
    rcases Bool.or_eq_true_iff.1 hg with hg | hg
    · exact Dim.toInt_of_free W.same hg
    · rw [(Law.isPermutation_full hW hg).2]
  | iota s k =>
    show NumType.ofNat _ _ = NumType.ofNat _ _
    rw [Overlap.position_eq hg hj]
  | broadcast_in_dim _ _ x layout | squeeze _ x _ layout | transpose _ x _ layout =>
    exact x.agree h hx _ _ (Overlap.match_source _ hj)
  | reindex v x =>
    exact Overlap.read_agree hg (x.agree h hx) hj rfl
  | join v v' x y =>
    obtain ⟨hx, hy⟩ := Bool.and_eq_true_iff.1 hx
    have hg := Bool.and_eq_true_iff.1 hg
    exact Overlap.read_agree hg.1 (x.agree h hx) hj (Overlap.read_agree hg.2 (y.agree h hy) hj rfl)
  | cumulate g a x layout =>
    have hp := Overlap.position_eq (not_rows_of_free hg) hj
    show g.cumulative _ _ (j.position a) = g.cumulative _ _ (j'.position a)
    rw [hp]
    exact g.cumulative_eq (W := W) _ hg (fun k k' hk =>
      x.agree h hx _ _ (Overlap.match_source _ (Overlap.match_append hk hj))) _
  | reduce g axes x _ layout =>
    rcases Bool.or_eq_true_iff.1 hg with hg | hg
    · exact g.eval_eq (W := W) _ hg fun k k' hk =>
        x.agree h hx _ _ (Overlap.match_source _ (Overlap.match_append hk hj))
    · have hg := Bool.and_eq_true_iff.1 hg
      rw [Arithmetic.eq_real hg.1] at hk
      obtain ⟨real, rfl⟩ := hk
      exact g.agree hW (fun j j' hj => x.agree h hx _ _ (Overlap.match_source _ hj))
        ((h.left x).view _) ((h.right x).view _) hg.2 j j' hj
  | quantify g axes x _ layout =>
    obtain ⟨hc, ha, ha'⟩ := Law.reduces_alone hW hg
    have hl := (h.left x).view (Option.get _ layout)
    have hr := (h.right x).view (Option.get _ layout)
    cases g with
    | or =>
      exact Overlap.fany_eq (W := W) hc
        (fun k k' hk => x.agree h hx _ _ (Overlap.match_source _ (Overlap.match_append hk hj)))
        (fun k q hk => Lit.is_bool (α := α) (ha k q hk) fun b hb =>
          hl.value (.alone q) b hb _ (Overlap.aloneAt_append_left j hk))
        fun k q hk => Lit.is_bool (α := α) (ha' k q hk) fun b hb =>
          hr.value (.alone q) b hb _ (Overlap.aloneAt_append_left j' hk)
    | and =>
      exact Overlap.fall_eq (W := W) hc
        (fun k k' hk => x.agree h hx _ _ (Overlap.match_source _ (Overlap.match_append hk hj)))
        (fun k q hk => Lit.is_bool (α := α) (ha k q hk) fun b hb =>
          hl.value (.alone q) b hb _ (Overlap.aloneAt_append_left j hk))
        fun k q hk => Lit.is_bool (α := α) (ha' k q hk) fun b hb =>
          hr.value (.alone q) b hb _ (Overlap.aloneAt_append_left j' hk)
  | dot_general dn x y _ left right =>
    obtain ⟨hx, hy⟩ := Bool.and_eq_true_iff.1 hx
    have ha (k k') (hk : W.Match _ k k') :=
      have hm := Overlap.match_append hk hj
      And.intro (x.agree h hx _ _ (Overlap.match_source (Option.get _ left) hm))
        (y.agree h hy _ _ (Overlap.match_source (Option.get _ right) hm))
    rcases Bool.or_eq_true_iff.1 hg with hg | hg
    · exact congrArg Ops.dot (map_elems_eq (W := W) hg fun k k' hk =>
        congr (congrArg Prod.mk (ha k k' hk).1) (ha k k' hk).2)
    · have hg := Bool.and_eq_true_iff.1 hg
      rw [Arithmetic.eq_real hg.1] at hk
      obtain ⟨real, rfl⟩ := hk
      obtain ⟨hc, hz, hz'⟩ := Law.reduces_alone hW hg.2
      refine (fdot_eq_fsum _ _).trans (Eq.trans ?_ (fdot_eq_fsum _ _).symm)
      rw [fsum_eq_ffold, fsum_eq_ffold]
      refine Overlap.ffold_eq (W := W) absorbs_add hc (fun k k' hk => ?_) (fun k q hk => ?_) fun k q hk => ?_
      · rw [(ha k k' hk).1, (ha k k' hk).2]
      · exact dot_zero (hz k q hk) ((h.left x).view _) ((h.left y).view _) (Overlap.aloneAt_append_left j hk)
      · exact dot_zero (hz' k q hk) ((h.right x).view _) ((h.right y).view _)
          (Overlap.aloneAt_append_left j' hk)

/-- A maximum over rows agrees, once it is raised to what rows without a partner hold. -/
theorem Reduction.agree_upTo {law : Law} (hW : W.Admits law) {g : Reduction} {n : NumType} {c t : List Dim}
    {l : Label} {a : Lit} (hk : law.arithmetic.Admits α) (ha : g.upTo law r c l n = some a)
    {x : Ty.denote α ν ⟨.num n, c ++ t⟩} {x' : Ty.denote α ν' ⟨.num n, c ++ t⟩}
    (h : ∀ j j', W.Match (c ++ t) j j' → x j = x' j') (hl : l.Holds W (t := ⟨.num n, c ++ t⟩) x)
    (hr : l.Holds W.symm (t := ⟨.num n, c ++ t⟩) x') {j : IndexAt ν t} {j' : IndexAt ν' t}
    (hj : W.Match t j j') : AgreeUpTo (some a) (d := .num n)
      (g.eval n fun k : IndexAt ν c => x (IndexAt.append k j))
      (g.eval n fun k : IndexAt ν' c => x' (IndexAt.append k j')) := by
  match g, n with
  | .max, .float f =>
    simp only [upTo] at ha
    split at ha
    · unfold Lit.onlyIf at ha
      split at ha
      · rename_i hg
        cases ha
        simp only [Bool.and_eq_true] at hg
        obtain ⟨⟨⟨real, common⟩, regular⟩, alone⟩ := hg
        rw [Arithmetic.eq_real real] at hk
        obtain ⟨real, rfl⟩ := hk
        have raised := Overlap.max_fmax_eq (W := W) regular (Law.isNonempty_common hW common)
          (fun k k' hk => h _ _ (Overlap.match_append hk hj))
          (fun k q hk => hl.value (.alone q) _ (of_decide_eq_true (onRows_alone alone hk)) _
            (Overlap.aloneAt_append_left j hk))
          (fun k q hk => hr.value (.alone q) _ (of_decide_eq_true (onRows_alone alone hk)) _
            (Overlap.aloneAt_append_left j' hk))
        exact ⟨raised, (Overlap.max_comm _ _).trans (raised.trans (Overlap.max_comm _ _))⟩
      · contradiction
    · contradiction
  | .sum, _ | .prod, _ | .min, _ | .max, .int _ => simp [upTo] at ha

theorem Op.agree_upTo (hW : W.Admits law) (hk : law.arithmetic.Admits α) (h : EnvRelated W L ρ ρ') {t : Ty}
    {op : Op Γ t} {c : Lit} (hc : op.upTo law r L = some c) {j : IndexAt ν t.shape} {j' : IndexAt ν' t.shape}
    (hj : W.Match t.shape j j') : AgreeUpTo (some c) (op.eval ρ j) (op.eval ρ' j') := by
  cases op with
  | reduce g axes x _ layout =>
    simp only [upTo] at hc
    split at hc
    · rename_i hx
      exact g.agree_upTo hW hk hc (fun j j' hj => x.agree h hx _ _ (Overlap.match_source _ hj))
        ((h.left x).view _) ((h.right x).view _) hj
    · contradiction
  | _ => simp [upTo] at hc

theorem Label.raisedBy_agree {l l' : Label} (hr : l.raisedBy l' = true) {f : FloatType} {x y x' y' : α}
    (h : AgreeUpTo l.upTo (d := .float f) x x')
    (hy : ∀ c, l'.value .all = some c → c.Is (d := .float f) y ∧ c.Is (d := .float f) y') :
    Ops.max x y = Ops.max x' y' ∧ Ops.max y x = Ops.max y' x' := by
  unfold raisedBy at hr
  split at hr
  · rename_i n m hu
    obtain ⟨e, e'⟩ := hy _ (of_decide_eq_true hr)
    rw [hu] at h
    cases e; cases e'
    exact h
  · contradiction

theorem Op.agree_raises (h : EnvRelated W L ρ ρ') {t : Ty} {op : Op Γ t} (hr : op.raises L = true)
    {j : IndexAt ν t.shape} {j' : IndexAt ν' t.shape} (hj : W.Match t.shape j j') :
    op.eval ρ j = op.eval ρ' j' := by
  cases op with
  | @binary t s g x y =>
    match g, t with
    | .max, .float f =>
      have all (z : Arg Γ ⟨.float f, s⟩) c (hc : (z.label L).value .all = some c) :=
        And.intro ((h.left z).value .all c hc j trivial) ((h.right z).value .all c hc j' trivial)
      rcases Bool.or_eq_true_iff.1 hr with hr | hr
      · exact (Label.raisedBy_agree hr ((x.related h).agree j j' hj) (all y)).1
      · exact (Label.raisedBy_agree hr ((y.related h).agree j j' hj) (all x)).2
    | .add, _ | .sub, _ | .mul, _ | .div, _ | .min, _ | .max, .int _ => contradiction
  | _ => contradiction

/-! ### Equal runs -/

theorem Op.eval_same {ν : Nat → Nat} {W : Overlap r ν ν} {ρ ρ' : Env α ν Γ} (h : EnvRelated W L ρ ρ') {t : Ty}
    {op : Op Γ t} (hs : op.same L = true) : op.eval ρ = op.eval ρ' := by
  have e {t : Ty} (x : Arg Γ t) (hx : x.same L = true) : x.eval ρ = x.eval ρ' := Arg.eval_same h hx
  cases op <;> simp only [Op.same, Op.all, Bool.and_eq_true] at hs <;> simp only [Op.eval] <;>
    first
    | rfl
    | rw [e _ hs]
    | rw [e _ hs.1, e _ hs.2]
    | rw [e _ hs.1.1, e _ hs.1.2, e _ hs.2]

/-- Where entries are selected from an operand that is the same, they are the same. -/
theorem Op.eval_selects {ν : Nat → Nat} {W : Overlap r ν ν} (hW : W.Aligned) {ρ ρ' : Env α ν Γ}
    (h : EnvRelated W L ρ ρ') {t : Ty} {op : Op Γ t} {q : Nat} (hs : op.selects L q = true)
    {j : IndexAt ν t.shape} (hj : W.AloneAt t.shape q j) : op.eval ρ j = op.eval ρ' j := by
  have hj' : W.symm.AloneAt t.shape q j := by
    obtain ⟨d, hq, hd, ho⟩ := hj
    exact ⟨d, hq, hd, hW.alone _ ho⟩
  cases op with
  | select_n p x y =>
    have known {b : Bool} (hb : Lit.isBool b ((p.label L).value (.alone q)) = true) :
        p.eval ρ j = b ∧ p.eval ρ' j = b :=
      ⟨Lit.is_bool (α := α) hb fun a ha => (h.left p).value _ a ha j hj,
        Lit.is_bool (α := α) hb fun a ha => (h.right p).value _ a ha j hj'⟩
    show (if p.eval ρ j = true then _ else _) = if p.eval ρ' j = true then _ else _
    simp only [selects, Bool.or_eq_true, Bool.and_eq_true] at hs
    rcases hs with ⟨hp, hx⟩ | ⟨hp, hy⟩
    · rw [(known hp).1, (known hp).2, Arg.eval_same h hx]; rfl
    · rw [(known hp).1, (known hp).2, Arg.eval_same h hy]; rfl
  | _ => contradiction

/-- Between aligned bags, a value is the same if the entries of rows without a partner are. -/
theorem eq_of_alone {ν : Nat → Nat} {W : Overlap r ν ν} (hW : W.Aligned) {β : Type} {s : List Dim}
    {x x' : IndexAt ν s → β} (ha : ∀ j j', W.Match s j j' → x j = x' j')
    (h : ∀ j q, W.AloneAt s q j → x j = x' j) : x = x' := by
  funext j
  rcases hW.match_self j with hj | ⟨q, hj⟩
  · exact ha j j hj
  · exact h j q hj

/-! ### Programs -/

theorem Op.known_upTo {k : Arithmetic} {t : Ty} (op : Op Γ t) : (op.known k L).upTo = none := by
  cases op <;> rfl

theorem Op.known_same {k : Arithmetic} {t : Ty} (op : Op Γ t) : (op.known k L).same = false := by
  cases op <;> rfl

theorem Law.isAligned_aligned (hW : W.Admits law) (h : law.isAligned = true) : W.Aligned := by
  cases law <;> first | exact hW | contradiction

theorem Op.related (hW : W.Admits law) (hk : law.arithmetic.Admits α) (h : EnvRelated W L ρ ρ') {t : Ty}
    {op : Op Γ t} {l : Label} (hl : op.label law r L = some l) : Related W l (op.eval ρ) (op.eval ρ') := by
  have hx := op.holds h.left hk
  have hx' := op.holds h.right hk
  have agree (ha : (op.exact L && op.agrees law r L || op.raises L) = true) (j j')
      (hj : W.Match t.shape j j') : op.eval ρ j = op.eval ρ' j' := by
    rcases Bool.or_eq_true_iff.1 ha with ha | ha
    · exact op.agree hW hk h (Bool.and_eq_true_iff.1 ha).1 (Bool.and_eq_true_iff.1 ha).2 hj
    · exact op.agree_raises h ha hj
  have eq_of_same (hs : (law.isAligned && (op.same L || (op.exact L && op.agrees law r L || op.raises L) &&
      onRows r t.shape fun q =>
        ((op.known law.arithmetic L).value (.alone q)).isSome || op.selects L q)) = true) :
      W.Aligned ∧ HEq (op.eval ρ) (op.eval ρ') := by
    simp only [Bool.and_eq_true, Bool.or_eq_true (op.same L)] at hs
    have aligned := Law.isAligned_aligned hW hs.1
    obtain hν := aligned.sizes
    subst hν
    refine ⟨aligned, heq_of_eq ?_⟩
    rcases hs.2 with hs | ⟨ha, hs⟩
    · exact op.eval_same h hs
    · refine eq_of_alone aligned (agree ha) fun j q hj => ?_
      rcases Bool.or_eq_true_iff.1 (onRows_alone hs hj) with hc | hc
      · obtain ⟨c, hc⟩ := Option.isSome_iff_exists.1 hc
        obtain ⟨d, hq, hd, ho⟩ := hj
        exact Lit.Is.unique (hx.value _ c hc j ⟨d, hq, hd, ho⟩)
          (hx'.value _ c hc j ⟨d, hq, hd, aligned.alone _ ho⟩)
      · exact op.eval_selects aligned h hc hj
  simp only [Op.label] at hl
  split at hl
  · rename_i hg
    cases hl
    refine ⟨fun j j' hj => ?_, ⟨hx.value, hx.lower⟩, ⟨hx'.value, hx'.lower⟩,
      fun hs _ => (eq_of_same hs).2⟩
    rw [show ({ op.known law.arithmetic L with same := _ } : Label).upTo = none from op.known_upTo]
    rcases Bool.or_eq_true_iff.1 hg with hg | hg
    · exact agree hg j j' hj
    · obtain ⟨aligned, e⟩ := eq_of_same hg
      obtain hν := aligned.sizes
      subst hν
      show op.eval ρ j = op.eval ρ' j'
      rw [aligned.eq hj, eq_of_heq e]
  · split at hl
    · rename_i c hc
      cases hl
      exact ⟨fun j j' hj => op.agree_upTo hW hk h hc hj, ⟨hx.value, hx.lower⟩, ⟨hx'.value, hx'.lower⟩,
        fun hs => by rw [show ({ op.known law.arithmetic L with upTo := _ } : Label).same = false from
          op.known_same] at hs; contradiction⟩
    · contradiction

/-! ### Programs -/

theorem Lit.force_eq {β : Type} (c : Option Lit) (k : Option Lit → β) : Lit.force c k = k c := by
  match c with
  | none | some (.real ..) | some .nan | some (.int _) => rfl
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
    k (ofValues (l.value .all) ((List.range rank).map fun q => l.value (.alone q)) l.lower l.same
      l.upTo) := by
  rw [force, Lit.force_eq, Lit.force_eq, Lit.force_eq, forceAxes_eq]
  cases l.same <;> rfl

theorem Related.force {t : Ty} {l : Label} {x : t.denote α ν} {x' : t.denote α ν'} (h : Related W l x x')
    (rank : Nat) : Related W
      (.ofValues (l.value .all) ((List.range rank).map fun q => l.value (.alone q)) l.lower l.same l.upTo)
      x x' := by
  have value {p : Part} {c : Lit} (hc : (Label.ofValues (l.value .all)
      ((List.range rank).map fun q => l.value (.alone q)) l.lower l.same l.upTo).value p = some c) :
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
theorem Program.related (hW : W.Admits law) (hk : law.arithmetic.Admits α) {Γ : List Ty} {t : Ty}
    {program : Program Γ t} {L : List Label}
    {ρ : Env α ν Γ} {ρ' : Env α ν' Γ} (h : EnvRelated W L ρ ρ') {l : Label}
    (hl : program.check law r L = some l) : Related W l (program.run ρ) (program.run ρ') := by
  induction program generalizing L l with
  | ret x => cases hl; exact x.related h
  | eqn u op rest ih =>
    simp only [check] at hl
    split at hl
    · rename_i k hl'
      rw [Label.force_eq] at hl
      exact ih (L := _ :: L) (ρ := (op.eval ρ, ρ)) (ρ' := (op.eval ρ', ρ'))
        ⟨(op.related hW hk h hl').force _, h⟩ hl
    · contradiction

/-- A program that passes the check has the same result in both runs. -/
theorem Program.run_eq (hW : W.Admits law) (hk : law.arithmetic.Admits α) {Γ : List Ty} {t : Ty}
    {program : Program Γ t} {L : List Label} {ρ : Env α ν Γ} {ρ' : Env α ν' Γ} (h : EnvRelated W L ρ ρ')
    (hc : program.invariant law r L = true) {j : IndexAt ν t.shape} {j' : IndexAt ν' t.shape}
    (hj : W.Match t.shape j j') : program.run ρ j = program.run ρ' j' := by
  unfold invariant at hc
  split at hc
  · rename_i l hl; exact (Program.related hW hk h hl).exact W hc j j' hj
  · contradiction

end MaskPool
