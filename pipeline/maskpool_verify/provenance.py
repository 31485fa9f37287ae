"""What a report is about, byte for byte: checksums of what went into a check, and versions of what ran.

Inputs are the manifest, the kernels' files, every Lean source that was built, the accepted statements, and
the files of the engine. Compiled artifacts are recorded too, but not compared: Lean does not write the same
bytes at every run.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

import jax
from pydantic import BaseModel, ConfigDict

from maskpool_verify.errors import EnvironmentFault

PACKAGES = ("maskpool-verify", "jax", "jaxlib", "numpy")


class Provenance(BaseModel):
    """Versions by name; lower-case hexadecimal SHA-256 by path relative to the project, or by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    versions: dict[str, str]
    sources: dict[str, str]
    engine: dict[str, str]
    artifacts: dict[str, str]


def sha256(file: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        EnvironmentFault: it cannot be read.
    """
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise EnvironmentFault(f"{file} cannot be read: {error.strerror or error}.") from None


def checksums(root: Path, files: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 of those ``files`` that exist, by their paths relative to ``root``."""
    return {file.relative_to(root).as_posix(): sha256(file) for file in sorted(files) if file.is_file()}


def versions(lean: str) -> dict[str, str]:
    """The versions of everything that ran, Lean's as the engine gives it."""
    found = {"python": platform.python_version(), "lean": lean}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = jax.__version__ if package == "jax" else "not installed as a package"
    return found


def differences(then: Provenance, now: Provenance) -> list[str]:
    """How today's inputs differ from those of an earlier report, a sentence each."""
    found: list[str] = []
    for title, old, new in (
        ("version of", then.versions, now.versions),
        ("source", then.sources, now.sources),
        ("engine file", then.engine, now.engine),
    ):
        found += _compared(title, old, new)
    return found


def _compared(title: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for name in sorted({*old, *new}):
        match old.get(name), new.get(name):
            case None, _:
                found.append(f"{title} {name} is new")
            case _, None:
                found.append(f"{title} {name} is gone")
            case was, now if was != now:
                found.append(f"{title} {name} was {_short(was)} and is {_short(now)}")
    return found


def _short(value: str | None) -> str:
    value = str(value)
    return f"{value[:12]}…" if len(value) == 64 else value
