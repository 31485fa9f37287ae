"""The wheel, and environments in which nothing of the checkout can be found."""

from __future__ import annotations

import shutil
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import ROOT, Elsewhere, quiet_run

SOURCES = (
    "MaskPool",
    "MaskPool.lean",
    "lakefile.lean",
    "lake-manifest.json",
    "lean-toolchain",
    "pipeline/maskpool_verify",
    "hatch_build.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources by way of the source distribution, as for a release."""
    copy = tmp_path_factory.mktemp("sources")
    for source in SOURCES:
        (copy / source).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, copy / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, copy / source)
    ended = quiet_run([sys.executable, "-m", "hatchling", "build", "-t", "sdist"], copy)
    assert ended.returncode == 0, ended.stderr
    (archive,) = (copy / "dist").glob("*.tar.gz")
    shutil.unpack_archive(archive, copy / "unpacked", filter="data")
    (unpacked,) = (copy / "unpacked").iterdir()
    ended = quiet_run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], unpacked)
    assert ended.returncode == 0, ended.stderr
    (built,) = (unpacked / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel; its dependencies are those of the tests."""
    home = tmp_path_factory.mktemp("Umgebung für Prüfungen") / "venv"
    venv.create(home, with_pip=True, symlinks=True)
    paths = {"base": str(home), "platbase": str(home)}
    site = Path(sysconfig.get_path("purelib", "venv", paths))
    # A path in a .pth file is searched after the environment's own, and editable installs in it do not count.
    dependencies = [path for path in sys.path if Path(path).name == "site-packages"]
    (site / "dependencies.pth").write_text("\n".join(dependencies) + "\n", "utf-8")
    programs = Path(sysconfig.get_path("scripts", "venv", paths))
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    ended = quiet_run([*pip, "--force-reinstall", str(wheel)], home)
    assert ended.returncode == 0, ended.stderr
    return programs


@pytest.fixture
def elsewhere(environment: Path, tmp_path: Path) -> Callable[[str], Elsewhere]:
    """Make an empty folder of that name to work in."""

    def make(name: str) -> Elsewhere:
        folder = tmp_path / name
        folder.mkdir()
        return Elsewhere(folder, environment)

    return make
