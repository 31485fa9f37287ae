module
public import MaskPool.Arith.Field
public import MaskPool.Finite.Sum
/-!
# Constant factors of a sum

`fsum f = c * fsum g`, where `c` collects all that does not depend on the index: factors, divisors, and the
factor `exp (-c)` that appears when a kernel subtracts a maximum `c` from its logits. `c` and `g` are found by
instance search on the structure of `f`.
-/
@[expose] public noncomputable section
namespace MaskPool
open RealArith Lean.Grind

/-! ## Splitting off a summand -/

/-- `f i = c + g i`, with as much as possible in `c`. -/
class Splits {R ι : Type} [RealArith R] (f : ι → R) (c : outParam R) (g : outParam (ι → R)) : Prop where
  eq : ∀ i, f i = c + g i

namespace Splits
variable {R ι : Type} [RealArith R] {f f' g g' : ι → R} {c c' : R}

instance (priority := low) refl (f : ι → R) : Splits f 0 f := ⟨fun _ => (zero_add _).symm⟩

instance (priority := high) const (c : R) : Splits (fun _ : ι => c) c fun _ => 0 :=
  ⟨fun _ => (add_zero _).symm⟩

instance add [h : Splits f c g] [h' : Splits f' c' g'] :
    Splits (fun i => f i + f' i) (c + c') fun i => g i + g' i :=
  ⟨fun i => by rw [h.eq, h'.eq]; exact add_add_add_comm ..⟩

instance neg [h : Splits f c g] : Splits (fun i => -f i) (-c) fun i => -g i :=
  ⟨fun i => by rw [h.eq, AddCommGroup.neg_add]⟩

instance sub [h : Splits f c g] [h' : Splits f' c' g'] :
    Splits (fun i => f i - f' i) (c - c') fun i => g i - g' i :=
  ⟨fun i => by simp only [Ring.sub_eq_add_neg, h.eq, h'.eq, AddCommGroup.neg_add]; exact add_add_add_comm ..⟩

instance mul_left [h : Splits f c g] (a : R) : Splits (fun i => a * f i) (a * c) fun i => a * g i :=
  ⟨fun i => by rw [h.eq, Semiring.left_distrib]⟩

instance mul_right [h : Splits f c g] (a : R) : Splits (fun i => f i * a) (c * a) fun i => g i * a :=
  ⟨fun i => by rw [h.eq, Semiring.right_distrib]⟩

instance div [h : Splits f c g] (a : R) : Splits (fun i => f i / a) (c / a) fun i => g i / a :=
  ⟨fun i => by simp only [div_eq_mul_inv, h.eq, Semiring.right_distrib]⟩

end Splits

/-! ## Splitting off a factor -/

/-- `f i = c * (exp (e i) * g i)`, with as much as possible in `c`, then in `e`. -/
class Factors {R ι : Type} [RealArith R] (f : ι → R) (c : outParam R) (e g : outParam (ι → R)) : Prop where
  eq : ∀ i, f i = c * (exp (e i) * g i)

namespace Factors
variable {R ι : Type} [RealArith R] {f f' e e' g g' : ι → R} {c c' : R}

instance (priority := low) refl (f : ι → R) : Factors f 1 (fun _ => 0) f :=
  ⟨fun _ => by rw [exp_zero, one_mul, one_mul]⟩

instance (priority := high) const (c : R) : Factors (fun _ : ι => c) c (fun _ => 0) fun _ => 1 :=
  ⟨fun _ => by rw [exp_zero, mul_one, mul_one]⟩

instance exp [h : Splits f c e] : Factors (fun i => RealArith.exp (f i)) (RealArith.exp c) e fun _ => 1 :=
  ⟨fun i => by rw [h.eq, exp_add, mul_one]⟩

instance mul [h : Factors f c e g] [h' : Factors f' c' e' g'] :
    Factors (fun i => f i * f' i) (c * c') (fun i => e i + e' i) fun i => g i * g' i :=
  ⟨fun i => by rw [h.eq, h'.eq, exp_add, mul_mul_mul_comm, mul_mul_mul_comm (RealArith.exp _)]⟩

instance neg [h : Factors f c e g] : Factors (fun i => -f i) (-c) e g :=
  ⟨fun i => by rw [h.eq, Ring.neg_mul]⟩

instance inv [h : Factors f c e g] : Factors (fun i => (f i)⁻¹) c⁻¹ (fun i => -e i) fun i => (g i)⁻¹ :=
  ⟨fun i => by rw [h.eq, Field.inv_mul, Field.inv_mul, exp_neg]⟩

instance div [h : Factors f c e g] [h' : Factors f' c' e' g'] :
    Factors (fun i => f i / f' i) (c / c') (fun i => e i - e' i) fun i => g i / g' i :=
  ⟨fun i => by
    simp only [div_eq_mul_inv, Ring.sub_eq_add_neg]
    exact (mul (h' := inv)).eq i⟩

/-- Whether an index is selected stays in the sum. -/
instance select (p : ι → Prop) [d : ∀ i, Decidable (p i)] [h : Factors f c e g] :
    Factors (fun i => @ite _ (p i) (d i) (f i) 0) c (fun _ => 0)
      fun i => @ite _ (p i) (d i) (RealArith.exp (e i) * g i) 0 :=
  ⟨fun i => by rw [exp_zero, one_mul, mul_ite_zero, h.eq]⟩

end Factors

section
variable {R ι : Type} [RealArith R] [Enum ι]

/-- A sum without constant factors. It is `fsum`, under a name at which rewriting stops. -/
def bareSum (f : ι → R) : R := fsum f

theorem fsum_eq_mul_bareSum (f : ι → R) {c : R} {e g : ι → R} [h : Factors f c e g] :
    fsum f = c * bareSum fun i => exp (e i) * g i := by
  rw [bareSum, ← fsum_mul_left, ← funext h.eq]

theorem bareSum_select_pos {p : ι → Prop} [d : ∀ i, Decidable (p i)] {f : ι → R} (hp : ∃ i, p i)
    (hf : ∀ i, p i → 0 < f i) : 0 < bareSum fun i => @ite _ (p i) (d i) (f i) 0 := fsum_select_pos hp hf

theorem bareSum_fin_blocks {n k : Nat} (h : n % k = 0) (f : Fin n → R) :
    bareSum f = bareSum fun i : Fin (n / k) => bareSum fun j : Fin k => f (Equiv.finBlocks n k h (i, j)) :=
  fsum_fin_blocks h f

theorem bareSum_all_pos [Nonempty ι] {f : ι → R} (hf : ∀ i, 0 < f i) : 0 < bareSum f := fsum_all_pos hf

end
end MaskPool
