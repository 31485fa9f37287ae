module
public import MaskPool.Arith.Field
public import MaskPool.Finite.Sum
/-!
# Constant factors of a masked sum

A factor or divisor that does not depend on the instance is moved in front of `Σ i, if m i then … else 0`.
Among them is the factor `exp (-c)` that appears when a kernel subtracts a maximum `c` from its logits.
-/
@[expose] public noncomputable section
namespace MaskPool
open RealArith

variable {R ι : Type} [RealArith R] [Enum ι] (m : ι → Bool) (c : R) (f g : ι → R)

theorem fsum_ite_mul_left :
    fsum (fun i => if m i = true then c * f i else 0) = c * fsum fun i => if m i = true then f i else 0 := by
  simp only [← mul_ite_zero, fsum_mul_left]

theorem fsum_ite_mul_right :
    fsum (fun i => if m i = true then f i * c else 0) = c * fsum fun i => if m i = true then f i else 0 := by
  simp only [mul_comm _ c, fsum_ite_mul_left]

theorem fsum_ite_mul_left_mul :
    fsum (fun i => if m i = true then (c * f i) * g i else 0) =
      c * fsum fun i => if m i = true then f i * g i else 0 := by
  simp only [mul_assoc, fsum_ite_mul_left]

theorem fsum_ite_mul_right_mul :
    fsum (fun i => if m i = true then (f i * c) * g i else 0) =
      c * fsum fun i => if m i = true then f i * g i else 0 := by
  simp only [mul_comm _ c, fsum_ite_mul_left_mul]

theorem fsum_ite_div :
    fsum (fun i => if m i = true then f i / c else 0) =
      (fsum fun i => if m i = true then f i else 0) / c := by
  simp only [div_eq_mul_inv, fsum_ite_mul_right, mul_comm]

theorem fsum_ite_div_mul :
    fsum (fun i => if m i = true then (f i / c) * g i else 0) =
      (fsum fun i => if m i = true then f i * g i else 0) / c := by
  simp only [div_eq_mul_inv, fsum_ite_mul_right_mul]; exact mul_comm ..

theorem fsum_ite_exp_sub :
    fsum (fun i => if m i = true then exp (f i - c) else 0) =
      exp (-c) * fsum fun i => if m i = true then exp (f i) else 0 := by
  simp only [exp_sub, fsum_ite_mul_left]

theorem fsum_ite_exp_sub_mul :
    fsum (fun i => if m i = true then exp (f i - c) * g i else 0) =
      exp (-c) * fsum fun i => if m i = true then exp (f i) * g i else 0 := by
  simp only [exp_sub, fsum_ite_mul_left_mul]

theorem fsum_ite_mul_exp_sub :
    fsum (fun i => if m i = true then g i * exp (f i - c) else 0) =
      exp (-c) * fsum fun i => if m i = true then exp (f i) * g i else 0 := by
  rw [← fsum_ite_exp_sub_mul]; simp only [mul_comm]

end MaskPool
