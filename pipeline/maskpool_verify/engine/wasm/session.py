"""Processes of the embedded Lean, each of which builds several modules, one after another.

Lean needs 1.5 s to start. A process is used again as long as its memory, which only grows, leaves room for
another module. What Lean declares is the same (a test compares).
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from maskpool_verify.engine.process import Children, Completed, kill_group

CANNOT_START = 71
"""The exit status of ``lean.cjs`` when it cannot load Lean."""

_ROOM = 1_000_000_000
"""Bytes that a process may have in use and still be given another module. The embedded Lean has 2 GB."""


@dataclass(frozen=True)
class Request:
    """A module to build: the working directory, and paths relative to it."""

    work: Path
    file: str
    olean: str
    ilean: str


class _Process:
    """One process, and how much memory it has in use."""

    def __init__(self, children: Children, command: Sequence[str]) -> None:
        self._children = children
        self._process = children.start(command)
        self.used = False
        self.memory = 0
        self.ended = False

    def build(self, request: Request, timeout: float) -> Completed:
        """Build a module; if there is no answer in ``timeout`` seconds, the process is killed."""
        self.used = True
        token = secrets.token_hex(16)  # what a module prints while it is built cannot look like an answer
        message = {
            "token": token,
            "work": str(request.work),
            "file": request.file,
            "olean": request.olean,
            "ilean": request.ilean,
        }
        overdue = threading.Event()

        def stop() -> None:
            overdue.set()
            kill_group(self._process)

        timer = threading.Timer(timeout, stop)
        timer.daemon = True
        timer.start()
        try:
            output, answer = self._ask(json.dumps(message), token)
        finally:
            timer.cancel()
        if answer is None:
            status = self.end()
            return Completed(status, "".join(output), "", overdue.is_set())
        status, self.memory = map(int, answer.split())
        return Completed(status, "".join(output), "", False)

    def _ask(self, message: str, token: str) -> tuple[list[str], str | None]:
        """What was printed, and what followed the token; None if the process has ended instead."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(message + "\n")
            self._process.stdin.flush()
        output: list[str] = []
        for line in self._process.stdout:
            if line.startswith(token):
                return output, line.removeprefix(token)
            output.append(line)
        return output, None

    def end(self) -> int:
        """Kill the process, unless it has ended; the status."""
        self.ended = True
        return self._children.end(self._process)


class Sessions:
    """The processes of one build; several threads may use them.

    Args:
        children: starts them, and can kill them.
        command: the command line of ``lean.cjs``.
    """

    def __init__(self, children: Children, command: Sequence[str]) -> None:
        self._children = children
        self._command = command
        self._idle: list[_Process] = []
        self._lock = threading.Lock()

    def build(self, request: Request, timeout: float) -> Completed:
        """Build a module, in a process that is free or else in a new one.

        A process that has built other modules has less memory left: if this module fails in it and may have
        run out of memory, or ends the process, a new process is given the module, so that no result depends
        on what was built before.

        Raises:
            OSError: a process cannot be started.
            StoppedError: the children were killed.
        """
        process = self._take()
        fresh = not process.used
        completed = process.build(request, timeout)
        doubtful = completed.status != 0 and (process.ended or process.memory > _ROOM)
        if doubtful and not fresh and not completed.timed_out:
            if not process.ended:
                process.end()
            process = _Process(self._children, self._command)
            completed = process.build(request, timeout)
        self._give_back(process)
        return completed

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def _take(self) -> _Process:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Process(self._children, self._command)

    def _give_back(self, process: _Process) -> None:
        if process.ended:
            return
        if process.memory > _ROOM:
            process.end()
            return
        with self._lock:
            self._idle.append(process)
