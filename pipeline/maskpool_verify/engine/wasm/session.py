"""Processes of the embedded Lean, each of which builds several modules, one after another.

Lean needs a second to start. A process is used again as long as its memory, which only grows, leaves room for
another module. What Lean declares is the same (a test compares).
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from maskpool_verify.engine.process import Children, Completed, StoppedError, kill_group
from maskpool_verify.engine.wasm.machine_code import MachineCode

CANNOT_START = 71
"""The exit status of ``lean.cjs`` when it cannot load Lean."""

_ROOM = 1_300_000_000
"""Bytes that a process may have in use and still be given another module. The embedded Lean has 2 GB."""

_PRACTICE = 4
"""How many modules a process has to have built for its machine code to be worth a look."""

_SAVING = 60.0
"""Seconds after which a process that has not saved its machine code is killed; it takes a tenth of one."""


@dataclass(frozen=True)
class Request:
    """A module to build: the working directory, and paths relative to it."""

    work: Path
    file: str
    olean: str
    ilean: str


@dataclass(frozen=True)
class _Answer:
    """What was printed, and the answer; its status is None if the process has ended instead."""

    output: str
    status: int | None = None
    memory: int = 0
    overdue: bool = False


class _Process:
    """One process, how many modules it was given, and how much memory it has in use."""

    def __init__(self, children: Children, command: Sequence[str], code: Sequence[str]) -> None:
        self._children = children
        self._process = children.start([*command, *code])
        self.has_code = bool(code)
        self.modules = 0
        self.memory = 0
        self.ended = False

    def build(self, request: Request, timeout: float) -> Completed:
        """Build a module; if there is no answer in ``timeout`` seconds, the process is killed."""
        self.modules += 1
        message = {
            "work": str(request.work),
            "file": request.file,
            "olean": request.olean,
            "ilean": request.ilean,
        }
        answer = self._ask(message, timeout)
        if answer.status is None:
            return Completed(self.end(), answer.output, "", answer.overdue)
        self.memory = answer.memory
        return Completed(answer.status, answer.output, "", False)

    def save_code(self, file: Path, least: int) -> bool:
        """Write the machine code of Lean to ``file``, if there are at least so many bytes of it."""
        return self._ask({"save": str(file), "from": least}, _SAVING).status == 0

    def _ask(self, message: Mapping[str, str | int], timeout: float) -> _Answer:
        """Ask, and wait; if there is no answer in ``timeout`` seconds, the process is killed."""
        token = secrets.token_hex(16)  # what a module prints while it is built cannot look like an answer
        overdue = threading.Event()

        def stop() -> None:
            overdue.set()
            kill_group(self._process)

        timer = threading.Timer(timeout, stop)
        timer.daemon = True
        timer.start()
        try:
            return self._answer(json.dumps({"token": token, **message}), token, overdue)
        finally:
            timer.cancel()

    def _answer(self, message: str, token: str, overdue: threading.Event) -> _Answer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(message + "\n")
            self._process.stdin.flush()
        output: list[str] = []
        for line in self._process.stdout:
            if line.startswith(token):
                status, memory = map(int, line.removeprefix(token).split())
                return _Answer("".join(output), status, memory)
            output.append(line)
        return _Answer("".join(output), overdue=overdue.is_set())

    def is_alive(self) -> bool:
        """Whether it has not ended by itself, or by somebody else."""
        return self._process.poll() is None

    def end(self) -> int:
        """Kill the process, unless it has ended; the status."""
        self.ended = True
        return self._children.end(self._process)


class Sessions:
    """The processes of one build; several threads may use them.

    Args:
        children: starts them, and can kill them.
        command: the command line of ``lean.cjs``.
        code: what it is to load, and where to keep what processes have translated.
    """

    def __init__(self, children: Children, command: Sequence[str], code: MachineCode) -> None:
        self._children = children
        self._command = command
        self._code = code
        self._idle: list[_Process] = []
        self._lock = threading.Lock()

    def build(self, request: Request, timeout: float) -> Completed:
        """Build a module, in a process that is free or else in a new one.

        A process that has built other modules has less memory left: if this module fails in it and may have
        run out of memory, or ends the process, a new process is given the module, so that no result depends
        on what was built before. So it is if it ends a process that has loaded machine code; no process loads
        that again.

        Raises:
            OSError: a process cannot be started.
            StoppedError: the children were killed.
        """
        process = self._take()
        fresh = process.modules == 0
        completed = process.build(request, timeout)
        by_code = process.ended and process.has_code
        full = not fresh and (process.ended or process.memory > _ROOM)
        if completed.status != 0 and (by_code or full) and not completed.timed_out:
            if not process.ended:
                process.end()
            if by_code:
                self._code.forget()
            process = self._start()
            completed = process.build(request, timeout)
        self._give_back(process)
        return completed

    def begin(self) -> None:
        """Start a process, so that Lean is ready when the first module is.

        Raises:
            OSError: it cannot be started.
        """
        process = self._start()
        with self._lock:
            self._idle.append(process)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            with suppress(StoppedError):
                self._end(process)

    def _start(self) -> _Process:
        return _Process(self._children, self._command, self._code.arguments())

    def _end(self, process: _Process) -> None:
        """End a process that waits for a module, and keep its machine code if there is more than before."""
        if process.modules >= _PRACTICE:
            with suppress(OSError):  # it only saves time
                self._code.renew(process.save_code)
        process.end()

    def _take(self) -> _Process:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.is_alive():
                    return process
                process.end()
        return self._start()

    def _give_back(self, process: _Process) -> None:
        if process.ended:
            return
        if process.memory > _ROOM:
            self._end(process)
            return
        with self._lock:
            self._idle.append(process)
