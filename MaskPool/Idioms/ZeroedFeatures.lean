module
public import MaskPool.Idioms.Softmax
/-!
# Zeroed features

`softmax(logits) @ where(mask, features, 0)` removes the features of masked instances from the numerator, and
leaves their weights in the normalizer. It is `pool` if there are no masked instances or the pooled value is
zero, and at no other time.
-/
@[expose] public noncomputable section
namespace MaskPool
open RealArith Lean.Grind

variable {R ι δ : Type} [RealArith R] [Enum ι]

/-- Softmax over all instances, with the features of masked instances set to `0`. -/
def zeroFeaturePool (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (d : δ) : R :=
  softmaxMean logit fun i => if mask i then feat i d else 0

/-- A bag of one unmasked instance with logit `0` and feature `1`. -/
theorem zeroFeaturePool_one (d : δ) :
    zeroFeaturePool (fun _ : Unit => (0 : R)) (fun _ _ => 1) (fun _ => true) d = 1 := by
  simp only [zeroFeaturePool, if_true, softmaxMean_const]

/-- The same bag with one masked instance, which also has logit `0` and feature `1`. -/
theorem zeroFeaturePool_one_padded (d : δ) :
    zeroFeaturePool (fun _ : Unit ⊕ Unit => (0 : R)) (fun _ _ => 1) Sum.isLeft d = 1 / 2 := by
  simp only [zeroFeaturePool, softmaxMean, fsum_sum, fsum_unit, exp_zero, Sum.isLeft_inl, Sum.isLeft_inr,
    if_true, Bool.false_eq_true, if_false, mul_one, mul_zero, add_zero]
  exact congrArg (1 / ·) (Semiring.ofNat_succ 1).symm

/-- On every nonempty bag, one masked instance, whatever its logit and features, changes each coordinate that
is not `0`. -/
theorem zeroFeaturePool_pad_ne [Nonempty ι] (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (d : δ)
    (hd : zeroFeaturePool logit feat mask d ≠ 0) (l : R) (x : δ → R) :
    zeroFeaturePool (snoc logit l) (snoc feat x) (snoc mask false) d ≠ zeroFeaturePool logit feat mask d := by
  intro h
  refine hd ((softmaxMean_snoc_eq_iff logit _ l 0).1 (Eq.trans ?_ h)).symm
  unfold zeroFeaturePool; congr 1
  funext k; cases k <;> rfl

/-- Zeroing the features only is not padding invariant. -/
theorem zeroFeaturePool_not_paddingInvariant (d : δ) :
    ¬ PaddingInvariant (zeroFeaturePool : Pooling R δ) := by
  intro h
  have hd : zeroFeaturePool (fun _ : Unit => (0 : R)) (fun _ _ => 1) (fun _ => true) d ≠ 0 := by
    rw [zeroFeaturePool_one]; exact one_ne_zero
  exact zeroFeaturePool_pad_ne _ _ _ d hd 0 (fun _ => 1) (congrFun (h Unit Unit _ _ _ fun _ => rfl) d)

/-- Masked instances change nothing exactly where the result is `0`. -/
theorem zeroFeaturePool_pad_eq_iff [Nonempty ι] (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (l : R)
    (x : δ → R) (d : δ) :
    zeroFeaturePool (snoc logit l) (snoc feat x) (snoc mask false) d = zeroFeaturePool logit feat mask d ↔
      zeroFeaturePool logit feat mask d = 0 := by
  refine ⟨fun h => Classical.byContradiction fun hd => zeroFeaturePool_pad_ne logit feat mask d hd l x h,
    fun h => ?_⟩
  refine Eq.trans ?_ ((softmaxMean_snoc_eq_iff logit _ l 0).2 h.symm)
  unfold zeroFeaturePool; congr 1
  funext k; cases k <;> rfl

/-- The sum of all weights is the normalizer of the specification and the weights of masked instances. -/
theorem fsum_exp_eq (logit : ι → R) (mask : ι → Bool) :
    fsum (fun i => exp (logit i)) = mass logit mask + fsum fun i => if mask i then 0 else exp (logit i) := by
  rw [mass, ← fsum_add]
  refine fsum_congr fun i => ?_
  cases h : mask i
  · rw [weight_of_masked h]; exact (zero_add _).symm
  · rw [weight_of_unmasked h]; exact (add_zero _).symm

theorem fsum_masked_pos {mask : ι → Bool} (f : ι → R) (hf : ∀ i, 0 < f i) {k : ι} (hk : mask k = false) :
    0 < fsum fun i => if mask i then 0 else f i := by
  refine fsum_pos (fun i => ?_) k (by rw [hk]; exact hf k)
  split
  · exact Std.le_refl 0
  · exact Std.le_of_lt (hf i)

/-- Zeroing the features only is masked pooling exactly for a bag without masked instances, and in the
coordinates in which the pooled value is `0`. -/
theorem zeroFeaturePool_eq_pool_iff (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (d : δ) :
    zeroFeaturePool logit feat mask d = pool logit feat mask d ↔
      (∀ i, mask i = true) ∨ pool logit feat mask d = 0 := by
  have hnumerator : fsum (fun i => exp (logit i) * if mask i then feat i d else 0) =
      fsum fun i => weight logit mask i * feat i d := by
    refine fsum_congr fun i => ?_
    cases h : mask i
    · rw [weight_of_masked h, zero_mul]; exact mul_zero _
    · rw [weight_of_unmasked h]; rfl
  have hzero : zeroFeaturePool logit feat mask d =
      fsum (fun i => weight logit mask i * feat i d) / fsum fun i => exp (logit i) := by
    rw [← hnumerator]; rfl
  rw [hzero, pool_eq_pos_guard]
  by_cases hpos : 0 < mass logit mask
  · rw [if_pos hpos]
    by_cases hall : ∀ i, mask i = true
    · refine ⟨fun _ => .inl hall, fun _ => ?_⟩
      congr 1
      exact fsum_congr fun i => (weight_of_unmasked (hall i)).symm
    · obtain ⟨k, hk⟩ := Classical.not_forall.1 hall
      have hk := Bool.eq_false_iff.2 hk
      have hmasked := fsum_masked_pos (fun i => exp (logit i)) (fun i => exp_pos _) hk
      have hsum := add_pos hpos hmasked
      rw [← fsum_exp_eq] at hsum
      rw [div_eq_div_iff _ (ne_zero_of_pos hsum) (ne_zero_of_pos hpos), fsum_exp_eq logit mask,
        Semiring.left_distrib]
      generalize fsum (fun i => weight logit mask i * feat i d) = y
      generalize fsum (fun i => if mask i then 0 else exp (logit i)) = z at hmasked ⊢
      constructor
      · intro h
        have h : y * z = 0 := by
          rw [← AddCommGroup.add_right_inj (y * mass logit mask), ← h, add_zero]
        rw [mul_comm] at h
        rw [(mul_eq_zero_iff (ne_zero_of_pos hmasked) y).1 h]
        exact .inr (zero_div _)
      · rintro (h | h)
        · exact absurd h hall
        · have h := (div_eq_iff (ne_zero_of_pos hpos) _ _).1 h
          rw [h]
          simp only [zero_mul, add_zero]
  · have hmasked := mt (mass_pos_iff logit mask).2 hpos
    have hw i : weight logit mask i * feat i d = 0 := by
      rw [weight_of_masked (Bool.eq_false_iff.2 fun h => hmasked ⟨i, h⟩), zero_mul]
    rw [if_neg hpos, fsum_congr hw, fsum_zero, zero_div]
    exact ⟨fun _ => .inr rfl, fun _ => rfl⟩

end MaskPool
