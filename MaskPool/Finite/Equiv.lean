module
/-!
# Bijections

`ι ≃ κ` is a bijection with its inverse.
-/
set_option compiler.extract_closed false -- the embedded engine cannot import the notation otherwise
@[expose] public noncomputable section
namespace MaskPool

/-- A bijection between `ι` and `κ`, with its inverse. -/
structure Equiv (ι κ : Type) where
  toFun : ι → κ
  /-- The inverse of `toFun`. -/
  inv : κ → ι
  left_inv : ∀ i, inv (toFun i) = i
  right_inv : ∀ k, toFun (inv k) = k

@[inherit_doc] scoped infix:25 " ≃ " => Equiv

/-- A bijection is used as a function. -/
instance {ι κ : Type} : CoeFun (ι ≃ κ) fun _ => ι → κ := ⟨Equiv.toFun⟩

namespace Equiv
variable {ι κ μ : Type}

/-- The identity. -/
def refl (ι : Type) : ι ≃ ι := ⟨id, id, fun _ => rfl, fun _ => rfl⟩

/-- The inverse. -/
def symm (e : ι ≃ κ) : κ ≃ ι := ⟨e.inv, e.toFun, e.right_inv, e.left_inv⟩

/-- The composite, `e` first. -/
def trans (e : ι ≃ κ) (f : κ ≃ μ) : ι ≃ μ where
  toFun i := f (e i)
  inv k := e.inv (f.inv k)
  left_inv i := by rw [f.left_inv, e.left_inv]
  right_inv k := by rw [e.right_inv, f.right_inv]

theorem injective (e : ι ≃ κ) {i j : ι} (h : e i = e j) : i = j := by
  rw [← e.left_inv i, h, e.left_inv]

/-- `Fin (n + k)` is the disjoint union of `Fin n` and `Fin k`. -/
def finSum (n k : Nat) : Fin n ⊕ Fin k ≃ Fin (n + k) where
  toFun
    | .inl i => i.castAdd k
    | .inr j => j.natAdd n
  inv := Fin.addCases .inl .inr
  left_inv
    | .inl _ => Fin.addCases_left _
    | .inr _ => Fin.addCases_right _
  right_inv i := by refine Fin.addCases (fun j => ?_) (fun j => ?_) i <;> simp

end Equiv
end MaskPool
