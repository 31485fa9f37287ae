"""The command line as a user meets it: arguments in; exit code, stdout and stderr out."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from maskpool_verify.main import main

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """What stderr holds if it is one line by this program, without the program's name."""
        (line,) = self.err.splitlines()
        return line.removeprefix("maskpool-verify: ")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command line in this process, in the directory ``cwd``."""

    def call(cwd: Path, *arguments: str) -> Outcome:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["maskpool-verify", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Outcome(ended.value.code, captured.out, captured.err)

    return call


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command line as a process, in a session of its own, which Ctrl-C would reach as a whole."""
    with ExitStack() as started:

        def call(cwd: Path, *arguments: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-m", "maskpool_verify.main", *arguments],
                cwd=cwd,
                env=os.environ | {"PYTHONPATH": str(ROOT / "pipeline")},
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            started.enter_context(process)
            started.callback(process.kill)  # before waiting for it, if a test has failed
            return process

        yield call


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A project with kernels and certificates, where nothing is built."""
    project = tmp_path / "checkout"
    for folder in ("kernels", "certificates"):
        shutil.copytree(ROOT / folder, project / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("MaskPool.lean", "maskpool.toml"):
        shutil.copy(ROOT / file, project)
    return project


@pytest.fixture
def contents() -> Callable[[Path], dict[str, str]]:
    """The files of a project with their checksums, but for what is built in ``.maskpool``."""
    return lambda project: {
        file.relative_to(project).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(project.rglob("*"))
        if file.is_file() and ".maskpool" not in file.parts
    }
