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

/-- `Fin n` in blocks of `k`. -/
def finBlocks (n k : Nat) (h : n % k = 0) : Fin (n / k) × Fin k ≃ Fin n where
  toFun i := ⟨i.1.1 * k + i.2.1, Nat.lt_of_lt_of_le
    (calc i.1.1 * k + i.2.1 < i.1.1 * k + k := Nat.add_lt_add_left i.2.2 _
      _ = (i.1.1 + 1) * k := (Nat.succ_mul ..).symm
      _ ≤ n / k * k := Nat.mul_le_mul_right k i.1.2)
    (Nat.div_mul_le_self n k)⟩
  inv i :=
    have e : n / k * k = n := Nat.div_mul_cancel (Nat.dvd_of_mod_eq_zero h)
    have hk : 0 < k := Nat.pos_of_ne_zero fun h0 => by subst h0; simp at e; subst e; exact i.elim0
    (⟨i.1 / k, Nat.div_lt_of_lt_mul (Nat.mul_comm _ k ▸ e.symm ▸ i.2)⟩, ⟨i.1 % k, Nat.mod_lt _ hk⟩)
  left_inv := fun ⟨i, j⟩ => by
    have hk : 0 < k := Nat.lt_of_le_of_lt (Nat.zero_le _) j.2
    refine Prod.ext (Fin.ext ?_) (Fin.ext ?_)
    · show (i.1 * k + j.1) / k = i.1
      rw [Nat.mul_comm, Nat.mul_add_div hk, Nat.div_eq_of_lt j.2, Nat.add_zero]
    · show (i.1 * k + j.1) % k = j.1
      rw [Nat.mul_comm, Nat.mul_add_mod, Nat.mod_eq_of_lt j.2]
  right_inv i := Fin.ext (Nat.div_add_mod' ..)

end Equiv
end MaskPool
