"""``maskpool-verify stress``"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import click
from rich.progress import MofNCompleteColumn, Progress

from maskpool_verify import api
from maskpool_verify.commands.common import (
    colours,
    kernel_option,
    manifest_option,
    progress_bar,
    quiet_option,
    say,
    seed_option,
    selected,
    terminal_width,
    write_out,
)
from maskpool_verify.dims import assigned
from maskpool_verify.formats import text
from maskpool_verify.manifest import DType, Kernel, load_manifest
from maskpool_verify.stress import BUDGET, FLOATS, to_json
from maskpool_verify.stress import Progress as Step


@click.command()
@manifest_option
@kernel_option
@click.option(
    "--dtype",
    "dtypes",
    type=click.Choice(FLOATS),
    multiple=True,
    help="Also in this dtype, for all float arguments; may be repeated.",
)
@click.option("--quick", is_flag=True, help="At few and small sizes alone.")
@click.option(
    "--budget",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=BUDGET,
    show_default=True,
    help="How long for each kernel; making what breaks small takes at most half of it in addition.",
)
@seed_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print on stdout.",
)
@quiet_option
def stress(
    manifest_path: Path,
    kernel_names: tuple[str, ...],
    dtypes: tuple[DType, ...],
    quick: bool,
    budget: float,
    seed: int,
    format_: Literal["text", "json"],
    quiet: bool,
) -> int:
    """Run the compiled kernels on adversarial inputs, forward and backward, and say what breaks.

    What is observed in floating point is evidence and no proof; no verdict of check depends on it. The exit
    code is 1 if a property was seen to break.

    \b
    Examples:
      maskpool-verify stress
      maskpool-verify stress --kernel masked_attention_pool --dtype float16
      maskpool-verify stress --quick --format json
    """
    manifest = load_manifest(manifest_path)
    kernels = selected(manifest, kernel_names)
    with progress_bar(quiet, MofNCompleteColumn()) as bar:
        report = api.stress(
            manifest,
            kernels,
            dtypes=dtypes,
            quick=quick,
            budget=budget,
            seed=seed,
            progress=_shown_on(bar, quiet),
        )
    if format_ == "json":
        write_out(to_json(report))
    else:
        width = terminal_width(text.WIDTH)
        write_out(text.stress_to_text(report, width=width, colour=colours(), quiet=quiet))
    return report.exit_code


def _shown_on(bar: Progress | None, quiet: bool) -> Callable[[Kernel, Step], None]:
    """Show steps on a progress bar; without one, as a line for each size."""
    task = bar.add_task("") if bar is not None else None

    def show(kernel: Kernel, step: Step) -> None:
        description = f"{kernel.name} in {step.dtype}, {assigned(step.sizes)}"
        if bar is not None and task is not None:
            bar.update(task, description=description, completed=step.done, total=step.total)
        elif not quiet and step.done == 0:
            say(f"{description}: {step.total} cases")

    return show
