"""The theorems about mathlib's real numbers: the Lake package ``real/``, built by native Lean and audited.

The library proves its theorems over any ordered field with an exponential. That mathlib's ``ℝ`` is one, and
what the theorems say of it in mathlib's own terms, is proved in that package, for which mathlib has to be
downloaded. Without it, the theorems stay over an abstract field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from maskpool_verify.audit import audit
from maskpool_verify.engine.lake import LakeEngine
from maskpool_verify.engine.protocol import ModuleResult, Progress
from maskpool_verify.errors import AuditError, EnvironmentFault, UsageError
from maskpool_verify.failures import errors, place
from maskpool_verify.sources import IMPORTS, require_clean, require_no_links

PACKAGE: Final = "real"
"""The directory of the Lake package, beside the manifest."""
LIBRARY: Final = "MaskPoolReal"
MATHLIB: Final = "v4.28.0"
"""The release of mathlib that the package requires; it is for the Lean of :mod:`.engine.lake`."""

THEOREMS: Final = tuple(
    f"{LIBRARY}.{name}"
    for name in (
        "pool_eq_attentionPool",
        "attentionPool_equiv",
        "attentionPool_padding",
        "attentionPool_congr",
        "attentionPool_all_masked",
        "masked_attention_pool",
        "masked_attention_pool_stable",
    )
)
"""What is audited: the specification, its four laws, and the bundled kernels."""

_IMPORTS: Final = re.compile(rf"{IMPORTS.pattern}|(Mathlib|{LIBRARY})(\.|$)")
_OPEN_NAMESPACES: Final = (LIBRARY, "MaskPool", "certificates")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RealTheorem(_Model):
    """A theorem about mathlib's real numbers; ``axioms`` are all that its proof reaches, in mathlib too."""

    name: str
    statement: str | None
    axioms: tuple[str, ...]


class RealsReport(_Model):
    """Which numbers the theorems are about.

    ``abstract``: any ordered field with an exponential, and mathlib was not asked. ``mathlib``: the package
    was built against it, at ``revision``, and ``theorems`` were audited; ``violations`` must be empty.
    """

    basis: Literal["abstract", "mathlib"]
    mathlib: str | None = None
    revision: str | None = None
    theorems: tuple[RealTheorem, ...] = ()
    violations: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """In words."""
        if self.basis == "abstract":
            return "the theorems are over an abstract field with exp and log (no mathlib)"
        of = f"mathlib {self.mathlib} ({(self.revision or 'unknown revision')[:12]})"
        if self.violations:
            return f"NOT proved for the ℝ of {of}"
        return f"{len(self.theorems)} theorems about the ℝ of {of} were built and audited"


ABSTRACT: Final = RealsReport(basis="abstract")


def check_reals(
    root: Path, engine: LakeEngine, progress: Callable[[Progress], None] = lambda _: None
) -> RealsReport:
    """Build the package ``real/`` of the project at ``root`` with mathlib, and audit its theorems.

    Raises:
        UsageError: the project has no such package.
        EnvironmentFault: Lean or mathlib is not there and cannot be downloaded, or is of another version.
        AuditError: a source contains what could go around Lean's kernel.
    """
    package = root.absolute() / PACKAGE
    if not (package / "lakefile.lean").is_file():
        raise UsageError(f"There is no {package / 'lakefile.lean'}; --mathlib needs the package {PACKAGE}/.")
    require_no_links([package], root.absolute())
    require_clean(
        root.absolute(), [package / LIBRARY], lean_sources(package), [package / "lakefile.lean"], _IMPORTS
    )
    engine = engine.with_downloads()  # mathlib comes compiled; the audit reads its terms all the same
    engine.fetch_mathlib(package)
    built = engine.build(package, [LIBRARY], progress=progress)
    revision = _revision(package)
    if failed := _failures(built.values()):
        return RealsReport(basis="mathlib", mathlib=MATHLIB, revision=revision, violations=failed)
    artifacts = engine.artifacts(package)
    return audit_reals(artifacts.own, (*artifacts.library, *engine.dependencies(package)), revision)


def audit_reals(own: Path, library: Sequence[Path], revision: str | None) -> RealsReport:
    """Audit :data:`THEOREMS`; ``own`` has the artifacts of the package, ``library`` those of all others."""
    try:
        result = audit(own, library, [LIBRARY], THEOREMS, _OPEN_NAMESPACES)
    except AuditError as error:
        found = (f"The audit failed: {error}.",)
        return RealsReport(basis="mathlib", mathlib=MATHLIB, revision=revision, violations=found)
    return RealsReport(
        basis="mathlib",
        mathlib=MATHLIB,
        revision=revision,
        theorems=tuple(
            RealTheorem(name=t.name, statement=t.statement, axioms=t.axioms) for t in result.theorems
        ),
        violations=result.all_violations,
    )


def lean_sources(package: Path) -> list[Path]:
    """The Lean files of the package."""
    return [package / f"{LIBRARY}.lean", *sorted((package / LIBRARY).rglob("*.lean"))]


def _failures(results: Iterable[ModuleResult]) -> tuple[str, ...]:
    """A sentence for each module with an error."""
    return tuple(
        f"{result.module} does not build: {PACKAGE}/{place(found[0])}: {found[0].text.splitlines()[0]}"
        for result in results
        if (found := errors(result))
    )


def _revision(package: Path) -> str:
    """The commit of mathlib that lake has chosen.

    Raises:
        EnvironmentFault: lake has not written it, or chose another release.
    """
    path = package / "lake-manifest.json"
    try:
        entries = {entry["name"]: entry for entry in json.loads(path.read_bytes())["packages"]}
        mathlib = entries["mathlib"]
        asked, revision = mathlib["inputRev"], mathlib["rev"]
    except (OSError, ValueError, KeyError, TypeError):
        raise EnvironmentFault(
            f"{path} does not say which mathlib was used; remove it and try again."
        ) from None
    if asked != MATHLIB or not isinstance(revision, str):
        raise EnvironmentFault(f"{path} has mathlib {asked}, and not {MATHLIB}; remove it and try again.")
    return revision
