module
public import MaskPool.Extended.Lemmas
public import MaskPool.Finite.Reduce
/-!
# Sums and maxima of numbers, infinities and NaN

A sum of numbers is the number that `RealArith` gives. Else it is NaN if a summand is NaN, and in any case it
does not depend on the order: the infinities of a sum have one sign, or the sum is NaN. The maximum of numbers
among `-inf` is the maximum of the numbers.
-/
@[expose] public noncomputable section
namespace MaskPool.Extended
open RealArith
variable {R ι : Type} [RealArith R]

/-! ## Lists -/

theorem sum_nil : Ops.sum ([] : List (Extended R)) = finite 0 := rfl

theorem sum_cons (a : Extended R) (l : List (Extended R)) : Ops.sum (a :: l) = Ops.add a (Ops.sum l) := rfl

/-- A sum does not depend on the order of its summands. -/
theorem sum_perm {l m : List (Extended R)} (h : l.Perm m) : Ops.sum l = Ops.sum m := by
  induction h with
  | nil => rfl
  | cons a _ ih => rw [sum_cons, sum_cons, ih]
  | swap a b l => simp only [sum_cons]; exact add_left_comm b a _
  | trans _ _ ih₁ ih₂ => exact ih₁.trans ih₂

theorem sum_finite (l : List R) : Ops.sum (l.map finite) = finite (Ops.sum l) := by
  induction l with
  | nil => rfl
  | cons x l ih => rw [List.map_cons, sum_cons, ih]; rfl

theorem sum_nan {l : List (Extended R)} (h : nan ∈ l) : Ops.sum l = nan := by
  induction h with
  | head l => rw [sum_cons, nan_add]
  | tail a _ ih => rw [sum_cons, ih, add_nan]

theorem dot_eq_sum (l : List (Extended R × Extended R)) :
    Ops.dot l = Ops.sum (l.map fun p => Ops.mul p.1 p.2) := rfl

theorem maxOf_nil : Ops.maxOf ([] : List (Extended R)) = infinity true := rfl

theorem maxOf_cons (a : Extended R) (l : List (Extended R)) :
    Ops.maxOf (a :: l) = Ops.max a (Ops.maxOf l) := rfl

theorem maxOf_nan {l : List (Extended R)} (h : nan ∈ l) : Ops.maxOf l = nan := by
  induction h with
  | head l => rw [maxOf_cons, nan_max]
  | tail a _ ih => rw [maxOf_cons, ih, max_nan]

theorem maxOf_finite {l : List R} (h : l ≠ []) : Ops.maxOf (l.map finite) = finite (Ops.maxOf l) := by
  induction l with
  | nil => exact absurd rfl h
  | cons x l ih =>
    rw [List.map_cons, maxOf_cons]
    cases l with
    | nil => rfl
    | cons y l => rw [ih (List.cons_ne_nil y l)]; rfl

/-- Values of `-inf` do not count in a maximum. -/
theorem maxOf_filter {l : List ι} (f : ι → Extended R) (p : ι → Bool)
    (h : ∀ i, p i = false → f i = infinity true) :
    Ops.maxOf (l.map f) = Ops.maxOf ((l.filter p).map f) := by
  induction l with
  | nil => rfl
  | cons i l ih =>
    rw [List.map_cons, maxOf_cons, ih]
    cases hi : p i with
    | true => rw [List.filter_cons_of_pos hi, List.map_cons, maxOf_cons]
    | false => rw [List.filter_cons_of_neg (by simp [hi]), h i hi, max_neg_infinity]

/-! ## Finite types -/

variable [Enum ι]

theorem fsum_finite (f : ι → R) : fsum (fun i => finite (f i)) = finite (fsum f) := by
  have h := sum_finite ((Enum.elems : List ι).map f)
  rwa [List.map_map] at h

theorem fdot_eq_fsum (f g : ι → Extended R) : fdot f g = fsum fun i => Ops.mul (f i) (g i) := by
  show Ops.sum (List.map _ (List.map _ _)) = _
  rw [List.map_map]; rfl

theorem fdot_finite (f g : ι → R) :
    fdot (fun i => finite (f i)) (fun i => finite (g i)) = finite (fdot f g) := by
  rw [fdot_eq_fsum, MaskPool.fdot_eq_fsum]; exact fsum_finite _

theorem fsum_nan {f : ι → Extended R} (i : ι) (h : f i = nan) : fsum f = nan :=
  sum_nan (List.mem_map.2 ⟨i, Enum.complete i, h⟩)

theorem fmax_nan {f : ι → Extended R} (i : ι) (h : f i = nan) : fmax f = nan :=
  maxOf_nan (List.mem_map.2 ⟨i, Enum.complete i, h⟩)

theorem elems_ne_nil [h : Nonempty ι] : (Enum.elems : List ι) ≠ [] :=
  h.elim fun i => List.ne_nil_of_mem (Enum.complete i)

theorem fmax_finite [Nonempty ι] (f : ι → R) : fmax (fun i => finite (f i)) = finite (fmax f) := by
  have h := maxOf_finite (l := (Enum.elems : List ι).map f) (by simpa using elems_ne_nil)
  rwa [List.map_map] at h

/-- The maximum over the indices that satisfy `p`. -/
def fmaxWhere (p : ι → Prop) [d : ∀ i, Decidable (p i)] (f : ι → R) : R :=
  Ops.maxOf (((Enum.elems : List ι).filter fun i => @decide (p i) (d i)).map f)

/-- A maximum over numbers and `-inf` is the maximum over the numbers, if there are any. -/
theorem fmax_select {p : ι → Prop} [d : ∀ i, Decidable (p i)] (h : ∃ i, p i) (f : ι → R) :
    fmax (fun i => @ite _ (p i) (d i) (finite (f i)) (infinity true)) = finite (fmaxWhere p f) := by
  obtain ⟨i, hi⟩ := h
  have hmem : i ∈ (Enum.elems : List ι).filter fun i => decide (p i) :=
    List.mem_filter.2 ⟨Enum.complete i, decide_eq_true hi⟩
  show Ops.maxOf (List.map _ _) = _
  rw [maxOf_filter _ (fun i => decide (p i)) fun i hi => if_neg (of_decide_eq_false hi), fmaxWhere,
    ← maxOf_finite (List.ne_nil_of_mem (List.mem_map_of_mem hmem)), List.map_map]
  refine congrArg Ops.maxOf (List.map_congr_left fun i hi => ?_)
  exact if_pos (of_decide_eq_true (List.mem_filter.1 hi).2)

/-- The maximum of `-inf` alone is `-inf`. -/
theorem fmax_neg_infinity : fmax (fun _ : ι => (infinity true : Extended R)) = infinity true := by
  show Ops.maxOf (List.map _ Enum.elems) = _
  generalize (Enum.elems : List ι) = l
  induction l with
  | nil => rfl
  | cons i l ih => rw [List.map_cons, maxOf_cons, ih, max_neg_infinity]

end MaskPool.Extended
