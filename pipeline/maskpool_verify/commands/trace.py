"""``maskpool-verify trace``"""

from __future__ import annotations

from pathlib import Path

import click

from maskpool_verify import api
from maskpool_verify.commands.common import (
    kernel_option,
    manifest_option,
    quiet_option,
    selected,
    waiting,
    write_out,
)
from maskpool_verify.manifest import load_manifest


@click.command()
@manifest_option
@kernel_option
@quiet_option
def trace(manifest_path: Path, kernel_names: tuple[str, ...], quiet: bool) -> int:
    """Write the certificates of the kernels: the imported programs, and the Lean files about them.

    All kernels are traced before anything is written. Commit what is written below certificates/.

    \b
    Examples:
      maskpool-verify trace
      maskpool-verify trace --kernel masked_attention_pool
    """
    manifest = load_manifest(manifest_path)
    traced = api.trace(manifest, selected(manifest, kernel_names), on_wait=waiting(quiet))
    if not quiet:
        write_out("".join(map(summary, traced)))
    return 0


def summary(traced: api.Traced) -> str:
    """What was written for a kernel."""
    counts = " and ".join(str(len(t.program.equations)) for t in traced.traces)
    match len(traced.changed):
        case 0:
            files = "nothing has changed"
        case 1:
            files = "1 file has changed"
        case number:
            files = f"{number} files have changed"
    lines = [f"{traced.kernel.name}: {counts} equations; {files}", *traced.changed]
    return "\n  ".join(lines) + "\n"
