module

public import MaskPool.Tensor.Index

/-!
# Entries of tensors in proofs

Tensors are compared entry by entry, at explicit coordinates. A coordinate that a kernel computes, where it
slices, concatenates or reshapes, becomes the coordinate that it stands for.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

@[expose] public noncomputable section

namespace MaskPool

section

variable {β : Type} {n : Nat} {s : List Nat}

theorem tensor_ext_cons {f g : Tensor β (n :: s)}
    (h : ∀ i : Fin n, (fun j : Index s => f (i, j)) = fun j => g (i, j)) : f = g :=
  funext fun j => congrFun (h j.1) j.2

/-- The only coordinate of an axis of size one is `0`. -/
theorem tensor_ext_one {f g : Tensor β (1 :: s)} (h : (fun j : Index s => f (0, j)) = fun j => g (0, j)) :
    f = g :=
  tensor_ext_cons fun i => Subsingleton.elim 0 i ▸ h

theorem tensor_ext_nil {f g : Tensor β []} (h : f () = g ()) : f = g := funext fun _ => h

end

/-- Two tensors are equal if their entries are, at all coordinates. -/
macro "tensor_ext" : tactic => `(tactic|
  ((repeat' (first | refine tensor_ext_one ?_ | refine tensor_ext_cons fun i => ?_))
   refine tensor_ext_nil ?_))

/-! ## Computed coordinates -/

section

variable {n k : Nat}

theorem fin_lt_add (i : Fin n) (k : Nat) : i.val < n + k := Nat.lt_of_lt_of_le i.isLt (Nat.le_add_right n k)

theorem not_add_lt_self (n k : Nat) : ¬ n + k < n := Nat.not_lt.2 (Nat.le_add_right n k)

/-- Two axes in one: the position of an entry. -/
theorem flat_lt (i : Fin n) (j : Fin k) : i.val * k + j.val < n * k :=
  calc i.val * k + j.val < i.val * k + k := Nat.add_lt_add_left j.isLt _
    _ = (i.val + 1) * k := (Nat.succ_mul ..).symm
    _ ≤ n * k := Nat.mul_le_mul_right k i.isLt

theorem flat_div (a : Nat) (j : Fin k) : (a * k + j.val) / k = a := by
  rw [Nat.mul_comm, Nat.mul_add_div (Nat.lt_of_le_of_lt (Nat.zero_le _) j.isLt), Nat.div_eq_of_lt j.isLt,
    Nat.add_zero]

theorem flat_mod (a : Nat) (j : Fin k) : (a * k + j.val) % k = j.val := by
  rw [Nat.mul_comm, Nat.mul_add_mod, Nat.mod_eq_of_lt j.isLt]

/-- One axis as two: the coordinates of an entry. -/
theorem fin_div_lt (i : Fin (n * k)) : i.val / k < n := Nat.div_lt_of_lt_mul (Nat.mul_comm n k ▸ i.isLt)

theorem fin_mod_lt (i : Fin (n * k)) : i.val % k < k :=
  Nat.mod_lt _ (Nat.pos_of_ne_zero fun h => by subst h; exact absurd i.isLt (Nat.not_lt_zero _))

/-- Two axes in one that is not written as a product: the position of an entry. -/
theorem flat_lt_of_blocks (i : Fin (n / k)) (j : Fin k) : i.val * k + j.val < n :=
  Nat.lt_of_lt_of_le (flat_lt i j) (Nat.div_mul_le_self n k)

theorem flat_lt_of_parts (i : Fin k) (j : Fin (n / k)) : i.val * (n / k) + j.val < n :=
  Nat.lt_of_lt_of_le (flat_lt i j) (Nat.mul_div_le n k)

/-- One axis in `k` parts: the coordinates of an entry. -/
theorem div_lt_of_parts (h : n % k = 0) (i : Fin n) : i.val / (n / k) < k :=
  fin_div_lt (n := k) (k := n / k) (i.cast (Nat.mul_div_cancel' (Nat.dvd_of_mod_eq_zero h)).symm)

theorem mod_lt_of_parts (h : n % k = 0) (i : Fin n) : i.val % (n / k) < n / k :=
  fin_mod_lt (n := k) (k := n / k) (i.cast (Nat.mul_div_cancel' (Nat.dvd_of_mod_eq_zero h)).symm)

/-- One axis in blocks of `k` entries: the coordinates of an entry. -/
theorem div_lt_of_blocks (h : n % k = 0) (i : Fin n) : i.val / k < n / k :=
  fin_div_lt (n := n / k) (i.cast (Nat.div_mul_cancel (Nat.dvd_of_mod_eq_zero h)).symm)

theorem mod_lt_of_blocks (h : n % k = 0) (i : Fin n) : i.val % k < k :=
  fin_mod_lt (n := n / k) (i.cast (Nat.div_mul_cancel (Nat.dvd_of_mod_eq_zero h)).symm)

end

/-- Computed coordinates become plain ones. -/
macro "plain_coordinates" : tactic => `(tactic|
  simp (disch := omega) only [↓reduceDIte, dif_pos, dif_neg, fin_lt_add, not_add_lt_self, flat_lt, flat_div,
    flat_mod, fin_div_lt, fin_mod_lt, flat_lt_of_blocks, flat_lt_of_parts, div_lt_of_parts, mod_lt_of_parts,
    div_lt_of_blocks, mod_lt_of_blocks, Nat.div_add_mod', Fin.isLt, Fin.eta,
    Nat.add_lt_add_iff_left, Nat.add_sub_cancel_left, Nat.zero_add, Nat.add_zero])

end MaskPool
