"""Compiled and forged modules for the second kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskpool_verify.engine.protocol import Artifacts, Engine
from maskpool_verify.second_kernel.abi import UnavailableError, locate

SOURCES = {
    "Honest": """
theorem doubleNegation (p : Prop) : ¬¬p → p := fun h => (Classical.em p).elim id fun n => (h n).elim
theorem extensional (p q : Prop) (h : p ↔ q) : p = q := propext h
def Parity : Type := Quot fun a b : Nat => a % 2 = b % 2
theorem classes : (Quot.mk _ 1 : Parity) = Quot.mk _ 3 := Quot.sound rfl

inductive Tree (α : Type) where
  | node : α → List (Tree α) → Tree α
def Tree.label {α : Type} : Tree α → α
  | .node a _ => a
structure Point where
  x : Nat
  y : Nat
  level : x = y
def Point.sum (p : Point) : Nat := p.x + p.y
theorem summed : Point.sum ⟨20, 20, rfl⟩ = 40 := by decide
theorem text : "mask" ++ "ed" = "masked" := by decide
theorem big : 2 ^ 100 = 1267650600228229401496703205376 := by decide
partial def loop (n : Nat) : Nat := loop (n + 1)
unsafe def evil : Nat := unsafeCast 3
""",
    "Unchecked": """
set_option debug.skipKernelTC true in
theorem wrong : 1 = 2 := by decide +kernel
theorem uses : 1 = 2 ∧ True := ⟨wrong, trivial⟩
""",
    "Native": "theorem native : 2 + 2 = 4 := by native_decide\n",
    "Sorry": "theorem later : 1 = 2 := sorry\n",
}


@pytest.fixture(scope="session")
def native() -> None:
    """Skip where there is no native Lean."""
    try:
        locate()
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def compiled(native: None, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Artifacts:
    """The modules above, compiled once."""
    project: Path = tmp_path_factory.mktemp("replayed")
    for name, source in SOURCES.items():
        (project / f"{name}.lean").write_text(f"module\n@[expose] public section\n{source}", encoding="utf-8")
    results = engine.build(project, list(SOURCES))
    failed = [m for r in results.values() for m in r.messages if m.severity == "error"]
    assert not failed, failed
    return engine.artifacts(project)
