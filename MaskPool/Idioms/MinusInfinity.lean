module
public import MaskPool.Extended.Sum
public import MaskPool.Idioms.Softmax
/-!
# Minus infinity for the masked logits

`softmax(where(mask, logits, -inf)) @ features` in `Extended R`. The weight of a masked instance is `exp
(-inf)`, which is zero. So the result is that of `pool`, if there is an unmasked instance; but `0 * inf` and
`0 * nan` are NaN, so that the features of masked instances have to be numbers, or have to be selected as
well. Without an unmasked instance the maximum is `-inf`, and `-inf - -inf` is NaN.

Logits and features of unmasked instances are numbers throughout. What masked instances hold may be anything.
-/
@[expose] public noncomputable section
namespace MaskPool
open RealArith Extended
variable {R ι δ : Type} [RealArith R] [Enum ι]

/-- `softmax(where(mask, logits, -inf)) @ features`, in any arithmetic. -/
def minusInfinityPool {α : Type} [Ops α] (logit : ι → α) (feat : ι → δ → α) (mask : ι → Bool) (d : δ) : α :=
  softmaxPool (select mask (Ops.infinity true) logit) feat d

section unmasked
variable {mask : ι → Bool} {L : ι → Extended R} {l : ι → R} (hmask : ∃ i, mask i = true)
  (hlogit : ∀ i, mask i = true → L i = finite (l i))
include hmask hlogit

/-- The softmax is that of the unmasked instances, with weight zero for the others. -/
theorem softmax_select_minusInfinity (i : ι) :
    softmax (select mask (Ops.infinity true) L) i =
      finite (weight l mask i / mass l mask) := by
  have hselect : select mask (Ops.infinity true) L =
      fun i => if mask i = true then finite (l i) else infinity true := by
    funext i; exact ite_congr rfl (hlogit i) fun _ => rfl
  have hmax : fmax (select mask (Ops.infinity true) L) = finite (fmaxWhere (fun i => mask i = true) l) := by
    rw [hselect]; exact fmax_select hmask l
  generalize fmaxWhere (fun i => mask i = true) l = m at hmax
  have hexp i : shiftedExp (select mask (Ops.infinity true) L) i = finite (exp (-m) * weight l mask i) := by
    rw [shiftedExp, hmax, hselect]
    cases h : mask i
    · rw [weight_of_masked h, mul_zero]
      simp only [h, Bool.false_eq_true, if_false]; rfl
    · rw [weight_of_unmasked h, ← exp_sub]
      simp only [h, if_true, sub_finite, exp_finite]
  have hsum : fsum (shiftedExp (select mask (Ops.infinity true) L)) = finite (exp (-m) * mass l mask) := by
    rw [funext hexp, fsum_finite, fsum_mul_left]; rfl
  have hpos := mul_pos (exp_pos (-m)) ((mass_pos_iff l mask).2 hmask)
  rw [softmax, hexp, hsum, div_finite (ne_zero_of_pos hpos), mul_div_mul_cancel (exp_ne_zero _)]

/-- With an unmasked instance, and numbers as masked features: masked attention pooling. -/
theorem minusInfinityPool_eq_pool {F : ι → δ → Extended R} {x : ι → δ → R} {d : δ}
    (hfeat : ∀ i, F i d = finite (x i d)) : minusInfinityPool L F mask d = finite (pool l x mask d) := by
  have hw i := softmax_select_minusInfinity hmask hlogit i
  have hpos := (mass_pos_iff l mask).2 hmask
  unfold minusInfinityPool softmaxPool
  rw [funext hw, funext hfeat, fdot_finite, pool_eq_pos_guard, if_pos hpos, MaskPool.fdot_eq_fsum]
  simp only [div_mul]
  simp only [div_eq_mul_inv, fsum_mul_right]

/-- A masked feature that is infinite or NaN makes the result NaN. -/
theorem minusInfinityPool_of_not_finite {F : ι → δ → Extended R} {d : δ} {k : ι} (hk : mask k = false)
    (hfeat : Ops.isFinite (F k d) = false) : minusInfinityPool L F mask d = nan := by
  unfold minusInfinityPool softmaxPool
  rw [Extended.fdot_eq_fsum]
  refine fsum_nan k ?_
  rw [softmax_select_minusInfinity hmask hlogit, weight_of_masked hk, zero_div, zero_mul_eq, hfeat]
  rfl

end unmasked

/-- Without an unmasked instance: NaN, whatever the instances hold. -/
theorem minusInfinityPool_all_masked [hι : Nonempty ι] (L : ι → Extended R) (F : ι → δ → Extended R)
    {mask : ι → Bool} (hmask : ∀ i, mask i = false) (d : δ) : minusInfinityPool L F mask d = nan := by
  have hselect : select mask (Ops.infinity true) L = fun _ => infinity true := by
    funext i; exact if_neg (by rw [hmask i]; exact Bool.false_ne_true)
  have hexp i : shiftedExp (select mask (Ops.infinity true) L) i = nan := by
    rw [shiftedExp, hselect, fmax_neg_infinity, sub_infinity_self, exp_nan]
  refine hι.elim fun i => ?_
  unfold minusInfinityPool softmaxPool
  rw [Extended.fdot_eq_fsum]
  exact fsum_nan i (by rw [softmax, hexp, nan_div, nan_mul])

/-- **Exactly when minus infinity is masked pooling**: some instance is unmasked, and all masked features are
numbers. In all other cases the result is NaN (`minusInfinityPool_eq_nan_iff`). -/
theorem minusInfinityPool_eq_pool_iff [Nonempty ι] {mask : ι → Bool} {L : ι → Extended R} {l : ι → R}
    {F : ι → δ → Extended R} {x : ι → δ → R} {d : δ} (hlogit : ∀ i, mask i = true → L i = finite (l i))
    (hfeat : ∀ i, mask i = true → F i d = finite (x i d)) :
    minusInfinityPool L F mask d = finite (pool l x mask d) ↔
      (∃ i, mask i = true) ∧ ∀ i, mask i = false → Ops.isFinite (F i d) = true := by
  constructor
  · intro h
    have hmask : ∃ i, mask i = true := Classical.byContradiction fun hmask => by
      rw [minusInfinityPool_all_masked L F fun i => Bool.eq_false_iff.2 fun hi => hmask ⟨i, hi⟩] at h
      nomatch h
    refine ⟨hmask, fun k hk => Classical.byContradiction fun hF => ?_⟩
    rw [minusInfinityPool_of_not_finite hmask hlogit hk (Bool.eq_false_iff.2 hF)] at h
    nomatch h
  · rintro ⟨hmask, hF⟩
    let y (i : ι) (_ : δ) : R := match F i d with
      | finite v => v
      | _ => 0
    have hy i : F i d = finite (y i d) := by
      have hi : Ops.isFinite (F i d) = true := by
        cases h : mask i
        · exact hF i h
        · rw [hfeat i h]; rfl
      obtain ⟨v, hv⟩ := (isFinite_iff _).1 hi
      simp only [y, hv]
    rw [minusInfinityPool_eq_pool (x := y) hmask hlogit hy]
    have hxy i (hi : mask i = true) (_ : Unit) : y i d = x i d := finite.inj ((hy i).symm.trans (hfeat i hi))
    exact congrArg finite (congrFun (pool_congr l _ mask (fun _ _ => rfl) hxy) ())

theorem minusInfinityPool_eq_nan_iff [Nonempty ι] {mask : ι → Bool} {L : ι → Extended R} {l : ι → R}
    {F : ι → δ → Extended R} {x : ι → δ → R} {d : δ} (hlogit : ∀ i, mask i = true → L i = finite (l i))
    (hfeat : ∀ i, mask i = true → F i d = finite (x i d)) :
    minusInfinityPool L F mask d = nan ↔
      (∀ i, mask i = false) ∨ ∃ i, mask i = false ∧ Ops.isFinite (F i d) = false := by
  constructor
  · intro h
    refine Classical.byContradiction fun hnot => ?_
    have hpool := (minusInfinityPool_eq_pool_iff hlogit hfeat).2 ⟨?_, fun i hi => ?_⟩
    · rw [h] at hpool; nomatch hpool
    · exact Classical.byContradiction fun hmask =>
        hnot (.inl fun i => Bool.eq_false_iff.2 fun hi => hmask ⟨i, hi⟩)
    · exact Classical.byContradiction fun hF => hnot (.inr ⟨i, hi, Bool.eq_false_iff.2 hF⟩)
  · rintro (hmask | ⟨i, hi, hF⟩)
    · exact minusInfinityPool_all_masked L F hmask d
    · by_cases hmask : ∃ i, mask i = true
      · exact minusInfinityPool_of_not_finite hmask hlogit hi hF
      · exact minusInfinityPool_all_masked L F (fun i => Bool.eq_false_iff.2 fun hi => hmask ⟨i, hi⟩) d

/-- With selected features as well, an unmasked instance is enough. -/
theorem minusInfinityPool_select_eq_pool {mask : ι → Bool} (hmask : ∃ i, mask i = true) {L : ι → Extended R}
    {l : ι → R} {F : ι → δ → Extended R} {x : ι → δ → R} {d : δ}
    (hlogit : ∀ i, mask i = true → L i = finite (l i)) (hfeat : ∀ i, mask i = true → F i d = finite (x i d)) :
    minusInfinityPool L (select mask (fun _ => finite 0) F) mask d = finite (pool l x mask d) := by
  have h : Nonempty ι := hmask.elim fun i _ => ⟨i⟩
  refine (minusInfinityPool_eq_pool_iff hlogit fun i hi => ?_).2 ⟨hmask, fun i hi => ?_⟩
  · rw [select_of_unmasked _ _ hi]; exact hfeat i hi
  · simp only [select, hi, Bool.false_eq_true, if_false]; rfl

end MaskPool
