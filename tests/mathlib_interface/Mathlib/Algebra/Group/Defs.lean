module
/-!
# Commutative monoids

The declarations of `Mathlib.Algebra.Group.Defs` that `real/` uses.
-/
@[expose] public noncomputable section

/-- `AddCommMonoid`. In mathlib it has scalar multiplication by natural numbers too. -/
class AddCommMonoid (M : Type u) extends Add M, Zero M where
  protected add_assoc : ∀ a b c : M, a + b + c = a + (b + c)
  protected zero_add : ∀ a : M, 0 + a = a
  protected add_zero : ∀ a : M, a + 0 = a
  protected add_comm : ∀ a b : M, a + b = b + a
