"""An environment of the native kernel: it checks declarations, and what it derives can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from maskpool_verify.olean import Name
from maskpool_verify.olean import constants as c
from maskpool_verify.olean import expr as x
from maskpool_verify.second_kernel.abi import BOX_0, Lean
from maskpool_verify.second_kernel.terms import Terms

# Lean.Kernel.Exception: what it says, and the fields that are shown. `declaration type mismatch` has the type
# that the value has; `application type mismatch` the term, and the type of its argument.
_Shown = Literal["name", "expr", "text"]
_EXCEPTIONS: Final[dict[int, tuple[str, tuple[tuple[int, _Shown], ...]]]] = {
    0: ("unknown constant {}", ((1, "name"),)),
    1: ("{} is declared already", ((1, "name"),)),
    2: ("declaration type mismatch: the value has the type {}", ((2, "expr"),)),
    3: ("{} has meta variables", ((1, "name"),)),
    4: ("{} has free variables", ((1, "name"),)),
    5: ("function expected: {}", ((2, "expr"),)),
    6: ("type expected: {}", ((2, "expr"),)),
    7: ("let type mismatch at {}: the value has the type {}", ((2, "name"), (3, "expr"))),
    8: ("expression type mismatch: {}", ((2, "expr"),)),
    9: ("application type mismatch: {}, whose argument has the type {}", ((2, "expr"), (4, "expr"))),
    10: ("invalid projection: {}", ((2, "expr"),)),
    11: ("the type of a theorem is not a proposition: {}", ((2, "expr"),)),
    12: ("{}", ((0, "text"),)),
    13: ("deterministic timeout", ()),
    14: ("excessive memory", ()),
    15: ("deep recursion", ()),
    16: ("interrupted", ()),
}
_TYPE_ERRORS: Final = frozenset({2, 5, 6, 7, 8, 9, 10, 11})

Reason = Literal["type", "unknown", "duplicate", "limit", "other"]
"""``type``: a term does not have the type that it has to have; ``limit``: not decided within the limits."""


class KernelError(Exception):
    """The kernel refused a declaration.

    ``message`` has a ``{}`` for each of ``shown``; a term is None if it is too large to be shown.
    """

    def __init__(self, reason: Reason, message: str, shown: Sequence[str | x.Expr | None] = ()) -> None:
        super().__init__(message)
        self.reason: Final = reason
        self.message, self.shown = message, tuple(shown)


class Kernel:
    """An environment without axioms, at trust level 0: the kernel checks everything."""

    def __init__(self, lean: Lean) -> None:
        self.lean: Final = lean
        self.terms: Final = Terms(lean)
        self._add, self._find = lean.call("lean_add_decl"), lean.call("lean_environment_find")
        self._equal, self._same = lean.call("lean_expr_equal"), lean.call("lean_name_eq")
        made = lean.call("l_Lean_mkEmptyEnvironment")(0, BOX_0)
        if lean.tag(made) != 0:
            raise KernelError("other", "Lean cannot make an environment")
        elaboration = lean.retain(lean.field(made, 0))
        self._environment: int | None = lean.call("lean_elab_environment_to_kernel_env")(elaboration)

    def add(self, declaration: int, *, trial: bool = False) -> None:
        """Check a declaration of :class:`.terms.Terms`, and add it unless ``trial``.

        Raises:
            KernelError: the kernel refuses it; the environment is of no use then, unless ``trial``.
        """
        environment = self._environment
        if environment is None:
            raise KernelError("other", "the kernel has refused a declaration before")
        if trial:
            self.lean.retain(environment)
        else:
            self._environment = None  # it is the kernel's now
        result = self._add(environment, 0, 0, declaration, BOX_0)  # without limits
        content = self.lean.field(result, 0)
        if self.lean.tag(result) != 1:
            raise self._error(content)
        if not trial:
            self._environment = content

    def _error(self, exception: int) -> KernelError:
        tag = self.lean.tag(exception)
        message, fields = _EXCEPTIONS.get(tag, (f"unknown error {tag}", ()))
        shown: list[str | x.Expr | None] = []
        for i, kind in fields:
            o = self.lean.field(exception, i)
            match kind:
                case "name":
                    shown.append(str(self.terms.read_name(o)))
                case "text":
                    shown.append(self.lean.read_text(o))
                case "expr":
                    shown.append(self.terms.read_expr(o))
        if tag in _TYPE_ERRORS:
            return KernelError("type", message, shown)
        reasons: dict[int, Reason] = {0: "unknown", 1: "duplicate", 13: "limit", 14: "limit", 15: "limit"}
        return KernelError(reasons.get(tag, "other"), message, shown)

    def derived(self, constant: c.Constant) -> bool:
        """Whether the kernel has this inductive type, constructor, recursor or quotient constant just so:
        with the same type, numbers, flags and, for a recursor, rules."""
        lean, environment = self.lean, self._environment
        if environment is None:
            return False
        option = self._find(lean.retain(environment), self.terms.name(constant.name))
        if option & 1:
            return False
        info = lean.field(option, 0)
        value = lean.field(info, 0)
        _, params, type_ = (lean.field(lean.field(value, 0), i) for i in range(3))
        if not self._same_names(params, constant.level_params):
            return False
        if not self._equal(type_, self.terms.expr(constant.type)):
            return False

        def numbers(first: int, *expected: int) -> bool:
            return all(lean.field(value, first + i) == lean.number(n) for i, n in enumerate(expected))

        def flags(fields: int, *expected: bool) -> bool:
            return all(lean.byte(value, fields, i) == flag for i, flag in enumerate(expected))

        match constant:
            case c.Inductive():
                return (
                    lean.tag(info) == 5
                    and numbers(1, constant.num_params, constant.num_indices)
                    and self._same_names(lean.field(value, 3), constant.all)
                    and self._same_names(lean.field(value, 4), constant.ctors)
                    and numbers(5, constant.num_nested)
                    and flags(6, constant.recursive, constant.unsafe, constant.reflexive)
                )
            case c.Constructor():
                return (
                    lean.tag(info) == 6
                    and self._same_name(lean.field(value, 1), constant.induct)
                    and numbers(2, constant.index, constant.num_params, constant.num_fields)
                    and flags(5, constant.unsafe)
                )
            case c.Recursor():
                counts = (
                    constant.num_params,
                    constant.num_indices,
                    constant.num_motives,
                    constant.num_minors,
                )
                rules = lean.items(lean.field(value, 6))
                return (
                    lean.tag(info) == 7
                    and self._same_names(lean.field(value, 1), constant.all)
                    and numbers(2, *counts)
                    and flags(7, constant.k, constant.unsafe)
                    and len(rules) == len(constant.rules)
                    and all(map(self._same_rule, rules, constant.rules))
                )
            case c.Quot():
                kinds = ("type", "mk", "lift", "ind")
                return lean.tag(info) == 4 and lean.byte(value, 1, 0) == kinds.index(constant.which)
            case _:
                return False

    def _same_name(self, o: int, name: Name) -> bool:
        return bool(self._same(o, self.terms.name(name)))

    def _same_names(self, o: int, names: Sequence[Name]) -> bool:
        found = self.lean.items(o)
        return len(found) == len(names) and all(map(self._same_name, found, names))

    def _same_rule(self, o: int, rule: c.Rule) -> bool:
        lean = self.lean
        return (
            self._same_name(lean.field(o, 0), rule.ctor)
            and lean.field(o, 1) == lean.number(rule.num_fields)
            and bool(self._equal(lean.field(o, 2), self.terms.expr(rule.rhs)))
        )
