module

public import MaskPool.Arith.Facts
public import MaskPool.Invariance.Check

/-!
# Elementwise operations on what is known

The functions of `MaskPool.Invariance.Check` that compute with literals and with lower bounds are right: those
of truth values and of integers for every arithmetic, the others for the arithmetic that they are for.
-/

@[expose] public noncomputable section

namespace MaskPool

open RealArith

variable {R : Type} [RealArith R] {α : Type} [Ops α]

/-- The arithmetic is of the kind. -/
def Arithmetic.Admits (α : Type) [Ops α] : Arithmetic → Prop
  | .any => True
  | .floating => FloatFacts α
  | .real => ∃ real : RealArith α, Ops.IsReal real

theorem Arithmetic.admits_real (a : Arithmetic) : a.Admits R := by
  cases a with
  | any => trivial
  | floating => exact floatFacts
  | real => exact ⟨_, rfl⟩

theorem Arithmetic.eq_real {a : Arithmetic} (h : a.isReal = true) : a = .real := by
  cases a <;> first | rfl | contradiction

theorem Lit.Is.unique {c : Lit} {d : DType} {x y : d.denote α} (hx : c.Is x) (hy : c.Is y) : x = y := by
  match c, d with
  | .real .., .float _ | .infinity _, .float _ | .nan, .float _ | .int _, .int _ | .bool _, .bool =>
    exact Eq.trans hx (Eq.symm hy)
  | .real .., .int _ | .real .., .bool | .infinity _, .int _ | .infinity _, .bool | .nan, .int _
  | .nan, .bool | .int _, .float _
  | .int _, .bool | .bool _, .float _ | .bool _, .int _ => exact hx.elim

/-! ### The order of literals -/

namespace Lit

open Lean.Grind
attribute [local instance] Semiring.natCast Ring.intCast

theorem intCast_lt {a b : Int} (h : a < b) : (a : R) < (b : R) := by
  obtain ⟨k, hk⟩ := Int.eq_ofNat_of_zero_le (Int.sub_nonneg_of_le h)
  have e : (b : R) - (a : R) = 1 + (k : R) := by
    rw [← Ring.intCast_sub, ← Ring.intCast_natCast, show b - a = 1 + (k : Int) by omega, Ring.intCast_add,
      Ring.intCast_one]
  have h1 : (0 : R) < 1 := OrderedRing.zero_lt_one
  have h2 : (0 : R) ≤ (k : R) := OrderedRing.natCast_nonneg
  grind

theorem intCast_lt_iff {a b : Int} : (a : R) < (b : R) ↔ a < b := by
  refine ⟨fun h => ?_, intCast_lt⟩
  rcases Int.lt_trichotomy a b with hab | hab | hab
  · exact hab
  · subst hab; grind
  · have := intCast_lt (R := R) hab; grind

theorem natCast_pos {d : Nat} (h : d ≠ 0) : (0 : R) < (d : R) := by
  have := intCast_lt (R := R) (a := 0) (b := d) (by omega)
  rwa [Ring.intCast_zero, Ring.intCast_natCast] at this

theorem lit_mul (n : Int) {d : Nat} (h : d ≠ 0) : (Ops.lit n d : R) * (d : R) = (n : R) := by
  have := Field.mul_inv_cancel (ne_zero_of_pos (natCast_pos (R := R) h))
  rw [ops_lit, Field.div_eq_mul_inv]
  grind

theorem mul_lt_mul_iff {x y c : R} (hc : 0 < c) : x * c < y * c ↔ x < y := by
  refine ⟨fun h => ?_, fun h => OrderedRing.mul_lt_mul_of_pos_right h hc⟩
  refine Decidable.byContradiction fun hxy => ?_
  have := OrderedRing.mul_le_mul_of_nonneg_right (Std.not_lt.1 hxy) (Std.le_of_lt hc)
  grind

/-- Fractions are compared by cross multiplication. -/
theorem lit_lt_iff {n n' : Int} {d d' : Nat} (hd : d ≠ 0) (hd' : d' ≠ 0) :
    (Ops.lit n d : R) < Ops.lit n' d' ↔ n * d' < n' * d := by
  rw [← intCast_lt_iff (R := R), Ring.intCast_mul, Ring.intCast_mul, Ring.intCast_natCast,
      Ring.intCast_natCast,
    ← lit_mul n hd, ← lit_mul n' hd', ← mul_lt_mul_iff (natCast_pos hd), ← mul_lt_mul_iff (natCast_pos hd')]
  grind

theorem lit_le_iff {n n' : Int} {d d' : Nat} (hd : d ≠ 0) (hd' : d' ≠ 0) :
    (Ops.lit n d : R) ≤ Ops.lit n' d' ↔ n * d' ≤ n' * d := by
  rw [← Std.not_lt, lit_lt_iff hd' hd, Int.not_lt]

theorem lit_eq_iff {n n' : Int} {d d' : Nat} (hd : d ≠ 0) (hd' : d' ≠ 0) :
    (Ops.lit n d : R) = Ops.lit n' d' ↔ n * d' = n' * d := by
  constructor
  · intro h
    have h₁ := (lit_le_iff (R := R) hd hd').1 (by rw [h]; exact Std.le_refl _)
    have h₂ := (lit_le_iff (R := R) hd' hd).1 (by rw [h]; exact Std.le_refl _)
    omega
  · intro h
    exact Std.le_antisymm ((lit_le_iff hd hd').2 (by omega)) ((lit_le_iff hd' hd).2 (by omega))

end Lit

section literals

open Lit

variable {f : FloatType} {t : NumType} {a b lower : Option Lit}

theorem Unary.onLit_is (g : Unary) {x : R} (hx : ∀ c, a = some c → c.Is (d := .float f) x) {c : Lit}
    (hc : g.onLit a = some c) : c.Is (d := .float f) (g.eval x) := by
  cases g with
  | log | logistic => simp [onLit] at hc
  | neg =>
    refine Lit.onlyIf_is (fun h => Lit.zero_is_float.2 ?_) hc
    show -x = 0
    rw [Lit.is_zero_float h hx]; exact Lean.Grind.AddCommGroup.neg_zero
  | exp =>
    refine Lit.onlyIf_is (d := .float f) (fun h => ?_) hc
    show RealArith.exp x = Ops.lit 1 1
    rw [Lit.is_zero_float h hx, exp_zero, ops_lit_one]
  | tanh =>
    refine Lit.onlyIf_is (fun h => Lit.zero_is_float.2 ?_) hc
    show RealArith.tanh x = 0
    unfold RealArith.tanh
    rw [Lit.is_zero_float h hx, Lean.Grind.AddCommGroup.neg_zero, Lean.Grind.AddCommGroup.sub_self,
      Lean.Grind.Field.div_eq_mul_inv, Lean.Grind.Semiring.zero_mul]
  | func g =>
    cases g with
    | abs =>
      refine Lit.onlyIf_is (fun h => Lit.zero_is_float.2 ?_) hc
      show RealArith.abs x = 0
      rw [Lit.is_zero_float h hx, RealArith.abs, if_neg not_zero_lt_zero]
    | sign =>
      refine Lit.onlyIf_is (fun h => Lit.zero_is_float.2 ?_) hc
      show RealArith.sign x = 0
      rw [Lit.is_zero_float h hx, RealArith.sign, if_neg not_zero_lt_zero, if_neg not_zero_lt_zero]
    | expm1 =>
      refine Lit.onlyIf_is (fun h => Lit.zero_is_float.2 ?_) hc
      show RealArith.exp x - 1 = 0
      rw [Lit.is_zero_float h hx, exp_zero]; exact Lean.Grind.AddCommGroup.sub_self 1
    | _ => simp [onLit] at hc

theorem Lit.pos_float {x : R} (h : Lit.isPositive lower = true)
    (hx : ∀ c, lower = some c → c.Le (d := .float f) x) : 0 < x := by
  match lower with
  | some (.real n d) =>
    simp only [Lit.isPositive, Bool.and_eq_true, decide_eq_true_eq, bne_iff_ne] at h
    refine Std.lt_of_lt_of_le ?_ (hx _ rfl _ rfl)
    rw [← ops_lit_zero 1, lit_lt_iff (by decide) h.2]
    omega
  | some (.int z) => exact (hx _ rfl).elim
  | some (.infinity _) | some .nan | some (.bool _) | none => simp [Lit.isPositive] at h

theorem Lit.pos_int {f : IntType} {x : Int} (h : Lit.isPositive lower = true)
    (hx : ∀ c, lower = some c → c.Le (α := α) (d := .int f) x) : 0 < x := by
  match lower with
  | some (.int z) =>
    have hz : 0 < z := by simpa [Lit.isPositive] using h
    have hzx : z ≤ x := hx _ rfl
    omega
  | some (.real n d) => exact (hx _ rfl).elim
  | some (.infinity _) | some .nan | some (.bool _) | none => simp [Lit.isPositive] at h

theorem Binary.onLit_is_float (g : Binary) {x y : R} (hx : ∀ c, a = some c → c.Is (d := .float f) x)
    (hy : ∀ c, b = some c → c.Is (d := .float f) y) (hl : ∀ c, lower = some c → c.Le (d := .float f) y)
    {c : Lit}
    (hc : g.onLit (.float f) lower a b = some c) : c.Is (d := .float f) (g.eval (.float f) x y) := by
  cases g with
  | add =>
    simp only [onLit] at hc
    show c.Is (d := .float f) (x + y)
    split at hc
    · rename_i h; rw [Lit.is_zero_float h hx, Lean.Grind.AddCommMonoid.zero_add]; exact hy c hc
    · split at hc
      · rename_i h; rw [Lit.is_zero_float h hy, Lean.Grind.AddCommMonoid.add_zero]; exact hx c hc
      · contradiction
  | sub =>
    simp only [onLit] at hc
    show c.Is (d := .float f) (x - y)
    split at hc
    · rename_i h
      rw [Lit.is_zero_float h hy, Lean.Grind.AddCommGroup.sub_eq_add_neg, Lean.Grind.AddCommGroup.neg_zero,
        Lean.Grind.AddCommMonoid.add_zero]
      exact hx c hc
    · contradiction
  | mul =>
    simp only [onLit] at hc
    show c.Is (d := .float f) (x * y)
    split at hc
    · rename_i h
      cases hc
      refine Lit.zero_is_float.2 ?_
      rcases Bool.or_eq_true_iff.1 h with h | h
      · rw [Lit.is_zero_float h hx, Lean.Grind.Semiring.zero_mul]
      · rw [Lit.is_zero_float h hy, Lean.Grind.Semiring.mul_zero]
    · split at hc
      · rename_i h; rw [Lit.is_one_float h hx, Lean.Grind.Semiring.one_mul]; exact hy c hc
      · split at hc
        · rename_i h; rw [Lit.is_one_float h hy, Lean.Grind.Semiring.mul_one]; exact hx c hc
        · contradiction
  | div =>
    simp only [onLit] at hc
    show c.Is (d := .float f) (Ops.div x y)
    split at hc
    · rename_i h
      have h := Bool.and_eq_true_iff.1 h
      cases hc
      refine Lit.zero_is_float.2 ?_
      rw [ops_div, if_neg (ne_zero_of_pos (Lit.pos_float h.2 hl)), Lit.is_zero_float h.1 hx,
        Lean.Grind.Field.div_eq_mul_inv, Lean.Grind.Semiring.zero_mul]
    · split at hc
      · rename_i h
        rw [ops_div, Lit.is_one_float h hy, if_neg (Ne.symm Lean.Grind.Field.zero_ne_one),
          Lean.Grind.Field.div_eq_mul_inv, Lean.Grind.Field.inv_one, Lean.Grind.Semiring.mul_one]
        exact hx c hc
      · contradiction
  | max | min =>
    simp only [onLit] at hc
    split at hc
    · rename_i h; subst h
      have e : x = y := Lit.Is.unique (d := .float f) (hx c hc) (hy c hc)
      subst e
      first
      | (show c.Is (d := .float f) (Ops.max x x); rw [ops_max, if_pos (Std.le_refl x)]; exact hx c hc)
      | (show c.Is (d := .float f) (Ops.min x x); rw [ops_min, if_pos (Std.le_refl x)]; exact hx c hc)
    · contradiction

theorem Binary.onLit_is_int (g : Binary) {f : IntType} {x y : Int}
    (hx : ∀ c, a = some c → c.Is (α := α) (d := .int f) x)
    (hy : ∀ c, b = some c → c.Is (α := α) (d := .int f) y)
    (hl : ∀ c, lower = some c → c.Le (α := α) (d := .int f) y) {c : Lit}
    (hc : g.onLit (.int f) lower a b = some c) :
    c.Is (α := α) (d := .int f) (g.eval (α := α) (.int f) x y) := by
  have zero {x : Int} (h : x = 0) : (Lit.zero (.int f)).Is (α := α) (d := .int f) x := h
  cases g with
  | add =>
    simp only [onLit] at hc
    show c.Is (α := α) (d := .int f) (x + y)
    split at hc
    · rename_i h; rw [Lit.is_zero_int h hx, Int.zero_add]; exact hy c hc
    · split at hc
      · rename_i h; rw [Lit.is_zero_int h hy, Int.add_zero]; exact hx c hc
      · contradiction
  | sub =>
    simp only [onLit] at hc
    show c.Is (α := α) (d := .int f) (x - y)
    split at hc
    · rename_i h; rw [Lit.is_zero_int h hy, Int.sub_zero]; exact hx c hc
    · contradiction
  | mul =>
    simp only [onLit] at hc
    show c.Is (α := α) (d := .int f) (x * y)
    split at hc
    · rename_i h
      cases hc
      rcases Bool.or_eq_true_iff.1 h with h | h
      · exact zero (by rw [Lit.is_zero_int h hx, Int.zero_mul])
      · exact zero (by rw [Lit.is_zero_int h hy, Int.mul_zero])
    · split at hc
      · rename_i h; rw [Lit.is_one_int h hx, Int.one_mul]; exact hy c hc
      · split at hc
        · rename_i h; rw [Lit.is_one_int h hy, Int.mul_one]; exact hx c hc
        · contradiction
  | div =>
    simp only [onLit] at hc
    show c.Is (α := α) (d := .int f) (if y = 0 then -1 else Int.tdiv x y)
    split at hc
    · rename_i h
      have h := Bool.and_eq_true_iff.1 h
      cases hc
      have hy := Lit.pos_int (α := α) h.2 hl
      exact zero (by rw [if_neg (by omega), Lit.is_zero_int h.1 hx, Int.zero_tdiv])
    · split at hc
      · rename_i h
        rw [Lit.is_one_int h hy, if_neg (by decide), Int.tdiv_one]
        exact hx c hc
      · contradiction
  | max | min =>
    simp only [onLit] at hc
    split at hc
    · rename_i h; subst h
      have e : x = y := Lit.Is.unique (α := α) (d := .int f) (hx c hc) (hy c hc)
      subst e
      first
      | (show c.Is (α := α) (d := .int f) (Max.max x x); rw [Int.max_self]; exact hx c hc)
      | (show c.Is (α := α) (d := .int f) (Min.min x x); rw [Int.min_self]; exact hx c hc)
    · contradiction

theorem Comparison.eval_lit (g : Comparison) {n n' : Int} {d d' : Nat} (hd : d ≠ 0) (hd' : d' ≠ 0) :
    g.eval (α := R) (.float f) (Ops.lit n d) (Ops.lit n' d') = g.ofFractions n d n' d' := by
  cases g
  · exact decide_eq_decide.2 (lit_lt_iff hd hd')
  · exact decide_eq_decide.2 (lit_le_iff hd hd')
  · exact decide_eq_decide.2 (lit_lt_iff hd' hd)
  · exact decide_eq_decide.2 (lit_le_iff hd' hd)
  · exact decide_eq_decide.2 (lit_eq_iff hd hd')
  · exact congrArg (!·) (decide_eq_decide.2 (lit_eq_iff (R := R) hd hd'))

theorem Comparison.eval_int (g : Comparison) {f : IntType} {z z' : Int} :
    g.eval (α := α) (.int f) z z' = g.ofFractions z 1 z' 1 := by
  cases g <;> simp [Comparison.eval, ofFractions]

theorem Comparison.onLit_is_int (g : Comparison) {f : IntType} {x y : Int}
    (hx : ∀ c, a = some c → c.Is (α := α) (d := .int f) x)
    (hy : ∀ c, b = some c → c.Is (α := α) (d := .int f) y) {c : Lit} (hc : g.onLit a b = some c) :
    c.Is (α := α) (d := .bool) (g.eval (α := α) (.int f) x y) := by
  match a, b with
  | some (.int z), some (.int z') =>
    replace hx : x = z := hx _ rfl
    replace hy : y = z' := hy _ rfl
    subst hx hy
    cases hc
    exact g.eval_int (α := α)
  | some (.real ..), some (.real ..) => exact (hx _ rfl).elim
  | none, _ | some _, none | some (.bool _), _ | some (.infinity _), _ | some .nan, _ => simp [onLit] at hc
  | some (.real ..), some (.int _) | some (.real ..), some (.infinity _) | some (.real ..), some .nan
  | some (.real ..), some (.bool _) | some (.int _), some (.real ..) | some (.int _), some (.infinity _)
  | some (.int _), some .nan | some (.int _), some (.bool _) =>
    simp [onLit] at hc

theorem Comparison.onLit_is_float (g : Comparison) {x y : R}
    (hx : ∀ c, a = some c → c.Is (d := .float f) x) (hy : ∀ c, b = some c → c.Is (d := .float f) y) {c : Lit}
    (hc : g.onLit a b = some c) : c.Is (α := R) (d := .bool) (g.eval (.float f) x y) := by
  match a, b with
  | some (.real n d), some (.real n' d') =>
    replace hx : x = Ops.lit n d := hx _ rfl
    replace hy : y = Ops.lit n' d' := hy _ rfl
    subst hx hy
    refine Lit.onlyIf_is (α := R) (fun h => ?_) hc
    simp only [Bool.and_eq_true, bne_iff_ne] at h
    exact g.eval_lit h.1 h.2
  | some (.int _), some (.int _) => exact (hx _ rfl).elim
  | none, _ | some _, none | some (.bool _), _ | some (.infinity _), _ | some .nan, _ => simp [onLit] at hc
  | some (.real ..), some (.int _) | some (.real ..), some (.infinity _) | some (.real ..), some .nan
  | some (.real ..), some (.bool _) | some (.int _), some (.real ..) | some (.int _), some (.infinity _)
  | some (.int _), some .nan | some (.int _), some (.bool _) =>
    simp [onLit] at hc

theorem Connective.onLit_is (g : Connective) {x y : Bool}
    (hx : ∀ c, a = some c → c.Is (α := α) (d := .bool) x)
    (hy : ∀ c, b = some c → c.Is (α := α) (d := .bool) y) {c : Lit} (hc : g.onLit a b = some c) :
    c.Is (α := α) (d := .bool) (g.eval x y) := by
  cases g with
  | and =>
    simp only [onLit] at hc
    split at hc
    · rename_i h
      cases hc
      show (x && y) = false
      rcases Bool.or_eq_true_iff.1 h with h | h
      · rw [Lit.is_bool h hx]; rfl
      · rw [Lit.is_bool h hy]; exact Bool.and_false _
    · refine Lit.onlyIf_is (α := α) (d := .bool) (fun h => ?_) hc
      have h := Bool.and_eq_true_iff.1 h
      rw [Lit.is_bool h.1 hx, Lit.is_bool h.2 hy]; rfl
  | or =>
    simp only [onLit] at hc
    split at hc
    · rename_i h
      cases hc
      show (x || y) = true
      rcases Bool.or_eq_true_iff.1 h with h | h
      · rw [Lit.is_bool h hx]; rfl
      · rw [Lit.is_bool h hy]; exact Bool.or_true _
    · refine Lit.onlyIf_is (α := α) (d := .bool) (fun h => ?_) hc
      have h := Bool.and_eq_true_iff.1 h
      rw [Lit.is_bool h.1 hx, Lit.is_bool h.2 hy]; rfl
  | xor =>
    simp only [onLit] at hc
    show c.Is (α := α) (d := .bool) (Bool.xor x y)
    split at hc
    · rename_i h; rw [Lit.is_bool h hx, Bool.false_xor]; exact hy c hc
    · split at hc
      · rename_i h; rw [Lit.is_bool h hy, Bool.xor_false]; exact hx c hc
      · contradiction

theorem Lit.not_is {x : Bool} (hx : ∀ c, a = some c → c.Is (α := α) (d := .bool) x) {c : Lit}
    (hc : Lit.not a = some c) : c.Is (α := α) (d := .bool) (!x) := by
  unfold Lit.not at hc
  split at hc
  · cases hc; exact congrArg (!·) (hx _ rfl)
  · contradiction

theorem Lit.select_is {d : DType} {x y : d.denote α} {p : Bool} {c' : Option Lit}
    (hp : ∀ c, c' = some c → c.Is (α := α) (d := .bool) p) (hx : ∀ c, a = some c → c.Is x)
    (hy : ∀ c, b = some c → c.Is y) {c : Lit} (hc : Lit.select c' a b = some c) :
    c.Is (if p then y else x) := by
  simp only [Lit.select] at hc
  split at hc
  · rename_i h; rw [Lit.is_bool h hp]; exact hy c hc
  · split at hc
    · rename_i h; rw [Lit.is_bool h hp]; exact hx c hc
    · split at hc
      · rename_i h; subst h
        split
        · exact hy c hc
        · exact hx c hc
      · contradiction

theorem Lit.convert_is_float {e : DType} {x : R} (hx : ∀ c, a = some c → c.Is (d := .float f) x) {c : Lit}
    (hc : Lit.convert e a = some c) : c.Is (DType.convert (.float f) e x) := by
  match a with
  | none => simp [Lit.convert] at hc
  | some (.real n m) =>
    replace hx : x = Ops.lit n m := hx _ rfl
    subst hx
    match e with
    | .float g => cases hc; rfl
    | .int g => simp [Lit.convert] at hc
    | .bool =>
      refine Lit.onlyIf_is (α := R) (d := .bool) (fun h => ?_) hc
      show (!decide ((Ops.lit n m : R) = Ops.lit 0 1)) = (n != 0)
      have e : decide ((Ops.lit n m : R) = Ops.lit 0 1) = decide (n * (1 : Nat) = 0 * (m : Int)) :=
        decide_eq_decide.2 (lit_eq_iff (by simpa using h) (by decide))
      rw [e]
      simp [bne, BEq.beq]
  | some (.infinity _) | some .nan =>
    match e with
    | .float g => cases hc; exact hx _ rfl
    | .int g | .bool => simp [Lit.convert] at hc
  | some (.int _) | some (.bool _) => exact (hx _ rfl).elim

theorem Lit.convert_is_int {f : IntType} {e : DType} {x : Int}
    (hx : ∀ c, a = some c → c.Is (α := α) (d := .int f) x) {c : Lit} (hc : Lit.convert e a = some c) :
    c.Is (α := α) (DType.convert (α := α) (.int f) e x) := by
  match a with
  | none => simp [Lit.convert] at hc
  | some (.int z) =>
    replace hx : x = z := hx _ rfl
    subst hx
    match e with
    | .float g | .int g => cases hc; rfl
    | .bool =>
      cases hc
      show (!decide (x = 0)) = (x != 0)
      simp [bne, BEq.beq]
  | some (.real ..) | some (.infinity _) | some .nan | some (.bool _) => exact (hx _ rfl).elim

theorem Lit.convert_is_bool {e : DType} {x : Bool} (hx : ∀ c, a = some c → c.Is (α := α) (d := .bool) x)
    {c : Lit} (hc : Lit.convert e a = some c) : c.Is (α := α) (DType.convert (α := α) .bool e x) := by
  match a with
  | none => simp [Lit.convert] at hc
  | some (.bool b) =>
    replace hx : x = b := hx _ rfl
    subst hx
    match e with
    | .float g | .int g => cases hc; cases x <;> rfl
    | .bool => cases hc; rfl
  | some (.real ..) | some (.infinity _) | some .nan | some (.int _) => exact (hx _ rfl).elim

end literals

section bounds

open Lit

variable {f : FloatType} {t : NumType} {a b : Option Lit}

theorem Unary.lower_le (g : Unary) {x : α} {c : Lit} (hc : g.lower = some c) :
    c.Le (d := .float f) (g.eval x) := by
  cases g <;> cases hc
  intro real h
  obtain rfl : real.toOps = _ := h
  show (Ops.lit 0 1 : α) ≤ RealArith.exp x
  rw [ops_lit_zero]; exact Std.le_of_lt (exp_pos x)

theorem Lit.Le.trans_float {x y : α} {c : Lit} (h : c.Le (d := .float f) x)
    (hxy : ∀ real : RealArith α, Ops.IsReal real → x ≤ y) : c.Le (d := .float f) y := by
  cases c with
  | real n m => exact fun real hr => Std.le_trans (h real hr) (hxy real hr)
  | infinity | nan | int | bool => exact h.elim

theorem Lit.Le.trans_int {f : IntType} {x y : Int} {c : Lit}
    (h : c.Le (α := α) (d := .int f) x) (hxy : x ≤ y) :
    c.Le (α := α) (d := .int f) y := by
  cases c with
  | int z => exact Int.le_trans h hxy
  | infinity | nan | real | bool => exact h.elim

theorem le_max {x y : R} : x ≤ Ops.max x y ∧ y ≤ Ops.max x y := by
  rw [ops_max]
  split
  · rename_i h; exact ⟨h, Std.le_refl y⟩
  · rename_i h; exact ⟨Std.le_refl x, Std.le_of_lt (Std.not_le.1 h)⟩

theorem Binary.lower_le (g : Binary) {x y : t.denote α} (hx : ∀ c, a = some c → c.Le (d := .num t) x)
    (hy : ∀ c, b = some c → c.Le (d := .num t) y) {c : Lit} (hc : g.lower a b = some c) :
    c.Le (d := .num t) (g.eval t x y) := by
  cases g with
  | add | sub | mul | div => cases hc
  | max =>
    simp only [lower, Option.or_eq_some_iff] at hc
    cases t with
    | float f =>
      rcases hc with hc | hc
      · exact (hy c hc).trans_float fun real h => by obtain rfl : real.toOps = _ := h; exact le_max.2
      · exact (hx c hc.2).trans_float fun real h => by obtain rfl : real.toOps = _ := h; exact le_max.1
    | int f =>
      show c.Le (α := α) (d := .int f) (Max.max x y)
      exact hc.elim (fun hc => (hy c hc).trans_int (Int.le_max_right x y))
        fun hc => (hx c hc.2).trans_int (Int.le_max_left x y)
  | min =>
    simp only [lower] at hc
    split at hc
    · rename_i h; subst h
      cases t with
      | float f =>
        cases c with
        | real n m =>
          intro real h
          have hx := hx _ hc real h
          have hy := hy _ hc real h
          obtain rfl : real.toOps = _ := h
          show (Ops.lit n m : α) ≤ if x ≤ y then x else y
          split
          · exact hx
          · exact hy
        | infinity | nan | int | bool => exact (hx _ hc).elim
      | int f =>
        show c.Le (α := α) (d := .int f) (Min.min x y)
        rw [Int.min_def]
        split
        · exact hx c hc
        · exact hy c hc
    · contradiction

theorem DType.lower_le {d e : DType} {x : d.denote α} (hx : ∀ c, a = some c → c.Le x) {c : Lit}
    (hc : d.lower e a = some c) : c.Le (DType.convert d e x) := by
  match d, e with
  | .float _, .float _ =>
    cases c with
    | real n m =>
      intro real h
      have hx := hx _ hc real h
      obtain rfl : real.toOps = _ := h
      exact hx
    | infinity | nan | int | bool => exact (hx _ hc).elim
  | .int _, .int _ => cases c <;> exact hx _ hc
  | .int _, .float _ =>
    match a with
    | some (.int z) =>
      cases hc
      intro real h
      have : z ≤ x := hx _ rfl
      obtain rfl : real.toOps = _ := h
      show (Ops.lit z 1 : α) ≤ Ops.lit x 1
      rw [lit_le_iff (by decide) (by decide)]
      omega
    | none | some (.real ..) | some (.infinity _) | some .nan | some (.bool _) => simp [lower] at hc
  | .bool, .float _ =>
    cases hc
    intro real h
    obtain rfl : real.toOps = _ := h
    show (Ops.lit 0 1 : α) ≤ if x then Ops.lit 1 1 else Ops.lit 0 1
    rw [ops_lit_zero, ops_lit_one]
    split
    · exact Std.le_of_lt Lean.Grind.OrderedRing.zero_lt_one
    · exact Std.le_refl 0
  | .bool, .int _ =>
    cases hc
    show (0 : Int) ≤ if x then 1 else 0
    split <;> decide
  | .float _, .int _ | .float _, .bool | .int _, .bool | .bool, .bool => simp [lower] at hc

end bounds

/-! ### The operations in an arithmetic -/

namespace Arithmetic

variable {k : Arithmetic} {f : FloatType} {t : NumType} {a b lower : Option Lit}

theorem isZero_is {x : α} (h : isZero (.float f) a = true) (hx : ∀ c, a = some c → c.Is (d := .float f) x) :
    x = Ops.lit 0 1 := hx _ (of_decide_eq_true h)

theorem unary_is (hk : k.Admits α) (g : Unary) {x : α} (hx : ∀ c, a = some c → c.Is (d := .float f) x)
    {c : Lit} (hc : k.unary g a = some c) : c.Is (d := .float f) (g.eval x) := by
  unfold unary at hc
  split at hc
  · rename_i h
    cases eq_real h
    obtain ⟨real, rfl⟩ := hk
    exact g.onLit_is hx hc
  · contradiction

theorem onInts_is {f : IntType} (g : Binary) {x y : Int}
    (hx : ∀ c, a = some c → c.Is (α := α) (d := .int f) x)
    (hy : ∀ c, b = some c → c.Is (α := α) (d := .int f) y) {c : Lit} (hc : onInts g a b = some c) :
    c.Is (α := α) (d := .int f) (g.eval (α := α) (.int f) x y) := by
  unfold onInts at hc
  split at hc
  · cases hc
    rw [show x = _ from hx _ rfl, show y = _ from hy _ rfl]
    cases g <;> rfl
  · contradiction

theorem onZeros_is (hk : FloatFacts α) {g : Binary} {c : Lit} (hc : onZeros g = some c) :
    c.Is (α := α) (d := .float f) (g.eval (.float f) (Ops.lit 0 1) (Ops.lit 0 1)) := by
  cases g <;> cases hc
  · exact hk.zero_add_zero
  · exact hk.zero_sub_zero
  · exact hk.zero_mul_zero
  · exact hk.max_zero_zero
  · exact hk.min_zero_zero

theorem onUnits_is (hk : FloatFacts α) {g : Binary} {c : Lit} (hc : onUnits g = some c) :
    c.Is (α := α) (d := .float f) (g.eval (.float f) (Ops.lit 0 1) (Ops.lit 1 1)) := by
  cases g <;> cases hc
  · exact hk.zero_add_one
  · exact hk.zero_div_one
  · exact hk.max_zero_one

theorem binary_is (hk : k.Admits α) (g : Binary) {x y : t.denote α}
    (hx : ∀ c, a = some c → c.Is (d := .num t) x) (hy : ∀ c, b = some c → c.Is (d := .num t) y)
    (hl : ∀ c, lower = some c → c.Le (d := .num t) y) {c : Lit} (hc : k.binary t lower g a b = some c) :
    c.Is (d := .num t) (g.eval t x y) := by
  match k, t with
  | .real, .int _ | .any, .int _ | .floating, .int _ =>
    rcases Option.or_eq_some_iff.1 hc with hc | hc
    · exact onInts_is g hx hy hc
    · exact g.onLit_is_int hx hy hl hc.2
  | .real, .float _ => obtain ⟨real, rfl⟩ := hk; exact g.onLit_is_float hx hy hl hc
  | .any, .float _ => contradiction
  | .floating, .float f =>
    simp only [binary] at hc
    split at hc
    · rename_i h
      have h := Bool.and_eq_true_iff.1 h
      rw [isZero_is h.1 hx, isZero_is h.2 hy]
      exact onZeros_is hk hc
    · split at hc
      · rename_i h
        have h := Bool.and_eq_true_iff.1 h
        rw [isZero_is h.1 hx, show y = Ops.lit 1 1 from hy _ (of_decide_eq_true h.2)]
        exact onUnits_is hk hc
      · contradiction

theorem compare_is (hk : k.Admits α) (g : Comparison) {x y : t.denote α}
    (hx : ∀ c, a = some c → c.Is (d := .num t) x) (hy : ∀ c, b = some c → c.Is (d := .num t) y)
    {c : Lit} (hc : k.compare t g a b = some c) : c.Is (α := α) (d := .bool) (g.eval t x y) := by
  match k, t with
  | .real, .int _ | .any, .int _ | .floating, .int _ => exact g.onLit_is_int hx hy hc
  | .real, .float _ => obtain ⟨real, rfl⟩ := hk; exact g.onLit_is_float hx hy hc
  | .any, .float _ => contradiction
  | .floating, .float f =>
    refine Lit.onlyIf_is (α := α) (d := .bool) (fun h => ?_) hc
    have h := Bool.and_eq_true_iff.1 h
    rw [isZero_is h.1 hx, isZero_is h.2 hy]
    cases g
    · exact hk.not_zero_lt_zero
    · exact hk.zero_le_zero
    · exact hk.not_zero_lt_zero
    · exact hk.zero_le_zero
    · exact hk.zero_eq_zero
    · exact congrArg (!·) hk.zero_eq_zero

theorem convert_is (hk : k.Admits α) {d e : DType} {x : d.denote α} (hx : ∀ c, a = some c → c.Is x) {c : Lit}
    (hc : k.convert d e a = some c) : c.Is (DType.convert d e x) := by
  match k, d with
  | .real, .int _ | .any, .int _ | .floating, .int _ => exact Lit.convert_is_int hx hc
  | .real, .bool | .any, .bool | .floating, .bool => exact Lit.convert_is_bool hx hc
  | .real, .float _ => obtain ⟨real, rfl⟩ := hk; exact Lit.convert_is_float hx hc
  | .any, .float _ => contradiction
  | .floating, .float f =>
    simp only [convert] at hc
    split at hc
    · rename_i h
      rcases Bool.or_eq_true_iff.1 h with h | h
      · have hx := isZero_is h hx
        subst hx
        cases of_decide_eq_true h
        match e with
        | .float g => cases hc; exact hk.convert_zero f g
        | .int _ => cases hc
        | .bool => cases hc; exact congrArg (!·) hk.zero_eq_zero
      · cases of_decide_eq_true h
        have hx : x = Ops.lit 1 1 := hx _ rfl
        subst hx
        match e with
        | .float g => cases hc; exact hk.convert_one f g
        | .int _ => cases hc
        | .bool => cases hc; exact congrArg (!·) hk.one_ne_zero
    · contradiction

end Arithmetic

end MaskPool
