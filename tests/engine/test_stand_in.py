"""The driver of native Lean and the embedded engine give the same report, from the same sources.

Where the tests run there is no native Lean: see :mod:`stand_in`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from maskpool_verify.check import check
from maskpool_verify.engine.lake import LakeEngine
from maskpool_verify.engine.protocol import Engine, ModuleResult
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.manifest import load_manifest
from maskpool_verify.report import Report

ROOT = Path(__file__).parent.parent.parent
LAKE_FILES = ("lakefile.lean", "lake-manifest.json", "lean-toolchain")


def without_engine(report: Report) -> dict[str, Any]:
    """A report without what says which Lean was at work, and how long."""
    data = report.model_dump(mode="json")
    for key in ("engine", "trusted"):
        del data[key]
    del data["provenance"]["engine"]
    # Artifacts differ in bytes that mean nothing, by what a process has built before.
    data["provenance"]["artifacts"] = sorted(data["provenance"]["artifacts"])
    if data["second_kernel"]:
        del data["second_kernel"]["seconds"], data["second_kernel"]["megabytes"]
    return data


def differing(reports: Iterator[Report]) -> list[str]:
    """The keys under which two reports differ beside the engine."""
    first, second = map(without_engine, reports)
    assert first.keys() == second.keys()
    return [key for key in first if first[key] != second[key]]


def test_the_same_report(lake_project: Path, native: LakeEngine) -> None:
    manifest = load_manifest(lake_project / "maskpool.toml")
    engines: tuple[Engine, ...] = (WasmEngine(), native)
    reports = [check(manifest, manifest.kernels, engine) for engine in engines]
    assert [report.engine and report.engine.name for report in reports] == ["wasm", "lake"]
    assert {report.verdict for report in reports} == {"verified"}
    assert reports[0].audit.audited == 18
    assert differing(iter(reports)) == []


def test_the_same_report_of_kernels_that_are_not_proved(lake_project: Path, native: LakeEngine) -> None:
    """The tactic is broken, and with it every proof of a specification."""
    normalize = lake_project / "MaskPool" / "Certificate" / "Normalize.lean"
    text = normalize.read_text("utf-8")
    broken = text.replace(
        'macro "mask_pool" : tactic => `(tactic|',
        'macro "mask_pool" : tactic => `(tactic| skip)\nmacro "unused" : tactic => `(tactic|',
    )
    assert broken != text
    normalize.write_text(broken, "utf-8")
    manifest = load_manifest(lake_project / "maskpool.toml")
    options: dict[str, Any] = {"second": "off", "search_seconds": 0}
    engines: tuple[Engine, ...] = (WasmEngine(), native)
    reports = [check(manifest, manifest.kernels, engine, **options) for engine in engines]
    assert {report.verdict for report in reports} == {"unproved"}
    assert any("⊢" in message for message in reports[0].kernels[0].messages)
    assert differing(iter(reports)) == []


MODULES = {
    "First": "module\n\npublic theorem one : 1 = 1 := rfl\n\n#check one\n",
    "Second": "module\nimport First\n\nexample (a : Nat) : a = 0 := by\n  skip\n\ndef x : Nat := y\n",
    "Third": "module\nimport Second\n",
    "Fourth": "module\nimport First\n\ntheorem gap : 1 = 2 := sorry\n",
}


def test_the_same_messages(tmp_path: Path, native: LakeEngine, engine: WasmEngine) -> None:
    """Errors, warnings and information with their positions; a module behind a failed one is skipped."""
    for module, source in MODULES.items():
        (tmp_path / f"{module}.lean").write_text(source, "utf-8")
    shutil.copy(ROOT / "lean-toolchain", tmp_path)

    def built(by: Callable[..., dict[str, ModuleResult]]) -> list[dict[str, Any]]:
        return [r.model_dump(exclude={"seconds", "status"}) for r in by(tmp_path, list(MODULES)).values()]

    expected, found = built(engine.build), built(native.build)
    assert found == expected
    results = native.build(tmp_path, list(MODULES))
    assert {m: r.status for m, r in results.items() if r.status != "cached"} == {
        "Second": "failed",
        "Third": "skipped",
    }
    assert [m.position and m.position.line for m in results["Second"].messages] == [4, 7]
