"""The outputs shown in README.md and docs/, made by the tool itself.

A place for one is marked in the Markdown, and what stands between the marks is generated::

    <!-- generated: check -->
    <!-- end -->

``python -m documentation`` fills all of them; a test compares.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from documentation import commands, idioms, underflow
from documentation.console import console, fenced, run
from documentation.gallery import gallery, summary
from documentation.reported import reported
from documentation.walkthrough import Walkthrough
from maskpool_verify.audit import AuditResult
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.importer import SUPPORTED_PRIMITIVES
from maskpool_verify.lowering import LOWERED_PRIMITIVES

REPOSITORY = Path(__file__).parent.parent.parent
PROJECT_FILES = ("MaskPool", "MaskPool.lean", "kernels", "certificates", "maskpool.toml")

_MARK = re.compile(r"(?P<start><!-- generated: (?P<name>[a-z-]+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)
_ONE = "masked_attention_pool"
_SHOWN_IDIOM = "idioms.minus_infinity_fill_eq_pool_iff"


def pages() -> Iterator[Path]:
    """All Markdown files of the documentation."""
    yield REPOSITORY / "README.md"
    yield from sorted((REPOSITORY / "docs").glob("*.md"))


def refreshed(text: str, outputs: Mapping[str, Callable[[], str]]) -> str:
    """``text`` with every marked place filled.

    Raises:
        KeyError: a mark names an output that does not exist.
    """
    return _MARK.sub(lambda mark: mark["start"] + outputs[mark["name"]]() + mark["end"], text)


class Outputs:
    """Outputs of commands in ``project``, a copy of the project that may be changed.

    ``audited`` are the theorems about idioms, if they have been built already.
    """

    def __init__(self, project: Path, audited: AuditResult | None = None) -> None:
        self._project = project
        self._audited = audited
        self._known: dict[str, str] = {}
        self._makers: Mapping[str, Callable[[], str]] = {
            "check": lambda: self._console("check"),
            "stale": lambda: self._with_exchanged_branches(trace=False),
            "refuted": lambda: self._with_exchanged_branches(trace=True),
            "report": self._report,
            "annotations": self._annotations,
            "stress": self._stress,
            "stress-reported": reported,
            "primitives": lambda: _names(SUPPORTED_PRIMITIVES),
            "lowered": lambda: _names(LOWERED_PRIMITIVES),
            "corpus": summary,
            "gallery": gallery,
            "instance": lambda: self._excerpt("theorem instance", "end certificates", file="n4_d3"),
            "program": lambda: self._excerpt("def program", "/-- The Jaxpr as a function"),
            "readable": lambda: self._excerpt("def readable", "theorem translation"),
            "translation": lambda: self._excerpt("theorem translation", "end certificates"),
            "properties": self._properties,
            "idioms": lambda: idioms.table(self._idioms()),
            "idiom-statement": lambda: fenced("lean", idioms.statement(self._idioms(), _SHOWN_IDIOM)),
            "underflow": underflow.table,
            "commands": commands.reference,
            **Walkthrough(project).makers,
        }

    def get(self) -> Mapping[str, Callable[[], str]]:
        """The outputs by name."""
        return {name: lambda name=name: self._once(name) for name in self._makers}  # type: ignore[misc]

    def _once(self, name: str) -> str:
        if name not in self._known:
            self._known[name] = self._makers[name]()
        return self._known[name]

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run(self._project, *arguments)

    def _console(self, *arguments: str) -> str:
        return console(self._project, *arguments)

    def _annotations(self) -> str:
        """The annotations of a kernel that is refuted."""
        self._once("refuted")
        return self._known["annotations"]

    def _with_exchanged_branches(self, *, trace: bool) -> str:
        """Keep the weights of the masked rows instead of the others, and check."""
        kernel = self._project / "kernels" / f"{_ONE}.py"
        original = kernel.read_text("utf-8")
        right, wrong = (
            "jnp.where(mask, jnp.exp(selected_logits), 0.0)",
            "jnp.where(mask, 0.0, jnp.exp(selected_logits))",
        )
        if original.count(right) != 1:
            raise ValueError(f"{kernel} does not contain {right!r} exactly once")
        folder = self._project / "certificates" / _ONE
        saved = self._project / "saved-certificates"
        shutil.copytree(folder, saved)
        try:
            kernel.write_text(original.replace(right, wrong), "utf-8")
            if trace:
                self._run("trace", "--kernel", _ONE)
            if trace:
                self._known["annotations"] = self._console("check", "--kernel", _ONE, "--format", "github")
            return self._console("check", "--kernel", _ONE)
        finally:
            kernel.write_text(original, "utf-8")
            shutil.rmtree(folder)
            saved.rename(folder)

    def _stress(self) -> str:
        """A stress run; how far rounding goes depends on the processor, and is left out."""
        shown = self._console("stress", "--quick", "--kernel", _ONE)
        left_out = "… ulps (… eps)"
        shown = re.sub(r"\d+ ulps? \([\d.]+ eps\)(?=  )", lambda m: left_out.ljust(len(m[0])), shown)
        return re.sub(r"\d+ ulps? \([\d.]+ eps\)", left_out, shown)

    def _report(self) -> str:
        """The JSON report of one kernel, shortened, and without what changes from run to run."""
        report = json.loads(self._run("check", "--kernel", _ONE, "--format", "json").stdout)
        for kernel in report["kernels"]:
            shown = [t for t in kernel["theorems"] if t["property"] in ("specification", "padding")]
            kernel["theorems"] = shown
            for trace in kernel["traces"]:
                trace["listing"] = trace["listing"][3:4]
        second, provenance = report["second_kernel"], report["provenance"]
        second["assumptions"] = second["assumptions"][:1]
        del second["seconds"], second["megabytes"]
        report["definitions"] = {"MaskPool.pool": report["definitions"]["MaskPool.pool"]}
        provenance["versions"] = {"lean": provenance["versions"]["lean"]}
        provenance["sources"] = {"maskpool.toml": provenance["sources"]["maskpool.toml"]}
        provenance["artifacts"] = {}
        return fenced("json", json.dumps(report, indent=2, ensure_ascii=False).splitlines())

    def _idioms(self) -> AuditResult:
        """The audit of the theorems about idioms, which are built in a project of their own."""
        if self._audited is None:
            project = self._project.parent / "idioms"
            shutil.copytree(self._project, project)
            self._audited = idioms.build(project, WasmEngine())
        return self._audited

    def _lean(self, name: str) -> list[str]:
        return (self._project / "certificates" / _ONE / f"{name}.lean").read_text("utf-8").splitlines()

    def _excerpt(self, first: str, after: str, file: str = "symbolic") -> str:
        lines = self._lean(file)
        start = next(i for i, line in enumerate(lines) if line.startswith(first))
        end = next(i for i, line in enumerate(lines) if i > start and line.startswith(after))
        while not lines[end - 1]:
            end -= 1
        return fenced("lean", lines[start:end])

    def _properties(self) -> str:
        lines = self._lean("properties")
        start = next(i for i, line in enumerate(lines) if line.startswith("namespace"))
        end = next(i for i, line in enumerate(lines) if line.startswith("end "))
        return fenced("lean", lines[start + 2 : end - 1])


def _names(primitives: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(primitives)) + "\n"


def copy_project(target: Path) -> Path:
    """A copy of the project, with what is built, that may be changed."""
    target.mkdir(parents=True)
    for name in (*PROJECT_FILES, ".maskpool"):
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, target / name)
    return target
