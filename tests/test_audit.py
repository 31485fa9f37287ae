"""The audit, on modules that Lean compiled and on forged ones that it never would."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from olean_forge import KIND_EXTENSION, Writer, save, three_parts
from pydantic import ValidationError

from maskpool_verify.audit import (
    ALLOWED_AXIOMS,
    AuditResult,
    TheoremAudit,
    World,
    audit,
    closure,
)
from maskpool_verify.engine.protocol import Artifacts, Engine
from maskpool_verify.errors import AuditError
from maskpool_verify.olean import Name, make_name, parse_name
from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x

# -- what Lean compiles

SOURCES = {
    "Base": """
theorem wrong : 1 = 2 := sorry
theorem through : 1 = 2 ∧ True := ⟨wrong, trivial⟩
""",
    "Suspect": """
theorem imported : 1 = 2 := through.1

axiom own : 1 = 2
theorem onOwn : 1 = 2 := own

axiom size : Nat
def Sized (n : Nat) : Prop := n = size
theorem inType : ∀ n, Sized n → Sized n := fun _ h => h

opaque hidden : {n : Nat // n = n ∧ 1 = 2} := ⟨0, rfl, own⟩
theorem throughOpaque : (1 : Nat) = 2 := hidden.2.2

private axiom secret : (0 : Nat) = 3
theorem onPrivate : (0 : Nat) = 3 := secret

axiom «Classical.choice» : 1 = 2
theorem dotted : 1 = 2 := «Classical.choice»
axiom «propext
» : 1 = 2
theorem newline : 1 = 2 := «propext
»

theorem native : 2 + 2 = 4 := by native_decide

set_option debug.skipKernelTC true in
theorem unchecked : 1 = 2 := by decide +kernel

unsafe def evil : Nat := unsafeCast 3

partial def loop (n : Nat) : Nat := loop (n + 1)
theorem onPartial : loop 0 = loop 0 := rfl

def plain (n : Nat) : Nat := n
@[implemented_by plain] def replaced (n : Nat) : Nat := n + 0
theorem onReplaced : replaced 1 = 1 := rfl
@[extern "lean_evil"] def external (n : Nat) : Nat := n
theorem onExternal : external 1 = 1 := rfl
""",
    "Honest": """
private theorem step (p : Prop) : p ∨ ¬p := Classical.em p
private theorem next (p : Prop) : ¬¬p → p := (step p).elim (fun h _ => h) (fun h n => (n h).elim)
theorem doubleNegation (p : Prop) : ¬¬p → p := next p

theorem symmetric (a b : Nat) : a = b → b = a := fun h => h.symm
theorem extensional (p q : Prop) (h : p ↔ q) : p = q := propext h
noncomputable def pick (p : Nat → Prop) (h : Nonempty {n // p n}) : Nat := (Classical.choice h).1
theorem picked (p : Nat → Prop) (h : Nonempty {n // p n}) : p (pick p h) := (Classical.choice h).2

def Parity : Type := Quot fun a b : Nat => a % 2 = b % 2
theorem classes : (Quot.mk _ 1 : Parity) = Quot.mk _ 3 := Quot.sound rfl

inductive Tree (α : Type) where
  | node : α → List (Tree α) → Tree α
def Tree.label {α : Type} : Tree α → α
  | .node a _ => a
mutual
def Tree.size {α : Type} : Tree α → Nat
  | .node _ ts => sizes ts + 1
def sizes {α : Type} : List (Tree α) → Nat
  | [] => 0
  | t :: ts => t.size + sizes ts
end
theorem sized {α : Type} (a : α) : (Tree.node a []).size = 1 := by simp [Tree.size, sizes]
theorem printed {α : Type} [Inhabited α] (t : Tree α) (x : α × Nat) :
    t.label = x.1 → ∃ n : Nat, (t.label, n) = (x.1, 0 + 4) ∨ [1, 2] ≠ [] :=
  fun _ => ⟨4, .inr (by simp)⟩
""",
}


@pytest.fixture(scope="session")
def compiled(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Artifacts:
    """The modules above, compiled once."""
    project = tmp_path_factory.mktemp("audited")
    for name, source in SOURCES.items():
        imports = "public import Base\n" if name == "Suspect" else ""
        text = f"module\n{imports}@[expose] public section\n{source}"
        (project / f"{name}.lean").write_text(text, encoding="utf-8")
    results = engine.build(project, ["Suspect", "Honest"])
    failed = [m for r in results.values() for m in r.messages if m.severity == "error"]
    assert not failed, failed
    return engine.artifacts(project)


@pytest.fixture(scope="session")
def audited(compiled: Artifacts) -> dict[str, TheoremAudit]:
    names = (
        "wrong through imported onOwn inType throughOpaque onPrivate dotted newline native unchecked evil "
        "onPartial onReplaced onExternal own plain doubleNegation symmetric extensional picked classes sized "
        "printed _private.Honest.0.step nonesuch Nat.add_comm"
    )
    result = audit(compiled.own, compiled.library, ["Suspect", "Honest"], names.split())
    assert (result.own_modules, result.lean_version) == (3, "4.28.0-pre")
    assert not result.ok
    return {theorem.name: theorem for theorem in result.theorems}


@pytest.mark.parametrize(
    ("theorem", "axioms"),
    [
        ("symmetric", ()),
        ("extensional", ("propext",)),
        ("picked", ("Classical.choice",)),
        ("classes", ("Quot.sound",)),
    ],
)
def test_axioms_are_those_of_the_proof(
    audited: dict[str, TheoremAudit], theorem: str, axioms: tuple[str, ...]
) -> None:
    found = audited[theorem]
    assert (found.module, found.kind, found.axioms, found.violations) == ("Honest", "theorem", axioms, ())


@pytest.mark.parametrize("theorem", ["doubleNegation", "_private.Honest.0.step", "sized", "printed"])
def test_honest_theorems(audited: dict[str, TheoremAudit], theorem: str) -> None:
    assert audited[theorem].violations == ()
    assert audited[theorem].library_theorems > 0  # Classical.em, ...: their axioms are not known


def test_private_lemmas_are_walked(compiled: Artifacts) -> None:
    world = World(compiled.own, compiled.library, [parse_name("Honest")])
    footprint = closure(world, parse_name("doubleNegation"))
    assert footprint.constants >= {parse_name(f"_private.Honest.0.{n}") for n in ("step", "next")}
    assert parse_name("Classical.em") in footprint.library_theorems


def test_recursion_through_a_nested_type_is_walked(compiled: Artifacts) -> None:
    world = World(compiled.own, compiled.library, [parse_name("Honest")])
    constants = closure(world, parse_name("sized")).constants
    assert constants >= {parse_name(n) for n in ("Tree", "Tree.node", "Tree.rec", "Tree.rec_1", "List.rec")}


@pytest.mark.parametrize(
    ("theorem", "violation"),
    [
        ("wrong", "wrong rests on the axiom sorryAx of Init.Prelude."),
        ("through", "through rests on the axiom sorryAx of Init.Prelude."),
        ("imported", "imported rests on the axiom sorryAx of Init.Prelude."),
        ("onOwn", "onOwn rests on the axiom own of Suspect."),
        ("inType", "inType rests on the axiom size of Suspect."),
        ("throughOpaque", "throughOpaque rests on the axiom own of Suspect."),
        ("onPrivate", "onPrivate rests on the axiom _private.Suspect.0.secret of Suspect."),
        ("dotted", "dotted rests on the axiom «Classical.choice» of Suspect."),
        ("newline", "newline rests on the axiom «propext\\u{a}» of Suspect."),
        ("native", "native rests on the axiom Lean.ofReduceBool of Init.Core."),
        ("onPartial", "onPartial rests on loop, which is unsafe or partial."),
        (
            "onReplaced",
            "onReplaced rests on replaced, whose compiled code is replaced by the attribute implemented_by.",
        ),
        (
            "onExternal",
            "onExternal rests on external, whose compiled code is replaced by the attribute extern.",
        ),
        ("nonesuch", "There is no theorem nonesuch."),
    ],
)
def test_violations(audited: dict[str, TheoremAudit], theorem: str, violation: str) -> None:
    assert audited[theorem].violations == (violation,)


@pytest.mark.parametrize(
    ("constant", "violation"),
    [
        ("evil", "evil rests on evil, which is unsafe or partial."),
        ("own", "own is not a theorem, but a constant of kind axiom."),
        ("plain", "plain is not a theorem, but a constant of kind definition."),
        (
            "Nat.add_comm",
            "Nat.add_comm is not of this project, but of the library module Init.Data.Nat.Basic.",
        ),
    ],
)
def test_other_constants_are_no_theorems(
    audited: dict[str, TheoremAudit], constant: str, violation: str
) -> None:
    assert violation in audited[constant].violations


def test_a_proof_the_kernel_never_saw_leaves_no_trace(audited: dict[str, TheoremAudit]) -> None:
    """A limit, stated in the documentation of the module: something else has to refuse that option."""
    assert audited["unchecked"].violations == ()


def test_statements_are_printed_from_the_terms(audited: dict[str, TheoremAudit]) -> None:
    assert audited["printed"].statement == (
        "∀ {α : Type} [Inhabited α] (t : Tree α) (x : α × Nat), "
        "Tree.label t = x.1 → (∃ n : Nat, (Tree.label t, n) = (x.1, 0 + 4) ∨ [1, 2] ≠ [])"
    )
    assert audited["extensional"].statement == "∀ (p q : Prop), (p ↔ q) → p = q"


def test_results_go_through_json(audited: dict[str, TheoremAudit], compiled: Artifacts) -> None:
    result = audit(compiled.own, compiled.library, ["Honest"], ["symmetric"])
    assert result.ok
    assert AuditResult.model_validate_json(result.model_dump_json()) == result
    with pytest.raises(ValidationError):
        AuditResult.model_validate({**result.model_dump(), "ok": True})


def test_no_theorem_is_a_violation(compiled: Artifacts) -> None:
    result = audit(compiled.own, compiled.library, ["Honest"], [])
    assert not result.ok
    assert result.all_violations == ("No theorem was audited.",)


@pytest.mark.parametrize("text", ["", "a b", "a..b"])
def test_malformed_names_are_refused(compiled: Artifacts, text: str) -> None:
    with pytest.raises(AuditError, match="not the name"):
        audit(compiled.own, compiled.library, ["Honest"], [text])
    with pytest.raises(AuditError, match="not the name"):
        audit(compiled.own, compiled.library, [text], ["symmetric"])


def copy_own(compiled: Artifacts, tmp_path: Path) -> Path:
    own = tmp_path / "own"
    shutil.copytree(compiled.own, own)
    return own


def test_missing_private_part(compiled: Artifacts, tmp_path: Path) -> None:
    own = copy_own(compiled, tmp_path)
    (own / "Honest.olean.private").unlink()
    with pytest.raises(AuditError, match=r"the part with the proofs, \.olean\.private, is missing"):
        audit(own, compiled.library, ["Honest"], ["symmetric"])


def test_parts_of_different_modules(compiled: Artifacts, tmp_path: Path) -> None:
    own = copy_own(compiled, tmp_path)
    shutil.copy(own / "Base.olean.private", own / "Honest.olean.private")
    with pytest.raises(AuditError, match=r"Honest\.olean"):
        audit(own, compiled.library, ["Honest"], ["symmetric"])


def test_missing_import(compiled: Artifacts, tmp_path: Path) -> None:
    own = copy_own(compiled, tmp_path)
    (own / "Base.olean").unlink()
    with pytest.raises(AuditError, match="no compiled file of the module Base, imported by Suspect"):
        audit(own, compiled.library, ["Suspect"], ["onOwn"])


def test_damaged_modules_are_never_more_than_an_error(compiled: Artifacts, tmp_path: Path) -> None:
    own, rng = copy_own(compiled, tmp_path), random.Random(4)
    path = own / "Honest.olean.private"
    good = path.read_bytes()
    # the library costs 0.4 s, so the file is damaged in the part that matters, and few times
    for _ in range(12):
        bad = bytearray(good)
        for _ in range(40):
            bad[rng.randrange(96, len(bad))] ^= 1 << rng.randrange(8)
        path.write_bytes(bad)
        try:
            audit(own, compiled.library, ["Honest"], ["sized", "doubleNegation"])
        except AuditError as error:
            assert "\n" not in str(error)  # noqa: PT017


# -- what Lean would never write

PROP = x.Sort(x.Zero())


def const(name: str) -> x.Const:
    return x.Const(parse_name(name), ())


def axiom(name: str, type_: x.Expr = PROP, unsafe: bool = False) -> c.Axiom:
    return c.Axiom(parse_name(name), (), type_, unsafe)


def theorem(name: str, value: x.Expr, type_: x.Expr = PROP) -> c.Theorem:
    return c.Theorem(parse_name(name), (), type_, value, ())


def definition(name: str, value: x.Expr, safety: str = "safe") -> c.Definition:
    return c.Definition(parse_name(name), (), PROP, value, -1, (), safety)  # type: ignore[arg-type]


class Forge:
    """A project and a library of forged modules."""

    def __init__(self, directory: Path) -> None:
        self.own, self.library = directory / "own", directory / "library"
        self.put("Init", [axiom("True")], library=True)

    def put(
        self,
        module: str,
        constants: Sequence[c.Constant],
        imports: Sequence[str] = ("Init",),
        library: bool = False,
        kinds: dict[str, int] | None = None,
        exported: Sequence[c.Constant] | None = None,
        **writer: str,
    ) -> None:
        """Write a module; ``kinds`` are entries that say what an axiom was declared as."""
        w = Writer(**writer)  # type: ignore[arg-type]
        extension = make_name(*KIND_EXTENSION)
        names = [parse_name(i) for i in imports] if module != "Init" else []

        def root(items: Sequence[c.Constant]) -> int:
            entries = {extension: [w.pair(parse_name(n), 2 * k + 1) for n, k in (kinds or {}).items()]}
            return w.module(items, imports=names, entries=entries)

        front = constants if exported is None else exported
        parts = [constants] if library else [front, front, constants]
        files = three_parts(w, *[lambda items=items: root(items) for items in parts])
        save(self.library if library else self.own, module, files)

    def audit(self, *theorems: str) -> AuditResult:
        return audit(self.own, [self.library], ["A"], theorems)

    def closure(self, name: str) -> set[Name]:
        world = World(self.own, [self.library], [make_name("A")])
        return set(closure(world, parse_name(name)).constants)


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(tmp_path)


def test_forged_project_that_is_right(forge: Forge) -> None:
    forge.put("A", [theorem("t", const("d")), definition("d", PROP)])
    result = forge.audit("t")
    assert result.ok
    assert result.theorems[0].constants == 2


@pytest.mark.parametrize("late", ["A", "B"])
def test_modules_that_come_later_are_no_less_compared(forge: Forge, late: str) -> None:
    """A constant of the library cannot be declared anew, whichever of the two is read first."""
    forge.put("Late", [definition("d", PROP)], library=True)
    forge.put("A", [definition("d", PROP)])
    forge.put("B", [theorem("t", const("d"))], imports=("Late",))
    first = {"A": "B", "B": "A"}[late]
    world = World(forge.own, [forge.library], [make_name(first)])
    with pytest.raises(AuditError, match=r"d is declared in Late and again in A"):
        world.load([make_name(late)])


def test_what_comes_later_says_more_of_a_theorem(forge: Forge) -> None:
    forge.put("A", [theorem("t", const("d")), definition("d", PROP)])
    forge.put("B", [theorem("t", const("e")), definition("e", PROP)])
    t, d, e = map(make_name, "tde")
    world = World(forge.own, [forge.library], [make_name("A")])
    assert world.facts(t).names == (d,)
    (new,) = world.load([make_name("B")])
    assert new.name is make_name("B")
    assert world.facts(t).names == (d, e)
    assert world.load([make_name("A"), make_name("B")]) == ()


def test_the_files_that_were_read_have_checksums(forge: Forge) -> None:
    def digest(value: x.Expr) -> str:
        forge.put("A", [theorem("t", const("d")), definition("d", value)])
        files = forge.audit("t").files
        assert files.keys() == {"A"}
        return files["A"]

    assert digest(PROP) == digest(PROP)
    assert digest(PROP) != digest(x.Pi(make_name("p"), PROP, PROP, 0))


@pytest.mark.parametrize("name", [str(n) for n in ALLOWED_AXIOMS])
def test_axioms_of_lean_must_state_what_they_do(forge: Forge, name: str) -> None:
    expected = ALLOWED_AXIOMS[parse_name(name)]
    needs = ("Iff", "Eq", "Nonempty", "Quot", "Quot.mk")
    for type_, good in ((expected, True), (PROP, False)):
        forged = c.Axiom(parse_name(name), () if name == "propext" else (make_name("u"),), type_, False)
        forge.put("Init", [forged, *(axiom(n) for n in needs)], library=True, kinds=dict.fromkeys(needs, 5))
        forge.put("A", [theorem("t", const(name))])
        (result,) = forge.audit("t").theorems
        wrong = f"t rests on {name} of Init, which does not state what Lean's axiom does."
        assert result.violations == (() if good else (wrong,))
        assert result.axioms == (name,)


def test_an_own_axiom_cannot_take_the_name_of_an_allowed_one(forge: Forge) -> None:
    forge.put("A", [axiom("propext"), theorem("t", const("propext"))])
    (result,) = forge.audit("t").theorems
    assert result.violations == ("t rests on an axiom propext that A declares itself.",)


def test_an_own_axiom_that_claims_to_be_a_theorem(forge: Forge) -> None:
    forge.put("A", [axiom("a"), theorem("t", const("a"))], kinds={"a": 1})
    (result,) = forge.audit("t").theorems
    assert result.violations == ("t rests on a, whose body is not in the compiled module.",)


@pytest.mark.parametrize(
    "constant",
    [
        definition("b", PROP, "unsafe"),
        definition("b", PROP, "partial"),
        c.Opaque(make_name("b"), (), PROP, PROP, (), True),
        c.Constructor(make_name("b"), (), PROP, make_name("b"), 0, 0, 0, True),
        c.Recursor(make_name("b"), (), PROP, (), 0, 0, 0, 0, (), False, True),
    ],
)
def test_unsafe_and_partial_constants(forge: Forge, constant: c.Constant) -> None:
    forge.put("A", [constant, theorem("t", const("b"))])
    (result,) = forge.audit("t").theorems
    assert result.violations == ("t rests on b, which is unsafe or partial.",)


@pytest.mark.parametrize(
    "value",
    [
        x.FVar(make_name("x")),
        x.MVar(make_name("x")),
        x.Sort(x.Max(x.Zero(), x.Succ(x.LevelMVar(make_name("u"))))),
        x.Lam(make_name("x"), PROP, x.Const(make_name("t"), (x.LevelMVar(make_name("u")),)), 0),
    ],
)
def test_open_terms(forge: Forge, value: x.Expr) -> None:
    forge.put("A", [theorem("t", value)])
    (result,) = forge.audit("t").theorems
    assert result.violations == ("t rests on t, which has free or unsolved variables.",)


def test_everything_that_a_constant_needs_is_walked(forge: Forge) -> None:
    """Types, values, annotations, projections, literals; types with their constructors and recursors."""

    def n(*names: str) -> tuple[Name, ...]:
        return tuple(map(make_name, names))

    plain = [axiom(m) for m in ("a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "Nat")]
    value = x.Let(
        make_name("x"),
        const("a1"),
        x.Lam(make_name("y"), const("a2"), x.MData(const("a3")), 0),
        x.Pi(make_name("z"), x.App(const("a4"), x.Lit(3)), x.Proj(make_name("S"), 0, const("a5")), 0),
        False,
    )
    inductive = c.Inductive(make_name("S"), (), const("a6"), 0, 0, n("S"), n("mk"), 0, False, False, False)
    ctor = c.Constructor(make_name("mk"), (), const("a7"), make_name("S"), 0, 0, 0, False)
    rule = c.Rule(make_name("mk"), 0, const("a8"))
    rec = c.Recursor(parse_name("S.rec"), (), const("a9"), n("S"), 0, 0, 1, 1, (rule,), False, False)
    forge.put("A", [*plain, inductive, ctor, rec, theorem("t", value)])
    assert forge.closure("t") == {k.name for k in (*plain, inductive, ctor, rec)} | {make_name("t")}


def test_a_constructor_needs_its_type(forge: Forge) -> None:
    ctor = c.Constructor(make_name("mk"), (), PROP, make_name("S"), 0, 0, 0, False)
    forge.put("A", [axiom("S"), ctor, theorem("t", const("mk"))])
    assert make_name("S") in forge.closure("t")


def test_library_constants_without_body_are_counted(forge: Forge) -> None:
    forge.put("Init", [axiom("lemma"), axiom("value")], library=True, kinds={"lemma": 1, "value": 0})
    forge.put("A", [theorem("t", x.App(const("lemma"), const("value")))])
    (result,) = forge.audit("t").theorems
    assert (result.library_theorems, result.library_others, result.violations) == (1, 1, ())


def test_a_library_constant_cannot_be_redefined(forge: Forge) -> None:
    forge.put("A", [definition("True", PROP)])
    with pytest.raises(AuditError, match="True is declared in Init and again in A"):
        forge.audit("True")


def test_a_constant_cannot_be_declared_twice(forge: Forge) -> None:
    forge.put("B", [definition("d", PROP)])
    forge.put("A", [definition("d", PROP)], imports=["B"])
    with pytest.raises(AuditError, match=r"d is declared in [AB] and again in [AB]"):
        forge.audit("d")


def test_a_theorem_declared_twice_must_state_the_same(forge: Forge) -> None:
    """As Lean has it for ``f.eq_1``; both proofs count."""
    forge.put("B", [theorem("e", PROP)])
    forge.put("A", [theorem("e", const("bad")), axiom("bad")], imports=["B"])
    (result,) = forge.audit("e").theorems
    assert result.violations == ("e rests on the axiom bad of A.",)
    forge.put("A", [theorem("e", PROP, const("other")), axiom("other")], imports=["B"])
    with pytest.raises(AuditError, match=r"e is declared in [AB] and again in [AB]"):
        forge.audit("e")
    polymorphic = c.Theorem(make_name("e"), (make_name("u"),), PROP, PROP, ())
    forge.put("A", [polymorphic], imports=["B"])
    with pytest.raises(AuditError, match=r"e is declared in [AB] and again in [AB]"):
        forge.audit("e")


def test_an_axiom_cannot_pass_for_a_theorem_of_the_library(forge: Forge) -> None:
    forge.put("Init", [axiom("lemma")], library=True, kinds={"lemma": 1})
    forge.put("A", [axiom("lemma")], kinds={"lemma": 1})
    with pytest.raises(AuditError, match="lemma is declared in Init and again in A"):
        forge.audit("lemma")


@pytest.mark.parametrize(
    ("exported", "declared"),
    [
        ([axiom("t", const("False"))], [theorem("t", PROP)]),
        ([axiom("t")], []),
        ([definition("d", PROP)], [definition("d", const("True"))]),
        ([definition("d", PROP)], [definition("d", PROP, "unsafe")]),
        ([definition("d", PROP)], [theorem("d", PROP)]),
    ],
)
def test_importers_must_see_what_is_declared(
    forge: Forge, exported: list[c.Constant], declared: list[c.Constant]
) -> None:
    forge.put("A", declared, exported=exported, kinds={"t": 1})
    with pytest.raises(AuditError, match=r"[td] is exported otherwise than it is declared"):
        forge.audit("t")


def test_two_files_for_a_module(forge: Forge) -> None:
    forge.put("A", [theorem("t", PROP)])
    forge.put("A", [theorem("t", PROP)], library=True)
    with pytest.raises(AuditError, match="the module A is both"):
        forge.audit("t")


def test_the_library_cannot_import_the_project(forge: Forge) -> None:
    forge.put("B", [theorem("t", PROP)])
    forge.put("L", [], imports=["B"], library=True)
    forge.put("A", [], imports=["L"])
    with pytest.raises(AuditError, match="the library module L imports B"):
        forge.audit("t")


def test_modules_of_different_builds_of_lean(forge: Forge) -> None:
    forge.put("A", [theorem("t", PROP)], githash="f" * 40)
    with pytest.raises(AuditError, match="different builds of Lean"):
        forge.audit("t")


@pytest.mark.parametrize("name", ["..", "a/b", "a\0", "."])
def test_imports_cannot_leave_the_directories(forge: Forge, name: str) -> None:
    w = Writer()
    save(forge.own, "A", [w.end(w.module(imports=[make_name(name)], is_module=False))])
    with pytest.raises(AuditError, match="not the name of a module"):
        forge.audit("t")


def test_unknown_constants(forge: Forge) -> None:
    forge.put("A", [theorem("t", const("nowhere"))])
    with pytest.raises(AuditError, match="names nowhere, which no module declares"):
        forge.audit("t")
