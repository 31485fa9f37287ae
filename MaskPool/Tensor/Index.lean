module

public import MaskPool.Finite.Enum

/-!
# Indices and tensors

The indices of a tensor of shape `[n₀, n₁, …]` are the tuples in `Fin n₀ × Fin n₁ × … × Unit`, and a tensor
is a function on its indices. Functions that look at a tensor of rank one by name of an instance use the same
index type, `Index [n]`.
-/

@[expose] public noncomputable section

namespace MaskPool

/-- The indices of a tensor of the given shape. -/
@[reducible] def Index : List Nat → Type
  | [] => Unit
  | n :: s => Fin n × Index s

/-- A tensor with entries in `β`. -/
@[reducible] def Tensor (β : Type) (s : List Nat) : Type := Index s → β

/-- All indices of a shape, in row-major order. -/
instance Index.instEnum : (s : List Nat) → Enum (Index s)
  | [] => Enum.instUnit
  | _ :: s => @Enum.instProd _ _ _ (Index.instEnum s)

/-- The `k`-th coordinate of an index. -/
def Index.coord : {s : List Nat} → Index s → Nat → Nat
  | [], _, _ => 0
  | _ :: _, (i, _), 0 => i.1
  | _ :: _, (_, j), k + 1 => Index.coord j k

namespace Tensor

variable {β : Type} {n k : Nat} {s : List Nat}

/-- The row of each instance: what the first axis selects. -/
def rows (x : Tensor β (n :: s)) (i : Index [n]) : Tensor β s := fun j => x (i.1, j)

/-- A mask as numbers: `1` where it is true, `0` where it is false. -/
def indicator [OfNat β 0] [OfNat β 1] (m : Tensor Bool s) : Tensor β s := fun j => if m j then 1 else 0

/-- The same rows in another order: row `i` of the result is row `σ i` of `x`. -/
def permute (σ : Fin n ≃ Fin n) (x : Tensor β (n :: s)) : Tensor β (n :: s) := fun j => x (σ j.1, j.2)

/-- The rows of `x`, followed by the rows of `junk`. -/
def pad (x : Tensor β (n :: s)) (junk : Tensor β (k :: s)) : Tensor β ((n + k) :: s) := fun j =>
  Fin.addCases (fun i => x (i, j.2)) (fun i => junk (i, j.2)) j.1

@[simp] theorem pad_castAdd (x : Tensor β (n :: s)) (junk : Tensor β (k :: s)) (i : Fin n) (j : Index s) :
    x.pad junk (Fin.castAdd k i, j) = x (i, j) := by
  simp [pad]

@[simp] theorem pad_natAdd (x : Tensor β (n :: s)) (junk : Tensor β (k :: s)) (i : Fin k) (j : Index s) :
    x.pad junk (Fin.natAdd n i, j) = junk (i, j) := by
  simp [pad]

end Tensor

namespace Equiv

variable {n k : Nat}

/-- A bijection of row numbers as a bijection of the indices of rank one. -/
def index (σ : Fin n ≃ Fin k) : Index [n] ≃ Index [k] where
  toFun j := (σ j.1, ())
  inv j := (σ.inv j.1, ())
  left_inv j := Prod.ext (σ.left_inv j.1) rfl
  right_inv j := Prod.ext (σ.right_inv j.1) rfl

/-- The rows of a padded tensor: the old ones and the new ones. -/
def indexSum (n k : Nat) : Index [n] ⊕ Index [k] ≃ Index [n + k] where
  toFun := fun | .inl i => (Fin.castAdd k i.1, ()) | .inr i => (Fin.natAdd n i.1, ())
  inv j := Fin.addCases (fun i => .inl (i, ())) (fun i => .inr (i, ())) j.1
  left_inv i := by cases i <;> simp
  right_inv := fun ⟨i, _⟩ => by refine Fin.addCases (fun i => ?_) (fun i => ?_) i <;> simp

end Equiv

end MaskPool
