module
public import MaskPool.Pool.Basic
/-!
# Masked instances are irrelevant, without laws of arithmetic

A kernel that selects by the mask before it computes cannot depend on what masked instances hold. This uses no
law of arithmetic, so that it is true of floating point, also when masked instances hold infinities or NaN.
-/
@[expose] public noncomputable section
namespace MaskPool

section irrelevance
variable {α ι δ γ : Type}

/-- Selection by the mask: `x` where it is true, `fill` elsewhere. -/
def select {β : Type} (mask : ι → Bool) (fill : β) (x : ι → β) (i : ι) : β := if mask i then x i else fill

theorem select_congr {β : Type} {mask : ι → Bool} {x y : ι → β} (h : ∀ i, mask i = true → x i = y i)
    (fill : β) : select mask fill x = select mask fill y := by
  funext i; exact ite_congr rfl (h i) fun _ => rfl

theorem select_of_unmasked {β : Type} {mask : ι → Bool} (fill : β) (x : ι → β) {i : ι} (h : mask i = true) :
    select mask fill x i = x i := if_pos h

theorem select_of_masked {β : Type} {mask : ι → Bool} (fill : β) (x : ι → β) {i : ι} (h : mask i = false) :
    select mask fill x i = fill := if_neg (by rw [h]; exact Bool.false_ne_true)

/-- `F` gives the same result for logits and features that agree where the mask is true. -/
def IgnoresMasked (F : (ι → α) → (ι → δ → α) → (ι → Bool) → γ) : Prop :=
  ∀ ⦃mask logit logit' feat feat'⦄, (∀ i, mask i = true → logit i = logit' i) →
    (∀ i, mask i = true → feat i = feat' i) → F logit feat mask = F logit' feat' mask

/-- Whatever is computed from selected logits and features ignores masked instances. -/
theorem ignoresMasked_select (F : (ι → α) → (ι → δ → α) → (ι → Bool) → γ) (fill : α) (fill' : δ → α) :
    IgnoresMasked fun logit feat mask => F (select mask fill logit) (select mask fill' feat) mask := by
  intro mask logit logit' feat feat' hlogit hfeat
  simp only [select_congr hlogit, select_congr hfeat]

/-- To ignore masked instances is the same as not to notice a selection in front. -/
theorem ignoresMasked_iff (F : (ι → α) → (ι → δ → α) → (ι → Bool) → γ) (fill : α) (fill' : δ → α) :
    IgnoresMasked F ↔
      ∀ logit feat mask, F (select mask fill logit) (select mask fill' feat) mask = F logit feat mask := by
  constructor
  · intro h logit feat mask
    exact h (fun _ => select_of_unmasked fill logit) fun _ => select_of_unmasked fill' feat
  · intro h mask logit logit' feat feat' hlogit hfeat
    rw [← h logit, ← h logit', select_congr hlogit, select_congr hfeat]

end irrelevance

/-! ## The specification as a program -/

section program
variable {α ι δ : Type} [Ops α] [Enum ι]

/-- `pool` as a kernel computes it, in any arithmetic. -/
def selectedPool (logit : ι → α) (feat : ι → δ → α) (mask : ι → Bool) (d : δ) : α :=
  let w := select mask (Ops.lit 0 1) fun i => Ops.exp (logit i)
  let x := select mask (fun _ => Ops.lit 0 1) feat
  let z := fsum w
  if Ops.lt (Ops.lit 0 1) z then Ops.div (fsum fun i => Ops.mul (w i) (x i d)) z else Ops.lit 0 1

/-- In floating point too, what masked instances hold changes no bit of the result. -/
theorem selectedPool_ignoresMasked :
    IgnoresMasked (selectedPool : (ι → α) → (ι → δ → α) → (ι → Bool) → δ → α) := by
  intro mask logit logit' feat feat' hlogit hfeat
  have hexp i (h : mask i = true) : Ops.exp (logit i) = Ops.exp (logit' i) := congrArg Ops.exp (hlogit i h)
  unfold selectedPool; rw [select_congr hexp, select_congr hfeat]

end program

section real
variable {R ι δ : Type} [RealArith R] [Enum ι]
open RealArith

/-- In real arithmetic this program computes `pool`. -/
theorem selectedPool_eq_pool (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) :
    selectedPool logit feat mask = pool logit feat mask := by
  funext d
  have hw : select mask 0 (fun i => Ops.exp (logit i)) = weight logit mask := rfl
  have hterm i :
      weight logit mask i * select mask (fun _ => 0) feat i d = weight logit mask i * feat i d := by
    cases h : mask i
    · rw [weight_of_masked h, Lean.Grind.Semiring.zero_mul, Lean.Grind.Semiring.zero_mul]
    · rw [select_of_unmasked _ _ h]
  rw [pool_eq_pos_guard, ← fsum_congr hterm]
  simp only [selectedPool, ops_lit_zero, hw, ops_lt, ops_div, ops_mul, decide_eq_true_eq]
  refine ite_congr rfl (fun h => if_neg fun h0 => ?_) fun _ => rfl
  rw [mass, h0] at h
  exact Std.not_lt.2 (Std.le_refl 0) h

end real
end MaskPool
