"""A small package and a small compiler in place of the real ones."""

from __future__ import annotations

import io
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from maskpool_verify.engine.wasm import WasmEngine, package
from maskpool_verify.engine.wasm.patch import Patched

HERE = Path(__file__).parent


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
