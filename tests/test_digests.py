"""The digest of a statement changes with its meaning, and with nothing else.

Each theorem is in two modules, which are never loaded together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from maskpool_verify.audit import AuditResult, audit
from maskpool_verify.engine.wasm import WasmEngine


@dataclass(frozen=True)
class Pair:
    """Lean code that proves the theorem of the pair's name, and other code that does."""

    one: str
    two: str


SAME: Mapping[str, Pair] = {
    "binders": Pair(
        "theorem binders (x : Nat) : ∀ y : Nat, x + y = x + y := fun _ => rfl",
        "theorem binders (a : Nat) : ∀ b : Nat, a + b = a + b := fun _ => rfl",
    ),
    "proof": Pair(
        "theorem proof (p : Prop) (h : p) : p ∧ p := ⟨h, h⟩",
        "/-- The same. -/\ntheorem proof (p : Prop) (h : p) : p ∧ p := by\n  constructor <;> assumption",
    ),
    "implicit": Pair(
        "theorem implicit (n : Nat) : n = n := rfl",
        "theorem implicit {n : Nat} : n = n := rfl",
    ),
    "lemma": Pair(
        "theorem inside : 1 < 3 := by decide\ndef third : Fin 3 := ⟨1, inside⟩\n"
        "theorem lemma : third = third := rfl",
        "theorem inside : 1 < 3 := Nat.lt_succ_of_lt (Nat.lt_succ_self 1)\ndef third : Fin 3 := ⟨1, inside⟩\n"
        "theorem lemma : third = third := rfl",
    ),
    "unrelated": Pair(
        "theorem unrelated (n : Nat) : 0 ≤ n := Nat.zero_le n",
        "def other : Nat := 3\ntheorem unrelated (n : Nat) : 0 ≤ n := Nat.zero_le n",
    ),
}

OTHER: Mapping[str, Pair] = {
    "hypothesis": Pair(
        "theorem hypothesis (n : Nat) (h : 0 < n) : n ≠ 0 := Nat.ne_of_gt h",
        "theorem hypothesis (n : Nat) (h : 1 < n) : n ≠ 0 := Nat.ne_of_gt (Nat.lt_of_succ_lt h)",
    ),
    "never": Pair(
        "theorem never (n : Nat) : n = n := rfl",
        "theorem never (n : Nat) (_ : (1 : Nat) = 2) : n = n := rfl",
    ),
    "always": Pair(
        "theorem always (n : Nat) : n = n := rfl",
        "theorem always (n : Nat) (_ : (1 : Nat) = 1) : n = n := rfl",
    ),
    "junk": Pair(
        "theorem junk (f : Nat → Nat → Nat) (x : Nat) : f 0 x = f 0 x := rfl",
        "theorem junk (f : Nat → Nat → Nat) (_ : Nat) : f 0 0 = f 0 0 := rfl",
    ),
    "identity": Pair(
        "theorem identity (σ : Nat → Nat) : σ = σ := rfl",
        "theorem identity (σ : Nat → Nat) (_ : σ = id) : σ = σ := rfl",
    ),
    "swapped": Pair(
        "theorem swapped (a b : Nat) : a ≤ a + b := Nat.le_add_right a b",
        "theorem swapped (a b : Nat) : a ≤ b + a := Nat.le_add_left a b",
    ),
    "definition": Pair(
        "def size (n : Nat) : Nat := n\ntheorem definition : size 1 = size 1 := rfl",
        "def size (_ : Nat) : Nat := 0\ntheorem definition : size 1 = size 1 := rfl",
    ),
    "deep": Pair(
        "def inner : Nat := 1\ndef outer : Nat := inner\ntheorem deep : outer = outer := rfl",
        "def inner : Nat := 2\ndef outer : Nat := inner\ntheorem deep : outer = outer := rfl",
    ),
    "structure_": Pair(
        "structure Bag where\n  x : Nat\ntheorem structure_ (b : Bag) : b = b := rfl",
        "structure Bag where\n  x : Nat\n  empty : x = 0\ntheorem structure_ (b : Bag) : b = b := rfl",
    ),
    "constructors": Pair(
        "inductive Mask where\n  | on\n  | off\ntheorem constructors (m : Mask) : m = m := rfl",
        "inductive Mask where\n  | off\n  | on\ntheorem constructors (m : Mask) : m = m := rfl",
    ),
    "instance_": Pair(
        "structure Real where\n  r : Nat\ninstance : Add Real := ⟨fun a b => ⟨a.r + b.r⟩⟩\n"
        "theorem instance_ (a b : Real) : a + b = a + b := rfl",
        "structure Real where\n  r : Nat\ninstance : Add Real := ⟨fun a _ => a⟩\n"
        "theorem instance_ (a b : Real) : a + b = a + b := rfl",
    ),
    "local_instance": Pair(
        "theorem local_instance (a b : Nat) : a + b = a + b := rfl",
        "@[instance 2000] local instance odd : HAdd Nat Nat Nat := ⟨fun a _ => a⟩\n"
        "theorem local_instance (a b : Nat) : a + b = a + b := rfl\nattribute [-instance] odd",
    ),
    "notation_": Pair(
        'local infixl:65 " ⊹ " => Nat.add\ntheorem notation_ (a b : Nat) : a ⊹ b = a ⊹ b := rfl',
        'local infixl:65 " ⊹ " => Nat.mul\ntheorem notation_ (a b : Nat) : a ⊹ b = a ⊹ b := rfl',
    ),
    "literal": Pair(
        "theorem literal (n : Nat) : n + 1 ≠ 0 := Nat.succ_ne_zero n",
        "theorem literal (n : Nat) : n + 2 ≠ 0 := Nat.succ_ne_zero _",
    ),
    "universe_": Pair(
        "theorem universe_ (α : Type) (a : α) : a = a := rfl",
        "theorem universe_ (α : Prop) (a : α) : a = a := rfl",
    ),
}

PAIRS = {**SAME, **OTHER}


@pytest.fixture(scope="module")
def results(engine: WasmEngine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, AuditResult]:
    """The audits of both modules."""
    project: Path = tmp_path_factory.mktemp("digests")
    for module, texts in (
        ("One", [pair.one for pair in PAIRS.values()]),
        ("Two", [pair.two for pair in PAIRS.values()]),
    ):
        header = "module\nset_option compiler.extract_closed false\n@[expose] public noncomputable section\n"
        text = header + "\n\n".join(texts) + "\n"
        (project / f"{module}.lean").write_text(text, "utf-8")
    built = engine.build(project, ["One", "Two"])
    wrong = [m for result in built.values() for m in result.messages if m.severity == "error"]
    assert not wrong, wrong
    own, library = engine.artifacts(project).own, engine.artifacts(project).library
    return {module: audit(own, library, [module], list(PAIRS)) for module in ("One", "Two")}


def digests(results: Mapping[str, AuditResult], name: str) -> list[str | None]:
    return [next(t.digest for t in result.theorems if t.name == name) for result in results.values()]


@pytest.mark.parametrize("name", SAME)
def test_the_same_meaning(results: dict[str, AuditResult], name: str) -> None:
    one, two = digests(results, name)
    assert one is not None
    assert one == two


@pytest.mark.parametrize("name", OTHER)
def test_another_meaning(results: dict[str, AuditResult], name: str) -> None:
    one, two = digests(results, name)
    assert None not in (one, two)
    assert one != two


def test_theorems_are_told_apart(results: dict[str, AuditResult]) -> None:
    found = [theorem.digest for theorem in results["One"].theorems]
    assert len(set(found)) == len(found)


def test_definitions_name_what_has_changed(results: dict[str, AuditResult]) -> None:
    one, two = (result.definitions for result in results.values())
    changed = {name for name in one.keys() & two.keys() if one[name] != two[name]}
    assert changed == {"size", "inner", "Bag", "Mask", "instAddReal"}
    assert {"outer", "third", "Real"} <= one.keys() - changed
