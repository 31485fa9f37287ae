"""What git knows of the files around a project: those of an earlier commit, and which differ from it now."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from maskpool_verify.errors import EnvironmentFault, UsageError

_PLAIN = ("100644", "100755")
"""The modes of files; links and submodules have others."""


@dataclass(frozen=True)
class Commit:
    """A commit, and the repository that it is of; ``top`` is the directory of its files, without links."""

    top: Path
    name: str

    @classmethod
    def merge_base(cls, directory: Path, revision: str) -> Commit:
        """The last commit that the checkout of ``directory`` has in common with ``revision``.

        Raises:
            UsageError: the directory is in no repository, or there is no such revision or common commit.
            EnvironmentFault: git is not installed.
        """
        inside = _git(directory, "rev-parse", "--show-toplevel")
        if inside is None:
            raise UsageError(
                f"{directory.resolve()} is in no repository that git trusts; see git status, or leave out "
                "--changed."
            )
        top = Path(os.fsdecode(inside.removesuffix(b"\n"))).resolve()
        commit = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if commit is None:
            raise UsageError(f'There is no revision "{revision}"; fetch it, or name a commit, branch or tag.')
        base = _git(top, "merge-base", "HEAD", commit.decode().strip())
        if base is None:
            raise UsageError(
                f'"{revision}" has no commit in common with HEAD; fetch more of the history, as with '
                "git fetch --unshallow."
            )
        return cls(top, base.decode().strip())

    def path(self, file: Path) -> str:
        """The name of a file in the repository. Its directory may be reached by links; it is not followed."""
        return (file.parent.resolve() / file.name).relative_to(self.top).as_posix()

    @cached_property
    def _blobs(self) -> Mapping[str, str]:
        """The names of the contents of all files, by their paths; empty for what is no plain file."""
        found: dict[str, str] = {}
        for entry in self._names("ls-tree", "-r", "-z", "--full-tree", self.name):
            facts, path = entry.split("\t", 1)
            mode, _, blob = facts.split()
            found[path] = blob if mode in _PLAIN else ""
        return found

    def content(self, path: str) -> bytes | None:
        """The content of a file in the commit; ``None`` if there is no such file."""
        blob = self._blobs.get(path)
        return _git(self.top, "cat-file", "blob", blob) if blob else None

    def differing(self, folder: Path) -> list[str]:
        """The paths of the files below ``folder`` that are not, byte for byte, those of the commit."""
        prefix = f"{self.path(folder)}/"
        then = {path: blob for path, blob in self._blobs.items() if path.startswith(prefix)}
        files = [Path(at, name) for at, _, names in os.walk(folder) for name in names]
        now = {self.path(file): _blob(file, len(self.name)) for file in files}
        return sorted(path for path in {*then, *now} if then.get(path) != now.get(path) or path not in then)

    def changed(self) -> tuple[str, ...]:
        """The paths that differ from the commit: committed, staged, modified, deleted or untracked.

        Files that git is told to take for unchanged are among them; those that it ignores are not.
        """
        options = (
            "--name-only",
            "--no-renames",
            "--no-relative",
            "--no-ext-diff",
            "--ignore-submodules=none",
        )
        found = {*self._names("diff", "-z", *options, self.name, "--")}
        found |= {*self._names("diff", "-z", "--cached", *options, self.name, "--")}
        found |= {*self._names("ls-files", "-z", "--others", "--exclude-standard")}
        for line in self._names("ls-files", "-z", "-v"):
            tag, path = line.split(" ", 1)
            unseen = tag.islower() or tag == "S"  # assume-unchanged, skip-worktree
            if unseen and os.path.lexists(self.top / path):
                found.add(path)
        return tuple(sorted(found))

    def _names(self, *command: str) -> list[str]:
        """What a command lists, separated by zero bytes."""
        listed = _git(self.top, *command)
        if listed is None:
            raise EnvironmentFault(f"git {command[0]} fails in {self.top}; repair the repository.")
        return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _blob(file: Path, length: int) -> str | None:
    """The name that git gives to the content of a file, of ``length`` digits; ``None`` for no plain file."""
    if file.is_symlink() or not file.is_file():
        return None
    content = file.read_bytes()
    header = f"blob {len(content)}\0".encode()
    return hashlib.new("sha1" if length == 40 else "sha256", header + content).hexdigest()


def _git(directory: Path, *arguments: str) -> bytes | None:
    """What git prints; ``None`` if it fails."""
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments]
    try:
        ended = subprocess.run(command, cwd=directory, capture_output=True, check=False)
    except FileNotFoundError:
        raise EnvironmentFault("git is not installed, and --changed asks it what has changed.") from None
    return ended.stdout if ended.returncode == 0 else None
