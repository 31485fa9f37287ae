module

public import MaskPool.Invariance.Laws

/-!
# Which equation

Where the checker refuses a program, a failed proof shows the number of the first equation that it refuses:
Lean evaluates the number, and these tactics find its numeral.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

@[expose] public noncomputable section

namespace MaskPool

/-- The goal of `name_equation`, when it knows that `leak = some k`, and that `start` is at most `k`. -/
def LeakFrom (leak : Option Nat) (k _start : Nat) : Prop := leak ≠ some k

section

variable {leak : Option Nat} {k start : Nat}

theorem leak_from_zero (h : leak = some k) (next : LeakFrom leak k 0) : False := next h

theorem leak_below (half : Nat) (_ : k.blt (start + half) = true) (next : LeakFrom leak k start) :
    LeakFrom leak k start := next

theorem leak_above (half : Nat) (next : LeakFrom leak k (start + half)) : LeakFrom leak k start := next

theorem leak_at (h : k = start) (next : leak = some start → False) : LeakFrom leak k start := h ▸ next

end

/-- One step of a search by halving for the number that `k` is. -/
macro "halve_leak " half:num : tactic => `(tactic| first
  | refine leak_below $half (by eq_refl) ?_
  | refine leak_above $half ?_)

/-- Fails with a message, and shows the value of `leak`, the number of an equation, of the first 1024. It
evaluates `leak` once, and looks for the numeral of its value. -/
macro "name_equation " leak:term:max message:str : tactic => `(tactic|
  (exfalso
   first
   | (refine leak_from_zero (leak := $leak) rfl ?_
      halve_leak 512
      halve_leak 256
      halve_leak 128
      halve_leak 64
      halve_leak 32
      halve_leak 16
      halve_leak 8
      halve_leak 4
      halve_leak 2
      halve_leak 1
      refine leak_at (by eq_refl) ?_
      intro leak)
   | (have leak : $leak = none := by eq_refl)
   | skip
   fail $message))

/-- Fails, and shows the first equation that lets a masked value through. -/
macro "name_leak " leak:term:max : tactic =>
  `(tactic| name_equation $leak "maskpool: a masked value gets through")

/-- Fails, and shows the first equation at which two runs may begin to differ. -/
macro "name_difference " leak:term:max : tactic =>
  `(tactic| name_equation $leak "maskpool: the two runs may differ")

end MaskPool
