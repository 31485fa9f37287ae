module
public import MaskPool.Arith.Real
/-!
# Sums of lists

The laws of `RealArith.sumL`: order, linearity, sign.
-/
@[expose] public noncomputable section
namespace MaskPool.RealArith
open Lean.Grind
variable {R ι : Type} [RealArith R]

@[simp] theorem sumL_nil : sumL ([] : List R) = 0 := rfl
@[simp] theorem sumL_cons (x : R) (l : List R) : sumL (x :: l) = x + sumL l := rfl

theorem sumL_append (l m : List R) : sumL (l ++ m) = sumL l + sumL m := by
  induction l with
  | nil => exact (AddCommMonoid.zero_add _).symm
  | cons x l ih => rw [List.cons_append, sumL_cons, ih, sumL_cons, Semiring.add_assoc]

/-- A sum does not depend on the order of its summands. -/
theorem sumL_perm {l m : List R} (h : l.Perm m) : sumL l = sumL m := by
  induction h with
  | nil => rfl
  | cons x _ ih => rw [sumL_cons, sumL_cons, ih]
  | swap x y l =>
    show y + (x + sumL l) = x + (y + sumL l)
    rw [← Semiring.add_assoc, Semiring.add_comm y, Semiring.add_assoc]
  | trans _ _ ih₁ ih₂ => exact ih₁.trans ih₂

theorem sumL_map_zero (l : List ι) : sumL (l.map fun _ => (0 : R)) = 0 := by
  induction l with
  | nil => rfl
  | cons x l ih => rw [List.map_cons, sumL_cons, ih, Semiring.add_zero]

theorem sumL_map_add (f g : ι → R) (l : List ι) :
    sumL (l.map fun i => f i + g i) = sumL (l.map f) + sumL (l.map g) := by
  induction l with
  | nil => exact (Semiring.add_zero _).symm
  | cons x l ih =>
    simp only [List.map_cons, sumL_cons, ih, Semiring.add_assoc]
    rw [← Semiring.add_assoc (g x), Semiring.add_comm (g x), Semiring.add_assoc]

theorem sumL_map_mul_left (c : R) (f : ι → R) (l : List ι) :
    sumL (l.map fun i => c * f i) = c * sumL (l.map f) := by
  induction l with
  | nil => exact (Semiring.mul_zero c).symm
  | cons x l ih => simp only [List.map_cons, sumL_cons, ih, Semiring.left_distrib]

theorem sumL_map_nonneg {f : ι → R} (h : ∀ i, 0 ≤ f i) (l : List ι) : 0 ≤ sumL (l.map f) := by
  induction l with
  | nil => exact Std.le_refl 0
  | cons x l ih =>
    have h := OrderedAdd.add_le_add (h x) ih
    rwa [Semiring.add_zero] at h

/-- A sum of nonnegative values with a positive one among them is positive. -/
theorem sumL_map_pos {f : ι → R} (h : ∀ i, 0 ≤ f i) {l : List ι} {i : ι} (hi : i ∈ l) (hp : 0 < f i) :
    0 < sumL (l.map f) := by
  obtain ⟨s, t, rfl⟩ := List.append_of_mem hi
  rw [sumL_perm (List.perm_middle.map f), List.map_cons, sumL_cons]
  have h := OrderedAdd.add_le_right (f i) (sumL_map_nonneg h (s ++ t))
  rw [Semiring.add_zero] at h
  exact Std.lt_of_lt_of_le hp h

end MaskPool.RealArith
