module

public import MaskPool.Invariance.Overlap

/-!
# What is known of a value in two runs

In two runs of a program on bags with rows in common, entries at corresponding indices agree. A `Label` adds
what is known of the other entries: a literal that those of rows without a partner hold, a lower bound, and
whether the two values are the same altogether. It may also take away: entries may agree only once each is
replaced by its maximum with a literal.
-/

@[expose] public noncomputable section

namespace MaskPool

/-- A literal that an entry may hold. -/
inductive Lit
  | real (num : Int) (den : Nat)
  | infinity (negative : Bool)
  | nan
  | int (z : Int)
  | bool (b : Bool)
  deriving DecidableEq

/-- A part of the entries of a tensor: all of them, or those whose row along an axis has no partner. -/
inductive Part
  | all
  | alone (axis : Nat)

/-- What is known of a value in two runs. -/
structure Label where
  /-- The literal that all entries of a part hold, in both runs. -/
  value : Part → Option Lit := fun _ => none
  /-- A literal that is at most any entry, in both runs. -/
  lower : Option Lit := none
  /-- The two values are the same. -/
  same : Bool := false
  /-- A literal with which both values have to be raised before they agree. -/
  upTo : Option Lit := none

namespace Label

/-- Nothing is known: new rows may hold anything. -/
abbrev junk : Label := {}

end Label

/-- The entry `x` is the literal. -/
def Lit.Is {α : Type} [Ops α] : Lit → {d : DType} → d.denote α → Prop
  | .real n m, .float _, x => x = Ops.lit n m
  | .infinity negative, .float _, x => x = Ops.infinity negative
  | .nan, .float _, x => x = Ops.nan
  | .int z, .int _, x => x = z
  | .bool b, .bool, x => x = b
  | _, _, _ => False

/-- The arithmetic is the one of real numbers `real`. -/
def Ops.IsReal {α : Type} [ops : Ops α] (real : RealArith α) : Prop := real.toOps = ops

/-- The entry `x` is at least the literal. Numbers other than real ones are not compared. -/
def Lit.Le {α : Type} [Ops α] : Lit → {d : DType} → d.denote α → Prop
  | .real n m, .float _, x => ∀ real : RealArith α, Ops.IsReal real → (Ops.lit n m : α) ≤ x
  | .int z, .int _, x => z ≤ x
  | _, _, _ => False

section

variable {α : Type} [Ops α] {r : Nat} {ν ν' : Nat → Nat} (W : Overlap r ν ν')

/-- The entries are equal, or with a literal: their maxima with it are. -/
def AgreeUpTo : Option Lit → {d : DType} → d.denote α → d.denote α → Prop
  | none, _, x, x' => x = x'
  | some (.real n m), .float _, x, x' =>
    Ops.max x (Ops.lit n m) = Ops.max x' (Ops.lit n m) ∧ Ops.max (Ops.lit n m) x = Ops.max (Ops.lit n m) x'
  | some _, _, _, _ => False

/-- The index belongs to the part. -/
def Overlap.InPart (s : List Dim) : Part → IndexAt ν s → Prop
  | .all, _ => True
  | .alone q, j => W.AloneAt s q j

/-- What a label says of a value in the first run. -/
structure Label.Holds (l : Label) {t : Ty} (x : t.denote α ν) : Prop where
  value : ∀ p c, l.value p = some c → ∀ j, W.InPart t.shape p j → c.Is (x j)
  lower : ∀ c, l.lower = some c → ∀ j, c.Le (x j)

/-- Values that are related as the label says. -/
structure Related (l : Label) {t : Ty} (x : t.denote α ν) (x' : t.denote α ν') : Prop where
  agree : ∀ j j', W.Match t.shape j j' → AgreeUpTo l.upTo (x j) (x' j')
  left : l.Holds W x
  right : l.Holds W.symm x'
  same : l.same = true → ν = ν' → HEq x x'

/-- Values that agree. -/
theorem Related.exact {l : Label} {t : Ty} {x : t.denote α ν} {x' : t.denote α ν'} (h : Related W l x x')
    (hl : l.upTo.isNone = true) (j j') (hj : W.Match t.shape j j') : x j = x' j' := by
  have ha := h.agree j j' hj
  rwa [Option.isNone_iff_eq_none.1 hl] at ha

/-- Environments whose values are related as the labels say. -/
def EnvRelated : {Γ : List Ty} → List Label → Env α ν Γ → Env α ν' Γ → Prop
  | [], [], _, _ => True
  | _ :: _, l :: L, (x, ρ), (x', ρ') => Related W l x x' ∧ EnvRelated L ρ ρ'
  | _, _, _, _ => False

end

namespace Lit

/-- The literal is known to be zero. -/
def isZero : Option Lit → Bool
  | some (.real n _) => n == 0
  | some (.int z) => z == 0
  | _ => false

/-- The literal is known to be one. -/
def isOne : Option Lit → Bool
  | some (.real n d) => n == 1 && d == 1
  | some (.int z) => z == 1
  | _ => false

/-- The literal is known to be the truth value `b`. -/
def isBool (b : Bool) : Option Lit → Bool
  | some (.bool c) => c == b
  | _ => false

/-- Zero as a literal. -/
def zero : NumType → Lit
  | .float _ => .real 0 1
  | .int _ => .int 0

/-- `c`, if the condition holds. -/
def onlyIf (condition : Bool) (c : Lit) : Option Lit := if condition then some c else none

section

variable {α : Type} [Ops α] {R : Type} [RealArith R]

theorem onlyIf_is {known : Bool} {c c' : Lit} {d : DType} {x : d.denote α} (h : known = true → c.Is x)
    (hc : onlyIf known c = some c') : c'.Is x := by
  unfold onlyIf at hc
  split at hc
  · rename_i hk; cases hc; exact h hk
  · contradiction

theorem is_bool {b : Bool} {c : Option Lit} (h : isBool b c = true) {x : Bool}
    (hx : ∀ a, c = some a → a.Is (α := α) (d := .bool) x) : x = b := by
  cases c with
  | none => simp [isBool] at h
  | some a =>
    cases a with
    | real | infinity | nan | int => simp [isBool] at h
    | bool c =>
      have hc : c = b := by simpa [isBool] using h
      exact hc ▸ hx _ rfl

theorem zero_is_float {f : FloatType} {x : R} : (zero (.float f)).Is (d := .float f) x ↔ x = 0 := by
  rw [← RealArith.ops_lit_zero 1]; exact Iff.rfl

theorem is_zero_float {f : FloatType} {c : Option Lit} (h : isZero c = true) {x : R}
    (hx : ∀ a, c = some a → a.Is (d := .float f) x) : x = 0 := by
  cases c with
  | none => simp [isZero] at h
  | some a =>
    cases a with
    | infinity | nan | bool => simp [isZero] at h
    | int => exact (hx _ rfl).elim
    | real n d =>
      have hn : n = 0 := by simpa [isZero] using h
      subst hn
      exact (hx _ rfl).trans (RealArith.ops_lit_zero d)

theorem is_zero_int {f : IntType} {c : Option Lit} (h : isZero c = true) {x : Int}
    (hx : ∀ a, c = some a → a.Is (α := α) (d := .int f) x) : x = 0 := by
  cases c with
  | none => simp [isZero] at h
  | some a =>
    cases a with
    | infinity | nan | bool => simp [isZero] at h
    | real => exact (hx _ rfl).elim
    | int z =>
      have hz : z = 0 := by simpa [isZero] using h
      subst hz
      exact hx _ rfl

theorem is_one_float {f : FloatType} {c : Option Lit} (h : isOne c = true) {x : R}
    (hx : ∀ a, c = some a → a.Is (d := .float f) x) : x = 1 := by
  cases c with
  | none => simp [isOne] at h
  | some a =>
    cases a with
    | infinity | nan | bool => simp [isOne] at h
    | int => exact (hx _ rfl).elim
    | real n d =>
      have hn : n = 1 ∧ d = 1 := by simpa [isOne] using h
      obtain ⟨rfl, rfl⟩ := hn
      exact (hx _ rfl).trans RealArith.ops_lit_one

theorem is_one_int {f : IntType} {c : Option Lit} (h : isOne c = true) {x : Int}
    (hx : ∀ a, c = some a → a.Is (α := α) (d := .int f) x) : x = 1 := by
  cases c with
  | none => simp [isOne] at h
  | some a =>
    cases a with
    | infinity | nan | bool => simp [isOne] at h
    | real => exact (hx _ rfl).elim
    | int z =>
      have hz : z = 1 := by simpa [isOne] using h
      subst hz
      exact hx _ rfl

end

end Lit

end MaskPool
