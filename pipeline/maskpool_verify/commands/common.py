"""What several commands share: options, output, and progress on the terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from maskpool_verify.errors import MaskpoolError
from maskpool_verify.files import disk_faults
from maskpool_verify.manifest import Kernel, Manifest, load_manifest


def kernel_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The kernels of the manifest that begin so, for a shell; none if the manifest is not valid."""
    return [name for name in (k.name for k in completed(context)) if name.startswith(incomplete)]


def completed(context: click.Context) -> tuple[Kernel, ...]:
    """The kernels of the manifest that a command line is about while it is typed."""
    with suppress(MaskpoolError):
        return load_manifest(context.params.get("manifest_path") or Path("maskpool.toml")).kernels
    return ()


manifest_option = click.option(
    "--manifest",
    "manifest_path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=Path("maskpool.toml"),
    show_default=True,
    help="The manifest; paths in it are relative to its directory.",
)
kernel_option = click.option(
    "--kernel",
    "kernel_names",
    multiple=True,
    metavar="NAME",
    shell_complete=kernel_names,
    help="Only this kernel; may be repeated.",
)
engine_option = click.option(
    "--engine",
    type=click.Choice(["auto", "wasm", "lake"]),
    default="auto",
    show_default=True,
    help="Which Lean: the embedded one (wasm) or that of elan (lake); auto takes lake where it is installed.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the numbers."
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress, and less text.")


def selected(manifest: Manifest, names: Sequence[str]) -> tuple[Kernel, ...]:
    """The kernels of the given names, or all; :class:`UsageError` for an unknown name."""
    return tuple(manifest.kernel(name) for name in dict.fromkeys(names)) if names else manifest.kernels


# -- output


def write_out(text: str) -> None:
    """Write to stdout, in UTF-8 if it is no terminal; a reader that has gone away (``| head``) is no error.

    Raises:
        EnvironmentFault: stdout cannot be written, as on a full disk.
    """
    stdout = sys.stdout
    try:
        with disk_faults("write to", Path("standard output")):
            try:
                if stdout.isatty() or not hasattr(stdout, "buffer"):
                    stdout.write(text)
                else:
                    stdout.buffer.write(text.encode())
                stdout.flush()
            except BrokenPipeError:
                _discard_output()
    except BaseException:
        _discard_output()
        raise


def _discard_output() -> None:
    """Keep Python from failing at its end, when it writes what is left in the buffer of stdout."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def say(text: str) -> None:
    """A line about progress, on stderr."""
    click.echo(text, err=True)


def terminal_width(default: int) -> int:
    """The columns of the terminal that shows stdout; ``default`` if there is none."""
    return shutil.get_terminal_size((default, 24)).columns if sys.stdout.isatty() else default


def colours() -> bool:
    """Whether stdout shows colours: a terminal, without NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# -- progress


@contextmanager
def progress_bar(quiet: bool, *columns: ProgressColumn) -> Iterator[Progress | None]:
    """Progress on stderr, which disappears at the end; none if ``quiet`` or if stderr is no terminal."""
    terminal = Console(stderr=True)
    if quiet or not terminal.is_terminal:
        yield None
        return
    description = TextColumn(
        "{task.description}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
    )
    standard = (SpinnerColumn(), description, BarColumn(bar_width=20))
    with Progress(
        *standard, *columns, TimeElapsedColumn(), console=terminal, transient=True, expand=True
    ) as bar:
        yield bar


def waiting(quiet: bool) -> Callable[[], None]:
    """Says once that another process is at work in the same project."""
    return lambda: None if quiet else say("waiting for another maskpool-verify in this project")
