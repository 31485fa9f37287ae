module
public import MaskPool.Arith.Real
/-!
# Models of the two kinds of arithmetic

The rational numbers with a constant exponential satisfy the laws of `RealArith`: they are consistent, and no
theorem over every `RealArith R` is vacuous. Lean's `Float`, IEEE 754 binary64, is a model of `Ops`.
-/
@[expose] public noncomputable section
namespace MaskPool

/-- The rational numbers, with the exponential that is constantly `1`. -/
instance : RealArith Rat where
  decLE := inferInstance
  decLT := inferInstance
  decEq := inferInstance
  exp _ := 1
  log _ := 0
  divZero _ := 0
  maxNil := 0
  minNil := 0
  infinity _ := 0
  nan := 0
  isFinite _ := true
  apply _ x := x
  exp_pos _ := Lean.Grind.OrderedRing.zero_lt_one
  exp_add _ _ := (Rat.mul_one 1).symm

/-- Binary64 arithmetic, accumulated from the left, with any rounding `convert` between formats, and any
implementation `apply` of further functions. -/
def floatOps (convert : FloatType → FloatType → Float → Float) (apply : Func → Float → Float) : Ops Float :=
  let max (x y : Float) := if x.isNaN || y < x then x else y -- NaN if one of them is NaN
  let min (x y : Float) := if x.isNaN || x < y then x else y
  let sum (l : List Float) := l.foldl (· + ·) 0
  let prod (l : List Float) := l.foldl (· * ·) 1
  let maxOf (l : List Float) := l.foldl max (-1 / 0)
  let minOf (l : List Float) := l.foldl min (1 / 0)
  { lit num den := Float.ofInt num / Float.ofNat den
    infinity negative := if negative then -1 / 0 else 1 / 0
    nan := 0 / 0
    add := (· + ·)
    sub := (· - ·)
    mul := (· * ·)
    div := (· / ·)
    max
    min
    neg := (- ·)
    exp := Float.exp
    log := Float.log
    tanh := Float.tanh
    logistic x := 1 / (1 + Float.exp (-x))
    apply
    lt x y := decide (x < y)
    le x y := decide (x ≤ y)
    eq x y := x == y
    isFinite := Float.isFinite
    sum
    maxOf
    minOf
    prod
    cumulative g l i :=
      let l := l.take (i + 1)
      match g with
      | .sum => sum l
      | .prod => prod l
      | .max => maxOf l
      | .min => minOf l
    dot l := l.foldl (fun s (x, y) => s + x * y) 0
    convert }

end MaskPool
