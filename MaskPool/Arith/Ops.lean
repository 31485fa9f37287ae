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

/-- The signature of scalar arithmetic, without laws. -/
class Ops (α : Type) where
  /-- The literal `num / den`. -/
  lit : (num : Int) → (den : Nat) → α
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
  lt : α → α → Bool
  le : α → α → Bool
  eq : α → α → Bool
  /-- The sum of a list, accumulated in any way. -/
  sum : List α → α
  /-- The maximum of a list, which may be empty. -/
  maxOf : List α → α
  /-- The contraction of a list of pairs. It is not defined by `mul` and `sum`, because a backend may fuse the
  two, reorder them, or accumulate in another precision. -/
  dot : List (α × α) → α
  /-- Rounding from the first format to the second. -/
  convert : FloatType → FloatType → α → α

end MaskPool
