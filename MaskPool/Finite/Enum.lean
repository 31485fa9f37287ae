module
public import MaskPool.Finite.Equiv
/-!
# Finite types

`Enum ι` says that `ι` is finite, by a list that holds every element once. Bags, feature coordinates and
padding are indexed by such types.
-/
@[expose] public noncomputable section
namespace MaskPool

/-- A finite type: a list that holds every element once. -/
class Enum (ι : Type) where
  elems : List ι
  nodup : elems.Nodup
  complete : ∀ i, i ∈ elems

/-! ## Lists without duplicates -/

theorem nodup_map {α β : Type} {f : α → β} (hf : ∀ {a b}, f a = f b → a = b) {l : List α} (h : l.Nodup) :
    (l.map f).Nodup :=
  List.Pairwise.map f (fun _ _ hab h' => hab (hf h')) h

/-- Lists without duplicates that have the same elements are permutations of each other. -/
theorem perm_of_nodup {α : Type} {l m : List α} (hl : l.Nodup) (hm : m.Nodup) (h : ∀ a, a ∈ l ↔ a ∈ m) :
    l.Perm m := by
  induction l generalizing m with
  | nil => rw [List.eq_nil_iff_forall_not_mem.2 fun a ha => List.not_mem_nil ((h a).2 ha)]
  | cons a l ih =>
    obtain ⟨s, t, rfl⟩ := List.append_of_mem ((h a).1 List.mem_cons_self)
    have hm' := List.nodup_cons.1 (List.perm_middle.nodup_iff.1 hm)
    have hl' := List.nodup_cons.1 hl
    refine ((ih hl'.2 hm'.2 fun b => ?_).cons a).trans List.perm_middle.symm
    have hb : b ∈ a :: l ↔ b ∈ a :: (s ++ t) := (h b).trans List.perm_middle.mem_iff
    constructor
    · intro hbl
      exact (List.mem_cons.1 (hb.1 (.tail a hbl))).resolve_left fun hba => hl'.1 (hba ▸ hbl)
    · intro hbm
      exact (List.mem_cons.1 (hb.2 (.tail a hbm))).resolve_left fun hba => hm'.1 (hba ▸ hbm)

namespace Enum
variable {ι κ : Type}

/-! ## The finite types in use -/

instance instFin (n : Nat) : Enum (Fin n) where
  elems := List.finRange n
  nodup := by
    induction n with
    | zero => exact List.nodup_nil
    | succ n ih =>
      rw [List.finRange_succ, List.nodup_cons]
      refine ⟨fun h => ?_, nodup_map Fin.succ_inj.1 ih⟩
      obtain ⟨i, _, hi⟩ := List.mem_map.1 h
      exact Fin.succ_ne_zero i hi
  complete := List.mem_finRange

instance instUnit : Enum Unit := ⟨[()], .cons (fun _ h => nomatch h) .nil, fun _ => .head _⟩

instance instSum [Enum ι] [Enum κ] : Enum (ι ⊕ κ) where
  elems := (elems : List ι).map .inl ++ (elems : List κ).map .inr
  nodup := by
    refine List.nodup_append.2 ⟨nodup_map Sum.inl.inj nodup, nodup_map Sum.inr.inj nodup, fun x hx y hy => ?_⟩
    obtain ⟨i, _, rfl⟩ := List.mem_map.1 hx
    obtain ⟨k, _, rfl⟩ := List.mem_map.1 hy
    exact Sum.inl_ne_inr
  complete
    | .inl i => List.mem_append_left _ (List.mem_map_of_mem (complete i))
    | .inr k => List.mem_append_right _ (List.mem_map_of_mem (complete k))

instance instProd [Enum ι] [Enum κ] : Enum (ι × κ) where
  elems := (elems : List ι).flatMap fun i => (elems : List κ).map fun k => (i, k)
  nodup := by
    have h := nodup (ι := ι)
    revert h
    generalize (elems : List ι) = l
    intro h
    induction l with
    | nil => exact List.nodup_nil
    | cons a l ih =>
      have h' := List.nodup_cons.1 h
      rw [List.flatMap_cons, List.nodup_append]
      refine ⟨nodup_map (fun h => (Prod.mk.inj h).2) nodup, ih h'.2, fun x hx y hy hxy => h'.1 ?_⟩
      obtain ⟨k, _, rfl⟩ := List.mem_map.1 hx
      obtain ⟨b, hb, hy⟩ := List.mem_flatMap.1 hy
      obtain ⟨k', _, rfl⟩ := List.mem_map.1 hy
      rwa [(Prod.mk.inj hxy).1]
  complete := fun (i, k) => List.mem_flatMap.2 ⟨i, complete i, List.mem_map_of_mem (complete k)⟩

/-! ## Bijections -/

/-- A type in bijection with a finite type is finite. -/
def ofEquiv [Enum ι] (e : ι ≃ κ) : Enum κ where
  elems := (elems : List ι).map e
  nodup := nodup_map e.injective nodup
  complete k := List.mem_map.2 ⟨e.inv k, complete _, e.right_inv k⟩

/-- A bijection permutes the elements. -/
theorem perm_map [Enum ι] [Enum κ] (e : ι ≃ κ) : ((elems : List ι).map e).Perm elems :=
  perm_of_nodup (nodup_map e.injective nodup) nodup
    fun k => ⟨fun _ => complete k, fun _ => (ofEquiv e).complete k⟩

end Enum
end MaskPool
