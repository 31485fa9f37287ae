"""The verdicts of the tool on the corpus: running it, and the file that keeps what it said.

    python tests/corpus/verdicts.py [KERNEL...]

checks the kernels in a copy of the project and writes ``verdicts.json``, from which the gallery in
``docs/kernels.md`` is made. All kernels take some minutes.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from expectations import CORPUS
from pydantic import BaseModel, ConfigDict

from maskpool_verify import api
from maskpool_verify.check import Step, check
from maskpool_verify.engine.protocol import Engine
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.errors import TraceError, UnsupportedError
from maskpool_verify.lean.properties import Property
from maskpool_verify.manifest import load_manifest
from maskpool_verify.refute.counterexample import Counterexample, FloatWarning
from maskpool_verify.report import KernelReport, Report, Verdict

REPOSITORY = CORPUS.parent.parent
FILE = CORPUS / "verdicts.json"

Status = Literal["proved", "failed", "refuted"]


class KernelVerdict(BaseModel):
    """What the tool says about one kernel."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    verdict: Verdict
    theorems: dict[Property, Status]
    counterexamples: tuple[Counterexample, ...]
    warnings: tuple[FloatWarning, ...]
    messages: tuple[str, ...]


class Verdicts(BaseModel):
    """All of them, by the names of the kernels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kernels: dict[str, KernelVerdict]


def condensed(report: KernelReport) -> KernelVerdict:
    """A property is as its worst theorem is."""
    worst: dict[Property, Status] = {}
    for theorem in report.theorems:
        if worst.get(theorem.property, "proved") == "proved":
            worst[theorem.property] = theorem.status
    return KernelVerdict(
        verdict=report.verdict,
        theorems=worst,
        counterexamples=report.counterexamples,
        warnings=report.warnings,
        messages=report.messages,
    )


def copy_project(target: Path) -> None:
    """The library and the corpus as a project of its own."""
    shutil.copytree(REPOSITORY / "MaskPool", target / "MaskPool")
    shutil.copy(REPOSITORY / "MaskPool.lean", target)
    shutil.copytree(CORPUS / "kernels", target / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    manifest = 'library = "project"\n' + (CORPUS / "corpus.toml").read_text("utf-8")
    (target / "maskpool.toml").write_text(manifest, "utf-8")
    built = REPOSITORY / ".maskpool" / "build" / "wasm"
    for part in ("lib/MaskPool", "lib/MaskPool.olean", "records/MaskPool"):
        if (built / part).is_dir():
            shutil.copytree(built / part, target / ".maskpool" / "build" / "wasm" / part)


def run(
    project: Path,
    names: Sequence[str] = (),
    engine: Engine | None = None,
    progress: Callable[[Step], None] = lambda _: None,
) -> Report:
    """Trace and check kernels of the corpus, all or some, in a copy of the project."""
    manifest = load_manifest(project / "maskpool.toml")
    kernels = [kernel for kernel in manifest.kernels if not names or kernel.name in names]
    traced = {}
    for kernel in kernels:
        try:
            (found,) = api.trace(manifest, [kernel])
        except (UnsupportedError, TraceError):
            continue  # the check will say so
        traced[kernel.name] = found.traces
    return check(
        manifest,
        kernels,
        engine or WasmEngine(),
        second="off",
        require_accepted=False,
        traced=traced,
        progress=progress,
    )


def read() -> Verdicts:
    """What the file holds."""
    return Verdicts.model_validate_json(FILE.read_text("utf-8"))


def write(verdicts: Verdicts) -> None:
    """Replace the file."""
    FILE.write_text(verdicts.model_dump_json(indent=1) + "\n", "utf-8")


def main() -> None:
    """Check the kernels that the command line names, or all."""
    names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        copy_project(Path(folder))
        report = run(Path(folder), names, progress=_say)
    found = {kernel.name: condensed(kernel) for kernel in report.kernels}
    before = read().kernels if names and FILE.exists() else {}
    order = [kernel.name for kernel in load_manifest(CORPUS / "corpus.toml").kernels]
    merged = before | found
    write(Verdicts(kernels={name: merged[name] for name in order if name in merged}))


def _say(step: Step) -> None:
    if step.build is None or (step.build.result and step.build.result.status != "cached"):
        seconds = f" {step.build.result.seconds:.1f} s" if step.build and step.build.result else ""
        print(f"{step.stage} {step.subject}{seconds}", flush=True)


if __name__ == "__main__":
    main()
