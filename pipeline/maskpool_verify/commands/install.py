"""Installing the embedded Lean, with progress on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from rich.progress import DownloadColumn

from maskpool_verify.commands.common import progress_bar, say
from maskpool_verify.engine.protocol import Engine
from maskpool_verify.engine.select import choose
from maskpool_verify.engine.wasm import InstallStep, default_cache, install, is_installed

_PHASES = {
    "wait": "waiting for another installation",
    "download": "downloading the embedded Lean",
    "check": "comparing the checksum",
    "unpack": "unpacking Lean's library",
    "patch": "preparing the compiler",
    "record": "recording checksums",
}


def ready_engine(name: Literal["auto", "wasm", "lake"], quiet: bool) -> Engine:
    """The engine of that name; the embedded one is installed if it is not there.

    Where there is a lake on PATH, it is said on stderr which one ``auto`` has taken.

    Raises:
        EnvironmentFault: it is not there, and cannot be installed.
    """
    engine = choose(name, (lambda _: None) if quiet else say)
    if engine.name == "wasm" and not is_installed(default_cache()):
        install_engine(quiet)
    return engine


def install_engine(quiet: bool, *, repair: bool = False) -> Path:
    """Install the embedded Lean unless it is there; returns its directory.

    On a terminal there is a progress bar; elsewhere a line for each phase, so that logs are short.

    Raises:
        EnvironmentFault: no network, a wrong checksum, no space, or no permission.
    """
    with progress_bar(quiet, DownloadColumn()) as bar:
        report: Callable[[InstallStep], None]
        if bar is not None:
            task = bar.add_task("", total=None)

            def report(step: InstallStep) -> None:
                bar.update(task, description=_PHASES[step.phase], completed=step.done or 0, total=step.total)
        else:
            seen: set[str] = set()

            def report(step: InstallStep) -> None:
                if not quiet and step.phase not in seen:
                    seen.add(step.phase)
                    size = f" ({step.total / 1e6:.0f} MB)" if step.total and step.phase == "download" else ""
                    say(f"{_PHASES[step.phase]}{size}")

        return install(default_cache(), report, repair=repair)
