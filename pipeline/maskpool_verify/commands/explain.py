"""``maskpool-verify explain``"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import click

from maskpool_verify.commands.common import (
    completed,
    engine_option,
    manifest_option,
    progress_bar,
    terminal_width,
    waiting,
    write_out,
)
from maskpool_verify.commands.install import ready_engine
from maskpool_verify.explain import DEPTH, Explanation, Lemma
from maskpool_verify.explain import explain as explained
from maskpool_verify.formats.text import WIDTH
from maskpool_verify.formats.wording import MEANING
from maskpool_verify.lean.properties import ROOT, theorems
from maskpool_verify.manifest import load_manifest

_NAMED = 4
"""How many theorems of Lean's library are named."""


def _theorem_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The theorems about kernels that begin so, for a shell."""
    names = (t.dotted.removeprefix(f"{ROOT}.") for kernel in completed(context) for t in theorems(kernel))
    return [name for name in names if name.startswith(incomplete)]


@click.command()
@click.argument("name", shell_complete=_theorem_names)
@manifest_option
@click.option(
    "--depth",
    metavar="NUMBER",
    type=click.IntRange(min=0),
    default=DEPTH,
    show_default=True,
    help="How many lemmas below each other are shown.",
)
@engine_option
def explain(name: str, manifest_path: Path, depth: int, engine: Literal["auto", "wasm", "lake"]) -> int:
    """Say what a theorem states, and on which axioms and lemmas its proof rests.

    NAME is the name of a theorem about a kernel or of the Lean library, or the components of it that tell it
    from the others. All is read from the compiled proof, as the audit of check does. Whether the kernel is
    still what its certificates say, check finds out.

    \b
    Examples:
      maskpool-verify explain masked_attention_pool.padding
      maskpool-verify explain MaskPool.pool_padding --depth 4
    """
    manifest = load_manifest(manifest_path)
    lean = ready_engine(engine, quiet=False)
    with progress_bar(quiet=False) as bar:
        task = bar.add_task(f"building {name}", total=None) if bar is not None else None
        found = explained(manifest, name, lean, depth=depth, on_wait=waiting(quiet=False))
        if bar is not None and task is not None:
            bar.remove_task(task)
    write_out("\n".join(_lines(found, terminal_width(WIDTH))) + "\n")
    return int(bool(found.theorem.violations))


def _lines(found: Explanation, width: int) -> Iterator[str]:
    theorem = found.theorem
    yield theorem.name
    says = MEANING[found.property] if found.property is not None else found.comment
    if says:
        yield from _wrapped(f"{says[0].upper()}{says[1:].removesuffix('.')}.", width)
    yield ""
    yield from _wrapped(theorem.statement or "", width)
    yield ""
    yield f"axioms: {', '.join(theorem.axioms) or 'none'}"
    if theorem.library_theorems:
        yield (
            f"theorems of Lean's library whose proofs this engine does not ship: {theorem.library_theorems}"
        )
    yield from theorem.violations
    yield ""
    yield "its proof rests on"
    yield from _tree(found.proof, "  ", width)


def _tree(lemma: Lemma, indent: str, width: int) -> Iterator[str]:
    for below in lemma.below:
        more = " (as above)" if below.again else f" (on {below.hidden} more)" if below.hidden else ""
        yield f"{indent}{below.name}{more}"
        yield from _tree(below, f"{indent}  ", width)
    if lemma.library and not lemma.hidden:
        names = ", ".join(lemma.library[:_NAMED])
        rest = len(lemma.library) - _NAMED
        text = f"of Lean: {names}" + (f" and {rest} more" if rest > 0 else "")
        yield from textwrap.wrap(
            text, max(width, 40 + len(indent)), initial_indent=indent, subsequent_indent=f"{indent}  "
        )


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
