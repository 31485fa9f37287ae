"""Every attack is answered, for its own reason, and none ends in "verified"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from attacks import ATTACKS, PAGE, REPORT, Attack, table

from maskpool_verify import check as checking
from maskpool_verify import provenance
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.errors import MaskpoolError
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.manifest import Kernel, load_manifest
from maskpool_verify.report import Report
from maskpool_verify.second_kernel.abi import UnavailableError, locate


@pytest.fixture(autouse=True)
def traced_once(monkeypatch: pytest.MonkeyPatch, traces: dict[object, TracedKernel]) -> None:
    """Trace a kernel again only if its manifest or its source is another one."""

    def trace(kernel: Kernel, shape: Mapping[str, int], root: Path) -> TracedKernel:
        source = (root / kernel.function.split(":")[0]).read_bytes()
        key = (kernel.model_dump_json(), tuple(shape.items()), source)
        if key not in traces:
            traces[key] = trace_kernel(kernel, shape, root)
        return traces[key]

    monkeypatch.setattr(checking, "trace_kernel", trace)


@pytest.fixture(scope="module")
def traces() -> dict[object, TracedKernel]:
    return {}


@pytest.fixture(scope="module")
def honest(built_project: Path, engine: WasmEngine) -> Report:
    """The report of the project as it is."""
    manifest = load_manifest(built_project / "maskpool.toml")
    return checking.check(manifest, manifest.kernels, engine, second="off")


def sentences(report: Report) -> Iterator[str]:
    """All that a report says about what is wrong."""
    yield from report.audit.violations
    for kernel in report.kernels:
        yield from kernel.messages
        yield from (t.reason for t in kernel.theorems if t.reason)


def outcome(
    attack: Attack, project: Path, engine: WasmEngine, honest: Report
) -> tuple[int, list[str], str | None]:
    """The exit code of ``check``, its sentences, and its verdict."""
    cache = attack.apply(project)
    try:
        manifest = load_manifest(project / "maskpool.toml")
        lean = WasmEngine(cache) if isinstance(cache, Path) else engine
        second = "require" if attack.native else "off"
        report = checking.check(manifest, manifest.kernels, lean, second=second)
    except MaskpoolError as error:
        return error.exit_code, [str(error)], None
    if not attack.reproduce:
        return report.exit_code, list(sentences(report)), report.verdict
    differences = provenance.differences(honest.provenance, report.provenance)
    return int(bool(differences)), [f"{REPORT}: {sentence}" for sentence in differences], None


def test_the_honest_project_is_verified(honest: Report) -> None:
    assert honest.verdict == "verified"
    assert list(sentences(honest)) == []


@pytest.mark.parametrize(
    "attack",
    [pytest.param(a, id=a.name, marks=[pytest.mark.slow] if a.slow else []) for a in ATTACKS],
)
def test_attack(attack: Attack, project: Path, engine: WasmEngine, honest: Report) -> None:
    if attack.native:
        try:
            locate()
        except UnavailableError as error:
            pytest.skip(str(error))
    status, said, verdict = outcome(attack, project, engine, honest)
    assert verdict != "verified"
    assert [sentence for sentence in said if attack.answered_by(sentence)], said
    assert status == attack.exit_code


def test_names_differ_and_there_are_enough() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 32


def test_the_page_is_up_to_date() -> None:
    """``python tests/attacks/attacks.py`` writes it."""
    assert PAGE.read_text("utf-8") == table()
