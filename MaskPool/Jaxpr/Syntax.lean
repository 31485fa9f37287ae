module

public import MaskPool.Arith.Ops
public import MaskPool.Tensor.Reading

/-!
# Jaxprs

A typed deep embedding of the Jaxprs of pooling kernels. Variables are numbered in the order in which they are
bound, the arguments of the kernel first, so that a variable has one number everywhere: `v#5` is the value of
the equation that is marked `5`. Each primitive keeps the parameters that JAX gives it, and its side
conditions compute from them.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

@[expose] public noncomputable section

namespace MaskPool

/-- Types of numbers. -/
inductive NumType
  | float (format : FloatType)
  | int (format : IntType)

/-- Types of array entries. -/
inductive DType
  | num (type : NumType)
  | bool

/-- Floating-point entries. -/
@[match_pattern] abbrev DType.float (format : FloatType) : DType := .num (.float format)

/-- Integer entries. -/
@[match_pattern] abbrev DType.int (format : IntType) : DType := .num (.int format)

/-- The type of an array: JAX's `ShapedArray`. -/
structure Ty where
  dtype : DType
  shape : List Dim

/-- `float16[s]` -/
abbrev f16 (s : List Dim) : Ty := ⟨.float .f16, s⟩
/-- `bfloat16[s]` -/
abbrev bf16 (s : List Dim) : Ty := ⟨.float .bf16, s⟩
/-- `float32[s]` -/
abbrev f32 (s : List Dim) : Ty := ⟨.float .f32, s⟩
/-- `float64[s]` -/
abbrev f64 (s : List Dim) : Ty := ⟨.float .f64, s⟩
/-- `int32[s]` -/
abbrev i32 (s : List Dim) : Ty := ⟨.int .i32, s⟩
/-- `int64[s]` -/
abbrev i64 (s : List Dim) : Ty := ⟨.int .i64, s⟩
/-- `bool[s]`; `bool` is a function of Lean -/
abbrev bool_ (s : List Dim) : Ty := ⟨.bool, s⟩

/-- The entry with a number; the last entry of a list has the number 0. Looks at no entry behind it. -/
def numbered {A : Type} : List A → Nat → Option A
  | [], _ => none
  | x :: l, k => bif Nat.beq k l.length then some x else numbered l k

/-- An operand: a variable or a literal. `Γ` lists the types of the variables, the newest first. -/
inductive Arg (Γ : List Ty) : Ty → Type
  /-- the variable number `k` -/
  | var {t : Ty} (k : Nat) (h : numbered Γ k = some t) : Arg Γ t
  /-- the number `num / den`; beside an array it stands for an array of its shape -/
  | real {f : FloatType} {s : List Dim} (num : Int) (den : Nat) : Arg Γ ⟨.float f, s⟩
  /-- `-inf` or `inf` -/
  | infinity {f : FloatType} {s : List Dim} (negative : Bool) : Arg Γ ⟨.float f, s⟩
  /-- `nan` -/
  | nan {f : FloatType} {s : List Dim} : Arg Γ ⟨.float f, s⟩
  | int {f : IntType} {s : List Dim} (value : Int) : Arg Γ ⟨.int f, s⟩
  | bool {s : List Dim} (b : Bool) : Arg Γ ⟨.bool, s⟩

namespace Arg

variable {Γ : List Ty} {f : FloatType} {i : IntType}

/-- A literal where nothing else gives it a shape. -/
abbrev scalar (num : Int) (den : Nat) : Arg Γ ⟨.float f, []⟩ := .real num den

@[inherit_doc scalar] abbrev scalarInfinity (negative : Bool) : Arg Γ ⟨.float f, []⟩ := .infinity negative

@[inherit_doc scalar] abbrev scalarNan : Arg Γ ⟨.float f, []⟩ := .nan

@[inherit_doc scalar] abbrev scalarInt (value : Int) : Arg Γ ⟨.int i, []⟩ := .int value

@[inherit_doc scalar] abbrev scalarBool (b : Bool) : Arg Γ ⟨.bool, []⟩ := .bool b

end Arg

/-- The variable number `k`. -/
macro:max "v#" noWs k:num : term => `(Arg.var $k rfl)

/-- Elementwise functions of one number. -/
inductive Unary | neg | exp | log | tanh | logistic | func (g : Func)
/-- Elementwise functions of two numbers. -/
inductive Binary | add | sub | mul | div | max | min
/-- Elementwise comparisons. -/
inductive Comparison | lt | le | gt | ge | eq | ne
/-- Elementwise functions of two truth values. -/
inductive Connective | and | or | xor
/-- Reductions of truth values. -/
inductive Quantifier | or | and

/-- Which conversions there are: all but those of floating-point numbers to integers. -/
def DType.converts : DType → DType → Bool
  | .float _, .int _ => false
  | _, _ => true

/-- JAX's `((lhs_contract, rhs_contract), (lhs_batch, rhs_batch))`. -/
abbrev DotDimensionNumbers := (List Nat × List Nat) × (List Nat × List Nat)

namespace DotDimensionNumbers

/-- The contracted sizes. -/
abbrev contracted (dn : DotDimensionNumbers) (s : List Dim) : List Dim := sizesAt s dn.1.1

/-- The result: batch axes, free axes of the left operand, free axes of the right operand. -/
abbrev result (dn : DotDimensionNumbers) (s t : List Dim) : List Dim :=
  sizesAt s dn.2.1 ++ sizesAt s (otherAxes s.length (dn.1.1 ++ dn.2.1)) ++
    sizesAt t (otherAxes t.length (dn.1.2 ++ dn.2.2))

/-- How the left operand is read at the contracted axes followed by those of the result. -/
abbrev left (dn : DotDimensionNumbers) (s : List Dim) : List Nat := dotLayout s.length dn.1.1 dn.2.1 0

/-- How the right operand is read; the free axes of the left operand lie before its own. -/
abbrev right (dn : DotDimensionNumbers) (s t : List Dim) : List Nat :=
  dotLayout t.length dn.1.2 dn.2.2 (otherAxes s.length (dn.1.1 ++ dn.2.1)).length

end DotDimensionNumbers

-- no proof looks at the size of an operation, and these lemmas take a second
set_option genSizeOf false in
set_option genInjectivity false in
/-- The right-hand side of an equation whose value has type `t`. -/
inductive Op (Γ : List Ty) : Ty → Type
  | unary {f : FloatType} {s : List Dim} (g : Unary) (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩
  | is_finite {f : FloatType} {s : List Dim} (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.bool, s⟩
  | binary {t : NumType} {s : List Dim} (g : Binary) (x y : Arg Γ ⟨.num t, s⟩) : Op Γ ⟨.num t, s⟩
  | compare {t : NumType} {s : List Dim} (g : Comparison) (x y : Arg Γ ⟨.num t, s⟩) : Op Γ ⟨.bool, s⟩
  | not {s : List Dim} (x : Arg Γ ⟨.bool, s⟩) : Op Γ ⟨.bool, s⟩
  | logical {s : List Dim} (g : Connective) (x y : Arg Γ ⟨.bool, s⟩) : Op Γ ⟨.bool, s⟩
  /-- `x` where `p` is false, `y` where it is true -/
  | select_n {d : DType} {s : List Dim} (p : Arg Γ ⟨.bool, s⟩) (x y : Arg Γ ⟨d, s⟩) : Op Γ ⟨d, s⟩
  | convert_element_type {d : DType} {s : List Dim} (new_dtype : DType) (x : Arg Γ ⟨d, s⟩)
      (converts : d.converts new_dtype = true := by exact rfl) : Op Γ ⟨new_dtype, s⟩
  /-- the value of a size -/
  | dim_as_value {f : IntType} (dim : Dim) : Op Γ ⟨.int f, []⟩
  /-- the coordinate along the axis `dimension`, counted from 0 -/
  | iota {t : NumType} (shape : List Dim) (dimension : Nat) : Op Γ ⟨.num t, shape⟩
  | broadcast_in_dim {d : DType} {s : List Dim} (shape : List Dim) (broadcast_dimensions : List Nat)
      (x : Arg Γ ⟨d, s⟩)
      (layout : (View.follow s shape broadcast_dimensions).isSome = true := by exact rfl) : Op Γ ⟨d, shape⟩
  | squeeze {d : DType} {s t : List Dim} (dimensions : List Nat) (x : Arg Γ ⟨d, s⟩)
      (shape : sizesAt s (otherAxes s.length dimensions) = t := by exact rfl)
      (layout : (View.follow s t (places s.length (otherAxes s.length dimensions))).isSome = true
        := by exact rfl) :
      Op Γ ⟨d, t⟩
  | transpose {d : DType} {s t : List Dim} (permutation : List Nat) (x : Arg Γ ⟨d, s⟩)
      (shape : sizesAt s permutation = t := by exact rfl)
      (layout : (View.follow s t (places s.length permutation)).isSome = true := by exact rfl) : Op Γ ⟨d, t⟩
  /-- entries at computed positions; those outside are zero -/
  | reindex {d : DType} {s t : List Dim} (r : Reading s t) (x : Arg Γ ⟨d, s⟩) : Op Γ ⟨d, t⟩
  /-- entries of `x`, and those of `y` outside -/
  | join {d : DType} {s s' t : List Dim} (r : Reading s t) (r' : Reading s' t) (x : Arg Γ ⟨d, s⟩)
      (y : Arg Γ ⟨d, s'⟩) : Op Γ ⟨d, t⟩
  | reduce {n : NumType} {s t : List Dim} (g : Reduction) (axes : List Nat) (x : Arg Γ ⟨.num n, s⟩)
      (shape : sizesAt s (otherAxes s.length axes) = t := by exact rfl)
      (layout : (View.follow s (sizesAt s axes ++ t) (reduceLayout s.length axes)).isSome = true
        := by exact rfl) :
      Op Γ ⟨.num n, t⟩
  /-- the reductions of the entries up to each position along an axis -/
  | cumulate {n : NumType} {s : List Dim} (g : Reduction) (axis : Nat) (x : Arg Γ ⟨.num n, s⟩)
      (layout : (View.follow s (sizesAt s [axis] ++ s) (lineLayout s.length axis)).isSome = true
        := by exact rfl) :
      Op Γ ⟨.num n, s⟩
  | quantify {s t : List Dim} (g : Quantifier) (axes : List Nat) (x : Arg Γ ⟨.bool, s⟩)
      (shape : sizesAt s (otherAxes s.length axes) = t := by exact rfl)
      (layout : (View.follow s (sizesAt s axes ++ t) (reduceLayout s.length axes)).isSome = true
        := by exact rfl) :
      Op Γ ⟨.bool, t⟩
  | dot_general {f : FloatType} {s t u : List Dim} (dimension_numbers : DotDimensionNumbers)
      (x : Arg Γ ⟨.float f, s⟩) (y : Arg Γ ⟨.float f, t⟩)
      (shape : dimension_numbers.result s t = u := by exact rfl)
      (left : (View.follow s (dimension_numbers.contracted s ++ u) (dimension_numbers.left s)).isSome = true
        := by exact rfl)
      (right : (View.follow t (dimension_numbers.contracted s ++ u) (dimension_numbers.right s t)).isSome
        = true := by exact rfl) :
      Op Γ ⟨.float f, u⟩

/-! ### The primitives by their names in JAX -/

namespace Op

variable {Γ : List Ty} {f : FloatType} {n : NumType} {s t : List Dim}

abbrev neg (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary .neg x
abbrev exp (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary .exp x
abbrev log (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary .log x
abbrev tanh (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary .tanh x
abbrev logistic (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary .logistic x
abbrev sqrt (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .sqrt) x
abbrev rsqrt (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .rsqrt) x
abbrev cbrt (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .cbrt) x
abbrev exp2 (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .exp2) x
abbrev expm1 (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .expm1) x
abbrev log1p (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .log1p) x
abbrev erf (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .erf) x
abbrev erfc (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .erfc) x
abbrev erf_inv (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .erf_inv) x
abbrev abs (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .abs) x
abbrev sign (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .sign) x
abbrev floor (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .floor) x
abbrev ceil (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .ceil) x
abbrev sin (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .sin) x
abbrev cos (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .cos) x
abbrev tan (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .tan) x
abbrev asin (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .asin) x
abbrev acos (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .acos) x
abbrev atan (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .atan) x
abbrev sinh (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .sinh) x
abbrev cosh (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .cosh) x
abbrev asinh (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .asinh) x
abbrev acosh (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .acosh) x
abbrev atanh (x : Arg Γ ⟨.float f, s⟩) : Op Γ ⟨.float f, s⟩ := .unary (.func .atanh) x

abbrev add (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.num n, s⟩ := .binary .add x y
abbrev sub (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.num n, s⟩ := .binary .sub x y
abbrev mul (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.num n, s⟩ := .binary .mul x y
abbrev div (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.num n, s⟩ := .binary .div x y
abbrev max (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.num n, s⟩ := .binary .max x y
abbrev min (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.num n, s⟩ := .binary .min x y

abbrev lt (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.bool, s⟩ := .compare .lt x y
abbrev le (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.bool, s⟩ := .compare .le x y
abbrev gt (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.bool, s⟩ := .compare .gt x y
abbrev ge (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.bool, s⟩ := .compare .ge x y
abbrev eq (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.bool, s⟩ := .compare .eq x y
abbrev ne (x y : Arg Γ ⟨.num n, s⟩) : Op Γ ⟨.bool, s⟩ := .compare .ne x y

abbrev and (x y : Arg Γ ⟨.bool, s⟩) : Op Γ ⟨.bool, s⟩ := .logical .and x y
abbrev or (x y : Arg Γ ⟨.bool, s⟩) : Op Γ ⟨.bool, s⟩ := .logical .or x y
abbrev xor (x y : Arg Γ ⟨.bool, s⟩) : Op Γ ⟨.bool, s⟩ := .logical .xor x y

abbrev reduce_sum (axes : List Nat) (x : Arg Γ ⟨.num n, s⟩)
    (shape : sizesAt s (otherAxes s.length axes) = t := by exact rfl)
    (layout : (View.follow s (sizesAt s axes ++ t) (reduceLayout s.length axes)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.num n, t⟩ := .reduce .sum axes x shape layout
abbrev reduce_prod (axes : List Nat) (x : Arg Γ ⟨.num n, s⟩)
    (shape : sizesAt s (otherAxes s.length axes) = t := by exact rfl)
    (layout : (View.follow s (sizesAt s axes ++ t) (reduceLayout s.length axes)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.num n, t⟩ := .reduce .prod axes x shape layout
abbrev reduce_max (axes : List Nat) (x : Arg Γ ⟨.num n, s⟩)
    (shape : sizesAt s (otherAxes s.length axes) = t := by exact rfl)
    (layout : (View.follow s (sizesAt s axes ++ t) (reduceLayout s.length axes)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.num n, t⟩ := .reduce .max axes x shape layout
abbrev reduce_min (axes : List Nat) (x : Arg Γ ⟨.num n, s⟩)
    (shape : sizesAt s (otherAxes s.length axes) = t := by exact rfl)
    (layout : (View.follow s (sizesAt s axes ++ t) (reduceLayout s.length axes)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.num n, t⟩ := .reduce .min axes x shape layout
abbrev reduce_or (axes : List Nat) (x : Arg Γ ⟨.bool, s⟩)
    (shape : sizesAt s (otherAxes s.length axes) = t := by exact rfl)
    (layout : (View.follow s (sizesAt s axes ++ t) (reduceLayout s.length axes)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.bool, t⟩ := .quantify .or axes x shape layout
abbrev reduce_and (axes : List Nat) (x : Arg Γ ⟨.bool, s⟩)
    (shape : sizesAt s (otherAxes s.length axes) = t := by exact rfl)
    (layout : (View.follow s (sizesAt s axes ++ t) (reduceLayout s.length axes)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.bool, t⟩ := .quantify .and axes x shape layout

abbrev cumsum (axis : Nat) (x : Arg Γ ⟨.num n, s⟩)
    (layout : (View.follow s (sizesAt s [axis] ++ s) (lineLayout s.length axis)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.num n, s⟩ := .cumulate .sum axis x layout
abbrev cumprod (axis : Nat) (x : Arg Γ ⟨.num n, s⟩)
    (layout : (View.follow s (sizesAt s [axis] ++ s) (lineLayout s.length axis)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.num n, s⟩ := .cumulate .prod axis x layout
abbrev cummax (axis : Nat) (x : Arg Γ ⟨.num n, s⟩)
    (layout : (View.follow s (sizesAt s [axis] ++ s) (lineLayout s.length axis)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.num n, s⟩ := .cumulate .max axis x layout
abbrev cummin (axis : Nat) (x : Arg Γ ⟨.num n, s⟩)
    (layout : (View.follow s (sizesAt s [axis] ++ s) (lineLayout s.length axis)).isSome = true
      := by exact rfl) :
    Op Γ ⟨.num n, s⟩ := .cumulate .min axis x layout

variable {d : DType} {s' : List Dim}

/-- the part of the shape of the result that begins at `start_indices` -/
abbrev slice (start_indices : List Dim) (x : Arg Γ ⟨d, s⟩) (strides : List Nat := []) : Op Γ ⟨d, t⟩ :=
  .reindex (.ofPositions s t (Position.slice start_indices strides)) x
abbrev rev (dimensions : List Nat) (x : Arg Γ ⟨d, s⟩) : Op Γ ⟨d, s⟩ :=
  .reindex (.ofPositions s s (Position.rev s dimensions)) x
/-- the same entries in row-major order -/
abbrev reshape (new_sizes : List Dim) (x : Arg Γ ⟨d, s⟩) : Op Γ ⟨d, new_sizes⟩ :=
  .reindex (.ofPositions s new_sizes (Position.reshape s new_sizes)) x
/-- two arrays, one behind the other along the axis `dimension` -/
abbrev concatenate (dimension : Nat) (x : Arg Γ ⟨d, s⟩) (y : Arg Γ ⟨d, s'⟩) : Op Γ ⟨d, t⟩ :=
  .join (.ofPositions s t (Position.along s.length dimension (.coord dimension)))
    (.ofPositions s' t
      (Position.along s'.length dimension (.sub (.coord dimension) (.size (s.getD dimension 0))))) x y

end Op

/-- Equations, and the operand that is returned. -/
inductive Program : List Ty → Ty → Type
  | ret {Γ : List Ty} {t : Ty} (x : Arg Γ t) : Program Γ t
  | eqn {Γ : List Ty} {t : Ty} (u : Ty) (op : Op Γ u) (rest : Program (u :: Γ) t) : Program Γ t

/-- A closed program: `arguments` are the types of the arguments in the order of the call. -/
abbrev Kernel (arguments : List Ty) (result : Ty) : Type := Program arguments.reverse result

end MaskPool
