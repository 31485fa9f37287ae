"""What several commands share: options, and progress on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from maskpool_verify.engine.wasm import InstallStep, default_cache, install
from maskpool_verify.manifest import Kernel, Manifest

manifest_option = click.option(
    "--manifest",
    "manifest_path",
    type=click.Path(path_type=Path),
    default=Path("maskpool.toml"),
    show_default=True,
    help="The manifest; paths in it are relative to its directory.",
)
kernel_option = click.option(
    "--kernel", "kernel_names", multiple=True, metavar="NAME", help="Only this kernel; may be repeated."
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress; less text.")


def selected(manifest: Manifest, names: Sequence[str]) -> tuple[Kernel, ...]:
    """The kernels of the given names, or all."""
    return tuple(manifest.kernel(name) for name in dict.fromkeys(names)) if names else manifest.kernels


@contextmanager
def progress_bar(quiet: bool, *columns: Any) -> Iterator[Progress | None]:
    """Progress on stderr, which disappears at the end; none if ``quiet`` or if stderr is no terminal."""
    terminal = Console(stderr=True)
    if quiet or not terminal.is_terminal:
        yield None
        return
    standard = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=30))
    with Progress(*standard, *columns, TimeElapsedColumn(), console=terminal, transient=True) as bar:
        yield bar


_PHASES = {
    "wait": "waiting for another installation",
    "download": "downloading the embedded Lean",
    "check": "comparing the checksum",
    "unpack": "unpacking Lean's library",
    "patch": "preparing the compiler",
    "record": "recording checksums",
}


def _say(text: str) -> None:
    click.echo(text, err=True)


def install_engine(quiet: bool, *, repair: bool = False) -> Path:
    """Install the embedded Lean unless it is there, with a progress bar.

    On a terminal this is a bar; elsewhere a line for each phase that takes time, so that logs are short.
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
                    _say(f"{_PHASES[step.phase]}{size}")

        return install(default_cache(), report, repair=repair)


def stdout_is_terminal() -> bool:
    """Whether a person reads the output as it comes."""
    return sys.stdout.isatty()
