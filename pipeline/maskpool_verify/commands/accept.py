"""``maskpool-verify accept``"""

from __future__ import annotations

from pathlib import Path

import click

from maskpool_verify import api
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
        accepted = api.accept(manifest, kernels, engine=engine, on_wait=waiting(quiet))
    if not quiet:
        write_out(text(accepted))
    return 0


def text(accepted: api.Accepted) -> str:
    """What has changed, and the statements that are new."""
    changes = [f"{sentence}." for sentence in accepted.changes or ["Nothing has changed"]]
    said = [f"{name}\n  {statement}" for name, statement in accepted.statements.items()]
    return "\n".join([*changes, *said]) + "\n"
