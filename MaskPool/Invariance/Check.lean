module

public import MaskPool.Invariance.Read

/-!
# A checker for invariance

`Program.check` follows a program equation by equation, and computes a label for each value from the labels of
its operands. It fails where two runs may begin to disagree: at a reduction over rows to which new rows
contribute, or at an operation that depends on the number or the position of rows. That it is right is the
subject of `MaskPool.Invariance.Sound`.
-/

@[expose] public noncomputable section

namespace MaskPool

/-- What is assumed of the arithmetic: nothing, the facts of `FloatFacts`, or the laws of `RealArith`. -/
inductive Arithmetic
  | any
  | floating
  | real

/-- How the bags of two runs compare. -/
inductive Law
  /-- the same rows in another order -/
  | permutation
  /-- the second bag has further rows; if `nonempty`, the first has at least one -/
  | padding (nonempty : Bool := false) (arithmetic : Arithmetic := .real)
  /-- two bags of the same size, with some rows in common at the same positions -/
  | irrelevance (arithmetic : Arithmetic := .real)

/-- The arithmetic in which the two runs are compared. -/
def Law.arithmetic : Law → Arithmetic
  | .permutation => .real
  | .padding _ a | .irrelevance a => a

/-- Are the laws of `RealArith` assumed? -/
def Arithmetic.isReal : Arithmetic → Bool
  | .real => true
  | _ => false

/-! ### Elementwise operations on literals -/

/-- The value at a literal. -/
def Unary.onLit : Unary → Option Lit → Option Lit
  | .neg, c | .tanh, c | .func .abs, c | .func .sign, c | .func .expm1, c =>
    Lit.onlyIf (Lit.isZero c) (.real 0 1)
  | .exp, c => Lit.onlyIf (Lit.isZero c) (.real 1 1)
  | _, _ => none

/-- The literal is positive. -/
def Lit.isPositive : Option Lit → Bool
  | some (.real n d) => decide (0 < n) && d != 0
  | some (.int z) => decide (0 < z)
  | _ => false

/-- The value at two literals; `lower` is a lower bound of the second operand. -/
def Binary.onLit (t : NumType) (lower : Option Lit) : Binary → Option Lit → Option Lit → Option Lit
  | .add, a, b => if Lit.isZero a then b else if Lit.isZero b then a else none
  | .sub, a, b => if Lit.isZero b then a else none
  | .mul, a, b =>
    if Lit.isZero a || Lit.isZero b then some (.zero t)
    else if Lit.isOne a then b
    else if Lit.isOne b then a
    else none
  | .div, a, b =>
    if Lit.isZero a && Lit.isPositive lower then some (.zero t) else if Lit.isOne b then a else none
  | .max, a, b | .min, a, b => if a = b then a else none

/-- The comparison of fractions, whose denominators are positive. -/
def Comparison.ofFractions (g : Comparison) (n : Int) (d : Nat) (n' : Int) (d' : Nat) : Bool :=
  match g with
  | .lt => decide (n * d' < n' * d)
  | .le => decide (n * d' ≤ n' * d)
  | .gt => decide (n' * d < n * d')
  | .ge => decide (n' * d ≤ n * d')
  | .eq => decide (n * d' = n' * d)
  | .ne => !decide (n * d' = n' * d)

/-- The value at two literals. -/
def Comparison.onLit (g : Comparison) : Option Lit → Option Lit → Option Lit
  | some (.real n d), some (.real n' d') =>
    Lit.onlyIf (d != 0 && d' != 0) (.bool (g.ofFractions n d n' d'))
  | some (.int z), some (.int z') => some (.bool (g.ofFractions z 1 z' 1))
  | _, _ => none

/-- The value at two literals. -/
def Connective.onLit : Connective → Option Lit → Option Lit → Option Lit
  | .and, a, b =>
    if Lit.isBool false a || Lit.isBool false b then some (.bool false)
    else Lit.onlyIf (Lit.isBool true a && Lit.isBool true b) (.bool true)
  | .or, a, b =>
    if Lit.isBool true a || Lit.isBool true b then some (.bool true)
    else Lit.onlyIf (Lit.isBool false a && Lit.isBool false b) (.bool false)
  | .xor, a, b => if Lit.isBool false a then b else if Lit.isBool false b then a else none

/-- The negation. -/
def Lit.not : Option Lit → Option Lit
  | some (.bool b) => some (.bool !b)
  | _ => none

/-- The selection of `x` where `p` is false, of `y` where it is true. -/
def Lit.select (p x y : Option Lit) : Option Lit :=
  if Lit.isBool true p then y else if Lit.isBool false p then x else if x = y then x else none

/-- The conversion to another type of entries. -/
def Lit.convert (e : DType) : Option Lit → Option Lit
  | some (.real n m) =>
    match e with
    | .float _ => some (.real n m)
    | .int _ => none
    | .bool => Lit.onlyIf (m != 0) (.bool (n != 0))
  | some (.infinity negative) =>
    match e with
    | .float _ => some (.infinity negative)
    | _ => none
  | some .nan =>
    match e with
    | .float _ => some .nan
    | _ => none
  | some (.int z) =>
    match e with
    | .float _ => some (.real z 1)
    | .int _ => some (.int z)
    | .bool => some (.bool (z != 0))
  | some (.bool b) =>
    match e with
    | .float _ => some (.real (if b then 1 else 0) 1)
    | .int _ => some (.int (if b then 1 else 0))
    | .bool => some (.bool b)
  | none => none

/-- The operation on integers, as `Binary.eval` has it. -/
def Binary.ofInts : Binary → Int → Int → Int
  | .add, x, y => x + y
  | .sub, x, y => x - y
  | .mul, x, y => x * y
  | .div, x, y => if y = 0 then -1 else Int.tdiv x y
  | .max, x, y => Max.max x y
  | .min, x, y => Min.min x y

/-! ### Operations on literals in an arithmetic

Operations on truth values and integers are exact in all of them. -/

namespace Arithmetic

/-- The value of an elementwise function at a literal. -/
def unary (a : Arithmetic) (g : Unary) (c : Option Lit) : Option Lit := if a.isReal then g.onLit c else none

/-- The number is known to be the literal zero. -/
def isZero (t : NumType) (c : Option Lit) : Bool := decide (c = some (.zero t))

/-- The operation on integers. -/
def onInts (g : Binary) : Option Lit → Option Lit → Option Lit
  | some (.int x), some (.int y) => some (.int (g.ofInts x y))
  | _, _ => none

/-- The operation on two zeros. -/
def onZeros : Binary → Option Lit
  | .add | .sub | .mul | .max | .min => some (.real 0 1)
  | .div => none

/-- The operation on zero and one. -/
def onUnits : Binary → Option Lit
  | .add | .max => some (.real 1 1)
  | .div => some (.real 0 1)
  | _ => none

/-- The value at two literals; `lower` is a lower bound of the second operand. -/
def binary (a : Arithmetic) (t : NumType) (lower : Option Lit) (g : Binary) (x y : Option Lit) : Option Lit :=
  match a, t with
  | .real, .float f => g.onLit (.float f) lower x y
  | _, .int f => (onInts g x y).or (g.onLit (.int f) lower x y)
  | .floating, .float f =>
    if isZero (.float f) x && isZero (.float f) y then onZeros g
    else if isZero (.float f) x && decide (y = some (.real 1 1)) then onUnits g
    else none
  | .any, .float _ => none

/-- The comparison of two literals. -/
def compare (a : Arithmetic) (t : NumType) (g : Comparison) (x y : Option Lit) : Option Lit :=
  match a, t with
  | .real, _ | _, .int _ => g.onLit x y
  | .floating, .float f =>
    Lit.onlyIf (isZero (.float f) x && isZero (.float f) y) (.bool (g.ofFractions 0 1 0 1))
  | .any, .float _ => none

/-- The conversion of a literal. -/
def convert (a : Arithmetic) (d e : DType) (c : Option Lit) : Option Lit :=
  match a, d with
  | .real, _ | _, .int _ | _, .bool => Lit.convert e c
  | .floating, .float f =>
    if isZero (.float f) c || decide (c = some (.real 1 1)) then Lit.convert e c else none
  | .any, .float _ => none

end Arithmetic

/-! ### Lower bounds -/

/-- A lower bound of a function of a number. -/
def Unary.lower : Unary → Option Lit
  | .exp => some (.real 0 1)
  | _ => none

/-- A lower bound, from those of the operands. -/
def Binary.lower : Binary → Option Lit → Option Lit → Option Lit
  | .max, a, b => b.or a
  | .min, a, b => if a = b then a else none
  | _, _, _ => none

/-- A lower bound of a converted value. -/
def DType.lower : (d e : DType) → Option Lit → Option Lit
  | .float _, .float _, a | .int _, .int _, a => a
  | .int _, .float _, some (.int z) => some (.real z 1)
  | .bool, .float _, _ => some (.real 0 1)
  | .bool, .int _, _ => some (.int 0)
  | _, _, _ => none

/-! ### Operands and layouts -/

variable {Γ : List Ty}

/-- The label of a literal. -/
def Label.lit (c : Lit) : Label := { value := fun _ => some c, lower := some c, same := true }

/-- The label of an operand. The labels `L` belong to the variables, the newest first. -/
def Arg.label (L : List Label) : {t : Ty} → Arg Γ t → Label
  | _, .var k _ => (numbered L k).getD .junk
  | _, .real n m => .lit (.real n m)
  | _, .infinity negative => { value := fun _ => some (.infinity negative), same := true }
  | _, .nan => { value := fun _ => some .nan, same := true }
  | _, .int z => .lit (.int z)
  | _, .bool b => { value := fun _ => some (.bool b), same := true }

/-- What is known of a part, where axes of the source follow axes of the target. -/
def Label.through (l : Label) (follower : Nat → Option Nat) : Part → Option Lit
  | .all => l.value .all
  | .alone q => match follower q with
    | some p => l.value (.alone p)
    | none => l.value .all

/-- Entries that are read through a view. -/
def Label.view (l : Label) {s t : List Dim} (v : View s t) : Label where
  value := l.through v.follower
  lower := l.lower

/-- Zero or false, as a literal. -/
def DType.falsity : DType → Lit
  | .num t => .zero t
  | .bool => .bool false

/-- The literal is known to be the zero of the type, or false. -/
def Lit.isFalsity (d : DType) (c : Option Lit) : Bool := decide (c = some d.falsity)

/-- Entries that are read by a reading. Outside there are zeros. -/
def Label.read (l : Label) (d : DType) {s t : List Dim} (v : Reading s t) : Label where
  value p :=
    if v.inside then l.through v.follower p
    else Lit.onlyIf (Lit.isFalsity d (l.through v.follower p)) d.falsity
  lower := if v.inside then l.lower else none

/-- The part behind `k` reduced axes. -/
def Part.behind (k : Nat) : Part → Part
  | .all => .all
  | .alone q => .alone (k + q)

/-- `f` is true of all axes of rows. -/
def onRows (r : Nat) (s : List Dim) (f : Nat → Bool) : Bool :=
  (List.range s.length).all fun q => match s[q]? with
    | some d => !d.isRows r || f q
    | none => true

/-- Both bags have the same rows. -/
def Law.isPermutation : Law → Bool
  | .permutation => true
  | _ => false

/-- Rows in common have the same positions in both bags, which are of the same size. -/
def Law.isAligned : Law → Bool
  | .irrelevance _ => true
  | _ => false

/-- Both bags have a row in common. -/
def Law.isNonempty : Law → Bool
  | .padding true _ => true
  | _ => false

/-- May a reduction run over axes of the sizes `c`? `neutral` says that the entries of rows without a partner
do not contribute. -/
def Law.reduces (law : Law) (r : Nat) (c : List Dim) (neutral : Nat → Bool) : Bool :=
  c.all (Dim.regular r) && (c.all (Dim.free r) || onRows r c neutral || law.isPermutation)

/-- What does not contribute to a reduction; `none` for the extrema of floating-point numbers, where there is
nothing of that kind. -/
def Reduction.neutral : Reduction → NumType → Option Lit
  | .sum, t => some (.zero t)
  | .prod, .float _ => some (.real 1 1)
  | .prod, .int _ => some (.int 1)
  | .max, .int f => some (.int f.lowest)
  | .min, .int f => some (.int f.greatest)
  | _, _ => none

/-- A maximum of numbers, to which rows without a partner do not contribute because they hold a lower bound of
all entries and there is another row. -/
def Reduction.bounded (g : Reduction) (law : Law) (r : Nat) (c : List Dim) (l : Label) : NumType → Bool
  | .float _ =>
    match g, l.lower with
    | .max, some (.real n m) =>
      law.isNonempty && c.all (Dim.regular r) && onRows r c fun q => l.value (.alone q) = some (.real n m)
    | _, _ => false
  | .int _ => false

/-- Is `a` known to be the neutral literal `c`? All zeros are the same. -/
def Lit.isNeutral (t : NumType) : Option Lit → Option Lit → Bool
  | none, _ => false
  | some c, a => a = some c || Lit.isZero a && c = .zero t

/-- What does not contribute to a quantifier. -/
def Quantifier.neutral : Quantifier → Bool
  | .or => false
  | .and => true

/-- The value of a reduction of equal literals. -/
def Arithmetic.reduce (a : Arithmetic) (g : Reduction) (t : NumType) (c : Option Lit) : Option Lit :=
  match a, t with
  | .real, _ | _, .int _ => if Lit.isNeutral t (g.neutral t) c then g.neutral t else none
  | .floating, .float f =>
    match g with
    | .sum => Lit.onlyIf (isZero (.float f) c) (.real 0 1)
    | _ => none
  | .any, .float _ => none

/-- The value of a contraction of equal literals. -/
def Arithmetic.dot (a : Arithmetic) (f : FloatType) (x y : Option Lit) : Option Lit :=
  match a with
  | .real => Lit.onlyIf (Lit.isZero x || Lit.isZero y) (.real 0 1)
  | .floating => Lit.onlyIf (isZero (.float f) x && isZero (.float f) y) (.real 0 1)
  | .any => none

/-! ### Equations -/

/-- The label of the value of an equation, but for `same`. -/
def Op.known (a : Arithmetic) (L : List Label) : {t : Ty} → Op Γ t → Label
  | _, .unary g x => { value := fun p => a.unary g ((x.label L).value p), lower := g.lower }
  | _, .is_finite _ => .junk
  | _, .binary (t := t) g x y => {
      value := fun p => a.binary t (y.label L).lower g ((x.label L).value p) ((y.label L).value p)
      lower := g.lower (x.label L).lower (y.label L).lower }
  | _, .compare (t := t) g x y => {
      value := fun p => a.compare t g ((x.label L).value p) ((y.label L).value p) }
  | _, .not x => { value := fun p => Lit.not ((x.label L).value p) }
  | _, .logical g x y => { value := fun p => g.onLit ((x.label L).value p) ((y.label L).value p) }
  | _, .select_n p x y => {
      value := fun q => Lit.select ((p.label L).value q) ((x.label L).value q) ((y.label L).value q)
      lower := if (x.label L).lower = (y.label L).lower then (x.label L).lower else none }
  | _, .convert_element_type (d := d) e x _ => {
      value := fun p => a.convert d e ((x.label L).value p)
      lower := d.lower e (x.label L).lower }
  | _, .dim_as_value _ | _, .iota _ _ => .junk
  | _, .broadcast_in_dim _ _ x layout
  | _, .squeeze _ x _ layout
  | _, .transpose _ x _ layout => (x.label L).view (Option.get _ layout)
  | _, .reindex (d := d) v x => (x.label L).read d v
  | _, .join (d := d) v v' x y =>
      let l := (x.label L).read d v
      let l' := (y.label L).read d v'
      { value := fun p =>
          Lit.onlyIf (Lit.isFalsity d (l.value p) && Lit.isFalsity d (l'.value p)) d.falsity }
  | _, .cumulate _ _ _ _ | _, .quantify _ _ _ _ _ => .junk
  | _, .reduce (s := s) (n := n) g axes x _ layout =>
      let l := (x.label L).view (Option.get _ layout)
      { value := fun p => a.reduce g n (l.value (p.behind (sizesAt s axes).length)) }
  | _, .dot_general (f := f) (s := s) dn x y _ left right =>
      let l := (x.label L).view (Option.get _ left)
      let l' := (y.label L).view (Option.get _ right)
      { value := fun p =>
          let p := p.behind (dn.contracted s).length
          a.dot f (l.value p) (l'.value p) }

/-- Do the runs agree at corresponding entries of the value, if they do at those of the operands? A reduction
over rows needs laws of arithmetic. -/
def Op.agrees (law : Law) (r : Nat) (L : List Label) : {t : Ty} → Op Γ t → Bool
  | _, .unary _ _ | _, .is_finite _ | _, .binary _ _ _ | _, .compare _ _ _ | _, .not _ | _, .logical _ _ _
  | _, .select_n _ _ _ | _, .convert_element_type _ _ _ | _, .broadcast_in_dim _ _ _ _ | _, .squeeze _ _ _ _
  | _, .transpose _ _ _ _ => true
  | _, .dim_as_value n => n.free r || law.isPermutation
  | _, .iota s k => s[k]?.all fun d => !d.isRows r
  | _, .reindex v _ => v.keepsRows r
  | _, .join v v' _ _ => v.keepsRows r && v'.keepsRows r
  | _, .cumulate (s := s) _ axis _ _ => (sizesAt s [axis]).all (Dim.free r)
  | _, .reduce (s := s) (n := n) g axes x _ layout =>
      let l := (x.label L).view (Option.get _ layout)
      let c := sizesAt s axes
      c.all (Dim.free r) || law.arithmetic.isReal &&
        (law.reduces r c (fun q => Lit.isNeutral n (g.neutral n) (l.value (.alone q))) ||
          g.bounded law r c l n)
  | _, .quantify (s := s) g axes x _ layout =>
      let l := (x.label L).view (Option.get _ layout)
      let c := sizesAt s axes
      law.reduces r c fun q => Lit.isBool g.neutral (l.value (.alone q))
  | _, .dot_general (s := s) dn x y _ left right =>
      let l := (x.label L).view (Option.get _ left)
      let l' := (y.label L).view (Option.get _ right)
      let c := dn.contracted s
      let zero (p : Part) := Lit.isZero (l.value p) || Lit.isZero (l'.value p)
      c.all (Dim.free r) || law.arithmetic.isReal && law.reduces r c fun q => zero (.alone q)

/-- The operand has the same value in both runs. -/
def Arg.same (L : List Label) {t : Ty} (x : Arg Γ t) : Bool := (x.label L).same

/-- `f` is true of all operands. -/
def Op.all (f : {t : Ty} → Arg Γ t → Bool) : {t : Ty} → Op Γ t → Bool
  | _, .dim_as_value _ | _, .iota _ _ => true
  | _, .unary _ x | _, .is_finite x | _, .not x | _, .convert_element_type _ x _
  | _, .broadcast_in_dim _ _ x _
  | _, .squeeze _ x _ _ | _, .transpose _ x _ _ | _, .reindex _ x | _, .cumulate _ _ x _
  | _, .reduce _ _ x _ _ | _, .quantify _ _ x _ _ => f x
  | _, .binary _ x y | _, .compare _ x y | _, .logical _ x y | _, .join _ _ x y => f x && f y
  | _, .dot_general _ x y _ _ _ => f x && f y
  | _, .select_n p x y => f p && f x && f y

/-- All operands have the same values in both runs. -/
def Op.same (L : List Label) {t : Ty} (op : Op Γ t) : Bool := op.all (Arg.same L)

/-- Are the entries of rows without a partner along the axis `q` selected from an operand that has the same
value in both runs? -/
def Op.selects (L : List Label) (q : Nat) : {t : Ty} → Op Γ t → Bool
  | _, .select_n p x y =>
      let c := (p.label L).value (.alone q)
      Lit.isBool false c && x.same L || Lit.isBool true c && y.same L
  | _, _ => false

/-- The values of the operand agree in both runs. -/
def Arg.exact (L : List Label) {t : Ty} (x : Arg Γ t) : Bool := (x.label L).upTo.isNone

/-- The values of all operands agree in both runs. -/
def Op.exact (L : List Label) {t : Ty} (op : Op Γ t) : Bool := op.all (Arg.exact L)

/-- A literal with which a maximum over axes of the sizes `c` has to be raised to agree: the one that rows
without a partner hold, if there is another row. -/
def Reduction.upTo (law : Law) (r : Nat) (c : List Dim) (l : Label) : Reduction → NumType → Option Lit
  | .max, .float _ =>
    match (List.range c.length).findSome? fun q => l.value (.alone q) with
    | some (.real n m) =>
      Lit.onlyIf (law.arithmetic.isReal && law.isNonempty && c.all (Dim.regular r) &&
        onRows r c fun q => l.value (.alone q) = some (.real n m)) (.real n m)
    | _ => none
  | _, _ => none

/-- A literal with which the value has to be raised to agree. -/
def Op.upTo (law : Law) (r : Nat) (L : List Label) : {t : Ty} → Op Γ t → Option Lit
  | _, .reduce (s := s) (n := n) g axes x _ layout =>
      if x.exact L then g.upTo law r (sizesAt s axes) ((x.label L).view (Option.get _ layout)) n else none
  | _, _ => none

/-- Is `l'` the literal with which `l` has to be raised? -/
def Label.raisedBy (l l' : Label) : Bool := match l.upTo with
  | some (.real n m) => l'.value .all = some (.real n m)
  | _ => false

/-- Does the maximum raise one of the operands with what it needs? -/
def Binary.raises (l l' : Label) : Binary → NumType → Bool
  | .max, .float _ => l.raisedBy l' || l'.raisedBy l
  | _, _ => false

/-- Does the value agree because it is a maximum with what an operand needs? -/
def Op.raises (L : List Label) : {t : Ty} → Op Γ t → Bool
  | _, .binary (t := t) g x y => g.raises (x.label L) (y.label L) t
  | _, _ => false

/-- The label of the value of an equation; `none` if the runs may begin to disagree. Between bags of the same
size, a value is the same if the operands are, or if the rows without a partner hold literals or entries of an
operand that is the same. -/
def Op.label (law : Law) (r : Nat) (L : List Label) {t : Ty} (op : Op Γ t) : Option Label :=
  let l := op.known law.arithmetic L
  let agrees := op.exact L && op.agrees law r L || op.raises L
  let same := law.isAligned && (op.same L ||
    agrees && onRows r t.shape fun q => (l.value (.alone q)).isSome || op.selects L q)
  if agrees || same then some { l with same }
  else match op.upTo law r L with
    | some c => some { l with upTo := some c }
    | none => none

/-! ### Programs

A label is evaluated before it is stored, so that each rule runs once. -/

/-- `k` at the evaluated literal. -/
def Lit.force {β : Type} : Option Lit → (Option Lit → β) → β
  | none, k => k none
  | some (.real n m), k => k (some (.real n m))
  | some (.infinity true), k => k (some (.infinity true))
  | some (.infinity false), k => k (some (.infinity false))
  | some .nan, k => k (some .nan)
  | some (.int z), k => k (some (.int z))
  | some (.bool true), k => k (some (.bool true))
  | some (.bool false), k => k (some (.bool false))

/-- `k` at the list of the literals of `rank` axes. -/
def Label.forceAxes {β : Type} : (rank : Nat) → (Nat → Option Lit) → (List (Option Lit) → β) → β
  | 0, _, k => k []
  | n + 1, f, k => Lit.force (f 0) fun c => forceAxes n (fun q => f (q + 1)) fun l => k (c :: l)

/-- The label with the listed values. -/
def Label.ofValues (all : Option Lit) (alone : List (Option Lit)) (lower : Option Lit)
    (same : Bool) (upTo : Option Lit) : Label where
  value
    | .all => all
    | .alone q => (alone[q]?).join
  lower := lower
  same := same
  upTo := upTo

/-- `k` at the evaluated label of a value of the given rank. -/
def Label.force {β : Type} (l : Label) (rank : Nat) (k : Label → β) : β :=
  Lit.force (l.value .all) fun all => Lit.force l.lower fun lower => Lit.force l.upTo fun upTo =>
    forceAxes rank (fun q => l.value (.alone q)) fun alone =>
      match l.same with
      | true => k (ofValues all alone lower true upTo)
      | false => k (ofValues all alone lower false upTo)

/-- The label of the result, from the labels of the variables, the newest first; `none` if the runs may
disagree. The variable number `r` is the number of rows. -/
def Program.check (law : Law) (r : Nat) : {Γ : List Ty} → {t : Ty} → Program Γ t → List Label → Option Label
  | _, _, .ret x, L => some (x.label L)
  | _, _, .eqn u op rest, L =>
    match op.label law r L with
    | some l => l.force u.shape.length fun l => rest.check law r (l :: L)
    | none => none

/-- Are the results the same in two runs? -/
def Program.invariant (law : Law) (r : Nat) {Γ : List Ty} {t : Ty} (program : Program Γ t)
    (L : List Label) : Bool :=
  match program.check law r L with
  | some l => l.upTo.isNone
  | none => false

/-- The number of the first variable at whose equation the runs may begin to disagree. -/
def Program.firstBad (law : Law) (r : Nat) : {Γ : List Ty} → {t : Ty} → Program Γ t → List Label → Option Nat
  | _, _, .ret _, _ => none
  | Γ, _, .eqn u op rest, L =>
    match op.label law r L with
    | some l => l.force u.shape.length fun l => rest.firstBad law r (l :: L)
    | none => some Γ.length

end MaskPool
