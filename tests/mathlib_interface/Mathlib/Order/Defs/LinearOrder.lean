module
/-!
# Linear orders

The declarations of `Mathlib.Order.Defs.PartialOrder` and `Mathlib.Order.Defs.LinearOrder` that `real/` uses.
-/
@[expose] public noncomputable section

/-- `Preorder`. In mathlib `lt` and its law have defaults. -/
class Preorder (α : Type u) extends LE α, LT α where
  protected le_refl : ∀ a : α, a ≤ a
  protected le_trans : ∀ a b c : α, a ≤ b → b ≤ c → a ≤ c
  protected lt_iff_le_not_ge : ∀ a b : α, a < b ↔ a ≤ b ∧ ¬b ≤ a

/-- `PartialOrder`. -/
class PartialOrder (α : Type u) extends Preorder α where
  protected le_antisymm : ∀ a b : α, a ≤ b → b ≤ a → a = b

/-- `LinearOrder`. In mathlib it holds `min`, `max` and `compare` too. -/
class LinearOrder (α : Type u) extends PartialOrder α where
  protected le_total (a b : α) : a ≤ b ∨ b ≤ a
  toDecidableLE : DecidableLE α
  toDecidableEq : DecidableEq α
  toDecidableLT : DecidableLT α

attribute [instance 900] LinearOrder.toDecidableLT LinearOrder.toDecidableLE LinearOrder.toDecidableEq

variable {α : Type u}

/-- An instance without a name in mathlib. -/
instance [Preorder α] : Std.LawfulOrderLT α where
  lt_iff := Preorder.lt_iff_le_not_ge

/-- An instance without a name in mathlib. -/
instance [Preorder α] : Std.IsPreorder α where
  le_refl := Preorder.le_refl
  le_trans := Preorder.le_trans

/-- An instance without a name in mathlib. -/
instance [PartialOrder α] : Std.IsPartialOrder α where
  le_antisymm := PartialOrder.le_antisymm

/-- An instance without a name in mathlib. -/
instance [LinearOrder α] : Std.IsLinearOrder α where
  le_total := LinearOrder.le_total
