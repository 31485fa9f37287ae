"""The child process: reads a request from stdin, replays, and writes the answer to stdout.

It runs as ``python -m maskpool_verify.second_kernel.worker``, started by :mod:`.` with its limits set. A term
that is too deep for the native kernel ends it, without an answer.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Final

from maskpool_verify.audit import World
from maskpool_verify.errors import AuditError
from maskpool_verify.olean import Name, parse_name
from maskpool_verify.second_kernel.abi import WHEEL, Installation, Lean, UnavailableError
from maskpool_verify.second_kernel.kernel import Kernel
from maskpool_verify.second_kernel.protocol import (
    SCHEMA,
    Answer,
    KernelIdentity,
    Refusal,
    Request,
    SecondKernelResult,
)
from maskpool_verify.second_kernel.replay import RefusedError, Replay
from maskpool_verify.second_kernel.selftest import self_test

PROGRESS_SIZE: Final = 4096
"""Bytes of a record of progress: two names, each ended by a line feed, then spaces."""


def main() -> None:
    """Answer the request on stdin."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the native library prints is no answer
    request = Request.model_validate_json(sys.stdin.buffer.read())
    result = respond(request)
    with answers:
        answers.write(Answer(schema=SCHEMA, result=result).model_dump_json())


def respond(request: Request) -> SecondKernelResult:
    """Start the native kernel and have it check the modules."""
    start = perf_counter()
    installation = Installation(request.installation, request.wheel)
    threading.stack_size(1 << 20)  # else as large as the one of this thread
    with ThreadPoolExecutor(1) as pool:
        checksum = pool.submit(_sha256, installation.library)
        try:
            lean = Lean(installation)
            self_test(lean)
        except UnavailableError as error:
            return SecondKernelResult(status="unavailable", why=str(error))
        replay: Replay | None = None
        refusal: Refusal | None = None
        try:
            _record(request.progress, "reading", "")
            world = World(request.own, request.library, map(parse_name, request.modules))
            replay = Replay(world, Kernel(lean), lambda module, name: _record(request.progress, module, name))
            replay.run()
        except RefusedError as error:
            refusal = Refusal(
                declaration=str(error.declaration),
                module=str(error.module),
                error=error.error,
                meaning=error.meaning,
            )
        except AuditError as error:
            meaning = "The compiled files cannot be replayed as they are."
            refusal = Refusal(declaration=None, module=None, error=str(error), meaning=meaning)
        return SecondKernelResult(
            status="accepted" if refusal is None else "refused",
            kernel=_identity(lean, installation, checksum),
            counts=replay.counts() if replay is not None else None,
            assumptions=replay.assumptions() if replay is not None else (),
            refusal=refusal,
            seconds=round(perf_counter() - start, 2),
            megabytes=_peak_megabytes(),
        )


def _identity(lean: Lean, installation: Installation, checksum: Future[str]) -> KernelIdentity:
    return KernelIdentity(
        name="native Lean",
        version=lean.version,
        githash=lean.githash,
        sha256=checksum.result(),
        wheel=f"{WHEEL} {installation.wheel}",
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record(descriptor: int, module: Name | str, name: Name | str) -> None:
    """Overwrite the record of what is being done; the parent reads it if this process dies."""
    text = f"{module}\n{name}\n".encode()[: PROGRESS_SIZE - 1]
    os.pwrite(descriptor, text.ljust(PROGRESS_SIZE), 0)


def _peak_megabytes() -> int | None:
    """The largest resident memory. Not from getrusage, which counts the parent's before the start."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(found[1]) // 1024 if found else None


if __name__ == "__main__":
    main()
