"""Every declaration of the project, and what it needs of Lean's library, checked again in dependency order.

Only terms are taken from the compiled files. Types are declared anew, and what the kernel derives from them
is compared with the files; definitions and theorems are checked with their bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final

from maskpool_verify.audit import ALLOWED_AXIOMS, Module, World
from maskpool_verify.errors import AuditError
from maskpool_verify.olean import Name, make_name, parse_name, pretty
from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x
from maskpool_verify.second_kernel.kernel import Kernel, KernelError, Reason
from maskpool_verify.second_kernel.protocol import Assumption, Counts

_NAT_PARTS: Final = (
    *("zero", "succ", "pred", "add", "sub", "mul", "div", "mod", "gcd", "pow", "log2", "beq", "ble"),
    *("land", "lor", "xor", "shiftLeft", "shiftRight"),
)
_COMPUTED: Final[dict[str, tuple[str, ...]]] = {
    "Nat": _NAT_PARTS,
    "Bool": ("true", "false"),
    "Char": ("ofNat",),
    "String": ("ofList", "mk"),
    "List": ("nil", "cons"),
    "Eq": ("refl",),
    "Quot": ("mk", "lift", "ind"),
    "Lean": ("reduceBool", "reduceNat"),
    "eagerReduce": (),
}
KERNEL_NAMES: Final = frozenset(
    make_name(*parts)
    for first, rest in _COMPUTED.items()
    for parts in ((first,), *((first, r) for r in rest))
)
"""Constants that the kernel computes with in its own way, and not by their definitions."""

_QUOT, _EQ = parse_name("Quot"), parse_name("Eq")
_QUOT_PARTS: Final = tuple(parse_name(f"Quot.{part}") for part in ("mk", "lift", "ind"))
_SHOWN_NODES: Final = 40

_UNPROVED: Final = (
    "The proof in the compiled file does not prove the statement: the kernel of the engine never checked it "
    "(as with debug.skipKernelTC), or the file was changed afterwards."
)
_MEANING: Final[dict[Reason, str]] = {
    "unknown": "It names a constant that no checked declaration provides.",
    "duplicate": "The compiled files declare the same name in two ways.",
    "limit": "The kernel gave up, so that nothing is known about this declaration.",
    "other": "The declaration is not one that Lean allows.",
}
_ILL_TYPED: Final = (
    "The compiled file holds a declaration that is not well typed: the engine never checked it, "
    "or the file was changed afterwards."
)


class RefusedError(Exception):
    """The replay ends: ``declaration`` of ``module`` is refused, for ``error``, with this ``meaning``."""

    def __init__(self, declaration: Name, module: Name, error: str, meaning: str) -> None:
        super().__init__(f"{declaration}: {error}")
        self.declaration, self.module, self.error, self.meaning = declaration, module, error, meaning


@dataclass(frozen=True, slots=True)
class _Made:
    """A declaration for the kernel, of ``constant`` and of all in its ``unit``; to be tried only, if that is
    empty."""

    constant: c.Constant
    module: Name
    declaration: int
    unit: tuple[c.Constant, ...]


class Replay:
    """Declares the constants of ``world`` in ``kernel``; ``progress`` hears of each before it is checked.

    Modules can be added one after another, as they are built: what they import comes before them.
    """

    def __init__(
        self,
        world: World,
        kernel: Kernel,
        progress: Callable[[Name, Name], None] = lambda _module, _name: None,
    ) -> None:
        self.world, self.kernel, self._progress = world, kernel, progress
        self._done: Final[set[Name]] = set()  # heads of units: see _head
        self._declared: Final[dict[Name, None]] = {}
        self._derived: Final[dict[Name, c.Constant]] = {}
        self._assumed: Final[dict[Name, c.Kind]] = {}
        self._skipped = 0
        self._made: Final[SimpleQueue[_Made | None]] = SimpleQueue()  # None is the end
        self._stopped = False

    def add(self, modules: Iterable[Name]) -> None:
        """Replay modules, and the own ones that they import.

        Another thread makes the terms of a declaration while the kernel checks the ones before it. Here,
        because a thread of Python has a small stack, and the kernel recurses.

        Raises:
            RefusedError: a declaration is not what the kernel or this module allows.
            AuditError: the files are malformed.
        """
        with ThreadPoolExecutor(1) as pool:
            preparing = pool.submit(self._prepare, modules)
            try:
                while (made := self._made.get()) is not None:
                    self._check(made)
            except BaseException:
                self._stopped = True
                raise
            preparing.result()

    def _prepare(self, modules: Iterable[Name]) -> None:
        """Make what the kernel has to check, in an order in which nothing comes before what it needs."""
        try:
            for module in self.world.load(modules):
                for constant in module.data if module.own else ():
                    self._prepare_constant(constant, module)
        finally:
            self._made.put(None)

    def _prepare_constant(self, constant: c.Constant, module: Module) -> None:
        if constant.name in KERNEL_NAMES:
            raise RefusedError(
                constant.name,
                module.name,
                "a constant that the kernel computes with is declared anew",
                "The kernel would compute with it otherwise than it is defined here.",
            )
        if _unsafe(constant):
            self._skipped += 1
        elif self.world.home(constant.name) is module:
            self.declare(constant.name)
        else:  # a theorem that an earlier module has too: only its proof is of interest
            self._declare_again(constant, module.name)

    def finish(self) -> None:
        """Compare what the kernel has derived with the files.

        Raises:
            RefusedError: they differ.
        """
        for constant in self._derived.values():
            if not self.kernel.derived(constant):
                raise RefusedError(
                    constant.name,
                    self._module(constant.name),
                    f"the {constant.kind} differs from the one that the kernel derives",
                    "The compiled file was changed, or Lean derived it wrongly; proofs by it prove nothing.",
                )

    def counts(self) -> Counts:
        """What was done so far."""
        own = sum(home.own for name in self._declared if (home := self.world.home(name)) is not None)
        return Counts(
            declared=len(self._declared),
            own=own,
            library=len(self._declared) - own,
            compared=len(self._derived),
            assumptions=len(self._assumed),
            skipped=self._skipped,
        )

    def assumptions(self) -> tuple[Assumption, ...]:
        """The library constants without bodies, by name."""
        return tuple(
            Assumption(name=str(n), kind=k) for n, k in sorted(self._assumed.items(), key=lambda i: str(i[0]))
        )

    # -- the order

    def _get(self, name: Name) -> c.Constant:
        constant = self.world.get(name)
        if constant is None:
            raise AuditError(f"a term names {name}, which no module declares; build all modules again")
        return constant

    def _module(self, name: Name) -> Name:
        home = self.world.home(name)
        assert home is not None
        return home.name

    def _head(self, constant: c.Constant) -> Name:
        """The constant that stands for all that are declared together with this one."""
        match constant:
            case c.Constructor(induct=induct):
                return self._head(self._inductive(induct))
            case c.Inductive() | c.Recursor():
                return constant.all[0] if constant.all else constant.name
            case c.Quot():
                return _QUOT
            case _:
                return constant.name

    def _inductive(self, name: Name) -> c.Inductive:
        constant = self._get(name)
        if not isinstance(constant, c.Inductive):
            raise AuditError(
                f"{name} is not an inductive type, as a constructor or recursor says; build all again"
            )
        return constant

    def _unit(self, head: Name) -> tuple[c.Constant, ...]:
        """All constants with this head that are named by the first of them."""
        first = self._get(head)
        if isinstance(first, c.Quot):
            return (first, *map(self._get, _QUOT_PARTS))
        if not isinstance(first, c.Inductive):
            return (first,)
        types = [self._inductive(name) for name in first.all]
        ctors = [self._get(name) for type_ in types for name in type_.ctors]
        recursors = [make_name("rec", parent=name) for name in first.all]
        recursors += [make_name(f"rec_{i + 1}", parent=head) for i in range(first.num_nested)]
        found = [constant for name in recursors if (constant := self.world.get(name)) is not None]
        return (*types, *ctors, *found)

    def declare(self, root: Name) -> None:
        """Prepare a constant, after all that it needs.

        Raises:
            RefusedError, AuditError: as :meth:`run`.
        """
        path: list[Name] = []  # heads whose needs are being declared
        stack = [root]
        opened: set[Name] = set()
        while stack:
            name = stack[-1]
            constant = self._get(name)
            if isinstance(constant, c.Inductive | c.Constructor | c.Recursor | c.Quot):
                self._derived[name] = constant
            head = self._head(constant)
            if head in self._done:
                stack.pop()
                continue
            unit = self._unit(head)
            if head not in opened:
                self._require_safe(unit[0], path)
                opened.add(head)
                path.append(head)
                stack += self._needs(head, unit)
            elif path[-1] == head:
                path.pop()
                stack.pop()
                self._make(unit, path)
                self._done.add(head)
            else:
                raise RefusedError(
                    head,
                    self._module(head),
                    "it depends on itself",
                    "A proof by itself proves nothing: the compiled file was changed.",
                )

    def _needs(self, head: Name, unit: tuple[c.Constant, ...]) -> Iterator[Name]:
        seen = {constant.name for constant in unit}
        for constant in unit:
            if constant.name is not head and self._head(constant) is not head:
                raise AuditError(
                    f"{constant.name} belongs to {head}, but does not say so; build all modules again"
                )
            for name in self.world.facts(constant.name).names:
                if name not in seen:
                    seen.add(name)
                    if self._head(self._get(name)) is not head:
                        yield name
        if head is _QUOT:
            yield _EQ

    # -- making

    def _make(self, unit: tuple[c.Constant, ...], path: list[Name]) -> None:
        first = unit[0]
        module = self.world.home(first.name)
        assert module is not None
        if isinstance(first, c.Axiom):
            self._axiom(first, path)
        terms = self.kernel.terms
        if isinstance(first, c.Inductive):
            types = [constant for constant in unit if isinstance(constant, c.Inductive)]
            ctors = {constant.name: constant for constant in unit if isinstance(constant, c.Constructor)}
            if any(name not in ctors for type_ in types for name in type_.ctors):
                raise AuditError(f"a constructor of {first.name} is something else; build all modules again")
            self._put(
                first,
                module.name,
                lambda: terms.inductive(types, [[ctors[n] for n in t.ctors] for t in types]),
                unit,
            )
        else:
            self._put(first, module.name, lambda: terms.declaration(first), unit)

    def _axiom(self, axiom: c.Axiom, path: list[Name]) -> None:
        """Allow the axioms of Lean, and library constants without bodies."""
        module = self.world.home(axiom.name)
        assert module is not None
        original = module.data.original_kinds.get(axiom.name, "axiom")
        if not module.own and original != "axiom":  # of own modules, nothing is taken on trust
            self._assumed[axiom.name] = original
            return
        expected = ALLOWED_AXIOMS.get(axiom.name)
        if not module.own and expected is not None and x.alike(expected, axiom.type):
            return
        user = self._own_user(axiom, path)
        if expected is None:
            error = (
                f"it rests on the axiom {axiom.name} of {module.name}"
                if user is not axiom.name
                else "it is an axiom"
            )
            meaning = (
                "An axiom is taken without proof; only "
                + ", ".join(map(str, ALLOWED_AXIOMS))
                + " are allowed."
            )
        else:
            error = f"it rests on {axiom.name} of {module.name}, which does not state what Lean's axiom does"
            meaning = "The library was changed; install it again."
        raise RefusedError(user, self._module(user), error, meaning)

    def _require_safe(self, constant: c.Constant, path: list[Name]) -> None:
        if _unsafe(constant):
            user = self._own_user(constant, path)
            raise RefusedError(
                user,
                self._module(user),
                f"it names {constant.name}, which is unsafe or partial",
                "Lean allows that in unsafe declarations only: the compiled file was changed.",
            )

    def _own_user(self, constant: c.Constant, path: list[Name]) -> Name:
        """The own declaration that needs the constant, or the constant itself."""
        for name in reversed(path):
            if (module := self.world.home(name)) is not None and module.own:
                return name
        return constant.name

    def _declare_again(self, constant: c.Constant, module: Name) -> None:
        """Check the proof of a theorem that is in the kernel already, from elsewhere."""
        name = constant.name
        self.declare(name)
        for needed in self.world.facts(name).names:
            self.declare(needed)
        if not isinstance(constant, c.Theorem):
            raise AuditError(f"{name} is declared twice, and is no theorem; rename one")
        fresh = make_name("again", parent=name)
        copy = c.Theorem(fresh, constant.level_params, constant.type, constant.value, (fresh,))
        self._put(constant, module, lambda: self.kernel.terms.declaration(copy), ())

    def _put(
        self, constant: c.Constant, module: Name, make: Callable[[], int], unit: tuple[c.Constant, ...]
    ) -> None:
        try:
            declaration = make()
        except AuditError as error:
            raise RefusedError(constant.name, module, str(error), _MEANING["other"]) from None
        if self._stopped:
            raise AuditError("the replay has ended")
        self._made.put(_Made(constant, module, declaration, unit))

    # -- checking

    def _check(self, made: _Made) -> None:
        self._progress(made.module, made.constant.name)
        try:
            self.kernel.add(made.declaration, trial=not made.unit)
        except KernelError as error:
            meaning = _MEANING.get(error.reason) or (
                _UNPROVED if isinstance(made.constant, c.Theorem) else _ILL_TYPED
            )
            raise RefusedError(made.constant.name, made.module, self.words(error), meaning) from None
        for constant in made.unit:
            self._declared[constant.name] = None
            if isinstance(constant, c.Inductive | c.Constructor | c.Recursor | c.Quot):
                self._derived[constant.name] = constant

    def words(self, error: KernelError) -> str:
        """The error of the kernel, with its terms printed."""
        shown = [
            part if isinstance(part, str) else "⋯" if part is None else f"`{self._printed(part)}`"
            for part in error.shown
        ]
        return error.message.format(*shown)

    def _printed(self, term: x.Expr) -> str:
        return pretty(term, self.world.get, max_nodes=_SHOWN_NODES)


def _unsafe(constant: c.Constant) -> bool:
    if isinstance(constant, c.Definition):
        return constant.safety != "safe"
    return not isinstance(constant, c.Theorem | c.Quot) and constant.unsafe
