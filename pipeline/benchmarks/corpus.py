"""How long the verdicts on the kernels of the corpus take, from reading the manifest to the report."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks import processes
from benchmarks.project import ROOT, Workspace
from benchmarks.results import Measurement
from maskpool_verify import api
from maskpool_verify.check import Step, check
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.errors import TraceError, UnsupportedError
from maskpool_verify.manifest import load_manifest

_CORPUS = ROOT / "tests" / "corpus"


def by_kernel(workspace: Workspace) -> Iterator[Measurement]:
    """One run over the whole corpus, with the library built and nothing else."""
    project = workspace.copy()
    for part in ("kernels", "certificates"):
        shutil.rmtree(project / part)
    shutil.copytree(_CORPUS / "kernels", project / "kernels")
    manifest = (_CORPUS / "corpus.toml").read_text("utf-8")
    (project / "maskpool.toml").write_text(f'library = "project"\n{manifest}', "utf-8")
    workspace.build(project, "MaskPool")
    used = processes.run((sys.executable, "-m", "benchmarks.corpus", str(project)), ROOT)
    seconds: dict[str, float] = json.loads(used.stdout)
    total = seconds.pop("")
    each = tuple(seconds.values())
    yield Measurement(what="all verdicts", unit="s", samples=(total,), target=720)
    middle = statistics.median(each)
    yield Measurement(what="the median verdict", unit="s", samples=(middle,), target=8)
    slowest = max(seconds, key=lambda name: seconds[name])
    yield Measurement(
        what=f"the slowest verdict (`{slowest}`)", unit="s", samples=(seconds[slowest],), target=60
    )


def measure(project: Path) -> dict[str, float]:
    """Seconds by the name of the kernel: tracing, Lean on its modules, the search. Of all, under ``""``."""
    seconds: dict[str, float] = defaultdict(float)
    begin = last = time.perf_counter()
    doing: str | None = None

    def spent(step: Step) -> None:
        nonlocal last, doing
        now = time.perf_counter()
        if doing is not None:
            seconds[doing] += now - last
        doing, last = None, now
        if step.stage in ("trace", "search"):
            doing = step.subject.partition(":")[0]
        if step.build is not None and step.build.result is not None:
            top, _, module = step.build.module.partition(".")
            if top == "certificates":
                seconds[module.partition(".")[0]] += step.build.result.seconds

    manifest = load_manifest(project / "maskpool.toml")
    traced = {}
    for kernel in manifest.kernels:
        start = time.perf_counter()
        try:
            (found,) = api.trace(manifest, [kernel])
            traced[kernel.name] = found.traces
        except (UnsupportedError, TraceError):
            pass  # the check says so again
        seconds[kernel.name] += time.perf_counter() - start
    last = time.perf_counter()
    check(manifest, manifest.kernels, WasmEngine(), require_accepted=False, traced=traced, progress=spent)
    spent(Step("audit", "nothing more"))
    return {**seconds, "": time.perf_counter() - begin}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
