module

public import MaskPool.Pool.Laws
public import MaskPool.Tensor.Index

/-!
# From the specification to kernels

A kernel whose value is `pool` of its arguments has every property of `pool`. Its arguments may be laid out in
any way, with axes for batches and heads: what these lemmas ask for is how the logits, features and masks of
two bags compare, instance by instance. The generated certificates apply them to imported programs.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

@[expose] public noncomputable section

namespace MaskPool

/-- Rewrites a kernel by its specification. The message tells `maskpool-verify` what the theorem rests on. -/
macro "by_specification " h:term:max : tactic => `(tactic|
  (trace "maskpool: by the specification"
   rw [$h:term]))

/-- Rewrites two kernels by their specifications. -/
macro "by_specifications " h:term:max h':term:max : tactic => `(tactic| (by_specification $h; rw [$h':term]))

/-- Reads a padded tensor at one of its old rows, or at one of its new ones; decides which of the rows lie
below a length. Padding is rewritten first: to compare it with `decide _`, Lean would unfold it, and count to
the numbers of rows. -/
macro "read_padded" : tactic => `(tactic|
  first
    | ((try funext _)
       (try unfold Tensor.rows)
       (try unfold Tensor.pad)
       simp only [Tensor.indicator, Fin.addCases_left, Fin.addCases_right]
       done)
    | (refine decide_eq_false ?_
       simp only [Fin.natAdd]
       omega)
    | rfl)

section

variable {R ι κ δ : Type} [RealArith R] [Enum ι] [Enum κ]

/-- The same instances in another order. -/
theorem pool_reorder (e : ι ≃ κ) {logit : ι → R} {logit' : κ → R} {feat : ι → δ → R} {feat' : κ → δ → R}
    {mask : ι → Bool} {mask' : κ → Bool} (hlogit : ∀ i, logit i = logit' (e i))
    (hfeat : ∀ i, feat i = feat' (e i)) (hmask : ∀ i, mask i = mask' (e i)) :
    pool logit feat mask = pool logit' feat' mask' := by
  rw [funext hlogit, funext hfeat, funext hmask]
  exact pool_equiv logit' feat' mask' e

end

variable {R δ : Type} [RealArith R] {n k : Nat}

/-- `k` further masked instances. -/
theorem pool_append {logit : Index [n + k] → R} {logit' : Index [n] → R} {feat : Index [n + k] → δ → R}
    {feat' : Index [n] → δ → R} {mask : Index [n + k] → Bool} {mask' : Index [n] → Bool}
    (hlogit : ∀ i : Fin n, logit (i.castAdd k, ()) = logit' (i, ()))
    (hfeat : ∀ i : Fin n, feat (i.castAdd k, ()) = feat' (i, ()))
    (hmask : ∀ i : Fin n, mask (i.castAdd k, ()) = mask' (i, ()))
    (hnew : ∀ i : Fin k, mask (i.natAdd n, ()) = false) :
    pool logit feat mask = pool logit' feat' mask' := by
  rw [← pool_equiv _ _ _ (Equiv.indexSum n k)]
  refine (pool_padding _ _ _ fun i => hnew i.1).trans ?_
  congr 1
  · funext i; exact hlogit i.1
  · funext i; exact hfeat i.1
  · funext i; exact hmask i.1

end MaskPool
