module

public import MaskPool.Jaxpr.Eval

/-!
# Translation certificates

A kernel is read twice: once as a program of the embedding, and once as a function in plain Lean notation,
which shares the value of each equation by name. The certificate says that both are the same function over
every arithmetic. It is checked equation by equation: the value of an equation is compared by computation,
and then forgotten, so that the cost is that of one small check for each equation, however often values are
shared.
-/

set_option compiler.extract_closed false -- macros are run by the interpreter

@[expose] public noncomputable section

namespace MaskPool

/-- A `let` that does not unfold by itself: the value of one equation, and what is done with it. -/
def shared {β γ : Type} (value : β) (rest : β → γ) : γ := rest value

/-- `share t5 : τ := value; rest` names the value of an equation. -/
macro "share " x:ident " : " τ:term " := " value:term "; " rest:term : term =>
  `(shared (β := $τ) $value fun $x => $rest)

section

variable {α : Type} [Ops α] {ν : Nat → Nat} {Γ : List Ty} {t u : Ty} {ρ : Env α ν Γ}

/-- One equation: its value is `v`, and the rest is compared for every value `y` in its place. -/
theorem Program.run_eqn {op : Op Γ u} {rest : Program (u :: Γ) t} {v : u.denote α ν}
    {r : u.denote α ν → t.denote α ν} (h : op.eval ρ = v) (hr : ∀ y, rest.run (y, ρ) = r y) :
    (Program.eqn u op rest).run ρ = shared v r := by
  subst h; exact hr _

/-- A value of the readable function that the program does without: it reads `y` at the same index, as where
an axis of size one is repeated once. -/
theorem eq_shared_of_same {ι β γ : Type} {y : ι → β} {f : ι → ι} {x : γ} {r : (ι → β) → γ} (hf : ∀ j, f j = j)
    (h : x = r y) : x = shared (fun j => y (f j)) r := by
  rw [h, funext hf]; rfl

theorem Program.run_ret {x : Arg Γ t} {v : t.denote α ν} (h : x.eval ρ = v) : (Program.ret x).run ρ = v := h

end

/-- Proves `program.run ρ = readable …`, equation by equation. -/
macro "translate_equations" : tactic => `(tactic|
  ((repeat' (apply Program.run_eqn rfl; intro _))
   first
     | exact Program.run_ret rfl
     | ((first
         | fail_if_success refine Program.run_eqn ?_ fun _ => ?_
         | fail "maskpool: this equation of the program is not the one of the readable function")
        fail "maskpool: the program does not return what the readable function returns")))

/-- Proves that an index is itself, axes of size one being at `0`. -/
macro "same_index" : tactic => `(tactic|
  (intro _; repeat' first | rfl | exact Subsingleton.elim _ _ | apply Prod.ext))

/-- Proves that a program at some sizes is the readable function for all sizes at these: equation by equation,
passing over those of the readable function that are not needed where a size is one. -/
macro "instance_equations" : tactic => `(tactic|
  ((repeat' first
     | (apply Program.run_eqn rfl; intro _)
     | (refine eq_shared_of_same (by same_index) ?_))
   first
     | exact Program.run_ret rfl
     | fail "maskpool: at this shape the kernel is another program than for all sizes"))

end MaskPool
