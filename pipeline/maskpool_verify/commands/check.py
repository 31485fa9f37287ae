"""``maskpool-verify check``"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import click
from rich.progress import MofNCompleteColumn, Progress

from maskpool_verify import report as reports
from maskpool_verify import text
from maskpool_verify.check import Step
from maskpool_verify.check import check as run_check
from maskpool_verify.commands.common import (
    install_engine,
    kernel_option,
    manifest_option,
    progress_bar,
    quiet_option,
    selected,
)
from maskpool_verify.engine.select import choose
from maskpool_verify.engine.wasm import default_cache, is_installed
from maskpool_verify.manifest import load_manifest


@click.command()
@manifest_option
@kernel_option
@click.option(
    "--engine",
    type=click.Choice(["auto", "wasm", "lake"]),
    default="auto",
    show_default=True,
    help="Which Lean: the embedded one (wasm) or that of elan (lake); auto takes lake where it is installed.",
)
@click.option("--fresh", is_flag=True, help="Build everything again, even if nothing changed.")
@click.option("--report", "report_path", type=click.Path(path_type=Path), help="Write a JSON report here.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@quiet_option
def check(
    manifest_path: Path,
    kernel_names: tuple[str, ...],
    engine: Literal["auto", "wasm", "lake"],
    fresh: bool,
    report_path: Path | None,
    format_: Literal["text", "json"],
    quiet: bool,
) -> int:
    """Have Lean check the certificates, and audit what the proofs rest on.

    Every kernel is traced again, and its committed certificates have to be what it gives now.
    """
    manifest = load_manifest(manifest_path)
    kernels = selected(manifest, kernel_names)
    lean = choose(engine)
    if lean.name == "wasm" and not is_installed(default_cache()):
        install_engine(quiet)
    with progress_bar(quiet, MofNCompleteColumn()) as bar:
        report = run_check(manifest, kernels, lean, fresh=fresh, progress=_shown_on(bar, quiet))
    if report_path is not None:
        reports.write(report, report_path)
    if format_ == "json":
        click.echo(reports.to_json(report), nl=False)
    else:
        text.render(report, sys.stdout, quiet=quiet)
    return report.exit_code


_WORDS = {"trace": "tracing", "build": "building", "audit": "auditing"}


def _shown_on(bar: Progress | None, quiet: bool) -> Callable[[Step], None]:
    """Show steps on a progress bar; without one, as a line for each module that Lean has built."""
    task = bar.add_task("") if bar is not None else None

    def show(step: Step) -> None:
        build = step.build
        if bar is not None and task is not None:
            bar.update(
                task,
                description=f"{_WORDS[step.stage]} {step.subject}",
                completed=build.done if build else None,
                total=build.total if build else None,
            )
        elif not quiet and build and build.result and build.result.status == "built":
            click.echo(
                f"[{build.done}/{build.total}] {step.subject} ({build.result.seconds:.1f} s)", err=True
            )

    return show
