"""Where Lean builds: a directory with the Lean library and the certificates of a project side by side.

The repository of the library is such a directory itself, and says so in its manifest
(``library = "project"``). For any other project one is made in ``.maskpool/lean``, from the library that
came with this program and the certificates of the project; nothing else of the project gets into it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from maskpool_verify.errors import EnvironmentFault, ManifestError, StaleError
from maskpool_verify.files import disk_faults, write_whole
from maskpool_verify.lean.properties import ROOT
from maskpool_verify.manifest import Manifest

LIBRARY = "MaskPool"
"""The module that imports the whole library."""

LAKE_FILES = ("lakefile.lean", "lakefile.toml", "lake-manifest.json", "lean-toolchain")
"""What steers the build of official Lean."""

_PACKAGE = Path(__file__).parent
_BUILT = (".lake", ".maskpool")


def library() -> Path:
    """The directory with the library of this program: in the package, or the checkout that it runs from.

    Raises:
        EnvironmentFault: it is not there.
    """
    for directory in (_PACKAGE / "library", _PACKAGE.parents[1]):
        if (directory / f"{LIBRARY}.lean").is_file():
            return directory
    raise EnvironmentFault(
        f"The Lean library is not in {_PACKAGE / 'library'}; install maskpool-verify again with pip."
    )


@dataclass(frozen=True)
class Workspace:
    """``root`` is what an engine takes for its project; ``files`` are those that were copied to it."""

    root: Path
    files: dict[str, bytes] | None = None

    def require_unchanged(self) -> None:
        """What was built has to be what was copied.

        Raises:
            StaleError: a file is another one meanwhile.
        """
        for name, content in (self.files or {}).items():
            if _content(self.root / name) != content:
                raise StaleError(f"{self.root / name} has changed while Lean was at work; run check again.")


def directory(manifest: Manifest) -> Path:
    """Where the workspace of a project is, or will be."""
    return manifest.root if manifest.library == "project" else manifest.root / ".maskpool" / "lean"


def require_one_library(manifest: Manifest) -> None:
    """The library has to be where the manifest says, and no other one may lie in the project.

    Raises:
        EnvironmentFault: it is not there.
        ManifestError: the project has a library of its own that would not be used.
    """
    if manifest.library == "project":
        if not (manifest.root / f"{LIBRARY}.lean").is_file():
            raise EnvironmentFault(
                f"There is no {LIBRARY}.lean beside {manifest.path}; "
                'with library = "project" the manifest has to lie beside the Lean library.'
            )
        return
    library()
    with disk_faults("read", manifest.root):
        present = {entry.name for entry in manifest.root.iterdir()}  # exact, where a disk ignores case
    for name in (f"{LIBRARY}.lean", LIBRARY):
        if name in present:
            raise ManifestError(
                f"{manifest.root / name} would not be used, since the Lean library comes with "
                f'maskpool-verify; remove it, or write library = "project" into {manifest.path.name}.'
            )


def prepare(manifest: Manifest) -> Workspace:
    """Make the workspace of a project, or bring it up to date.

    Raises:
        EnvironmentFault: files cannot be read or written.
    """
    root = directory(manifest)
    if manifest.library == "project":
        return Workspace(root)
    files = _wanted(manifest)
    with disk_faults("write in", root):
        _mirror(root, files)
    return Workspace(root, files)


def _wanted(manifest: Manifest) -> dict[str, bytes]:
    """The files of the workspace."""
    source = library()
    files = [source / f"{LIBRARY}.lean", *sorted((source / LIBRARY).rglob("*.lean"))]
    files += [source / name for name in LAKE_FILES if (source / name).is_file()]
    with disk_faults("read the Lean library in", source):
        wanted = {file.relative_to(source).as_posix(): file.read_bytes() for file in files}
    with disk_faults("read the certificates in", manifest.root):
        for file in sorted((manifest.root / ROOT).rglob("*.lean")):
            wanted[file.relative_to(manifest.root).as_posix()] = file.read_bytes()
    return wanted


def _mirror(root: Path, files: dict[str, bytes]) -> None:
    """Make ``root`` hold exactly ``files``, beside what engines have built there."""
    for path in (root.parent, root):
        if path.is_symlink():
            raise EnvironmentFault(f"{path} is a symbolic link; remove it.")
    root.mkdir(parents=True, exist_ok=True)
    folders = {parent.as_posix() for name in files for parent in Path(name).parents}
    for path in list(_entries(root)):
        name = path.relative_to(root).as_posix()
        if path.is_symlink() or (path.is_file() and name not in files):
            path.unlink()
        elif path.is_dir() and name not in folders:
            shutil.rmtree(path)
    for name, content in files.items():
        target = root / name
        if _content(target) != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, content)


def _entries(root: Path) -> Iterator[Path]:
    """Everything below ``root`` but for what engines have built; links are not followed."""
    for folder, folders, files in os.walk(root):
        if Path(folder) == root:
            folders[:] = [name for name in folders if name not in _BUILT]
        yield from (Path(folder, name) for name in (*folders, *files))
        folders[:] = [name for name in folders if Path(folder, name).is_dir()]  # not the removed ones


def _content(file: Path) -> bytes | None:
    return None if file.is_symlink() or not file.is_file() else file.read_bytes()
