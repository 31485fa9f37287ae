module
public import MaskPool.Arith.Field
public import MaskPool.Pool.Laws
/-!
# Idioms that are not masked pooling

Two common ways to mask a softmax, and why neither is `pool`. Both are a plain softmax mean over all
instances, and such a mean changes with each instance that is added, unless its value happens to be that mean.
All statements hold in every `RealArith R`.

* `zeroFeaturePool` zeroes the features of masked instances, and keeps their weights.
* `fillPool` sets the logits of masked instances to a constant, such as `-1e9`. In floating point their
  weights may then underflow to `0`, which depends on the format, on the constant and on the other logits. It
  does not help an all-masked bag, where each logit is the constant.
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

/-! ## Zeroed features -/

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

/-! ## A fill constant for the logits -/

/-- The logits that are softmaxed: `fill` for masked instances. -/
def fillLogit (fill : R) (logit : ι → R) (mask : ι → Bool) (i : ι) : R := if mask i then logit i else fill

/-- Softmax over all instances, with the logits of masked instances set to `fill`. -/
def fillPool (fill : R) (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool) (d : δ) : R :=
  softmaxMean (fillLogit fill logit mask) fun i => feat i d

/-- Whatever the constant, a masked instance keeps a positive weight. -/
theorem fillPool_weight_pos (fill : R) (logit : ι → R) (mask : ι → Bool) (i : ι) :
    0 < exp (fillLogit fill logit mask i) / fsum fun i => exp (fillLogit fill logit mask i) :=
  have : Nonempty ι := ⟨i⟩
  (div_pos_iff (fsum_exp_pos _) _).2 (exp_pos _)

/-- Whatever the constant, on every nonempty bag, one masked instance changes the result, unless its features
happen to equal the result. -/
theorem fillPool_pad_eq_iff [Nonempty ι] (fill : R) (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool)
    (l : R) (x : δ → R) (d : δ) :
    fillPool fill (snoc logit l) (snoc feat x) (snoc mask false) d = fillPool fill logit feat mask d ↔
      x d = fillPool fill logit feat mask d := by
  unfold fillPool
  have hlogit : fillLogit fill (snoc logit l) (snoc mask false) = snoc (fillLogit fill logit mask) fill := by
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

end MaskPool
