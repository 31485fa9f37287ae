"""Builds Lean modules with the official toolchain: ``lake build``, installed by elan."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from maskpool_verify.engine.modules import Source, read_sources
from maskpool_verify.engine.process import Children, Completed, termination_raises
from maskpool_verify.engine.protocol import Artifacts, EngineInfo, Message, ModuleResult, Position, Progress
from maskpool_verify.errors import EnvironmentFault
from maskpool_verify.files import disk_faults

LEAN_VERSION = "4.28.0"
TOOLCHAIN = f"leanprover/lean4:v{LEAN_VERSION}"

_LIBRARY_ROOTS = ("Init", "Std", "Lean", "Lake", "LakeMain", "Leanc")
_VERSION = re.compile(r"Lean \(version ([^,\s]+),.*?\bcommit ([0-9a-f]+)")
# "✖ [3/7] Building MaskPool.Pool (1.2s)": the job, and what became of it
_JOB = re.compile(
    r"(?:\S )?\[\d+/\d+\] (?:\(Optional\) )?(?P<verb>\w+) (?P<name>\S+)"
    r"(?: \((?P<time>[\d.]+)(?P<unit>ms|s)\))?$"
)
# "error: MaskPool/Pool.lean:12:4: message"
_LOCATED = re.compile(
    r"(?P<severity>error|warning|info): (?P<file>.+?\.lean):(?P<line>\d+):(?P<column>\d+):(?: (?P<text>.*))?$"
)
_ENTRY = re.compile(r"(?P<severity>error|warning|info|trace): (?P<text>.*)$")
# what elan, lake, git and curl say when there is no network, or the server does not have the file
_NO_DOWNLOAD = re.compile(
    r"could not download|error during download|failed to (?:fetch|clone|download)|could not resolve host"
    r"|external command '(?:git|curl)' exited",
    re.IGNORECASE,
)
_END = re.compile(r"Some required targets logged failures:|error: build failed$|Build completed successfully")
_SEVERITIES: Mapping[str, Literal["error", "warning", "information"]] = {
    "error": "error",
    "warning": "warning",
    "info": "information",
}


class LakeEngine:
    """The official Lean. The environment variables keep it to one version, and to artifacts in the project.

    Args:
        timeout: seconds after which ``lake`` is stopped.
        downloads: whether packages that a project requires may come with compiled files from their servers.
    """

    def __init__(self, *, timeout: float = 3600.0, downloads: bool = False) -> None:
        self._timeout = timeout
        self._environment = os.environ | {"ELAN_TOOLCHAIN": TOOLCHAIN, "LAKE_ARTIFACT_CACHE": "false"}
        if not downloads:
            self._environment["LAKE_NO_CACHE"] = "1"

    def with_downloads(self) -> LakeEngine:
        """The same, for a package that requires others."""
        return LakeEngine(timeout=self._timeout, downloads=True)

    @property
    def name(self) -> Literal["lake"]:
        """The name by which ``--engine`` selects it."""
        return "lake"

    def info(self) -> EngineInfo:
        """Describe the official Lean.

        Raises:
            EnvironmentFault: it is not installed, or has another version.
        """
        self._require_installed()
        ended = self._run("lean", "--version")
        _require_downloads(ended, TOOLCHAIN)
        found = _VERSION.search(ended.stdout)
        if ended.status != 0 or found is None:
            raise EnvironmentFault(
                f"`lean --version` gives no version; run `elan toolchain install {TOOLCHAIN}`."
            )
        if found[1] != LEAN_VERSION:
            raise EnvironmentFault(
                f"Lean on PATH is {found[1]}, but this project is for {LEAN_VERSION}; "
                f"run `elan toolchain install {TOOLCHAIN}`."
            )
        return EngineInfo(
            name="lake", lean_version=found[1], githash=found[2], source=f"toolchain {TOOLCHAIN}"
        )

    def session(
        self, project: Path, modules: Sequence[str], *, fresh: bool = False
    ) -> AbstractContextManager[None]:
        """Share nothing: Lake starts fast. See :meth:`Engine.session`."""
        del project, modules, fresh
        return nullcontext()

    def artifacts(self, project: Path) -> Artifacts:
        """Where the compiled artifacts of this project are."""
        ended = self._run("lean", "--print-prefix")
        library = Path(ended.stdout.strip()) / "lib" / "lean"
        if ended.status != 0 or not (library / "Init.olean").is_file():
            raise EnvironmentFault(
                f"Lean's library is not in {library}; run `elan toolchain install {TOOLCHAIN}`."
            )
        return Artifacts(own=_own_artifacts(project), library=(library,))

    def fetch_mathlib(self, project: Path) -> None:
        """Download the packages that ``project`` requires, mathlib among them, and what mathlib has compiled.

        Without its cache, mathlib would be built here, which takes hours.

        Raises:
            EnvironmentFault: Lean is not installed, or a download fails.
        """
        self.info()
        with termination_raises():
            ended = self._run("lake", "exe", "cache", "get", cwd=project)
        _require_downloads(ended, f"mathlib for {project}")
        if ended.status != 0 or ended.timed_out:
            raise EnvironmentFault(f"`lake exe cache get` failed in {project}: {_last_line(ended)}.")

    def dependencies(self, project: Path) -> tuple[Path, ...]:
        """Where the compiled artifacts of the packages lie that ``project`` requires.

        Raises:
            EnvironmentFault: lake does not say so.
        """
        ended = self._run("lake", "env", "printenv", "LEAN_PATH", cwd=project)
        if ended.status != 0:
            raise EnvironmentFault(f"`lake env` failed in {project}: {_last_line(ended)}.")
        found = (project / entry for entry in ended.stdout.strip().split(os.pathsep) if entry)
        own = _own_artifacts(project).resolve()
        return tuple(path for path in map(Path.resolve, found) if path.is_dir() and path != own)

    def build(
        self,
        project: Path,
        modules: Sequence[str],
        *,
        fresh: bool = False,
        seconds: Callable[[str], float] = lambda _: math.inf,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> dict[str, ModuleResult]:
        """Build ``modules`` and the project modules they import; see :meth:`Engine.build`.

        ``lake`` reports at its end, so ``progress`` is told of all modules then.

        Raises:
            EnvironmentFault: Lean is missing, has another version, or ``lake`` fails for another reason
                than an error in a module.
            MaskpoolError: an import cycle, or a module without a source.
        """
        project = project.absolute()
        _require_toolchain_file(project)
        sources = read_sources(project, modules, _LIBRARY_ROOTS)
        with disk_faults("build in", project), termination_raises():
            self.info()
            if fresh:
                _remove_artifacts(project, sources)
            ended = self._run("lake", "build", "--no-ansi", "-v", *modules, cwd=project)
        if ended.timed_out:
            raise EnvironmentFault(
                f"lake was stopped after {self._timeout:g} s in {project}; allow more time."
            )
        results = _results(project, sources, ended)
        with disk_faults("remove artifacts in", project):  # older ones, which no longer fit their sources
            _remove_artifacts(project, [m for m, r in results.items() if r.status in ("failed", "skipped")])
        for done, result in enumerate(results.values(), 1):
            progress(Progress(module=result.module, result=result, done=done, total=len(results)))
        return results

    @staticmethod
    def is_on_path() -> bool:
        """Whether there is any lake to ask."""
        return shutil.which("lake") is not None and shutil.which("lean") is not None

    def _require_installed(self) -> None:
        """Ask elan first, as running a Lean it lacks would download it."""
        if not self.is_on_path():
            raise EnvironmentFault("Found no lake and lean on PATH; install elan, or use `--engine wasm`.")
        if shutil.which("elan") is None:
            return
        installed = self._run("elan", "toolchain", "list").stdout
        if TOOLCHAIN not in installed.split():
            raise EnvironmentFault(f"elan has no {TOOLCHAIN}; run `elan toolchain install {TOOLCHAIN}`.")

    def _run(self, *command: str, cwd: Path | None = None) -> Completed:
        try:
            return Children().run(command, cwd=cwd, env=self._environment, timeout=self._timeout)
        except OSError as error:
            raise EnvironmentFault(f"Cannot run {command[0]}: {error.strerror or error}.") from error


def _require_downloads(ended: Completed, what: str) -> None:
    """Refuse a command that ended because it could not download something."""
    lines = [line.strip() for line in (ended.stdout + "\n" + ended.stderr).splitlines()]
    failed = [line for line in lines if _NO_DOWNLOAD.search(line)]
    if ended.status != 0 and failed:
        raise EnvironmentFault(
            f"{what} cannot be downloaded ({failed[0].rstrip('.')}); check the network and try again, "
            "or use `--engine wasm`."
        )


def _last_line(ended: Completed) -> str:
    lines = [line.strip() for line in (ended.stdout + "\n" + ended.stderr).splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else f"status {ended.status}"


def _require_toolchain_file(project: Path) -> None:
    file = project / "lean-toolchain"
    try:
        found = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentFault(f"Cannot read {file}; it must contain {TOOLCHAIN}.") from error
    if found != TOOLCHAIN:
        raise EnvironmentFault(f"{file} asks for {found!r}, but this program is for {TOOLCHAIN}.")


def _own_artifacts(project: Path) -> Path:
    return project.absolute() / ".lake" / "build" / "lib" / "lean"


def _remove_artifacts(project: Path, modules: Iterable[str]) -> None:
    for module in modules:
        *folders, last = module.split(".")
        for file in _own_artifacts(project).joinpath(*folders).glob(f"{last}.*"):
            if not file.is_dir():
                file.unlink()


# ---------------------------------------------------------------- output of lake


@dataclass
class _Job:
    """What lake printed for one module."""

    verb: str
    seconds: float
    messages: list[Message] = field(default_factory=list)


def _results(project: Path, sources: Mapping[str, Source], ended: Completed) -> dict[str, ModuleResult]:
    """What became of each module. A module that has no artifact has failed, whatever lake says."""
    jobs, general = _read_output(ended.stdout + "\n" + ended.stderr, sources)
    if ended.status != 0 and not any(_has_error(job.messages) for job in jobs.values()):
        _require_downloads(ended, f"what {project} requires")
        reason = general or "no reason given"
        raise EnvironmentFault(f"`lake build` failed in {project} with status {ended.status}: {reason}.")
    results: dict[str, ModuleResult] = {}
    for module, source in sources.items():
        job = jobs.get(module, _Job("", 0.0))
        messages = job.messages
        failed_imports = [m for m in source.imports if results[m].status in ("failed", "skipped")]
        status: Literal["built", "cached", "failed", "skipped"] = "built" if job.verb == "Built" else "cached"
        if _has_error(messages):
            status = "failed"
        elif failed_imports:
            status = "skipped"
            text = f"not built, because {', '.join(failed_imports)} failed"
            messages = [Message(severity="information", file=source.file, position=None, text=text)]
        elif not _own_artifacts(project).joinpath(source.file).with_suffix(".olean").is_file():
            status = "failed"
            text = (
                f"lake wrote no artifact of {module}: {general or 'is it part of a library in the lakefile?'}"
            )
            messages = [*messages, Message(severity="error", file=source.file, position=None, text=text)]
        results[module] = ModuleResult(
            module=module, status=status, seconds=job.seconds, messages=tuple(messages)
        )
    return results


def _has_error(messages: Iterable[Message]) -> bool:
    return any(m.severity == "error" for m in messages)


def _read_output(output: str, sources: Mapping[str, Source]) -> tuple[dict[str, _Job], str]:
    """Return the jobs of the project's modules, and the errors that belong to none of them."""
    files = {source.file: module for module, source in sources.items()}
    jobs: dict[str, _Job] = {}
    general: list[str] = []
    current: str | None = None  # the module whose job is being reported
    lines: list[str] = []  # of the last message
    found: list[tuple[str, Message, list[str]]] = []

    for line in output.splitlines():
        if job := _JOB.match(line):
            lines = []
            name = job["name"].removesuffix(":leanArts")
            current = name if name in sources else None
            if current:
                jobs[current] = _Job(job["verb"], _seconds(job))
        elif _END.match(line):
            current, lines = None, []
        elif (located := _LOCATED.match(line)) and (file := re.sub(r"^(\./)+", "", located["file"])) in files:
            lines = [located["text"] or ""]
            position = Position(line=int(located["line"]), column=int(located["column"]))
            severity = _SEVERITIES[located["severity"]]
            found.append(
                (files[file], Message(severity=severity, file=file, position=position, text=""), lines)
            )
        elif entry := _ENTRY.match(line):
            lines = [entry["text"]]
            if entry["severity"] == "trace":
                continue
            if current:
                severity = _SEVERITIES[entry["severity"]]
                file = sources[current].file
                found.append((current, Message(severity=severity, file=file, position=None, text=""), lines))
            elif entry["severity"] == "error":
                general.append(entry["text"])
        else:
            lines.append(line)
    for module, message, text in found:
        owner = jobs.setdefault(module, _Job("Building", 0.0))
        owner.messages.append(message.model_copy(update={"text": "\n".join(text).rstrip()}))
    for owner in jobs.values():
        if any(m.severity == "error" and m.position for m in owner.messages):
            # "Lean exited with code 1" only says again that there were errors.
            owner.messages = [m for m in owner.messages if m.position or m.severity != "error"]
    return jobs, "; ".join(general)


def _seconds(job: re.Match[str]) -> float:
    if job["time"] is None:
        return 0.0
    return float(job["time"]) / (1000 if job["unit"] == "ms" else 1)
