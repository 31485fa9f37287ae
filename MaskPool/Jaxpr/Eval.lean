module

public import MaskPool.Finite.Reduce
public import MaskPool.Jaxpr.Syntax

/-!
# The meaning of a Jaxpr

Programs are evaluated over any arithmetic `Ops α` and at any valuation `ν` of the size variables. All
floating formats have their values in `α`; what a conversion between them does is left to `Ops.convert`.
Integers are exact: that they overflow is not modelled.
-/

@[expose] public noncomputable section

namespace MaskPool

/-- The values of a type of numbers. -/
@[reducible] def NumType.denote (α : Type) : NumType → Type
  | .float _ => α
  | .int _ => Int

/-- The values of an entry type. -/
@[reducible] def DType.denote (α : Type) : DType → Type
  | .num t => t.denote α
  | .bool => Bool

/-- The values of an array type. -/
@[reducible] def Ty.denote (α : Type) (ν : Nat → Nat) (t : Ty) : Type := IndexAt ν t.shape → t.dtype.denote α

/-- Values of the listed types. -/
@[reducible] def Env (α : Type) (ν : Nat → Nat) : List Ty → Type
  | [] => Unit
  | t :: Γ => t.denote α ν × Env α ν Γ

namespace Env

variable {α : Type} {ν : Nat → Nat}

/-- `x`, or if the condition fails a value of `rest`. -/
def choose (condition : Bool) {t u : Ty} {o : Option Ty} (h : (bif condition then some u else o) = some t)
    (x : u.denote α ν) (rest : o = some t → t.denote α ν) : t.denote α ν :=
  match condition, h with
  | true, h => Option.some.inj h ▸ x
  | false, h => rest h

/-- The value of the variable number `k`; the newest variable comes first in an environment. -/
def get : {Γ : List Ty} → Env α ν Γ → (k : Nat) → {t : Ty} → numbered Γ k = some t → t.denote α ν
  | _ :: Γ, (x, ρ), k, _, h => choose (Nat.beq k Γ.length) h x (get ρ k)

/-- The values of `ρ` in reverse order, followed by those of `σ`. -/
def reverseOnto : {Γ Δ : List Ty} → Env α ν Γ → Env α ν Δ → Env α ν (Γ.reverseAux Δ)
  | [], _, _, σ => σ
  | t :: Γ, Δ, (x, ρ), σ => reverseOnto (Γ := Γ) (Δ := t :: Δ) ρ (x, σ)

/-- The values in reverse order. -/
def reverse {Γ : List Ty} (ρ : Env α ν Γ) : Env α ν Γ.reverse := ρ.reverseOnto (Δ := []) ()

end Env

section eval

variable {α : Type} [Ops α] {ν : Nat → Nat} {Γ : List Ty}

def Unary.eval : Unary → α → α
  | .neg => Ops.neg
  | .exp => Ops.exp
  | .log => Ops.log
  | .tanh => Ops.tanh
  | .logistic => Ops.logistic
  | .func g => Ops.apply g

/-- Division of integers truncates; JAX defines `x / 0` as `-1`. -/
def Binary.eval : Binary → (t : NumType) → t.denote α → t.denote α → t.denote α
  | .add, .float _, x, y => Ops.add x y
  | .sub, .float _, x, y => Ops.sub x y
  | .mul, .float _, x, y => Ops.mul x y
  | .div, .float _, x, y => Ops.div x y
  | .max, .float _, x, y => Ops.max x y
  | .min, .float _, x, y => Ops.min x y
  | .add, .int _, x, y => x + y
  | .sub, .int _, x, y => x - y
  | .mul, .int _, x, y => x * y
  | .div, .int _, x, y => if y = 0 then -1 else Int.tdiv x y
  | .max, .int _, x, y => Max.max x y
  | .min, .int _, x, y => Min.min x y

def Comparison.eval : Comparison → (t : NumType) → t.denote α → t.denote α → Bool
  | .lt, .float _, x, y => Ops.lt x y
  | .le, .float _, x, y => Ops.le x y
  | .gt, .float _, x, y => Ops.lt y x
  | .ge, .float _, x, y => Ops.le y x
  | .eq, .float _, x, y => Ops.eq x y
  | .ne, .float _, x, y => !Ops.eq x y
  | .lt, .int _, x, y => decide (x < y)
  | .le, .int _, x, y => decide (x ≤ y)
  | .gt, .int _, x, y => decide (y < x)
  | .ge, .int _, x, y => decide (y ≤ x)
  | .eq, .int _, x, y => decide (x = y)
  | .ne, .int _, x, y => !decide (x = y)

def Connective.eval : Connective → Bool → Bool → Bool
  | .and => Bool.and
  | .or => Bool.or
  | .xor => Bool.xor

def Reduction.eval {ι : Type} [Enum ι] : Reduction → (t : NumType) → (ι → t.denote α) → t.denote α
  | .sum, .float _, x => fsum x
  | .prod, .float _, x => fprod x
  | .max, .float _, x => fmax x
  | .min, .float _, x => fmin x
  | .sum, .int _, x => isum x
  | .prod, .int _, x => iprod x
  | .max, .int f, x => imax f.lowest x
  | .min, .int f, x => imin f.greatest x

/-- The reduction of the values up to the position `i`. -/
def Reduction.cumulative {ι : Type} [Enum ι] (g : Reduction) :
    (t : NumType) → (ι → t.denote α) → (i : Nat) → t.denote α
  | .float _, x, i => fcumulative g x i
  | .int f, x, i => icumulative f g x i

def Quantifier.eval {ι : Type} [Enum ι] : Quantifier → (ι → Bool) → Bool
  | .or => fany
  | .and => fall

/-- A natural number in a type of numbers. -/
def NumType.ofNat : (t : NumType) → Nat → t.denote α
  | .float _, k => Ops.lit k 1
  | .int _, k => k

/-- Conversion of an entry: a truth value becomes 1 or 0, a number is true unless it equals 0. Floating-point
numbers are not converted to integers (`DType.converts`). -/
def DType.convert : (d e : DType) → d.denote α → e.denote α
  | .float f, .float g, x => Ops.convert f g x
  | .float _, .int _, _ => 0
  | .float _, .bool, x => !Ops.eq x (Ops.lit 0 1)
  | .int _, .float _, z => Ops.lit z 1
  | .int _, .int _, z => z
  | .int _, .bool, z => !decide (z = 0)
  | .bool, .float _, b => if b then Ops.lit 1 1 else Ops.lit 0 1
  | .bool, .int _, b => if b then 1 else 0
  | .bool, .bool, b => b

/-- Zero, or false. -/
def DType.zero : (d : DType) → d.denote α
  | .float _ => Ops.lit 0 1
  | .int _ => (0 : Int)
  | .bool => false

def Arg.eval (ρ : Env α ν Γ) : {t : Ty} → Arg Γ t → t.denote α ν
  | _, .var k h => ρ.get k h
  | _, .real n d => fun _ => Ops.lit n d
  | _, .infinity negative => fun _ => Ops.infinity negative
  | _, .nan => fun _ => Ops.nan
  | _, .int z => fun _ => z
  | _, .bool b => fun _ => b

def Op.eval (ρ : Env α ν Γ) : {t : Ty} → Op Γ t → t.denote α ν
  | _, .unary g x => fun j => g.eval (x.eval ρ j)
  | _, .is_finite x => fun j => Ops.isFinite (x.eval ρ j)
  | _, .binary g x y => fun j => g.eval _ (x.eval ρ j) (y.eval ρ j)
  | _, .compare g x y => fun j => g.eval _ (x.eval ρ j) (y.eval ρ j)
  | _, .not x => fun j => !(x.eval ρ j)
  | _, .logical g x y => fun j => g.eval (x.eval ρ j) (y.eval ρ j)
  | _, .select_n p x y => fun j => if p.eval ρ j then y.eval ρ j else x.eval ρ j
  | _, .convert_element_type e x _ => fun j => DType.convert _ e (x.eval ρ j)
  | _, .dim_as_value n => fun _ => n.toInt ν
  | _, .iota (t := t) _ k => fun j => t.ofNat (IndexAt.position j k)
  | _, .broadcast_in_dim _ _ x layout => fun j => x.eval ρ ((Option.get _ layout).source j)
  | _, .squeeze _ x _ layout => fun j => x.eval ρ ((Option.get _ layout).source j)
  | _, .transpose _ x _ layout => fun j => x.eval ρ ((Option.get _ layout).source j)
  | _, .cumulate (n := n) g a x layout => fun j =>
      g.cumulative n (fun k => x.eval ρ ((Option.get _ layout).source (IndexAt.append k j)))
        (IndexAt.position j a)
  | _, .reindex r x => fun j => r.read (x.eval ρ) j (DType.zero _)
  | _, .join r r' x y => fun j => r.read (x.eval ρ) j (r'.read (y.eval ρ) j (DType.zero _))
  | _, .reduce g _ x _ layout => fun j =>
      g.eval _ fun k => x.eval ρ ((Option.get _ layout).source (IndexAt.append k j))
  | _, .quantify g _ x _ layout => fun j =>
      g.eval fun k => x.eval ρ ((Option.get _ layout).source (IndexAt.append k j))
  | _, .dot_general _ x y _ left right => fun j =>
      fdot (fun k => x.eval ρ ((Option.get _ left).source (IndexAt.append k j)))
        (fun k => y.eval ρ ((Option.get _ right).source (IndexAt.append k j)))

/-- The value of a program, given the values of its variables. -/
def Program.run : {Γ : List Ty} → {t : Ty} → Program Γ t → Env α ν Γ → t.denote α ν
  | _, _, .ret x, ρ => x.eval ρ
  | _, _, .eqn _ op rest, ρ => rest.run (op.eval ρ, ρ)

end eval

/-- The value of a kernel: `sizes` are the values of the size variables, `inputs` the arguments in the order
of the call. -/
def Kernel.eval {α : Type} [Ops α] {arguments : List Ty} {result : Ty} (kernel : Kernel arguments result)
    (sizes : List Nat) (inputs : Env α (valuation sizes) arguments) : result.denote α (valuation sizes) :=
  Program.run kernel inputs.reverse

end MaskPool
