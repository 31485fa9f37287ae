module

public import MaskPool.Tensor.View

/-!
# Readings

A `View` reads an axis at a coordinate of the target. Slices, reversals, concatenations, and reshapes that
merge or split axes read it at a position that is computed from the coordinates: a `Reading`. It is computed
from JAX's own parameters. A position outside the axis holds a value that is given beside the tensor; JAX
allows none, and only sizes that JAX excludes, such as those of empty arrays, have one.
-/

@[expose] public noncomputable section

namespace MaskPool

/-- A position along an axis, computed from the coordinates of an index. Differences are truncated at zero. -/
inductive Position
  | coord (k : Nat)
  | size (n : Dim)
  | add (p q : Position)
  | sub (p q : Position)
  | mul (p q : Position)
  | div (p q : Position)
  | mod (p q : Position)

/-- The position at an index. -/
def Position.eval {ν : Nat → Nat} {t : List Dim} (j : IndexAt ν t) : Position → Nat
  | coord k => j.position k
  | size n => n.eval ν
  | add p q => p.eval j + q.eval j
  | sub p q => p.eval j - q.eval j
  | mul p q => p.eval j * q.eval j
  | div p q => p.eval j / q.eval j
  | mod p q => p.eval j % q.eval j

/-- How a tensor of shape `s` is read at the indices of shape `t`: each axis of `s` follows an axis of `t` of
the same size, or is read at a computed position. -/
inductive Reading : List Dim → List Dim → Type
  | nil {t : List Dim} : Reading [] t
  | axis {n : Dim} {s t : List Dim} (k : Nat) (h : t[k]? = some n) : Reading s t → Reading (n :: s) t
  | at {n : Dim} {s t : List Dim} (p : Position) : Reading s t → Reading (n :: s) t

namespace Reading

/-- The entry of `x` that is read at `j`, or `outside` if a position is not on its axis. -/
def read {ν : Nat → Nat} {β : Type} :
    {s t : List Dim} → Reading s t → (IndexAt ν s → β) → IndexAt ν t → (outside : β) → β
  | _, _, nil, x, _, _ => x ()
  | _, _, axis k h r, x, j, z => r.read (fun i => x (j.axis k h, i)) j z
  | n :: _, _, .at p r, x, j, z =>
    if h : p.eval j < n.eval ν then r.read (fun i => x (⟨p.eval j, h⟩, i)) j z else z

/-- The reading with the listed positions. A coordinate of an axis of the same size is read without a test;
an axis without a position is read outside. -/
def ofPositions : (s t : List Dim) → List Position → Reading s t
  | [], _, _ => nil
  | n :: s, t, .coord k :: positions =>
    if h : t[k]? = some n then .axis k h (ofPositions s t positions)
    else .at (.coord k) (ofPositions s t positions)
  | _ :: s, t, p :: positions => .at p (ofPositions s t positions)
  | n :: s, t, [] => .at (.size n) (ofPositions s t [])

end Reading

/-! ### Positions, from the parameters of the primitives -/

namespace Position

/-- The coordinates, but for `p` along `axis`. -/
def along (rank axis : Nat) (p : Position) : List Position :=
  (List.range rank).map fun k => if k = axis then p else .coord k

/-- A slice that begins at `starts`; `strides` are the distances of its entries, 1 where there is none. -/
def slice (starts : List Dim) (strides : List Nat) : List Position :=
  starts.zipIdx.map fun (start, k) =>
    let step := strides.getD k 1
    let position := if step = 1 then .coord k else .mul (.size (.lit step)) (.coord k)
    if start = 0 then position else .add (.size start) position

/-- The axes `dimensions` in reverse order. -/
def rev (s : List Dim) (dimensions : List Nat) : List Position :=
  s.zipIdx.map fun (n, k) =>
    if dimensions.contains k then .sub (.sub (.size n) (.size 1)) (.coord k) else .coord k

/-- The number, in row-major order, of an index with the listed sizes and axes. -/
def ravel : List (Dim × Nat) → Position
  | [] => .size 0
  | (_, k) :: axes => axes.foldl (fun p (n, i) => .add (.mul p (.size n)) (.coord i)) (.coord k)

/-- The number of indices of a shape. -/
def count : List Dim → Position
  | [] => .size 1
  | [n] => .size n
  | n :: s => .mul (.size n) (count s)

/-- The coordinates along all axes of `s` of the index number `p` in row-major order. The first one is not
reduced by its size. -/
def unravel : (s : List Dim) → (p : Position) → List Position
  | [], _ => []
  | [_], p => [p]
  | _ :: s, p => .div p (count s) :: inner s p
where
  /-- The coordinates along the axes of `s` that come after others. -/
  inner : List Dim → Position → List Position
    | [], _ => []
    | [n], p => [.mod p (.size n)]
    | n :: s, p => .mod (.div p (count s)) (.size n) :: inner s p

/-- The number of leading elements that two shapes share. -/
def common : List Dim → List Dim → Nat
  | a :: s, b :: t => if a = b then common s t + 1 else 0
  | _, _ => 0

/-- The positions `positions` along the axes of `s` that are not literally of size one, and 0 along those. -/
def spread : (s : List Dim) → (positions : List Position) → List Position
  | [], _ => []
  | n :: s, positions =>
    if n = 1 then .size 0 :: spread s positions
    else positions.headD (.size n) :: spread s positions.tail

/-- A reshape in row-major order. Axes of size one are added or removed; of the others, those that both shapes
begin with, and those that both end with, keep their coordinates. -/
def reshape (s t : List Dim) : List Position :=
  let source := s.filter (· ≠ 1)
  let target := t.zipIdx.filter (·.1 ≠ 1)
  let sizes := target.map (·.1)
  let first := common source sizes
  let last := common (source.drop first).reverse (sizes.drop first).reverse
  let coords (axes : List (Dim × Nat)) := axes.map fun (_, k) => .coord k
  spread s <| coords (target.take first) ++
    unravel ((source.drop first).take (source.length - first - last))
      (ravel ((target.drop first).take (target.length - first - last))) ++
    coords (target.drop (target.length - last))

end Position

end MaskPool
