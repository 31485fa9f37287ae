"""A project in which the tests of this folder build modules of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def lean_project(built_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built copy of the library; every test adds modules with names of its own."""
    return shutil.copytree(built_project, tmp_path_factory.mktemp("lean") / "project")
