"""Child processes that never outlive the work they were started for."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn


@dataclass(frozen=True)
class Completed:
    """How a child process ended. ``status`` is negative for a signal, as in :mod:`subprocess`."""

    status: int
    stdout: str
    stderr: str
    timed_out: bool


class StoppedError(Exception):
    """The work was interrupted; no more processes are started."""


class Children:
    """Runs processes from several threads and can kill all of them at once."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Completed:
        """Run a command to its end, in its own process group, without input.

        Raises:
            OSError: it cannot be started.
            StoppedError: :meth:`kill` was called before it ended.
        """
        process = self._start(command, cwd, env, subprocess.DEVNULL, subprocess.PIPE)
        timed_out = False
        try:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                timed_out = True
                kill_group(process)
                out, err = process.communicate()
        except BaseException:
            kill_group(process)
            process.wait()
            raise
        finally:
            stopped = self._forget(process)
        if stopped:
            raise StoppedError
        return Completed(process.returncode, out, err, timed_out)

    def start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command that reads from a pipe, and writes output and errors to another.

        Raises:
            OSError: it cannot be started.
            StoppedError: :meth:`kill` was called.
        """
        return self._start(command, None, None, subprocess.PIPE, subprocess.STDOUT)

    def end(self, process: subprocess.Popen[str]) -> int:
        """Kill what :meth:`start` has returned, unless it has ended by itself, and return its status.

        Raises:
            StoppedError: :meth:`kill` was called.
        """
        end_group(process)
        if self._forget(process):
            raise StoppedError
        return process.returncode

    def _start(
        self,
        command: Sequence[str],
        cwd: Path | None,
        env: Mapping[str, str] | None,
        stdin: int,
        stderr: int,
    ) -> subprocess.Popen[str]:
        with self._lock:
            if self._stopped:
                raise StoppedError
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                encoding="utf-8",
                errors="replace",
                process_group=0,
            )
            self._running.add(process)
        return process

    def _forget(self, process: subprocess.Popen[str]) -> bool:
        """Whether :meth:`kill` was called while it ran."""
        with self._lock:
            self._running.discard(process)
            return self._stopped

    def kill(self) -> None:
        """Kill all processes and their descendants, and refuse to start another."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                kill_group(process)


def kill_group(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a group of its own, and all its descendants."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def end_group(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill a process and its descendants unless it has ended by itself, close its pipes, and wait for it."""
    if process.poll() is None:
        kill_group(process)
    with suppress(BrokenPipeError), process:
        pass


@contextmanager
def termination_raises() -> Iterator[None]:
    """Make SIGTERM and SIGHUP raise :class:`SystemExit`, as Ctrl-C raises, so that cleaning up runs.

    Does nothing outside of the main thread, or for a signal that the program handles already.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [s for s in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(s) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _exit)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
