"""``maskpool-verify accept``"""

from __future__ import annotations

from pathlib import Path

import click

from maskpool_verify import lock
from maskpool_verify.check import check
from maskpool_verify.commands.common import (
    kernel_option,
    manifest_option,
    progress_bar,
    quiet_option,
    selected,
    waiting,
    write_out,
)
from maskpool_verify.commands.install import ready_engine
from maskpool_verify.errors import StaleError
from maskpool_verify.lean.properties import theorems
from maskpool_verify.manifest import load_manifest


@click.command()
@manifest_option
@kernel_option
@quiet_option
def accept(manifest_path: Path, kernel_names: tuple[str, ...], quiet: bool) -> int:
    """Accept what the theorems say now, after showing what has changed.

    Runs the check, and writes certificates/statements.lock if every theorem is proved. Review the change of
    that file as you would review the theorems: it says what is proved.

    \b
    Example:
      maskpool-verify trace && maskpool-verify accept && git diff certificates/statements.lock
    """
    manifest = load_manifest(manifest_path)
    kernels = selected(manifest, kernel_names)
    engine = ready_engine("auto", quiet)
    with progress_bar(quiet):
        report = check(manifest, kernels, engine, on_wait=waiting(quiet))
    found = [theorem for kernel in report.kernels for theorem in kernel.theorems]
    unproved = [
        k.name for k in report.kernels if not k.theorems or any(t.status == "failed" for t in k.theorems)
    ]
    if unproved or report.audit.violations:
        what = unproved[0] if unproved else "the audit"
        raise StaleError(f"Nothing is accepted, since {what} does not pass; run maskpool-verify check.")
    lacking = {lack.name for kernel in report.kernels for lack in kernel.lacks}
    asked = [theorem.dotted for kernel in manifest.kernels for theorem in theorems(kernel)]
    wanted = [name for name in asked if name not in lacking]
    old, new = lock.read(manifest.root), lock.of_reports(found, report.definitions)
    changes = [*lock.differences(old, new), *(f"{name} is dropped" for name in lock.disappeared(old, wanted))]
    lock.write(manifest.root, lock.merged(old, new, wanted))
    if not quiet:
        said = [f"{n}\n  {s.statement}" for n, s in new.statements.items() if n not in old.statements]
        write_out(
            "\n".join([*(f"{sentence}." for sentence in changes or ["Nothing has changed"]), *said]) + "\n"
        )
    return 0
