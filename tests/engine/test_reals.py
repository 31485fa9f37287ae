"""The package ``real/``, against the hand-written interface of mathlib in ``tests/mathlib_interface``.

The axioms of that interface stand for mathlib's declarations and theorems. What is proved here is that the
package follows from them; that they are as in mathlib is for a reader to compare, or for native Lean to
decide, which builds the package against mathlib itself.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from maskpool_verify import api
from maskpool_verify.audit import ALLOWED_AXIOMS
from maskpool_verify.engine.lake import LakeEngine
from maskpool_verify.engine.modules import imported_modules
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.errors import AuditError, EnvironmentFault, UsageError
from maskpool_verify.reals import (
    ABSTRACT,
    LIBRARY,
    THEOREMS,
    RealsReport,
    audit_reals,
    check_reals,
    lean_sources,
)

ROOT = Path(__file__).parent.parent.parent
REAL = ROOT / "real"
INTERFACE = ROOT / "tests" / "mathlib_interface"
INTERFACE_FILES = sorted(INTERFACE.rglob("*.lean"))

_DECLARATION = re.compile(
    r"(?:@\[[^]]*\] )?(?:protected )?(?P<kind>axiom|theorem|def|structure|class) (?P<name>\S+)"
)


def declarations(source: str) -> Iterator[tuple[str, str, str]]:
    """Kind, name and documentation of what a source declares by name."""
    space, documentation = "", ""
    for line in source.splitlines():
        if line.startswith("namespace "):
            space = line.split()[1] + "."
        elif space and line == f"end {space[:-1]}":
            space = ""
        elif line.startswith("/-- "):
            documentation = line.removeprefix("/-- ")
        elif found := _DECLARATION.match(line):
            yield found["kind"], space + found["name"], documentation
            documentation = ""
        elif not line.strip():
            documentation = ""


def axioms() -> set[str]:
    """What the interface takes from mathlib without a proof or a definition."""
    found = (declarations(file.read_text("utf-8")) for file in INTERFACE_FILES)
    return {name for file in found for kind, name, _ in file if kind == "axiom"}


@pytest.fixture(scope="session")
def real_project(built_project: Path, engine: WasmEngine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built copy of the library, with the interface and the package beside it, built too."""
    project = shutil.copytree(built_project, tmp_path_factory.mktemp("reals") / "project")
    for folder in (INTERFACE / "Mathlib", REAL / LIBRARY):
        shutil.copytree(folder, project / folder.name)
    shutil.copy(REAL / f"{LIBRARY}.lean", project)
    results = engine.build(project, [LIBRARY])
    said = {
        m: r.messages for m, r in results.items() if m.split(".")[0] in (LIBRARY, "Mathlib") and r.messages
    }
    assert said == {}
    assert {result.status for result in results.values()} <= {"built", "cached"}
    return project


@pytest.fixture(scope="session")
def audited(real_project: Path, engine: WasmEngine) -> RealsReport:
    artifacts = engine.artifacts(real_project)
    return audit_reals(artifacts.own, artifacts.library, None)


def test_the_axioms_are_those_of_the_interface(audited: RealsReport) -> None:
    """All of them, and beside them those of Lean."""
    assert [theorem.name for theorem in audited.theorems] == list(THEOREMS)
    allowed = set(map(str, ALLOWED_AXIOMS))
    further = {theorem.name: set(theorem.axioms) - allowed for theorem in audited.theorems}
    assert set().union(*further.values()) == axioms()
    assert further[f"{LIBRARY}.attentionPool_equiv"] == axioms() - {"instFintypeSum", "Fin.fintype"}


def test_the_audit_names_each_of_them(audited: RealsReport) -> None:
    expected = {(t.name, axiom) for t in audited.theorems for axiom in set(t.axioms) & axioms()}
    pattern = re.compile(r"(\S+) rests on (?:the axiom|an axiom) (\S+) ")
    found = [pattern.match(violation) for violation in audited.violations]
    assert {(match[1], match[2]) for match in found if match} == expected
    assert len(found) == len(expected)
    assert audited.sentence.startswith("NOT proved")


def test_the_statements_are_in_the_terms_of_mathlib(audited: RealsReport) -> None:
    statements = {t.name.removeprefix(f"{LIBRARY}."): t.statement or "" for t in audited.theorems}
    bag = "{ι κ δ : Type} [Fintype ι] [Fintype κ]"
    assert (
        statements["attentionPool_padding"].startswith(
            f"∀ {bag} (logit : ι ⊕ κ → Real) (feat : ι ⊕ κ → δ → Real) (mask : ι ⊕ κ → Bool), "
        )
        or "Sum ι κ" in statements["attentionPool_padding"]
    )
    assert "Equiv ι κ" in statements["attentionPool_equiv"]
    for name in ("masked_attention_pool", "masked_attention_pool_stable"):
        left, right = statements[name].split(" = ", 1)
        assert f"{name}.symbolic.program.eval" in left
        assert "MaskPool" not in right
        assert right.count("Finset.sum") == 2
        assert right.count("Real.exp") == 2
        assert right.count("Finset.filter") == 2


def test_every_theorem_with_a_name_of_the_specification_is_audited() -> None:
    """``real/`` has no law of ``attentionPool`` and no kernel that the audit leaves out."""
    found = [name for file in lean_sources(REAL) for _, name, _ in declarations(file.read_text("utf-8"))]
    wanted = [n for n in found if n.startswith((f"{LIBRARY}.attentionPool_", f"{LIBRARY}.masked_"))]
    assert sorted([*wanted, f"{LIBRARY}.pool_eq_attentionPool"]) == sorted(THEOREMS)


@pytest.mark.parametrize("file", INTERFACE_FILES, ids=lambda f: str(f.relative_to(INTERFACE)))
def test_the_interface_names_what_it_stands_for(file: Path) -> None:
    """Every declaration has its name in mathlib as documentation, and every file its module."""
    source = file.read_text("utf-8")
    module = ".".join(file.relative_to(INTERFACE).with_suffix("").parts)
    assert f"`{module}`" in source
    for _, name, documentation in declarations(source):
        assert f"`{name}`" in documentation or "In place of" in documentation or "in mathlib" in documentation
    assert all(name.startswith("Mathlib.") for name in imported_modules(source))


def test_the_package_imports_only_modules_of_the_interface() -> None:
    present = {".".join(file.relative_to(INTERFACE).with_suffix("").parts) for file in INTERFACE_FILES}
    for file in lean_sources(REAL):
        wanted = imported_modules(file.read_text("utf-8"))
        assert {name for name in wanted if name.startswith("Mathlib")} <= present


@pytest.mark.parametrize("file", [*lean_sources(REAL), *INTERFACE_FILES], ids=lambda f: f.name)
def test_lean_files_look_like_those_of_the_library(file: Path) -> None:
    source = file.read_text("utf-8")
    assert source.startswith("module\n")
    for line in source.splitlines():
        assert len(line) <= 110
        assert line == line.rstrip()


# -- --engine lake --mathlib, with the stand-in


@pytest.fixture
def with_mathlib(native: LakeEngine, real_project: Path, monkeypatch: pytest.MonkeyPatch) -> LakeEngine:
    """Native Lean that can download the interface in place of mathlib."""
    monkeypatch.setenv("STAND_IN_MATHLIB", str(real_project))
    return native


@pytest.fixture
def package(lake_project: Path) -> Path:
    """The project as a Lake package, with ``real/`` in it."""
    shutil.copytree(REAL, lake_project / "real", ignore=shutil.ignore_patterns(".lake", "lake-manifest.json"))
    return lake_project


def test_the_interface_is_not_taken_for_mathlib(
    package: Path, with_mathlib: LakeEngine, audited: RealsReport
) -> None:
    """The whole path of ``--mathlib``: the artifacts of three packages are found, and the axioms in them."""
    manifest = api.load_manifest(package / "maskpool.toml")
    report = api.check(manifest, engine=with_mathlib, mathlib=True, second="off")
    assert {kernel.verdict for kernel in report.kernels} == {"verified"}
    assert (report.verdict, report.exit_code) == ("unproved", 1)
    reals = report.reals
    assert (reals.basis, reals.mathlib, reals.revision) == ("mathlib", "v4.28.0", "0123456789abcdef")
    assert [t.statement for t in reals.theorems] == [t.statement for t in audited.theorems]
    assert [t.axioms for t in reals.theorems] == [t.axioms for t in audited.theorems]
    assert set(reals.violations) == set(audited.violations)


def test_mathlib_needs_native_lean(built_project: Path, engine: WasmEngine) -> None:
    manifest = api.load_manifest(built_project / "maskpool.toml")
    with pytest.raises(UsageError, match="mathlib needs native Lean: install elan"):
        api.check(manifest, engine=engine, mathlib=True)


def test_a_package_that_does_not_build(package: Path, with_mathlib: LakeEngine, real_project: Path) -> None:
    source = real_project / LIBRARY / "Arith.lean"
    text = source.read_text("utf-8")
    try:
        source.write_text(text.replace("Real.exp_pos x", "Real.exp_add x"), "utf-8")
        report = check_reals(package, with_mathlib)
    finally:
        source.write_text(text, "utf-8")
    assert report.theorems == ()
    assert re.match(
        rf"{LIBRARY}\.Arith does not build: real/{LIBRARY}/Arith\.lean:\d+:\d+: ", report.violations[0]
    )


def test_without_a_network(package: Path, native: LakeEngine) -> None:
    with pytest.raises(EnvironmentFault, match=r"mathlib for .* cannot be downloaded .*git.*network"):
        check_reals(package, native)


def test_without_the_package(lake_project: Path, native: LakeEngine) -> None:
    with pytest.raises(UsageError, match=r"There is no .*real/lakefile\.lean"):
        check_reals(lake_project, native)


def test_another_mathlib(package: Path, with_mathlib: LakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskpool_verify.reals.MATHLIB", "v4.29.0")
    with pytest.raises(EnvironmentFault, match=r"has mathlib v4\.28\.0, and not v4\.29\.0"):
        check_reals(package, with_mathlib)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("theorem gap : 1 = 2 := sorry\n", r"real/MaskPoolReal/Sum\.lean:\d+:\d+: `sorry` is not allowed"),
        ("axiom gap : 1 = 2\n", "`axiom` is not allowed"),
        ("import Lean\n", "`import Lean` is not allowed"),
    ],
)
def test_sources_are_read_before_they_are_built(
    package: Path, native: LakeEngine, change: str, message: str
) -> None:
    file = package / "real" / LIBRARY / "Sum.lean"
    file.write_text(file.read_text("utf-8") + change, "utf-8")
    with pytest.raises(AuditError, match=message):
        check_reals(package, native)


@pytest.mark.parametrize("linked", ["", f"{LIBRARY}.lean", LIBRARY, f"{LIBRARY}/More"])
def test_sources_do_not_lie_elsewhere(package: Path, native: LakeEngine, tmp_path: Path, linked: str) -> None:
    """A folder that is a link would be built, and its files not read."""
    place, elsewhere = package / "real" / linked, tmp_path / "elsewhere"
    if place.exists():
        place.rename(elsewhere)
    else:
        elsewhere.mkdir()
    place.symlink_to(elsewhere)
    with pytest.raises(AuditError, match=rf"^{Path('real', linked).as_posix()} is a symbolic link"):
        check_reals(package, native)


def test_without_mathlib_the_report_says_so() -> None:
    assert ABSTRACT.sentence == "the theorems are over an abstract field with exp and log (no mathlib)"
