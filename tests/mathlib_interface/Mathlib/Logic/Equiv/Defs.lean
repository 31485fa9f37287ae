module
/-!
# Equivalences

The declarations of `Mathlib.Logic.Equiv.Defs` that `real/` uses.
-/
set_option compiler.extract_closed false -- the embedded engine cannot import the notation otherwise
@[expose] public noncomputable section

/-- `Equiv`. In mathlib its laws have defaults, and it is used as a function by `EquivLike`. -/
structure Equiv (α : Sort u) (β : Sort v) where
  protected toFun : α → β
  protected invFun : β → α
  protected left_inv : ∀ a, invFun (toFun a) = a
  protected right_inv : ∀ b, toFun (invFun b) = b

@[inherit_doc] infixl:25 " ≃ " => Equiv

/-- In place of mathlib's `Equiv.instFunLike`. -/
instance {α : Sort u} {β : Sort v} : CoeFun (α ≃ β) fun _ => α → β := ⟨Equiv.toFun⟩

namespace Equiv
variable {α : Sort u} {β : Sort v}

/-- `Equiv.symm`. -/
protected def symm (e : α ≃ β) : β ≃ α := ⟨e.invFun, e.toFun, e.right_inv, e.left_inv⟩

/-- `Equiv.symm_apply_apply`. -/
theorem symm_apply_apply (e : α ≃ β) (x : α) : e.symm (e x) = x := e.left_inv x

/-- `Equiv.apply_symm_apply`. -/
theorem apply_symm_apply (e : α ≃ β) (x : β) : e (e.symm x) = x := e.right_inv x

end Equiv
