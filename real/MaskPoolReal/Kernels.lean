module
public import MaskPool.Tensor.Index
public import MaskPoolReal.Pool
public import Mathlib.Data.Fintype.Basic
public import certificates.masked_attention_pool.properties
public import certificates.masked_attention_pool_stable.properties
/-!
# Kernels of real numbers

What the bundled kernels compute in exact arithmetic, without a notion of this project on the right of the
equation.
-/
@[expose] public noncomputable section
namespace MaskPoolReal
open MaskPool (Index Tensor)
variable {n d : Nat} {δ : Type}

/-- Rows by their numbers. -/
def rowIndex (n : Nat) : MaskPool.Equiv (Fin n) (Index [n]) :=
  ⟨fun i => (i, ()), Prod.fst, fun _ => rfl, fun _ => rfl⟩

theorem pool_eq_rows (logit : Index [n] → ℝ) (feat : Index [n] → δ → ℝ) (mask : Index [n] → Bool) :
    MaskPool.pool logit feat mask =
      attentionPool (fun i : Fin n => logit (i, ())) (fun i => feat (i, ())) (fun i => mask (i, ())) :=
  (MaskPool.pool_equiv logit feat mask (rowIndex n)).symm.trans (pool_eq_attentionPool ..)

variable (features : Tensor ℝ [n, d]) (logits : Tensor ℝ [n]) (mask : Tensor Bool [n]) (j : Index [d])

theorem masked_attention_pool :
    certificates.masked_attention_pool.symbolic.program.eval [n, d] (features, logits, mask, ()) j =
      (∑ i with mask (i, ()), Real.exp (logits (i, ())) * features (i, j)) /
        ∑ i with mask (i, ()), Real.exp (logits (i, ())) := by
  rw [certificates.masked_attention_pool.symbolic.specification, pool_eq_rows]; rfl

theorem masked_attention_pool_stable :
    certificates.masked_attention_pool_stable.symbolic.program.eval [n, d] (features, logits, mask, ()) j =
      (∑ i with mask (i, ()), Real.exp (logits (i, ())) * features (i, j)) /
        ∑ i with mask (i, ()), Real.exp (logits (i, ())) := by
  rw [certificates.masked_attention_pool_stable.symbolic.specification, pool_eq_rows]; rfl

end MaskPoolReal
