"""A small package and a small compiler in place of the real ones, and a stand-in for native Lean."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import stand_in

from maskpool_verify.engine import lake
from maskpool_verify.engine.lake import LakeEngine
from maskpool_verify.engine.select import choose
from maskpool_verify.engine.wasm import WasmEngine, package
from maskpool_verify.engine.wasm.package import LEAN_VERSION
from maskpool_verify.engine.wasm.patch import Patched

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
LAKE_FILES = ("lakefile.lean", "lake-manifest.json", "lean-toolchain")


def _tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture
def tarball(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the right shape, which the installer takes for the right one."""
    library = _tar({"Init.olean": b"init", "Init/Core.olean": b"core", "._Init.olean": b"junk"})
    file = tmp_path / "fake.tgz"
    file.write_bytes(
        _tar(
            {
                "package/lean-lib.tar.gz": library,
                "package/lean.js": b"glue",
                "package/lean.wasm": b"wasm" * 100,
            }
        )
    )
    monkeypatch.setattr(package, "INTEGRITY", package._integrity(file))
    monkeypatch.setattr(package, "patch", lambda wasm, glue: Patched(wasm, glue, b"symbols"))
    return file


@pytest.fixture
def npm(tarball: Path, tmp_path: Path) -> Callable[[str], list[str]]:
    """An npm client that behaves as told; its runs are the lines of ``npm.log``."""
    return lambda mode: [
        sys.executable,
        str(HERE / "fake_npm.py"),
        mode,
        str(tarball),
        str(tmp_path / "npm.log"),
    ]


@pytest.fixture
def fake_engine(
    tmp_path: Path, npm: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., WasmEngine]:
    """Make a WasmEngine whose Lean is ``fake_lean.py``; its runs are the lines of ``lean.log``."""
    cache = tmp_path / "cache"
    package.install(cache, npm=npm("ok"))
    (tmp_path / "lean.log").touch()
    monkeypatch.setenv("FAKE_LEAN_LOG", str(tmp_path / "lean.log"))
    return lambda **options: WasmEngine(cache, node=[sys.executable, str(HERE / "fake_lean.py")], **options)


# -- native Lean


@pytest.fixture
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LakeEngine:
    """The driver of native Lean, with the stand-in on PATH. Only the version is that of the embedded Lean."""
    stand_in.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "pipeline"))
    monkeypatch.setattr(lake, "LEAN_VERSION", LEAN_VERSION)
    engine = choose("lake")
    assert isinstance(engine, LakeEngine)
    return engine


@pytest.fixture
def lake_project(project: Path) -> Path:
    """A built copy of the project that is a Lake package too."""
    for file in LAKE_FILES:
        shutil.copy(ROOT / file, project)
    return project
