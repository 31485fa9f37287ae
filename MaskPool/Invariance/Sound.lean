module

public import MaskPool.Invariance.Elementwise
public import MaskPool.Invariance.Reduce

/-!
# The checker is right

`Program.related`: the values of a program that passes `Program.check` are related as its label says, for
every arithmetic of real numbers and at all sizes. There is one lemma for each kind of equation.
-/

@[expose] public noncomputable section

namespace MaskPool

open RealArith Overlap

variable {R : Type} [RealArith R] {α : Type} [Ops α] {r : Nat} {ν ν' : Nat → Nat}

namespace Overlap

/-- Bags of the same size, whose common rows have the same positions. -/
structure Aligned (W : Overlap r ν ν') : Prop where
  sizes : ν = ν'
  pair : ∀ x x', W.Pair x x' → x = x'
  alone : ∀ x, W.Alone x → W.symm.Alone x

/-- The bags compare as the law asks. -/
def Admits (W : Overlap r ν ν') : Law → Prop
  | .permutation => W.Full ∧ ν = ν'
  | .padding nonempty _ => nonempty = true → Nonempty W.Common
  | .irrelevance _ => W.Aligned

theorem index_ext {ν : Nat → Nat} {s : List Dim} {i j : IndexAt ν s}
    (h : ∀ q d, s[q]? = some d → i.position q = j.position q) : i = j := by
  induction s with
  | nil => rfl
  | cons d s ih =>
    exact Prod.ext (Fin.ext (h 0 d rfl)) (ih fun q u hq => h (q + 1) u (by simpa using hq))

theorem Aligned.eq {W : Overlap r ν ν} (h : W.Aligned) {s : List Dim} {j j' : IndexAt ν s}
    (hj : W.Match s j j') : j = j' := by
  refine index_ext fun q d hq => ?_
  have hm := hj q d hq
  by_cases hd : d.isRows r = true
  · exact h.pair _ _ ((matchAt_rows hd).1 hm)
  · simpa [MatchAt, hd] using hm

theorem Aligned.match_self {W : Overlap r ν ν} (h : W.Aligned) {s : List Dim} (j : IndexAt ν s) :
    W.Match s j j ∨ ∃ q, W.AloneAt s q j := by
  induction s with
  | nil => exact .inl match_nil
  | cons d s ih =>
    rcases ih j.2 with hj | ⟨q, ho⟩
    · by_cases hd : d.isRows r = true
      · cases Dim.isRows_iff.1 hd
        have hi := W.left.right_inv j.1
        cases hc : W.left.inv j.1 with
        | inl c =>
          rw [hc] at hi
          have hp : W.Pair j.1.1 (W.right (.inl c)).1 := ⟨c, congrArg Fin.val hi, rfl⟩
          rw [← h.pair _ _ hp] at hp
          exact .inl (match_cons.2 ⟨(matchAt_rows hd).2 hp, hj⟩)
        | inr z =>
          rw [hc] at hi
          exact .inr ⟨0, _, rfl, hd, z, congrArg Fin.val hi⟩
      · exact .inl (match_cons.2 ⟨by simp [MatchAt, hd], hj⟩)
    · exact .inr ⟨q + 1, aloneAt_cons ho⟩

end Overlap

variable {W : Overlap r ν ν'} {Γ : List Ty} {L : List Label} {ρ : Env α ν Γ} {ρ' : Env α ν' Γ} {law : Law}

/-! ### Variables and literals -/

theorem Related.junk {t : Ty} {x : t.denote α ν} {x' : t.denote α ν'}
    (h : ∀ j j', W.Match t.shape j j' → x j = x' j') : Related W .junk x x' where
  agree := h
  left := ⟨fun p c hc => by simp at hc, fun c hc => by simp at hc⟩
  right := ⟨fun p c hc => by simp at hc, fun c hc => by simp at hc⟩
  same h _ := by simp at h

theorem EnvRelated.length (h : EnvRelated W L ρ ρ') : L.length = Γ.length := by
  induction Γ generalizing L with
  | nil => cases L with
    | nil => rfl
    | cons l L => exact h.elim
  | cons t Γ ih => cases L with
    | nil => exact h.elim
    | cons l L => simp [ih h.2]

theorem EnvRelated.get (h : EnvRelated W L ρ ρ') {k : Nat} {t : Ty} (hk : numbered Γ k = some t) :
    Related W (t := t) ((numbered L k).getD .junk) (ρ.get k hk) (ρ'.get k hk) := by
  induction Γ generalizing L with
  | nil => contradiction
  | cons u Γ ih =>
    cases L with
    | nil => exact h.elim
    | cons l L =>
      rw [numbered, h.2.length]
      have pick {b : Bool} (hb : (bif b then some u else numbered Γ k) = some t) :
          Related W (t := t) ((bif b then some l else numbered L k).getD .junk)
            (Env.choose b hb ρ.1 (ρ.2.get k)) (Env.choose b hb ρ'.1 (ρ'.2.get k)) := by
        cases b with
        | true => cases hb; exact h.1
        | false => exact ih h.2 hb
      exact pick hk

theorem Related.const {d : DType} {s : List Dim} {c : Lit} {lower : Option Lit} {x : d.denote α} (hx : c.Is x)
    (hl : ∀ b, lower = some b → b.Le x) :
    Related W (t := ⟨d, s⟩) { value := fun _ => some c, lower, same := true } (fun _ => x) fun _ => x where
  agree _ _ _ := rfl
  left := ⟨fun p b hb j _ => by cases hb; exact hx, fun b hb j => hl b hb⟩
  right := ⟨fun p b hb j _ => by cases hb; exact hx, fun b hb j => hl b hb⟩
  same _ hν := by subst hν; exact .rfl

theorem Arg.related (h : EnvRelated W L ρ ρ') {t : Ty} (x : Arg Γ t) :
    Related W (x.label L) (x.eval ρ) (x.eval ρ') := by
  cases x with
  | var k hk => exact h.get hk
  | real n m =>
    refine .const rfl fun b hb => ?_
    cases hb
    intro real h
    obtain rfl : real.toOps = _ := h
    exact Std.le_refl (Ops.lit n m : α)
  | infinity | nan => exact .const rfl fun b hb => by cases hb
  | int z => exact .const rfl fun b hb => by cases hb; exact Int.le_refl z
  | bool b => exact .const rfl fun b hb => by cases hb

theorem Arg.agree (h : EnvRelated W L ρ ρ') {t : Ty} {x : Arg Γ t} (hx : x.exact L = true) (j j')
    (hj : W.Match t.shape j j') : x.eval ρ j = x.eval ρ' j' := (x.related h).exact W hx j j' hj

theorem Arg.eval_same {ν : Nat → Nat} {W : Overlap r ν ν} {ρ ρ' : Env α ν Γ} (h : EnvRelated W L ρ ρ')
    {t : Ty} {x : Arg Γ t} (hx : x.same L = true) : x.eval ρ = x.eval ρ' :=
  eq_of_heq ((x.related h).same hx rfl)

/-! ### Views -/

theorem Label.Holds.view {d : DType} {s t : List Dim} {l : Label} {x : Ty.denote α ν ⟨d, s⟩}
    (h : l.Holds W (t := ⟨d, s⟩) x) (v : View s t) :
    (l.view v).Holds W (t := ⟨d, t⟩) fun j => x (v.source j) where
  value p c hc j hj := by
    cases p with
    | all => exact h.value .all c hc _ trivial
    | alone q =>
      simp only [Label.view, Label.through] at hc
      split at hc
      · rename_i p hp; exact h.value (.alone p) c hc _ (Overlap.aloneAt_source v hj hp)
      · exact h.value .all c hc _ trivial
  lower c hc j := h.lower c hc _

theorem Lit.falsity_is {d : DType} {c : Option Lit} (h : isFalsity d c = true) {x : d.denote α}
    (hx : ∀ a, c = some a → a.Is x) : d.falsity.Is x := hx _ (of_decide_eq_true h)

theorem Lit.zero_falsity {d : DType} : d.falsity.Is (DType.zero (α := α) d) := by
  match d with
  | .float _ | .int _ | .bool => rfl

theorem Label.Holds.read {d : DType} {s t : List Dim} {l : Label} {x : Ty.denote α ν ⟨d, s⟩}
    (h : l.Holds W (t := ⟨d, s⟩) x) (v : Reading s t) (z : d.denote α) (hz : d.falsity.Is z) :
    (l.read d v).Holds W (t := ⟨d, t⟩) fun j => v.read x j z where
  value p c hc j hj := by
    have known (i : IndexAt ν s) (hi : v.index? j = some i) (a : Lit) (ha : l.through v.follower p = some a) :
        a.Is (x i) := by
      cases p with
      | all => exact h.value .all a ha _ trivial
      | alone q =>
        simp only [Label.through] at ha
        split at ha
        · rename_i p hp; exact h.value (.alone p) a ha _ (Overlap.aloneAt_index? hj hp hi)
        · exact h.value .all a ha _ trivial
    rw [v.read_eq]
    simp only [Label.read] at hc
    split at hc
    · rename_i hin
      obtain ⟨i, hi⟩ := Reading.index?_inside hin j
      rw [hi]; exact known i hi c hc
    · refine Lit.onlyIf_is (fun hf => ?_) hc
      cases hi : v.index? j with
      | none => exact hz
      | some i => exact Lit.falsity_is hf (known i hi)
  lower c hc j := by
    simp only [Label.read] at hc
    split at hc
    · rename_i hin
      obtain ⟨i, hi⟩ := Reading.index?_inside hin j
      rw [v.read_eq, hi]; exact h.lower c hc i
    · contradiction

theorem Overlap.read_agree {β : Type} {s t : List Dim} {v : Reading s t} (hv : v.keepsRows r = true)
    {x : IndexAt ν s → β} {x' : IndexAt ν' s → β} (h : ∀ j j', W.Match s j j' → x j = x' j')
    {j : IndexAt ν t} {j' : IndexAt ν' t} (hj : W.Match t j j') {z z' : β} (hz : z = z') :
    v.read x j z = v.read x' j' z' := by
  rw [v.read_eq, v.read_eq]
  rcases match_index? hv hj with ⟨h1, h2⟩ | ⟨i, i', h1, h2, hi⟩
  · rw [h1, h2]; exact hz
  · rw [h1, h2]; exact h i i' hi

theorem Overlap.inPart_append {c t : List Dim} {p : Part} {j : IndexAt ν t} (h : W.InPart t p j)
    (k : IndexAt ν c) : W.InPart (c ++ t) (p.behind c.length) (IndexAt.append k j) := by
  cases p with
  | all => trivial
  | alone q => exact Overlap.aloneAt_append_right k h

/-! ### What is known of one run -/

/-- The values of a run are as the labels say. -/
def EnvHolds (W : Overlap r ν ν') (L : List Label) (ρ : Env α ν Γ) : Prop :=
  ∀ {t : Ty} (x : Arg Γ t), (x.label L).Holds W (x.eval ρ)

theorem EnvRelated.left (h : EnvRelated W L ρ ρ') : EnvHolds W L ρ := fun x => (x.related h).left

theorem EnvRelated.right (h : EnvRelated W L ρ ρ') : EnvHolds W.symm L ρ' := fun x => (x.related h).right

/-! ### Reductions -/

theorem onRows_alone {s : List Dim} {f : Nat → Bool} (h : onRows r s f = true) {k : IndexAt ν s} {q : Nat}
    (hk : W.AloneAt s q k) : f q = true := by
  obtain ⟨d, hq, hd, _⟩ := hk
  have := List.all_eq_true.1 h q (List.mem_range.2 (List.getElem?_eq_some_iff.1 hq).1)
  rw [hq] at this
  simpa [hd] using this

theorem Law.isPermutation_full (hW : W.Admits law) (h : law.isPermutation = true) : W.Full ∧ ν = ν' := by
  cases law <;> first | exact hW | contradiction

theorem Law.reduces_cases (hW : W.Admits law) {c : List Dim} {f : Nat → Bool} (h : law.reduces r c f = true) :
    c.all (Dim.regular r) = true ∧ ((W.Full ∨ c.all (Dim.free r) = true) ∨ onRows r c f = true) := by
  simp only [reduces, Bool.and_eq_true, Bool.or_eq_true] at h
  refine ⟨h.1, ?_⟩
  rcases h.2 with (h | h) | h
  · exact .inl (.inr h)
  · exact .inr h
  · exact .inl (.inl (isPermutation_full hW h).1)

/-- A reduction of integers with a neutral literal combines all values by an operation. -/
theorem Reduction.absorbs_int {g : Reduction} {f : IntType} {c : Lit} (hc : g.neutral (.int f) = some c) :
    ∃ (op : Int → Int → Int) (e : Int), Absorbs op e ∧
      (∀ x : Int, c.Is (α := α) (d := .int f) x ↔ x = e) ∧
      ∀ (ι : Type) [Enum ι] (x : ι → Int), g.eval (α := α) (.int f) x = ffold op e x := by
  cases g <;> cases hc
  · exact ⟨_, 0, absorbs_int_add, fun x => Iff.rfl, fun ι _ f => rfl⟩
  · exact ⟨_, 1, absorbs_int_mul, fun x => Iff.rfl, fun ι _ f => rfl⟩
  · exact ⟨_, f.lowest, absorbs_int_max _, fun x => Iff.rfl, fun ι _ f => rfl⟩
  · exact ⟨_, f.greatest, absorbs_int_min _, fun x => Iff.rfl, fun ι _ f => rfl⟩

/-- A reduction with a neutral literal combines all values by an operation. -/
theorem Reduction.absorbs {g : Reduction} {n : NumType} {c : Lit} (hc : g.neutral n = some c) :
    ∃ (op : n.denote R → n.denote R → n.denote R) (e : n.denote R), Absorbs op e ∧
      (∀ x : n.denote R, c.Is (d := .num n) x ↔ x = e) ∧
      ∀ (ι : Type) [Enum ι] (f : ι → n.denote R), g.eval n f = ffold op e f := by
  match g, n with
  | .sum, .float _ =>
    cases hc
    exact ⟨_, 0, absorbs_add, fun x => Lit.zero_is_float, fun ι _ f => fsum_eq_ffold f⟩
  | .prod, .float _ =>
    cases hc
    exact ⟨_, 1, absorbs_mul, fun x => by rw [← ops_lit_one]; exact Iff.rfl, fun ι _ f => fprod_eq_ffold f⟩
  | _, .int _ => exact absorbs_int hc
  | .max, .float _ | .min, .float _ => simp [neutral] at hc

theorem Reduction.eval_full (g : Reduction) (n : NumType) {c : List Dim} (hc : c.all (Dim.regular r) = true)
    (hW : W.Full ∨ c.all (Dim.free r) = true) {f : IndexAt ν c → n.denote R} {f' : IndexAt ν' c → n.denote R}
    (h : ∀ k k', W.Match c k k' → f k = f' k') : g.eval n f = g.eval n f' := by
  cases hn : g.neutral n with
  | some a =>
    obtain ⟨op, e, ho, _, he⟩ := absorbs (R := R) hn
    rw [he, he]; exact Overlap.ffold_eq_full ho hc hW h
  | none =>
    match g, n with
    | .max, .float _ => exact Overlap.fmax_eq_full (W := W) hc hW h
    | .min, .float _ => exact Overlap.fmin_eq_full (W := W) hc hW h
    | .sum, .float _ | .prod, .float _ | .sum, .int _ | .prod, .int _ | .max, .int _ | .min, .int _ =>
      simp [neutral] at hn

theorem Lit.isNeutral_some {n : NumType} {c a : Option Lit} (h : isNeutral n c a = true) :
    ∃ b, c = some b := by
  cases c with
  | none => simp [isNeutral] at h
  | some b => exact ⟨b, rfl⟩

theorem Lit.is_neutral_int {f : IntType} {c : Lit} {a : Option Lit}
    (h : isNeutral (.int f) (some c) a = true) {x : Int}
    (hx : ∀ b, a = some b → b.Is (α := α) (d := .int f) x) : c.Is (α := α) (d := .int f) x := by
  simp only [isNeutral, Bool.or_eq_true, Bool.and_eq_true, decide_eq_true_eq] at h
  rcases h with h | ⟨h, rfl⟩
  · exact hx c h
  · exact is_zero_int h hx

theorem Lit.is_neutral {n : NumType} {c : Lit} {a : Option Lit} (h : isNeutral n (some c) a = true)
    {x : n.denote R} (hx : ∀ b, a = some b → b.Is (d := .num n) x) : c.Is (d := .num n) x := by
  match n with
  | .int f => exact is_neutral_int h hx
  | .float f =>
    simp only [isNeutral, Bool.or_eq_true, Bool.and_eq_true, decide_eq_true_eq] at h
    rcases h with h | ⟨h, rfl⟩
    · exact hx c h
    · exact zero_is_float.2 (is_zero_float h hx)

/-- A reduction of values that are all the same literal. -/
theorem Arithmetic.reduce_is {k : Arithmetic} (hk : k.Admits α) (g : Reduction) {n : NumType} {ι : Type}
    [Enum ι] {x : ι → n.denote α} {a : Option Lit} (hx : ∀ i c, a = some c → c.Is (d := .num n) (x i))
    {c : Lit} (hc : k.reduce g n a = some c) : c.Is (d := .num n) (g.eval n x) := by
  match k, n with
  | .real, .int f | .any, .int f | .floating, .int f =>
    simp only [reduce] at hc
    split at hc
    · rename_i hn
      obtain ⟨op, e, ho, hi, he⟩ := Reduction.absorbs_int (α := α) hc
      rw [hc] at hn
      rw [he, hi, funext fun i => (hi _).1 (Lit.is_neutral_int hn (hx i))]
      exact ffold_const ho
    · contradiction
  | .real, .float f =>
    obtain ⟨real, rfl⟩ := hk
    simp only [reduce] at hc
    split at hc
    · rename_i hn
      obtain ⟨op, e, ho, hi, he⟩ := Reduction.absorbs (R := α) hc
      rw [hc] at hn
      rw [he, hi, funext fun i => (hi _).1 (Lit.is_neutral hn (hx i))]
      exact ffold_const ho
    · contradiction
  | .any, .float _ => contradiction
  | .floating, .float f =>
    cases g with
    | sum =>
      refine Lit.onlyIf_is (fun h => ?_) hc
      rw [show x = fun _ => Ops.lit 0 1 from funext fun i => isZero_is h (hx i)]
      show Ops.sum (List.map (fun _ : ι => (Ops.lit 0 1 : α)) Enum.elems) = Ops.lit 0 1
      rw [List.map_const']
      exact hk.sum_zero _
    | prod | max | min => contradiction

/-- A contraction of values that are all the same literals. -/
theorem Arithmetic.dot_is {k : Arithmetic} (hk : k.Admits α) {f : FloatType} {ι : Type} [Enum ι]
    {x y : ι → α} {a b : Option Lit} (hx : ∀ i c, a = some c → c.Is (d := .float f) (x i))
    (hy : ∀ i c, b = some c → c.Is (d := .float f) (y i)) {c : Lit} (hc : k.dot f a b = some c) :
    c.Is (d := .float f) (fdot x y) := by
  match k with
  | .any => contradiction
  | .real =>
    obtain ⟨real, rfl⟩ := hk
    refine Lit.onlyIf_is (fun hz => Lit.zero_is_float.2 ?_) hc
    refine (fdot_eq_fsum _ _).trans ((fsum_congr fun i => ?_).trans fsum_zero)
    rcases Bool.or_eq_true_iff.1 hz with hz | hz
    · rw [Lit.is_zero_float hz (hx i)]; exact Lean.Grind.Semiring.zero_mul _
    · rw [Lit.is_zero_float hz (hy i)]; exact Lean.Grind.Semiring.mul_zero _
  | .floating =>
    refine Lit.onlyIf_is (fun hz => ?_) hc
    have hz := Bool.and_eq_true_iff.1 hz
    rw [show x = fun _ => Ops.lit 0 1 from funext fun i => isZero_is hz.1 (hx i),
      show y = fun _ => Ops.lit 0 1 from funext fun i => isZero_is hz.2 (hy i)]
    show Ops.dot (List.map (fun _ : ι => ((Ops.lit 0 1 : α), (Ops.lit 0 1 : α))) Enum.elems) = Ops.lit 0 1
    rw [List.map_const']
    exact hk.dot_zero _

section

variable {n : NumType} {c t : List Dim} {l : Label} {x : Ty.denote R ν ⟨.num n, c ++ t⟩}
  {x' : Ty.denote R ν' ⟨.num n, c ++ t⟩}

theorem Law.isNonempty_common (hW : W.Admits law) (h : law.isNonempty = true) : Nonempty W.Common := by
  match law, h with
  | .padding true _, _ => exact hW rfl

theorem Reduction.agree (g : Reduction) (hW : W.Admits law)
    (h : ∀ j j', W.Match (c ++ t) j j' → x j = x' j') (hl : l.Holds W (t := ⟨.num n, c ++ t⟩) x)
    (hr : l.Holds W.symm (t := ⟨.num n, c ++ t⟩) x')
    (hg : (law.reduces r c (fun q => Lit.isNeutral n (g.neutral n) (l.value (.alone q))) ||
      g.bounded law r c l n) = true) (j : IndexAt ν t) (j' : IndexAt ν' t) (hj : W.Match t j j') :
    (g.eval n fun k : IndexAt ν c => x (IndexAt.append k j)) =
      g.eval n fun k : IndexAt ν' c => x' (IndexAt.append k j') := by
  have ha (k : IndexAt ν c) (k' : IndexAt ν' c) (hk : W.Match c k k') :
      x (IndexAt.append k j) = x' (IndexAt.append k' j') := h _ _ (Overlap.match_append hk hj)
  rcases Bool.or_eq_true_iff.1 hg with hg | hg
  · obtain ⟨hc, hf | hf⟩ := Law.reduces_cases hW hg
    · exact g.eval_full n hc hf ha
    · by_cases hn : ∃ a, g.neutral n = some a
      · obtain ⟨a, hn⟩ := hn
        obtain ⟨op, e, ho, hi, he⟩ := absorbs (R := R) hn
        rw [he, he]
        rw [hn] at hf
        refine Overlap.ffold_eq (W := W) ho hc ha (fun k q hk => (hi _).1 ?_) fun k' q hk => (hi _).1 ?_
        · exact Lit.is_neutral (onRows_alone hf hk) fun b hb =>
            hl.value (.alone q) b hb _ (Overlap.aloneAt_append_left j hk)
        · exact Lit.is_neutral (onRows_alone hf hk) fun b hb =>
            hr.value (.alone q) b hb _ (Overlap.aloneAt_append_left j' hk)
      · refine g.eval_full n hc (.inr ?_) ha
        refine List.all_eq_true.2 fun d hd => ?_
        obtain ⟨q, hq⟩ := List.mem_iff_getElem?.1 hd
        have hlt := (List.getElem?_eq_some_iff.1 hq).1
        have := List.all_eq_true.1 hf q (List.mem_range.2 hlt)
        rw [hq] at this
        rcases Bool.or_eq_true_iff.1 this with hd' | hd'
        · have := List.all_eq_true.1 hc d hd
          simp only [Dim.regular, Bool.or_eq_true] at this
          exact this.resolve_left (by simpa using hd')
        · exact absurd (Lit.isNeutral_some hd') hn
  · cases n with
    | int f => simp [bounded] at hg
    | float f =>
      simp only [bounded] at hg
      split at hg
      · rename_i a b hlow _
        simp only [Bool.and_eq_true] at hg
        have common := Law.isNonempty_common hW hg.1.1
        refine Overlap.fmax_eq_nonempty (W := W) hg.1.2 common ha (v := Ops.lit a b)
          (fun k => hl.lower _ hlow _ _ rfl)
          (fun k' => hr.lower _ hlow _ _ rfl) (fun k q hk => ?_) fun k' q hk => ?_
        · exact hl.value (.alone q) _ (of_decide_eq_true (onRows_alone hg.2 hk)) _
            (Overlap.aloneAt_append_left j hk)
        · exact hr.value (.alone q) _ (of_decide_eq_true (onRows_alone hg.2 hk)) _
            (Overlap.aloneAt_append_left j' hk)
      · contradiction

end

end MaskPool
