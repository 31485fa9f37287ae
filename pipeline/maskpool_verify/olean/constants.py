"""Constants of every kind that an environment of Lean holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from .expr import Expr
from .names import Name

Kind = Literal["axiom", "definition", "theorem", "opaque", "quotient", "inductive", "constructor", "recursor"]


@dataclass(slots=True, eq=False)
class _Common:
    name: Name
    level_params: tuple[Name, ...]
    type: Expr


@dataclass(slots=True, eq=False)
class Axiom(_Common):
    """Declared without proof, or a constant of another kind whose body is not in this file."""

    kind: ClassVar[Kind] = "axiom"
    unsafe: bool


@dataclass(slots=True, eq=False)
class Definition(_Common):
    """``height``: None if opaque to unification, -1 for an abbreviation, else what Lean computed.

    ``all`` names the definitions that are mutually recursive with it.
    """

    kind: ClassVar[Kind] = "definition"
    value: Expr
    height: int | None
    all: tuple[Name, ...]
    safety: Literal["unsafe", "safe", "partial"]


@dataclass(slots=True, eq=False)
class Theorem(_Common):
    """A theorem with its proof."""

    kind: ClassVar[Kind] = "theorem"
    value: Expr
    all: tuple[Name, ...]


@dataclass(slots=True, eq=False)
class Opaque(_Common):
    """A definition that never unfolds; ``value`` shows that its type is inhabited."""

    kind: ClassVar[Kind] = "opaque"
    value: Expr
    all: tuple[Name, ...]
    unsafe: bool


@dataclass(slots=True, eq=False)
class Quot(_Common):
    """``Quot``, ``Quot.mk``, ``Quot.lift`` or ``Quot.ind``, which the kernel knows."""

    kind: ClassVar[Kind] = "quotient"
    which: Literal["type", "mk", "lift", "ind"]


@dataclass(slots=True, eq=False)
class Inductive(_Common):
    """An inductive type; ``all`` are the types declared together."""

    kind: ClassVar[Kind] = "inductive"
    num_params: int
    num_indices: int
    all: tuple[Name, ...]
    ctors: tuple[Name, ...]
    num_nested: int
    recursive: bool
    unsafe: bool
    reflexive: bool


@dataclass(slots=True, eq=False)
class Constructor(_Common):
    """Constructor number ``index`` of ``induct``."""

    kind: ClassVar[Kind] = "constructor"
    induct: Name
    index: int
    num_params: int
    num_fields: int
    unsafe: bool


@dataclass(slots=True, eq=False)
class Rule:
    """How a recursor reduces on ``ctor``."""

    ctor: Name
    num_fields: int
    rhs: Expr


@dataclass(slots=True, eq=False)
class Recursor(_Common):
    """A recursor of the inductive types ``all``."""

    kind: ClassVar[Kind] = "recursor"
    all: tuple[Name, ...]
    num_params: int
    num_indices: int
    num_motives: int
    num_minors: int
    rules: tuple[Rule, ...]
    k: bool
    unsafe: bool


Constant = Axiom | Definition | Theorem | Opaque | Quot | Inductive | Constructor | Recursor

ORIGINAL_KINDS: Final[tuple[Kind, ...]] = (
    "definition",
    "theorem",
    "axiom",
    "opaque",
    "quotient",
    "inductive",
    "constructor",
    "recursor",
)
"""``Lean.ConstantKind``, whose order is not that of ``Lean.ConstantInfo``."""


def terms(constant: Constant) -> tuple[Expr, ...]:
    """The expressions of a constant: its type, then its value or its rules."""
    if isinstance(constant, Definition | Theorem | Opaque):
        return (constant.type, constant.value)
    if isinstance(constant, Recursor):
        return (constant.type, *[rule.rhs for rule in constant.rules])
    return (constant.type,)
