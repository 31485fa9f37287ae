module

public import MaskPool.Finite.Sum

/-!
# Reductions other than sums and maxima of numbers in `Ops`

Minima, products and cumulative reductions over a finite type, for any `Ops`; and the reductions of integers,
which are exact.
-/

@[expose] public noncomputable section

namespace MaskPool

section

variable {α ι : Type} [Ops α] [Enum ι]

/-- `min i, f i` -/
def fmin (f : ι → α) : α := Ops.minOf (Enum.elems.map f)

/-- `Π i, f i` -/
def fprod (f : ι → α) : α := Ops.prod (Enum.elems.map f)

/-- The reduction of the values up to the position `i`, as one of the cumulative reductions of all values. -/
def fcumulative (g : Reduction) (f : ι → α) (i : Nat) : α := Ops.cumulative g (Enum.elems.map f) i

end

section

variable {ι : Type} [Enum ι]

/-- `Σ i, f i` -/
def isum (f : ι → Int) : Int := (Enum.elems.map f).sum

/-- `Π i, f i` -/
def iprod (f : ι → Int) : Int := (Enum.elems.map f).foldr (· * ·) 1

/-- `max i, f i`, and `least` if there are no values or all are smaller. -/
def imax (least : Int) (f : ι → Int) : Int := (Enum.elems.map f).foldr max least

/-- `min i, f i`, and `greatest` if there are no values or all are greater. -/
def imin (greatest : Int) (f : ι → Int) : Int := (Enum.elems.map f).foldr min greatest

/-- The reduction of a list of integers. -/
def Reduction.ofInts (format : IntType) : Reduction → List Int → Int
  | .sum, l => l.sum
  | .prod, l => l.foldr (· * ·) 1
  | .max, l => l.foldr Max.max format.lowest
  | .min, l => l.foldr Min.min format.greatest

/-- The reduction of the values up to the position `i`. -/
def icumulative (format : IntType) (g : Reduction) (f : ι → Int) (i : Nat) : Int :=
  g.ofInts format ((Enum.elems.map f).take (i + 1))

end

end MaskPool
