"""The committed certificates: writing them, and comparing them with what the kernel gives now.

Everything below ``certificates/`` belongs to this module, and nothing else writes there. For a kernel ``k``
with the shape ``{n = 4, d = 3}`` there are

* ``certificates/k/n4_d3.json``, the imported program,
* ``certificates/k/n4_d3.lean``, the program in Lean, its readable form, and the translation theorem,
* ``certificates/k/properties.lean``, the theorems about the programs,
* ``certificates/k/index.json``, the digests.

While Lean builds once more what is proved of a kernel that is not verified, there is also
``certificates/k/proved_properties.lean`` or ``proved_any_arithmetic.lean``.

The files name the version of JAX that traced them. Another version that gives the same programs does not make
them stale.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from pathlib import Path

from maskpool_verify.errors import AuditError, EnvironmentFault, StaleError
from maskpool_verify.files import disk_faults, exclusive, write_whole
from maskpool_verify.frontend import TracedKernel
from maskpool_verify.lean import syntax
from maskpool_verify.lean.bags import shape_name
from maskpool_verify.lean.properties import ROOT
from maskpool_verify.lean.render import lean_files
from maskpool_verify.manifest import Kernel, Manifest
from maskpool_verify.program import Program, digest, from_json, to_json

INDEX_SCHEMA = "maskpool-verify/index/1"
_ADVICE = "run maskpool-verify trace and review the change"


@contextmanager
def locked(root: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Keep other processes from changing certificates and compiled artifacts of a project meanwhile.

    ``on_wait`` is called once if another process has to end first.

    Raises:
        EnvironmentFault: the project cannot be written.
    """
    lock = root / ".maskpool" / "lock"
    with ExitStack() as stack:
        with disk_faults("write in", lock.parent):
            stack.enter_context(exclusive(lock, on_wait))
        yield


def _program_path(kernel: Kernel, traced: TracedKernel) -> str:
    return f"{ROOT}/{kernel.name}/{shape_name(traced.program.shape)}.json"


def files(
    kernel: Kernel, traces: Sequence[TracedKernel], jax_version: str | None = None
) -> Mapping[str, str]:
    """The text of every certificate of a kernel, by its path relative to the project.

    ``jax_version`` is the version that the files name, if not the one that traced the kernel.
    """
    version = jax_version or traces[0].program.jax_version
    result: dict[str, str] = {}
    for traced in traces:
        named = traced.program.model_copy(update={"jax_version": version})
        result[_program_path(kernel, traced)] = to_json(named)
    result |= lean_files(kernel, traces, version)
    index = {
        "schema": INDEX_SCHEMA,
        "kernel": kernel.name,
        "function": kernel.function,
        "jax_version": version,
        "programs": {shape_name(t.program.shape): digest(t.program) for t in traces},
    }
    result[f"{ROOT}/{kernel.name}/index.json"] = json.dumps(index, indent=2, ensure_ascii=False) + "\n"
    return result


def _folder(root: Path, kernel: str) -> Path:
    """The folder of a kernel, which has to lie inside of the project."""
    folder = root / ROOT / kernel
    for path in (root / ROOT, folder):
        if path.is_symlink():
            raise EnvironmentFault(f"{path} is a symbolic link; certificates have to lie in the project.")
    return folder


def write(root: Path, kernel: Kernel, traces: Sequence[TracedKernel]) -> list[str]:
    """Write the certificates of a kernel and remove the outdated ones; returns the paths that changed.

    Each file is replaced as a whole. Files whose text is already right are not touched.

    Raises:
        EnvironmentFault: the folder cannot be written.
    """
    folder = _folder(root, kernel.name)
    wanted = files(kernel, traces)
    changed = []
    with disk_faults("write the certificates in", folder):
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in wanted.items():
            target = root / path
            if target.is_symlink() or not target.is_file() or target.read_bytes() != text.encode():
                write_whole(target, text.encode())
                changed.append(path)
        for path in _generated(root, folder):
            if path not in wanted:
                (root / path).unlink()
                changed.append(path)
    return changed


def _generated(root: Path, folder: Path) -> list[str]:
    """The files of a kernel's folder that are of a kind that is written there."""
    found = [p for p in folder.iterdir() if p.suffix in (".json", ".lean")] if folder.is_dir() else []
    return sorted(p.relative_to(root).as_posix() for p in found)


@contextmanager
def temporarily(root: Path, texts: Mapping[str, str]) -> Iterator[None]:
    """Further Lean files, by their paths relative to the project, for as long as Lean reads them.

    Raises:
        EnvironmentFault: one cannot be written or removed.
    """
    with disk_faults("write in", root / ROOT):
        try:
            for path, text in texts.items():
                write_whole(root / path, text.encode())
            yield
        finally:
            for path in texts:
                (root / path).unlink(missing_ok=True)


def equation_text(program: Program, number: int) -> str:
    """One equation as in the Lean file, such as ``f32 [4] = select_n v#2 v#13 v#11``."""
    equation = program.equations[number]
    return f"{syntax.type_text(equation.result)} = {syntax.operation(equation)[1:]}"


def changed_equation(old: Program, traced: TracedKernel) -> str | None:
    """Where two programs first differ, in words; ``None`` if they are the same."""
    new = traced.program
    if [a.type for a in old.arguments] != [a.type for a in new.arguments]:
        return "the arguments have other types"
    first = len(new.arguments)
    for number, (was, now) in enumerate(zip_longest(old.equations, new.equations)):
        if was == now:
            continue
        variable = f"equation v#{first + number}"
        if now is None:
            return f"{variable} was `{equation_text(old, number)}` and is gone"
        source = traced.sources[number]
        text = equation_text(new, number)
        if was is None:
            return f"{variable} is new: `{text}` ({source})"
        return f"{variable} was `{equation_text(old, number)}` and is now `{text}` ({source})"
    if old.result != new.result:
        return "it returns another variable"
    return None


def _stale_program(root: Path, kernel: Kernel, traced: TracedKernel) -> tuple[str | None, Program | None]:
    """What is wrong with the committed program of one trace, and the program if it can be read."""
    path = _program_path(kernel, traced)
    try:
        old = from_json((root / path).read_text("utf-8"))
    except FileNotFoundError:
        return f"{path} is missing; run maskpool-verify trace.", None
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}; run maskpool-verify trace.", None
    except UnicodeDecodeError:
        return f"{path} is not UTF-8; run maskpool-verify trace.", None
    except AuditError as error:
        return f"{path} is stale: {error}", None
    change = changed_equation(old, traced)
    return (f"{path} is stale: {change}; {_ADVICE}." if change else None), old


def stale(root: Path, kernel: Kernel, traces: Sequence[TracedKernel]) -> list[str]:
    """Every way in which the committed certificates are not what the kernel gives now, a sentence each."""
    folder = _folder(root, kernel.name)
    problems: list[str] = []
    versions: set[str] = set()
    for traced in traces:
        problem, old = _stale_program(root, kernel, traced)
        if problem:
            problems.append(problem)
        if old:
            versions.add(old.jax_version)
    if problems:
        return problems
    if len(versions) > 1:
        found = ", ".join(sorted(versions))
        return [f"{ROOT}/{kernel.name} was traced by different versions of JAX ({found}); {_ADVICE}."]
    wanted = files(kernel, traces, versions.pop() if versions else None)
    extra = [path for path in _generated(root, folder) if path not in wanted]
    problems += [f"{path} belongs to no shape of the manifest; {_ADVICE}." for path in extra]
    for path, text in wanted.items():
        target = root / path
        if target.is_symlink():
            problems.append(f"{path} is a symbolic link; {_ADVICE}.")
        elif not target.is_file():
            problems.append(f"{path} is missing; {_ADVICE}.")
        elif (content := target.read_bytes()) != text.encode():
            line = _first_difference(content, text.encode())
            problems.append(f"{path} is stale: line {line} is not what the kernel gives now; {_ADVICE}.")
    return problems


def _first_difference(old: bytes, new: bytes) -> int:
    """The number of the first line that differs."""
    lines = zip_longest(old.splitlines(keepends=True), new.splitlines(keepends=True))
    return next((number for number, (a, b) in enumerate(lines, 1) if a != b), 1)


def orphans(manifest: Manifest) -> list[str]:
    """Lean files below ``certificates/`` that belong to no kernel of the manifest."""
    folder = manifest.root / ROOT
    names = {kernel.name for kernel in manifest.kernels}
    found = sorted(folder.rglob("*.lean")) if folder.is_dir() else []
    return [
        path.relative_to(manifest.root).as_posix()
        for path in found
        if len(parts := path.relative_to(folder).parts) != 2 or parts[0] not in names
    ]


def require_no_orphans(manifest: Manifest) -> None:
    """Refuse Lean files that nobody generates, since they would be built but not compared.

    Raises:
        StaleError: there is one.
    """
    if found := orphans(manifest):
        raise StaleError(
            f"{found[0]} belongs to no kernel of {manifest.path.name}; remove it or add its kernel."
        )
