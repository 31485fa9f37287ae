"""Forbidden tokens are found where Lean would read them, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskpool_verify.errors import AuditError
from maskpool_verify.sources import FORBIDDEN, scan, scan_files, tokens

ROOT = Path(__file__).parent.parent
LIBRARY = [ROOT / "MaskPool.lean", *sorted((ROOT / "MaskPool").rglob("*.lean"))]


def texts(source: str) -> list[str]:
    return [finding.text for finding in scan("x.lean", source)]


@pytest.mark.parametrize("word", sorted(FORBIDDEN))
def test_every_forbidden_word_is_found_with_its_place(word: str) -> None:
    (finding,) = scan("A.lean", f"theorem a : b :=\n  by {word} c")
    assert (finding.file, finding.line, finding.column, finding.text) == ("A.lean", 2, 5, word)


@pytest.mark.parametrize(
    "source",
    [
        "-- sorry",
        "/- sorry -/",
        "/- /- sorry -/ axiom -/",
        "/-- axiom -/ def a := 1",
        'def a := "sorry"',
        'def a := "\\" sorry"',
        'def a := r"sorry"',
        'def a := r#"sorry " axiom"#',
        "def sorry' := 1",
        "def not_sorry := axiomatic",
        "def a := '\"' -- sorry",
        "def a := '\\'' -- sorry",
        "set_option maxRecDepth 2000",
        "set_option compiler.extract_closed false",
        "public import MaskPool.Arith.Ops\nimport Init",
        'fail "cannot show that (1) is sorry"',
        'macro "share " x:ident " := " y:term : term => `(shared $y fun $x => $x)\n\nend A',
        "macro_rules\n  | `(a $b) => `(c $b)\n  | `(d) => `(e)\n@[simp] theorem a : b := c",
        'macro "a" : term => `(b)',
        'infix:25 " ≃ " => Equiv',
        'macro:max "v#" noWs k:num : term => `(f $k)',
        "def α₁ (λ Π : ℝ) := v#3",
    ],
)
def test_what_lean_does_not_read_as_code_is_not_found(source: str) -> None:
    assert texts(source) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("/- -/ sorry", ["sorry"]),
        ("/- /- -/ -/ sorry", ["sorry"]),
        ("-- a\nsorry", ["sorry"]),
        ('"a \\\\" sorry', ["sorry"]),
        ('r"a \\" sorry', ["sorry"]),
        ('r##"a"# "## sorry', ["sorry"]),
        ("a' sorry", ["sorry"]),
        ("'a' sorry", ["sorry"]),
        ("'\"' sorry '\"'", ["sorry"]),
        ('s!"{sorry}"', ['"{sorry}"']),
        ('r"{"', ['r"{"']),
        ("«sorry»", ["«sorry»"]),
        ("Foo.sorry", ["Foo.sorry"]),
        ("Lean.ofReduceBool a b", ["Lean.ofReduceBool"]),
        ("@[implemented_by f, extern \"c\"]", ["implemented_by", "extern"]),
        ("set_option debug.skipKernelTC true in", ["set_option debug.skipKernelTC"]),
        ("set_option /- a -/\n debug.skipKernelTC true", ["set_option debug.skipKernelTC"]),
        ("set_option «debug».skipKernelTC true", ["set_option «debug»"]),
        ("set_option unknown true", ["set_option unknown"]),
        ("import Lean", ["import Lean"]),
        ("public meta import Lean.Elab", ["meta", "import Lean.Elab"]),
        ("import all Lean", ["import Lean"]),
        ("import Initial", ["import Initial"]),
        ("import «Lean»", ["import «Lean»"]),
    ],
)  # fmt: skip
def test_code_is_found(source: str, found: list[str]) -> None:
    assert texts(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        # Lean has compiled the first eight of these to proofs of 1 = 2, or to a command that ran
        ('/--/ " -/ theorem gap : 1 = 2 := sorry --"', ["sorry"]),
        ('prefix:max "#" => id\ntheorem gap : 1 = 2 := #sorry', ["#sorry", "sorry"]),
        ('notation "ж" x => x\ntheorem gap : 1 = 2 := жsorry', ["ж", "sorry"]),
        ('notation "⊞a" x => x\ntheorem gap : 1 = 2 := ⊞asorry', ['"⊞a"']),
        ('macro "gap" : term => return ⟨.node .none name #[]⟩', ["macro"]),
        ("theorem gap : 2 + 2 = 4 := by decide +native", ["native"]),
        ("#eval! IO.println 1", ["#eval!"]),
        ('syntax "foo" interpolatedStr(term) : term', ["interpolatedStr"]),
        # numbers end where Lean ends them
        ("f 0x1sorry", ["sorry"]),
        ("f 1e5sorry", ["sorry"]),
        ("f 0b1sorry", ["sorry"]),
        # letters and symbols
        ("x²sorry", ["sorry"]),
        ("λsorry", ["sorry"]),
        ("é", ["é"]),
        ('notation "a+b" => c', ['"a+b"']),
        ('notation "⊞α" => c', ['"⊞α"']),
        ('notation "⊞1" => c', ['"⊞1"']),
        ('notation "⊞--" => c', ['"⊞--"']),
        ("notation \"''\" => c", ["\"''\""]),
        ('notation "⊞(" => c', ['"⊞("']),
        ('notation "\\u2295" => c', ['"\\u2295"']),
        # macros
        ('macro "a" : term => do `(b)', ["macro"]),
        ('macro "a" : term => `(b) >>= c', ["macro"]),
        ('macro "a" : term => `(b)\n>>= c', ["macro"]),
        ('macro "a" : term => `(b)\nc', ["macro"]),
        ("macro_rules\n  | `(a) => `(b)\n  | `(c) => d", ["macro_rules"]),
        ("macro_rules | `(a) => f fun _ => `(b)", ["macro_rules"]),
        ('macro "a" : term', ["macro"]),
        ("macro_rules | `(a) => `(b", ["macro_rules"]),
        ('macro "a" : term => `(f $(g))', ["$("]),
        ("@[macro a] def b : c := d", ["macro"]),
        ("@[«macro» a] def b : c := d", ["«macro»"]),
        # what the manifest knows nothing of
        ("import certificates", ["import certificates"]),
    ],
)  # fmt: skip
def test_what_hides_code_is_found(source: str, found: list[str]) -> None:
    assert texts(source) == found


@pytest.mark.parametrize("source", ["/- a", '"a', 'r#"a"', "/- /- -/", "/--/", 's!"{a'])
def test_what_has_no_end_is_refused(source: str) -> None:
    with pytest.raises(AuditError, match=r"x\.lean: .*has no end"):
        scan("x.lean", source)


@given(st.text(alphabet="ab-/{}\"'«»r#!\\ \n", max_size=30))
def test_every_text_is_read_or_refused(text: str) -> None:
    try:
        found = list(tokens(text))
    except AuditError:
        return
    assert all(text.splitlines(keepends=True)[t.line - 1][t.column :].startswith(t.text[:1]) for t in found)


def test_the_library_and_the_certificates_are_clean() -> None:
    certificates = sorted((ROOT / "certificates").rglob("*.lean"))
    assert certificates
    assert scan_files(ROOT, [*LIBRARY, *certificates]) == []


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "A.lean").write_bytes(b"\xff")
    with pytest.raises(AuditError, match=r"A\.lean cannot be read"):
        scan_files(tmp_path, [tmp_path / "A.lean"])
