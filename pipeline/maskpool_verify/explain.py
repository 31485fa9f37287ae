"""What a theorem says, and the lemmas that its proof rests on, read from the compiled terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from maskpool_verify import certificates, workspace
from maskpool_verify.audit import ALLOWED_AXIOMS, TheoremAudit, World, audit_theorem
from maskpool_verify.check import OPEN_NAMESPACES
from maskpool_verify.engine.protocol import Engine, Progress
from maskpool_verify.errors import StaleError, UsageError
from maskpool_verify.lean.properties import Property, theorems
from maskpool_verify.lean.render import module_path
from maskpool_verify.manifest import Manifest, suggestion
from maskpool_verify.meaning import Meanings
from maskpool_verify.olean import Name, parse_name
from maskpool_verify.olean.constants import Theorem, terms
from maskpool_verify.olean.expr import Const, Proj, subterms
from maskpool_verify.workspace import LIBRARY

DEPTH = 2

_AUXILIARY = re.compile(r"_.*|match_\d+.*|proof_\d+|eq_\d+|eq_def|congr_simp|injEq|sizeOf_spec|\d+")
"""Components of the names of theorems that Lean makes itself."""


@dataclass(frozen=True)
class Lemma:
    """A theorem of the project in the proof of another one.

    ``below`` are those that its own proof names, in alphabetical order, and ``library`` those of Lean's own
    library; ``again`` says that they have been shown before, and ``hidden`` counts those of the project that
    are too deep to be shown.
    """

    name: str
    below: tuple[Lemma, ...] = ()
    library: tuple[str, ...] = ()
    again: bool = False
    hidden: int = 0


@dataclass(frozen=True)
class Explanation:
    """A theorem, with the axioms in their usual order, and what its proof rests on.

    ``property`` is what it proves of a kernel; ``None`` for a lemma of the library, whose documentation
    comment ``comment`` is, if it has one.
    """

    theorem: TheoremAudit
    property: Property | None
    comment: str | None
    proof: Lemma


def explain(
    manifest: Manifest,
    name: str,
    engine: Engine,
    *,
    depth: int = DEPTH,
    progress: Callable[[Progress], None] = lambda _: None,
    on_wait: Callable[[], None] = lambda: None,
) -> Explanation:
    """Find a theorem about a kernel or of the library, and read what its proof rests on.

    Args:
        name: the name, or enough of its components, as in ``masked_attention_pool.padding``.
        depth: how many lemmas below each other are shown.

    Raises:
        UsageError: no theorem is called so, or several.
        StaleError: the theorem is not proved.
        AuditError: a compiled file is malformed.
        EnvironmentFault: Lean cannot be run.
    """
    workspace.require_one_library(manifest)
    asked = {t.dotted: t for kernel in manifest.kernels for t in theorems(kernel)}
    known = _named(name, asked)
    module = asked[known].module if known is not None else LIBRARY
    with certificates.locked(manifest.root, on_wait):
        work = workspace.prepare(manifest).root
        built = engine.build(work, [module], progress=progress)
        if module not in built or built[module].status not in ("built", "cached"):
            raise StaleError(
                f"{known or LIBRARY} is not proved: {module} does not build; see maskpool-verify check."
            )
        artifacts = engine.artifacts(work)
        world = World(artifacts.own, artifacts.library, [parse_name(module)])
    own = {str(n): n for m in world.modules.values() if m.own for n in m.data.addresses}
    if known is None:
        lemmas = [full for full, n in own.items() if _is_lemma(world, n)]
        known = _named(name, lemmas)
        if known is None:
            short = [full.removeprefix(f"{LIBRARY}.") for full in (*asked, *lemmas)]
            raise UsageError(f'There is no theorem "{name}"{suggestion(name, short)}.')
    root = own.get(known)
    if root is None:
        raise StaleError(f"{known} is not proved; see maskpool-verify check.")
    theorem = audit_theorem(world, Meanings(world), root, OPEN_NAMESPACES)
    order = [str(axiom) for axiom in ALLOWED_AXIOMS]
    axioms = sorted(theorem.axioms, key=lambda axiom: order.index(axiom) if axiom in order else len(order))
    return Explanation(
        theorem=theorem.model_copy(update={"axioms": tuple(axioms)}),
        property=asked[known].proves if known in asked else None,
        comment=_comment(work, world, root),
        proof=_proof(world, root, depth, set()),
    )


def _named(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that is called ``name``, or else has its components in this order to its end.

    Raises:
        UsageError: there are several.
    """
    wanted = name.split(".")
    found = [full for full in names if full == name] or [
        full for full in names if full.split(".")[-1] == wanted[-1] and _is_part(wanted, full.split("."))
    ]
    if len(found) > 1:
        raise UsageError(f'"{name}" may be {", ".join(found[:-1])} or {found[-1]}; say more of the name.')
    return found[0] if found else None


def _is_part(some: list[str], all_: list[str]) -> bool:
    rest = iter(all_)
    return all(part in rest for part in some)


def _is_lemma(world: World, name: Name) -> bool:
    """Whether a constant is a theorem of a source file."""
    return _is_written(name) and isinstance(world.get(name), Theorem)


def _is_written(name: Name) -> bool:
    """Whether the declaration is in a source, and not made by Lean."""
    return not any(_AUXILIARY.fullmatch(str(part)) for part in _visible(name))


def _visible(name: Name) -> tuple[str | int, ...]:
    """The components of a name, for a private one without those that Lean has added."""
    parts = name.components()
    return parts[parts.index(0) + 1 :] if parts[0] == "_private" and 0 in parts else parts


def _shown(name: Name) -> str:
    return ".".join(map(str, _visible(name)))


def _used(world: World, root: Name) -> Iterator[Name]:
    """The theorems that a proof names; what Lean has made itself is looked through."""
    done, stack = {root}, [root]
    while stack:
        current = stack.pop()
        constant = world.get(current)
        assert constant is not None
        # what the statement of the theorem names, it does not rest on
        parts = (constant.value,) if isinstance(constant, Theorem) else terms(constant)
        for e in subterms(*parts):
            name = e.name if isinstance(e, Const) else e.structure if isinstance(e, Proj) else None
            if name is None or name in done:
                continue
            done.add(name)
            module = world.home(name)
            kind = module.data.original_kinds.get(name) if module is not None else None
            if world.is_own(name) and not _is_written(name):
                stack.append(name)
            elif isinstance(world.get(name), Theorem) or kind == "theorem":
                yield name


def _proof(world: World, root: Name, depth: int, shown: set[Name]) -> Lemma:
    """The tree below a theorem; ``shown`` collects what has been expanded."""
    used = sorted(_used(world, root), key=str)
    lemmas = [name for name in used if world.is_own(name)]
    library = tuple(str(name) for name in used if not world.is_own(name))
    if root in shown and lemmas:
        return Lemma(_shown(root), again=True)
    if depth == 0:
        return Lemma(_shown(root), library=library, hidden=len(lemmas))
    shown.add(root)
    return Lemma(_shown(root), tuple(_proof(world, name, depth - 1, shown) for name in lemmas), library)


def _comment(work: Path, world: World, name: Name) -> str | None:
    """The documentation comment of a theorem in its source, on one line."""
    module = world.home(name)
    assert module is not None
    text = (work / module_path(str(module.name))).read_text("utf-8")
    short = re.escape(str(name).rpartition(".")[2])
    found = re.search(
        rf"/--((?:(?!-/).)*)-/\s*(?:@\[[^]]*\]\s*)?(?:\w+ )*theorem (?:[\w.]+\.)?{short}[\s:({{\[]",
        text,
        re.DOTALL,
    )
    return " ".join(found[1].split()) if found else None
