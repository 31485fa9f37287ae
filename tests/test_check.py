"""The verdicts, with an engine and an audit that answer as a test tells them: nothing unknown is verified."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from maskpool_verify import check as checking
from maskpool_verify import lock
from maskpool_verify.audit import AuditResult, TheoremAudit
from maskpool_verify.check import Step, check
from maskpool_verify.engine.protocol import (
    Artifacts,
    EngineInfo,
    Message,
    ModuleResult,
    Position,
    Progress,
)
from maskpool_verify.errors import AuditError
from maskpool_verify.manifest import Manifest, load_manifest
from maskpool_verify.report import Report

ROOT = Path(__file__).parent.parent
NAME = "masked_attention_pool"
LIBRARY, PROPERTIES = "MaskPool", f"certificates.{NAME}.properties"
MODULES = (LIBRARY, f"certificates.{NAME}.n4_d3", f"certificates.{NAME}.n6_d3", PROPERTIES)
VERSION, HASH = "4.28.0", "abc"

Status = Literal["built", "cached", "failed", "skipped"]


def module(
    name: str, status: Status = "cached", error: str | None = None, line: int | None = None
) -> ModuleResult:
    position = Position(line=line, column=2) if line else None
    file = name.replace(".", "/") + ".lean"
    messages = (Message(severity="error", file=file, position=position, text=error),) if error else ()
    return ModuleResult(module=name, status=status, seconds=0.1, messages=messages)


class FakeEngine:
    """Says that every module was built, but for ``results``; remembers how it was called."""

    name: Literal["wasm"] = "wasm"

    def __init__(self, *results: ModuleResult, during: Callable[[], None] = lambda: None) -> None:
        self.results = {result.module: result for result in results}
        self.during = during
        self.fresh: bool | None = None

    def info(self) -> EngineInfo:
        return EngineInfo(name="wasm", lean_version=VERSION, githash=HASH, source="a test", files={})

    def build(
        self,
        project: Path,
        modules: Sequence[str],
        *,
        fresh: bool = False,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> dict[str, ModuleResult]:
        self.fresh = fresh
        self.during()
        built = {name: self.results.get(name, module(name)) for name in modules} | self.results
        for done, result in enumerate(built.values(), 1):
            progress(Progress(module=result.module, result=result, done=done, total=len(built)))
        return built

    def artifacts(self, project: Path) -> Artifacts:
        return Artifacts(own=project, library=())


def audited(name: str, home: str, **changes: Any) -> TheoremAudit:
    fields = {
        "name": name,
        "module": home,
        "kind": "theorem",
        "statement": "True",
        "digest": "1",
        "axioms": ("Classical.choice", "propext"),
        "constants": 1,
        "library_theorems": 0,
        "library_others": 0,
        "violations": (),
    }
    return TheoremAudit.model_validate(fields | changes)


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    """A project with one kernel."""
    for folder in ("kernels", "certificates"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(tmp_path / "certificates" / f"{NAME}_stable")
    shutil.copy(ROOT / "MaskPool.lean", tmp_path)
    text = (ROOT / "maskpool.toml").read_text()
    (tmp_path / "maskpool.toml").write_text(text[: text.rindex("[[kernel]]")])
    return load_manifest(tmp_path / "maskpool.toml")


@pytest.fixture
def answer(manifest: Manifest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make the audit find every theorem without a violation, but for ``changes`` to one with ``suffix``.

    The statements of the unchanged theorems are accepted.
    """

    def prepare(
        suffix: str = "-", version: str = VERSION, general: Sequence[str] = (), **changes: Any
    ) -> None:
        def audit(
            own: Path,
            library: Sequence[Path],
            modules: Sequence[str],
            names: Sequence[str],
            spaces: Sequence[str],
        ) -> AuditResult:
            def home(name: str) -> str:
                return name.rpartition(".")[0] if name.endswith("translation") else PROPERTIES

            fields = {
                "allowed_axioms": ("propext", "Classical.choice", "Quot.sound"),
                "lean_version": version,
                "githash": HASH,
                "own_modules": 1,
                "library_modules": 1,
                "definitions": {"MaskPool.pool": "2"},
                "theorems": tuple(
                    audited(name, home(name), **(changes if name.endswith(suffix) else {})) for name in names
                ),
                "violations": tuple(general),
            }
            return AuditResult.model_validate(fields)

        monkeypatch.setattr(checking, "audit", audit)

    prepare()
    report = run(manifest, FakeEngine())
    lock.write(manifest.root, lock.of_reports(report.kernels[0].theorems, report.definitions))
    return prepare


def run(manifest: Manifest, engine: FakeEngine, **options: Any) -> Report:
    return check(manifest, manifest.kernels, engine, second="off", **options)


def reasons(report: Report) -> dict[str, str | None]:
    """Why each theorem failed, by the end of its name."""
    (kernel,) = report.kernels
    return {t.name.removeprefix(f"certificates.{NAME}."): t.reason for t in kernel.theorems}


def test_all_is_verified(manifest: Manifest, answer):
    report = run(manifest, FakeEngine())
    assert report.verdict == "verified"
    assert set(reasons(report).values()) == {None}
    assert report.audit.audited == len(report.kernels[0].theorems) == 11


def test_axioms_are_in_the_order_of_the_allowed_ones(manifest: Manifest, answer):
    answer("n4_d3.permutation", axioms=("Quot.sound", "aaa", "Classical.choice", "propext"))
    (kernel,) = run(manifest, FakeEngine()).kernels
    axioms = {t.name.removeprefix(f"certificates.{NAME}."): t.axioms for t in kernel.theorems}
    assert axioms["n6_d3.permutation"] == ("propext", "Classical.choice")
    assert axioms["n4_d3.permutation"] == ("propext", "Classical.choice", "Quot.sound", "aaa")


@pytest.mark.parametrize("fresh", [False, True])
def test_fresh_reaches_the_engine(fresh: bool, manifest: Manifest, answer):
    engine = FakeEngine()
    run(manifest, engine, fresh=fresh)
    assert engine.fresh is fresh


def test_progress_tells_every_stage(manifest: Manifest, answer):
    steps: list[Step] = []
    run(manifest, FakeEngine(), progress=steps.append)
    assert [step.stage for step in steps] == ["trace", *["build"] * len(MODULES), "audit", "replay"]
    assert [step.subject for step in steps if step.stage == "build"] == list(MODULES)


def test_statements_have_to_be_accepted(manifest: Manifest, answer):
    (manifest.root / lock.PATH).unlink()
    report = run(manifest, FakeEngine())
    assert report.verdict == "stale"
    assert set(reasons(report).values()) == {None}


@pytest.mark.parametrize("changes", [{"statement": "False"}, {"digest": "3"}])
def test_a_statement_that_changed_has_to_be_accepted(changes: dict[str, Any], manifest: Manifest, answer):
    answer("n4_d3.all_masked", **changes)
    report = run(manifest, FakeEngine())
    assert report.verdict == "stale"
    assert f"certificates.{NAME}.n4_d3.all_masked" in report.kernels[0].messages[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"violations": ("it rests on the axiom evil.",), "axioms": ("evil",)},
        {"kind": "missing", "module": None, "statement": None, "violations": ("There is no theorem.",)},
        {"module": "certificates.elsewhere"},
    ],
)
def test_one_bad_theorem_is_enough(changes: dict[str, Any], manifest: Manifest, answer):
    answer("n6_d3.all_masked", **changes)
    report = run(manifest, FakeEngine())
    assert report.verdict == "unproved"
    assert [name for name, reason in reasons(report).items() if reason] == ["n6_d3.all_masked"]


def test_violation_of_the_whole(manifest: Manifest, answer):
    answer(general=("No theorem was audited.",))
    assert run(manifest, FakeEngine()).verdict == "unproved"


def test_artifacts_of_another_lean(manifest: Manifest, answer):
    answer(version="4.27.0")
    report = run(manifest, FakeEngine())
    assert report.verdict == "unproved"
    assert any("4.27.0" in message for message in report.kernels[0].messages)


def test_audit_that_fails(manifest: Manifest, monkeypatch: pytest.MonkeyPatch):
    def audit(*_: object) -> AuditResult:
        raise AuditError("the file is damaged")

    monkeypatch.setattr(checking, "audit", audit)
    report = run(manifest, FakeEngine())
    assert report.verdict == "error"
    assert set(reasons(report).values()) == {"the audit failed"}
    assert report.audit.violations == ("the file is damaged",)


def test_engine_that_says_nothing(manifest: Manifest, answer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(FakeEngine, "build", lambda *_, **__: {})
    report = run(manifest, FakeEngine())
    assert report.verdict == "unproved"
    assert set(reasons(report).values()) == {"its module was not built"}
    assert report.audit.violations == ("No theorem was audited.",)


def test_library_that_does_not_build(manifest: Manifest, answer):
    broken = module("MaskPool.Pool", "failed", "unknown identifier\nmore", line=3)
    report = run(manifest, FakeEngine(broken, *(module(name, "skipped") for name in MODULES)))
    assert report.verdict == "error"
    assert report.kernels[0].messages[0] == (
        "MaskPool.Pool does not build: MaskPool/Pool.lean:3:2: unknown identifier"
    )
    assert set(reasons(report).values()) == {"a module that it imports did not build"}


def test_library_that_no_certificate_imports_has_to_build_too(manifest: Manifest, answer):
    report = run(manifest, FakeEngine(module("MaskPool.Pool.LawFree", "failed", "no", line=1)))
    assert report.verdict == "error"


def line_of(manifest: Manifest, text: str) -> int:
    lines = (manifest.root / "certificates" / NAME / "properties.lean").read_text().splitlines()
    return 1 + next(number for number, line in enumerate(lines) if line.startswith(text))


def test_dependent_theorems_name_the_proof_that_failed(manifest: Manifest, answer):
    line = line_of(manifest, "theorem specification") + 1
    report = run(manifest, FakeEngine(module(PROPERTIES, "failed", "no progress\n⊢ False", line)))
    assert report.verdict == "unproved"
    found = reasons(report)
    assert found["n4_d3.translation"] is found["n6_d3.translation"] is None
    assert found["n4_d3.specification"] == "its proof did not go through"
    for name in ("n4_d3.permutation", "n4_d3.masked_irrelevance", "n4_d3.all_masked", "padding_n4_d3_n6_d3"):
        assert found[name] == "it rests on specification at n4_d3"
    for name in ("n6_d3.specification", "n6_d3.permutation"):
        assert found[name] == "another proof in its module did not go through"
    assert report.kernels[0].messages[-1].endswith("  ⊢ False")


@pytest.mark.parametrize("error", ["Lean ran out of memory (the embedded Lean has 2 GB).", None])
def test_module_that_fails_as_a_whole(error: str | None, manifest: Manifest, answer):
    report = run(manifest, FakeEngine(module(PROPERTIES, "failed", error)))
    assert report.verdict == "unproved"
    reason = reasons(report)["n4_d3.specification"]
    assert reason is not None
    assert reason.startswith(f"{PROPERTIES} does not build")
    assert (error or "") in reason


def test_files_that_change_during_the_build(manifest: Manifest, answer):
    """Then it is not known which text the engine has read."""

    def change() -> None:
        file = manifest.root / "certificates" / NAME / "properties.lean"
        file.write_text(file.read_text() + "-- changed\n")

    report = run(manifest, FakeEngine(during=change))
    assert report.verdict == "stale"
    assert report.kernels[0].theorems == ()
