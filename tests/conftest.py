"""Fixtures shared by all tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from documentation import idioms
from maskpool_verify.audit import AuditResult
from maskpool_verify.engine.wasm import WasmEngine, default_cache, install
from maskpool_verify.files import exclusive

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def engine() -> WasmEngine:
    """The embedded Lean, installed if needed. A run costs 2.5 s: keep modules few and tiny."""
    install(default_cache())
    return WasmEngine()


@pytest.fixture(scope="session")
def built_project(engine: WasmEngine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the Lean library, the kernels, their certificates and the manifest, with everything built.

    Do not change it: copy it, or use ``project``. What the checkout itself has built is taken over; the
    engine compares it with the sources, and builds the rest in about 45 s.
    """
    project = tmp_path_factory.mktemp("built") / "project"
    with exclusive(ROOT / ".maskpool" / "build" / "wasm" / "lock"):
        for folder in ("MaskPool", "kernels", "certificates", ".maskpool"):
            shutil.copytree(
                ROOT / folder, project / folder, ignore=shutil.ignore_patterns("__pycache__", "new.*")
            )
    for file in ("MaskPool.lean", "maskpool.toml"):
        shutil.copy(ROOT / file, project)
    files = [path.relative_to(project) for path in sorted((project / "certificates").rglob("*.lean"))]
    results = engine.build(project, ["MaskPool", *(".".join(file.with_suffix("").parts) for file in files)])
    failed = [result for result in results.values() if result.status not in ("built", "cached")]
    assert not failed, failed
    return project


@pytest.fixture
def project(built_project: Path, tmp_path: Path) -> Path:
    """A built copy of the project, for one test to change; only what it changes is built again."""
    return shutil.copytree(built_project, tmp_path / "project")


@pytest.fixture(scope="session")
def idioms_project(built_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built copy of the library, in which the theorems about idioms are built."""
    return shutil.copytree(built_project, tmp_path_factory.mktemp("idioms") / "project")


@pytest.fixture(scope="session")
def audited_idioms(idioms_project: Path, engine: WasmEngine) -> AuditResult:
    """The theorems about idioms, built and audited, in half a minute."""
    return idioms.build(idioms_project, engine)
