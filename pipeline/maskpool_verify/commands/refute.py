"""``maskpool-verify refute``"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click
from rich.progress import Progress

from maskpool_verify import api
from maskpool_verify.commands.common import (
    kernel_option,
    manifest_option,
    progress_bar,
    quiet_option,
    seed_option,
    selected,
    write_out,
)
from maskpool_verify.lean.properties import Property
from maskpool_verify.manifest import Kernel, load_manifest
from maskpool_verify.refute import BUDGET, Outcome, render
from maskpool_verify.refute import Progress as Step


@click.command()
@manifest_option
@kernel_option
@click.option(
    "--budget",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=BUDGET,
    show_default=True,
    help="How long to search for each property.",
)
@seed_option
@quiet_option
def refute(manifest_path: Path, kernel_names: tuple[str, ...], budget: float, seed: int, quiet: bool) -> int:
    """Search the smallest inputs on which properties fail, without Lean.

    A counterexample is proved over the reals. That none is found proves nothing: that is what check is for.
    The exit code is 1 if there is a counterexample.

    \b
    Examples:
      maskpool-verify refute
      maskpool-verify refute --kernel masked_attention_pool --budget 60
    """
    manifest = load_manifest(manifest_path)
    with progress_bar(quiet) as bar:
        found = api.refute(
            manifest,
            selected(manifest, kernel_names),
            budget=budget,
            seed=seed,
            progress=_shown_on(bar),
        )
    write_out("\n".join("\n".join(_lines(each, quiet)) for each in found) + "\n")
    return int(any(each.counterexamples for each in found))


def _lines(refutation: api.Refutation, quiet: bool) -> Iterator[str]:
    yield refutation.kernel.name
    if refutation.unsupported:
        yield f"  {refutation.unsupported} What follows was observed in JAX, and is not proved."
    for outcome in refutation.outcomes:
        if outcome.counterexample is not None:
            yield "\n".join(f"  {line}".rstrip() for line in render(outcome.counterexample).splitlines())
        elif not quiet:
            yield f"  {outcome.property}: {_nothing_found(outcome)}"


def _nothing_found(outcome: Outcome) -> str:
    cases = f"{outcome.tried} case{'' if outcome.tried == 1 else 's'}"
    doubt = "; floating point breaks it, and over the reals that could not be proved"
    return (
        f"no counterexample among {cases}"
        + ("" if outcome.complete else ", when the time was over")
        + (doubt if outcome.doubtful else "")
    )


def _shown_on(bar: Progress | None) -> Callable[[Kernel, Property, Step], None]:
    task = bar.add_task("", total=None) if bar is not None else None

    def show(kernel: Kernel, property_: Property, step: Step) -> None:
        if bar is not None and task is not None:
            bar.update(task, description=f"searching a counterexample to {kernel.name}: {property_}")

    return show
