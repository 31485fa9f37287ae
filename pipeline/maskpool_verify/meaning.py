"""What a statement means, as a digest: the statement and every definition of the project below it.

Two runs give a theorem the same digest exactly if its statement is the same term, and so is every definition,
structure, instance and inductive type of the project that the statement mentions, directly or through others.
Proofs do not count, nor do names of bound variables, annotations, or which arguments are implicit. Constants
of Lean's own library count by their names: the library is fixed by the engine's checksum.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from maskpool_verify.errors import AuditError
from maskpool_verify.olean import Name, make_name
from maskpool_verify.olean.constants import (
    Axiom,
    Constant,
    Constructor,
    Definition,
    Inductive,
    Opaque,
    Quot,
    Recursor,
    Theorem,
)
from maskpool_verify.olean.expr import (
    BVar,
    Const,
    Expr,
    FVar,
    IMax,
    Level,
    LevelMVar,
    Lit,
    Max,
    MData,
    MVar,
    Param,
    Proj,
    Sort,
    Succ,
    Zero,
    children,
    subterms,
)

_INTERNAL = re.compile(
    r"_.*|match_\d+|rec|recOn|casesOn|below|brecOn|binductionOn|noConfusion|noConfusionType|ctorIdx|ctorElim"
)
"""Components of the names of constants that Lean makes itself."""


class World(Protocol):
    """The constants of a project and of Lean's library."""

    def get(self, name: Name) -> Constant | None:
        """The constant, with its body if that is shipped."""

    def is_own(self, name: Name) -> bool:
        """Whether the project declares it."""


def _hash(*parts: bytes) -> bytes:
    """A hash of the list of ``parts``; their lengths count, so that no two lists are encoded alike."""
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


def _name(name: Name) -> bytes:
    """A name as a structure: numbers and strings are told apart."""
    return _hash(*(f"{type(part).__name__}:{part}".encode() for part in name.components()))


def _level(level: Level) -> bytes:
    match level:
        case Zero():
            return b"zero"
        case Succ():
            return _hash(b"succ", _level(level.level))
        case Max():
            return _hash(b"max", _level(level.left), _level(level.right))
        case IMax():
            return _hash(b"imax", _level(level.left), _level(level.right))
        case Param():
            return _hash(b"param", _name(level.name))
        case LevelMVar():
            return _hash(b"open", _name(level.name))


def _payload(e: Expr) -> tuple[bytes, ...]:
    """What a term is beside its children."""
    kind = type(e).__name__.encode()
    match e:
        case BVar():
            return (kind, str(e.index).encode())
        case FVar() | MVar():
            return (kind, _name(e.name))
        case Sort():
            return (kind, _level(e.level))
        case Const():
            return (kind, _name(e.name), *map(_level, e.levels))
        case Lit():
            return (kind, type(e.value).__name__.encode(), str(e.value).encode())
        case Proj():
            return (kind, _name(e.structure), str(e.index).encode())
        case _:
            return (kind,)


class Meanings:
    """Digests of the theorems of one world; what they share is hashed once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._terms: dict[int, bytes] = {}
        self._constants: dict[Name, tuple[bytes, frozenset[Name]]] = {}

    def digest(self, name: Name) -> str:
        """``"sha256:..."`` of what the statement of a theorem means.

        Raises:
            AuditError: there is no such constant, or one that it needs.
        """
        lines = sorted((_name(constant), digest) for constant, digest in self._below(name).items())
        root = _hash(b"statement", _name(name), *(part for line in lines for part in line))
        return f"sha256:{root.hex()}"

    def definitions(self, name: Name) -> Mapping[Name, str]:
        """The declarations of the project that the meaning of a theorem needs, each with its own digest.

        What Lean makes of a declaration, such as constructors and auxiliary definitions, counts with it.

        Raises:
            AuditError: as for :meth:`digest`.
        """
        groups: dict[Name, list[bytes]] = {}
        for constant, digest in self._below(name).items():
            if constant is not name and digest:
                groups.setdefault(self._declaration(constant), []).append(digest)
        return {declaration: _hash(*sorted(parts)).hex()[:16] for declaration, parts in groups.items()}

    def _declaration(self, name: Name) -> Name:
        """The declaration of the source that a constant belongs to."""
        match self._world.get(name):
            case Constructor(induct=induct):
                name = induct
            case Recursor(all=types):
                name = types[0]
            case _:
                pass
        parts = name.components()
        cut = next((i for i, part in enumerate(parts) if _INTERNAL.fullmatch(str(part))), len(parts))
        return make_name(*parts[:cut])

    def _below(self, name: Name) -> dict[Name, bytes]:
        """The digests of all constants that the meaning of ``name`` needs; empty for those of the library."""
        found: dict[Name, bytes] = {}
        stack = [name]
        while stack:
            current = stack.pop()
            if current not in found:
                found[current], below = self._constant(current, is_root=current is name)
                stack += below
        return found

    def _constant(self, name: Name, *, is_root: bool) -> tuple[bytes, frozenset[Name]]:
        """The digest of a constant by itself, and the constants that its meaning needs."""
        known = self._constants.get(name)
        if known is None:
            constant = self._world.get(name)
            if constant is None:
                raise AuditError(
                    f"a statement names {name}, which no module declares; build all modules anew"
                )
            # which proof a definition contains does not matter, and its statement follows from its use
            leaf = not self._world.is_own(name) or (isinstance(constant, Theorem) and not is_root)
            known = (b"", frozenset()) if leaf else self._read(constant)
            if not leaf or not isinstance(constant, Theorem):
                self._constants[name] = known
        return known

    def _read(self, constant: Constant) -> tuple[bytes, frozenset[Name]]:
        terms: Sequence[Expr] = (constant.type,)
        extra: tuple[bytes, ...] = ()
        below: set[Name] = set()
        match constant:
            case Definition() | Opaque():
                terms = (constant.type, constant.value)
            case Inductive():
                below = {*constant.all, *constant.ctors}
                counts = (constant.num_params, constant.num_indices, constant.num_nested)
                flags = (constant.recursive, constant.unsafe, constant.reflexive)
                extra = (*map(_name, constant.ctors), *(str(part).encode() for part in (*counts, *flags)))
            case Constructor():
                below = {constant.induct}
                extra = (_name(constant.induct), str(constant.index).encode())
            case Recursor():
                below = set(constant.all)
            case Theorem() | Axiom() | Quot():
                pass
        for e in subterms(*terms):
            if isinstance(e, Const):
                below.add(e.name)
            elif isinstance(e, Proj):
                below.add(e.structure)
        digest = _hash(
            constant.kind.encode(),
            _name(constant.name),
            *map(_name, constant.level_params),
            b"terms",
            *map(self._term, terms),
            b"extra",
            *extra,
        )
        return digest, frozenset(below - {constant.name})

    def _term(self, root: Expr) -> bytes:
        memo = self._terms
        stack = [root]
        while stack:
            e = stack[-1]
            if id(e) in memo:
                stack.pop()
                continue
            below = children(e)
            missing = [child for child in below if id(child) not in memo]
            if missing:
                stack += missing
                continue
            digests = [memo[id(child)] for child in below]
            memo[id(e)] = digests[0] if isinstance(e, MData) else _hash(*_payload(e), *digests)
            stack.pop()
        return memo[id(root)]
