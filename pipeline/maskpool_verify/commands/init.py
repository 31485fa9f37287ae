"""``maskpool-verify init``"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import click

from maskpool_verify import api, scaffold
from maskpool_verify.commands import accept, trace
from maskpool_verify.commands.common import progress_bar, quiet_option, waiting, write_out
from maskpool_verify.commands.install import ready_engine
from maskpool_verify.errors import EnvironmentFault, UsageError

_THEN = "maskpool-verify trace && maskpool-verify accept && maskpool-verify check"


@click.command()
@click.argument("function", required=False, metavar="[FILE.py:FUNCTION]")
@click.option(
    "--ci",
    type=click.Choice(["github"]),
    help=f"Also write a workflow that runs the check: {scaffold.WORKFLOW}.",
)
@click.option("--files-only", is_flag=True, help="Do not prove the sample kernel, which takes Lean a minute.")
@quiet_option
def init(function: str | None, ci: str | None, files_only: bool, quiet: bool) -> int:
    """Begin a project in this directory: a manifest, and certificates of a sample kernel.

    With FILE.py:FUNCTION the manifest is about that function. Roles of arguments are guessed from their
    names, and marked as guesses; confirm them before anything is proved. No file is overwritten.

    \b
    Examples:
      maskpool-verify init
      maskpool-verify init kernels/pool.py:masked_pool --ci github
    """
    root = Path.cwd()
    begun = (root / scaffold.MANIFEST).exists()
    if begun and (function is not None or ci is None):
        raise UsageError(f"{scaffold.MANIFEST} is there already; add a [[kernel]] table to it.")
    files: dict[str, str] = {}
    kernel = scaffold.SAMPLE_KERNEL
    if not begun:
        if function is None:
            files[scaffold.SAMPLE] = scaffold.sample()
        else:
            kernel = scaffold.draft(function, root)
        files[scaffold.MANIFEST] = scaffold.manifest(kernel)
    if ci:
        files[scaffold.WORKFLOW] = scaffold.workflow(_version())
    for path in files:
        if (root / path).exists():
            raise UsageError(f"{path} is there already, and init does not change it.")
    for path, text in files.items():
        scaffold.create(root / path, text)
    said = [f"{path}: written" for path in files]
    if scaffold.ignore(root):
        said.append(f".gitignore: {scaffold.IGNORED} added")
    if not quiet:
        write_out("\n".join(said) + "\n")
    if begun:
        return 0
    if function is None and not files_only:
        _prove(root / scaffold.MANIFEST, quiet)
        then = "maskpool-verify check"
    else:
        then = _THEN
    if not quiet:
        write_out(_advice(kernel, then))
    return 0


def _version() -> str:
    try:
        return metadata.version("maskpool-verify")
    except metadata.PackageNotFoundError:
        raise EnvironmentFault(
            "maskpool-verify is not installed, and a workflow has to name its version; install it with pip."
        ) from None


def _prove(path: Path, quiet: bool) -> None:
    """Certificates of the sample kernel, whose roles are known, and the statements as accepted."""
    manifest = api.load_manifest(path)
    engine = ready_engine("auto", quiet)
    traced = api.trace(manifest, on_wait=waiting(quiet))
    with progress_bar(quiet):
        accepted = api.accept(manifest, engine=engine, on_wait=waiting(quiet))
    if not quiet:
        write_out("".join(map(trace.summary, traced)) + accept.text(accepted))


def _advice(kernel: scaffold.KernelDraft, then: str) -> str:
    lines = []
    if kernel.guesses:
        lines = [f"Confirm or complete in {scaffold.MANIFEST}:", *(f"  {each}" for each in kernel.guesses)]
    return "\n".join([*lines, f"Next: {then}"]) + "\n"
