module

public import MaskPool.Tensor.Index

/-!
# Sizes as syntax

The size of an axis is a term (`Dim`), and a shape is a list of them. A traced program is one closed term,
whose meaning is taken at a valuation of the size variables. Two axes have the same size when their terms are
the same, so that every side condition of a program computes, for literal and for symbolic sizes alike.
-/

@[expose] public noncomputable section

namespace MaskPool

/-- The size of an axis. -/
inductive Dim
  | lit (n : Nat)
  | var (i : Nat)
  | add (a b : Dim)
  | mul (a b : Dim)
  | sub (a b : Dim)
  | div (a b : Dim)
  | mod (a b : Dim)
  | max (a b : Dim)
  | min (a b : Dim)
  deriving DecidableEq

namespace Dim

instance (n : Nat) : OfNat Dim n := ⟨lit n⟩
instance : Add Dim := ⟨add⟩
instance : Mul Dim := ⟨mul⟩
instance : Sub Dim := ⟨sub⟩
instance : Div Dim := ⟨div⟩
instance : Mod Dim := ⟨mod⟩
instance : Max Dim := ⟨max⟩
instance : Min Dim := ⟨min⟩

/-- The number that a size stands for; a difference is truncated at zero, a quotient is rounded down. -/
def eval (ν : Nat → Nat) : Dim → Nat
  | lit n => n
  | var i => ν i
  | add a b => a.eval ν + b.eval ν
  | mul a b => a.eval ν * b.eval ν
  | sub a b => a.eval ν - b.eval ν
  | div a b => a.eval ν / b.eval ν
  | mod a b => a.eval ν % b.eval ν
  | max a b => Max.max (a.eval ν) (b.eval ν)
  | min a b => Min.min (a.eval ν) (b.eval ν)

/-- The same number as an integer, where a difference is not truncated. Divisors are positive, so that
quotients are rounded down and remainders are not negative. -/
def toInt (ν : Nat → Nat) : Dim → Int
  | lit n => n
  | var i => ν i
  | add a b => a.toInt ν + b.toInt ν
  | mul a b => a.toInt ν * b.toInt ν
  | sub a b => a.toInt ν - b.toInt ν
  | div a b => a.toInt ν / b.toInt ν
  | mod a b => a.toInt ν % b.toInt ν
  | max a b => Max.max (a.toInt ν) (b.toInt ν)
  | min a b => Min.min (a.toInt ν) (b.toInt ν)

end Dim

/-- The valuation that gives the variables the listed values, and zero to all others. -/
def valuation : List Nat → Nat → Nat
  | [], _ => 0
  | n :: _, 0 => n
  | _ :: l, i + 1 => valuation l i

/-- The shape at a valuation. -/
@[reducible] def shapeAt (ν : Nat → Nat) : List Dim → List Nat
  | [] => []
  | d :: s => d.eval ν :: shapeAt ν s

/-- The indices of a shape at a valuation. -/
@[reducible] def IndexAt (ν : Nat → Nat) (s : List Dim) : Type := Index (shapeAt ν s)

namespace IndexAt

variable {ν : Nat → Nat}

/-- The coordinate along the axis `k`, whose size is `n`. -/
def axis : {s : List Dim} → {n : Dim} → (k : Nat) → s[k]? = some n → IndexAt ν s → Fin (n.eval ν)
  | _ :: _, _, 0, h, (i, _) => Fin.cast (congrArg (Dim.eval ν) (Option.some.inj h)) i
  | _ :: s, _, k + 1, h, (_, j) => axis (s := s) k h j

/-- The coordinate along the axis `k` as a number; zero past the last axis. -/
def position : {s : List Dim} → IndexAt ν s → Nat → Nat
  | [], _, _ => 0
  | _ :: _, (i, _), 0 => i.1
  | _ :: s, (_, j), k + 1 => position (s := s) j k

/-- The coordinates of `i`, followed by those of `j`. -/
def append : {s t : List Dim} → IndexAt ν s → IndexAt ν t → IndexAt ν (s ++ t)
  | [], _, _, j => j
  | _ :: s, _, (i, k), j => (i, append (s := s) k j)

end IndexAt

end MaskPool
