"""What theorems rest on, found by walking the compiled terms; nothing is taken from compiler messages.

Not visible here: a proof that the kernel never checked (``set_option debug.skipKernelTC``) leaves no trace in
the files. That option has to be refused in the sources, or the proofs checked by a second kernel.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from .errors import AuditError
from .meaning import Meanings
from .olean import PARTS, ModuleData, Name, OleanError, load, make_name, parse_name, pretty
from .olean.constants import (
    Axiom,
    Constant,
    Constructor,
    Definition,
    Inductive,
    Kind,
    Opaque,
    Recursor,
    Theorem,
    terms,
)
from .olean.expr import (
    IMPLICIT,
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Level,
    Lit,
    MVar,
    Param,
    Pi,
    Proj,
    Sort,
    Succ,
    Zero,
    alike,
    has_level_mvar,
    subterms,
)

# -- the axioms that are allowed, with their statements


def _const(name: str, *levels: Level) -> Const:
    return Const(parse_name(name), levels)


def _apply(function: Expr, *arguments: Expr) -> Expr:
    for argument in arguments:
        function = App(function, argument)
    return function


def _forall(*domains: Expr, result: Expr) -> Expr:
    for domain in reversed(domains):
        result = Pi(make_name("x"), domain, result, IMPLICIT)
    return result


_PROP, _U = Sort(Zero()), Param(make_name("u"))
_B0, _B1, _B2, _B3, _B4 = map(BVar, range(5))

ALLOWED_AXIOMS: Final[dict[Name, Expr]] = {
    # {a b : Prop} → (a ↔ b) → a = b
    parse_name("propext"): _forall(
        _PROP,
        _PROP,
        _apply(_const("Iff"), _B1, _B0),
        result=_apply(_const("Eq", Succ(Zero())), _PROP, _B2, _B1),
    ),
    # {α : Sort u} → Nonempty α → α
    parse_name("Classical.choice"): _forall(Sort(_U), _apply(_const("Nonempty", _U), _B0), result=_B1),
    # {α : Sort u} {r : α → α → Prop} {a b : α} → r a b → Quot.mk r a = Quot.mk r b
    parse_name("Quot.sound"): _forall(
        Sort(_U),
        _forall(_B0, _B1, result=_PROP),
        _B1,
        _B2,
        _apply(_B2, _B1, _B0),
        result=_apply(
            _const("Eq", _U),
            _apply(_const("Quot", _U), _B4, _B3),
            _apply(_const("Quot.mk", _U), _B4, _B3, _B2),
            _apply(_const("Quot.mk", _U), _B4, _B3, _B1),
        ),
    ),
}
"""The axioms of Lean; not ``sorryAx``, and not ``Lean.ofReduceBool``, which ``native_decide`` uses."""

COMPILER_OVERRIDES: Final = {
    parse_name("Lean.Compiler.implementedByAttr"): "implemented_by",
    parse_name("Lean.externAttr"): "extern",
}
"""Extensions that record attributes which make compiled code differ from the definition."""

# -- modules


@dataclass(frozen=True, slots=True)
class Module:
    """A module; ``own``: of the project, with proofs; ``data``: the part with everything that is shipped."""

    name: Name
    own: bool
    path: Path
    data: ModuleData

    @property
    def digest(self) -> str:
        """SHA-256 of what was read of its files."""
        return hashlib.sha256(self.data.image.bytes).hexdigest()


@dataclass(frozen=True, slots=True)
class _Facts:
    """What one constant says by itself."""

    kind: Kind
    module: Module
    names: tuple[Name, ...]  # the constants it needs directly
    original: Kind  # what it was declared as, where the body is not shipped
    unsafe: bool
    open: bool  # has free variables, or terms that elaboration left open
    overrides: tuple[str, ...]


class World:
    """Modules of the directory ``own``, which come with proofs, and of ``library`` directories.

    Loads ``roots`` and all they import; more can be loaded later.

    Raises:
        AuditError: as :meth:`load`.
    """

    def __init__(self, own: Path, library: Sequence[Path], roots: Iterable[Name] = ()) -> None:
        self.own, self.library = own, tuple(library)
        self.modules: Final[dict[Name, Module]] = {}
        self.overrides: Final[dict[Name, tuple[str, ...]]] = {}
        """The own constants with an attribute of :data:`COMPILER_OVERRIDES`."""
        self._home: Final[dict[Name, Module]] = {}
        self._again: Final[dict[Name, list[Module]]] = {}  # own modules that declare a theorem once more
        self._facts: Final[dict[Name, _Facts]] = {}
        self.load(roots)

    def load(self, roots: Iterable[Name]) -> tuple[Module, ...]:
        """Load modules, and all they import, unless they are loaded already; returns the new ones.

        Raises:
            AuditError: a module is missing, malformed, in two directories, or without the part with the
                proofs; an own module redefines a constant of the library or of another module, or shows
                importers something else than it declares; a library module imports an own one.
        """
        before = len(self.modules)
        pending: list[tuple[Name, Module | None]] = [(root, None) for root in roots]  # with the importers
        while pending:
            name, importer = pending.pop()
            module = self.modules.get(name)
            if module is None:
                module = self.modules[name] = self._read(name, importer)
                pending += [(i.module, module) for i in module.data.imports]
            if importer is not None and module.own and not importer.own:
                raise AuditError(
                    f"the library module {importer.name} imports {name}, which is not of the library; "
                    "install the library again"
                )
        new = tuple(self.modules.values())[before:]
        for module in sorted(new, key=lambda m: m.own):
            for constant in module.data.addresses:
                self._enter(constant, module)
        for module in new:
            for extension, attribute in COMPILER_OVERRIDES.items() if module.own else ():
                for name, _ in module.data.pairs(extension):
                    self.overrides[name] = (*self.overrides.get(name, ()), attribute)
                    self._facts.pop(name, None)
        return new

    def _enter(self, constant: Name, module: Module) -> None:
        other = self._home.setdefault(constant, module)
        if other is module or not (module.own or other.own):
            return
        first, second = (module, other) if other.own and not module.own else (other, module)
        if not _same_theorem(constant, first, second):
            raise AuditError(
                f"{constant} is declared in {first.name} and again in {second.name} ({second.path}); "
                "rename one of them"
            )
        self._home[constant] = first
        self._again.setdefault(constant, []).append(second)
        self._facts.pop(constant, None)  # they are those of all declarations

    def _read(self, name: Name, importer: Module | None) -> Module:
        parts = name.components()
        if not parts or not all(
            isinstance(p, str) and p.strip(".") and not set(p) & set("/\\:\0") for p in parts
        ):
            raise AuditError(f"{name} is not the name of a module; correct the list of modules")
        relative = Path(*map(str, parts[:-1]), f"{parts[-1]}.olean")
        found = [(d, d / relative) for d in (*self.library, self.own) if (d / relative).is_file()]
        if not found:
            by = f", imported by {importer.name}," if importer is not None else ""
            raise AuditError(
                f"there is no compiled file of the module {name}{by} below {self.own}; build it first"
            )
        if len(found) > 1:
            raise AuditError(f"the module {name} is both {found[0][1]} and {found[1][1]}; remove one of them")
        directory, path = found[0]
        files = load(path)
        module = Module(name, directory is self.own, path, files[-1])
        if module.own:
            self._check_parts(module, files)
        return module

    @staticmethod
    def _check_parts(module: Module, files: list[ModuleData]) -> None:
        whole, path = module.data, module.path
        if whole.is_module and len(files) != len(PARTS):
            raise OleanError("the part with the proofs, .olean.private, is missing", None, path)
        for part in files[:-1]:  # what importers have seen
            for constant in part.addresses:
                if not part.agrees(constant, whole):
                    raise OleanError(f"{constant} is exported otherwise than it is declared", None, path)

    def is_own(self, name: Name) -> bool:
        """Whether the project declares the constant."""
        module = self._home.get(name)
        return module is not None and module.own

    def home(self, name: Name) -> Module | None:
        """The module that declares the constant."""
        return self._home.get(name)

    def get(self, name: Name) -> Constant | None:
        """The constant, with its body if that is shipped."""
        module = self._home.get(name)
        return module.data.get(name) if module is not None else None

    def facts(self, name: Name) -> _Facts:
        """What the constant says by itself; remembered.

        Raises:
            AuditError: there is no such constant.
        """
        facts = self._facts.get(name)
        if facts is None:
            constant, module = self.get(name), self._home.get(name)
            if constant is None or module is None:
                raise AuditError(f"a term names {name}, which no module declares; build all modules again")
            facts = _read_facts(constant, module, self.overrides.get(name, ()))
            for copy in self._again.get(name, ()):
                again = copy.data.get(name)
                assert again is not None
                more = _read_facts(again, copy, ())
                names = tuple(dict.fromkeys((*facts.names, *more.names)))
                facts = replace(facts, names=names, open=facts.open or more.open)
            # to the kernel, a partial definition is an opaque constant; what was written is next to it
            if module.own and facts.kind == "opaque" and make_name("_unsafe_rec", parent=name) in self._home:
                facts = replace(facts, unsafe=True)
            self._facts[name] = facts
        return facts


def _same_theorem(name: Name, first: Module, second: Module) -> bool:
    """Whether both are theorems that state the same: Lean generates some, as ``f.eq_1``, in each module that
    needs them."""
    for module in (first, second):
        proved = isinstance(module.data.get(name), Theorem)
        if not proved and (module.own or module.data.original_kinds.get(name) != "theorem"):
            return False
    a, b = first.data.get(name), second.data.get(name)
    if a is None or b is None or a.level_params != b.level_params:
        return False
    return alike(a.type, b.type)


_NAT: Final = (parse_name("Nat"),)
_STRING: Final = tuple(map(parse_name, ("String", "String.ofList", "List", "Char", "Char.ofNat", "Nat")))


def _read_facts(constant: Constant, module: Module, overrides: tuple[str, ...]) -> _Facts:
    names: dict[Name, None] = {}
    is_open = False
    for e in subterms(*terms(constant)):
        if isinstance(e, App):  # most are
            continue
        match e:
            case Const(name, levels):
                names[name] = None
                is_open = is_open or (module.own and has_level_mvar(*levels))
            case Proj(structure):
                names[structure] = None
            case Lit(value):  # the kernel unfolds literals to these
                names |= dict.fromkeys(_NAT if isinstance(value, int) else _STRING)
            case Sort(level):
                is_open = is_open or (module.own and has_level_mvar(level))
            case FVar() | MVar():
                is_open = True
    # constants that come with this one without being named in its terms
    match constant:
        case Inductive():
            recursors = [make_name("rec", parent=n) for n in constant.all]
            names |= dict.fromkeys([*constant.all, *constant.ctors, *recursors])
        case Recursor():
            names |= dict.fromkeys([*constant.all, *(rule.ctor for rule in constant.rules)])
        case Constructor():
            names[constant.induct] = None
        case _:
            pass
    original: Kind = constant.kind
    if isinstance(constant, Axiom):
        original = module.data.original_kinds.get(constant.name, "axiom")
    match constant:
        case Definition(safety=safety):
            unsafe = safety != "safe"
        case Axiom() | Opaque() | Inductive() | Constructor() | Recursor():
            unsafe = constant.unsafe
        case _:
            unsafe = False
    return _Facts(constant.kind, module, tuple(names), original, unsafe, is_open, overrides)


# -- theorems


@dataclass(frozen=True, slots=True)
class Footprint:
    """All that a constant rests on: what its type and value name, and so on."""

    root: Name
    constants: frozenset[Name]
    axioms: tuple[Name, ...]
    without_body: tuple[Name, ...]
    """Own constants declared as something else than axioms, but without their body."""
    unsafe: tuple[Name, ...]
    """Unsafe or partial."""
    open: tuple[Name, ...]
    """With free variables, or with terms or universes that elaboration left open."""
    overridden: tuple[tuple[Name, str], ...]
    """Own constants with an attribute that gives them other compiled code."""
    library_theorems: tuple[Name, ...]
    """Theorems of the library whose proofs are not shipped; their own axioms are not known."""
    library_others: tuple[tuple[Name, Kind], ...]
    """Other constants of the library whose bodies are not shipped."""


def closure(world: World, root: Name) -> Footprint:
    """Walk types, values, constructors and recursors of everything that ``root`` needs.

    Raises:
        AuditError: a constant is missing or malformed.
    """
    done = {root}
    stack = [root]
    while stack:
        for name in world.facts(stack.pop()).names:
            if name not in done:
                done.add(name)
                stack.append(name)
    named = sorted(((name, world.facts(name)) for name in done), key=lambda item: str(item[0]))
    bodiless = [(n, f) for n, f in named if f.kind == "axiom" and f.original != "axiom"]
    return Footprint(
        root,
        frozenset(done),
        axioms=tuple([n for n, f in named if f.kind == "axiom" and f.original == "axiom"]),
        without_body=tuple([n for n, f in bodiless if f.module.own]),
        unsafe=tuple([n for n, f in named if f.unsafe]),
        open=tuple([n for n, f in named if f.open]),
        overridden=tuple([(n, attribute) for n, f in named for attribute in f.overrides]),
        library_theorems=tuple([n for n, f in bodiless if not f.module.own and f.original == "theorem"]),
        library_others=tuple(
            [(n, f.original) for n, f in bodiless if not f.module.own and f.original != "theorem"]
        ),
    )


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TheoremAudit(_Frozen):
    """What was found about one theorem.

    ``kind`` is that of the constant, ``missing`` if there is none; ``statement`` is printed from the
    checked term, and ``digest`` covers all that it means (:mod:`maskpool_verify.meaning`). ``axioms`` are
    all that were reached. ``constants`` counts everything walked; of these, ``library_theorems`` are
    theorems of Lean's library that come without their proofs, so that the axioms these use are not known,
    and ``library_others`` other constants of it without bodies. ``violations`` are sentences; there must be
    none.
    """

    name: str
    module: str | None
    kind: str
    statement: str | None
    digest: str | None
    axioms: tuple[str, ...]
    constants: int
    library_theorems: int
    library_others: int
    violations: tuple[str, ...]


class AuditResult(_Frozen):
    """What was found about all theorems asked for.

    ``violations`` are those that belong to no theorem. ``definitions`` are the declarations of the project
    that the statements need, each with a digest. ``own_modules`` and ``library_modules`` count what was
    read; ``lean_version`` and ``githash`` are those in the files, the same in all of them. ``files`` are the
    SHA-256 of what was read of the own modules.
    """

    allowed_axioms: tuple[str, ...]
    lean_version: str
    githash: str
    own_modules: int
    library_modules: int
    theorems: tuple[TheoremAudit, ...]
    definitions: dict[str, str]
    violations: tuple[str, ...]
    files: dict[str, str]

    @property
    def ok(self) -> bool:
        """Whether there is at least one theorem, and no violation."""
        return bool(self.theorems) and not self.all_violations

    @property
    def all_violations(self) -> tuple[str, ...]:
        """The violations of the whole and of each theorem."""
        return (*self.violations, *(v for theorem in self.theorems for v in theorem.violations))


def audit(
    artifacts_own: Path,
    artifacts_library: Sequence[Path],
    modules: Sequence[str],
    theorems: Sequence[str],
    open_namespaces: Sequence[str] = (),
) -> AuditResult:
    """Audit ``theorems``, as ``MaskPool.pool_padding``, of ``modules`` and of what these import.

    ``artifacts_own`` and ``artifacts_library`` are directories with ``A/B.olean`` for the module ``A.B``.
    ``open_namespaces`` are left out where statements are printed. What is wrong with a theorem is a
    violation in the result; only what makes the files as a whole useless is raised.

    Raises:
        AuditError: as :class:`World` and :func:`closure`, a name is malformed, or the files are of different
            builds of Lean.
    """
    with _without_search_for_cycles():
        world = World(artifacts_own, artifacts_library, map(parse_name, modules))
        return _audited(world, tuple(map(parse_name, theorems)), open_namespaces)


@contextmanager
def _without_search_for_cycles() -> Iterator[None]:
    """There are millions of terms, and none in a cycle; to look for that takes a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _audited(world: World, names: Sequence[Name], open_namespaces: Sequence[str]) -> AuditResult:
    builds = {(m.data.header.lean_version, m.data.header.githash) for m in world.modules.values()}
    if len(builds) > 1:
        shown = ", ".join(f"{version} ({githash or 'no hash'})" for version, githash in sorted(builds))
        raise AuditError(
            f"the compiled modules are of different builds of Lean: {shown}; build all modules again"
        )
    version, githash = next(iter(builds), ("", ""))
    own = sum(m.own for m in world.modules.values())
    meanings = Meanings(world)
    declared = [name for name in names if world.get(name) is not None]
    definitions = {str(n): digest for name in declared for n, digest in meanings.definitions(name).items()}
    return AuditResult(
        allowed_axioms=tuple(map(str, ALLOWED_AXIOMS)),
        lean_version=version,
        githash=githash,
        own_modules=own,
        library_modules=len(world.modules) - own,
        theorems=tuple([audit_theorem(world, meanings, name, open_namespaces) for name in names]),
        definitions=dict(sorted(definitions.items())),
        violations=() if names else ("No theorem was audited.",),
        files={str(m.name): m.digest for m in world.modules.values() if m.own},
    )


def audit_theorem(
    world: World, meanings: Meanings, name: Name, open_namespaces: Sequence[str]
) -> TheoremAudit:
    """What is found about one theorem; arguments as for :func:`audit`."""
    constant, module = world.get(name), world.home(name)
    if constant is None or module is None:
        return TheoremAudit(
            name=str(name),
            module=None,
            kind="missing",
            statement=None,
            digest=None,
            axioms=(),
            constants=0,
            library_theorems=0,
            library_others=0,
            violations=(f"There is no theorem {name}.",),
        )
    footprint = closure(world, name)
    found: list[str] = []
    if not module.own:
        found.append(f"{name} is not of this project, but of the library module {module.name}.")
    elif not isinstance(constant, Theorem):
        found.append(f"{name} is not a theorem, but a constant of kind {constant.kind}.")
    return TheoremAudit(
        name=str(name),
        module=str(module.name),
        kind=constant.kind,
        statement=pretty(constant.type, world.get, open_namespaces),
        digest=meanings.digest(name),
        axioms=tuple(map(str, footprint.axioms)),
        constants=len(footprint.constants),
        library_theorems=len(footprint.library_theorems),
        library_others=len(footprint.library_others),
        violations=(*found, *_violations(world, footprint)),
    )


def _violations(world: World, footprint: Footprint) -> list[str]:
    root, found = footprint.root, list[str]()
    for name in footprint.axioms:
        module, constant, expected = world.home(name), world.get(name), ALLOWED_AXIOMS.get(name)
        assert module is not None
        assert constant is not None
        if expected is None:
            found.append(f"{root} rests on the axiom {name} of {module.name}.")
        elif module.own:
            found.append(f"{root} rests on an axiom {name} that {module.name} declares itself.")
        elif not _states(constant, expected):
            found.append(
                f"{root} rests on {name} of {module.name}, which does not state what Lean's axiom does."
            )
    found += [
        f"{root} rests on {name}, whose body is not in the compiled module."
        for name in footprint.without_body
    ]
    found += [f"{root} rests on {name}, which is unsafe or partial." for name in footprint.unsafe]
    found += [f"{root} rests on {name}, which has free or unsolved variables." for name in footprint.open]
    found += [
        f"{root} rests on {name}, whose compiled code is replaced by the attribute {attribute}."
        for name, attribute in footprint.overridden
    ]
    return found


def _states(axiom: Constant, expected: Expr) -> bool:
    """Whether the axiom has this type; at most one universe parameter, which may have any name."""
    if axiom.level_params not in ((), (make_name("u"),)):
        return False
    return alike(expected, axiom.type)
