"""Seconds and peak memory of a process with all its descendants."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchmarks.results import MeasurementError

_UNIT_OF_MAXRSS = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Usage:
    """``peak_mb`` is the peak of the largest process among the command and its descendants, in 10⁶ bytes."""

    stdout: str
    seconds: float
    peak_mb: float


def run(command: Sequence[str], cwd: Path) -> Usage:
    """Run a command to its end.

    Raises:
        MeasurementError: it does not end with status 0, or its memory cannot be told from ours.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err, process_group=0
        )
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output, errors = (_text(file) for file in (out, err))
    if process.returncode != 0:
        last = (errors or output).strip().splitlines()[-1:] or ["it printed nothing"]
        raise MeasurementError(f"`{' '.join(command)}` ended with status {process.returncode}: {last[0]}")
    # The peak of a process begins at that of the process that started it.
    if used.ru_maxrss <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
        raise MeasurementError(f"`{' '.join(command)}` uses less memory than this program; use --only.")
    return Usage(output, seconds, used.ru_maxrss * _UNIT_OF_MAXRSS / 1e6)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
