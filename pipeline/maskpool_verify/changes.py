"""Which kernels need another check since a commit that passed one.

The verdict on a kernel is a function of its table in the manifest, its traces, its certificates, the accepted
statements, the Lean library, and the versions of the tools. So a kernel has not changed if

* its table, its certificates and its accepted statements are those of the commit, byte for byte,
* tracing it *now* gives what the certificates say, whatever has become of the Python files that it imports
  and of the data that these read, and
* no other file has changed, but for those that cannot do more than change a trace, and for documentation.

Whatever is not known to be harmless counts as a change of every kernel.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from maskpool_verify import certificates, lock
from maskpool_verify.errors import MaskpoolError
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.git import Commit
from maskpool_verify.lean.properties import ROOT
from maskpool_verify.manifest import Kernel, Manifest, load_manifest

_HARMLESS = (".py", ".pyi", ".ipynb", ".md", ".rst", ".png", ".svg")
"""Files that can do no more than change a trace, and those for people.

Any other, such as requirements.txt, pyproject.toml or a workflow, may choose the versions of JAX, of this
program or of Lean.
"""
_BUILD_SCRIPTS = ("setup.py", "noxfile.py")
_PROGRAM = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Change:
    """A kernel that needs another check, and why: a phrase such as "its certificates have changed"."""

    kernel: Kernel
    reason: str


def changed(manifest: Manifest, kernels: Sequence[Kernel], commit: Commit) -> tuple[Change, ...]:
    """Those of ``kernels`` whose verdict can be another one than at ``commit``, in their order.

    Raises:
        EnvironmentFault: git fails.
    """
    both = _comparable(manifest, commit)
    if isinstance(both, str):
        return tuple(Change(kernel, both) for kernel in kernels)
    old = {kernel.name: kernel for kernel in both.kernels}
    found: list[Change] = []
    for kernel in kernels:
        why: str | None = None
        if old.get(kernel.name) != kernel:
            why = f"its table in {manifest.path.name} has changed"
        elif commit.differing(manifest.root / ROOT / kernel.name):
            why = "its certificates have changed"
        elif _statements(both.accepted, kernel) != _statements(both.now, kernel):
            why = f"its statements in {lock.PATH} have changed"
        elif not _is_traced_alike(manifest, kernel):
            why = "its trace has changed"
        if why is not None:
            found.append(Change(kernel, why))
    return tuple(found)


@dataclass(frozen=True)
class _Both:
    """The kernels and the accepted statements of the commit, and the statements accepted ``now``."""

    kernels: Sequence[Kernel]
    accepted: lock.Lock
    now: lock.Lock


def _comparable(manifest: Manifest, commit: Commit) -> _Both | str:
    """What kernels are compared by, or why every kernel counts as changed."""
    then = _manifest(manifest, commit)
    if then is None or then.library != manifest.library:
        return f"{manifest.path.name} has changed"
    accepted = _lock(manifest, commit)
    try:
        now = lock.read(manifest.root)
    except MaskpoolError:
        return f"{lock.PATH} has changed"
    if accepted is None or accepted.definitions != now.definitions:
        return f"{lock.PATH} has changed"
    if orphans := certificates.orphans(manifest):
        return f"{orphans[0]} belongs to no kernel"
    path = next(_harmful(manifest, commit), None)
    return f"{path} has changed" if path is not None else _Both(then.kernels, accepted, now)


def _harmful(manifest: Manifest, commit: Commit) -> Iterator[str]:
    """The changed files that may concern every kernel."""
    own = {f"{commit.path(manifest.root / ROOT / kernel.name)}/" for kernel in manifest.kernels}
    below = f"{commit.path(manifest.root / ROOT)}/"
    compared = {commit.path(manifest.path), commit.path(manifest.root / lock.PATH)}
    for path in commit.changed():
        file = commit.top / path
        if path in compared or any(path.startswith(folder) for folder in own):
            continue  # these are compared by themselves
        if path.startswith(below) and not file.exists() and not file.is_symlink():
            continue  # of a kernel that is gone
        name = PurePosixPath(path)
        harmless = name.suffix in _HARMLESS and name.name not in _BUILD_SCRIPTS
        if file.is_symlink() or not harmless or path.startswith(below) or file.is_relative_to(_PROGRAM):
            yield path


def _manifest(manifest: Manifest, commit: Commit) -> Manifest | None:
    """The manifest of the commit, if that has a valid one."""
    text = commit.content(commit.path(manifest.path))
    if text is None:
        return None
    with tempfile.TemporaryDirectory() as directory, suppress(MaskpoolError):
        path = Path(directory, manifest.path.name)
        path.write_bytes(text)
        return load_manifest(path)
    return None


def _lock(manifest: Manifest, commit: Commit) -> lock.Lock | None:
    """The accepted statements of the commit, if they are well-formed."""
    text = commit.content(commit.path(manifest.root / lock.PATH))
    if text is None:
        return lock.EMPTY
    try:
        return lock.Lock.model_validate_json(text)
    except ValidationError:
        return None


def _statements(accepted: lock.Lock, kernel: Kernel) -> dict[str, lock.Statement]:
    """What was accepted of one kernel."""
    prefix = f"{ROOT}.{kernel.name}."
    return {name: said for name, said in accepted.statements.items() if name.startswith(prefix)}


def _is_traced_alike(manifest: Manifest, kernel: Kernel) -> bool:
    """Whether the certificates are what the kernel gives now."""
    try:
        traces = [trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes]
        return not certificates.stale(manifest.root, kernel, traces)
    except MaskpoolError:
        return False
