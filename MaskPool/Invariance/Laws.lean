module

public import MaskPool.Invariance.Bags
public import MaskPool.Invariance.Program

/-!
# The laws of a kernel that passes the check

`kernel.check law rows mask`: has the kernel the same result on bags that compare as `law` says? The number of
rows is the size variable number `rows`. The argument at the position `mask` masks rows: it is zero or false
at every row without a partner. All other arguments with rows may hold anything there. The result has no axis
of rows.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

@[expose] public noncomputable section

namespace MaskPool

open RealArith

/-! ### The check -/

/-- What a law says of an argument of the type `t`, which masks rows or not. -/
def Law.argument (law : Law) (r : Nat) (masks : Bool) (t : Ty) : Label where
  value
    | .all => none
    | .alone q => if masks && t.shape[q]?.any (Dim.isRows r) then some t.dtype.falsity else none
  same := law.isAligned && (masks || t.shape.all (Dim.free r))

/-- What a law says of the arguments from the position `position` on. -/
def Law.arguments (law : Law) (r mask : Nat) : (position : Nat) → List Ty → List Label
  | _, [] => []
  | p, t :: Γ => law.argument r (p == mask) t :: law.arguments r mask (p + 1) Γ

/-- All axes are of rows, or of sizes that the rows have no part in. -/
def regularTypes (r : Nat) (types : List Ty) : Bool := types.all fun t => t.shape.all (Dim.regular r)

/-- Do two runs of the kernel have the same result? -/
def Kernel.check {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result) (law : Law)
    (rows mask : Nat) : Bool :=
  regularTypes rows arguments && result.shape.all (Dim.free rows) &&
    Program.invariant law rows kernel (law.arguments rows mask 0 arguments).reverse

/-- The number of the first variable at whose equation two runs may begin to disagree. -/
def Kernel.firstBad {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result) (law : Law)
    (rows mask : Nat) : Option Nat :=
  Program.firstBad law rows kernel (law.arguments rows mask 0 arguments).reverse

section

variable {R : Type} [RealArith R] {α : Type} [Ops α] {r : Nat} {ν ν' : Nat → Nat} {W : Overlap r ν ν'}
  {law : Law}

theorem EnvRelated.reverseOnto {Γ Δ : List Ty} {L M : List Label} {ρ : Env α ν Γ} {ρ' : Env α ν' Γ}
    {σ : Env α ν Δ} {σ' : Env α ν' Δ} (h : EnvRelated W L ρ ρ') (h' : EnvRelated W M σ σ') :
    EnvRelated W (L.reverseAux M) (ρ.reverseOnto σ) (ρ'.reverseOnto σ') := by
  induction Γ generalizing Δ L M with
  | nil =>
    cases L with
    | nil => exact h'
    | cons l L => exact h.elim
  | cons t Γ ih =>
    cases L with
    | nil => exact h.elim
    | cons l L => exact ih (Δ := t :: Δ) (M := l :: M) h.2 ⟨h.1, h'⟩

/-- Two runs of a kernel that passes the check have the same result. -/
theorem Kernel.run_eq {arguments : List Ty} {result : Ty} {kernel : Kernel arguments result} {mask : Nat}
    (hW : W.Admits law) (hk : law.arithmetic.Admits α) (hc : kernel.check law r mask = true)
    {ρ : Env α ν arguments}
    {ρ' : Env α ν' arguments}
    (h : EnvRelated W (law.arguments r mask 0 arguments) ρ ρ') {j : IndexAt ν result.shape}
    {j' : IndexAt ν' result.shape} (hj : W.Match result.shape j j') :
    Program.run kernel ρ.reverse j = Program.run kernel ρ'.reverse j' := by
  simp only [check, Bool.and_eq_true] at hc
  exact Program.run_eq hW hk (h.reverseOnto (Δ := []) (M := []) (σ := ()) (σ' := ()) trivial) hc.2 hj

/-! ### Arguments that are related as a law asks -/

/-- The entry is zero or false. -/
def DType.IsFalsity : (d : DType) → d.denote α → Prop
  | .float _, x => x = Ops.lit 0 1
  | .int _, x => x = (0 : Int)
  | .bool, x => x = false

theorem DType.falsity_is {d : DType} {x : d.denote α} (h : d.IsFalsity x) : d.falsity.Is x := by
  match d with
  | .float _ | .int _ | .bool => exact h

theorem Law.argument_value {masks : Bool} {t : Ty} {p : Part} {c : Lit}
    (hc : (law.argument r masks t).value p = some c) :
    masks = true ∧ c = t.dtype.falsity ∧ ∃ q, p = .alone q := by
  cases p with
  | all => simp [argument] at hc
  | alone q =>
    simp only [argument] at hc
    split at hc
    · rename_i h
      cases hc
      exact ⟨(Bool.and_eq_true_iff.1 h).1, rfl, q, rfl⟩
    · contradiction

section placed

variable {k : Nat} (place : Fin (ν r) ⊕ Fin k ≃ Fin (ν' r)) (same : ∀ i, i ≠ r → ν i = ν' i) (mask : Nat)

/-- The arguments `ρ'` hold those of `ρ` at the places `place`, and the mask is false at the new rows. -/
def Env.Placed : (position : Nat) → (Γ : List Ty) → regularTypes r Γ = true → Env α ν Γ → Env α ν' Γ → Prop
  | _, [], _, _, _ => True
  | p, t :: Γ, h, (x, ρ), (x', ρ') =>
    (∀ q, x' (q.move (fun i => place (.inl i)) same t.shape (Bool.and_eq_true_iff.1 h).1) = x q) ∧
      (if p = mask then ∀ q, ∀ i ∈ rowsOf r t.shape q, ∀ z, i = place (.inr z) → t.dtype.IsFalsity (x' q)
        else True) ∧
      Env.Placed (p + 1) Γ (Bool.and_eq_true_iff.1 h).2 ρ ρ'

variable {place same mask}

theorem Env.Placed.related (hlaw : law.isAligned = false) {p : Nat} {Γ : List Ty}
    {hΓ : regularTypes r Γ = true}
    {ρ : Env α ν Γ} {ρ' : Env α ν' Γ} (h : Env.Placed place same mask p Γ hΓ ρ ρ') :
    EnvRelated (.placed place same) (law.arguments r mask p Γ) ρ ρ' := by
  induction Γ generalizing p with
  | nil => trivial
  | cons t Γ ih =>
    obtain ⟨hold, hnew, hrest⟩ := h
    refine ⟨⟨fun j j' hj => ?_, ⟨fun p c hc j hj => ?_, fun c hc => by simp [Law.argument] at hc⟩,
      ⟨fun p c hc j hj => ?_, fun c hc => by simp [Law.argument] at hc⟩,
      fun hs => by simp [Law.argument, hlaw] at hs⟩, ih hrest⟩
    · rw [Overlap.move_unique Overlap.placed_pair (Bool.and_eq_true_iff.1 hΓ).1 hj]; exact (hold j).symm
    · obtain ⟨_, _, q, rfl⟩ := Law.argument_value hc
      exact absurd hj Overlap.placed_not_alone
    · obtain ⟨hm, rfl, q, rfl⟩ := Law.argument_value hc
      rw [if_pos (eq_of_beq hm)] at hnew
      obtain ⟨d, hq, hd, z, hz⟩ := hj
      obtain ⟨i, hi, he⟩ := Overlap.mem_rowsOf hq hd
      exact DType.falsity_is (hnew j i hi z (Fin.ext (he.trans hz.symm)))

end placed

section live

variable (live : Fin (ν r) → Bool) (mask : Nat)

/-- The arguments agree at the rows where `live` is true, and the mask is false at the others. -/
def Env.Agree : (position : Nat) → (Γ : List Ty) → Env α ν Γ → Env α ν Γ → Prop
  | _, [], _, _ => True
  | p, t :: Γ, (x, ρ), (x', ρ') =>
    (∀ q, (∀ i ∈ rowsOf r t.shape q, live i = true) → x q = x' q) ∧
      (if p = mask then ∀ q, ∀ i ∈ rowsOf r t.shape q, live i = false →
        t.dtype.IsFalsity (x q) ∧ t.dtype.IsFalsity (x' q) else True) ∧
      Env.Agree (p + 1) Γ ρ ρ'

variable {live mask}

theorem rowsOf_free {s : List Dim} (h : s.all (Dim.free r) = true) (q : IndexAt ν s) : rowsOf r s q = [] := by
  induction s with
  | nil => rfl
  | cons d s ih =>
    have h := Bool.and_eq_true_iff.1 h
    unfold rowsOf
    rw [dif_neg (by simp [Dim.isRows_of_free h.1]), ih h.2]

theorem Env.Agree.related (hlaw : law.isAligned = true) {p : Nat} {Γ : List Ty} {ρ ρ' : Env α ν Γ}
    (h : Env.Agree live mask p Γ ρ ρ') :
    EnvRelated (.ofLive live) (law.arguments r mask p Γ) ρ ρ' := by
  induction Γ generalizing p with
  | nil => trivial
  | cons t Γ ih =>
    obtain ⟨hlive, hdead, hrest⟩ := h
    refine ⟨⟨fun j j' hj => ?_, ⟨fun p c hc j hj => ?_, fun c hc => by simp [Law.argument] at hc⟩,
      ⟨fun p c hc j hj => ?_, fun c hc => by simp [Law.argument] at hc⟩, fun hs _ => ?_⟩, ih hrest⟩
    · obtain ⟨rfl, hl⟩ := Overlap.ofLive_match hj
      exact hlive j hl
    · obtain ⟨hm, rfl, q, rfl⟩ := Law.argument_value hc
      rw [if_pos (eq_of_beq hm)] at hdead
      obtain ⟨i, hi, h⟩ := Overlap.ofLive_alone hj
      exact DType.falsity_is (hdead j i hi h).1
    · obtain ⟨hm, rfl, q, rfl⟩ := Law.argument_value hc
      rw [if_pos (eq_of_beq hm)] at hdead
      obtain ⟨i, hi, h⟩ := Overlap.ofLive_alone (live := live) hj
      exact DType.falsity_is (hdead j i hi h).2
    · refine heq_of_eq (funext fun q => ?_)
      by_cases hq : ∀ i ∈ rowsOf r t.shape q, live i = true
      · exact hlive q hq
      · simp only [Law.argument, hlaw, Bool.true_and, Bool.or_eq_true] at hs
        rcases hs with hs | hs
        · rw [if_pos (eq_of_beq hs)] at hdead
          obtain ⟨i, hi⟩ := Classical.not_forall.1 hq
          obtain ⟨hi, hl⟩ := Classical.not_imp.1 hi
          have h := hdead q i hi (Bool.eq_false_iff.2 hl)
          exact Lit.Is.unique (DType.falsity_is h.1) (DType.falsity_is h.2)
        · exact absurd (fun i hi => by rw [rowsOf_free hs] at hi; cases hi) hq

end live

/-! ### The laws -/

/-- The arguments of another bag, read at the rows that `f` gives. -/
def Env.move (f : Fin (ν r) → Fin (ν' r)) (same : ∀ i, i ≠ r → ν i = ν' i) :
    (Γ : List Ty) → regularTypes r Γ = true → Env α ν' Γ → Env α ν Γ
  | [], _, _ => ()
  | t :: Γ, h, (x, ρ) =>
    (fun q => x (q.move f same t.shape (Bool.and_eq_true_iff.1 h).1),
      Env.move f same Γ (Bool.and_eq_true_iff.1 h).2 ρ)

/-- The arguments with their rows in another order: row `i` of the result is row `σ i`. -/
abbrev Env.permute (σ : Fin (ν r) ≃ Fin (ν r)) (Γ : List Ty) (h : regularTypes r Γ = true) (ρ : Env α ν Γ) :
    Env α ν Γ :=
  Env.move σ (fun _ _ => rfl) Γ h ρ

theorem Env.permute_placed (σ : Fin (ν r) ≃ Fin (ν r)) {mask p : Nat} {Γ : List Ty}
    (h : regularTypes r Γ = true) (ρ : Env α ν Γ) :
    Env.Placed (k := 0) ((Equiv.sumEmpty fun z => z.elim0).trans σ) (fun _ _ => rfl) mask p Γ h
      (Env.permute σ Γ h ρ) ρ := by
  induction Γ generalizing p with
  | nil => trivial
  | cons t Γ ih =>
    refine ⟨fun q => rfl, ?_, ih _ _⟩
    split
    · exact fun _ _ _ z => z.elim0
    · trivial

namespace Kernel

variable {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result) {rows mask : Nat}

theorem regular_of_check {kernel : Kernel arguments result} (hc : kernel.check law rows mask = true) :
    regularTypes rows arguments = true := by
  simp only [check, Bool.and_eq_true] at hc; exact hc.1.1

theorem free_of_check {kernel : Kernel arguments result} (hc : kernel.check law rows mask = true) :
    result.shape.all (Dim.free rows) = true := by
  simp only [check, Bool.and_eq_true] at hc; exact hc.1.2

/-- The order of the rows does not matter. -/
theorem permutation (sizes : List Nat) (hc : kernel.check .permutation rows mask = true)
    (σ : Fin (valuation sizes rows) ≃ Fin (valuation sizes rows))
    (inputs : Env R (valuation sizes) arguments) :
    kernel.eval sizes (Env.permute σ arguments (regular_of_check hc) inputs) = kernel.eval sizes inputs := by
  funext j
  refine run_eq (law := .permutation) ⟨⟨fun z => Fin.elim0 z, fun z => Fin.elim0 z⟩, rfl⟩ ⟨_, rfl⟩ hc
    ((Env.permute_placed σ (regular_of_check hc) inputs).related rfl)
    (Overlap.match_free (free_of_check hc) j)

/-- What the rows hold where the mask is false does not matter, in every arithmetic of a kind. -/
theorem masked_irrelevance_of {k : Arithmetic} (hk : k.Admits α) (sizes : List Nat)
    (hc : kernel.check (.irrelevance k) rows mask = true) (live : Fin (valuation sizes rows) → Bool)
    {inputs inputs' : Env α (valuation sizes) arguments}
    (h : Env.Agree live mask 0 arguments inputs inputs') :
    kernel.eval sizes inputs = kernel.eval sizes inputs' := by
  funext j
  exact run_eq (law := .irrelevance k) Overlap.ofLive_aligned hk hc (h.related rfl)
    (Overlap.match_free (free_of_check hc) j)

/-- What the rows hold where the mask is false does not matter. -/
theorem masked_irrelevance (sizes : List Nat) (hc : kernel.check .irrelevance rows mask = true)
    (live : Fin (valuation sizes rows) → Bool) {inputs inputs' : Env R (valuation sizes) arguments}
    (h : Env.Agree live mask 0 arguments inputs inputs') :
    kernel.eval sizes inputs = kernel.eval sizes inputs' :=
  kernel.masked_irrelevance_of (Arithmetic.admits_real _) sizes hc live h

end Kernel

theorem valuation_set_ne {sizes : List Nat} {r i a : Nat} (h : i ≠ r) :
    valuation sizes i = valuation (sizes.set r a) i := by
  induction sizes generalizing r i with
  | nil => rfl
  | cons n l ih =>
    cases r <;> cases i
    · contradiction
    · rfl
    · rfl
    · exact ih (by omega)

theorem valuation_set {sizes : List Nat} {r a : Nat} (h : r < sizes.length) :
    valuation (sizes.set r a) r = a := by
  induction sizes generalizing r with
  | nil => simp at h
  | cons n l ih =>
    cases r with
    | zero => rfl
    | succ r => exact ih (by simpa using h)

/-- `extra` further rows, after the others. -/
def paddedRows (sizes : List Nat) (r extra : Nat) (h : r < sizes.length) :
    Fin (valuation sizes r) ⊕ Fin extra ≃ Fin (valuation (sizes.set r (valuation sizes r + extra)) r) :=
  (Equiv.finSum _ _).trans (.finCast (valuation_set h).symm)

namespace Kernel

variable {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result) {rows mask : Nat}

/-- Further rows do not matter where the mask is false, whatever they hold; if `nonempty`, provided that there
is a row. -/
theorem padding_of {nonempty : Bool} (sizes : List Nat) (extra : Nat)
    (hc : kernel.check (.padding nonempty) rows mask = true)
    (hr : rows < sizes.length := by exact of_decide_eq_true rfl)
    (hn : nonempty = true → 0 < valuation sizes rows)
    {inputs : Env R (valuation (sizes.set rows (valuation sizes rows + extra))) arguments}
    {inputs' : Env R (valuation sizes) arguments}
    (h : Env.Placed (paddedRows sizes rows extra hr) (fun _ => valuation_set_ne) mask 0 arguments
      (regular_of_check hc) inputs' inputs) :
    kernel.eval (sizes.set rows (valuation sizes rows + extra)) inputs = fun j =>
      kernel.eval sizes inputs'
        (j.retype (fun _ h => (valuation_set_ne h).symm) result.shape (free_of_check hc)) := by
  funext j
  let W := Overlap.placed (paddedRows sizes rows extra hr) fun _ => valuation_set_ne
  exact (run_eq (law := .padding nonempty) (W := W) (fun h => ⟨(⟨0, hn h⟩ : Fin _)⟩) ⟨_, rfl⟩ hc
    (h.related rfl)
    (Overlap.match_retype W.symm (free_of_check hc) j).symm).symm

theorem padding (sizes : List Nat) (extra : Nat) (hc : kernel.check .padding rows mask = true)
    (hr : rows < sizes.length := by exact of_decide_eq_true rfl)
    {inputs : Env R (valuation (sizes.set rows (valuation sizes rows + extra))) arguments}
    {inputs' : Env R (valuation sizes) arguments}
    (h : Env.Placed (paddedRows sizes rows extra hr) (fun _ => valuation_set_ne) mask 0 arguments
      (regular_of_check hc) inputs' inputs) :
    kernel.eval (sizes.set rows (valuation sizes rows + extra)) inputs = fun j =>
      kernel.eval sizes inputs'
        (j.retype (fun _ h => (valuation_set_ne h).symm) result.shape (free_of_check hc)) :=
  kernel.padding_of sizes extra hc hr (fun h => by contradiction) h

/-- As `Kernel.padding`, for a bag with at least one row. -/
theorem padding_nonempty (sizes : List Nat) (extra : Nat)
    (hc : kernel.check (.padding true) rows mask = true) (hn : 0 < valuation sizes rows)
    (hr : rows < sizes.length := by exact of_decide_eq_true rfl)
    {inputs : Env R (valuation (sizes.set rows (valuation sizes rows + extra))) arguments}
    {inputs' : Env R (valuation sizes) arguments}
    (h : Env.Placed (paddedRows sizes rows extra hr) (fun _ => valuation_set_ne) mask 0 arguments
      (regular_of_check hc) inputs' inputs) :
    kernel.eval (sizes.set rows (valuation sizes rows + extra)) inputs = fun j =>
      kernel.eval sizes inputs'
        (j.retype (fun _ h => (valuation_set_ne h).symm) result.shape (free_of_check hc)) :=
  kernel.padding_of sizes extra hc hr (fun _ => hn) h

end Kernel

end

/-! ### Padded and masked arguments -/

theorem Fin.addCases_new {β : Type} {n k : Nat} {f : Fin n → β} {g : Fin k → β} {c : β} {i : Fin (n + k)}
    {z : Fin k} (hi : i = Fin.natAdd n z) (hg : g z = c) : (Fin.addCases f g i : β) = c := by
  subst hi; exact (Fin.addCases_right z).trans hg

namespace Tensor

variable {β : Type} [OfNat β 0] [OfNat β 1] {s t : List Nat} {m : Tensor Bool s} {m' : Tensor Bool t}
  {q : Index s} {q' : Index t}

theorem indicator_congr (h : m q = m' q') : (m.indicator q : β) = m'.indicator q' :=
  congrArg (fun b : Bool => if b then (1 : β) else 0) h

theorem indicator_false (h : m q = false) : (m.indicator q : β) = 0 := if_neg (by simp [h])

theorem indicator_false_real {R : Type} [RealArith R] (h : m q = false) : (m.indicator q : R) = Ops.lit 0 1 :=
  (indicator_false h).trans (ops_lit_zero 1).symm

end Tensor

/-- One argument of a padding theorem: its old rows are the given ones; the new rows of a mask are false. -/
macro "padded_rows" : tactic => `(tactic| first
  | trivial
  | (intro q
     first
     | rfl
     | exact Fin.addCases_left _
     | exact Tensor.indicator_congr (Fin.addCases_left _))
  | (intro q i hi z e
     cases List.mem_singleton.1 hi
     first
     | exact Fin.addCases_new e rfl
     | exact Tensor.indicator_false (Fin.addCases_new e rfl)
     | exact Tensor.indicator_false_real (Fin.addCases_new e rfl)))

/-- All arguments of a padding theorem. -/
macro "padded_arguments" : tactic => `(tactic|
  ((repeat refine ⟨by padded_rows, by padded_rows, ?_⟩)
   trivial))

/-- A mask is false at an entry in both bags, by `h`. -/
macro "both_false " h:term : tactic => `(tactic| first
  | exact ⟨$h, $h⟩
  | exact ⟨Tensor.indicator_false $h, Tensor.indicator_false $h⟩
  | exact ⟨Tensor.indicator_false_real $h, Tensor.indicator_false_real $h⟩)

/-- One argument of a theorem on masked irrelevance that is the same in both bags. -/
macro "same_rows" : tactic => `(tactic| first
  | trivial
  | exact fun _ _ => rfl
  | exact fun _ _ _ => rfl
  | (intro q i hi h
     cases List.mem_singleton.1 hi
     both_false h))

end MaskPool
