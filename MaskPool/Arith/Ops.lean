module
/-!
# Arithmetic without laws

`Ops α` lists the scalar operations that a traced kernel may use, and assumes nothing of them. IEEE 754
floating point of any width is a model. So are the reals, see `MaskPool.Arith.Real`. A theorem over every
`Ops α` holds for the kernel as a machine computes it: with rounding, infinities and NaN, and with any
deterministic order of accumulation.
-/
@[expose] public noncomputable section
namespace MaskPool

/-- JAX's floating-point formats. -/
inductive FloatType where
  | f16
  | bf16
  | f32
  | f64

/-- JAX's integer formats. -/
inductive IntType where
  | i32
  | i64

/-- The least number of an integer format. -/
def IntType.lowest : IntType → Int
  | .i32 => -2147483648
  | .i64 => -9223372036854775808

/-- The greatest number of an integer format. -/
def IntType.greatest : IntType → Int
  | .i32 => 2147483647
  | .i64 => 9223372036854775807

/-- Functions of one number, by their names in JAX, that have no place of their own in `Ops`. -/
inductive Func where
  | sqrt | rsqrt | cbrt
  | exp2 | expm1 | log1p
  | erf | erfc | erf_inv
  | abs | sign | floor | ceil
  | sin | cos | tan | asin | acos | atan
  | sinh | cosh | asinh | acosh | atanh

/-- What an array is reduced by. -/
inductive Reduction where
  | sum | prod | max | min

/-- The signature of scalar arithmetic, without laws. -/
class Ops (α : Type) where
  /-- The literal `num / den`. -/
  lit : (num : Int) → (den : Nat) → α
  /-- The literals `-inf` (`true`) and `inf` (`false`). -/
  infinity : (negative : Bool) → α
  /-- The literal `nan`. -/
  nan : α
  add : α → α → α
  sub : α → α → α
  mul : α → α → α
  div : α → α → α
  max : α → α → α
  min : α → α → α
  neg : α → α
  exp : α → α
  log : α → α
  tanh : α → α
  logistic : α → α
  apply : Func → α → α
  lt : α → α → Bool
  le : α → α → Bool
  eq : α → α → Bool
  isFinite : α → Bool
  /-- The sum of a list, accumulated in any way. -/
  sum : List α → α
  /-- The maximum of a list, which may be empty. -/
  maxOf : List α → α
  /-- The minimum of a list, which may be empty. -/
  minOf : List α → α
  /-- The product of a list, accumulated in any way. -/
  prod : List α → α
  /-- The reduction of the first `i + 1` numbers of a list. A backend computes all of them at once, and may
  accumulate differently than in a single reduction. -/
  cumulative : Reduction → List α → (i : Nat) → α
  /-- The contraction of a list of pairs. It is not defined by `mul` and `sum`, because a backend may fuse the
  two, reorder them, or accumulate in another precision. -/
  dot : List (α × α) → α
  /-- Rounding from the first format to the second. -/
  convert : FloatType → FloatType → α → α

end MaskPool
