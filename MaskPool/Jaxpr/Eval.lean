module

public import MaskPool.Finite.Sum
public import MaskPool.Jaxpr.Syntax

/-!
# The meaning of a Jaxpr

Programs are evaluated over any arithmetic `Ops α` and at any valuation `ν` of the size variables. All
floating formats have their values in `α`; what a conversion between them does is left to `Ops.convert`.
-/

@[expose] public noncomputable section

namespace MaskPool

/-- The values of an entry type. -/
@[reducible] def DType.denote (α : Type) : DType → Type
  | .float _ => α
  | .bool => Bool

/-- The values of an array type. -/
@[reducible] def Ty.denote (α : Type) (ν : Nat → Nat) (t : Ty) : Type := IndexAt ν t.shape → t.dtype.denote α

/-- Values of the listed types. -/
@[reducible] def Env (α : Type) (ν : Nat → Nat) : List Ty → Type
  | [] => Unit
  | t :: Γ => t.denote α ν × Env α ν Γ

namespace Env

variable {α : Type} {ν : Nat → Nat}

/-- The value at a position. -/
def nth : {Γ : List Ty} → Env α ν Γ → (i : Nat) → {t : Ty} → Γ[i]? = some t → t.denote α ν
  | _ :: _, (x, _), 0, _, h => Option.some.inj h ▸ x
  | _ :: Γ, (_, ρ), i + 1, t, h => Env.nth (Γ := Γ) ρ i (t := t) h

theorem getElem?_of_reverse {Γ : List Ty} {k : Nat} {t : Ty} (h : Γ.reverse[k]? = some t) :
    Γ[Γ.length - 1 - k]? = some t := by
  rwa [← List.getElem?_reverse]
  simpa using (List.getElem?_eq_some_iff.1 h).1

/-- The value of the variable number `k`; the newest variable comes first in an environment. -/
def get {Γ : List Ty} (ρ : Env α ν Γ) (k : Nat) {t : Ty} (h : Γ.reverse[k]? = some t) : t.denote α ν :=
  ρ.nth (Γ.length - 1 - k) (getElem?_of_reverse h)

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

def Binary.eval : Binary → α → α → α
  | .add => Ops.add
  | .sub => Ops.sub
  | .mul => Ops.mul
  | .div => Ops.div
  | .max => Ops.max
  | .min => Ops.min

def Comparison.eval : Comparison → α → α → Bool
  | .lt, x, y => Ops.lt x y
  | .le, x, y => Ops.le x y
  | .gt, x, y => Ops.lt y x
  | .ge, x, y => Ops.le y x
  | .eq, x, y => Ops.eq x y
  | .ne, x, y => !Ops.eq x y

def Connective.eval : Connective → Bool → Bool → Bool
  | .and => Bool.and
  | .or => Bool.or

def Reduction.eval {ι : Type} [Enum ι] : Reduction → (ι → α) → α
  | .sum => fsum
  | .max => fmax

def Quantifier.eval {ι : Type} [Enum ι] : Quantifier → (ι → Bool) → Bool
  | .or => fany
  | .and => fall

/-- Conversion of an entry: a truth value becomes 1 or 0, a number is true unless it equals 0. -/
def DType.convert : (d e : DType) → d.denote α → e.denote α
  | .float f, .float g, x => Ops.convert f g x
  | .bool, .float _, b => if b then Ops.lit 1 1 else Ops.lit 0 1
  | .float _, .bool, x => !Ops.eq x (Ops.lit 0 1)
  | .bool, .bool, b => b

def Arg.eval (ρ : Env α ν Γ) : {t : Ty} → Arg Γ t → t.denote α ν
  | _, .var k h => ρ.get k h
  | _, .real n d => fun _ => Ops.lit n d
  | _, .bool b => fun _ => b

def Op.eval (ρ : Env α ν Γ) : {t : Ty} → Op Γ t → t.denote α ν
  | _, .unary g x => fun j => g.eval (x.eval ρ j)
  | _, .binary g x y => fun j => g.eval (x.eval ρ j) (y.eval ρ j)
  | _, .compare g x y => fun j => g.eval (x.eval ρ j) (y.eval ρ j)
  | _, .not x => fun j => !(x.eval ρ j)
  | _, .logical g x y => fun j => g.eval (x.eval ρ j) (y.eval ρ j)
  | _, .select_n p x y => fun j => if p.eval ρ j then y.eval ρ j else x.eval ρ j
  | _, .convert_element_type e x => fun j => DType.convert _ e (x.eval ρ j)
  | _, .broadcast_in_dim _ _ x layout => fun j => x.eval ρ ((Option.get _ layout).source j)
  | _, .reshape _ x layout => fun j => x.eval ρ ((Option.get _ layout).source j)
  | _, .squeeze _ x _ layout => fun j => x.eval ρ ((Option.get _ layout).source j)
  | _, .transpose _ x _ layout => fun j => x.eval ρ ((Option.get _ layout).source j)
  | _, .reduce g _ x _ layout => fun j =>
      g.eval fun k => x.eval ρ ((Option.get _ layout).source (IndexAt.append k j))
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
