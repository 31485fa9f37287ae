"""``maskpool-verify trace``"""

from __future__ import annotations

from pathlib import Path

import click

from maskpool_verify import certificates
from maskpool_verify.commands.common import kernel_option, manifest_option, quiet_option, selected
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.manifest import load_manifest


@click.command()
@manifest_option
@kernel_option
@quiet_option
def trace(manifest_path: Path, kernel_names: tuple[str, ...], quiet: bool) -> int:
    """Write the certificates of the kernels: the imported programs, and the Lean files about them.

    All kernels are traced before anything is written.
    """
    manifest = load_manifest(manifest_path)
    traced = [
        (kernel, [trace_kernel(kernel, shape, manifest.root) for shape in kernel.shapes])
        for kernel in selected(manifest, kernel_names)
    ]
    for kernel, traces in traced:
        changed = certificates.write(manifest.root, kernel, traces)
        if not quiet:
            counts = ", ".join(f"{len(t.program.equations)} equations" for t in traces)
            click.echo(f"{kernel.name}: {len(traces)} traces ({counts}); {_files(changed)}")
            for path in changed:
                click.echo(f"  {path}")
    return 0


def _files(changed: list[str]) -> str:
    if not changed:
        return "nothing has changed"
    return f"{len(changed)} {'file has' if len(changed) == 1 else 'files have'} changed"
