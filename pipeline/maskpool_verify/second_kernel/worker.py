"""The child process: reads a request and modules from stdin, replays, and writes the answer to stdout.

It runs as ``python -m maskpool_verify.second_kernel.worker``, started by :mod:`.` with its limits set. A term
that is too deep for the native kernel ends it, without an answer.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from time import process_time
from typing import Final

from maskpool_verify.audit import World
from maskpool_verify.errors import AuditError
from maskpool_verify.olean import Name, parse_name
from maskpool_verify.second_kernel.abi import WHEEL, Installation, Lean, UnavailableError
from maskpool_verify.second_kernel.kernel import Kernel
from maskpool_verify.second_kernel.protocol import (
    SCHEMA,
    Answer,
    Handed,
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
    gc.disable()  # terms have no cycles, and there are millions of them
    sys.setswitchinterval(0.0002)  # seconds, that the kernel does not wait long for its next declaration
    request = Request.model_validate_json(sys.stdin.buffer.readline())
    answer = respond(request, map(Handed.model_validate_json, sys.stdin.buffer))
    with answers:
        answers.write(answer.model_dump_json())


def respond(request: Request, handed: Iterable[Handed]) -> Answer:
    """Start the native kernel and have it check the modules that are handed over."""
    installation = Installation(request.installation, request.wheel)
    threading.stack_size(1 << 20)  # else as large as the one of this thread
    with ThreadPoolExecutor(1) as pool:
        checksum = pool.submit(_sha256, installation.library)
        try:
            lean = Lean(installation)
            self_test(lean)
        except UnavailableError as error:
            result = SecondKernelResult(status="unavailable", why=str(error))
            return Answer(schema=SCHEMA, result=result, files={})
        world = World(request.own, request.library)
        replay = Replay(world, Kernel(lean), lambda module, name: _record(request.progress, module, name))
        refusal: Refusal | None = None
        try:
            _record(request.progress, "waiting", "")
            for each in handed:
                replay.add(map(parse_name, each.modules))
                _record(request.progress, "waiting", "")
            replay.finish()
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
        result = SecondKernelResult(
            status="accepted" if refusal is None else "refused",
            kernel=_identity(lean, installation, checksum),
            counts=replay.counts(),
            assumptions=replay.assumptions(),
            refusal=refusal,
            seconds=round(process_time(), 2),
            megabytes=_peak_megabytes(),
        )
        files = {str(m.name): m.digest for m in world.modules.values() if m.own}
        return Answer(schema=SCHEMA, result=result, files=files)


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
