module
public import MaskPool.Arith.Field
public import MaskPool.Pool.LawFree
public import MaskPool.Pool.Laws
/-!
# Softmax, and what padding does to it

`softmaxPool` is what `jax.nn.softmax(logits) @ features` computes, in any arithmetic: the logits are shifted
by their maximum first. Over a `RealArith R` it is the plain softmax mean, and such a mean changes with each
instance that is added, unless its value happens to be that mean. So a way to mask it has to act on the
softmax itself; the other files of this folder say what four of them do.
-/
@[expose] public noncomputable section
namespace MaskPool
open RealArith Lean.Grind

/-! ## Padding invariance as a property -/

/-- A way to pool a bag over any finite type. -/
abbrev Pooling (R δ : Type) : Type 1 :=
  {ι : Type} → [Enum ι] → (logit : ι → R) → (feat : ι → δ → R) → (mask : ι → Bool) → δ → R

/-- Masked instances can be added to any bag without changing the result. -/
def PaddingInvariant {R δ : Type} (P : Pooling R δ) : Prop :=
  ∀ (ι κ : Type) [Enum ι] [Enum κ] (logit : ι ⊕ κ → R) (feat : ι ⊕ κ → δ → R) (mask : ι ⊕ κ → Bool),
    (∀ k, mask (.inr k) = false) →
      P logit feat mask = P (fun i => logit (.inl i)) (fun i => feat (.inl i)) (fun i => mask (.inl i))

/-- `x` with one more entry `y`: adds an instance to a bag. -/
def snoc {ι β : Type} (x : ι → β) (y : β) : ι ⊕ Unit → β := Sum.elim x fun _ => y

variable {R ι δ : Type} [RealArith R] [Enum ι]

theorem pool_paddingInvariant : PaddingInvariant (pool : Pooling R δ) :=
  fun _ _ => pool_padding

/-! ## The plain softmax mean -/

/-- `Σ i, exp (logit i) * value i / Σ i, exp (logit i)`. The divisor is positive if the bag is nonempty. -/
def softmaxMean (logit value : ι → R) : R :=
  fsum (fun i => exp (logit i) * value i) / fsum fun i => exp (logit i)

theorem fsum_exp_pos [h : Nonempty ι] (logit : ι → R) : 0 < fsum fun i => exp (logit i) :=
  h.elim fun i => fsum_pos (fun i => Std.le_of_lt (exp_pos (logit i))) i (exp_pos _)

/-- Adding an instance changes the softmax mean, unless the value of the instance is that mean. -/
theorem softmaxMean_snoc_eq_iff [Nonempty ι] (logit value : ι → R) (l v : R) :
    softmaxMean (snoc logit l) (snoc value v) = softmaxMean logit value ↔
      v = softmaxMean logit value := by
  have hz := fsum_exp_pos logit
  have hzl : 0 < (fsum fun i => exp (logit i)) + exp l := by
    have h := OrderedAdd.add_lt_right (fsum fun i => exp (logit i)) (exp_pos l)
    exact Std.lt_trans hz (by rwa [add_zero] at h)
  generalize hq : softmaxMean logit value = q
  have hq : fsum (fun i => exp (logit i) * value i) = q * fsum fun i => exp (logit i) :=
    (div_eq_iff (ne_zero_of_pos hz) _ _).1 hq
  simp only [softmaxMean, fsum_sum, fsum_unit, snoc, Sum.elim_inl, Sum.elim_inr, hq]
  rw [div_eq_iff (ne_zero_of_pos hzl), Semiring.left_distrib, AddCommGroup.add_right_inj, mul_comm,
    mul_left_inj (exp_ne_zero l)]

theorem softmaxMean_const [Nonempty ι] (logit : ι → R) (v : R) : softmaxMean logit (fun _ => v) = v := by
  rw [softmaxMean, fsum_mul_right, mul_div_cancel_left (ne_zero_of_pos (fsum_exp_pos logit))]

/-! ## What a kernel computes -/

section
variable {α ι δ : Type} [Ops α] [Enum ι]

/-- The weights before they are normalized: `exp` of the logits, shifted by their maximum. -/
def shiftedExp (logit : ι → α) (i : ι) : α := Ops.exp (Ops.sub (logit i) (fmax logit))

/-- `jax.nn.softmax(logits)` -/
def softmax (logit : ι → α) (i : ι) : α := Ops.div (shiftedExp logit i) (fsum (shiftedExp logit))

/-- `jax.nn.softmax(logits) @ features` -/
def softmaxPool (logit : ι → α) (feat : ι → δ → α) (d : δ) : α := fdot (softmax logit) fun i => feat i d

end

/-- A contraction with normalized weights. -/
theorem fdot_div (w value : ι → R) (hw : fsum w ≠ 0) :
    fdot (fun i => Ops.div (w i) (fsum w)) value = fsum (fun i => w i * value i) / fsum w := by
  simp only [fdot_eq_fsum, ops_div, if_neg hw, div_mul]
  simp only [div_eq_mul_inv, fsum_mul_right]

/-- Over the reals the shift cancels. -/
theorem softmaxPool_eq_softmaxMean (logit : ι → R) (feat : ι → δ → R) (d : δ) :
    softmaxPool logit feat d = softmaxMean logit fun i => feat i d := by
  by_cases h : Nonempty ι
  · have hshift i : shiftedExp logit i = exp (-fmax logit) * exp (logit i) := exp_sub ..
    have hw : fsum (shiftedExp logit) ≠ 0 := ne_zero_of_pos (fsum_all_pos fun i => exp_pos _)
    refine (fdot_div (shiftedExp logit) _ hw).trans ?_
    rw [fsum_congr hshift]
    simp only [hshift, mul_assoc, fsum_mul_left, exp_mul_div_exp_mul, softmaxMean]
  · have helems : (Enum.elems : List ι) = [] := List.eq_nil_iff_forall_not_mem.2 fun i _ => h ⟨i⟩
    show sumL (List.map _ (List.map _ Enum.elems)) = sumL (List.map _ Enum.elems) / _
    rw [helems]
    exact (zero_div _).symm

end MaskPool
