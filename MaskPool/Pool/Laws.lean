module
public import MaskPool.Arith.Field
public import MaskPool.Pool.Basic
/-!
# Laws of masked attention pooling

For every ordered field with an exponential: `pool` does not depend on the order of the instances, on padding,
on what masked instances hold, or on a shift of the logits.
-/
@[expose] public noncomputable section
namespace MaskPool
open RealArith Lean.Grind

variable {R ι κ δ : Type} [RealArith R] [Enum ι] [Enum κ]
variable (logit : ι → R) (feat : ι → δ → R) (mask : ι → Bool)

/-- **Bijections.** Reindexing the bag changes nothing. Permutations are the case `κ = ι`. -/
theorem pool_equiv (e : κ ≃ ι) :
    pool (fun k => logit (e k)) (fun k => feat (e k)) (fun k => mask (e k)) = pool logit feat mask := by
  funext d
  have hmass : mass (fun k => logit (e k)) (fun k => mask (e k)) = mass logit mask :=
    fsum_equiv e (weight logit mask)
  have hsum := fsum_equiv e fun i => weight logit mask i * feat i d
  unfold pool
  rw [hmass, ← hsum]; rfl

/-- **Padding.** Any number of masked instances, with any logits and features, changes nothing. -/
theorem pool_padding (logit : ι ⊕ κ → R) (feat : ι ⊕ κ → δ → R) (mask : ι ⊕ κ → Bool)
    (hmask : ∀ k, mask (.inr k) = false) :
    pool logit feat mask =
      pool (fun i => logit (.inl i)) (fun i => feat (.inl i)) (fun i => mask (.inl i)) := by
  funext d
  have hw k : weight logit mask (.inr k) = 0 := weight_of_masked (hmask k)
  have hmass : mass logit mask = mass (fun i => logit (.inl i)) (fun i => mask (.inl i)) := by
    rw [mass, fsum_sum]
    simp only [hw, fsum_zero]
    exact Semiring.add_zero _
  have hsum : fsum (fun i => weight logit mask i * feat i d) =
      fsum fun i => weight (fun i => logit (.inl i)) (fun i => mask (.inl i)) i * feat (.inl i) d := by
    rw [fsum_sum]
    simp only [hw, Semiring.zero_mul, fsum_zero]
    exact Semiring.add_zero _
  unfold pool; rw [hmass, hsum]

/-- **Irrelevance.** What masked instances hold changes nothing. -/
theorem pool_congr {logit' : ι → R} {feat' : ι → δ → R} (hlogit : ∀ i, mask i = true → logit i = logit' i)
    (hfeat : ∀ i, mask i = true → ∀ d, feat i d = feat' i d) :
    pool logit feat mask = pool logit' feat' mask := by
  funext d
  have hw : weight logit mask = weight logit' mask := by
    funext i
    exact ite_congr rfl (fun h => congrArg exp (hlogit i h)) fun _ => rfl
  have hterm i : weight logit' mask i * feat i d = weight logit' mask i * feat' i d := by
    cases h : mask i
    · rw [weight_of_masked h, Semiring.zero_mul, Semiring.zero_mul]
    · rw [hfeat i h]
  unfold pool mass; rw [hw, fsum_congr hterm]

/-- **Empty bag.** The pool of an all-masked bag is `0`. -/
theorem pool_all_masked (h : ∀ i, mask i = false) : pool logit feat mask = fun _ => 0 := by
  funext d
  rw [pool_eq_pos_guard, if_neg (by simp [mass_pos_iff, h])]

/-- Weights that are proportional to those of the specification, by a factor that is not `0`, give the same
pool. -/
theorem pool_of_scaled {c : R} (hc : c ≠ 0) {w : ι → R} (hw : ∀ i, w i = c * weight logit mask i) (d : δ) :
    (if fsum w = 0 then 0 else fsum (fun i => w i * feat i d) / fsum w) = pool logit feat mask d := by
  have hmass : fsum w = c * mass logit mask := by rw [fsum_congr hw, fsum_mul_left]; rfl
  have hsum : fsum (fun i => w i * feat i d) = c * fsum fun i => weight logit mask i * feat i d := by
    rw [← fsum_mul_left]; exact fsum_congr fun i => by rw [hw, Semiring.mul_assoc]
  simp only [pool, hmass, hsum, mul_eq_zero_iff hc, mul_div_mul_cancel hc]

/-- **Shift.** Subtracting a constant from all logits, such as their maximum, changes nothing. -/
theorem pool_shift (c : R) : pool (fun i => logit i - c) feat mask = pool logit feat mask := by
  funext d
  exact pool_of_scaled logit feat mask (exp_ne_zero (-c)) (weight_shift logit mask c) d

end MaskPool
