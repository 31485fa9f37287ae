module

public import MaskPool.Pool.Laws
public import MaskPool.Tensor.Index

/-!
# From the specification to kernels

A kernel at one shape is a function of three tensors. If it is attention pooling (`IsPool`), then it has every
property of `pool`; padding relates it to the kernel at a larger shape. The generated certificates apply these
lemmas to imported programs.
-/

@[expose] public noncomputable section

namespace MaskPool

variable {R : Type} [RealArith R] {n k : Nat} {s : List Nat}

/-- `K` maps the logits, features and mask of `n` instances to their attention pooling. -/
def IsPool (K : Tensor R [n] → Tensor R (n :: s) → Tensor Bool [n] → Tensor R s) : Prop :=
  ∀ logits features mask, K logits features mask = pool logits features.rows mask

namespace IsPool

variable {K : Tensor R [n] → Tensor R (n :: s) → Tensor Bool [n] → Tensor R s}

/-- The order of the instances does not matter. -/
theorem permutation (h : IsPool K) (σ : Fin n ≃ Fin n) (logits : Tensor R [n]) (features : Tensor R (n :: s))
    (mask : Tensor Bool [n]) :
    K (logits.permute σ) (features.permute σ) (mask.permute σ) = K logits features mask := by
  rw [h, h]
  exact pool_equiv logits features.rows mask σ.index

/-- What masked instances hold does not matter. -/
theorem masked_irrelevance (h : IsPool K) {logits logits' : Tensor R [n]}
    {features features' : Tensor R (n :: s)} {mask : Tensor Bool [n]}
    (hlogits : ∀ i, mask i = true → logits i = logits' i)
    (hfeatures : ∀ i, mask i = true → features.rows i = features'.rows i) :
    K logits features mask = K logits' features' mask := by
  rw [h, h]
  exact pool_congr _ _ _ hlogits fun i hi => congrFun (hfeatures i hi)

/-- A bag without unmasked instances is mapped to zero. -/
theorem all_masked (h : IsPool K) (logits : Tensor R [n]) (features : Tensor R (n :: s)) :
    K logits features (fun _ => false) = fun _ => 0 := by
  rw [h]
  exact pool_all_masked _ _ _ fun _ => rfl

/-- `k` further masked instances do not matter, whatever they hold. -/
theorem padding (h : IsPool K)
    {K' : Tensor R [n + k] → Tensor R ((n + k) :: s) → Tensor Bool [n + k] → Tensor R s} (h' : IsPool K')
    (logits : Tensor R [n]) (features : Tensor R (n :: s)) (mask : Tensor Bool [n])
    (junk_logits : Tensor R [k]) (junk_features : Tensor R (k :: s)) :
    K' (logits.pad junk_logits) (features.pad junk_features) (mask.pad fun _ => false) =
      K logits features mask := by
  rw [h, h', ← pool_equiv _ _ _ (Equiv.indexSum n k)]
  refine (pool_padding _ _ _ fun i => Tensor.pad_natAdd mask _ i.1 ()).trans ?_
  congr 1
  · funext i; exact Tensor.pad_castAdd logits _ i.1 ()
  · funext i j; exact Tensor.pad_castAdd features _ i.1 j
  · funext i; exact Tensor.pad_castAdd mask _ i.1 ()

end IsPool

end MaskPool
