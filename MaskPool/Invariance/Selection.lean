module

public import MaskPool.Invariance.Batch
public import MaskPool.Invariance.Naming

/-!
# Kernels that select before they compute

Where a kernel selects by the mask before anything else happens to a row, what masked rows hold cannot reach
the result: not in floating point either, and not if they hold infinities or NaN. The checker sees it without
any law of arithmetic, so that the theorems of this file are about every `Ops α`. With `FloatFacts`, it also
sees that a bag without unmasked rows gives zero.
-/

@[expose] public noncomputable section

namespace MaskPool

open Overlap

variable {α : Type} [Ops α] {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result)
  {rows mask : Nat}

namespace Kernel

/-- The number of the first variable whose equation lets through what masked rows hold: into other rows, or
into a value that is computed from all rows. -/
def firstLeak (rows mask : Nat) : Option Nat := kernel.firstBad (.irrelevance .any) rows mask

/-- What the rows hold where the mask is false cannot reach the result, in any arithmetic. -/
theorem masked_irrelevance_any_arithmetic (sizes : List Nat)
    (hc : kernel.check (.irrelevance .any) rows mask = true) (live : Fin (valuation sizes rows) → Bool)
    {inputs inputs' : Env α (valuation sizes) arguments}
    (h : Env.Agree live mask 0 arguments inputs inputs') :
    kernel.eval sizes inputs = kernel.eval sizes inputs' :=
  kernel.masked_irrelevance_of (k := .any) trivial sizes hc live h

/-- What the rows of an element of a batch hold where its mask is false cannot reach the result, in any
arithmetic. At the index `j` of the result, `live j` is the mask. -/
theorem masked_irrelevance_batch_any_arithmetic (sizes : List Nat) (outer : List Nat)
    (hc : kernel.checkBatch (.irrelevance .any) rows mask outer = true)
    (live : IndexAt (valuation sizes) result.shape → Fin (valuation sizes rows) → Bool)
    {inputs inputs' : Env α (valuation sizes) arguments}
    (h : ∀ j, Env.AgreeAt (live j) (coordinates outer j) mask 0 arguments inputs inputs') :
    kernel.eval sizes inputs = kernel.eval sizes inputs' :=
  kernel.masked_irrelevance_batch_of (k := .any) trivial sizes outer hc live h

end Kernel

/-! ### Bags without unmasked rows -/

/-- What is known of the arguments from the position `position` on, where the mask is false everywhere. -/
def maskedArguments (mask : Nat) : (position : Nat) → List Ty → List Label
  | _, [] => []
  | p, t :: Γ =>
    { value := fun _ => if p = mask then some t.dtype.falsity else none, same := true } ::
      maskedArguments mask (p + 1) Γ

/-- The mask is false everywhere. -/
def Env.AllMasked {ν : Nat → Nat} (mask : Nat) : (position : Nat) → (Γ : List Ty) → Env α ν Γ → Prop
  | _, [], _ => True
  | p, t :: Γ, (x, ρ) =>
    (if p = mask then ∀ q, t.dtype.IsFalsity (x q) else True) ∧ Env.AllMasked mask (p + 1) Γ ρ

/-- Is the result of a bag without unmasked rows zero? -/
def Kernel.checkAllMasked (rows mask : Nat) (arithmetic : Arithmetic) : Bool :=
  match Program.check (.irrelevance arithmetic) rows kernel (maskedArguments mask 0 arguments).reverse with
  | some l => l.value .all = some result.dtype.falsity
  | none => false

theorem Env.AllMasked.related {r : Nat} {ν : Nat → Nat} {W : Overlap r ν ν} (hW : W.Aligned) {p : Nat}
    {Γ : List Ty} {ρ : Env α ν Γ} (h : Env.AllMasked mask p Γ ρ) :
    EnvRelated W (maskedArguments mask p Γ) ρ ρ := by
  induction Γ generalizing p with
  | nil => trivial
  | cons t Γ ih =>
    obtain ⟨hm, hrest⟩ := h
    have value {c : Lit} (hc : (if p = mask then some t.dtype.falsity else none) = some c) j :
        c.Is (ρ.1 j) := by
      split at hc
      · rename_i hp
        cases hc
        rw [if_pos hp] at hm
        exact DType.falsity_is (hm j)
      · contradiction
    exact ⟨⟨fun j j' hj => by rw [hW.eq hj]; exact rfl,
      ⟨fun _ _ hc j _ => value hc j, fun _ hc => by cases hc⟩,
      ⟨fun _ _ hc j _ => value hc j, fun _ hc => by cases hc⟩, fun _ _ => .rfl⟩, ih hrest⟩

theorem DType.eq_zero_of_falsity {d : DType} {x : d.denote α} (h : d.falsity.Is x) : x = d.zero := by
  match d with
  | .float _ | .int _ | .bool => exact h

/-- A bag without unmasked rows gives zero, in every arithmetic of a kind. -/
theorem Kernel.all_masked_of {k : Arithmetic} (hk : k.Admits α) (sizes : List Nat)
    (hc : kernel.checkAllMasked rows mask k = true) {inputs : Env α (valuation sizes) arguments}
    (h : Env.AllMasked mask 0 arguments inputs) : kernel.eval sizes inputs = fun _ => result.dtype.zero := by
  unfold checkAllMasked at hc
  split at hc
  · rename_i l hl
    funext j
    have aligned := ofLive_aligned (live := fun _ : Fin (valuation sizes rows) => true)
    have h := (h.related aligned).reverseOnto (Δ := []) (M := []) (σ := ()) (σ' := ()) trivial
    exact DType.eq_zero_of_falsity
      ((Program.related (law := .irrelevance k) aligned hk h hl).left.value .all _ (of_decide_eq_true hc) j
        trivial)
  · contradiction

/-- A bag without unmasked rows gives zero, in every arithmetic in which zeros behave. -/
theorem Kernel.all_masked_any_arithmetic (sizes : List Nat) (facts : FloatFacts α)
    (hc : kernel.checkAllMasked rows mask .floating = true) {inputs : Env α (valuation sizes) arguments}
    (h : Env.AllMasked mask 0 arguments inputs) : kernel.eval sizes inputs = fun _ => result.dtype.zero :=
  kernel.all_masked_of (k := .floating) facts sizes hc h

end MaskPool
