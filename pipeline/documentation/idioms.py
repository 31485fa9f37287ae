"""The table of ``docs/idioms.md``: ways to mask a softmax, the theorem about each, and what it rests on.

The theorems are about programs that are imported from kernels of ``tests/corpus``. They are built and audited
like those of a certificate.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from documentation.gallery import CORPUS
from maskpool_verify import certificates
from maskpool_verify.audit import AuditResult, audit
from maskpool_verify.check import OPEN_NAMESPACES
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.errors import AuditError
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.manifest import load_manifest

REPOSITORY = CORPUS.parent.parent
PROGRAMS = REPOSITORY / "tests" / "idioms" / "idioms.lean"
"""The theorems about imported programs."""

MODULE = "idioms"


@dataclass(frozen=True)
class Claim:
    """A statement on an idiom: over which arithmetic, in words, and the theorems that say it."""

    over: str
    text: str
    theorems: tuple[str, ...]


@dataclass(frozen=True)
class Idiom:
    """A way to mask, a kernel of the corpus that uses it, and what is proved."""

    title: str
    code: str
    kernel: str
    claims: tuple[Claim, ...]


REAL, EXTENDED = "real numbers", "with infinities and NaN"

IDIOMS = (
    Idiom(
        "zeroed features",
        "softmax(logits) @ where(mask, features, 0)",
        "features_zeroed_only",
        (
            Claim(
                REAL,
                "masked pooling exactly if no row is masked, and in coordinates where the pooled value is 0",
                ("idioms.features_zeroed_only_eq_pool_iff",),
            ),
            Claim(
                REAL,
                "one more masked row changes every coordinate that is not 0; a counterexample to padding "
                "invariance has one row, with logit 0 and feature 1",
                ("MaskPool.zeroFeaturePool_pad_eq_iff", "MaskPool.zeroFeaturePool_not_paddingInvariant"),
            ),
        ),
    ),
    Idiom(
        "a large negative constant",
        "softmax(where(mask, logits, -1e9)) @ features",
        "finite_fill",
        (
            Claim(
                REAL,
                "never exact: in each bag with a masked and an unmasked row, other features in the masked "
                "rows give another result",
                ("idioms.finite_fill_ne_pool",),
            ),
            Claim(
                "real numbers, any `exp`",
                "masked pooling exactly if `exp(fill - max)` is 0, or the mean of the masked features "
                "happens to be the pooled value",
                ("idioms.finite_fill_eq_pool_iff",),
            ),
            Claim(
                REAL,
                "all rows masked: the mean of the masked features",
                ("MaskPool.fillPool_all_masked",),
            ),
        ),
    ),
    Idiom(
        "minus infinity",
        "softmax(where(mask, logits, -inf)) @ features",
        "minus_infinity_fill",
        (
            Claim(
                EXTENDED,
                "masked pooling exactly if some row is unmasked and every masked feature is a number",
                ("idioms.minus_infinity_fill_eq_pool_iff",),
            ),
            Claim(
                EXTENDED,
                "NaN exactly if all rows are masked or a masked feature is not a number",
                ("idioms.minus_infinity_fill_eq_nan_iff", "idioms.minus_infinity_fill_all_masked"),
            ),
            Claim(
                EXTENDED,
                "features selected as well: masked pooling if some row is unmasked",
                ("MaskPool.minusInfinityPool_select_eq_pool",),
            ),
        ),
    ),
    Idiom(
        "minus infinity, guarded",
        "where(any(mask), softmax(where(mask, logits, -inf)) @ features, 0)",
        "minus_infinity_guarded",
        (
            Claim(
                EXTENDED,
                "masked pooling exactly if all rows are masked or every masked feature is a number",
                ("idioms.minus_infinity_guarded_eq_pool_iff",),
            ),
        ),
    ),
    Idiom(
        "guarded normalizer",
        "w = where(mask, exp(logits), 0); where(sum(w) > 0, w @ features / sum(w), 0)",
        "where_weights",
        (
            Claim(REAL, "masked pooling, unconditionally", ("idioms.where_weights_eq_pool",)),
            Claim(
                EXTENDED,
                "masked pooling if every feature is a number; NaN if a masked one is not and some row is "
                "unmasked",
                ("idioms.where_weights_eq_pool_of_finite", "idioms.where_weights_eq_nan"),
            ),
        ),
    ),
    Idiom(
        "guarded normalizer, everything selected",
        "the same, with where(mask[:, None], features, 0) and where(mask, logits, 0)",
        "where_everything",
        (
            Claim(
                EXTENDED,
                "masked pooling, unconditionally, whatever masked rows hold",
                ("idioms.where_everything_eq_pool",),
            ),
        ),
    ),
)

THEOREMS = tuple(name for idiom in IDIOMS for claim in idiom.claims for name in claim.theorems)


def build(project: Path, engine: WasmEngine) -> AuditResult:
    """Build the theorems in ``project``, a copy of the library that may be changed, and audit them.

    Raises:
        AuditError: one does not build.
    """
    used = {idiom.kernel for idiom in IDIOMS}
    for kernel in load_manifest(CORPUS / "corpus.toml").kernels:
        if kernel.name in used:
            traces = [trace_kernel(kernel, shape, CORPUS) for shape in kernel.shapes]
            certificates.write(project, kernel, traces)
    shutil.copy(PROGRAMS, project)
    for result in engine.build(project, [MODULE]).values():
        if result.status not in ("built", "cached"):
            raise AuditError(f"{result.module}: {result.status}: {result.messages}")
    artifacts = engine.artifacts(project)
    return audit(artifacts.own, artifacts.library, [MODULE], THEOREMS, OPEN_NAMESPACES)


@cache
def _lines(file: Path) -> tuple[str, ...]:
    return tuple(file.read_text("utf-8").splitlines())


def place(theorem: str) -> tuple[Path, int]:
    """The file of a theorem and its line, counted from 1.

    Raises:
        ValueError: there are none or several.
    """
    root, _, short = theorem.rpartition(".")
    files = [PROGRAMS] if root == MODULE else sorted((REPOSITORY / "MaskPool" / "Idioms").glob("*.lean"))
    found = [
        (file, number)
        for file in files
        for number, line in enumerate(_lines(file), 1)
        if re.match(rf"theorem {re.escape(short)}\b", line)
    ]
    if len(found) != 1:
        raise ValueError(f"{theorem} is declared {len(found)} times")
    return found[0]


def _kernel_link(name: str) -> str:
    kernels = {kernel.name: kernel.function for kernel in load_manifest(CORPUS / "corpus.toml").kernels}
    file, function = kernels[name].split(":")
    line = next(
        number for number, text in enumerate(_lines(CORPUS / file), 1) if text.startswith(f"def {function}(")
    )
    return f"[`{name}`](../{(CORPUS / file).relative_to(REPOSITORY).as_posix()}#L{line})"


def _theorem_link(name: str) -> str:
    file, line = place(name)
    short = name.rpartition(".")[2]
    return f"[`{short}`](../{file.relative_to(REPOSITORY).as_posix()}#L{line})"


def table(audited: AuditResult) -> str:
    """All idioms in Markdown; what the theorems rest on is from the audit."""
    return "\n".join(_rows({theorem.name: theorem.axioms for theorem in audited.theorems})) + "\n"


def _rows(axioms: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    yield "| idiom | kernel | over | what it computes | theorem | axioms |"
    yield "|---|---|---|---|---|---|"
    for idiom in IDIOMS:
        first = f"**{idiom.title}** `{idiom.code}` | {_kernel_link(idiom.kernel)}"
        for claim in idiom.claims:
            links = ", ".join(map(_theorem_link, claim.theorems))
            rests = sorted({axiom for name in claim.theorems for axiom in axioms[name]})
            yield f"| {first} | {claim.over} | {claim.text} | {links} | {', '.join(rests) or 'none'} |"
            first = " | "


def statement(audited: AuditResult, theorem: str) -> list[str]:
    """What a theorem says, printed from its compiled term."""
    (found,) = [each for each in audited.theorems if each.name == theorem]
    return textwrap.wrap(found.statement or "", 100, break_long_words=False, break_on_hyphens=False)
