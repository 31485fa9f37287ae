module
public import MaskPool.Arith.Real
/-!
# Real arithmetic with infinities and NaN

`Extended R` adds to the numbers of a `RealArith R` the special values of IEEE 754, with IEEE's rules for
them: an `Ops` in which `0 * inf`, `inf - inf` and `0 / 0` are NaN, NaN passes through every operation but a
selection, and `exp (-inf)` is zero. Between numbers it is exact, so that nothing overflows, underflows or is
rounded.

Not in the model:

* The sign of a zero. `x / 0` is an infinity for each number `x ≠ 0`, but its sign is arbitrary, as is that of
  `rsqrt 0`; no theorem can depend on it.
* The payload of a NaN: there is one.
* Overflow: a conversion to a narrower format leaves a number as it is.

The normal form of a value is `.finite x`, `.infinity negative` or `.nan`, and the lemmas of
`MaskPool.Extended.Lemmas` bring every operation on values of these forms to one of them.
-/
@[expose] public noncomputable section
namespace MaskPool

/-- A number, an infinity, or NaN. -/
inductive Extended (R : Type) where
  | finite (x : R)
  /-- `-inf` (`true`) or `inf` (`false`) -/
  | infinity (negative : Bool)
  | nan

namespace Extended
variable {R : Type} [RealArith R]

/-- `1` or `-1`. -/
def unit (negative : Bool) : R := if negative then -1 else 1

/-- A number divided by zero: NaN for zero, else an infinity of arbitrary sign. -/
def divZero (x : R) : Extended R := if x = 0 then nan else infinity (decide (RealArith.divZero x < 0))

/-- Negation. -/
def neg : Extended R → Extended R
  | finite x => finite (-x)
  | infinity s => infinity (!s)
  | nan => nan

/-- The sum; `inf - inf` is NaN. -/
def add : Extended R → Extended R → Extended R
  | finite x, finite y => finite (x + y)
  | infinity s, finite _ => infinity s
  | finite _, infinity s => infinity s
  | infinity s, infinity t => if s = t then infinity s else nan
  | _, _ => nan

/-- The product; `0 * inf` is NaN. -/
def mul : Extended R → Extended R → Extended R
  | finite x, finite y => finite (x * y)
  | infinity s, finite x => if x = 0 then nan else infinity (s != decide (x < 0))
  | finite x, infinity s => if x = 0 then nan else infinity (s != decide (x < 0))
  | infinity s, infinity t => infinity (s != t)
  | _, _ => nan

/-- The quotient; `0 / 0` and `inf / inf` are NaN. -/
def div : Extended R → Extended R → Extended R
  | finite x, finite y => if y = 0 then divZero x else finite (x / y)
  | infinity s, finite y => if y = 0 then divZero (unit s) else infinity (s != decide (y < 0))
  | finite _, infinity _ => finite 0
  | _, _ => nan

/-- The maximum, NaN if one of them is NaN. -/
def max : Extended R → Extended R → Extended R
  | finite x, finite y => finite (Ops.max x y)
  | infinity s, finite x => if s then finite x else infinity false
  | finite x, infinity s => if s then finite x else infinity false
  | infinity s, infinity t => infinity (s && t)
  | _, _ => nan

/-- The minimum, NaN if one of them is NaN. -/
def min : Extended R → Extended R → Extended R
  | finite x, finite y => finite (Ops.min x y)
  | infinity s, finite x => if s then infinity true else finite x
  | finite x, infinity s => if s then infinity true else finite x
  | infinity s, infinity t => infinity (s || t)
  | _, _ => nan

/-- False if one of them is NaN. -/
def lt : Extended R → Extended R → Bool
  | finite x, finite y => decide (x < y)
  | infinity s, finite _ => s
  | finite _, infinity t => !t
  | infinity s, infinity t => s && !t
  | _, _ => false

/-- False if one of them is NaN. -/
def le : Extended R → Extended R → Bool
  | finite x, finite y => decide (x ≤ y)
  | infinity s, finite _ => s
  | finite _, infinity t => !t
  | infinity s, infinity t => s || !t
  | _, _ => false

/-- False if one of them is NaN. -/
def eq : Extended R → Extended R → Bool
  | finite x, finite y => decide (x = y)
  | infinity s, infinity t => s == t
  | _, _ => false

/-- True of numbers. -/
def isFinite : Extended R → Bool
  | finite _ => true
  | _ => false

/-- The exponential; zero at `-inf`. -/
def exp : Extended R → Extended R
  | finite x => finite (RealArith.exp x)
  | infinity s => if s then finite 0 else infinity false
  | nan => nan

/-- The natural logarithm; `-inf` at zero, NaN below. -/
def log : Extended R → Extended R
  | finite x => if 0 < x then finite (RealArith.log x) else if x = 0 then infinity true else nan
  | infinity s => if s then nan else infinity false
  | nan => nan

/-- The hyperbolic tangent; `-1` and `1` at the infinities. -/
def tanh : Extended R → Extended R
  | finite x => finite (RealArith.tanh x)
  | infinity s => finite (unit s)
  | nan => nan

/-- The logistic function; `0` and `1` at the infinities. -/
def logistic : Extended R → Extended R
  | finite x => finite (RealArith.logistic x)
  | infinity s => finite (if s then 0 else 1)
  | nan => nan

/-- A function of `Func` at a number: NaN outside of its domain, infinite at its poles. -/
def funcFinite (g : Func) (x : R) : Extended R :=
  let value := finite (RealArith.func g x)
  /- the value on `[-1, 1]` -/
  let inside (value : Extended R) := if x < -1 then nan else if 1 < x then nan else value
  /- the value on `[-1, 1]`, with poles at both ends -/
  let between := inside (if x = -1 then infinity true else if x = 1 then infinity false else value)
  match g with
  | .sqrt => if x < 0 then nan else value
  | .rsqrt => if x < 0 then nan else if x = 0 then divZero 1 else value
  | .log1p => if x < -1 then nan else if x = -1 then infinity true else value
  | .erf_inv | .atanh => between
  | .asin | .acos => inside value
  | .acosh => if x < 1 then nan else value
  | _ => value

/-- A function of `Func` at an infinity. The arctangent is a number that is left open. -/
def funcInfinity : Func → (negative : Bool) → Extended R
  | .sqrt, s | .log1p, s | .acosh, s => if s then nan else infinity false
  | .rsqrt, s => if s then nan else finite 0
  | .exp2, s => if s then finite 0 else infinity false
  | .expm1, s => if s then finite (-1) else infinity false
  | .erf, s | .sign, s => finite (unit s)
  | .erfc, s => finite (if s then 1 + 1 else 0)
  | .abs, _ | .cosh, _ => infinity false
  | .cbrt, s | .floor, s | .ceil, s | .sinh, s | .asinh, s => infinity s
  | .atan, s => finite (RealArith.func .atan (RealArith.infinity s))
  | .sin, _ | .cos, _ | .tan, _ | .asin, _ | .acos, _ | .atanh, _ | .erf_inv, _ => nan

/-- The functions of `Func`. -/
def func (g : Func) : Extended R → Extended R
  | finite x => funcFinite g x
  | infinity s => funcInfinity g s
  | nan => nan

/-- The sum of a list, in any order (`sum_perm`). -/
def sum (l : List (Extended R)) : Extended R := l.foldr add (finite 0)

/-- The product of a list. -/
def prod (l : List (Extended R)) : Extended R := l.foldr mul (finite 1)

/-- The maximum of a list; `-inf` for the empty list. -/
def maxOf (l : List (Extended R)) : Extended R := l.foldr max (infinity true)

/-- The minimum of a list; `inf` for the empty list. -/
def minOf (l : List (Extended R)) : Extended R := l.foldr min (infinity false)

/-- The reduction of a list. -/
def reduce : Reduction → List (Extended R) → Extended R
  | .sum => sum
  | .prod => prod
  | .max => maxOf
  | .min => minOf

/-- Extended arithmetic as a model of `Ops`. -/
instance toOps : Ops (Extended R) where
  lit num den := finite (Ops.lit num den)
  infinity := infinity
  nan
  add
  sub x y := add x (neg y)
  mul
  div
  max
  min
  neg
  exp
  log
  tanh
  logistic
  apply := func
  lt
  le
  eq
  isFinite
  sum
  maxOf
  minOf
  prod
  cumulative g l i := reduce g (l.take (i + 1))
  dot l := sum (l.map fun p => mul p.1 p.2)
  convert _ _ x := x

end Extended
end MaskPool
