"""Installing the embedded Lean, with progress on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.progress import DownloadColumn

from maskpool_verify.commands.common import progress_bar, say
from maskpool_verify.engine.wasm import InstallStep, default_cache, install

_PHASES = {
    "wait": "waiting for another installation",
    "download": "downloading the embedded Lean",
    "check": "comparing the checksum",
    "unpack": "unpacking Lean's library",
    "patch": "preparing the compiler",
    "record": "recording checksums",
}


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
