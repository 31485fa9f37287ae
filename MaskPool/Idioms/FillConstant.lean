module
public import MaskPool.Idioms.ZeroedFeatures
/-!
# A fill constant for the logits

`softmax(where(mask, logits, fill)) @ features` with a large negative number `fill`. Over the reals a masked
instance keeps a positive weight, whatever the constant. In floating point the exponential of `fill - max` may
underflow to zero, and it is then, and only then, that masked instances lose their weight. For this, the
exponential is any function here that is right where the mask is true (`withExp`).

Underflow does not help a bag without unmasked instances, where each logit is the constant: the result is the
mean of the masked features.
-/
@[expose] public noncomputable section
namespace MaskPool
open RealArith Lean.Grind

variable {R ι δ : Type} [RealArith R] [Enum ι]

/-- Softmax over all instances, with the logits of masked instances set to `fill`. -/
def fillPool (fill : R) (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (d : δ) : R :=
  softmaxMean (select mask fill logit) fun i => feat i d

/-- Whatever the constant, a masked instance keeps a positive weight. -/
theorem fillPool_weight_pos (fill : R) (logit : ι → R) (mask : ι → Bool) (i : ι) :
    0 < exp (select mask fill logit i) / fsum fun i => exp (select mask fill logit i) :=
  have : Nonempty ι := ⟨i⟩
  (div_pos_iff (fsum_exp_pos _) _).2 (exp_pos _)

/-- Whatever the constant, on every nonempty bag, one masked instance changes the result, unless its features
happen to equal the result. -/
theorem fillPool_pad_eq_iff [Nonempty ι] (fill : R) (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool)
    (l : R) (x : δ → R) (d : δ) :
    fillPool fill (snoc logit l) (snoc feat x) (snoc mask false) d = fillPool fill logit feat mask d ↔
      x d = fillPool fill logit feat mask d := by
  unfold fillPool
  have hlogit : select (snoc mask false) fill (snoc logit l) = snoc (select mask fill logit) fill := by
    funext k; cases k <;> rfl
  have hfeat : (fun k => snoc feat x k d) = snoc (fun i => feat i d) (x d) := by funext k; cases k <;> rfl
  rw [hlogit, hfeat, softmaxMean_snoc_eq_iff]

/-- So for every nonempty bag there are junk features that change the result in every coordinate. -/
theorem fillPool_pad_ne [Nonempty ι] (fill : R) (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (l : R) :
    ∃ x : δ → R, ∀ d,
      fillPool fill (snoc logit l) (snoc feat x) (snoc mask false) d ≠ fillPool fill logit feat mask d := by
  refine ⟨fun d => fillPool fill logit feat mask d + 1, fun d h => ?_⟩
  have h := (fillPool_pad_eq_iff fill logit feat mask l _ d).1 h
  exact one_ne_zero ((AddCommGroup.add_right_inj _ _ _).1 (h.trans (add_zero _).symm))

/-- No fill constant is padding invariant. -/
theorem fillPool_not_paddingInvariant (fill : R) (d : δ) :
    ¬ PaddingInvariant (fillPool fill : Pooling R δ) := by
  intro h
  have ⟨x, hx⟩ := fillPool_pad_ne (δ := δ) fill (fun _ : Unit => 0) (fun _ _ => 0) (fun _ => true) 0
  exact hx d (congrFun (h Unit Unit _ _ _ fun _ => rfl) d)

/-- An all-masked bag pools to the mean of its masked features. -/
theorem fillPool_all_masked (fill : R) (logit : ι → R) (feat : ι → δ → R) (d : δ) :
    fillPool fill logit feat (fun _ => false) d = fsum (fun i => feat i d) / fsum fun _ : ι => (1 : R) := by
  have hweight : (fun _ : ι => exp fill) = fun _ => exp fill * 1 := by simp only [mul_one]
  show fsum (fun i => exp fill * feat i d) / fsum (fun _ : ι => exp fill) = _
  rw [hweight, fsum_mul_left, fsum_mul_left, exp_mul_div_exp_mul]

/-- An all-masked bag of equal features `v` pools to `v`. The specification says `0`. -/
theorem fillPool_all_masked_const [Nonempty ι] (fill : R) (logit : ι → R) (v : δ → R) (d : δ) :
    fillPool fill logit (fun _ => v) (fun _ => false) d = v d :=
  softmaxMean_const _ _

/-! ## Underflow -/

/-- Real arithmetic with another exponential, as one that underflows. -/
abbrev withExp (e : R → R) : Ops R := { (toOps : Ops R) with exp := e }

/-- `softmax(where(mask, logits, fill)) @ features`, computed with the exponential `e`. -/
def fillPoolWith (e : R → R) (fill : R) (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (d : δ) : R :=
  @softmaxPool R ι δ (withExp e) _ (select mask fill logit) feat d

theorem fillPoolWith_exp (fill : R) (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (d : δ) :
    fillPoolWith exp fill logit feat mask d = fillPool fill logit feat mask d :=
  softmaxPool_eq_softmaxMean _ feat d

section
variable {e : R → R} {fill : R} {logit : ι → R} (feat : ι → δ → R) {mask : ι → Bool} (d : δ)

/-- **Exactly when a fill constant is masked pooling.** Let the exponential be right for unmasked instances,
and `e (fill - m)` not negative, where `m` is the maximum of the filled logits. Then the result is that of
`pool` exactly if `e (fill - m)` is zero, or the masked features happen to have the pooled value as their
mean. -/
theorem fillPoolWith_eq_pool_iff (hmask : ∃ i, mask i = true)
    (he : ∀ i, mask i = true → e (logit i - fmax (select mask fill logit)) =
      exp (logit i - fmax (select mask fill logit)))
    (hfill : 0 ≤ e (fill - fmax (select mask fill logit))) :
    fillPoolWith e fill logit feat mask d = pool logit feat mask d ↔
      e (fill - fmax (select mask fill logit)) = 0 ∨
        (fsum fun i => if mask i then 0 else feat i d) =
          (fsum fun i => if mask i then 0 else 1) * pool logit feat mask d := by
  generalize hm : fmax (select mask fill logit) = m at he hfill ⊢
  generalize hu : e (fill - m) = u at hfill ⊢
  let w (i : ι) : R := exp (-m) * weight logit mask i + u * if mask i then 0 else 1
  have hweight : (fun i => e (select mask fill logit i - m)) = w := by
    funext i
    cases h : mask i
    · simp only [select, w, h, weight_of_masked h, mul_zero, zero_add, mul_one, Bool.false_eq_true, if_false,
        hu]
    · simp only [select, w, h, weight_of_unmasked h, mul_zero, add_zero, if_true, he i h, exp_sub]
  have hpos := (mass_pos_iff logit mask).2 hmask
  have hcount : 0 ≤ fsum fun i => if mask i then (0 : R) else 1 := by
    refine fsum_nonneg fun i => ?_
    split
    · exact Std.le_refl 0
    · exact Std.le_of_lt one_pos
  have hsum : fsum w = exp (-m) * mass logit mask + u * fsum fun i => if mask i then 0 else 1 := by
    rw [← fsum_mul_left u, mass, ← fsum_mul_left, ← fsum_add]
  have hsumpos : 0 < fsum w := by
    have h := OrderedAdd.add_le_right (exp (-m) * mass logit mask) (OrderedRing.mul_nonneg hfill hcount)
    rw [add_zero, ← hsum] at h
    exact Std.lt_of_lt_of_le (mul_pos (exp_pos _) hpos) h
  have hnumerator : fsum (fun i => w i * feat i d) =
      exp (-m) * fsum (fun i => weight logit mask i * feat i d) +
        u * fsum fun i => if mask i then 0 else feat i d := by
    rw [← fsum_mul_left u, ← fsum_mul_left, ← fsum_add]
    refine fsum_congr fun i => ?_
    simp only [w, Semiring.right_distrib, mul_assoc]
    cases mask i
    · simp only [Bool.false_eq_true, if_false, one_mul]
    · simp only [if_true, zero_mul]
  have hpool : fillPoolWith e fill logit feat mask d = fsum (fun i => w i * feat i d) / fsum w := by
    refine Eq.trans ?_ (fdot_div w _ (ne_zero_of_pos hsumpos))
    rw [← hweight, ← hm]
    rfl
  rw [hpool, pool_eq_pos_guard, if_pos hpos, div_eq_div_iff _ (ne_zero_of_pos hsumpos) (ne_zero_of_pos hpos),
    hnumerator, hsum]
  generalize fsum (fun i => weight logit mask i * feat i d) = y
  generalize fsum (fun i => if mask i then 0 else feat i d) = s
  generalize (fsum fun i => if mask i then (0 : R) else 1) = k
  generalize mass logit mask = z at hpos ⊢
  rw [mul_div, eq_comm (a := s), div_eq_iff (ne_zero_of_pos hpos)]
  have hcancel : (exp (-m) * y + u * s) * z = y * (exp (-m) * z + u * k) ↔ u * (s * z) = u * (k * y) := by
    grind
  rw [hcancel]
  by_cases hu : u = 0
  · simp only [hu, zero_mul, true_or]
  · rw [mul_comm u, mul_comm u, mul_left_inj hu, eq_comm]
    simp only [hu, false_or]

end

section
variable (fill : R) (logit : ι → R) (feat : ι → δ → R) {mask : ι → Bool} (hmask : ∃ i, mask i = true)
include hmask

/-- Over the reals nothing underflows: a fill constant is masked pooling only by coincidence, where the masked
features have the pooled value as their mean. -/
theorem fillPool_eq_pool_iff (d : δ) :
    fillPool fill logit feat mask d = pool logit feat mask d ↔
      (fsum fun i => if mask i then 0 else feat i d) =
        (fsum fun i => if mask i then 0 else 1) * pool logit feat mask d := by
  rw [← fillPoolWith_exp]
  exact (fillPoolWith_eq_pool_iff feat d hmask (fun _ _ => rfl) (le_of_pos (exp_pos _))).trans
    (or_iff_right (exp_ne_zero _))

/-- **Over the reals a fill constant is never exact**: in every bag with a masked instance, other masked
features give another result in every coordinate, while `pool` stays as it is. -/
theorem fillPool_ne_pool {k : ι} (hk : mask k = false) :
    ∃ feat' : ι → δ → R, (∀ i, mask i = true → feat' i = feat i) ∧
      ∀ d, fillPool fill logit feat' mask d ≠ pool logit feat mask d := by
  let feat' (i : ι) : δ → R := if mask i then feat i else fun d => pool logit feat mask d + 1
  have hfeat i (hi : mask i = true) : feat' i = feat i := if_pos hi
  have hpool : pool logit feat' mask = pool logit feat mask :=
    pool_congr _ _ _ (fun _ _ => rfl) fun i hi d => congrFun (hfeat i hi) d
  refine ⟨feat', hfeat, fun d h => ?_⟩
  rw [← congrFun hpool d] at h
  have h := (fillPool_eq_pool_iff fill logit feat' hmask d).1 h
  have hsum : (fsum fun i => if mask i then 0 else feat' i d) =
      (fsum fun i => if mask i then (0 : R) else 1) * (pool logit feat mask d + 1) := by
    rw [← fsum_mul_right]
    refine fsum_congr fun i => ?_
    cases hi : mask i
    · simp only [feat', hi, Bool.false_eq_true, if_false, one_mul]
    · simp only [if_true, zero_mul]
  have hcount := ne_zero_of_pos (fsum_masked_pos (mask := mask) (fun _ => (1 : R)) (fun _ => one_pos) hk)
  rw [hsum, hpool, mul_comm, mul_comm _ (pool logit feat mask d), mul_left_inj hcount] at h
  exact one_ne_zero ((AddCommGroup.add_right_inj _ _ _).1 (h.trans (add_zero _).symm))

end

end MaskPool
