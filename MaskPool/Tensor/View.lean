module

public import MaskPool.Tensor.Dim

/-!
# Views

Broadcasting, transposing, squeezing, adding axes of size one, and lining up the operands of a reduction or
of a contraction are all one notion: a `View s t` reads a tensor of shape `s` at the indices of a shape `t`.
It is computed from JAX's own parameters; coordinates never come from outside.
-/

@[expose] public noncomputable section

namespace MaskPool

/-- How a tensor of shape `s` is read at the indices of shape `t`: each axis of `s` follows an axis of `t` of
the same size, or has size one. -/
inductive View : List Dim → List Dim → Type
  | nil {t : List Dim} : View [] t
  | axis {n : Dim} {s t : List Dim} (k : Nat) (h : t[k]? = some n) : View s t → View (n :: s) t
  | one {s t : List Dim} : View s t → View (.lit 1 :: s) t

namespace View

/-- The index of the source that is read at an index of the target. -/
def source {ν : Nat → Nat} : {s t : List Dim} → View s t → IndexAt ν t → IndexAt ν s
  | _, _, nil, _ => ()
  | _, _, axis k h v, j => (j.axis k h, v.source j)
  | _, _, one v, j => ((0 : Fin 1), v.source j)

/-- The view in which the axes of `s` follow the axes `axes` of `t`. An axis of size one that does not fit is
stretched. -/
def follow : (s t : List Dim) → (axes : List Nat) → Option (View s t)
  | [], _, [] => some .nil
  | n :: s, t, k :: axes =>
    match follow s t axes with
    | none => none
    | some v =>
      if h : t[k]? = some n then some (.axis k h v)
      else if h : n = .lit 1 then some (h ▸ .one v)
      else none
  | _, _, _ => none

end View

/-! ### Layouts, from the parameters of the primitives -/

/-- The sizes of the axes `axes`. -/
def sizesAt (s : List Dim) (axes : List Nat) : List Dim := axes.map fun k => s.getD k 0

/-- The axes below `rank` that are not among `axes`. -/
def otherAxes (rank : Nat) (axes : List Nat) : List Nat :=
  (List.range rank).filter fun k => !axes.contains k

/-- Where the axes below `rank` stand in the list `order`; past its end if they do not. -/
def places (rank : Nat) (order : List Nat) : List Nat :=
  (List.range rank).map fun k => order.findIdx (· == k)

/-- The operand of a reduction over `axes`: the reduced axes come first, then the others. -/
def reduceLayout (rank : Nat) (axes : List Nat) : List Nat := places rank (axes ++ otherAxes rank axes)

/-- An operand read along the axis `axis`: its coordinate there comes first, then the index of the result. -/
def lineLayout (rank axis : Nat) : List Nat :=
  (List.range rank).map fun k => if k = axis then 0 else k + 1

/-- An operand of a contraction, read at: the contracted axes, the batch axes, `skip` axes of the other
operand, the other axes of its own. -/
def dotLayout (rank : Nat) (contract batch : List Nat) (skip : Nat) : List Nat :=
  places rank (contract ++ batch ++ List.replicate skip rank ++ otherAxes rank (contract ++ batch))

end MaskPool
