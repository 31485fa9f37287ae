"""Work that is measured in a fresh Python process; prints what it took.

``python -m benchmarks.child build PROJECT MODULE`` has the embedded Lean build a module;
``read PROJECT`` and ``audit PROJECT`` read, or read and audit, the artifacts of a project that is built;
``verdict PROJECT`` traces and checks its kernels, which have to be verified;
``replay PROJECT`` has the second kernel check them, and prints the seconds and the megabytes of that process.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.results import MeasurementError


def _build(project: Path, module: str) -> float:
    from maskpool_verify.engine.wasm import WasmEngine  # noqa: PLC0415 - each task loads only what it needs

    begin = time.perf_counter()
    result = WasmEngine().build(project, [module])[module]
    seconds = time.perf_counter() - begin
    if result.status != "built":
        raise MeasurementError(f"{module} is {result.status}, and not built.")
    return seconds


def _audit(project: Path, *, only_read: bool) -> float:
    from maskpool_verify.audit import World, audit  # noqa: PLC0415
    from maskpool_verify.check import OPEN_NAMESPACES  # noqa: PLC0415
    from maskpool_verify.engine.wasm import WasmEngine  # noqa: PLC0415
    from maskpool_verify.lean.properties import theorems  # noqa: PLC0415
    from maskpool_verify.manifest import load_manifest  # noqa: PLC0415
    from maskpool_verify.olean import parse_name  # noqa: PLC0415

    wanted = [t for kernel in load_manifest(project / "maskpool.toml").kernels for t in theorems(kernel)]
    modules = sorted({theorem.module for theorem in wanted})
    artifacts = WasmEngine().artifacts(project)
    begin = time.perf_counter()
    if only_read:
        World(artifacts.own, artifacts.library, map(parse_name, modules))
        return time.perf_counter() - begin
    names = [theorem.dotted for theorem in wanted]
    result = audit(artifacts.own, artifacts.library, modules, names, OPEN_NAMESPACES)
    seconds = time.perf_counter() - begin
    if not result.ok:
        raise MeasurementError(f"The audit failed: {result.all_violations[0]}")
    return seconds


def _replay(project: Path) -> str:
    from maskpool_verify.engine.wasm import WasmEngine  # noqa: PLC0415
    from maskpool_verify.second_kernel import replay  # noqa: PLC0415

    artifacts = WasmEngine().artifacts(project)
    files = sorted(artifacts.own.rglob("*.olean"))
    modules = [".".join(file.relative_to(artifacts.own).with_suffix("").parts) for file in files]
    begin = time.perf_counter()
    result = replay(artifacts.own, artifacts.library, modules)
    if result.status != "accepted":
        raise MeasurementError(f"The second kernel is {result.status}: {result.why or result.refusal}")
    return f"{time.perf_counter() - begin} {result.megabytes}"


def _verdict(project: Path) -> None:
    from maskpool_verify import api  # noqa: PLC0415
    from maskpool_verify.check import check, session  # noqa: PLC0415
    from maskpool_verify.engine.wasm import WasmEngine  # noqa: PLC0415
    from maskpool_verify.manifest import load_manifest  # noqa: PLC0415

    manifest, engine = load_manifest(project / "maskpool.toml"), WasmEngine()
    with session(manifest, manifest.kernels, engine):
        traced = {each.kernel.name: each.traces for each in api.trace(manifest)}
        report = check(manifest, manifest.kernels, engine, require_accepted=False, traced=traced)
    if report.verdict != "verified":
        raise MeasurementError(f"The verdict is {report.verdict}: {report.kernels[0].messages}")


def main(task: str, project: Path, *modules: str) -> None:
    """Do one task and print its seconds."""
    match task:
        case "build":
            print(_build(project, *modules))
        case "verdict":
            _verdict(project)
        case "replay":
            print(_replay(project))
        case _:
            print(_audit(project, only_read=task == "read"))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
