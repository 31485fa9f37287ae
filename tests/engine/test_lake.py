"""The driver of the official toolchain, with small scripts in place of elan, lake and lean.

The texts are those that Lake 5 (Lean 4.28) prints without a terminal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from maskpool_verify.engine.lake import TOOLCHAIN, LakeEngine
from maskpool_verify.engine.protocol import EngineInfo, Message, Position
from maskpool_verify.engine.select import choose
from maskpool_verify.errors import EnvironmentFault

VERSION = "Lean (version 4.28.0, x86_64-unknown-linux-gnu, commit 7d01a1bf6a5b, Release)"

Toolchain = Callable[..., LakeEngine]


@pytest.fixture
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    """Put scripts on PATH: what lake prints, its status, and the modules it writes artifacts for."""
    programs = tmp_path / "bin"
    programs.mkdir()
    prefix = tmp_path / "toolchain"
    (prefix / "lib" / "lean").mkdir(parents=True)
    (prefix / "lib" / "lean" / "Init.olean").touch()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def script(name: str, text: str) -> None:
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)

    def make(
        output: str = "",
        status: int = 0,
        writes: str = "",
        version: str = VERSION,
        installed: str = TOOLCHAIN,
    ) -> LakeEngine:
        (tmp_path / "output").write_text(output)
        script("elan", f"echo '{installed} (default)'")
        script("lean", f"[ $1 = --print-prefix ] && echo '{prefix}' || echo '{version}'")
        script(
            "lake",
            f"echo \"$@\" '|' $ELAN_TOOLCHAIN ${{LAKE_NO_CACHE:-0}} >> '{tmp_path}/lake.log'\n"
            "own=.lake/build/lib/lean\n"
            f"for m in {writes}; do mkdir -p $own/$(dirname $m); touch $own/$m.olean; done\n"
            f"cat '{tmp_path}/output'; exit {status}",
        )
        return LakeEngine()

    return make


@pytest.fixture
def project(tmp_path: Path) -> Path:
    top = tmp_path / "project"
    (top / "P").mkdir(parents=True)
    (top / "lean-toolchain").write_text(TOOLCHAIN + "\n")
    (top / "A.lean").write_text("module\n")
    (top / "P" / "B.lean").write_text("module\nimport A\n")
    (top / "C.lean").write_text("module\nimport P.B\n")
    return top


def test_built_and_cached(toolchain: Toolchain, project: Path, tmp_path: Path) -> None:
    output = """\
⚠ [2/4] Replayed A
warning: A.lean:3:8: declaration uses `sorry`
✔ [3/4] Built P.B (1.5s)
ℹ [4/4] Built C (250ms)
info: ././C.lean:4:0: two lines:
  second line
Build completed successfully (4 jobs).
"""
    results = toolchain(output, writes="A P/B C").build(project, ["C"])
    assert {m: (r.status, r.seconds) for m, r in results.items()} == {
        "A": ("cached", 0.0),
        "P.B": ("built", 1.5),
        "C": ("built", 0.25),
    }
    assert results["A"].messages == (
        Message(
            severity="warning",
            file="A.lean",
            position=Position(line=3, column=8),
            text="declaration uses `sorry`",
        ),
    )
    assert results["C"].messages == (
        Message(
            severity="information",
            file="C.lean",
            position=Position(line=4, column=0),
            text="two lines:\n  second line",
        ),
    )
    assert (tmp_path / "lake.log").read_text() == f"build --no-ansi -v C | {TOOLCHAIN} 1\n"


FAILURE = """\
✔ [2/4] Built A (1.0s)
✖ [3/4] Building P.B (1.2s)
trace: .> LEAN_PATH=x lean P/B.lean -o B.olean
error: P/B.lean:12:4: unsolved goals
x : Nat
⊢ False
error: P/B.lean:13:0: another: one
error: Lean exited with code 1
Some required targets logged failures:
- P.B
error: build failed
"""


def test_failed_and_skipped_modules_lose_their_artifacts(toolchain: Toolchain, project: Path) -> None:
    results = toolchain(FAILURE, status=1, writes="A P/B C").build(project, ["C"])
    assert {m: r.status for m, r in results.items()} == {"A": "built", "P.B": "failed", "C": "skipped"}
    assert [(m.position, m.text) for m in results["P.B"].messages] == [
        (Position(line=12, column=4), "unsolved goals\nx : Nat\n⊢ False"),
        (Position(line=13, column=0), "another: one"),
    ]
    own = project / ".lake/build/lib/lean"
    assert [f.relative_to(own).as_posix() for f in own.rglob("*.olean")] == ["A.olean"]


def test_a_crash_of_lean_is_an_error_without_position(toolchain: Toolchain, project: Path) -> None:
    output = "✖ [2/2] Building A (1.2s)\nerror: Lean exited with code 139\nerror: build failed\n"
    (message,) = toolchain(output, status=1).build(project, ["A"])["A"].messages
    assert (message.severity, message.position, message.text) == ("error", None, "Lean exited with code 139")


def test_success_without_artifact_is_a_failure(toolchain: Toolchain, project: Path) -> None:
    results = toolchain("Build completed successfully (1 jobs).\n", writes="A").build(project, ["P.B"])
    assert {m: r.status for m, r in results.items()} == {"A": "cached", "P.B": "failed"}


def test_failure_outside_of_modules(toolchain: Toolchain, project: Path) -> None:
    with pytest.raises(EnvironmentFault, match="status 1: unknown target `A`"):
        toolchain("error: unknown target `A`\n", status=1).build(project, ["A"])


def test_fresh_removes_artifacts_first(toolchain: Toolchain, project: Path) -> None:
    toolchain("", writes="A").build(project, ["A"])
    assert toolchain("").build(project, ["A"], fresh=True)["A"].status == "failed"


def test_packages_with_requirements(toolchain: Toolchain, project: Path, tmp_path: Path) -> None:
    """mathlib comes compiled; where the required packages lie, lake says."""
    library = project / ".lake" / "packages" / "mathlib" / ".lake" / "build" / "lib" / "lean"
    library.mkdir(parents=True)
    own, absent = ".lake/build/lib/lean", ".lake/packages/gone"
    engine = toolchain(f"{library.relative_to(project)}:{own}:{absent}\n", writes="A").with_downloads()
    engine.fetch_mathlib(project)
    assert engine.dependencies(project) == (library,)
    assert (tmp_path / "lake.log").read_text().splitlines() == [
        f"exe cache get | {TOOLCHAIN} 0",
        f"env printenv LEAN_PATH | {TOOLCHAIN} 0",
    ]


def test_mathlib_that_cannot_be_fetched(toolchain: Toolchain, project: Path) -> None:
    with pytest.raises(EnvironmentFault, match=r"`lake exe cache get` failed in .*: error: unknown"):
        toolchain("error: unknown executable cache\n", status=1).fetch_mathlib(project)


def test_info_and_artifacts(toolchain: Toolchain, project: Path, tmp_path: Path) -> None:
    engine = toolchain()
    assert engine.info() == EngineInfo(
        name="lake", lean_version="4.28.0", githash="7d01a1bf6a5b", source=f"toolchain {TOOLCHAIN}"
    )
    artifacts = engine.artifacts(project)
    assert artifacts.own == project / ".lake/build/lib/lean"
    assert artifacts.library == (tmp_path / "toolchain/lib/lean",)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"version": VERSION.replace("4.28.0", "4.27.0")}, "is 4.27.0, but this project is for 4.28.0"),
        ({"version": "hello"}, "gives no version"),
        ({"installed": "leanprover/lean4:v4.27.0"}, "elan toolchain install"),
    ],
)
def test_wrong_toolchain(toolchain: Toolchain, options: dict[str, str], what: str) -> None:
    with pytest.raises(EnvironmentFault, match=what):
        toolchain(**options).info()
    with pytest.raises(EnvironmentFault, match=what):
        choose("lake")
    said: list[str] = []
    assert choose("auto", said.append).name == "wasm"
    (sentence,) = said
    assert sentence.startswith("engine: wasm, the embedded Lean, and not lake: ")
    assert re.search(what, sentence)


@pytest.mark.parametrize(
    "output",
    [
        "info: downloading component 'lean'\nerror: could not download file from 'x' to 'y'\n",
        "error: error during download\ninfo: caused by: [6] Could not resolve hostname\n",
        "info: mathlib: cloning x\nerror: external command 'git' exited with code 128\n",
    ],
)
def test_a_failing_download(toolchain: Toolchain, project: Path, output: str) -> None:
    with pytest.raises(
        EnvironmentFault, match=r"cannot be downloaded \(.*\); check the network and try again"
    ):
        toolchain(output, status=1).build(project, ["A"])


def test_an_error_in_a_module_is_no_failing_download(toolchain: Toolchain, project: Path) -> None:
    output = FAILURE.replace("unsolved goals", "failed to fetch the goal")
    assert toolchain(output, status=1, writes="A").build(project, ["C"])["P.B"].status == "failed"


def test_wrong_toolchain_file(toolchain: Toolchain, project: Path) -> None:
    (project / "lean-toolchain").write_text("leanprover/lean4:v4.27.0\n")
    with pytest.raises(EnvironmentFault, match=r"asks for 'leanprover/lean4:v4\.27\.0'"):
        toolchain().build(project, ["A"])


def test_choose(toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toolchain()
    said: list[str] = []
    assert [choose(name, said.append).name for name in ("auto", "lake", "wasm")] == ["lake", "lake", "wasm"]
    assert said == ["engine: lake, the native Lean 4.28.0"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert choose("auto", said.append).name == "wasm"
    assert len(said) == 1, "without a lake there was no choice"
    with pytest.raises(EnvironmentFault, match="no lake"):
        choose("lake")
