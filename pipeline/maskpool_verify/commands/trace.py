"""``maskpool-verify trace``"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from maskpool_verify import certificates
from maskpool_verify.commands.common import (
    kernel_option,
    manifest_option,
    quiet_option,
    selected,
    waiting,
    write_out,
)
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.manifest import Kernel, load_manifest


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
    traced = [
        (kernel, [trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes])
        for kernel in selected(manifest, kernel_names)
    ]
    with certificates.locked(manifest.root, waiting(quiet)):
        written = [certificates.write(manifest.root, kernel, traces) for kernel, traces in traced]
    if not quiet:
        summaries = [
            _summary(kernel, traces, changed)
            for (kernel, traces), changed in zip(traced, written, strict=True)
        ]
        write_out("".join(summaries))
    return 0


def _summary(kernel: Kernel, traces: Sequence[TracedKernel], changed: Sequence[str]) -> str:
    counts = " and ".join(str(len(t.program.equations)) for t in traces)
    match len(changed):
        case 0:
            files = "nothing has changed"
        case 1:
            files = "1 file has changed"
        case number:
            files = f"{number} files have changed"
    lines = [f"{kernel.name}: {counts} equations; {files}", *changed]
    return "\n  ".join(lines) + "\n"
